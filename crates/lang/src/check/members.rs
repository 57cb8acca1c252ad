//! The handlers and causes of events, for each member of a family.

use super::checker::Checker;
use super::evaluate::Evaluator;
use super::model::{EventId, EventMember, HandlerId, LocalId, Meaning};
use crate::ast::{EventDecl, Ref};
use crate::diagnostic::Code;
use std::collections::BTreeSet;

impl<'a> Checker<'a> {
    /// Fills [`super::EventInfo::members`].
    pub(super) fn event_members(&mut self) {
        let model = self.model;
        let decls: Vec<&'a EventDecl> = model.events().collect();
        let apart = self.apart(&decls);
        for (at, decl) in (0..).zip(&decls) {
            let info = &mut self.program.events[at as usize];
            let indices: Vec<Option<i64>> = match info.family {
                Some((from, to)) if apart.contains(&EventId(at)) => (from..to).map(Some).collect(),
                _ => vec![None],
            };
            let member = |index| EventMember { index, once: decl.once, ..EventMember::default() };
            info.members = indices.into_iter().map(member).collect();
        }
        for (event, decl) in decls.iter().enumerate() {
            for at in 0..self.program.events[event].members.len() {
                self.member(event, at, decl);
            }
        }
        model.drivers().for_each(|refs| self.drive(refs));
    }

    /// Returns the events whose members differ in more than the index: a reference names one
    /// member, or each member has its own handler or predecessors.
    fn apart(&self, decls: &[&'a EventDecl]) -> BTreeSet<EventId> {
        let mut found = BTreeSet::new();
        for r in self.model.drivers().chain(decls.iter().map(|decl| &decl.after)).flatten() {
            if r.index.is_some() {
                found.extend(self.event_of(r));
            }
        }
        for (at, decl) in (0..).zip(decls) {
            let by_member =
                |r: &Ref| r.index.as_ref().is_some_and(|index| self.known_int(index).is_none());
            if decl.on.iter().chain(&decl.after).any(by_member) {
                found.insert(EventId(at));
            }
        }
        found
    }

    /// Resolves the place and the causes of one event, or of one member of a family.
    fn member(&mut self, event: usize, at: usize, decl: &'a EventDecl) {
        let index = self.program.events[event].members[at].index;
        let param = decl.family.as_ref().and_then(|f| self.program.meaning(f.var.id));
        let bound = match (param, index) {
            (Some(Meaning::Local(param)), Some(index)) => Some((param, index)),
            _ => None,
        };
        let handler = decl.on.as_ref().and_then(|on| self.place(on, bound));
        let after = decl.after.iter().flat_map(|r| self.named(r, bound)).collect();
        let member = &mut self.program.events[event].members[at];
        (member.handler, member.after) = (handler, after);
    }

    fn place(&mut self, on: &'a Ref, bound: Option<(LocalId, i64)>) -> Option<(HandlerId, u32)> {
        let Some(Meaning::Handler(id)) = self.program.meaning(on.name.id) else { return None };
        let index = match &on.index {
            None => Some(0),
            Some(index) => Evaluator::new(&self.program).of_member(bound).int(index),
        };
        let size = self.program.handlers[id.index()].size.unwrap_or(1);
        let index = index.and_then(|i| u32::try_from(i).ok()).filter(|i| *i < size);
        if index.is_none() {
            self.no_element(on, "no such handler in the array");
        }
        Some((id, index?))
    }

    /// Returns the members that a reference means. Each is an event and a position in its members.
    fn named(&mut self, r: &'a Ref, bound: Option<(LocalId, i64)>) -> Vec<(EventId, usize)> {
        let Some(id) = self.event_of(r) else { return vec![] };
        let members = &self.program.events[id.index()].members;
        let Some(index) = &r.index else {
            return (0..members.len()).map(|at| (id, at)).collect();
        };
        let wanted = Evaluator::new(&self.program).of_member(bound).int(index);
        match members.iter().position(|m| m.index.is_some() && m.index == wanted) {
            Some(at) => vec![(id, at)],
            None => {
                self.no_element(r, "no such member of the family of events");
                vec![]
            }
        }
    }

    /// Records a list of events in the order in which they happen; each happens once (E2).
    fn drive(&mut self, refs: &'a [Ref]) {
        let mut before: Vec<(EventId, usize)> = vec![];
        for r in refs {
            let driven = self.named(r, None);
            for (event, at) in &driven {
                let member = &mut self.program.events[event.index()].members[*at];
                member.once = true;
                member.driven.extend(&before);
            }
            before = driven;
        }
    }

    fn event_of(&self, r: &Ref) -> Option<EventId> {
        match self.program.meaning(r.name.id)? {
            Meaning::Event(id) => Some(id),
            _ => None,
        }
    }

    /// Reports a place in the text once, for however many members it is wrong.
    fn no_element(&mut self, r: &Ref, message: &str) {
        if self.diagnostics.iter().all(|d| d.primary.span != r.span) {
            self.error(Code::OUT_OF_RANGE, r.span, message);
        }
    }
}
