//! What the checker knows about the current body, and which statements the body may contain.

use super::checker::Checker;
use super::program::LocalId;
use super::types::Type;
use crate::ast::NodeId;
use crate::diagnostic::{Code, Diagnostic};
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
}

/// A loop around the current statement.
#[derive(Clone, Copy)]
pub(super) struct LoopInfo {
    /// Whether a `break` leaves it.
    pub(super) left: bool,
}

/// Names of one block.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) names: HashMap<&'a str, LocalId>,
    /// Number of closures around it.
    pub(super) frame: usize,
}

/// A closure around the current code.
pub(super) struct Frame {
    pub(super) id: NodeId,
    /// The result type of the code around the closure; the next fields belong to that code, too.
    pub(super) result: Option<Type>,
    pub(super) loops: Vec<LoopInfo>,
    pub(super) atomic: Option<Span>,
}

/// The body that the checker is in.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) kind: BodyKind,
    /// Type of the returned value; `None` if the body returns none.
    pub(super) result: Option<Type>,
    /// Type of `self`.
    pub(super) object: Option<Type>,
    pub(super) loops: Vec<LoopInfo>,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) frames: Vec<Frame>,
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
        self.body.scopes.push(Scope { names: HashMap::new(), frame });
        let out = check(self);
        self.body.scopes.pop();
        out
    }

    /// Reports a statement that is not allowed in a body of this kind.
    pub(super) fn not_here(&mut self, span: Span, what: &str, note: &str) {
        let body = match self.body.kind {
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
        };
        let message = format!("{what} is not allowed in {body}");
        let mut diagnostic = Diagnostic::new(Code::CONTEXT, span, message);
        if !note.is_empty() {
            diagnostic = diagnostic.note(note);
        }
        self.report(diagnostic);
    }
}
