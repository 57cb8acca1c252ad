//! Objects of built-in types: their behaviour, and what their invocations observe, for the checker
//! and for brute force.

#![allow(dead_code, reason = "each test uses its own part")]

use super::generate::RandomSource;
use anyorder_certify::{Call, CallRules, Calls, check_schedule};
use anyorder_commute::{
    BuiltIn, Comm, Invocation, Mode, Model, Spec, Value, Waits, built_in_types,
};
use anyorder_testkit::Observes;
use anyorder_trace::{EventId, EventKind, Op, Tables, Trace, TraceBuilder};
use std::collections::{BTreeMap, BTreeSet};

type State = <&'static BuiltIn as Model>::State;

/// The objects of a trace under construction.
pub(crate) struct Objects(Vec<(String, &'static BuiltIn, State)>);

impl Objects {
    /// One or two of random types.
    pub(crate) fn new(rng: &mut RandomSource) -> Objects {
        Objects::of(rng, &|_| true)
    }

    /// One or two objects whose calls wait, among them semaphores with some permits.
    pub(crate) fn waiting(rng: &mut RandomSource) -> Objects {
        Objects::of(rng, &|of| !of.waits.is_empty())
    }

    fn of(rng: &mut RandomSource, which: &dyn Fn(&BuiltIn) -> bool) -> Objects {
        let count = 1 + rng.below(2);
        let types: Vec<&'static BuiltIn> = built_in_types().iter().filter(|of| which(of)).collect();
        let make = |at: usize| {
            let of = types[rng.below(types.len())];
            let mut initial = of.initial();
            let state = match of.name {
                "semaphore" => initial.swap_remove(rng.below(initial.len())),
                _ => initial.remove(0),
            };
            (format!("{}:{at}", of.name), of, state)
        };
        Objects((0..count).map(make).collect())
    }

    /// A random call that does not block.
    pub(crate) fn call(
        &mut self,
        rng: &mut RandomSource,
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
    types: BTreeMap<String, (Spec, Comm, Option<Waits>)>,
}

/// The invocation of one event.
#[derive(Clone)]
pub(crate) struct Invoked<'t> {
    pub(crate) object: u32,
    pub(crate) spec: &'t Spec,
    pub(crate) comm: &'t Comm,
    pub(crate) waits: Option<&'t Waits>,
    pub(crate) call: Invocation,
}

impl Types {
    pub(crate) fn new() -> Types {
        let of = |built_in: &BuiltIn| {
            let mut document = built_in.fine().expect("it is tested");
            let waits = document.waits.pop();
            let all = (document.specs.remove(0), document.comms.remove(0), waits);
            (built_in.name.to_owned(), all)
        };
        Types { types: built_in_types().iter().map(of).collect() }
    }

    pub(crate) fn invoked(&self, tables: &Tables, op: Op, operand: u32) -> Option<Invoked<'_>> {
        if op.kind() != EventKind::Invoke {
            return None;
        }
        let call = &tables.invocations[operand as usize];
        let name = tables.name(call.object).split(':').next()?;
        let (spec, comm, waits) = self.types.get(name)?;
        let method = tables.name(call.method);
        let words = spec.invocation_of_words(method, &call.arguments, call.result);
        Some(Invoked { object: call.object.0, spec, comm, waits: waits.as_ref(), call: words })
    }
}

/// The communication of one trace, for the checker and for brute force.
#[derive(Clone)]
pub(crate) struct TraceCalls<'t> {
    pub(crate) types: &'t Types,
    pub(crate) trace: &'t Trace,
    /// By object: its model, and the state it begins in.
    starts: BTreeMap<u32, (&'static BuiltIn, State)>,
    /// By event, its invocation, computed once.
    calls: BTreeMap<EventId, (Invoked<'t>, anyorder_commute::Call)>,
}

impl<'t> TraceCalls<'t> {
    pub(crate) fn new(types: &'t Types, trace: &'t Trace) -> TraceCalls<'t> {
        let (starts, calls) = (BTreeMap::new(), BTreeMap::new());
        let mut made = TraceCalls { types, trace, starts, calls };
        let mut runs: BTreeMap<u32, Vec<EventId>> = BTreeMap::new();
        for event in trace.events() {
            if let Some(invoked) = types.invoked(trace.tables(), event.op, event.operand) {
                runs.entry(invoked.object).or_default().push(event.id);
                let method = invoked.spec.method_name(invoked.call.method);
                let call = anyorder_commute::Call::new(method, invoked.call.arguments.clone());
                made.calls.insert(event.id, (invoked, call));
            }
        }
        for (object, run) in runs {
            let Some(invoked) = made.invoked(run[0]) else { continue };
            let of = built_in_types().iter().find(|of| of.name == invoked.spec.name());
            let of = of.expect("a built-in type");
            // The capacity of a channel, or the initial permits of a semaphore: the least with
            // which the trace is a run.
            let starts: Vec<State> = match of.name {
                "channel" => (0..20).map(|room| vec![room, 0]).collect(),
                "semaphore" => (0..20).map(|permits| vec![permits]).collect(),
                _ => of.initial(),
            };
            let fits = |state: &State| made.run(of, state.clone(), &run).is_some_and(|exact| exact);
            let start = starts.iter().find(|state| fits(state)).unwrap_or(&starts[0]).clone();
            made.starts.insert(object, (of, start));
        }
        made
    }

    /// Runs a model along events: each returns its recorded result, if it can. `None` if one cannot
    /// return; else whether all returned their recorded results.
    fn run(&self, of: &'static BuiltIn, mut state: State, run: &[EventId]) -> Option<bool> {
        let mut exact = true;
        for event in run {
            let (invoked, call) = self.calls.get(event)?;
            let mut outcomes = of.apply(&state, call);
            let same = outcomes.iter().position(|(_, r)| word(r) == word(&invoked.call.result));
            exact &= same.is_some();
            if outcomes.is_empty() {
                return None;
            }
            state = outcomes.swap_remove(same.unwrap_or(0)).0;
        }
        Some(exact)
    }
}

impl TraceCalls<'_> {
    pub(crate) fn invoked(&self, event: EventId) -> Option<Invoked<'_>> {
        self.calls.get(&event).map(|(invoked, _)| invoked.clone())
    }
}

