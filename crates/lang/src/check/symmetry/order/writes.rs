//! What a round of a loop changes and posts, and whether the order of the rounds matters to it.

use super::{Checked, Root, Rounds, Write};
use crate::ast::{AssignOp, Expr, ExprKind, ItemKind, Mailbox, Post, PostTarget, Ref};
use crate::check::constant::ConstValue;
use crate::check::{BuiltinMethod as M, Evaluator, Meaning, Type};
use crate::source::Span;

/// A place, by the variable that it is in.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) root: Root,
    /// Whether it is the part of the round's own member.
    pub(super) own: bool,
    /// Whether it is the whole variable.
    pub(super) bare: bool,
}

impl<'a> Rounds<'a> {
    pub(super) fn place(&self, place: &'a Expr) -> Option<Place> {
        match &place.unwrapped().kind {
            ExprKind::Name(_) => {
                let root = Root::of(self.program.meaning(place.unwrapped().id))?;
                Some(Place { root, own: false, bare: true })
            }
            ExprKind::Field { base, .. } if self.is_record(base) => {
                Some(Place { bare: false, ..self.place(base)? })
            }
            ExprKind::Index { base, index } => {
                let whole = self.place(base)?;
                let own = whole.own || (whole.bare && self.is_var(index));
                Some(Place { own, bare: false, ..whole })
            }
            _ => None,
        }
    }

    pub(super) fn is_record(&self, e: &Expr) -> bool {
        matches!(self.program.type_of(e.id).solid(), Type::Record(_))
    }

    /// Whether an expression is the variable of the loop.
    pub(super) fn is_var(&self, e: &Expr) -> bool {
        self.var
            .is_some_and(|var| self.program.meaning(e.unwrapped().id) == Some(Meaning::Local(var)))
    }

    /// Reads the indices in a place.
    pub(super) fn indices(&mut self, place: &'a Expr) -> Checked {
        match &place.kind {
            ExprKind::Paren(base) | ExprKind::Field { base, .. } => self.indices(base),
            ExprKind::Index { base, index } => {
                self.indices(base)?;
                self.expr(index)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_inner(&self, root: Root) -> bool {
        matches!(root, Root::Local(id) if self.in_call || self.inner.contains(&id))
    }

    /// The place that is written, unless each round has it for itself.
    fn written(&mut self, place: &'a Expr, span: Span) -> Checked<Option<Place>> {
        self.indices(place)?;
        match self.place(place) {
            None => Err((span, "writes to an object")),
            Some(place) if self.is_inner(place.root) => Ok(None),
            Some(_) if self.in_call => Err((span, "changes something in a function")),
            place => Ok(place),
        }
    }

    pub(super) fn assign(
        &mut self,
        place: &'a Expr,
        op: AssignOp,
        value: Option<&'a Expr>,
        span: Span,
    ) -> Checked {
        let Some(to) = self.written(place, span)? else { return Ok(()) };
        let is_int = *self.program.type_of(place.id).solid() == Type::Int;
        let write = match (op, value.and_then(|value| self.constant(value))) {
            _ if to.own => Write::Own,
            (AssignOp::Add | AssignOp::Sub, _) if is_int => Write::Sum,
            (AssignOp::Set, Some(value)) if to.bare => Write::Constant(value),
            _ => return Err((span, "writes what the next round writes, too")),
        };
        self.write(to.root, write, span)
    }

    /// The value of a literal or a constant.
    fn constant(&self, e: &Expr) -> Option<ConstValue> {
        use ExprKind::{Bool, Field, Int, Name, Null, Str};
        let is_word =
            matches!(e.unwrapped().kind, Int(_) | Bool(_) | Str(_) | Null | Name(_) | Field { .. });
        let known = Evaluator::new(self.program).declared();
        is_word.then(|| known.evaluate(e).ok()).flatten()
    }

    /// Checks a method that changes its receiver.
    pub(super) fn change(
        &mut self,
        receiver: &'a Expr,
        method: M,
        args: &'a [Expr],
        span: Span,
    ) -> Checked {
        let Some(to) = self.written(receiver, span)? else { return Ok(()) };
        let ty = self.program.type_of(receiver.id);
        let of_key = to.bare && args.first().is_some_and(|arg| self.is_var(arg));
        let write = match (ty.solid(), method) {
            _ if to.own => Write::Own,
            (Type::Map(..), M::Set | M::Remove) if of_key => Write::Own,
            (Type::Set(_), M::Add) => Write::Insert,
            (Type::Set(_), M::Remove) => Write::Delete,
            _ => return Err((span, "writes what the next round writes, too")),
        };
        self.write(to.root, write, span)
    }

    pub(super) fn post(&mut self, post: &'a Post, span: Span) -> Checked {
        if self.in_call {
            return Err((span, "posts in a function"));
        }
        self.exprs(&post.args)?;
        post.after.iter().try_for_each(|after| self.expr(after))?;
        if post.front {
            return Err((span, "posts in front of all others"));
        }
        let (handler, own) = match &post.target {
            PostTarget::Any => return Ok(()),
            PostTarget::Handler(r) => {
                r.index.iter().try_for_each(|index| self.expr(index))?;
                (r, r.index.as_ref().is_some_and(|index| self.is_var(index)))
            }
            PostTarget::Default => {
                self.default_target(post).ok_or((span, "posts to a handler that is not known"))?
            }
        };
        let mailbox = match self.program.meaning(handler.name.id) {
            Some(Meaning::Handler(id)) => self.program.handlers.get(id.index()),
            _ => None,
        };
        match mailbox.map(|handler| handler.mailbox) {
            Some(Mailbox::Bag) => Ok(()),
            Some(_) if own => Ok(()),
            _ => Err((span, "posts to a mailbox that keeps the order: use a `bag`")),
        }
    }

    /// Returns the handler that a task is declared on, and whether it is the handler of the own
    /// member.
    pub(super) fn default_target(&self, post: &'a Post) -> Option<(&'a Ref, bool)> {
        let Some(Meaning::Task(id)) = self.program.meaning(post.task.id) else { return None };
        let item = self.program.tasks.get(id.index())?.item;
        let ItemKind::Task(decl) = &self.model.items.get(item)?.kind else { return None };
        let on = decl.on.as_ref()?;
        let index = on.index.as_ref().and_then(|index| match &index.kind {
            ExprKind::Name(name) => decl.params.iter().position(|param| param.name.name == *name),
            _ => None,
        });
        let own = index.and_then(|at| post.args.get(at)).is_some_and(|arg| self.is_var(arg));
        Some((on, own))
    }
}
