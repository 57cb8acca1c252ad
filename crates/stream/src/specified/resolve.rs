//! Resolves the object and type of each invocation.

use super::types::{Type, Types};
use anyorder_commute::Invocation;
use anyorder_trace::{InvocationId, NameId, Tables};
use std::collections::{BTreeSet, HashMap};

/// The data for the name of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Resolved {
    /// Its number among the resolved names, dense from 0.
    pub(super) object: u32,
    /// Its type; `None` if the object is ignored.
    pub(super) of_type: Option<usize>,
    /// Whether only its methods tell its type.
    pub(super) is_guessed: bool,
    /// Whether its type is unknown.
    pub(super) is_unspecified: bool,
    /// Whether calls of methods unknown to its type are possible.
    pub(super) has_strangers: bool,
}

/// Finds the types of objects from the growing tables of a trace. Results never change.
///
/// Memory: an entry for each name of an object, and for each of its methods.
#[derive(Clone, Debug)]
pub(super) struct Resolver {
    pub(super) types: Types,
    /// The methods that the tables name for an object, with their numbers of arguments.
    methods: HashMap<NameId, BTreeSet<(NameId, usize)>>,
    /// The number of invocations of the tables processed so far.
    seen: usize,
    resolved: HashMap<NameId, Resolved>,
    /// The first name of each string. Tables may contain a string twice.
    first: HashMap<Box<str>, NameId>,
    first_of: HashMap<NameId, NameId>,
    /// The resolved names, in order.
    pub(super) names: Vec<NameId>,
    /// Whether the tables are complete, so that all called methods are known.
    is_complete: bool,
}

impl Resolver {
    pub(super) fn new(types: Types) -> Resolver {
        Resolver {
            types,
            methods: HashMap::new(),
            seen: 0,
            resolved: HashMap::new(),
            first: HashMap::new(),
            first_of: HashMap::new(),
            names: Vec::new(),
            is_complete: false,
        }
    }

    /// Processes all invocations of tables that will not grow.
    pub(super) fn complete(&mut self, tables: &Tables) {
        self.look(tables);
        self.is_complete = true;
    }

    fn look(&mut self, tables: &Tables) {
        for call in tables.invocations.get(self.seen..).unwrap_or(&[]) {
            let (first, first_of) = (&mut self.first, &mut self.first_of);
            let mut same = |name: NameId| {
                *first_of
                    .entry(name)
                    .or_insert_with(|| *first.entry(tables.name(name).into()).or_insert(name))
            };
            let (object, method) = (same(call.object), same(call.method));
            self.methods.entry(object).or_default().insert((method, call.arguments.len()));
        }
        self.seen = self.seen.max(tables.invocations.len());
    }

    /// Returns the data of the object of an invocation; `None` if the tables do not have the
    /// invocation.
    pub(super) fn object_of(&mut self, tables: &Tables, id: u32) -> Option<Resolved> {
        let name = tables.invocations.get(InvocationId(id).index())?.object;
        if let Some(known) = self.resolved.get(&name) {
            return Some(*known);
        }
        self.look(tables);
        let met = name;
        let name = self.first_of.get(&name).copied().unwrap_or(name);
        if let Some(known) = self.resolved.get(&name).copied() {
            self.resolved.insert(met, known);
            return Some(known);
        }
        let empty = BTreeSet::new();
        let methods = self.methods.get(&name).unwrap_or(&empty);
        let called = methods.iter().map(|(method, arity)| (tables.name(*method), *arity));
        let named = self.types.by_name(tables.name(name));
        let found = named.or_else(|| self.types.by_methods(called.clone()));
        let of_type = found.or_else(|| self.types.fallback());
        let knows =
            |of_type: &Type| called.clone().all(|(method, arity)| of_type.has(method, arity));
        let has_strangers =
            !self.is_complete || !of_type.is_some_and(|at| knows(&self.types.list[at]));
        let object = self.names.len() as u32;
        let (is_guessed, is_unspecified) = (named.is_none() && found.is_some(), found.is_none());
        let resolved = Resolved { object, of_type, is_guessed, is_unspecified, has_strangers };
        self.names.push(name);
        self.resolved.insert(name, resolved);
        self.resolved.insert(met, resolved);
        Some(resolved)
    }

    /// Returns the object and the method of an invocation of a specified object.
    pub(super) fn specified_call(
        &mut self,
        tables: &Tables,
        id: u32,
    ) -> Option<(Resolved, NameId)> {
        let known = self.object_of(tables, id).filter(|known| known.of_type.is_some())?;
        Some((known, self.method(tables, id)?))
    }

    /// Returns an earlier result of [`Resolver::object_of`].
    pub(super) fn known(&self, tables: &Tables, id: u32) -> Option<Resolved> {
        let name = tables.invocations.get(InvocationId(id).index())?.object;
        self.resolved.get(&name).copied()
    }

    /// Returns the method of an invocation, by the first of its names.
    pub(super) fn method(&self, tables: &Tables, id: u32) -> Option<NameId> {
        let method = tables.invocations.get(InvocationId(id).index())?.method;
        Some(self.first_of.get(&method).copied().unwrap_or(method))
    }

    /// Returns an invocation of the tables as its type sees it.
    pub(super) fn call(&self, tables: &Tables, id: u32, of_type: usize) -> Option<Invocation> {
        let call = tables.invocations.get(InvocationId(id).index())?;
        let spec = &self.types.list[of_type].spec;
        Some(spec.invocation_of_words(tables.name(call.method), &call.arguments, call.result))
    }
}
