//! Names within bodies.

use super::checker::{Checker, unknown};
use super::model::{LocalId, LocalInfo, LocalKind, Meaning};
use super::types::Type;
use crate::ast::{Ident, NodeId};
use crate::diagnostic::Code;
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Declares a local in the innermost scope.
    pub(super) fn declare_local(&mut self, ident: &'a Ident, ty: Type, kind: LocalKind) -> LocalId {
        let id = LocalId(self.program.locals.len() as u32);
        self.program.locals.push(LocalInfo {
            name: ident.name.clone(),
            span: ident.span,
            ty,
            kind,
        });
        self.set_meaning(ident.id, Meaning::Local(id));
        if ident.name.is_empty() || ident.name == "_" {
            return id;
        }
        let scope = self.body.scopes.last_mut();
        let first = scope.and_then(|scope| scope.names.insert(ident.name.as_str(), id));
        if let Some(first) = first {
            let first = self.program.locals[first.index()].span;
            self.declared_twice(ident, first);
        }
        id
    }

    /// Returns the local of that name. A closure that uses an outer local copies it.
    pub(super) fn find_local(&mut self, name: &str) -> Option<LocalId> {
        let mut scopes = self.body.scopes.iter().rev();
        let (id, frame) =
            scopes.find_map(|scope| scope.names.get(name).map(|id| (*id, scope.frame)))?;
        self.mark_used(Meaning::Local(id));
        for closure in self.body.frames.iter().skip(frame) {
            let captures = self.program.captures.entry(*closure).or_default();
            if !captures.contains(&id) {
                captures.push(id);
            }
        }
        Some(id)
    }

    /// Returns whether a local belongs to code around the innermost closure.
    pub(super) fn is_captured(&self, id: LocalId) -> bool {
        let frames = self.body.frames.len();
        self.body
            .scopes
            .iter()
            .any(|scope| scope.frame < frames && scope.names.values().any(|known| *known == id))
    }

    /// Returns the meaning of a name in a body: the innermost local, or else the declaration
    /// outside of bodies.
    pub(super) fn resolve(&mut self, name: &str, span: Span, id: NodeId) -> Option<Meaning> {
        let meaning = match self.find_local(name) {
            Some(local) => Meaning::Local(local),
            None => match self.global_name(name) {
                Some((meaning, _)) => meaning,
                None => {
                    self.unknown_name(name, span);
                    return None;
                }
            },
        };
        self.set_meaning(id, meaning);
        Some(meaning)
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let locals: Vec<&'a str> =
            self.body.scopes.iter().rev().flat_map(|scope| scope.names.keys().copied()).collect();
        let mut known: Vec<&'a str> = self.names.keys().copied().collect();
        known.extend(locals);
        known.sort_unstable();
        self.report(unknown(Code::UNKNOWN_NAME, "name", (name, span), known));
    }
}
