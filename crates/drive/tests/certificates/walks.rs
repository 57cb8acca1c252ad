//! Schedules and reorderings whose last event cannot come there.

use super::one_of;
use anyorder_certify::{
    ClaimedSchedule, ClaimedWitness, Lanes, NoCalls, ReorderingChecker, ReorderingReason,
    ScheduleReason, WitnessForm, check_schedule, write_schedule,
};
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventId, Trace};
use serde_json::json;

/// The certificates for each reason of a refusal that is met.
const OF_ONE_REASON: usize = 3;

/// The events of a trace that are tried.
const EVENTS: usize = 70;

/// Walks through a trace at random, and returns orders whose last event `refuses` gives a reason
/// against.
fn walk<R>(
    events: Vec<EventId>,
    rng: &mut Rng,
    is_same: impl Fn(&R, &R) -> bool,
    mut refuses: impl FnMut(&[EventId]) -> Option<R>,
) -> (Vec<EventId>, Vec<Vec<EventId>>) {
    let (mut left, mut order, mut refused) = (events, Vec::new(), Vec::new());
    let mut met: Vec<(R, usize)> = Vec::new();
    let mut misses = 0;
    while misses < 16 && !left.is_empty() {
        let at = rng.below(left.len().min(16) as u64) as usize;
        order.push(left[at]);
        let Some(reason) = refuses(&order) else {
            left.remove(at);
            misses = 0;
            continue;
        };
        misses += 1;
        let known = met.iter().position(|(known, _)| is_same(known, &reason));
        let known = known.unwrap_or_else(|| {
            met.push((reason, 0));
            met.len() - 1
        });
        met[known].1 += 1;
        if met[known].1 <= OF_ONE_REASON {
            refused.push(order.clone());
        }
        order.pop();
    }
    (order, refused)
}

/// Returns texts of schedules.
pub(crate) fn schedules(trace: &Trace, rng: &mut Rng) -> Vec<String> {
    let events = (0..trace.len().min(EVENTS) as u32).map(EventId).collect();
    let is_same = |one: &ScheduleReason, other: &ScheduleReason| match (one, other) {
        (ScheduleReason::TooEarly { rule, .. }, ScheduleReason::TooEarly { rule: other, .. }) => {
            rule == other
        }
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    let refuses = |order: &[EventId]| check_schedule(trace, order).err().map(|error| error.reason);
    let (whole, refused) = walk(events, rng, is_same, refuses);
    let mut texts = Vec::new();
    for order in refused {
        texts.push(text(trace, order, None));
    }
    // Pairs of the order that nothing refuses: some have events between them.
    for _ in 0..if whole.is_empty() { 0 } else { 6 } {
        let at = rng.below(whole.len() as u64) as usize;
        let other = (at + 1 + rng.below(4) as usize).min(whole.len() - 1);
        let absent = EventId(rng.below(trace.len() as u64) as u32);
        let second = if rng.below(6) == 0 { absent } else { whole[other] };
        texts.push(text(trace, whole.clone(), Some((whole[at], second))));
    }
    texts
}

fn text(trace: &Trace, order: Vec<EventId>, adjacent: Option<(EventId, EventId)>) -> String {
    let claimed = ClaimedSchedule { adjacent, order, lines: Vec::new() };
    let mut text = Vec::new();
    write_schedule(&claimed, trace, &mut text).expect("memory takes all");
    String::from_utf8(text).expect("schedules are text")
}

/// Returns texts of reorderings.
pub(crate) fn reorderings(trace: &Trace, rng: &mut Rng) -> Vec<String> {
    let mut texts = Vec::new();
    for (lanes, word) in [(Lanes::Handlers, "threads"), (Lanes::Tasks, "tasks")] {
        let prefix = rng.below(trace.len() as u64 / 2 + 1) as u32;
        let last = trace.len().min(prefix as usize + EVENTS) as u32;
        let events: Vec<EventId> = (prefix..last).map(EventId).collect();
        if events.len() < 2 {
            continue;
        }
        let mut checker = ReorderingChecker::new(trace, &NoCalls, lanes);
        let ends = |order: &[EventId], rng: &mut Rng| {
            let second = order.iter().max().copied().unwrap_or_default();
            let first = order.iter().rev().find(|event| **event < second).copied();
            match rng.below(8) {
                0 => (*one_of(rng, order), *one_of(rng, order)),
                1 => (EventId(rng.below(u64::from(last)) as u32), second),
                _ => (first.unwrap_or(second), second),
            }
        };
        let mut check = |order: &[EventId], form, (first, second)| {
            let witness = ClaimedWitness { form, first, second, prefix, order };
            checker.check(witness).err()
        };
        let refuses = |order: &[EventId]| {
            // An event that is not in the order: what stands in it is all that is checked.
            let error = check(order, WitnessForm::Reversed, (EventId(0), EventId(0)))?;
            (error.place < order.len()).then_some(error.reason)
        };
        let is_same = |one: &ReorderingReason, other: &ReorderingReason| match (one, other) {
            (
                ReorderingReason::TooEarly { rule, .. },
                ReorderingReason::TooEarly { rule: other, .. },
            ) => rule == other,
            _ => std::mem::discriminant(one) == std::mem::discriminant(other),
        };
        let (whole, refused) = walk(events, rng, is_same, refuses);
        let parts = (0..6).map(|_| whole[..rng.below(whole.len() as u64 + 1) as usize].to_vec());
        let parts: Vec<Vec<EventId>> = parts.collect();
        for order in refused.into_iter().chain(parts).filter(|order| !order.is_empty()) {
            let form = *one_of(rng, &["reversed", "last", "co_enabled", "overtakes"]);
            let (first, second) = ends(&order, rng);
            let label = |event: EventId| trace.unique_label(event);
            let steps: Vec<_> = order.iter().map(|event| json!({"event": label(*event)})).collect();
            let value = json!({
                "reordering": 1, "form": form, "first": label(first), "second": label(second),
                "reorders": word, "prefix": prefix, "events": steps.len(), "steps": steps,
            });
            texts.push(value.to_string());
        }
    }
    texts
}
