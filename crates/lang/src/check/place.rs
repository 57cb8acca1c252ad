//! Places: what can be assigned to and changed.

use super::checker::Checker;
use super::program::{LocalKind, Meaning};
use super::types::Type;
use crate::ast::{Expr, ExprKind, Ident};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// Where a change of a place goes.
enum Root {
    /// A global or an object: everybody sees it.
    Shared,
    /// A local of the body.
    Own,
    /// Something that does not change; told already.
    Wrong,
}

impl<'a> Checker<'a> {
    /// The type of a place that is assigned to.
    pub(super) fn assigned_place(&mut self, place: &'a Expr) -> Type {
        let ty = self.expr(place);
        // The parser has told what is no place.
        if !is_place(place) {
            return ty;
        }
        match self.root(place) {
            Root::Shared => self.changes_state(place.span, "an assignment"),
            Root::Own | Root::Wrong => {}
        }
        ty
    }

    /// A method that changes its receiver.
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

    /// Follows a place to the variable or object that holds it. Its parts have their types already.
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
                    // An object, or a record in a place: only the run tells.
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
        // An object is reached through any value; the root tells whether it is one.
        ExprKind::Field { .. } => true,
        ExprKind::Index { base, .. } => is_place(base),
        _ => false,
    }
}
