//! The state of the checker and its smallest operations.

use super::body::Body;
use super::infer::{Fit, Unknowns};
use super::program::{ConstId, GlobalId, LocalId, Meaning, Program};
use super::pure::Effects;
use super::symmetry::{self, Visit};
use super::types::Type;
use crate::ast::{Block, Expr, Ident, Model, NodeId};
use crate::diagnostic::{Code, Diagnostic, foreign_word_hint, most_similar};
use crate::source::Span;
use std::collections::{BTreeSet, HashMap};

/// Most diagnostics for one file.
const DIAGNOSTICS_MAX: usize = 200;

pub(super) struct Checker<'a> {
    pub(super) model: &'a Model,
    pub(super) text: &'a str,
    pub(super) program: Program,
    pub(super) unknowns: Unknowns,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Code that iterates over a container, for the check of index types.
    pub(super) visits: Vec<Visit<'a>>,
    /// Names declared outside of bodies, with the places of their declarations.
    pub(super) names: HashMap<&'a str, (Meaning, Span)>,
    /// The progress of each constant.
    pub(super) const_state: Vec<ConstState>,
    /// While declarations get their types: the sizes of the arrays in these types. They are
    /// evaluated after the constants are known.
    pub(super) sizes_later: Option<Vec<(NodeId, &'a Expr)>>,
    /// The first value under check may read only globals below this one.
    pub(super) globals_ready: Option<GlobalId>,
    /// All names that the model mentions.
    pub(super) used: BTreeSet<UseKey>,
    pub(super) body: Body<'a>,
    /// Members of values whose type was unknown at that point.
    pub(super) open_members: Vec<&'a Expr>,
    /// Effects of callable bodies and of expressions that must have no effects.
    pub(super) effects: Effects,
}

/// A meaning that can be unused, as a sortable key: its kind and its number.
pub(super) type UseKey = (u8, u32);

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
            program: Program::new(model.node_count as usize),
            unknowns: Unknowns::default(),
            diagnostics: vec![],
            visits: vec![],
            names: HashMap::new(),
            const_state: vec![],
            sizes_later: None,
            globals_ready: None,
            used: BTreeSet::new(),
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

    /// Returns the tables, with all unknown types settled.
    pub(super) fn finish(mut self) -> (Program, Vec<Diagnostic>) {
        for expr in std::mem::take(&mut self.open_members) {
            self.late_member(expr);
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

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < DIAGNOSTICS_MAX {
            self.diagnostics.push(diagnostic);
        }
    }

    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }

    pub(super) fn show(&self, ty: &Type) -> String {
        self.unknowns.finished(ty).show(&self.program)
    }

    /// Reports "unknown WHAT `name`", with the nearest known name.
    pub(super) fn unknown<'n>(
        &mut self,
        code: Code,
        what: &str,
        name: &str,
        span: Span,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        if name.is_empty() {
            return;
        }
        let mut diagnostic = Diagnostic::new(code, span, format!("unknown {what} `{name}`"));
        if let Some(similar) = most_similar(name, known) {
            diagnostic = diagnostic.suggest("a similar name exists", span, similar);
        } else if let Some(written) = foreign_word_hint(name) {
            diagnostic = diagnostic.note(written);
        }
        self.report(diagnostic);
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
        if let Some(key) = use_key(meaning) {
            self.used.insert(key);
        }
    }

    /// Returns the declaration outside of bodies that has this name, and marks it as used.
    pub(super) fn global_name(&mut self, name: &str) -> Option<(Meaning, Span)> {
        let found = self.names.get(name).copied()?;
        self.mark_used(found.0);
        Some(found)
    }

    pub(super) fn ident_means(&mut self, ident: &Ident, meaning: Meaning) {
        self.set_meaning(ident.id, meaning);
    }

    // ---- types

    /// Checks that the value of `expr` fits a place of type `want`.
    pub(super) fn expect(&mut self, expr: &'a Expr, want: &Type) -> Type {
        let found = self.expr_hinted(expr, want);
        self.fit_here(expr, &found, want, None);
        found
    }

    /// Works as [`Checker::expect`]. If the value does not fit, the message also points at the code
    /// that requires the type.
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
        let span = result_span(expr);
        let (code, message) = match fit {
            Fit::Yes => return,
            Fit::Checked => {
                self.program.runtime_checks.insert(expr.id, want.clone());
                return;
            }
            Fit::Null => {
                let want = self.show(want);
                (Code::NULLABLE, format!("expected `{want}`, found `null`"))
            }
            Fit::No => {
                let (want, found) = (self.show(want), self.show(found));
                let found =
                    if found == "nothing" { "no value".into() } else { format!("`{found}`") };
                (Code::TYPE_MISMATCH, format!("expected `{want}`, found {found}"))
            }
        };
        let mut diagnostic =
            Diagnostic::new(code, span, message).label(format!("expected `{}`", self.show(want)));
        if let Some((span, text)) = reason {
            diagnostic = diagnostic.also(span, text);
        }
        if fit == Fit::Null {
            diagnostic = diagnostic
                .note(format!("a value that may be null has the type `{}?`", self.show(want)));
        }
        self.report(diagnostic);
    }

    pub(super) fn local_type(&self, id: LocalId) -> Type {
        self.program.locals[id.index()].ty.clone()
    }

    pub(super) fn const_type(&mut self, id: ConstId) -> Type {
        self.ensure_const(id);
        self.program.consts[id.index()].ty.clone()
    }
}

/// Returns the place that the value of an expression comes from, for messages.
fn result_span(expr: &Expr) -> Span {
    expr.span
}

/// Returns the end of a block, for messages about something missing there.
pub(super) fn end_of(block: &Block) -> Span {
    Span::new(block.span.end.saturating_sub(1).max(block.span.start), block.span.end)
}

pub(super) fn use_key(meaning: Meaning) -> Option<UseKey> {
    Some(match meaning {
        Meaning::Local(id) => (0, id.0),
        Meaning::Const(id) => (1, id.0),
        Meaning::Global(id) => (2, id.0),
        Meaning::Function(id) => (3, id.0),
        Meaning::Task(id) => (4, id.0),
        Meaning::Handler(id) => (5, id.0),
        Meaning::Lock(id) => (6, id.0),
        Meaning::Cond(id) => (7, id.0),
        Meaning::Enum(id) => (8, id.0),
        Meaning::Record(id) => (9, id.0),
        Meaning::Class(id) => (10, id.0),
        Meaning::Event(id) => (11, id.0),
        Meaning::Index(id) => (12, id.0),
        _ => return None,
    })
}
