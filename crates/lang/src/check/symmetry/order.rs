//! Loops over the values of an index type: checks that they do the same in any order.
//!
//! A round may write data of its own member, add to sums and sets, set variables to one constant,
//! and post to bags or to mailboxes of its own member. It may read data that no round writes, and
//! the data of its own member that it writes.

use self::writes::Place;
use crate::ast::{
    ArmBody, AssignOp, BinaryOp, Block, ClosureBody, Expr, ExprKind, Ident, ItemKind, Match, Model,
    Part, Stmt, StmtKind,
};
use crate::check::constant::ConstValue;
use crate::check::pure::Callee;
use crate::check::{BuiltinMethod as M, CheckedModel, EventId, GlobalId, LocalId, Meaning, Type};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

mod writes;

/// A mistake: its place, and what the code there does.
pub(super) type Fault = (Span, &'static str);

type Checked<T = ()> = Result<T, Fault>;

/// What is read or written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Global(GlobalId),
    Local(LocalId),
    Event(EventId),
    Heap,
}

impl Root {
    fn of(meaning: Option<Meaning>) -> Option<Root> {
        match meaning? {
            Meaning::Global(id) => Some(Root::Global(id)),
            Meaning::Local(id) => Some(Root::Local(id)),
            Meaning::Event(id) => Some(Root::Event(id)),
            _ => None,
        }
    }
}

/// How the rounds of a loop write something. All must do it in the same way.
#[derive(Clone, PartialEq, Eq)]
enum Write {
    /// Each round writes the data of its own member.
    Own,
    Sum,
    Insert,
    Delete,
    Constant(ConstValue),
}

/// The rounds of one loop.
pub(super) struct Rounds<'a> {
    model: &'a Model,
    program: &'a CheckedModel,
    /// The variable of the loop, if each round has another value in it.
    var: Option<LocalId>,
    /// Locals of a round.
    inner: BTreeSet<LocalId>,
    writes: BTreeMap<Root, Write>,
    /// What is read, whether only the part of the own member, and where.
    reads: Vec<(Root, bool, Span)>,
    called: BTreeSet<Callee>,
    /// Whether the code is in a function that a round calls. Such a function may only change its
    /// locals.
    in_call: bool,
}

