//! Reactions: what follows from one event, up to where nothing is left to do.
//!
//! **Problem.** Input: the first steps of a reaction. Output: its ways, that is, the quiet states
//! that it may end in, each with what was set, in order. **Guarantee.** Exact up to the bounds; a
//! bound is reported. Two ways that come to the same state after the same updates of each state are
//! one way. **Cost.** One execution for each step of each way; ways multiply with what is not
//! known.

use crate::lower::{CALL, GIVEN, NOTE, UNKNOWN};
use anyorder_system::{Hash128, StateSystem};
use anyorder_vm::{Machine, State, Transition, Write};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most steps of one way.
const STEPS_MAX: usize = 300;

/// The most steps of one reaction, all ways together.
const ALL_STEPS_MAX: usize = 4_000;

/// The most ends of one reaction.
const ENDS_MAX: usize = 256;

/// The most alternatives of one step.
pub(super) const ALTERNATIVES_MAX: u32 = 256;

/// A way in which a reaction may go.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The state at its end.
    pub(super) state: State,
    /// What was set, in order.
    pub(super) writes: Vec<Write>,
    /// Whether each of these changed the state: a call may ask for what is so already.
    pub(super) changes: Vec<bool>,
    /// What it assumes: the value of a state, or the answer to a question.
    pub(super) given: BTreeMap<String, String>,
    /// What happened to runs: the word, and the entity of the automation.
    pub(super) notes: Vec<(String, String)>,
    /// Whether it came back to a state within it: it never ends.
    pub(super) endless: bool,
    /// Whether it failed.
    pub(super) failed: bool,
}

impl Way {
    /// Returns the way that does nothing.
    pub(super) fn at(state: State) -> Way {
        Way {
            state,
            writes: Vec::new(),
            changes: Vec::new(),
            given: BTreeMap::new(),
            notes: Vec::new(),
            endless: false,
            failed: false,
        }
    }

    /// Returns whether it rests on the answer to a question that nobody knows.
    pub(super) fn is_guessed(&self) -> bool {
        self.given.keys().any(|key| key.starts_with(UNKNOWN))
    }

    /// Returns whether both ways may be taken from one state.
    pub(super) fn agrees(&self, other: &Way) -> bool {
        self.given.iter().all(|(key, value)| other.given.get(key).is_none_or(|v| v == value))
    }

    /// Adds what a step wrote.
    fn add(&mut self, writes: Vec<Write>) {
        for mut write in writes {
            if let Some(key) = write.attribute.strip_prefix(CALL) {
                if write.value != "null" {
                    write.attribute = key.to_owned();
                    self.writes.push(write);
                    self.changes.push(false);
                }
            } else if let Some(word) = write.attribute.strip_prefix(NOTE) {
                if write.value != "null" {
                    let entity = write.value.trim_matches('"').to_owned();
                    self.notes.push((word.to_owned(), entity));
                }
            } else if write.attribute.starts_with(GIVEN) || write.attribute.starts_with(UNKNOWN) {
                if write.value != "null" {
                    self.given.entry(write.attribute).or_insert(write.value);
                }
            } else if write.by.is_none() {
                self.writes.push(write);
                self.changes.push(true);
            } else if let Some(at) = self.writes.iter().rposition(|w| same(w, &write)) {
                self.changes[at] = true;
            }
        }
    }

    /// Returns the last update of a state, but for those that only repeat what the outside has set
    /// in the same reaction.
    pub(super) fn last_wish(&self, key: &str) -> Option<&Write> {
        let of = |w: &Write| w.attribute == key;
        let outside = self.writes.iter().any(|w| of(w) && w.by.is_none());
        let all = self.writes.iter().zip(&self.changes).rev();
        all.filter(|(_, changes)| **changes || !outside).map(|(w, _)| w).find(|w| of(w))
    }

    /// Hashes what makes two ways to one state different: the updates of each state in order.
    fn history(&self) -> u64 {
        let mut of: BTreeMap<&str, Vec<(Option<u32>, &str)>> = BTreeMap::new();
        for write in &self.writes {
            let list = of.entry(&write.attribute).or_default();
            let this = (write.by, write.value.as_str());
            if list.last() != Some(&this) {
                list.push(this);
            }
        }
        let mut hasher = DefaultHasher::new();
        (of, &self.given, &self.notes).hash(&mut hasher);
        hasher.finish()
    }
}

/// Whether two updates are of one state by one component.
fn same(a: &Write, b: &Write) -> bool {
    a.attribute == b.attribute && a.by == b.by
}

/// The ways of a reaction.
#[derive(Debug, Default)]
pub(super) struct Reaction {
    pub(super) ways: Vec<Way>,
    /// Whether there may be more.
    pub(super) cut: bool,
    /// The states on the way, all ways together.
    pub(super) steps: usize,
}

/// Returns the reaction that begins with one of some steps.
pub(super) fn react(
    machine: &Machine,
    first: Vec<Transition>,
    stop: &dyn Fn() -> bool,
) -> Reaction {
    let mut reaction = Reaction::default();
    // The states on the way, as a tree: its fingerprint, and where it came from.
    let mut path: Vec<(Hash128, Option<usize>)> = Vec::new();
    let mut seen: HashSet<(Hash128, u64)> = HashSet::new();
    let mut open: Vec<(Way, Option<usize>, usize)> = Vec::new();
    let begin = |transition: Transition, before: &Way| {
        let mut way = Way { state: transition.successor.state, ..before.clone() };
        way.failed = transition.successor.failure.is_some();
        way.add(transition.writes);
        way
    };
    for transition in first {
        let empty = Way::at(transition.successor.state.clone());
        open.push((begin(transition, &empty), None, 0));
    }
    open.reverse();
    while let Some((way, before, depth)) = open.pop() {
        let here = machine.fingerprint(&way.state);
        if way.failed {
            // A step with too many alternatives fails, too.
            reaction.cut = true;
            continue;
        }
        if !seen.insert((here, way.history())) {
            // Either another way came here in the same manner, or this one did.
            if !is_on_path(&path, before, here) {
                continue;
            }
        }
        if machine.quiet_memory(&way.state).is_some() {
            reaction.ways.push(way);
            if reaction.ways.len() >= ENDS_MAX {
                reaction.cut |= !open.is_empty();
                break;
            }
            continue;
        }
        if is_on_path(&path, before, here) {
            reaction.ways.push(Way { endless: true, ..way });
            continue;
        }
        if depth > STEPS_MAX || path.len() > ALL_STEPS_MAX || stop() {
            reaction.cut = true;
            continue;
        }
        path.push((here, before));
        let this = Some(path.len() - 1);
        let Some(next) = machine.transitions(&way.state, ALTERNATIVES_MAX) else {
            reaction.cut = true;
            break;
        };
        for transition in next.into_iter().rev() {
            open.push((begin(transition, &way), this, depth + 1));
        }
    }
    reaction.steps = path.len();
    reaction
}

/// Whether a state is one of those that led here.
fn is_on_path(path: &[(Hash128, Option<usize>)], from: Option<usize>, state: Hash128) -> bool {
    let mut at = from;
    while let Some(node) = at {
        if path[node].0 == state {
            return true;
        }
        at = path[node].1;
    }
    false
}
