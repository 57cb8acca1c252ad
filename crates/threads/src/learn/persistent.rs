//! Which threads have to be tried in a state.

use super::behaviour::{Behaviours, NodeId};
use super::footprint::{FootprintId, Touch};
use super::kind::{Kind, conflicts_of};
use super::memo::Sought;
use super::sabotage::Sabotage;
use super::state::State;
use crate::ids::{ObjectId, ThreadId};
use crate::object::Object;
use crate::op::{Act, Patience};
use anyorder_common::bits;
use std::ops::Range;

/// The most operations of a thread that are examined to find what it first waits for.
const WALK_MAX: u32 = 200;

/// What was found out in one state.
#[derive(Debug, Default)]
struct Rows {
    /// The words of a set of threads.
    width: usize,
    /// By position of a thread, what it may still touch.
    futures: Vec<FootprintId>,
    /// By position of a thread, whether it is known who may be in its way, and the set of these.
    is_known: Vec<bool>,
    words: Vec<u64>,
    /// By object, where those that may remove an owner are listed, each with whether that is all
    /// that it does to the object, and once.
    of_objects: Vec<(ObjectId, Range<usize>)>,
    removers: Vec<(usize, bool)>,
    /// By number of such an object, and by position of a thread: how it may still touch it.
    kinds: Vec<u16>,
}

impl Rows {
    fn clear(&mut self, state: &State, known: &Behaviours) {
        let threads = state.live.len();
        self.futures.clear();
        self.futures.extend(state.live.iter().map(|live| known.node(live.1).future));
        self.width = bits::width(threads);
        self.is_known.clear();
        self.is_known.resize(threads, false);
        self.words.clear();
        self.words.resize(threads * self.width, 0);
        self.of_objects.clear();
        self.removers.clear();
        self.kinds.clear();
    }

    /// How a thread may still touch an object, if that is known; else anyhow.
    fn kinds(&self, object: ObjectId, at: usize) -> u16 {
        let number = self.of_objects.iter().position(|known| known.0 == object);
        number.map_or(!0, |number| self.kinds[number * self.futures.len() + at])
    }

    fn removers(&mut self, object: ObjectId, known: &Behaviours) -> Range<usize> {
        if let Some((_, range)) = self.of_objects.iter().find(|known| known.0 == object) {
            return range.clone();
        }
        let from = self.removers.len();
        for (other, future) in self.futures.iter().enumerate() {
            let touches = known.footprints.of_object(*future, object);
            let kinds = touches.iter().fold(0, |kinds, touch| kinds | touch.kinds);
            self.kinds.push(kinds);
            if kinds & Kind::REMOVING != 0 {
                let sole = touches.len() == 1 && kinds & Kind::RemoveMore.bit() == 0;
                self.removers.push((other, sole));
            }
        }
        let range = from..self.removers.len();
        self.of_objects.push((object, range.clone()));
        range
    }
}

/// Finds sets of threads such that, whatever the others do, it does not touch what these are about
/// to do: persistent sets, from the futures of all threads.
///
/// A set is closed: with a thread whose operation `a` is possible it contains every thread whose
/// future has an operation in conflict with `a`; with a thread that waits, threads without which
/// its operation cannot become possible (P. Godefroid, *Partial-Order Methods for the Verification
/// of Concurrent Systems*, 1996, chapters 4 and 5: conflicting transitions and stubborn sets).
#[derive(Debug, Default)]
pub(crate) struct Persistent {
    best: Vec<usize>,
    set: Vec<usize>,
    /// How many threads of the set can go on.
    able: usize,
    /// The same as a set of positions.
    is_in: Vec<u64>,
    /// The threads around which a set was closed.
    tried: Vec<bool>,
    /// To be used again: where threads of the set are joined.
    ends: Vec<ObjectId>,
    rows: Rows,
    sabotage: Sabotage,
}

