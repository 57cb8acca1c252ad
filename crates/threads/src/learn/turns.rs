//! Turns in vain of loops that give up: how many there were before a thread leaves its loop does
//! not matter, as a rule.
//!
//! A turn in vain changes nothing. So whatever a thread can do that leaves its loop after some
//! turns in vain, it can do if it begins the loop later, leaves out all but one of these turns, and
//! finds the same. All others can do what they did. It is another execution only if the thread
//! counts its turns. So an execution in which a thread leaves a loop after several turns in vain is
//! run once, and what the thread does in it is compared with what it does after fewer turns. As
//! long as that is the same, nothing else is searched from there: the search is that of a program
//! in which loops are left after as few turns in vain as possible, or after all of them.
//!
//! The trees of the threads stay what executions have shown, so nothing that is learnt later can
//! be wrong. When a search has learnt nothing more, the comparison is made once more with all that
//! is known, and what is not the same is searched after all.

use super::behaviour::{Behaviours, NodeId, OpId};
use super::journal::Entry;
use super::learner::Learner;
use super::outcome::Incomplete;
use super::sabotage::Sabotage;
use super::state::{State, Successor};
use crate::execution::Step;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::op::{Act, LockMode};
use crate::program::ThreadProgram;
use crate::spinning::RECENT;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// An operation of a turn: what, where, and the result.
type Made = (OpId, SiteId, u64);

/// A place in a turn that follows equal turns in vain.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    /// The same place in the first of these turns.
    pub(crate) node: NodeId,
    /// The operations of the turn, and how many of them were made.
    turn: Rc<[Made]>,
    pub(crate) done: usize,
    /// How many operations are in the turns before this one, from the first of them on.
    pub(crate) skipped: usize,
}

impl Earlier {
    /// The result of the operation here in a turn in vain.
    fn in_vain(&self) -> u64 {
        self.turn[self.done].2
    }
}

/// Whether a place need not be searched.
#[derive(Clone, Debug)]
pub(crate) enum Cover {
    /// It has to be.
    Open,
    /// After fewer turns in vain the thread does the same.
    Covered,
    /// What the thread does after fewer turns is not known: at this place, after this result.
    Unknown(Earlier, u64),
}

/// What is known of turns in vain.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Whether turns in vain are left out.
    pub(super) is_on: bool,
    /// By place, what is known of the turns before. Holds as long as no operation is replaced.
    earlier: FxHashMap<NodeId, Option<Earlier>>,
    /// By two places, whether threads do the same from there on, with the number of places that
    /// were known then.
    alike: FxHashMap<(NodeId, NodeId), (usize, bool)>,
    /// The places from which threads do something else after fewer turns, or which cannot be
    /// reached after fewer turns.
    apart: FxHashSet<NodeId>,
}

impl Turns {
    /// Forgets what rests on operations that were replaced.
    pub(super) fn renew(&mut self) {
        self.earlier.clear();
        self.alike.clear();
    }
}

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Whether a state need not be searched to which a thread's step led.
    pub(super) fn cover(&self, before: Option<NodeId>, after: &State, thread: ThreadId) -> Cover {
        match (before, after.place_of(thread)) {
            (Some(before), Some(after)) => self.known.cover(before, after),
            _ => Cover::Open,
        }
    }

    /// At the end of a path, a thread leaves a loop after turns in vain. Learns what it does after
    /// fewer of them, or that the same cannot be without them.
    pub(super) fn learn_earlier(
        &mut self,
        path: &[Step],
        earlier: &Earlier,
        result: u64,
    ) -> Result<(), Incomplete> {
        match self.way_without(path, earlier, result) {
            Some(path) => self.run_to_learn(&path, (earlier.node, result)),
            None => {
                let thread = path.last().map(|step| step.thread);
                let state = self.state_after(path);
                if let (Some(thread), Some(state)) = (thread, state)
                    && let Some(node) = state.place_of(thread)
                {
                    self.set_apart(node);
                }
                Ok(())
            }
        }
    }

    /// A path to where a thread leaves its loop, without its turns in vain. `None` if the steps are
    /// not possible then.
    pub(super) fn way_without(
        &mut self,
        path: &[Step],
        earlier: &Earlier,
        result: u64,
    ) -> Option<Vec<Step>> {
        let thread = path.last()?.thread;
        let own = path.iter().filter(|step| step.thread == thread).count();
        let end = own.checked_sub(1 + earlier.done)?;
        let skipped = end.checked_sub(earlier.skipped)?..end;
        let mut at = 0;
        let is_kept = |step: &&Step| {
            let is_own = step.thread == thread;
            at += usize::from(is_own);
            !is_own || !skipped.contains(&(at - 1))
        };
        let kept: Vec<Step> = path.iter().filter(is_kept).copied().collect();
        let mut state = State::start(&self.known, self.sabotage)?;
        let mut ways = Vec::new();
        for (at, step) in kept.iter().enumerate() {
            let is_last = at + 1 == kept.len();
            state.ways(&self.known, self.options.spins_max, &mut ways);
            let at = state.live.binary_search_by_key(&step.thread, |live| live.0).ok()?;
            if step.alternative >= ways[at] {
                return None;
            }
            match state.after(*step, &self.known, &mut self.slots, false) {
                Successor::Known(after, _) => state = after,
                Successor::Unknown(node, found) => {
                    let is_it = is_last && (node, found) == (earlier.node, result);
                    return is_it.then_some(kept);
                }
            }
        }
        None
    }

    pub(super) fn set_apart(&mut self, node: NodeId) {
        self.keep(|| Entry::Apart(node));
        self.known.set_apart(node);
        self.has_learnt = true;
    }

    /// Compares all that was left out with all that is known. Returns whether something has to be
    /// searched after all.
    pub(super) fn sets_apart(&mut self) -> bool {
        let wrong = self.known.left_out_wrongly();
        let is_any = !wrong.is_empty();
        wrong.into_iter().for_each(|node| self.set_apart(node));
        is_any
    }
}