impl Calls for TraceCalls<'_> {
    fn call(&self, _: &Trace, event: EventId) -> Option<Call<'_>> {
        let Invoked { object, comm, waits, call, .. } = self.invoked(event)?;
        Some(Call { object, rules: CallRules::Comm(comm), waits, invocation: call })
    }
}

impl Observes for TraceCalls<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        Some(self.invoked(event)?.object)
    }

    /// By the model of the type, without any rules.
    fn can_return(&self, run: &[EventId], as_recorded: bool) -> bool {
        let Some((last, before)) = run.split_last() else { return true };
        let Some(invoked) = self.invoked(*last) else { return true };
        let Some((of, start)) = self.starts.get(&invoked.object) else { return true };
        if self.is_bound(*last) && !as_recorded {
            // Its observation shows it.
            return true;
        }
        match (self.run(of, start.clone(), before), self.run(of, start.clone(), run)) {
            (Some(exact), Some(all)) => !as_recorded || all || !exact,
            // An earlier one could not return, which this rule does not judge.
            (None, _) => true,
            (_, None) => false,
        }
    }

    fn is_bound(&self, event: EventId) -> bool {
        self.invoked(event).is_some_and(|invoked| {
            invoked.spec.name() == "condition"
                && invoked.spec.method_name(invoked.call.method) == "wake"
        })
    }

    /// By the meaning of the modes, without the code of the crate.
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

/// The same, when tasks can be reordered.
pub(crate) struct Scheduled<'t>(pub(crate) TraceCalls<'t>);

impl Observes for Scheduled<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        self.0.object(event)
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        self.0.observed(run)
    }

    fn can_return(&self, run: &[EventId], as_recorded: bool) -> bool {
        self.0.can_return(run, as_recorded)
    }

    fn is_bound(&self, event: EventId) -> bool {
        self.0.is_bound(event)
    }

    fn schedules(&self, run: &[EventId]) -> Option<bool> {
        Some(check_schedule(self.0.trace, run).is_ok())
    }
}
