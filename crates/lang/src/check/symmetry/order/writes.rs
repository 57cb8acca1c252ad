//! The writes and posts of a round of a loop: whether other rounds may do the same before or after
//! it.

use super::{Fault, Root, Rounds, Write};
use crate::ast::{AssignOp, Expr, ExprKind, ItemKind, Mailbox, Post, PostTarget, Ref};
use crate::check::{BuiltinMethod as M, Meaning, Type};
use crate::source::Span;

impl<'a> Rounds<'a> {
    /// Returns the variable that contains a place, whether the place belongs to the own member, and
    /// whether it is the whole variable.
    pub(super) fn place(&self, place: &'a Expr) -> Option<(Root, bool, bool)> {
        match &place.kind {
            ExprKind::Paren(inner) => self.place(inner),
            ExprKind::Name(_) => match self.program.meaning(place.id)? {
                Meaning::Global(id) => Some((Root::Global(id), false, true)),
                Meaning::Local(id) => Some((Root::Local(id), false, true)),
                _ => None,
            },
            ExprKind::Field { base, .. } => {
                if matches!(self.program.type_of(base.id).solid(), Type::Record(_)) {
                    self.place(base).map(|(root, own, _)| (root, own, false))
                } else {
                    None
                }
            }
            ExprKind::Index { base, index } => {
                let (root, own, bare) = self.place(base)?;
                Some((root, own || (bare && self.is_var(index)), false))
            }
            _ => None,
        }
    }

    pub(super) fn is_var(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Paren(inner) => self.is_var(inner),
            ExprKind::Name(_) => match self.program.meaning(e.id) {
                Some(Meaning::Local(id)) => self.var == Some(id),
                _ => false,
            },
            _ => false,
        }
    }

    /// Checks the indices in a place as reads.
    pub(super) fn indices(&mut self, place: &'a Expr) -> Result<(), Fault> {
        match &place.kind {
            ExprKind::Paren(inner) => self.indices(inner),
            ExprKind::Field { base, .. } => self.indices(base),
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

    pub(super) fn assign(
        &mut self,
        place: &'a Expr,
        op: AssignOp,
        value: Option<&'a Expr>,
        span: Span,
    ) -> Result<(), Fault> {
        self.indices(place)?;
        let Some((root, own, bare)) = self.place(place) else {
            return Err((span, "writes to an object"));
        };
        if self.is_inner(root) {
            return Ok(());
        }
        if self.in_call {
            return Err((span, "changes something in a function"));
        }
        if own {
            return self.write(root, Write::Own, span);
        }
        let is_int = *self.program.type_of(place.id).solid() == Type::Int;
        match (op, value.and_then(|value| self.literal(value))) {
            (AssignOp::Add | AssignOp::Sub, _) if is_int => self.write(root, Write::Sum, span),
            (AssignOp::Set, Some(text)) if bare => self.write(root, Write::Constant(text), span),
            _ => Err((span, "writes what the next round writes, too")),
        }
    }

    /// Returns a literal or constant as a text. Equal values have equal texts.
    pub(super) fn literal(&self, e: &Expr) -> Option<String> {
        match &e.kind {
            ExprKind::Paren(inner) => self.literal(inner),
            ExprKind::Int(value) => Some(value.to_string()),
            ExprKind::Bool(value) => Some(value.to_string()),
            ExprKind::Str(value) => Some(format!("{value:?}")),
            ExprKind::Null => Some("null".to_owned()),
            ExprKind::Name(_) => match self.program.meaning(e.id)? {
                Meaning::Const(id) => Some(format!("{id:?}")),
                _ => None,
            },
            ExprKind::Field { .. } => match self.program.meaning(e.id)? {
                Meaning::Variant(id, at) => Some(format!("{id:?} {at}")),
                _ => None,
            },
            _ => None,
        }
    }

    /// Checks a method that changes its receiver.
    pub(super) fn change(
        &mut self,
        receiver: &'a Expr,
        method: M,
        args: &'a [Expr],
        span: Span,
    ) -> Result<(), Fault> {
        self.indices(receiver)?;
        let Some((root, own, bare)) = self.place(receiver) else {
            return Err((span, "writes to an object"));
        };
        if self.is_inner(root) {
            return Ok(());
        }
        if self.in_call {
            return Err((span, "changes something in a function"));
        }
        let ty = self.program.type_of(receiver.id);
        let keyed = bare && args.first().is_some_and(|arg| self.is_var(arg));
        match (ty.solid(), method) {
            _ if own => self.write(root, Write::Own, span),
            (Type::Map(..), M::Set | M::Remove) if keyed => self.write(root, Write::Own, span),
            (Type::Set(_), M::Add) => self.write(root, Write::Insert, span),
            (Type::Set(_), M::Remove) => self.write(root, Write::Delete, span),
            _ => Err((span, "writes what the next round writes, too")),
        }
    }

    pub(super) fn post(&mut self, post: &'a Post, span: Span) -> Result<(), Fault> {
        if self.in_call {
            return Err((span, "posts in a function"));
        }
        post.args.iter().try_for_each(|arg| self.expr(arg))?;
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
            PostTarget::Default => match self.default_target(post) {
                Some(found) => found,
                None => return Err((span, "posts to a handler that is not known")),
            },
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

pub(super) fn changes(method: M) -> bool {
    matches!(
        method,
        M::Push
            | M::Pop
            | M::Insert
            | M::Remove
            | M::Reverse
            | M::Sort
            | M::TakeFirst
            | M::Clear
            | M::Add
            | M::Set
    )
}
