//! The body under construction: registers, variables, jumps.
//!
//! Registers are a stack. A variable takes the next register when it is declared. A temporary lives
//! until the end of the statement or operand list that needs it. So a function needs as many
//! registers as it has values at one time.

use super::lowerer::{Lowerer, literal};
use crate::ast::{Expr, Ident, NodeId};
use crate::check::{Evaluator, LocalId, Meaning, Type};
use crate::source::Span;
use anyorder_program::{FuncId, FunctionBuilder, Label, Literal, LockId, Op, Reg};

/// A loop that `break` and `continue` may leave.
pub(crate) struct Loop {
    pub(crate) end: Label,
    pub(crate) next: Label,
    /// The number of cleanups open where the loop begins.
    pub(crate) cleanups: usize,
}

/// An action that every way out of a block must perform.
#[derive(Clone, Copy)]
pub(crate) enum Cleanup {
    Release(LockId, Reg),
    AtomicEnd,
}

/// A mark to return to: variables in scope and registers in use.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    locals: usize,
    next: u16,
}

/// A function body being lowered.
pub(crate) struct Body<'l, 'a> {
    pub(crate) low: &'l mut Lowerer<'a>,
    pub(crate) fb: FunctionBuilder,
    /// Variables in scope, each with its register.
    pub(crate) locals: Vec<(LocalId, Reg)>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) cleanups: Vec<Cleanup>,
    /// The object that `self` refers to.
    pub(crate) this: Option<Reg>,
    /// Whether results are checked. A function value without a written type has none (X17).
    pub(crate) is_typed: bool,
    /// The parameter of a family, and its value for the member being lowered.
    pub(crate) member: Option<(LocalId, i64)>,
    next: u16,
}

impl<'l, 'a> Body<'l, 'a> {
    /// Starts a body whose first registers are taken by `params` and then `captures`.
    pub(crate) fn new(
        low: &'l mut Lowerer<'a>,
        name: &str,
        params: u16,
        captures: u16,
    ) -> Body<'l, 'a> {
        let fb = FunctionBuilder::new(name, params, captures);
        Body {
            low,
            fb,
            locals: Vec::new(),
            loops: Vec::new(),
            cleanups: Vec::new(),
            this: None,
            is_typed: true,
            member: None,
            next: params.saturating_add(captures),
        }
    }

    /// Ends the body. A body without `return` returns null.
    pub(crate) fn define(mut self, id: FuncId) {
        self.emit(Op::ReturnNull);
        self.low.b.define(id, self.fb);
    }

    /// Takes the next registers.
    pub(crate) fn temps(&mut self, count: u16) -> Reg {
        let first = self.next;
        self.next = first.saturating_add(count);
        let have = self.fb.registers();
        if self.next > have {
            self.fb.regs(self.next - have);
        }
        Reg(first)
    }

    /// Takes the next register.
    pub(crate) fn temp(&mut self) -> Reg {
        self.temps(1)
    }

    /// Returns the wanted register, or takes a new one.
    pub(crate) fn dst(&mut self, want: Option<Reg>) -> Reg {
        want.unwrap_or_else(|| self.temp())
    }

    /// Remembers which variables and registers are in use.
    pub(crate) fn mark(&self) -> Mark {
        Mark { locals: self.locals.len(), next: self.next }
    }

    /// Gives back all registers and variables taken since the mark.
    pub(crate) fn release(&mut self, mark: Mark) {
        self.locals.truncate(mark.locals);
        self.next = mark.next;
    }

    /// Brings a variable into scope.
    pub(crate) fn declare(&mut self, ident: &Ident, reg: Reg) {
        if let Some(local) = self.local_of(ident) {
            self.declare_local(local, reg);
        }
    }

    /// Brings a variable into scope, by its number.
    pub(crate) fn declare_local(&mut self, local: LocalId, reg: Reg) {
        let name = self.low.name(&self.low.tables.locals[local.index()].name);
        self.fb.local(reg, name);
        self.locals.push((local, reg));
    }

    /// Returns the local that a name declares.
    pub(crate) fn local_of(&self, ident: &Ident) -> Option<LocalId> {
        match self.meaning(ident.id) {
            Some(Meaning::Local(id)) => Some(id),
            _ => None,
        }
    }

