//! A whole text: specifications, communication and wait rules.

use super::error::{SpecError, SpecErrors};
use super::parse::items;
use super::resolve::Methods;
use super::tree::{Item, ItemKind};
use super::waits::waits;
use crate::comm::{Comm, Mode};
use crate::spec::{MethodId, Spec};
use crate::symmetry;
use crate::waits::Waits;
use std::collections::HashMap;

/// The most pairs of invocations tried for the symmetry of all conditions of a specification.
const TRIED_MAX: usize = 200_000;

/// The items of a text.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// `spec` items, in the order of the text.
    pub specs: Vec<Spec>,
    /// `comm` items, in the order of the text; each belongs to the specification of the same name.
    pub comms: Vec<Comm>,
    /// `waits` items, in the order of the text; each belongs to the specification of the same name.
    pub waits: Vec<Waits>,
}

impl Document {
    /// Parses a text, in time linear in its size, plus a bounded check of symmetry.
    ///
    /// # Errors
    /// All mistakes of its clauses with their positions: wrong form, unknown or ambiguous names, a
    /// pair of methods specified twice, an asymmetric condition of a method with itself, ...
    pub fn parse(source: &str) -> Result<Document, SpecErrors> {
        let items = items(source)?;
        let mut errors = Vec::new();
        let mut document = Document::default();
        for item in items.iter().filter(|item| item.kind == ItemKind::Spec) {
            if document.specs.iter().any(|spec| spec.name() == item.name.text) {
                let message = format!("`{}` is specified twice", item.name.text);
                errors.push(SpecError::new(source, item.name.span.clone(), message, None));
                continue;
            }
            let spec = spec(source, item, &mut errors);
            document.specs.push(spec);
        }
        for item in items.iter().filter(|item| item.kind != ItemKind::Spec) {
            match document.specs.iter_mut().find(|spec| spec.name() == item.name.text) {
                Some(spec) if item.kind == ItemKind::Comm => {
                    let comm = comm(source, item, spec, &mut errors);
                    document.comms.push(comm);
                }
                Some(spec) => {
                    let waits = waits(source, item, spec, &mut errors);
                    document.waits.push(waits);
                }
                None => {
                    let message = format!("there is no specification of `{}`", item.name.text);
                    errors.push(SpecError::new(source, item.name.span.clone(), message, None));
                }
            }
        }
        errors.sort_by_key(|error| error.span.start);
        if errors.is_empty() { Ok(document) } else { Err(SpecErrors(errors)) }
    }

    /// Returns this text, completed from another one for the types that this one lacks: a user's
    /// specifications before the built-in ones. A specification and its other items come from the
    /// same text.
    #[must_use]
    pub fn or(mut self, other: Document) -> Document {
        let is_new = |known: &[Spec], name: &str| known.iter().all(|spec| spec.name() != name);
        let comms = other.comms.into_iter().filter(|comm| is_new(&self.specs, comm.name()));
        self.comms.extend(comms);
        let waits = other.waits.into_iter().filter(|waits| is_new(&self.specs, waits.name()));
        self.waits.extend(waits);
        let specs: Vec<Spec> =
            other.specs.into_iter().filter(|spec| is_new(&self.specs, spec.name())).collect();
        self.specs.extend(specs);
        self
    }

    /// Returns the specification of a type.
    #[must_use]
    pub fn spec(&self, name: &str) -> Option<&Spec> {
        self.specs.iter().find(|spec| spec.name() == name)
    }

    /// Returns the communication rules of a type.
    #[must_use]
    pub fn comm(&self, name: &str) -> Option<&Comm> {
        self.comms.iter().find(|comm| comm.name() == name)
    }

    /// Returns the `waits` rules of a type.
    #[must_use]
    pub fn waits(&self, name: &str) -> Option<&Waits> {
        self.waits.iter().find(|waits| waits.name() == name)
    }
}

fn spec(source: &str, item: &Item, errors: &mut Vec<SpecError>) -> Spec {
    let name = &item.name.text;
    let mut methods = Methods { source, type_name: name, list: Vec::new(), may_grow: true };
    let mut pairs: HashMap<(MethodId, MethodId), usize> = HashMap::new();
    let mut learned = Vec::new();
    for clause in &item.clauses {
        match methods.learn(clause) {
            Ok((left, right)) => {
                let line = source[..clause.span.start].matches('\n').count() + 1;
                let pair = (left.min(right), left.max(right));
                if let Some(first) = pairs.insert(pair, line) {
                    let (a, b) = (&clause.left.method.text, &clause.right.method.text);
                    let message = format!("`{a}` and `{b}` are specified twice");
                    let span = clause.left.method.span.start..clause.right.method.span.end;
                    let hint =
                        Some(format!("first in line {first}; one clause says it for both orders"));
                    errors.push(SpecError::new(source, span, message, hint));
                } else {
                    learned.push((clause, left, right));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    let own_pairs = learned.iter().filter(|(_, left, right)| left == right).count();
    let tried_max = TRIED_MAX / own_pairs.max(1);
    let mut conditions = Vec::new();
    for (clause, left, right) in learned {
        match methods.formula(clause, left, right) {
            Ok(formula) => {
                if left == right
                    && let Some(example) =
                        symmetry::counterexample(&formula, &methods.list[left.index()], tried_max)
                {
                    let message = "the condition is not symmetric".to_owned();
                    let span = clause.when.as_ref().map_or(clause.span.clone(), |e| e.span.clone());
                    errors.push(SpecError::new(source, span, message, Some(example)));
                }
                conditions.push((left, right, formula));
            }
            Err(error) => errors.push(error),
        }
    }
    Spec::new(name, methods.list, conditions)
}

fn comm(source: &str, item: &Item, spec: &mut Spec, errors: &mut Vec<SpecError>) -> Comm {
    let name = &item.name.text;
    let list = spec.methods().to_vec();
    let mut methods = Methods { source, type_name: name, list, may_grow: false };
    let mut learned = Vec::new();
    for clause in &item.clauses {
        match methods.learn(clause) {
            Ok((left, right)) => learned.push((clause, left, right)),
            Err(error) => errors.push(error),
        }
    }
    // The text may use a result as a truth value only here.
    spec.set_kinds(&methods.list);
    let mut comm = Comm::new(name);
    for (clause, left, right) in learned {
        let Some(word) = &clause.mode else { continue };
        let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.word() == word.text) else {
            let message = format!("`{}` is no way to observe", word.text);
            let known: Vec<&str> = Mode::ALL.into_iter().map(Mode::word).collect();
            let hint = Some(format!("known are {}", known.join(", ")));
            errors.push(SpecError::new(source, word.span.clone(), message, hint));
            continue;
        };
        let added = methods.formula(clause, left, right).and_then(|formula| {
            comm.add(mode, left, right, &formula).map_err(|message| {
                let hint = "known are comparisons `==` of a value of one call with a value of the other, and \
                            conditions on one call, joined by `&&`";
                let span = clause.when.as_ref().map_or(clause.span.clone(), |e| e.span.clone());
                SpecError::new(source, span, message, Some(hint.to_owned()))
            })
        });
        errors.extend(added.err());
    }
    comm
}