impl Persistent {
    /// Returns the positions of the threads to try: those of a smallest closed set around one
    /// thread. `ways` are the ways in which each can go on.
    pub(crate) fn find(
        &mut self,
        state: &State,
        known: &Behaviours,
        ways: &[u32],
        sabotage: Sabotage,
    ) -> &[usize] {
        self.sabotage = sabotage;
        self.rows.clear(state, known);
        let able = ways.iter().filter(|ways| **ways > 0).count();
        self.best.clear();
        self.tried.clear();
        self.tried.resize(ways.len(), false);
        // As a rule there is one of one thread, and to find out that others are larger is cheap.
        if able > 1 {
            for seed in (0..ways.len()).filter(|seed| ways[*seed] > 0) {
                if is_known_to_clash(seed, state, known, ways) {
                    #[cfg(test)]
                    assert_eq!(self.close(seed, state, known, ways, 2), 2);
                    continue;
                }
                if self.close(seed, state, known, ways, 2) == 1 {
                    self.best.push(seed);
                    return &self.best;
                }
            }
        }
        let mut least = usize::MAX;
        for seed in (0..ways.len()).filter(|seed| ways[*seed] > 0) {
            let count = self.close(seed, state, known, ways, least);
            self.tried[seed] = true;
            if count < least {
                least = count;
                std::mem::swap(&mut self.best, &mut self.set);
                if able == 1 {
                    break;
                }
            }
        }
        self.best.retain(|at| ways[*at] > 0);
        self.best.sort_unstable();
        &self.best
    }

    /// Whether the thread at a position may as well go on before any other one, at no cost in
    /// preemptions: nothing that others can do before its step is in conflict with that, nor can
    /// any of them go on only after it. Then a switch before the step, which preempts the thread,
    /// can come after the step instead; all others can go on, or wait, as they did.
    pub(crate) fn is_local(
        &mut self,
        at: usize,
        state: &State,
        known: &Behaviours,
        ways: &[u32],
        sabotage: Sabotage,
    ) -> bool {
        self.sabotage = sabotage;
        if sabotage == Sabotage::AllIsLocal {
            return true;
        }
        self.tried.clear();
        self.rows.clear(state, known);
        self.close(at, state, known, ways, 2);
        self.set.len() == 1
            && (sabotage == Sabotage::GivingIsLocal || !makes_possible(at, state, known))
    }

    /// Closes the set around a thread. Returns the number of its threads that can go on; gives up
    /// once that is `most`.
    fn close(
        &mut self,
        seed: usize,
        state: &State,
        known: &Behaviours,
        ways: &[u32],
        most: usize,
    ) -> usize {
        self.set.clear();
        self.is_in.clear();
        self.is_in.resize(self.rows.width, 0);
        self.set.push(seed);
        bits::set(&mut self.is_in, seed as u32);
        let mut next = 0;
        self.able = usize::from(ways[seed] > 0);
        while let Some(at) = self.set.get(next).copied() {
            next += 1;
            // What is closed around a thread of the set is as a rule in the set.
            if self.able >= most || (self.tried.get(at) == Some(&true) && most != usize::MAX) {
                return most;
            }
            self.need(at, state, known, (ways, most));
        }
        self.able
    }

