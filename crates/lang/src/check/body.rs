//! The body that the checker is in: its kind, its names and its closures.

use super::checker::Checker;
use super::model::LocalId;
use super::types::Type;
use crate::ast::NodeId;
use crate::source::Span;
use std::collections::HashMap;

/// Kinds of bodies and of expressions outside of bodies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum BodyKind {
    /// An expression whose value must be known before the model runs.
    #[default]
    Constant,
    /// The first value of a global or field.
    FirstValue,
    Init,
    Function,
    Task,
    Event,
    Thread,
    /// `when` of an event.
    Guard,
    /// `invariant`, `response`, `final`.
    Property,
    /// `when` of a specification.
    Spec,
}

impl BodyKind {
    /// Returns whether code of this kind must leave the state unchanged.
    pub(super) fn is_pure(self) -> bool {
        matches!(self, BodyKind::Guard | BodyKind::Property | BodyKind::Spec | BodyKind::Constant)
    }

    /// In words.
    pub(super) fn what(self) -> &'static str {
        match self {
            BodyKind::Constant => "a constant",
            BodyKind::FirstValue => "a first value",
            BodyKind::Init => "`init`",
            BodyKind::Function => "a function",
            BodyKind::Task => "a task",
            BodyKind::Event => "an event",
            BodyKind::Thread => "a thread",
            BodyKind::Guard => "a guard",
            BodyKind::Property => "a property",
            BodyKind::Spec => "a specification",
        }
    }
}

/// Names of one block.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) names: HashMap<&'a str, LocalId>,
    /// Number of closures around it.
    pub(super) frame: usize,
}

/// The body that is being checked.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) kind: BodyKind,
    /// Type of the returned value; `None` if the body returns none.
    pub(super) result: Option<Type>,
    /// Type of `self`.
    pub(super) object: Option<Type>,
    /// By loop around the statement: whether a `break` leaves it.
    pub(super) loops: Vec<bool>,
    pub(super) scopes: Vec<Scope<'a>>,
    /// The closures around the code.
    pub(super) frames: Vec<NodeId>,
    /// The innermost `atomic` block.
    pub(super) atomic: Option<Span>,
}

impl Body<'_> {
    pub(super) fn of(kind: BodyKind) -> Self {
        Body { kind, ..Body::default() }
    }
}

impl<'a> Checker<'a> {
    /// Runs a check in a body of its own.
    pub(super) fn in_body<T>(&mut self, body: Body<'a>, check: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.body, body);
        self.body.scopes.push(Scope::default());
        let out = check(self);
        self.body = before;
        out
    }

    /// Runs a check in a scope of its own.
    pub(super) fn in_scope<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let frame = self.body.frames.len();
        self.body.scopes.push(Scope { frame, ..Scope::default() });
        let out = check(self);
        self.body.scopes.pop();
        out
    }
}
