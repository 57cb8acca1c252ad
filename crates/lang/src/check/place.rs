//! Places: the targets of assignments and changes.

use super::checker::Checker;
use super::model::{LocalKind, Meaning};
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Expr, ExprKind, Ident};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks the target of an assignment and returns its type.
    pub(super) fn assigned_place(&mut self, place: &'a Expr) -> Type {
        let ty = self.expr(place);
        // The parser has reported what is no place.
        if !is_place(place) {
            return ty;
        }
        if self.is_shared(place) {
            self.changes_state(place.span, "an assignment");
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
        if self.is_shared(receiver) {
            self.changes_state(receiver.span.to(name.span), "a changing method");
        }
    }

    /// Follows a place to the variable or object that holds it, and reports what does not change.
    /// Whether it is a global or an object, which everybody sees. The parts of the place have their
    /// types already.
    fn is_shared(&mut self, place: &'a Expr) -> bool {
        match &place.kind {
            ExprKind::Paren(inner) => self.is_shared(inner),
            ExprKind::Name(name) => self.is_shared_name(name, place),
            ExprKind::SelfRef => {
                self.error(Code::ASSIGN_CONSTANT, place.span, "`self` is not assigned to");
                false
            }
            ExprKind::Field { base, .. } => {
                if let Some(Meaning::Variant(..)) = self.program.meaning(place.id) {
                    self.error(Code::ASSIGN_CONSTANT, place.span, "a variant is not assigned to");
                    return false;
                }
                let ty = self.program.types[base.id.index()].clone().unwrap_or(Type::Any);
                match self.solid(&ty) {
                    // Of an unknown type, it may be an object, or a record in a place.
                    Type::Class(_) | Type::Any | Type::Unknown(_) => true,
                    _ => self.is_shared(base),
                }
            }
            ExprKind::Index { base, .. } => self.is_shared(base),
            ExprKind::Error => false,
            _ => {
                self.report(
                    Diagnostic::new(Code::RECEIVER, place.span, "this value is not a place")
                        .note("places are locals, globals, fields (`a.b`) and elements (`a[i]`)"),
                );
                false
            }
        }
    }

    fn is_shared_name(&mut self, name: &str, place: &Expr) -> bool {
        match self.program.meaning(place.id) {
            Some(Meaning::Global(_)) => true,
            Some(Meaning::Local(id)) => {
                let info = self.program.locals[id.index()].clone();
                if self.is_captured(id) {
                    self.not_assigned(place.span, name, "copied into the closure", info.span);
                    return false;
                }
                let what = match info.kind {
                    LocalKind::Let => return false,
                    LocalKind::Param => "a parameter",
                    LocalKind::Element => "the element of a loop",
                    LocalKind::Pattern => "a name in a pattern",
                    LocalKind::Family => "the parameter of a family",
                    LocalKind::Spec => "a name in a specification",
                };
                self.not_assigned(place.span, name, what, info.span);
                false
            }
            Some(meaning @ (Meaning::Const(_) | Meaning::Function(_))) => {
                let declared = self.names.get(name).map_or(place.span, |(_, span)| *span);
                self.not_assigned(place.span, name, what_is(meaning), declared);
                false
            }
            _ => false,
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