    /// Adds what a thread of the set needs, until `most` threads of the set can go on.
    fn need(
        &mut self,
        at: usize,
        state: &State,
        known: &Behaviours,
        (ways, most): (&[u32], usize),
    ) {
        let (thread, node) = state.live[at];
        let is_able = ways[at] > 0;
        if !is_able && self.sabotage == Sabotage::WaitingNeedsNobody {
            return;
        }
        if is_able && is_alone(state, known, thread, node) {
            return;
        }
        if !is_able && let Some(holder) = holder(state, known, node) {
            let position = state.live.binary_search_by_key(&holder, |live| live.0);
            if let Ok(position) = position
                && position != at
            {
                self.add(position, ways);
            }
            return;
        }
        self.find_row(at, is_able, state, known);
        let width = self.rows.width;
        let outside =
            |all: &Persistent, word: usize| all.rows.words[at * width + word] & !all.is_in[word];
        for touch in known.footprints.get(known.node(node).own) {
            if (0..width).all(|word| outside(self, word) == 0) {
                break;
            }
            let mut against = against(touch, is_able, self.sabotage);
            if is_able {
                against &= !self.harmless(touch, state, known);
            }
            let conflict = Conflict { touch: *touch, against, is_able, sabotage: self.sabotage };
            // Only there it may depend on the object whether another thread is in the way.
            let is_counted = matches!(state.world.get(touch.object), Some(Object::Count(_)));
            for word in 0..width {
                for bit in bits::members_of_word(outside(self, word)) {
                    let other = 64 * word + bit as usize;
                    if is_counted && self.rows.kinds(touch.object, other) & against == 0 {
                        debug_assert!(!conflict.is_in(self.rows.futures[other], known));
                        continue;
                    }
                    if self.is_in_the_way(other, &conflict, state, known) {
                        if self.set.len() == 1 && is_able && ways[other] > 0 && !is_counted {
                            let memo = &mut *known.memo.borrow_mut();
                            memo.note_in_the_way(node, state.live[other]);
                        }
                        self.add(other, ways);
                        if self.able >= most {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Finds the threads that may be in the way of one, as far as that does not depend on the set.
    /// Once for each thread and state.
    fn find_row(&mut self, at: usize, is_able: bool, state: &State, known: &Behaviours) {
        if std::mem::replace(&mut self.rows.is_known[at], true) {
            return;
        }
        let own = known.node(state.live[at].1).own;
        if known.footprints.get(own).is_empty() {
            return;
        }
        let memo = &mut *known.memo.borrow_mut();
        let row = &mut self.rows.words[at * self.rows.width..];
        for (other, future) in self.rows.futures.iter().copied().enumerate() {
            let find = || may_clash(own, future, is_able, known, self.sabotage);
            if memo.clash(own, is_able, future, find) && other != at {
                bits::set(row, other as u32);
            }
        }
    }

    /// Whether a thread outside of the set may do something in conflict before one of the set goes
    /// on.
    fn is_in_the_way(
        &mut self,
        other: usize,
        conflict: &Conflict,
        state: &State,
        known: &Behaviours,
    ) -> bool {
        let (_, node) = state.live[other];
        conflict.is_in(self.rows.futures[other], known)
            && !self.waits_for_set(node, state, known, conflict.sought(), |node| {
                let is_here = |node| conflict.is_in(known.node(node).own, known);
                let spawned = match known.op(node).act {
                    Act::Spawn(child) => known.root(child),
                    _ => None,
                };
                is_here(node)
                    || spawned.is_some_and(|root| conflict.is_in(known.node(root).future, known))
            })
    }

    /// Whether a thread at `node` cannot come to what `is_sought` before a thread of the set goes
    /// on: on all ways it first has to wait for one. Says no where that takes long to find out.
    fn waits_for_set(
        &mut self,
        node: NodeId,
        state: &State,
        known: &Behaviours,
        sought: Sought,
        is_sought: impl Fn(NodeId) -> bool,
    ) -> bool {
        if let Some(holder) = holder(state, known, node)
            && state.live.binary_search_by_key(&holder, |live| live.0).is_ok_and(|at| self.has(at))
        {
            return true;
        }
        let future = known.node(node).future;
        if known.footprints.kinds(future) & Kind::After.bit() == 0 {
            return false;
        }
        let mut ends = std::mem::take(&mut self.ends);
        ends.clear();
        ends.extend(self.set.iter().filter_map(|at| known.end_of(state.live[*at].0)));
        ends.retain(|end| {
            let touches = known.footprints.of_object(future, *end);
            touches.iter().any(|touch| touch.kinds & Kind::After.bit() != 0)
        });
        let waits = !ends.is_empty() && self.waits_for_ends(node, &ends, known, sought, is_sought);
        self.ends = ends;
        waits
    }

    /// As [`waits_for_set`](Self::waits_for_set), for threads that wait by joins.
    fn waits_for_ends(
        &self,
        node: NodeId,
        ends: &[ObjectId],
        known: &Behaviours,
        sought: Sought,
        is_sought: impl Fn(NodeId) -> bool,
    ) -> bool {
        let question = {
            let memo = &mut *known.memo.borrow_mut();
            let question = memo.question(node, sought, ends);
            if let Some(waits) = memo.answer(&question, known.epoch) {
                return waits;
            }
            question
        };
        let looked_at = self.walk_waits(node, ends, known, is_sought);
        let memo = &mut *known.memo.borrow_mut();
        memo.note(question, looked_at.is_some());
        memo.looked_at.extend(looked_at.iter().flatten());
        looked_at.is_some()
    }

    /// As [`waits_for_ends`](Self::waits_for_ends), anew. If they wait, returns the places on which
    /// that rests.
    fn walk_waits(
        &self,
        node: NodeId,
        ends: &[ObjectId],
        known: &Behaviours,
        is_sought: impl Fn(NodeId) -> bool,
    ) -> Option<Vec<NodeId>> {
        let mut todo = vec![node];
        let mut looked_at = Vec::new();
        let mut left = WALK_MAX;
        while let Some(node) = todo.pop() {
            let op = known.op(node);
            let waits = matches!(op.act, Act::Join)
                && (ends.contains(&op.object) || self.sabotage == Sabotage::AnyJoinWaits);
            if waits {
                continue;
            }
            left -= 1;
            if left == 0 || is_sought(node) {
                return None;
            }
            looked_at.push(node);
            todo.extend(known.children(node));
        }
        Some(looked_at)
    }

    /// The kinds that do not matter to this touch as the object is: where owners are added or
    /// removed and so many are left that nobody can be the last one, whatever others do.
    fn harmless(&mut self, touch: &Touch, state: &State, known: &Behaviours) -> u16 {
        let removes = touch.kinds == Kind::Remove.bit();
        let Some(Object::Count(owners)) = state.world.get(touch.object) else { return 0 };
        if !removes && touch.kinds != Kind::Add.bit() {
            return 0;
        }
        if self.sabotage == Sabotage::NobodyIsLast {
            return Kind::Add.bit() | Kind::REMOVING;
        }
        let needed = if removes { 2 } else { 1 };
        let mut left = *owners;
        // Younger threads first: those that spawned them have the longest ways to look at.
        let removers = self.rows.removers(touch.object, known);
        for item in removers.rev() {
            let (other, sole) = self.rows.removers[item];
            if self.has(other) {
                continue;
            }
            let (_, node) = &state.live[other];
            let is_removal = |node| {
                let own = known.footprints.of_object(known.node(node).own, touch.object);
                own.iter().any(|touch| touch.kinds & Kind::REMOVING != 0)
            };
            let sought = Sought { object: touch.object, ..Sought::REMOVAL };
            if self.waits_for_set(*node, state, known, sought, is_removal) {
                continue;
            }
            left = left.saturating_sub(1);
            if !sole || left < needed {
                return 0;
            }
        }
        if left >= needed { Kind::Add.bit() | Kind::REMOVING } else { 0 }
    }

    fn add(&mut self, thread: usize, ways: &[u32]) {
        if !self.has(thread) {
            bits::set(&mut self.is_in, thread as u32);
            self.set.push(thread);
            self.able += usize::from(ways[thread] > 0);
        }
    }

    fn has(&self, thread: usize) -> bool {
        bits::has(&self.is_in, thread as u32)
    }
}

/// Whether others may be able to go on only after the next step of a thread, though no order of
/// the two matters: what it gives back, or what ends.
fn makes_possible(at: usize, state: &State, known: &Behaviours) -> bool {
    let silent = Kind::Observe.bit() | Kind::Guarded.bit() | Kind::After.bit();
    let touches = known.footprints.get(known.node(state.live[at].1).own).iter();
    touches.filter(|touch| touch.kinds & !silent != 0).any(|touch| {
        let waits = if touch.kinds & Kind::Give.bit() != 0 { !0 } else { Kind::After.bit() };
        let others = state.live.iter().enumerate().filter(|(other, _)| *other != at);
        others.into_iter().any(|(_, (_, node))| {
            let future = known.node(*node).future;
            let its = known.footprints.of_object(future, touch.object);
            its.iter().any(|its| its.kinds & waits != 0)
        })
    })
}

/// What must not happen before a step.
#[derive(Clone, Copy)]
struct Conflict {
    touch: Touch,
    /// The kinds of touches that matter.
    against: u16,
    is_able: bool,
    sabotage: Sabotage,
}

impl Conflict {
    fn sought(&self) -> Sought {
        let Conflict { touch, against, is_able, .. } = *self;
        Sought { object: touch.object, owner: touch.owner, against, is_able, is_removal: false }
    }

    fn is_in(&self, footprint: FootprintId, known: &Behaviours) -> bool {
        known.footprints.of_object(footprint, self.touch.object).iter().any(|other| {
            other.kinds & self.against != 0
                && !(self.is_able && is_specified(&self.touch, other, self.sabotage))
        })
    }
}

/// The kinds of touches that matter to one, as far as that does not depend on the state.
fn against(touch: &Touch, is_able: bool, sabotage: Sabotage) -> u16 {
    if is_able { conflicts_of(touch.kinds, sabotage) } else { Kind::ENABLING }
}

/// Whether some touch of the first footprint is in conflict with one of the second, as far as that
/// does not depend on the state.
fn may_clash(
    own: FootprintId,
    future: FootprintId,
    is_able: bool,
    known: &Behaviours,
    sabotage: Sabotage,
) -> bool {
    known.footprints.get(own).iter().any(|touch| {
        let against = against(touch, is_able, sabotage);
        Conflict { touch: *touch, against, is_able, sabotage }.is_in(future, known)
    })
}

fn is_specified(touch: &Touch, other: &Touch, sabotage: Sabotage) -> bool {
    let is_in_any = touch.owner != ObjectId::NONE && other.owner != ObjectId::NONE;
    touch.is_specified_with(other) || (sabotage == Sabotage::OwnersForgotten && is_in_any)
}

/// Whether it is known that the set around a thread has another thread that can go on.
#[inline]
fn is_known_to_clash(at: usize, state: &State, known: &Behaviours, ways: &[u32]) -> bool {
    let Some((thread, node)) = known.memo.borrow().in_the_way(state.live[at].1) else {
        return false;
    };
    let other = state.live.binary_search_by_key(&thread, |live| live.0);
    other.is_ok_and(|other| ways[other] > 0 && state.live[other].1 == node)
        && !is_alone(state, known, state.live[at].0, state.live[at].1)
}

/// Whether nothing that others do can matter to an operation that is possible now.
fn is_alone(state: &State, known: &Behaviours, thread: ThreadId, node: NodeId) -> bool {
    let op = known.op(node);
    match (&op.act, state.world.get(op.object)) {
        // It has been notified: others cannot take that away.
        (Act::Wake(_), Some(Object::Condition { notified, .. })) => notified.contains(&thread),
        _ => false,
    }
}

/// The thread without which a waiting operation cannot become possible, if there is one.
fn holder(state: &State, known: &Behaviours, node: NodeId) -> Option<ThreadId> {
    let op = known.op(node);
    match (&op.act, state.world.get(op.object)) {
        (Act::Lock(_, Patience::Wait), Some(Object::Lock { exclusive, .. })) => *exclusive,
        _ => None,
    }
}
