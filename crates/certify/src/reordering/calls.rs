//! What invocations of specified objects observe of one another.

use super::error::ReorderingReason;
use super::index::Lists;
use super::waits::{Asked, Numbers, asked};
use anyorder_commute::{Comm, Invocation, Mode, Observations, Observed, Spec, Waits};
use anyorder_trace::{EventId, Trace};
use std::collections::HashMap;

/// An event as an invocation of a specified object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call<'c> {
    /// Number of the object.
    pub object: u32,
    /// What invocations of the object observe.
    pub rules: CallRules<'c>,
    /// What they wait for; `None` if they always return.
    pub waits: Option<&'c Waits>,
    /// The invocation.
    pub invocation: Invocation,
}

/// What an invocation of an object observes of the earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallRules<'c> {
    /// What the rules of its type say.
    Comm(&'c Comm),
    /// In the mode `all`, those that it does not commute with. A check takes time quadratic in the
    /// invocations of the object.
    Conflicts(&'c Spec),
    /// In the mode `last`, whichever came last: all stay in order.
    InOrder,
}

/// Says which events invoke specified objects.
pub trait Calls {
    /// Returns the invocation that an event is; `None` if it is none of a specified object. The
    /// answer must always be the same.
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

/// What one invocation observes in one mode: for `all` how many, else the one, or `NONE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    mode: Mode,
    what: u32,
}

impl Seen {
    /// `events` are those of the object: sources are places there.
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
    /// The events that observe, ascending, with the start of what they do in `seen`; it ends where
    /// the next one's starts.
    observers: Vec<(u32, u32)>,
    seen: Vec<Seen>,
    /// By event: the rules that say what it waits for, where they hold in the trace; and by object,
    /// the number left open.
    asked: HashMap<u32, Asked>,
    open: HashMap<u32, i64>,
}

impl<'c> CallIndex<'c> {
    pub(super) fn new(trace: &Trace, calls: &'c dyn Calls) -> CallIndex<'c> {
        let mut objects: HashMap<u32, Object> = HashMap::new();
        let mut of_object = Vec::new();
        let (mut observers, mut seen) = (Vec::new(), Vec::new());
        let (mut all_asked, mut open) = (HashMap::new(), HashMap::new());
        for id in (0..trace.len() as u32).map(EventId) {
            let Some(call) = calls.call(trace, id) else { continue };
            of_object.push((call.object, id.0));
            let object = objects.entry(call.object).or_default();
            if let Some(waits) = call.waits {
                let (asked, least) = asked(waits, &object.numbers, &call.invocation);
                let known: &mut i64 = open.entry(call.object).or_default();
                *known = least.max(*known);
                if !asked.is_empty() {
                    all_asked.insert(id.0, asked);
                }
                object.numbers.add(waits, &call.invocation);
            }
            let observed = object.invoke(&call, id.0);
            if !observed.is_empty() {
                observers.push((id.0, seen.len() as u32));
                seen.extend(observed.iter().map(|observed| Seen::of(observed, &object.events)));
            }
        }
        let of_object = Lists::new(of_object);
        CallIndex { calls, of_object, observers, seen, asked: all_asked, open }
    }

    fn seen_by(&self, event: EventId) -> &[Seen] {
        match self.observers.binary_search_by_key(&event.0, |observer| observer.0) {
            Ok(at) => {
                let end = self.observers.get(at + 1).map_or(self.seen.len(), |o| o.1 as usize);
                &self.seen[self.observers[at].1 as usize..end]
            }
            Err(_) => &[],
        }
    }
}

/// The invocations of a run.
#[derive(Default)]
pub(super) struct CallRun {
    objects: HashMap<u32, Object>,
}

/// An object, after some invocations.
#[derive(Default)]
struct Object {
    state: Observations,
    /// The invocations so far: their numbers are their places.
    events: Vec<u32>,
    /// What they were, where all are compared.
    earlier: Vec<Invocation>,
    /// How many of them count for what.
    numbers: Numbers,
    /// The one that may have returned something else.
    loose: Option<Invocation>,
}

impl CallRun {
    /// Takes the next event; complains if it observes something else than in the trace, unless it
    /// may.
    pub(super) fn step(
        &mut self,
        index: &CallIndex<'_>,
        trace: &Trace,
        (event, prefix): (EventId, u32),
        may_differ: bool,
    ) -> Result<(), ReorderingReason> {
        let Some(call) = index.calls.call(trace, event) else { return Ok(()) };
        let object = self.objects.entry(call.object).or_insert_with(|| {
            let mut object = Object::default();
            for before in index.of_object.of(call.object) {
                let Some(call) = index.calls.call(trace, EventId(*before)) else { continue };
                if *before < prefix {
                    object.invoke(&call, *before);
                    if let Some(waits) = call.waits {
                        object.numbers.add(waits, &call.invocation);
                    }
                }
            }
            object
        });
        if let Some(waits) = call.waits {
            let open = index.open.get(&call.object).copied().unwrap_or_default();
            for at in index.asked.get(&event.0).into_iter().flatten() {
                let rule = &waits.rules()[*at];
                let loose = object.loose.as_ref();
                let is_asked = !may_differ || !rule.is_of_result();
                let returns =
                    object.numbers.let_return((*at, rule), (&call.invocation, loose), open);
                if is_asked && !returns {
                    return Err(ReorderingReason::Waits);
                }
            }
            match may_differ {
                true => object.loose = Some(call.invocation.clone()),
                false => object.numbers.add(waits, &call.invocation),
            }
        }
        let observed = object.invoke(&call, event.0);
        let is_bound =
            |waits: &Waits| waits.rules_of(&call.invocation).any(|rule| rule.is_observed());
        if may_differ && !call.waits.is_some_and(is_bound) {
            return Ok(());
        }
        let then = index.seen_by(event);
        let events = &object.events;
        let differs = |now: &&Observed| {
            // Which invocations match in the mode `all` does not depend on the run. So if none
            // comes later in the trace, they are among those observed there, and their number tells
            // whether all of those are.
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
