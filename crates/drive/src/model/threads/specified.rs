//! Tries what a specification says, before anything rests on it.
//!
//! The calls that were made run from the states that calls lead to, two in both orders, wherever
//! the specification says that they commute: what the threads know afterwards and the memory must
//! be equal. A specification that holds in all these states may be wrong in others.

use anyorder_common::cancel::Cancel;
use anyorder_vm::{LoneCall, LoneThread, Lonely, SharedPlace, Value};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The most states in which calls are tried.
const STATES_MAX: usize = 100;
/// The most pairs of calls that are tried.
const PAIRS_MAX: usize = 5_000;

/// What was written since the start.
type Memory = BTreeMap<SharedPlace, Value>;

/// What a thread knows after a call; `None` if the call waits.
type Known = Option<String>;

/// Returns the names of two methods whose calls do not commute, though they are said to; the same
/// name twice if calls of the method cannot be tried.
pub(super) fn refuted(
    lonely: &Lonely,
    calls: &[(LoneCall, LoneThread)],
    cancel: &Cancel,
) -> Option<[String; 2]> {
    let said = |(a, b): &(usize, usize)| {
        let (a, b) = (&calls[*a].0, &calls[*b].0);
        a.object == b.object && lonely.commute(a, b)
    };
    let pairs = (0..calls.len()).flat_map(|a| (a..calls.len()).map(move |b| (a, b)));
    let pairs: Vec<(usize, usize)> = pairs.filter(said).collect();
    let (mut states, mut seen) = (vec![Memory::new()], FxHashSet::default());
    let (mut at, mut tried) = (0, 0);
    while let Some(memory) = states.get(at).cloned() {
        at += 1;
        for (a, b) in &pairs {
            tried += 1;
            if tried > PAIRS_MAX || cancel.check().is_err() {
                return None;
            }
            let both =
                [both(lonely, calls, (*a, *b), &memory), both(lonely, calls, (*b, *a), &memory)];
            let [one, two] =
                both.map(|both| both.map(|(first, second, memory)| (first, second, text(&memory))));
            let is_same = match (one, two) {
                (Ok(one), Ok(two)) => one.0 == two.1 && one.1 == two.0 && one.2 == two.2,
                _ => false,
            };
            if !is_same {
                let mut names = [*a, *b].map(|at| lonely.name_of(&calls[at].0).to_owned());
                names.sort_unstable();
                return Some(names);
            }
        }
        for (_, caller) in calls {
            let mut memory = memory.clone();
            if states.len() < STATES_MAX
                && call(lonely, caller, &mut memory).is_ok()
                && seen.insert(text(&memory))
            {
                states.push(memory);
            }
        }
    }
    None
}

/// Two calls in one order.
fn both(
    lonely: &Lonely,
    calls: &[(LoneCall, LoneThread)],
    (first, second): (usize, usize),
    memory: &Memory,
) -> Result<(Known, Known, Memory), ()> {
    let mut memory = memory.clone();
    let first = call(lonely, &calls[first].1, &mut memory)?;
    let second = call(lonely, &calls[second].1, &mut memory)?;
    Ok((first, second, memory))
}

/// Makes a call.
fn call(lonely: &Lonely, caller: &LoneThread, memory: &mut Memory) -> Result<Known, ()> {
    let mut found: Vec<(SharedPlace, Value)> = Vec::new();
    let attempt = loop {
        let attempt = lonely.attempt(caller, &found).map_err(drop)?;
        let Some(place) = attempt.missing else { break attempt };
        let value = memory.get(&place).cloned().unwrap_or_else(|| lonely.initial(place));
        found.push((place, value));
    };
    match attempt.ways.as_slice() {
        [] => Ok(None),
        [way] => {
            memory.extend(way.writes.iter().cloned());
            let after = way.after.as_ref().map(LoneThread::knowledge);
            Ok(Some(format!("{after:?} {:?}", way.failure)))
        }
        // Which way it goes is not said.
        _ => Err(()),
    }
}

fn text(memory: &Memory) -> String {
    let values = memory.iter().map(|(place, value)| (place, value.fingerprint()));
    format!("{:?}", values.collect::<Vec<_>>())
}
