//! The state of the checker and its smallest operations.

use super::body::Body;
use super::infer::{Fit, Unknowns};
use super::model::{CheckedModel, ConstId, GlobalId, LocalId, Meaning};
use super::pure::Effects;
use super::symmetry::{self, Visit};
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Block, Expr, Ident, Model, NodeId};
use crate::diagnostic::{
    Code, DIAGNOSTICS_MAX, Diagnostic, foreign_word_hint, most_similar, word_form,
};
use crate::source::Span;
use std::collections::{BTreeMap, HashSet};

pub(super) struct Checker<'a> {
    pub(super) model: &'a Model,
    pub(super) text: &'a str,
    pub(super) program: CheckedModel,
    pub(super) unknowns: Unknowns,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Values whose static types fit their places.
    pub(super) unchecked: Vec<(NodeId, Type)>,
    /// Code that goes through the elements of a container, for the check of index types.
    pub(super) visits: Vec<Visit<'a>>,
    /// Names declared outside of bodies, with the places of their declarations.
    pub(super) names: BTreeMap<&'a str, (Meaning, Span)>,
    /// By constant: how far its evaluation is.
    pub(super) const_state: Vec<ConstState>,
    /// While declarations get their types: the sizes of arrays in them. They are evaluated after
    /// the constants.
    pub(super) sizes_later: Option<Vec<(NodeId, &'a Expr)>>,
    /// The first value under check may read only globals below this one.
    pub(super) globals_ready: Option<GlobalId>,
    /// The meanings that some code mentions.
    pub(super) used: HashSet<Meaning>,
    pub(super) body: Body<'a>,
    /// Members of values whose type was unknown at that point.
    pub(super) open_members: Vec<&'a Expr>,
    /// Effects of callable bodies and of expressions that must have no effects.
    pub(super) effects: Effects,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ConstState {
    Waiting,
    Running,
    Done,
}

impl<'a> Checker<'a> {
    pub(super) fn new(model: &'a Model, text: &'a str) -> Self {
        Self {
            model,
            text,
            program: CheckedModel::new(model.node_count as usize),
            unknowns: Unknowns::default(),
            diagnostics: vec![],
            unchecked: vec![],
            visits: vec![],
            names: BTreeMap::new(),
            const_state: vec![],
            sizes_later: None,
            globals_ready: None,
            used: HashSet::new(),
            body: Body::default(),
            open_members: vec![],
            effects: Effects::default(),
        }
    }

    pub(super) fn run(&mut self) {
        self.collect();
        // Constants may be records and variants. The types of records and variants may use
        // constants as sizes.
        self.signatures();
        self.constants();
        self.sizes();
        self.first_values();
        self.bodies();
        self.check_order();
        self.check_components();
        self.check_purity();
        if !crate::diagnostic::has_errors(&self.diagnostics) {
            self.event_members();
        }
        self.report_unused();
    }

    /// The tables with all unknown types settled.
    pub(super) fn finish(mut self) -> (CheckedModel, Vec<Diagnostic>) {
        for expr in std::mem::take(&mut self.open_members) {
            self.late_member(expr);
        }
        self.program.is_loose = self.unknowns.is_loose;
        if self.program.is_loose {
            for (id, ty) in std::mem::take(&mut self.unchecked) {
                self.program.runtime_checks.entry(id).or_insert(ty);
            }
        }
        let unknowns = &self.unknowns;
        let settle = |ty: &mut Type| *ty = unknowns.finished(ty);
        self.program.types.iter_mut().flatten().for_each(settle);
        self.program.locals.iter_mut().for_each(|local| settle(&mut local.ty));
        self.program.globals.iter_mut().for_each(|global| settle(&mut global.ty));
        self.program.consts.iter_mut().for_each(|constant| settle(&mut constant.ty));
        self.program.runtime_checks.values_mut().for_each(settle);
        for class in &mut self.program.classes {
            class.fields.iter_mut().for_each(|(_, ty)| settle(ty));
        }
        let hidden = std::mem::take(&mut self.unknowns.hidden);
        let hidden = hidden.iter().map(|(ty, span)| (self.unknowns.finished(ty), *span));
        let found = symmetry::check(self.model, &mut self.program, &self.visits, hidden.collect());
        self.diagnostics.extend(found);
        (self.program, self.diagnostics)
    }

    // ---- reporting

    pub(super) fn report(&mut self, diagnostic: impl Into<Option<Diagnostic>>) {
        if self.diagnostics.len() < DIAGNOSTICS_MAX {
            self.diagnostics.extend(diagnostic.into());
        }
    }

    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }

    pub(super) fn show(&self, ty: &Type) -> String {
        self.unknowns.finished(ty).show(&self.program)
    }

    /// The type of a value that was found, in a message.
    pub(super) fn show_found(&self, ty: &Type) -> String {
        match self.show(ty).as_str() {
            "nothing" => "no value".into(),
            shown => format!("`{shown}`"),
        }
    }

    // ---- recording

    pub(super) fn set_meaning(&mut self, id: NodeId, meaning: Meaning) {
        if let Some(slot) = self.program.meanings.get_mut(id.index()) {
            *slot = Some(meaning);
        }
    }

    pub(super) fn set_type(&mut self, id: NodeId, ty: &Type) {
        if let Some(slot) = self.program.types.get_mut(id.index()) {
            *slot = Some(ty.clone());
        }
    }

    pub(super) fn mark_used(&mut self, meaning: Meaning) {
        self.used.insert(meaning);
    }

    /// Returns the declaration outside of bodies that has this name, and marks it as used.
    pub(super) fn global_name(&mut self, name: &str) -> Option<(Meaning, Span)> {
        let found = self.names.get(name).copied()?;
        self.mark_used(found.0);
        Some(found)
    }

    // ---- types

    /// Checks that the value of `expr` fits a place of type `want`.
    pub(super) fn expect(&mut self, expr: &'a Expr, want: &Type) -> Type {
        let found = self.expr_hinted(expr, want);
        self.fit_here(expr, &found, want, None);
        found
    }

    /// As [`Checker::expect`]. If the type does not fit, the message points at the reason for it.
    pub(super) fn expect_for(&mut self, expr: &'a Expr, want: &Type, reason: (Span, &str)) -> Type {
        let found = self.expr_hinted(expr, want);
        self.fit_here(expr, &found, want, Some(reason));
        found
    }

    pub(super) fn fit_here(
        &mut self,
        expr: &Expr,
        found: &Type,
        want: &Type,
        reason: Option<(Span, &str)>,
    ) {
        let fit = self.unknowns.fit(found, want);
        let (code, message) = match fit {
            Fit::Yes => {
                if !matches!(self.unknowns.shallow(want), Type::Any | Type::Unknown(_)) {
                    self.unchecked.push((expr.id, want.clone()));
                }
                return;
            }
            Fit::Checked => {
                self.program.runtime_checks.insert(expr.id, want.clone());
                return;
            }
            Fit::Null => {
                let want = self.show(want);
                (Code::NULLABLE, format!("expected `{want}`, found `null`"))
            }
            Fit::No => {
                let (want, found) = (self.show(want), self.show_found(found));
                (Code::TYPE_MISMATCH, format!("expected `{want}`, found {found}"))
            }
        };
        let mut diagnostic = Diagnostic::new(code, expr.span, message)
            .label(format!("expected `{}`", self.show(want)));
        if let Some((span, text)) = reason {
            diagnostic = diagnostic.also(span, text);
        }
        if fit == Fit::Null {
            diagnostic = diagnostic
                .note(format!("a value that may be null has the type `{}?`", self.show(want)));
        }
        self.report(diagnostic);
    }

    /// Notes that the machine does not check the kind of a value where it is used.
    pub(super) fn never_checked(&mut self, expr: &Expr) {
        self.unknowns.is_loose |= self.program.runtime_checks.contains_key(&expr.id);
    }

    pub(super) fn local_type(&self, id: LocalId) -> Type {
        self.program.locals[id.index()].ty.clone()
    }

    pub(super) fn const_type(&mut self, id: ConstId) -> Type {
        self.ensure_const(id);
        self.program.consts[id.index()].ty.clone()
    }
}

