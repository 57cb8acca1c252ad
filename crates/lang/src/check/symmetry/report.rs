//! From variables to index sets and messages.

use super::flow::Flow;
use super::order::any_order;
use super::result::{IndexSet, Symmetries, SymmetryRule as Rule};
use super::shape::{Leaf, Shape};
use crate::ast::{EventDecl, ItemKind, Ref};
use crate::check::{CondId, EventId, GlobalId, Granularity, HandlerId, LockId, ThreadId};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// An index set before it is known to be one.
struct Class {
    size: u32,
    span: Span,
}

/// What was found, on the way to messages.
struct Report<'f, 'a> {
    flow: &'f Flow<'a>,
    classes: Vec<Class>,
    /// The class of the root of each variable.
    of: BTreeMap<Leaf, usize>,
    diagnostics: Vec<Diagnostic>,
    said: BTreeSet<(Span2, Rule)>,
    rules: BTreeMap<Rule, u32>,
}

type Span2 = (u32, u32);

impl Flow<'_> {
    pub(super) fn conclude(self) -> Symmetries {
        let mut report = Report {
            flow: &self,
            classes: vec![],
            of: BTreeMap::new(),
            diagnostics: vec![],
            said: BTreeSet::new(),
            rules: BTreeMap::new(),
        };
        report.classes();
        report.untyped();
        report.demands();
        report.bounds();
        report.loops();
        report.values();
        report.members();
        let Report { mut diagnostics, rules, of, classes, .. } = report;
        diagnostics.sort_by_key(|d| (d.primary.span.start, d.primary.span.end));
        let set = |leaf: Leaf| of.get(&self.find(leaf)).and_then(|set| u16::try_from(*set).ok());
        let sets = if diagnostics.is_empty() { self.sets(&classes, &set) } else { vec![] };
        let numbers = (0..self.leaves_count() as Leaf).map(set).collect();
        let mut shapes = self.shapes;
        shapes.sets = if diagnostics.is_empty() { numbers } else { vec![] };
        Symmetries { sets, diagnostics, rules, shapes }
    }

    fn sets(&self, classes: &[Class], set: &dyn Fn(Leaf) -> Option<u16>) -> Vec<IndexSet> {
        let members = |leaves: &[Leaf], number: u16| -> Vec<u32> {
            (0..).zip(leaves).filter(|(_, leaf)| set(**leaf) == Some(number)).map(|m| m.0).collect()
        };
        let globals = (0..).zip(&self.shapes.globals);
        let lists: Vec<(u32, Leaf)> = globals
            .filter_map(|(i, shape)| match shape {
                Shape::List(leaf, _) => Some((i, *leaf)),
                _ => None,
            })
            .collect();
        (0..)
            .zip(classes)
            .map(|(number, class)| IndexSet {
                size: class.size,
                handlers: members(&self.handlers, number).into_iter().map(HandlerId).collect(),
                threads: members(&self.threads, number).into_iter().map(ThreadId).collect(),
                events: members(&self.events, number).into_iter().map(EventId).collect(),
                locks: members(&self.locks, number).into_iter().map(LockId).collect(),
                conds: members(&self.conds, number).into_iter().map(CondId).collect(),
                globals: lists
                    .iter()
                    .filter(|(_, leaf)| set(*leaf) == Some(number))
                    .map(|(i, _)| GlobalId(*i))
                    .collect(),
            })
            .collect()
    }
}

impl Report<'_, '_> {
    fn class(&self, leaf: Leaf) -> Option<&Class> {
        self.of.get(&self.flow.find(leaf)).and_then(|class| self.classes.get(*class))
    }

    fn count(&mut self, rule: Rule) {
        *self.rules.entry(rule).or_insert(0) += 1;
    }

    fn classes(&mut self) {
        let flow = self.flow;
        for seed in &flow.seeds {
            let root = flow.find(seed.leaf);
            match self.of.get(&root).and_then(|class| self.classes.get(*class)) {
                None => {
                    self.of.insert(root, self.classes.len());
                    self.classes.push(Class { size: seed.size, span: seed.span });
                }
                Some(class) if class.size != seed.size => {
                    let (size, span) = (class.size, class.span);
                    let message = format!(
                        "the {} members of this are indexed by those of something with {size}",
                        seed.size
                    );
                    self.count(Rule::Sizes);
                    self.diagnostics.push(
                        Diagnostic::new(Code::SYMMETRY, seed.span, message)
                            .also(span, "declared `symmetric` here")
                            .note("what shares its indices needs the same number of members"),
                    );
                }
                Some(_) => {}
            }
        }
    }

    fn say(&mut self, leaf: Leaf, span: Span, rule: Rule, what: &str) {
        let Some(class) = self.class(leaf) else { return };
        let declared = class.span;
        self.count(rule);
        if !self.said.insert(((span.start, span.end), rule)) {
            return;
        }
        let message = format!("declared `symmetric`, but here an index is {what}");
        let mut diagnostic = Diagnostic::new(Code::SYMMETRY, span, message)
            .label("tells members apart")
            .also(declared, "declared `symmetric` here");
        diagnostic = match rule {
            Rule::Constant => diagnostic.note(
                "an index may be compared with other indices of the same members; for \"none yet\", use `int?` and `null`",
            ),
            Rule::StartsAsZero => diagnostic
                .note("give it a type that may be null: it then starts as `null`, which is no member"),
            Rule::Length | Rule::PartRange => {
                diagnostic.note("lists and ranges over the members have exactly as many elements")
            }
            Rule::Order | Rule::ByPosition => diagnostic
                .note("no member comes before another; `==`, `in`, `all`, `any` and `count` do not ask for an order"),
            Rule::Untyped => diagnostic.note("write the type, so that it is known where the index goes"),
            _ => diagnostic
                .note("an index may name an element or member, be stored, and be compared with `==` and `!=`"),
        };
        self.diagnostics.push(diagnostic);
    }