    /// Returns the register of a variable in scope.
    pub(crate) fn local(&self, id: LocalId) -> Option<Reg> {
        self.locals.iter().rev().find(|(local, _)| *local == id).map(|(_, reg)| *reg)
    }

    /// The register of the variable that an expression names, if it names one.
    pub(crate) fn variable(&self, e: &Expr) -> Option<Reg> {
        match self.meaning(e.unwrapped().id) {
            Some(Meaning::Local(id)) => self.local(id),
            _ => None,
        }
    }

    /// Returns whether a register belongs to a variable.
    pub(crate) fn is_variable(&self, reg: Reg) -> bool {
        self.locals.iter().any(|(_, known)| *known == reg)
    }

    /// Returns the meaning of a name, field or method.
    pub(crate) fn meaning(&self, id: NodeId) -> Option<Meaning> {
        self.low.tables.meaning(id)
    }

    /// The code of the function or task that a name means.
    pub(crate) fn callee(&self, id: NodeId) -> Option<FuncId> {
        match self.meaning(id)? {
            Meaning::Function(id) => Some(self.low.function(id)),
            Meaning::Task(id) => Some(self.low.task(id)),
            _ => None,
        }
    }

    /// The type of an expression, `any` where the code for the type would not do for others.
    pub(crate) fn ty(&self, e: &Expr) -> Type {
        match self.low.tables.type_of(e.id) {
            Type::Int | Type::Bool | Type::List(_) if self.low.tables.is_loose => Type::Any,
            ty => ty,
        }
    }

    /// Sets the source place of the instructions that follow.
    pub(crate) fn at(&mut self, span: Span) {
        let site = self.low.site(span);
        self.fb.at(site);
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, op: Op) {
        self.fb.emit(op);
    }

    /// Appends an instruction with its place.
    pub(crate) fn emit_at(&mut self, span: Span, op: Op) {
        self.at(span);
        self.fb.emit(op);
    }

    /// Copies a value unless both registers are the same.
    pub(crate) fn copy(&mut self, dst: Reg, src: Reg) {
        if dst != src {
            self.emit(Op::Move { dst, src });
        }
    }

    /// Puts a constant into a register.
    pub(crate) fn load(&mut self, value: &Literal, want: Option<Reg>) -> Reg {
        let dst = self.dst(want);
        let op = match value {
            Literal::Null => Op::Null { dst },
            Literal::Bool(value) => Op::Bool { dst, value: *value },
            Literal::Int(v) if i32::try_from(*v).is_ok() => Op::Int { dst, value: *v as i32 },
            other => Op::Const { dst, constant: self.low.constant(other) },
        };
        self.emit(op);
        dst
    }

    /// Returns the value of an expression if it is constant.
    pub(crate) fn known(&self, e: &Expr) -> Option<Literal> {
        let known = Evaluator::new(self.low.tables).of_member(self.member).in_body();
        known.evaluate(e).ok().as_ref().map(literal)
    }

    /// Emits a check of the value of an expression, where the tables ask for one.
    pub(crate) fn check(&mut self, e: &Expr, src: Reg) {
        if let Some(ty) = self.low.tables.runtime_checks.get(&e.id)
            && self.known(e).is_none()
        {
            self.check_type(src, ty);
        }
    }

    /// Emits a check that a value is of a type.
    pub(crate) fn check_type(&mut self, src: Reg, ty: &Type) {
        if let Some(ty) = self.low.runtime_type(ty) {
            self.emit(Op::Check { src, ty });
        }
    }

    /// Emits the cleanups of all blocks above `depth`, the innermost first.
    pub(crate) fn unwind(&mut self, depth: usize) {
        let due: Vec<Cleanup> = self.cleanups.iter().skip(depth).rev().copied().collect();
        for cleanup in due {
            self.cleanup(cleanup);
        }
    }

    /// Emits one cleanup.
    pub(crate) fn cleanup(&mut self, cleanup: Cleanup) {
        self.emit(match cleanup {
            Cleanup::Release(lock, index) => Op::Release { lock, index },
            Cleanup::AtomicEnd => Op::AtomicEnd,
        });
    }
}