impl Behaviours {
    /// Whether turns in vain are left out.
    pub(super) fn leave_out_turns(&mut self, is_on: bool) {
        let turns = self.turns.get_mut();
        if turns.is_on != is_on {
            turns.renew();
            turns.is_on = is_on;
        }
    }

    /// Whether the place to which a thread came from `before` need not be searched.
    pub(super) fn cover(&self, before: NodeId, after: NodeId) -> Cover {
        let Some(earlier) = self.earlier(before) else { return Cover::Open };
        let result = self.node(before).children.iter().find(|child| child.1 == after);
        let Some(result) = result.map(|child| child.0).filter(|it| *it != earlier.in_vain()) else {
            return Cover::Open;
        };
        if self.turns.borrow().apart.contains(&after) {
            return Cover::Open;
        }
        match self.child(earlier.node, result) {
            None => Cover::Unknown(earlier, result),
            Some(other) if self.is_alike(after, other) => Cover::Covered,
            Some(_) => Cover::Open,
        }
    }

    /// From now on, a place is searched whatever is known of fewer turns.
    pub(super) fn set_apart(&mut self, node: NodeId) {
        self.turns.get_mut().apart.insert(node);
        self.epoch += 1;
    }

    /// The places that are left out, and are not the same as those after fewer turns, with all that
    /// is known. Linear in what is known, for each turn of a loop.
    fn left_out_wrongly(&self) -> Vec<NodeId> {
        let mut wrong = Vec::new();
        let compares = self.sabotage != Sabotage::TurnsNeverMatter;
        if !self.turns.borrow().is_on || !compares {
            return wrong;
        }
        for before in (0..self.len()).map(|node| NodeId(node as u32)) {
            let Some(earlier) = self.earlier(before) else { continue };
            for (result, after) in &self.node(before).children {
                if *result == earlier.in_vain() || self.turns.borrow().apart.contains(after) {
                    continue;
                }
                if let Some(other) = self.child(earlier.node, *result)
                    && self.is_alike(*after, other)
                    && !self.compare(*after, other, true)
                {
                    wrong.push(*after);
                }
            }
        }
        wrong
    }

    fn is_alike(&self, after: NodeId, other: NodeId) -> bool {
        if self.sabotage == Sabotage::TurnsNeverMatter {
            return true;
        }
        let count = self.len();
        let known = self.turns.borrow().alike.get(&(after, other)).copied();
        match known {
            Some((then, is_alike)) if then == count => is_alike,
            // Trees only grow: what differs goes on to differ.
            Some((_, false)) => false,
            _ => {
                let is_alike = self.compare(after, other, false);
                self.turns.borrow_mut().alike.insert((after, other), (count, is_alike));
                is_alike
            }
        }
    }

    /// Whether two places go on in the same way as far as both are known; with `whole`, whether all
    /// that is known of the first one is known of the second one. Linear in what is known of the
    /// first one.
    fn compare(&self, after: NodeId, other: NodeId, whole: bool) -> bool {
        let mut todo = vec![(after, other)];
        while let Some((one, other)) = todo.pop() {
            if one == other {
                continue;
            }
            let (a, b) = (self.node(one), self.node(other));
            let is_open = |node: NodeId| {
                !self.node(node).is_settled && matches!(self.op(node).act, Act::Await(_))
            };
            let gives_way = |node| matches!(self.op(node).act, Act::Await(_) | Act::Yield);
            // What a thread leaves that nobody joins is a hash of all that it saw, at times.
            let is_same_op = a.op == b.op
                || (self.is_unseen_end(one) && self.is_unseen_end(other))
                || ((is_open(one) || is_open(other)) && gives_way(one) && gives_way(other));
            if !is_same_op || a.site != b.site || a.depth != b.depth {
                return false;
            }
            for (result, child) in &a.children {
                match self.child(other, *result) {
                    Some(its) => todo.push((*child, its)),
                    None if whole => return false,
                    None => {}
                }
            }
        }
        true
    }

