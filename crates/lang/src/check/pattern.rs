//! Patterns: their types, the names they declare, and the values they cover.

use super::checker::{Checker, unknown, wrong_kind};
use super::exhaust::{Ctor, Pat, Usefulness};
use super::model::{LocalKind, Meaning};
use super::types::Type;
use crate::ast::{Ident, Match, Pattern, PatternKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Checks a pattern for values of type `subject` and declares its names.
    pub(super) fn pattern(&mut self, pattern: &'a Pattern, subject: &Type) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => {}
            PatternKind::Int(_) => self.pattern_fits(pattern.span, &Type::Int, subject),
            PatternKind::Bool(_) => self.pattern_fits(pattern.span, &Type::Bool, subject),
            PatternKind::Str(_) => self.pattern_fits(pattern.span, &Type::Str, subject),
            PatternKind::Null => {
                let ty = self.unknowns.shallow(subject);
                if !matches!(
                    ty,
                    Type::Nullable(_) | Type::Any | Type::Null | Type::Unknown(_) | Type::Never
                ) {
                    let message = format!("a value of type `{}` is never `null`", self.show(&ty));
                    self.error(Code::NEVER_NULL, pattern.span, message);
                }
            }
            PatternKind::Binding(name) => self.binding(name, subject),
            PatternKind::Variant { enum_name, variant, args } => {
                self.variant_pattern(pattern.span, enum_name, variant, args, subject);
            }
        }
    }

    fn pattern_fits(&mut self, span: Span, ty: &Type, subject: &Type) {
        let wanted = self.solid(subject);
        if self.unknowns.join(ty, &wanted).is_none() {
            let (ty, subject) = (self.show(ty), self.show(subject));
            let message = format!("a pattern of type `{ty}` for a value of type `{subject}`");
            self.error(Code::TYPE_MISMATCH, span, message);
        }
    }

    fn binding(&mut self, name: &'a Ident, subject: &Type) {
        if let Some((Meaning::Const(_), declared)) = self.names.get(name.name.as_str()).copied() {
            let message = format!("`{}` names a new local here, not the constant", name.name);
            self.report(
                Diagnostic::new(Code::WRONG_KIND, name.span, message)
                    .also(declared, "the constant")
                    .note("constants are compared with `==`; in a pattern, write the value or use another name"),
            );
        }
        let ty = self.unknowns.shallow(subject);
        self.declare_local(name, ty, LocalKind::Pattern);
    }

    fn variant_pattern(
        &mut self,
        span: Span,
        enum_name: &'a Ident,
        variant: &'a Ident,
        args: &'a [Pattern],
        subject: &Type,
    ) {
        let found = self.global_name(&enum_name.name);
        let Some((Meaning::Enum(id), _)) = found else {
            let known = self.program.enums.iter().map(|info| info.name.as_str());
            let place = (enum_name.name.as_str(), enum_name.span);
            self.report(match found {
                Some(found) => Some(wrong_kind(enum_name, found, "an enum")),
                None => unknown(Code::UNKNOWN_NAME, "enum", place, known),
            });
            args.iter().for_each(|arg| self.pattern(arg, &Type::Any));
            return;
        };
        self.set_meaning(enum_name.id, Meaning::Enum(id));
        self.pattern_fits(span, &Type::Enum(id), subject);
        let Some((at, payload)) = self.find_variant(id, variant) else {
            args.iter().for_each(|arg| self.pattern(arg, &Type::Any));
            return;
        };
        self.set_meaning(variant.id, Meaning::Variant(id, at));
        if payload.len() != args.len() {
            let plural = if payload.len() == 1 { "" } else { "s" };
            let message =
                format!("expected {} pattern{plural}, found {}", payload.len(), args.len());
            self.error(Code::ARGUMENT_COUNT, variant.span, message);
        }
        for (at, arg) in args.iter().enumerate() {
            let ty = payload.get(at).cloned().unwrap_or(Type::Any);
            self.pattern(arg, &ty);
        }
    }

    /// Warns about values that no arm covers and arms that are never reached.
    pub(super) fn coverage(&mut self, word: Span, node: &'a Match, subject: &Type) {
        let subject = self.unknowns.deep(subject);
        let mut rows: Vec<Vec<Pat>> = Vec::new();
        let mut dead = Vec::new();
        let mut search = Usefulness::new(&self.program);
        for arm in &node.arms {
            let Some(pat) = self.shape(&arm.pattern) else { return };
            let row = vec![pat];
            if search.witness(&rows, &row, std::slice::from_ref(&subject)).is_none()
                && !search.gave_up()
            {
                dead.push(arm.pattern.span);
            }
            rows.push(row);
        }
        let missing = search.witness(&rows, &[Pat::Any], std::slice::from_ref(&subject));
        let open = missing.map(|witness| witness.join(", "));
        for span in dead {
            let message = "this arm is never reached";
            self.report(
                Diagnostic::new(Code::DEAD_ARM, span, message)
                    .note("the arms before it cover all that it matches"),
            );
        }
        if let Some(example) = open {
            let message = format!("`match` does not cover `{example}`");
            self.report(
                Diagnostic::new(Code::NOT_EXHAUSTIVE, word, message)
                    .note("a value that nothing matches is a failure when the model runs; `_ => ..` matches the rest"),
            );
        }
    }

    /// Returns a pattern without names; `None` if it is wrong.
    fn shape(&self, pattern: &Pattern) -> Option<Pat> {
        Some(match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Binding(_) => Pat::Any,
            PatternKind::Int(value) => Pat::Of(Ctor::Int(*value), vec![]),
            PatternKind::Bool(value) => Pat::Of(Ctor::Bool(*value), vec![]),
            PatternKind::Str(value) => Pat::Of(Ctor::Str(value.clone()), vec![]),
            PatternKind::Null => Pat::Of(Ctor::Null, vec![]),
            PatternKind::Error => return None,
            PatternKind::Variant { variant, args, .. } => {
                let Some(Meaning::Variant(id, at)) = self.program.meaning(variant.id) else {
                    return None;
                };
                if self.program.enums[id.index()].variants[at as usize].1.len() != args.len() {
                    return None;
                }
                let args = args.iter().map(|arg| self.shape(arg)).collect::<Option<_>>()?;
                Pat::Of(Ctor::Variant(id, at), args)
            }
        })
    }
}
