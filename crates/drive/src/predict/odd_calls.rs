//! Calls that do not fit the type of their object: they are used as they are, with a warning.

use super::calls::SpecifiedCalls;
use crate::not_understood::{PLACES_MAX, TEXTS_MAX};
use anyorder_common::numbers::plural;
use anyorder_commute::{Comm, Invocation, MethodId, Spec, Value, Waits};
use anyorder_finding::{Warning, WarningKind};
use anyorder_predict::SpecifiedCall;
use anyorder_system::Cancel;
use anyorder_trace::{Event, EventId, EventKind, Trace};
use std::collections::{BTreeMap, HashMap};

/// The calls of a trace that do not fit the type of their object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct OddCalls {
    /// Calls that returned where their type says that they wait, by the events before them. Such a
    /// call keeps no place: pairs with it may be left out.
    early: BTreeMap<(String, String), Places>,
    /// Methods that a type does not have, or not with so many arguments: the words of the warning.
    unknown: BTreeMap<String, Places>,
    /// Objects whose names tell a type that there is not: the words of the warning.
    guessed: BTreeMap<String, Places>,
}

/// How many calls there are, and the first ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Places {
    count: u64,
    first: Vec<EventId>,
}

impl Places {
    fn add(&mut self, event: EventId) {
        self.count += 1;
        if self.first.len() < PLACES_MAX {
            self.first.push(event);
        }
    }
}

impl OddCalls {
    /// Collects the calls of a trace; not the rest of them once the job is stopped. Linear in the
    /// trace.
    pub(crate) fn of(calls: &SpecifiedCalls, trace: &Trace, cancel: &Cancel) -> OddCalls {
        let tables = trace.tables();
        let (mut odd, mut objects) = (OddCalls::default(), HashMap::<u32, Counted>::new());
        // Equal calls have one entry of the table: their names are compared once.
        let mut misfits: HashMap<u32, Misfit> = HashMap::new();
        for event in trace.events().filter(|event| event.kind() == EventKind::Invoke) {
            if cancel.reason().is_some() {
                break;
            }
            let Some(call) = calls.specified(tables, event.op, event.operand) else { continue };
            let known =
                misfits.entry(event.operand).or_insert_with(|| Misfit::of(&call, trace, &event));
            if let Some(text) = &known.unknown {
                odd.unknown.entry(text.clone()).or_default().add(event.id);
            }
            if let Some(text) = &known.guessed {
                odd.guessed.entry(text.clone()).or_default().add(event.id);
            }
            let SpecifiedCall { object, comm, waits: Some(waits), invocation, .. } = call else {
                continue;
            };
            let known = objects.entry(object).or_default();
            if !known.can_return(waits, comm, &invocation)
                && let Some(of_table) = tables.invocations.get(event.operand as usize)
            {
                let [object, method] = [of_table.object, of_table.method];
                let [object, method] = [object, method].map(|name| tables.name(name).to_owned());
                odd.early.entry((object, method)).or_default().add(event.id);
            }
            known.add(waits, event.operand, invocation);
        }
        odd
    }

    /// Returns a warning for each method, and for each object whose type was guessed.
    pub(crate) fn warnings(&self, input: &str, trace: &Trace) -> Vec<Warning> {
        let warning = |kind, text: &str, places: &Places| {
            let label = |event: &EventId| format!("event {}", trace.unique_label(*event));
            let first = places.first.iter().map(label).collect();
            Warning { places: first, ..Warning::new(kind, input, text, places.count) }
        };
        let early = self.early.iter().take(TEXTS_MAX).map(|((object, method), places)| {
            let text = format!(
                "`{method}` of `{object}` returns before what it waits for, by the rules of its type: record a call that waits where it continues"
            );
            warning(WarningKind::Ignored, &text, places)
        });
        let odd = [&self.unknown, &self.guessed].into_iter().flat_map(|all| {
            all.iter().take(TEXTS_MAX).map(|(text, of)| warning(WarningKind::Odd, text, of))
        });
        early.chain(odd).collect()
    }
}

/// What of a call does not fit the type of its object, in words.
struct Misfit {
    unknown: Option<String>,
    guessed: Option<String>,
}

impl Misfit {
    fn of(call: &SpecifiedCall<'_>, trace: &Trace, event: &Event) -> Misfit {
        let tables = trace.tables();
        let Some(of_table) = tables.invocations.get(event.operand as usize) else {
            return Misfit { unknown: None, guessed: None };
        };
        let [object, method] = [of_table.object, of_table.method].map(|name| tables.name(name));
        let is_unknown = call.invocation.method == MethodId::UNSPECIFIED;
        let unknown = is_unknown.then(|| unknown(call.spec, method, of_table.arguments.len()));
        let type_name = object.find([':', '#']).map(|end| &object[..end]);
        let guessed = type_name.filter(|_| call.is_guessed).map(|type_name| {
            let taken = call.spec.name();
            format!("`{object}`: no type is called `{type_name}`; by its methods, it is taken for a `{taken}`")
        });
        Misfit { unknown, guessed }
    }
}

/// Says that a type does not have a method, or not with so many arguments.
fn unknown(spec: &Spec, method: &str, arguments: usize) -> String {
    let (of_type, so) = (spec.name(), "such a call commutes with nothing");
    match spec.method(method).and_then(|known| spec.methods().get(known.index())) {
        Some(known) => {
            let arity = plural(known.arity() as u64, "argument");
            format!(
                "`{method}` of type `{of_type}` has {arity}, and is called with {arguments}: {so}"
            )
        }
        None => {
            let known: Vec<&str> = spec.methods().iter().map(|method| method.name()).collect();
            let known = known.join(", ");
            format!("type `{of_type}` has no method `{method}`: {so} (its methods: {known})")
        }
    }
}

/// The calls of one object so far.
#[derive(Default)]
struct Counted {
    /// How many calls each part of a rule counts, by rule, part and key.
    counts: HashMap<(usize, usize, Vec<Value>), i64>,
    /// The distinct invocations.
    seen: BTreeMap<u32, Invocation>,
}

impl Counted {
    /// Returns whether a call can return behind the calls so far.
    fn can_return(&self, waits: &Waits, comm: Option<&Comm>, call: &Invocation) -> bool {
        let mut rules = waits.rules().iter().enumerate().filter(|(_, rule)| rule.applies(call));
        rules.all(|(at, rule)| {
            if rule.is_observed() {
                let observes = |earlier: &Invocation| {
                    comm.is_none_or(|comm| {
                        comm.modes(call).any(|mode| comm.matches(mode, earlier, call))
                    })
                };
                return self.seen.values().any(observes);
            }
            let count = |(part, counted): (usize, &anyorder_commute::Counted)| {
                let key = (at, part, counted.key_for(call));
                self.counts.get(&key).copied().unwrap_or(0)
            };
            let counts: Vec<i64> = rule.counted().iter().enumerate().map(count).collect();
            rule.least(&counts).is_some()
        })
    }

    fn add(&mut self, waits: &Waits, number: u32, call: Invocation) {
        for (at, rule) in waits.rules().iter().enumerate() {
            for (part, counted) in rule.counted().iter().enumerate() {
                if let Some(key) = counted.key_of(&call) {
                    *self.counts.entry((at, part, key)).or_default() += 1;
                }
            }
        }
        self.seen.entry(number).or_insert(call);
    }
}
