//! The invocations of specified objects, and which earlier ones each observes.

use super::error::ReorderingReason;
use super::waits::{ActiveRules, Counts, active_rules};
use crate::lists::Lists;
use anyorder_commute::{Comm, Invocation, Mode, Observations, Observed, Spec, Waits};
use anyorder_trace::{EventId, Trace};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// An event as an invocation of a specified object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call<'c> {
    /// The number of the object.
    pub object: u32,
    /// Which invocations of the object they observe.
    pub rules: CallRules<'c>,
    /// The conditions they wait for; `None` if they always return.
    pub waits: Option<&'c Waits>,
    /// The invocation.
    pub invocation: Invocation,
}

/// Which earlier invocations an invocation observes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallRules<'c> {
    /// Those given by the rules of its type.
    Comm(&'c Comm),
    /// In the mode `all`, those that it does not commute with. A check takes time quadratic in the
    /// invocations of the object.
    Conflicts(&'c Spec),
    /// In the mode `last`, the last one: all stay in order.
    InOrder,
}

/// Identifies the events that invoke specified objects.
pub trait Calls {
    /// Returns the invocation of an event; `None` if it invokes no specified object. The answer
    /// must always be the same.
    fn call(&self, trace: &Trace, event: EventId) -> Option<Call<'_>>;
}

/// No invocations.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCalls;

impl Calls for NoCalls {
    fn call(&self, _: &Trace, _: EventId) -> Option<Call<'_>> {
        None
    }
}

const NONE: u32 = u32::MAX;

/// The observation of one invocation in one mode: for `all` the number, else the event, or `NONE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    mode: Mode,
    what: u32,
}

impl Seen {
    /// `events` are those of the object; sources are positions in it.
    fn of(observed: &Observed, events: &[u32]) -> Seen {
        let what = match observed.mode {
            Mode::All => observed.sources.len() as u32,
            _ => observed.sources.first().map_or(NONE, |place| events[*place]),
        };
        Seen { mode: observed.mode, what }
    }
}

/// The invocations of the trace.
pub(super) struct CallIndex<'c> {
    calls: &'c dyn Calls,
    /// By object, in the order of the trace.
    of_object: Lists,
    /// By observing event, its observations.
    seen: HashMap<u32, Vec<Seen>>,
    /// By event: the active wait rules in the trace; and by object, the number left open.
    active_rules: HashMap<u32, ActiveRules>,
    open: HashMap<u32, i64>,
}

impl<'c> CallIndex<'c> {
    pub(super) fn new(trace: &Trace, calls: &'c dyn Calls) -> CallIndex<'c> {
        let mut objects: HashMap<u32, Object> = HashMap::new();
        let mut of_object = Vec::new();
        let (mut seen, mut all_active) = (HashMap::new(), HashMap::new());
        let mut open = HashMap::new();
        for id in (0..trace.len() as u32).map(EventId) {
            let Some(call) = calls.call(trace, id) else { continue };
            of_object.push((call.object, id.0));
            let object = objects.entry(call.object).or_default();
            if let Some(waits) = call.waits {
                let (active_rules, least) = active_rules(waits, &object.counts, &call.invocation);
                let known: &mut i64 = open.entry(call.object).or_default();
                *known = least.max(*known);
                if !active_rules.is_empty() {
                    all_active.insert(id.0, active_rules);
                }
                object.counts.add(waits, &call.invocation);
            }
            let observed = object.invoke(&call, id.0);
            if !observed.is_empty() {
                let of = |observed| Seen::of(observed, &object.events);
                seen.insert(id.0, observed.iter().map(of).collect());
            }
        }
        let of_object = Lists::new(of_object);
        CallIndex { calls, of_object, seen, active_rules: all_active, open }
    }
}

impl CallIndex<'_> {
    /// Returns the invocation that an event is.
    pub(super) fn call(&self, trace: &Trace, event: EventId) -> Option<Call<'_>> {
        self.calls.call(trace, event)
    }

    /// Returns the places of the rules that bind a call whatever its result, among those of its
    /// type.
    pub(super) fn rules_of(&self, call: &Call<'_>, event: EventId) -> Vec<usize> {
        let active = self.active_rules.get(&event.0).into_iter().flatten().copied();
        let rules = call.waits.map_or(&[][..], Waits::rules);
        active.filter(|at| rules.get(*at).is_some_and(|rule| !rule.is_of_result())).collect()
    }
}

impl CallIndex<'_> {
    /// Returns the places of the rules that bind a call, among those of its type.
    pub(super) fn all_rules_of(&self, event: EventId) -> &[usize] {
        self.active_rules.get(&event.0).map_or(&[], |rules| &rules[..])
    }
}