/// Where a block ends, for messages about what is missing there.
pub(super) fn end_of(block: &Block) -> Span {
    Span::new(block.span.end.saturating_sub(1).max(block.span.start), block.span.end)
}

/// "unknown WHAT `name`", with the nearest of the known names. Nothing for a name that error
/// recovery made up.
pub(super) fn unknown<'n>(
    code: Code,
    what: &str,
    (name, span): (&str, Span),
    known: impl IntoIterator<Item = &'n str>,
) -> Option<Diagnostic> {
    if name.is_empty() {
        return None;
    }
    let diagnostic = Diagnostic::new(code, span, format!("unknown {what} `{name}`"));
    if let Some(form) = word_form(name) {
        let note = format!("a statement or expression with this word is written `{form}`");
        return Some(diagnostic.note(note));
    }
    Some(match (most_similar(name, known), foreign_word_hint(name)) {
        (Some(near), _) => diagnostic.suggest("a similar name exists", span, near),
        (None, Some(written)) => diagnostic.note(written),
        (None, None) => diagnostic,
    })
}

/// "`name` is WHAT, not WANTED".
pub(super) fn wrong_kind(name: &Ident, found: (Meaning, Span), wanted: &str) -> Diagnostic {
    is_not(name, found.0, wanted).also(found.1, "declared here")
}

/// As [`wrong_kind`], without the place of the declaration.
pub(super) fn is_not(name: &Ident, found: Meaning, wanted: &str) -> Diagnostic {
    let message = format!("`{}` is {}, not {wanted}", name.name, what_is(found));
    Diagnostic::new(Code::WRONG_KIND, name.span, message)
}

/// The types of parameters or fields.
pub(super) fn types_of(named: &[(String, Type)]) -> Vec<Type> {
    named.iter().map(|(_, ty)| ty.clone()).collect()
}
