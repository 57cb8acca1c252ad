//! Places: the targets of assignments and changes.

use super::checker::Checker;
use super::program::{LocalKind, Meaning};
use super::types::Type;
use crate::ast::{Expr, ExprKind, Ident};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The variable or object that a change of a place affects.
enum Root {
    /// A global or an object: all code sees the change.
    Shared,
    /// A local of the body.
    Own,
    /// Something that does not change; a message already says so.
    Wrong,
}

impl<'a> Checker<'a> {
    /// Checks the target of an assignment and returns its type.
    pub(super) fn assigned_place(&mut self, place: &'a Expr) -> Type {
        let ty = self.expr(place);
        // The parser has reported this.
        if !is_place(place) {
            return ty;
        }
        match self.root(place) {
            Root::Shared => self.changes_state(place.span, "an assignment"),
            Root::Own | Root::Wrong => {}
        }
        ty
    }

    /// Checks the receiver of a method that changes it.
    pub(super) fn changed_receiver(&mut self, receiver: &'a Expr, name: &'a Ident) {
        if !is_place(receiver) {
            let message =
                format!("`{}` changes its receiver, which is not a place here", name.name);
            self.report(
                Diagnostic::new(Code::RECEIVER, name.span, message)
                    .also(receiver.span, "a value that nobody keeps")
                    .note("places are locals, globals, fields (`a.b`) and elements (`a[i]`)"),
            );
            return;
        }
        match self.root(receiver) {
            Root::Shared => self
                .changes_state(Span::new(receiver.span.start, name.span.end), "a changing method"),
            Root::Own | Root::Wrong => {}
        }
    }

    /// Follows a place to the variable or object that holds it. The parts of the place have their
    /// types already.
    fn root(&mut self, place: &'a Expr) -> Root {
        match &place.kind {
            ExprKind::Paren(inner) => self.root(inner),
            ExprKind::Name(name) => self.root_name(name, place),
            ExprKind::SelfRef => {
                self.error(Code::ASSIGN_CONSTANT, place.span, "`self` is not assigned to");
                Root::Wrong
            }
            ExprKind::Field { base, .. } => {
                if let Some(Meaning::Variant(..)) = self.program.meaning(place.id) {
                    self.error(Code::ASSIGN_CONSTANT, place.span, "a variant is not assigned to");
                    return Root::Wrong;
                }
                let ty = self.program.types[base.id.index()].clone().unwrap_or(Type::Any);
                match self.solid(&ty) {
                    Type::Class(_) => Root::Shared,
                    // This is an object, or a record in a place; only the run decides which.
                    Type::Any | Type::Unknown(_) => Root::Shared,
                    _ => self.root(base),
                }
            }
            ExprKind::Index { base, .. } => self.root(base),
            ExprKind::Error => Root::Wrong,
            _ => {
                self.report(
                    Diagnostic::new(Code::RECEIVER, place.span, "this value is not a place")
                        .note("places are locals, globals, fields (`a.b`) and elements (`a[i]`)"),
                );
                Root::Wrong
            }
        }
    }

    fn root_name(&mut self, name: &str, place: &Expr) -> Root {
        match self.program.meaning(place.id) {
            Some(Meaning::Global(_)) => Root::Shared,
            Some(Meaning::Local(id)) => {
                let info = self.program.locals[id.index()].clone();
                if self.is_captured(id) {
                    self.not_assigned(place.span, name, "copied into the closure", info.span);
                    return Root::Wrong;
                }
                let what = match info.kind {
                    LocalKind::Let => return Root::Own,
                    LocalKind::Param => "a parameter",
                    LocalKind::Element => "the element of a loop",
                    LocalKind::Pattern => "a name in a pattern",
                    LocalKind::Family => "the parameter of a family",
                    LocalKind::Spec => "a name in a specification",
                };
                self.not_assigned(place.span, name, what, info.span);
                Root::Wrong
            }
            Some(Meaning::Const(id)) => {
                let declared = self.names.get(name).map_or(place.span, |(_, span)| *span);
                debug_assert!(id.index() < self.program.consts.len());
                self.not_assigned(place.span, name, "a constant", declared);
                Root::Wrong
            }
            Some(Meaning::Function(_)) => {
                let declared = self.names.get(name).map_or(place.span, |(_, span)| *span);
                self.not_assigned(place.span, name, "a function", declared);
                Root::Wrong
            }
            _ => Root::Wrong,
        }
    }

    fn not_assigned(&mut self, span: Span, name: &str, what: &str, declared: Span) {
        let message = format!("`{name}` does not change: it is {what}");
        let mut diagnostic = Diagnostic::new(Code::ASSIGN_CONSTANT, span, message)
            .label("changed here")
            .also(declared, "declared here");
        if what != "a constant" && what != "a function" {
            diagnostic = diagnostic.note(format!("make a local of your own: `let copy = {name};`"));
        }
        self.report(diagnostic);
    }
}

fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Error => true,
        ExprKind::Paren(inner) => is_place(inner),
        // Any value can lead to an object. The root decides whether this one does.
        ExprKind::Field { .. } => true,
        ExprKind::Index { base, .. } => is_place(base),
        _ => false,
    }
}
