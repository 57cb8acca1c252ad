//! Matches each wake with a signal, by the rule `wake` of `docs/happens-before.md`.

use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The match of a wake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub(crate) signal: EventId,
    /// The wait that must come before the signal.
    pub(crate) wait: Option<EventId>,
}

/// Matches all wakes of a trace. Near linear.
pub(crate) fn matches(trace: &Trace) -> HashMap<EventId, Match> {
    // By condition, the signals that are not matched yet, and all broadcasts.
    let mut conditions: BTreeMap<u32, BTreeSet<EventId>> = BTreeMap::new();
    let mut waits = HashMap::new();
    let mut matches = HashMap::new();
    for event in trace.events() {
        let id = event.id;
        match event.kind() {
            EventKind::Signal | EventKind::Broadcast => {
                conditions.entry(event.operand).or_default().insert(id);
            }
            EventKind::Wait => {
                waits.insert((event.task, event.operand), id);
            }
            EventKind::Wake if !event.op.is_timeout() => {
                let wait: Option<EventId> = waits.get(&(event.task, event.operand)).copied();
                let after = wait.map_or(0, |wait| wait.0 + 1);
                let signal = match trace.columns().refers.get(id.0) {
                    Some(number) => {
                        u32::try_from(number).ok().map(EventId).filter(|signal| *signal < id)
                    }
                    None => {
                        let candidates = conditions.get(&event.operand);
                        candidates.and_then(|of| of.range(EventId(after)..).next().copied())
                    }
                };
                let Some(signal) = signal else { continue };
                let source = trace.event(signal);
                if source.kind() == EventKind::Signal
                    && let Some(candidates) = conditions.get_mut(&source.operand)
                {
                    candidates.remove(&signal);
                }
                matches.insert(id, Match { signal, wait: wait.filter(|wait| *wait < signal) });
            }
            _ => {}
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_testkit::{Shape, random_trace};
    use anyorder_trace::{Action, ConditionId, Event};

    /// The definition of the signal that a wake answers: its reference, or else its match, which
    /// depends on the earlier wakes.
    fn wake_source(trace: &Trace, of: ConditionId, wake: EventId) -> Option<EventId> {
        let mut matched: Vec<EventId> = Vec::new();
        let wakes = trace.events().filter(|e| e.kind() == EventKind::Wake && !e.op.is_timeout());
        for event in wakes.take_while(|e| e.id <= wake) {
            let source = match trace.columns().refers.get(event.id.0) {
                Some(number) => {
                    u32::try_from(number).ok().map(EventId).filter(|&source| source < event.id)
                }
                None if event.action() == Action::Wake(of) => candidate(trace, of, event, &matched),
                None => None,
            };
            if event.id == wake {
                return source;
            }
            matched.extend(source);
        }
        None
    }

    fn candidate(
        trace: &Trace,
        of: ConditionId,
        wake: Event,
        matched: &[EventId],
    ) -> Option<EventId> {
        let before = || trace.events().take_while(|e| e.id < wake.id);
        let waits = before().filter(|e| e.task == wake.task && e.action() == Action::Wait(of));
        let wait = waits.last().map(|e| e.id);
        let fits = |e: &Event| match e.action() {
            Action::Signal(c) => c == of && !matched.contains(&e.id),
            Action::Broadcast(c) => c == of,
            _ => false,
        };
        before().filter(|e| wait.is_none_or(|wait| e.id > wait)).find(fits).map(|e| e.id)
    }

    #[test]
    fn all_at_once_are_the_same_as_one_by_one() {
        let mut matched = 0;
        for seed in 0..600 {
            let trace = random_trace(seed, &Shape::medium());
            let all = matches(&trace);
            for wake in trace.events().filter(|event| event.kind() == EventKind::Wake) {
                let one = wake_source(&trace, ConditionId(wake.operand), wake.id);
                assert_eq!(all.get(&wake.id).map(|found| found.signal), one, "seed {seed}");
                matched += u32::from(one.is_some());
            }
        }
        assert!(matched > 100, "{matched}");
    }
}