/// The invocations of a run.
#[derive(Default)]
pub(super) struct CallRun {
    objects: FxHashMap<u32, Object>,
}

/// An object, after some invocations.
#[derive(Default)]
struct Object {
    state: Observations,
    /// The invocations so far, by position.
    events: Vec<u32>,
    /// The invocations themselves, if all are compared.
    earlier: Vec<Invocation>,
    /// The counts of the wait rules.
    counts: Counts,
    /// The invocation that may return another result.
    loose: Option<Invocation>,
}

impl CallRun {
    /// Returns the state of an object, which begins with its calls among the first events of the
    /// trace.
    fn object(
        &mut self,
        index: &CallIndex<'_>,
        trace: &Trace,
        (number, prefix): (u32, u32),
    ) -> &mut Object {
        self.objects.entry(number).or_insert_with(|| {
            let mut object = Object::default();
            for before in index.of_object.of(number) {
                let Some(call) = index.calls.call(trace, EventId(*before)) else { continue };
                if *before < prefix {
                    object.invoke(&call, *before);
                    if let Some(waits) = call.waits {
                        object.counts.add(waits, &call.invocation);
                    }
                }
            }
            object
        })
    }

    /// Returns whether a call could return by a rule of its type, after all events so far.
    pub(super) fn could_return(
        &mut self,
        index: &CallIndex<'_>,
        trace: &Trace,
        (call, at, prefix): (&Call<'_>, usize, u32),
    ) -> bool {
        let open = index.open.get(&call.object).copied().unwrap_or_default();
        let object = self.object(index, trace, (call.object, prefix));
        let rule = call.waits.and_then(|waits| waits.rules().get(at));
        rule.is_none_or(|rule| object.counts.may_return((at, rule), (&call.invocation, None), open))
    }

    /// Takes the next event. Fails if it observes something else than in the trace, unless it may.
    pub(super) fn step(
        &mut self,
        index: &CallIndex<'_>,
        trace: &Trace,
        (event, prefix): (EventId, u32),
        may_differ: bool,
    ) -> Result<(), ReorderingReason> {
        let Some(call) = index.calls.call(trace, event) else { return Ok(()) };
        let object = self.object(index, trace, (call.object, prefix));
        if let Some(waits) = call.waits {
            let open = index.open.get(&call.object).copied().unwrap_or_default();
            for at in index.active_rules.get(&event.0).into_iter().flatten() {
                let rule = &waits.rules()[*at];
                let loose = object.loose.as_ref();
                let is_asked = !may_differ || !rule.is_of_result();
                let returns =
                    object.counts.may_return((*at, rule), (&call.invocation, loose), open);
                if is_asked && !returns {
                    return Err(ReorderingReason::Waits);
                }
            }
            match may_differ {
                true => object.loose = Some(call.invocation.clone()),
                false => object.counts.add(waits, &call.invocation),
            }
        }
        let observed = object.invoke(&call, event.0);
        let is_bound =
            |waits: &Waits| waits.rules_of(&call.invocation).any(|rule| rule.is_observed());
        if may_differ && !call.waits.is_some_and(is_bound) {
            return Ok(());
        }
        let then = index.seen.get(&event.0).map_or(&[][..], Vec::as_slice);
        let events = &object.events;
        let differs = |now: &&Observed| {
            // The matching invocations in the mode `all` do not depend on the run. So if none of
            // them comes later in the trace, they are among those observed there, and their number
            // shows whether they are all of those.
            let is_later = now.sources.iter().any(|place| events[*place] >= event.0);
            (now.mode == Mode::All && is_later) || !then.contains(&Seen::of(now, events))
        };
        match observed.iter().find(differs) {
            Some(observed) => Err(ReorderingReason::ObservesOthers { mode: observed.mode }),
            None => Ok(()),
        }
    }
}

impl Object {
    fn invoke(&mut self, call: &Call<'_>, event: u32) -> Vec<Observed> {
        let place = self.events.len();
        self.events.push(event);
        let observed = match call.rules {
            CallRules::Comm(comm) => return self.state.invoke(comm, place, &call.invocation),
            CallRules::InOrder => {
                Observed { mode: Mode::Last, sources: place.checked_sub(1).into_iter().collect() }
            }
            CallRules::Conflicts(spec) => {
                let conflicts = |at: &usize| !spec.commute(&self.earlier[*at], &call.invocation);
                let sources = (0..self.earlier.len()).filter(conflicts).collect();
                self.earlier.push(call.invocation.clone());
                Observed { mode: Mode::All, sources }
            }
        };
        vec![observed]
    }
}