    fn untyped(&mut self) {
        for (shape, span) in &self.flow.untyped {
            for leaf in self.flow.leaves(shape) {
                self.say(leaf, *span, Rule::Untyped, "hidden in a value of type `any`");
            }
        }
    }

    fn demands(&mut self) {
        for demand in &self.flow.demands {
            self.say(demand.leaf, demand.span, demand.rule, demand.what);
        }
        for allowed in &self.flow.allowed {
            if self.class(allowed.leaf).is_some() {
                self.count(allowed.rule);
            }
        }
    }

    fn bounds(&mut self) {
        for size in &self.flow.sizes {
            let Some(class) = self.class(size.leaf) else { continue };
            if size.size != Some(i64::from(class.size)) {
                let members = class.size;
                let what = match size.size {
                    Some(n) => format!("the place in something with {n} elements, not {members}"),
                    None => "the place in something whose length is not known".to_owned(),
                };
                self.say(size.leaf, size.span, Rule::Length, &what);
            }
        }
        for range in &self.flow.ranges {
            let Some(class) = self.class(range.leaf) else { continue };
            if range.bounds == Some((0, i64::from(class.size))) {
                self.count(Rule::FullRange);
            } else {
                let what = format!("taken from a range that is not 0..{}", class.size);
                self.say(range.leaf, range.span, Rule::PartRange, &what);
            }
        }
    }

    /// The variable of an index set by which something is in order.
    fn ordered_by(&self, over: &Shape) -> Option<Leaf> {
        let leaves = match over {
            Shape::List(leaf, _) => vec![*leaf],
            Shape::Set(of) => self.flow.leaves(of),
            Shape::Map(key, _) => self.flow.leaves(key),
            _ => vec![],
        };
        leaves.into_iter().find(|leaf| self.class(*leaf).is_some())
    }

    fn loops(&mut self) {
        let flow = self.flow;
        let stepping = flow.stepping();
        let in_steps = |place: super::flow::Place| !place.atomic && stepping.contains(&place.body);
        for one in &flow.loops {
            let Some(leaf) = self.ordered_by(&one.over) else { continue };
            if in_steps(one.place) {
                let what = "gone through one after another in a body of several steps";
                self.say(leaf, one.span, Rule::InSteps, what);
            } else if let Err((span, what)) = any_order(flow, one) {
                let what =
                    format!("gone through by a loop in which the order matters: this {what}");
                self.say(leaf, span, Rule::LoopOrder, &what);
            } else {
                self.count(Rule::LoopAnyOrder);
            }
        }
        for whole in &flow.wholes {
            let leaf = match whole.rule {
                Rule::Choice => {
                    flow.leaves(&whole.over).into_iter().find(|leaf| self.class(*leaf).is_some())
                }
                _ => self.ordered_by(&whole.over),
            };
            match leaf {
                None => {}
                Some(leaf)
                    if in_steps(whole.place)
                        || (whole.stays && stepping.contains(&whole.place.body)) =>
                {
                    self.say(leaf, whole.span, Rule::InSteps, whole.what);
                }
                Some(_) => self.count(whole.rule),
            }
        }
    }

    /// Families of events of which each member has code of its own, with the index in it as a constant.
    fn members(&mut self) {
        let flow = self.flow;
        if flow.program.granularity == Granularity::Task {
            return;
        }
        let events = flow.model.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Event(decl) => Some(decl),
            _ => None,
        });
        let events: Vec<&EventDecl> = events.collect();
        let drivers = flow.model.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Driver(refs) => Some(refs),
            _ => None,
        });
        let named: Vec<&Ref> =
            events.iter().flat_map(|e| &e.after).chain(drivers.flatten()).collect();
        for (decl, leaf) in events.iter().zip(&flow.events) {
            let own = decl.on.iter().chain(&decl.after).any(|r| r.index.is_some());
            let by_others =
                named.iter().any(|r| r.index.is_some() && r.name.name == decl.name.name);
            if let Some(family) = &decl.family
                && (own || by_others)
            {
                let what = "part of the code of a family in several steps, each member on a handler or in an order of its own";
                self.say(*leaf, family.var.span, Rule::InSteps, what);
            }
        }
    }

    /// Function values that hold indices.
    fn values(&mut self) {
        let flow = self.flow;
        let stepping = flow.stepping();
        for value in &flow.closures {
            let steps = match value.place {
                Some(place) => !place.atomic && stepping.contains(&place.body),
                None => !stepping.is_empty(),
            };
            let held = if steps || value.place.is_none() { &value.held[..] } else { &[] };
            let told = if steps { &value.told[..] } else { &[] };
            for leaf in held.iter().chain(told).flat_map(|shape| flow.leaves(shape)) {
                self.say(leaf, value.span, Rule::InSteps, "held by a function value");
            }
        }
    }
}
