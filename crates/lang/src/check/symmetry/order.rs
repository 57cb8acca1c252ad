//! Loops over the values of an index type: checks that they do the same in any order.
//!
//! A round may write data of its own member, add to sums and sets, set variables to one constant,
//! and post to bags or to mailboxes of its own member. It may read data that no round writes, and
//! the data of its own member that it writes.

use self::writes::changes;
use super::applies;
use crate::ast::{
    ArmBody, AssignOp, BinaryOp, Block, ClassMember, ClosureBody, Expr, ExprKind, Ident, If,
    IfElse, ItemKind, Match, Model, Stmt, StmtKind,
};
use crate::check::pure::Callee;
use crate::check::{BuiltinMethod as M, EventId, GlobalId, LocalId, Meaning, Program, Type};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

mod writes;

/// A mistake: its place, and the operation there.
pub(super) type Fault = (Span, &'static str);

/// The variable, event or heap that a round reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Global(GlobalId),
    Local(LocalId),
    Event(EventId),
    Heap,
}

/// How the rounds of a loop write one root. All rounds must write it in the same way.
#[derive(Clone, PartialEq, Eq)]
enum Write {
    /// Each round writes the data of its own member.
    Own,
    Sum,
    Insert,
    Delete,
    Constant(String),
}

/// The rounds of one loop.
pub(super) struct Rounds<'a> {
    model: &'a Model,
    program: &'a Program,
    /// The variable of the loop, if it has a different value in each round.
    var: Option<LocalId>,
    /// Locals of a round.
    inner: BTreeSet<LocalId>,
    writes: BTreeMap<Root, Write>,
    /// The reads: the root, whether each reads only its own member, and the place.
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
        program: &'a Program,
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

    /// Creates the check of calls of a function that must change nothing.
    pub(super) fn of_function(model: &'a Model, program: &'a Program) -> Rounds<'a> {
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

    /// Checks that rounds can be exchanged.
    pub(super) fn run(mut self, body: &'a Block) -> Result<(), Fault> {
        self.block(body)?;
        self.compare()
    }

    /// Checks that calls of a function argument of a method can be exchanged.
    pub(super) fn apply(&mut self, args: &'a [Expr]) -> Result<(), Fault> {
        args.iter().try_for_each(|arg| match (&arg.kind, self.program.meaning(arg.id)) {
            (ExprKind::Closure(_), _) | (_, Some(Meaning::Function(_))) => self.expr(arg),
            _ => Err((arg.span, "calls something that is not known")),
        })
    }

    fn compare(&self) -> Result<(), Fault> {
        for (root, own, span) in &self.reads {
            match self.writes.get(root) {
                None => {}
                Some(Write::Own) if *own => {}
                Some(_) => return Err((*span, "reads what other rounds write")),
            }
        }
        Ok(())
    }

    fn write(&mut self, root: Root, write: Write, span: Span) -> Result<(), Fault> {
        let before = self.writes.entry(root).or_insert_with(|| write.clone());
        if *before == write { Ok(()) } else { Err((span, "writes the same in another way, too")) }
    }

    fn block(&mut self, block: &'a Block) -> Result<(), Fault> {
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        block.value.iter().try_for_each(|e| self.expr(e))
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Result<(), Fault> {
        match &stmt.kind {
            StmtKind::Let { name, value, .. } => {
                if let Some(Meaning::Local(id)) = self.program.meaning(name.id) {
                    self.inner.insert(id);
                }
                if matches!(value.kind, ExprKind::Post(_)) {
                    return Err((value.span, "keeps the handle of what it posts"));
                }
                self.expr(value)
            }
            StmtKind::Assign { place, op, value } => {
                if matches!(value.kind, ExprKind::Post(_) | ExprKind::Fork(_)) {
                    return Err((value.span, "keeps the handle of what it starts"));
                }
                self.expr(value)?;
                self.assign(place, *op, Some(value), stmt.span)
            }
            StmtKind::Step { place, .. } => self.assign(place, AssignOp::Add, None, stmt.span),
            StmtKind::Expr(e) | StmtKind::Call(e) => self.action(e),
            StmtKind::Assume(e) => self.expr(e),
            StmtKind::If(one) => self.if_(one),
            StmtKind::Match(one) => self.match_(one),
            StmtKind::For { var, iter, body } => {
                if let Some(Meaning::Local(id)) = self.program.meaning(var.id) {
                    self.inner.insert(id);
                }
                self.expr(iter)?;
                self.block(body)
            }
            StmtKind::Block(body) | StmtKind::Atomic(body) => self.block(body),
            StmtKind::Continue | StmtKind::Error => Ok(()),
            StmtKind::Return(value) if self.in_call => {
                value.iter().try_for_each(|value| self.expr(value))
            }
            StmtKind::While { cond, body } if self.in_call => {
                self.expr(cond)?;
                self.block(body)
            }
            StmtKind::Loop(body) if self.in_call => self.block(body),
            StmtKind::Break if self.in_call => Ok(()),
            StmtKind::Enable { event, on } => {
                event.index.iter().try_for_each(|index| self.expr(index))?;
                match self.program.meaning(event.name.id) {
                    Some(Meaning::Event(id)) if !self.in_call => {
                        let write = if *on { Write::Insert } else { Write::Delete };
                        self.write(Root::Event(id), write, stmt.span)
                    }
                    _ => Err((stmt.span, "changes something in a function")),
                }
            }
            StmtKind::Choose(alternatives) if !self.in_call => {
                alternatives.iter().try_for_each(|one| self.block(&one.body))
            }
            StmtKind::Return(_) | StmtKind::Break => Err((stmt.span, "ends the loop early")),
            StmtKind::Assert { .. } | StmtKind::Fail(_) => {
                Err((stmt.span, "fails for the first member that is wrong: use `.all(..)`"))
            }
            _ => Err((stmt.span, "does something whose order matters")),
        }
    }

    fn if_(&mut self, one: &'a If) -> Result<(), Fault> {
        self.expr(&one.cond)?;
        self.block(&one.then)?;
        match &one.otherwise {
            None => Ok(()),
            Some(IfElse::Block(block)) => self.block(block),
            Some(IfElse::If(next)) => self.if_(next),
        }
    }

    fn match_(&mut self, one: &'a Match) -> Result<(), Fault> {
        self.expr(&one.subject)?;
        for arm in &one.arms {
            match &arm.body {
                ArmBody::Block(block) => self.block(block)?,
                ArmBody::Expr(e) => self.action(e)?,
            }
        }
        Ok(())
    }

    /// Checks an expression used as a statement.
    fn action(&mut self, e: &'a Expr) -> Result<(), Fault> {
        match &e.kind {
            ExprKind::Post(post) => self.post(post, e.span),
            ExprKind::Method { receiver, name, args } => {
                let method = self.program.meaning(name.id);
                match method {
                    Some(Meaning::Builtin(method)) if changes(method) => {
                        args.iter().try_for_each(|arg| self.expr(arg))?;
                        self.change(receiver, method, args, e.span)
                    }
                    _ => self.expr(e),
                }
            }
            _ => self.expr(e),
        }
    }

    fn read(&mut self, root: Root, own: bool, span: Span) {
        // Captured variables of a closure belong to the rounds. Nobody writes the locals of
        // functions.
        if !matches!(root, Root::Local(id) if self.inner.contains(&id)) {
            self.reads.push((root, own, span));
        }
    }

    fn expr(&mut self, e: &'a Expr) -> Result<(), Fault> {
        match &e.kind {
            ExprKind::Name(_) => {
                match self.program.meaning(e.id) {
                    Some(Meaning::Global(id)) => self.read(Root::Global(id), false, e.span),
                    Some(Meaning::Local(id)) => self.read(Root::Local(id), false, e.span),
                    Some(Meaning::Function(id)) => return self.call(Callee::Function(id), e.span),
                    _ => {}
                }
                Ok(())
            }
            ExprKind::Index { index, .. } => match self.place(e) {
                Some((root, true, _)) => {
                    self.read(root, true, e.span);
                    self.indices(e)
                }
                _ => {
                    let ExprKind::Index { base, .. } = &e.kind else { return Ok(()) };
                    self.expr(base)?;
                    self.expr(index)
                }
            },
            ExprKind::Field { base, .. } => {
                if let Some(Meaning::Variant(..)) = self.program.meaning(e.id) {
                    return Ok(());
                }
                if let Some((root, true, _)) = self.place(e) {
                    self.read(root, true, e.span);
                    return self.indices(e);
                }
                if !matches!(self.program.type_of(base.id).solid(), Type::Record(_)) {
                    self.read(Root::Heap, false, e.span);
                }
                self.expr(base)
            }
            ExprKind::Method { receiver, name, args } => {
                let meaning = self.program.meaning(name.id);
                match meaning {
                    Some(Meaning::Variant(..)) => {}
                    Some(Meaning::Builtin(method)) if changes(method) => {
                        args.iter().try_for_each(|arg| self.expr(arg))?;
                        let place = self.place(receiver);
                        if place.is_some_and(|(root, own, _)| own || self.is_inner(root)) {
                            return self.change(receiver, method, args, e.span);
                        }
                        return Err((e.span, "changes what it goes on with"));
                    }
                    Some(Meaning::Builtin(M::Get | M::GetOr | M::Has | M::Contains))
                        if args.first().is_some_and(|arg| self.is_var(arg))
                            && matches!(self.place(receiver), Some((_, _, true))) =>
                    {
                        if let Some((root, ..)) = self.place(receiver) {
                            self.read(root, true, e.span);
                        }
                        return args.iter().try_for_each(|arg| self.expr(arg));
                    }
                    Some(Meaning::Builtin(method)) if applies(method) => {
                        self.expr(receiver)?;
                        return self.apply(args);
                    }
                    Some(Meaning::Builtin(_)) => self.expr(receiver)?,
                    Some(Meaning::Method(id, at)) => {
                        self.expr(receiver)?;
                        self.call(Callee::Method(id, at), e.span)?;
                    }
                    _ => return Err((e.span, "calls something that is not known")),
                }
                args.iter().try_for_each(|arg| self.expr(arg))
            }
            ExprKind::Call { callee, args } => {
                match self.program.meaning(callee.id) {
                    Some(Meaning::Function(id)) => self.call(Callee::Function(id), e.span)?,
                    Some(Meaning::Task(id)) => self.call(Callee::Task(id), e.span)?,
                    _ => return Err((e.span, "calls something that is not known")),
                }
                args.iter().try_for_each(|arg| self.expr(arg))
            }
            ExprKind::Closure(closure) => match &closure.body {
                ClosureBody::Expr(body) => self.expr(body),
                ClosureBody::Block(body) => {
                    let before = std::mem::replace(&mut self.in_call, true);
                    let result = self.block(body);
                    self.in_call = before;
                    result
                }
            },
            ExprKind::Enabled(r) => {
                r.index.iter().try_for_each(|index| self.expr(index))?;
                if let Some(Meaning::Event(id)) = self.program.meaning(r.name.id) {
                    self.read(Root::Event(id), false, e.span);
                }
                Ok(())
            }
            ExprKind::Post(_) | ExprKind::Fork(_) => Err((e.span, "starts something")),
            ExprKind::Choose(from) if !self.in_call => self.expr(from),
            ExprKind::Choose(_) => Err((e.span, "chooses in a function")),
            ExprKind::New { .. } => Err((e.span, "makes an object")),
            ExprKind::If(one) => self.if_(one),
            ExprKind::Match(one) => self.match_(one),
            ExprKind::Binary { op: BinaryOp::Div | BinaryOp::Rem, .. } => {
                Err((e.span, "divides, which may fail"))
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left)?;
                self.expr(right)
            }
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => self.expr(inner),
            ExprKind::List(items) | ExprKind::Set(items) => {
                items.iter().try_for_each(|item| self.expr(item))
            }
            ExprKind::Repeat(a, b) => {
                self.expr(a)?;
                self.expr(b)
            }
            ExprKind::Map(entries) => entries.iter().try_for_each(|(k, v)| {
                self.expr(k)?;
                self.expr(v)
            }),
            ExprKind::Record { fields, base, .. } => {
                fields.iter().try_for_each(|field| self.expr(&field.value))?;
                base.iter().try_for_each(|base| self.expr(base))
            }
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::SelfRef
            | ExprKind::Error => Ok(()),
        }
    }

    /// Checks a function that a round calls. It may read, but must change nothing.
    fn call(&mut self, callee: Callee, span: Span) -> Result<(), Fault> {
        if !self.called.insert(callee) {
            return Ok(());
        }
        let Some(block) = self.block_of(callee) else {
            return Err((span, "calls something that is not known"));
        };
        let before = std::mem::replace(&mut self.in_call, true);
        let result = self.block(block);
        self.in_call = before;
        result.map_err(|(_, what)| (span, what))
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
                let methods = decl.members.iter().filter_map(|member| match member {
                    ClassMember::Method(method) => Some(&method.body),
                    ClassMember::Field(_) => None,
                });
                methods.into_iter().nth(at as usize)
            }
            _ => None,
        }
    }
}
