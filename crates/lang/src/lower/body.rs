//! The body under construction: registers, variables, jumps.
//!
//! Registers are a stack: a variable takes the next one when it is declared, a temporary lives until the statement (or the
//! operand list) that needed it is done. So a function needs as many registers as it has values at one time.

use super::fold::{Folder, Member};
use super::lowerer::Lowerer;
use super::ty::Ty;
use crate::ast::Expr;
use crate::diagnostic::Code;
use crate::source::Span;
use anyorder_vm::program::{FuncId, FunctionBuilder, Label, Literal, LockId, Op, Reg};

/// A value in a register, and what is known of its type.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub(crate) reg: Reg,
    pub(crate) ty: Ty,
}

impl Val {
    pub(crate) fn new(reg: Reg, ty: Ty) -> Val {
        Val { reg, ty }
    }
}

/// A variable in scope.
#[derive(Clone)]
pub(crate) struct Local<'a> {
    pub(crate) name: &'a str,
    pub(crate) reg: Reg,
    pub(crate) ty: Ty,
}

/// A loop that `break` and `continue` may leave.
pub(crate) struct Loop {
    pub(crate) end: Label,
    pub(crate) next: Label,
    /// How many cleanups were open where the loop began.
    pub(crate) cleanups: usize,
}

/// What must be done on every way out of a block.
#[derive(Clone, Copy)]
pub(crate) enum Cleanup {
    Release(LockId, Reg),
    AtomicEnd,
}

/// A mark to go back to: variables in scope and registers taken.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    locals: usize,
    next: u16,
}

/// A function body being lowered.
pub(crate) struct Body<'l, 'a> {
    pub(crate) low: &'l mut Lowerer<'a>,
    pub(crate) fb: FunctionBuilder,
    pub(crate) locals: Vec<Local<'a>>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) cleanups: Vec<Cleanup>,
    /// The object, and the position of its class.
    pub(crate) this: Option<(Reg, Ty)>,
    /// The type of the result.
    pub(crate) result: Ty,
    /// The index of a member of a family that is lowered on its own.
    pub(crate) bound: Option<(&'a str, Member)>,
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
            result: Ty::Any,
            bound: None,
            next: params.saturating_add(captures),
        }
    }

    /// Ends the body: what just ends returns null.
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

    /// The wanted register, or a new one.
    pub(crate) fn dst(&mut self, want: Option<Reg>) -> Reg {
        want.unwrap_or_else(|| self.temp())
    }

    /// Remembers what is in use.
    pub(crate) fn mark(&self) -> Mark {
        Mark { locals: self.locals.len(), next: self.next }
    }

    /// Gives back all registers and variables since the mark.
    pub(crate) fn release(&mut self, mark: Mark) {
        self.locals.truncate(mark.locals);
        self.next = mark.next;
    }

    /// Brings a variable into scope.
    pub(crate) fn declare(&mut self, name: &'a str, reg: Reg, ty: Ty) {
        let id = self.low.name(name);
        self.fb.local(reg, id);
        self.locals.push(Local { name, reg, ty });
    }

    /// The innermost variable of that name.
    pub(crate) fn local(&self, name: &str) -> Option<&Local<'a>> {
        self.locals.iter().rev().find(|l| l.name == name)
    }

    /// The instructions that follow belong to this place.
    pub(crate) fn at(&mut self, span: Span) {
        let site = self.low.site(span);
        self.fb.at(site);
    }

    /// Appends an instruction.
    pub(crate) fn emit(&mut self, op: Op) {
        self.fb.emit(op);
    }

    /// Appends an instruction of a place.
    pub(crate) fn emit_at(&mut self, span: Span, op: Op) {
        self.at(span);
        self.fb.emit(op);
    }

    /// Copies a value, unless it is there already.
    pub(crate) fn copy(&mut self, dst: Reg, src: Reg) {
        if dst != src {
            self.emit(Op::Move { dst, src });
        }
    }

    /// Puts a constant into a register.
    pub(crate) fn load(&mut self, value: &Literal, want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let ty = self.low.literal_ty(value);
        let op = match value {
            Literal::Null => Op::Null { dst },
            Literal::Bool(value) => Op::Bool { dst, value: *value },
            Literal::Int(v) if i32::try_from(*v).is_ok() => Op::Int { dst, value: *v as i32 },
            other => Op::Const { dst, constant: self.low.constant(other) },
        };
        self.emit(op);
        Val { reg: dst, ty }
    }

    /// The value of an expression, if it is known.
    pub(crate) fn fold(&self, e: &Expr) -> Option<Literal> {
        self.with_folder(|f| f.fold(e))
    }

    /// Works with what is known before the model runs, variables in scope left out.
    pub(crate) fn with_folder<T>(&self, f: impl FnOnce(&Folder<'_, 'a>) -> T) -> T {
        let is_local = |name: &str| self.local(name).is_some();
        f(&Folder { symbols: &self.low.symbols, is_local: &is_local, bound: self.bound })
    }

    /// Does what is due on the way out of all blocks above `depth`.
    pub(crate) fn unwind(&mut self, depth: usize) {
        let due: Vec<Cleanup> = self.cleanups.iter().skip(depth).rev().copied().collect();
        for cleanup in due {
            self.cleanup(cleanup);
        }
    }

    /// Does one thing that is due.
    pub(crate) fn cleanup(&mut self, cleanup: Cleanup) {
        self.emit(match cleanup {
            Cleanup::Release(lock, index) => Op::Release { lock, index },
            Cleanup::AtomicEnd => Op::AtomicEnd,
        });
    }

    /// Says that something cannot be lowered, and gives a value to go on with.
    pub(crate) fn unknown(&mut self, code: Code, span: Span, message: impl Into<String>) -> Val {
        self.low.error(code, span, message);
        Val::new(self.temp(), Ty::Any)
    }
}