    /// What is known of the turns before a place.
    fn earlier(&self, node: NodeId) -> Option<Earlier> {
        if !self.has_yields || !self.turns.borrow().is_on {
            return None;
        }
        if let Some(known) = self.turns.borrow().earlier.get(&node) {
            return known.clone();
        }
        let earlier = self.find_earlier(node);
        self.turns.borrow_mut().earlier.insert(node, earlier.clone());
        earlier
    }

    fn find_earlier(&self, node: NodeId) -> Option<Earlier> {
        let (parent, result) = self.way_to(node)?;
        if self.op(parent).act == Act::Yield {
            return self.begin_turn(node, parent);
        }
        let before = self.earlier(parent)?;
        let done = before.done + 1;
        if before.in_vain() != result || done == before.turn.len() {
            return None;
        }
        let at = self.child(before.node, result)?;
        let is_same = |node: NodeId| {
            let (op, site, _) = before.turn[done];
            (self.node(node).op, self.node(node).site) == (op, site)
        };
        (is_same(at) && is_same(node)).then_some(Earlier { node: at, done, ..before })
    }

    /// The place before a node and the result there, if there is only one.
    fn way_to(&self, node: NodeId) -> Option<(NodeId, u64)> {
        let [parent] = self.node(node).parents[..] else { return None };
        let result = self.node(parent).children.iter().find(|child| child.1 == node)?.0;
        Some((parent, result))
    }

    /// What is known of the turns before the one that begins at a node, where the thread has just
    /// given way.
    fn begin_turn(&self, node: NodeId, gave_way: NodeId) -> Option<Earlier> {
        let made = |at: NodeId, result| (self.node(at).op, self.node(at).site, result);
        // The operations before, the last one first, and how many are of the turn at whose begin
        // the thread gave way, too.
        let (mut back, mut own, mut at): (Vec<Made>, _, _) = (Vec::new(), None, gave_way);
        while back.len() < 2 * RECENT
            && let Some((parent, result)) = self.way_to(at)
        {
            match self.op(parent).act {
                Act::Yield => own = own.or(Some(back.len())),
                _ => back.push(made(parent, result)),
            }
            at = parent;
        }
        let repeats = |count: &usize| {
            *count > 0 && back.len() >= 2 * count && back[..*count] == back[*count..2 * count]
        };
        let shorter = 1..=own.unwrap_or(back.len()) / 2;
        let length = own.filter(repeats).or_else(|| shorter.into_iter().find(repeats))?;
        let turn: Rc<[Made]> = back[..length].iter().rev().copied().collect();
        let is_next = (self.node(node).op, self.node(node).site) == (turn[0].0, turn[0].1);
        if !is_next || !self.is_in_vain(&turn) {
            return None;
        }
        // The first of the equal turns. After the very first one a thread need not have given way:
        // it is the second one that shows that it spins. What is further back may be of the loop
        // before, whose last turn was not in vain.
        let mut joints = usize::from(turn.iter().all(|made| made.1 != SiteId::NONE));
        let (mut at, mut skipped, mut count, mut first) = (gave_way, 1, 0, None);
        let mut gave_way = true;
        while let Some((parent, result)) = self.way_to(at) {
            (at, skipped) = (parent, skipped + 1);
            if self.op(parent).act == Act::Yield {
                gave_way = true;
                continue;
            }
            if made(parent, result) != turn[length - 1 - count % length] {
                break;
            }
            if count % length == 0 && !std::mem::take(&mut gave_way) {
                match joints.checked_sub(1) {
                    Some(left) => joints = left,
                    None => break,
                }
            }
            count += 1;
            if count % length == 0 {
                first = Some((parent, skipped));
            }
        }
        let (node, skipped) = first?;
        Some(Earlier { node, turn, done: 0, skipped })
    }

    /// Whether the operations of a turn leave everything as it was, and would have another result
    /// if something that they read had changed.
    fn is_in_vain(&self, turn: &[Made]) -> bool {
        let mut held: Vec<(ObjectId, LockMode)> = Vec::new();
        let all = turn.iter().all(|(op, _, result)| {
            let op = self.op_of(*op);
            match op.act {
                Act::Lock(mode, _) if result & 1 == 1 => held.push((op.object, mode)),
                Act::Unlock(mode) => match held.iter().position(|it| *it == (op.object, mode)) {
                    Some(at) => drop(held.remove(at)),
                    None => return false,
                },
                Act::Fence(_) | Act::IsFree(_) | Act::IsPoisoned => {}
                _ => return op.act.only_reads(*result),
            }
            true
        });
        all && held.is_empty()
    }
}
