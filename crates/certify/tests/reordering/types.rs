//! Objects of built-in types: how they behave, and what their invocations observe, to all who ask.

#![allow(dead_code, reason = "each test uses its own part")]

use crate::generate::Dice;
use anyorder_certify::{Call, CallRules, Calls, check_schedule};
use anyorder_commute::{BuiltIn, Comm, Invocation, Mode, Model, Spec, Value, built_in_types};
use anyorder_testkit::Observes;
use anyorder_trace::{EventId, EventKind, Op, Tables, Trace, TraceBuilder};
use std::collections::{BTreeMap, BTreeSet};

type State = <&'static BuiltIn as Model>::State;

/// The objects of a trace while it is made.
pub(crate) struct Objects(Vec<(String, &'static BuiltIn, State)>);

impl Objects {
    /// One or two of random types.
    pub(crate) fn new(rng: &mut Dice) -> Objects {
        let count = 1 + rng.below(2);
        let make = |at: usize| {
            let types = built_in_types();
            let of = &types[rng.below(types.len())];
            let state = of.initial().remove(0);
            (format!("{}:{at}", of.name), of, state)
        };
        Objects((0..count).map(make).collect())
    }

    /// A random call that does not block.
    pub(crate) fn call(
        &mut self,
        rng: &mut Dice,
        b: &mut TraceBuilder,
    ) -> Option<anyorder_trace::Invocation> {
        let at = rng.below(self.0.len());
        let (name, of, state) = &mut self.0[at];
        let calls = of.calls();
        let call = &calls[rng.below(calls.len())];
        let mut outcomes = of.apply(state, call);
        if outcomes.is_empty() {
            return None;
        }
        let (next, result) = outcomes.swap_remove(rng.below(outcomes.len()));
        *state = next;
        Some(anyorder_trace::Invocation {
            object: b.interner.name(name).expect("room"),
            method: b.interner.name(&call.method).expect("room"),
            arguments: call.arguments.iter().map(|value| word(value).expect("a word")).collect(),
            result: word(&result),
        })
    }
}

fn word(value: &Value) -> Option<u64> {
    match value {
        Value::Null => None,
        Value::Bool(bit) => Some(u64::from(*bit)),
        Value::Int(number) => Some(number.cast_unsigned()),
        Value::Text(_) => unreachable!("models have no texts"),
    }
}

/// The types, and the objects of one trace: an object's type is its name up to the colon.
pub(crate) struct Types {
    types: BTreeMap<String, (Spec, Comm)>,
}

/// What one event invokes.
pub(crate) struct Invoked<'t> {
    pub(crate) object: u32,
    pub(crate) spec: &'t Spec,
    pub(crate) comm: &'t Comm,
    pub(crate) call: Invocation,
}

impl Types {
    pub(crate) fn new() -> Types {
        let of = |built_in: &BuiltIn| {
            let mut document = built_in.fine().expect("it is tested");
            let both = (document.specs.remove(0), document.comms.remove(0));
            (built_in.name.to_owned(), both)
        };
        Types { types: built_in_types().iter().map(of).collect() }
    }

    pub(crate) fn invoked(&self, tables: &Tables, op: Op, operand: u32) -> Option<Invoked<'_>> {
        if op.kind() != EventKind::Invoke {
            return None;
        }
        let call = &tables.invocations[operand as usize];
        let name = tables.name(call.object).split(':').next()?;
        let (spec, comm) = self.types.get(name)?;
        let method = tables.name(call.method);
        let words = spec.invocation_of_words(method, &call.arguments, call.result);
        Some(Invoked { object: call.object.0, spec, comm, call: words })
    }
}

/// The communication of one trace, as the checker and brute force ask for it.
#[derive(Clone, Copy)]
pub(crate) struct OfTrace<'t> {
    pub(crate) types: &'t Types,
    pub(crate) trace: &'t Trace,
}

impl OfTrace<'_> {
    pub(crate) fn invoked(&self, event: EventId) -> Option<Invoked<'_>> {
        let event = self.trace.event(event);
        self.types.invoked(self.trace.tables(), event.op, event.operand)
    }
}

impl Calls for OfTrace<'_> {
    fn call(&self, _: &Trace, event: EventId) -> Option<Call<'_>> {
        let Invoked { object, comm, call, .. } = self.invoked(event)?;
        Some(Call { object, rules: CallRules::Comm(comm), invocation: call })
    }
}

impl Observes for OfTrace<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        Some(self.invoked(event)?.object)
    }

    /// By the meaning of the modes, without the machinery of the crate.
    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        let mut taken: BTreeSet<(EventId, Mode)> = BTreeSet::new();
        let mut all = Vec::new();
        let calls: Vec<Invoked<'_>> = run.iter().filter_map(|event| self.invoked(*event)).collect();
        for (at, later) in calls.iter().enumerate() {
            let mut of_event = BTreeMap::new();
            for mode in later.comm.modes(&later.call) {
                let mut matching = (0..at)
                    .filter(|i| later.comm.matches(mode, &calls[*i].call, &later.call))
                    .map(|i| run[i]);
                let free = |event: &EventId| !taken.iter().any(|(other, _)| other == event);
                let observed: BTreeSet<EventId> = match mode {
                    Mode::All => matching.collect(),
                    Mode::Last => matching.next_back().into_iter().collect(),
                    Mode::First | Mode::TakeFirst => matching.filter(free).take(1).collect(),
                    Mode::Top | Mode::TakeTop => matching.rfind(free).into_iter().collect(),
                };
                if matches!(mode, Mode::TakeFirst | Mode::TakeTop) {
                    taken.extend(observed.iter().map(|event| (*event, mode)));
                }
                of_event.insert(mode as u8, observed);
            }
            all.push(of_event);
        }
        all
    }
}

/// The same, where tasks change places.
pub(crate) struct Scheduled<'t>(pub(crate) OfTrace<'t>);

impl Observes for Scheduled<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        self.0.object(event)
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        self.0.observed(run)
    }

    fn schedules(&self, run: &[EventId]) -> Option<bool> {
        Some(check_schedule(self.0.trace, run).is_ok())
    }
}
