//! What all parts of the lowering share: the program under construction, the names, the messages.

use super::fold::{Folder, Member};
use super::symbols::Symbols;
use super::ty::Ty;
use crate::ast::{EventDecl, Expr, Model, NodeId};
use crate::check;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, Span};
use anyorder_vm::program::{ConstId, FuncId, Literal, NameId, ProgramBuilder, SiteId};
use std::collections::HashMap;

/// Types that somebody else found out; `None` or `Ty::Any` where they do not know.
pub(crate) type Hints<'a> = &'a dyn Fn(&Symbols<'_>, NodeId) -> Option<Ty>;

/// The state of one lowering.
pub(crate) struct Lowerer<'a> {
    pub(crate) model: &'a Model,
    pub(crate) source: &'a Source<'a>,
    pub(crate) hints: Hints<'a>,
    pub(crate) tables: &'a check::Program,
    pub(crate) b: ProgramBuilder,
    pub(crate) symbols: Symbols<'a>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The code of each closure that was met.
    pub(crate) closures: HashMap<NodeId, FuncId>,
    file: u16,
    sites: HashMap<u32, SiteId>,
    constants: HashMap<String, ConstId>,
    names: HashMap<String, NameId>,
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(
        model: &'a Model,
        source: &'a Source<'a>,
        hints: Hints<'a>,
        tables: &'a check::Program,
    ) -> Lowerer<'a> {
        let name = model.name.as_ref().map_or("", |n| n.name.as_str());
        let mut b = ProgramBuilder::new(name);
        let file = b.file(source.name());
        Lowerer {
            model,
            source,
            hints,
            tables,
            b,
            symbols: Symbols::default(),
            diagnostics: Vec::new(),
            closures: HashMap::new(),
            file,
            sites: HashMap::new(),
            constants: HashMap::new(),
            names: HashMap::new(),
        }
    }

    /// Says that something cannot be lowered.
    pub(crate) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, span, message));
    }

    /// The number of the place where a span starts.
    pub(crate) fn site(&mut self, span: Span) -> SiteId {
        if let Some(known) = self.sites.get(&span.start) {
            return *known;
        }
        let at = self.source.position(span.start);
        let site = self.b.site(self.file, at.line, at.column);
        self.sites.insert(span.start, site);
        site
    }

    /// The number of a constant; equal constants share one.
    pub(crate) fn constant(&mut self, value: &Literal) -> ConstId {
        let key = format!("{value:?}");
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let id = self.b.constant(value.clone());
        self.constants.insert(key, id);
        id
    }

    /// The number of a member's name.
    pub(crate) fn name(&mut self, name: &str) -> NameId {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let id = self.b.name(name);
        self.names.insert(name.to_owned(), id);
        id
    }

    /// The value of an expression outside of all functions, if it is known.
    pub(crate) fn fold(&self, e: &Expr) -> Option<Literal> {
        self.folder().fold(e)
    }

    /// Folds expressions outside of all functions.
    pub(crate) fn folder(&self) -> Folder<'_, 'a> {
        Folder { symbols: &self.symbols, is_local: &|_| false, bound: None }
    }

    /// A member of a family of events.
    pub(crate) fn member(&self, decl: &EventDecl, number: i64) -> Member {
        let index = decl.family.as_ref().and_then(|family| self.folder().index(&family.range));
        Member { number, index: index.map(|(of, _)| of) }
    }

    /// The type of a constant.
    pub(crate) fn literal_ty(&self, value: &Literal) -> Ty {
        let join = |items: &[Literal]| {
            let mut types = items.iter().map(|i| self.literal_ty(i));
            let first = types.next().unwrap_or(Ty::Any);
            Box::new(types.fold(first, Ty::join))
        };
        match value {
            Literal::Null => Ty::Null,
            Literal::Bool(_) => Ty::Bool,
            Literal::Int(_) => Ty::Int,
            Literal::Index(of, _) => Ty::Index(*of),
            Literal::Str(_) => Ty::Str,
            Literal::Enum(id, ..) => Ty::Enum(id.index()),
            Literal::Record(id, _) => Ty::Record(id.index()),
            Literal::List(items) | Literal::Array(_, items) => Ty::List(join(items)),
            Literal::Set(items) => Ty::Set(join(items)),
            Literal::Map(entries) => {
                let (keys, values): (Vec<_>, Vec<_>) = entries.iter().cloned().unzip();
                Ty::Map(join(&keys), join(&values))
            }
        }
    }
}