impl<'a> Rounds<'a> {
    /// Creates the check of the rounds of a `for`.
    pub(super) fn of_loop(
        model: &'a Model,
        program: &'a CheckedModel,
        var: &Ident,
        iter: &Expr,
    ) -> Rounds<'a> {
        let mut rounds = Rounds::of_function(model, program);
        rounds.in_call = false;
        if let Some(Meaning::Local(id)) = program.meaning(var.id) {
            rounds.inner.insert(id);
            let distinct = !matches!(program.type_of(iter.id).solid(), Type::Array(..));
            rounds.var = distinct.then_some(id);
        }
        rounds
    }

    /// Calls of a function that must change nothing.
    pub(super) fn of_function(model: &'a Model, program: &'a CheckedModel) -> Rounds<'a> {
        Rounds {
            model,
            program,
            var: None,
            inner: BTreeSet::new(),
            writes: BTreeMap::new(),
            reads: Vec::new(),
            called: BTreeSet::new(),
            in_call: true,
        }
    }

    /// Whether rounds may change places.
    pub(super) fn run(mut self, body: &'a Block) -> Checked {
        self.block(body)?;
        for (root, own, span) in &self.reads {
            match self.writes.get(root) {
                None => {}
                Some(Write::Own) if *own => {}
                Some(_) => return Err((*span, "reads what other rounds write")),
            }
        }
        Ok(())
    }

    /// Whether calls of a function that is given to a method may change places.
    pub(super) fn apply(&mut self, args: &'a [Expr]) -> Checked {
        args.iter().try_for_each(|arg| match (&arg.kind, self.program.meaning(arg.id)) {
            (ExprKind::Closure(_), _) | (_, Some(Meaning::Function(_))) => self.expr(arg),
            _ => Err((arg.span, "calls something that is not known")),
        })
    }

    fn write(&mut self, root: Root, write: Write, span: Span) -> Checked {
        let before = self.writes.entry(root).or_insert_with(|| write.clone());
        if *before == write { Ok(()) } else { Err((span, "writes the same in another way, too")) }
    }

    fn read(&mut self, root: Root, own: bool, span: Span) {
        // Captured variables of a closure belong to the rounds. Nobody writes the locals of
        // functions.
        if !matches!(root, Root::Local(id) if self.inner.contains(&id)) {
            self.reads.push((root, own, span));
        }
    }

    /// A local that each round has for itself.
    fn declare(&mut self, name: &Ident) {
        if let Some(Meaning::Local(id)) = self.program.meaning(name.id) {
            self.inner.insert(id);
        }
    }

    /// What stands directly below an expression or a statement.
    fn parts(&mut self, of: impl FnOnce(&mut dyn FnMut(Part<'a>))) -> Checked {
        let mut result = Ok(());
        of(&mut |part| {
            if result.is_ok() {
                result = match part {
                    Part::Expr(e) => self.expr(e),
                    Part::Block(block) => self.block(block),
                };
            }
        });
        result
    }

    fn exprs(&mut self, all: &'a [Expr]) -> Checked {
        all.iter().try_for_each(|e| self.expr(e))
    }

    fn block(&mut self, block: &'a Block) -> Checked {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))?;
        block.value.iter().try_for_each(|e| self.expr(e))
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Checked {
        let fault = |what| Err((stmt.span, what));
        match &stmt.kind {
            StmtKind::Let { name, value, .. } => {
                self.declare(name);
                if matches!(value.kind, ExprKind::Post(_)) {
                    return Err((value.span, "keeps the handle of what it posts"));
                }
            }
            StmtKind::Assign { place, op, value } => {
                if matches!(value.kind, ExprKind::Post(_) | ExprKind::Fork(_)) {
                    return Err((value.span, "keeps the handle of what it starts"));
                }
                self.expr(value)?;
                return self.assign(place, *op, Some(value), stmt.span);
            }
            StmtKind::Step { place, .. } => {
                return self.assign(place, AssignOp::Add, None, stmt.span);
            }
            StmtKind::Expr(e) | StmtKind::Call(e) => return self.action(e),
            StmtKind::Match(one) => return self.match_(one),
            StmtKind::Enable { event, on } => {
                self.parts(|f| stmt.kind.parts(f))?;
                return match self.program.meaning(event.name.id) {
                    Some(Meaning::Event(id)) if !self.in_call => {
                        let write = if *on { Write::Insert } else { Write::Delete };
                        self.write(Root::Event(id), write, stmt.span)
                    }
                    _ => fault("changes something in a function"),
                };
            }
            StmtKind::For { var, .. } => self.declare(var),
            StmtKind::Assume(_)
            | StmtKind::If(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::Continue
            | StmtKind::Error => {}
            StmtKind::Return(_) | StmtKind::While { .. } | StmtKind::Loop(_) | StmtKind::Break
                if self.in_call => {}
            StmtKind::Choose(_) if !self.in_call => {}
            StmtKind::Return(_) | StmtKind::Break => return fault("ends the loop early"),
            StmtKind::Assert { .. } | StmtKind::Fail(_) => {
                return fault("fails for the first member that is wrong: use `.all(..)`");
            }
            _ => return fault("does something whose order matters"),
        }
        self.parts(|f| stmt.kind.parts(f))
    }

    fn match_(&mut self, one: &'a Match) -> Checked {
        self.expr(&one.subject)?;
        one.arms.iter().try_for_each(|arm| match &arm.body {
            ArmBody::Block(block) => self.block(block),
            ArmBody::Expr(e) => self.action(e),
        })
    }

    /// An expression that is a statement.
    fn action(&mut self, e: &'a Expr) -> Checked {
        match &e.kind {
            ExprKind::Post(post) => self.post(post, e.span),
            ExprKind::Method { receiver, name, args } => match self.program.meaning(name.id) {
                Some(Meaning::Builtin(method)) if method.changes() => {
                    self.exprs(args)?;
                    self.change(receiver, method, args, e.span)
                }
                _ => self.expr(e),
            },
            _ => self.expr(e),
        }
    }

    fn expr(&mut self, e: &'a Expr) -> Checked {
        let fault = |what| Err((e.span, what));
        match &e.kind {
            ExprKind::Name(_) => match self.program.meaning(e.id) {
                Some(Meaning::Function(id)) => return self.call(Callee::Function(id), e.span),
                meaning => {
                    Root::of(meaning).into_iter().for_each(|root| self.read(root, false, e.span));
                }
            },
            ExprKind::Index { .. } | ExprKind::Field { .. } => {
                if let Some(Meaning::Variant(..)) = self.program.meaning(e.id) {
                    return Ok(());
                }
                if let Some(Place { root, own: true, .. }) = self.place(e) {
                    self.read(root, true, e.span);
                    return self.indices(e);
                }
                if let ExprKind::Field { base, .. } = &e.kind
                    && !self.is_record(base)
                {
                    self.read(Root::Heap, false, e.span);
                }
            }
            ExprKind::Method { receiver, name, args } => {
                return self.method(e, receiver, self.program.meaning(name.id), args);
            }
            ExprKind::Call { callee, .. } => match self.program.meaning(callee.id) {
                Some(Meaning::Function(id)) => self.call(Callee::Function(id), e.span)?,
                Some(Meaning::Task(id)) => self.call(Callee::Task(id), e.span)?,
                _ => return fault("calls something that is not known"),
            },
            ExprKind::Closure(closure) => {
                if let ClosureBody::Block(body) = &closure.body {
                    return self.called_block(body);
                }
            }
            ExprKind::Enabled(r) => {
                self.parts(|f| e.kind.parts(f))?;
                let root = Root::of(self.program.meaning(r.name.id));
                root.into_iter().for_each(|root| self.read(root, false, e.span));
                return Ok(());
            }
            ExprKind::Match(one) => return self.match_(one),
            ExprKind::Post(_) | ExprKind::Fork(_) => return fault("starts something"),
            ExprKind::Choose(_) if self.in_call => return fault("chooses in a function"),
            ExprKind::New { .. } => return fault("makes an object"),
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, .. } => {
                return fault("divides, which may fail");
            }
            _ => {}
        }
        self.parts(|f| e.kind.parts(f))
    }

    fn method(
        &mut self,
        e: &Expr,
        receiver: &'a Expr,
        meaning: Option<Meaning>,
        args: &'a [Expr],
    ) -> Checked {
        match meaning {
            Some(Meaning::Variant(..)) => {}
            Some(Meaning::Builtin(method)) if method.changes() => {
                self.exprs(args)?;
                let place = self.place(receiver);
                if !place.is_some_and(|place| place.own || self.is_inner(place.root)) {
                    return Err((e.span, "changes what it goes on with"));
                }
                return self.change(receiver, method, args, e.span);
            }
            Some(Meaning::Builtin(method)) => {
                let of_key = matches!(method, M::Get | M::GetOr | M::Has | M::Contains)
                    && args.first().is_some_and(|arg| self.is_var(arg));
                match self.place(receiver) {
                    Some(Place { root, bare: true, .. }) if of_key => {
                        self.read(root, true, e.span);
                    }
                    _ => self.expr(receiver)?,
                }
                if method.applies() {
                    return self.apply(args);
                }
            }
            Some(Meaning::Method(id, at)) => {
                self.expr(receiver)?;
                self.call(Callee::Method(id, at), e.span)?;
            }
            _ => return Err((e.span, "calls something that is not known")),
        }
        self.exprs(args)
    }

    /// A function that a round calls: it may read, and change nothing.
    fn call(&mut self, callee: Callee, span: Span) -> Checked {
        if !self.called.insert(callee) {
            return Ok(());
        }
        let Some(block) = self.block_of(callee) else {
            return Err((span, "calls something that is not known"));
        };
        self.called_block(block).map_err(|(_, what)| (span, what))
    }

    fn called_block(&mut self, block: &'a Block) -> Checked {
        let before = std::mem::replace(&mut self.in_call, true);
        let result = self.block(block);
        self.in_call = before;
        result
    }

    /// Returns the code of a function, method or task.
    fn block_of(&self, callee: Callee) -> Option<&'a Block> {
        let tables = self.program;
        let at = match callee {
            Callee::Function(id) => tables.functions.get(id.index())?.item,
            Callee::Task(id) => tables.tasks.get(id.index())?.item,
            Callee::Method(id, _) => tables.classes.get(id.index())?.item,
        };
        match (&self.model.items.get(at)?.kind, callee) {
            (ItemKind::Fn(decl), _) => Some(&decl.body),
            (ItemKind::Task(decl), _) => Some(&decl.body),
            (ItemKind::Class(decl), Callee::Method(_, at)) => {
                decl.methods().nth(at as usize).map(|method| &method.body)
            }
            _ => None,
        }
    }
}
