//! States of the known behaviour: where each thread is in its tree, and the objects.

use super::behaviour::{Behaviours, NodeId};
use super::footprint::Touch;
use super::hash::hash_object;
use super::sabotage::Sabotage;
use crate::execution::Step;
use crate::ids::{ObjectId, ThreadId};
use crate::object::{Object, World};
use crate::op::Act;
use crate::races::{Known, Race, Slots, Views};
use crate::spinning::Spins;
use anyorder_common::hash::Hash128;
use anyorder_common::state_hash::StateHash;
use std::hash::{Hash, Hasher};

/// A state.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The threads that have not ended, by number.
    pub(crate) live: Vec<(ThreadId, NodeId)>,
    /// The last operation of each thread that has ended, if that matters.
    ended: Vec<NodeId>,
    pub(crate) world: World,
    spins: Spins,
    /// The thread that made the last step, if it is within an invocation: it alone goes on.
    running: Option<ThreadId>,
    /// What happened before what, if there are accesses to plain data.
    views: Option<Box<Views>>,
}

/// Two hashes of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Keys {
    /// Equal for states with equal futures, as far as they are known.
    pub(crate) like: Hash128,
    /// Equal for states whose threads are at the same places: whatever is learnt, they are equal.
    pub(crate) same: Hash128,
}

/// What a step leads to.
pub(crate) enum Successor {
    /// A known state.
    Known(State, Vec<Race>),
    /// It is not known what a thread does at this place after this result.
    Unknown(NodeId, u64),
}

impl State {
    /// The state at the start; `None` if nothing is known yet.
    pub(crate) fn start(known: &Behaviours, sabotage: Sabotage) -> Option<State> {
        let root = known.root(ThreadId::MAIN)?;
        let (live, ended) = (Vec::new(), Vec::new());
        let views = known.has_accesses.then(|| Box::new(Views::new(sabotage)));
        let (world, spins) = (World::new(), Spins::default());
        let mut state = State { live, ended, world, spins, running: None, views };
        state.place(ThreadId::MAIN, root, known);
        Some(state)
    }

    fn place(&mut self, thread: ThreadId, node: NodeId, known: &Behaviours) {
        self.world.make(known.op(node), |object| known.initial(object));
        match self.live.binary_search_by_key(&thread, |live| live.0) {
            Ok(at) => self.live[at].1 = node,
            Err(at) => self.live.insert(at, (thread, node)),
        }
    }

    /// Where a thread is that has not ended.
    pub(crate) fn place_of(&self, thread: ThreadId) -> Option<NodeId> {
        let at = self.live.binary_search_by_key(&thread, |live| live.0).ok()?;
        Some(self.live[at].1)
    }

    /// Lists in how many ways each thread can go on, in the order of `live`. If none can, the turn
    /// goes to a thread that spins.
    pub(crate) fn ways(&self, known: &Behaviours, spins_max: u32, ways: &mut Vec<u32>) {
        ways.clear();
        let of = |live: &(ThreadId, NodeId)| self.world.alternatives(live.0, known.op(live.1));
        ways.extend(self.live.iter().map(of));
        if let Some(running) = self.running
            && let Ok(at) = self.live.binary_search_by_key(&running, |live| live.0)
            && ways[at] > 0
        {
            let others = ways.iter_mut().enumerate().filter(|other| other.0 != at);
            others.for_each(|other| *other.1 = 0);
        }
        if ways.iter().all(|ways| *ways == 0) {
            let spins = |live: &&(ThreadId, NodeId)| matches!(known.op(live.1).act, Act::Await(_));
            let turn =
                self.spins.turn(self.live.iter().filter(spins).map(|live| live.0), spins_max);
            if let Some(turn) = turn
                && let Ok(at) = self.live.binary_search_by_key(&turn, |live| live.0)
            {
                ways[at] = 1;
            }
        }
    }

    /// Whether some thread waits, and it is to be tried whether its loop gives up: others can go on
    /// meanwhile.
    pub(crate) fn is_unsettled(&self, known: &Behaviours) -> bool {
        if !known.has_unsettled() {
            return false;
        }
        let waits = |live: &(ThreadId, NodeId), op| self.world.alternatives(live.0, op) == 0;
        let is_open = |live: &&(ThreadId, NodeId)| {
            !known.node(live.1).is_settled
                && waits(live, known.op(live.1))
                && known.needs(live.1).is_none_or(|op| !waits(live, op))
        };
        if !self.live.iter().any(|live| is_open(&live)) {
            return false;
        }
        let spins = |live: &&(ThreadId, NodeId)| matches!(known.op(live.1).act, Act::Await(_));
        self.live.iter().filter(spins).count() > 1
            || self.live.iter().any(|live| !waits(live, known.op(live.1)))
    }

    /// Performs a possible step of a thread that has not ended. With `keep`, threads that ended
    /// stay part of the state.
    pub(crate) fn after(
        mut self,
        step: Step,
        known: &Behaviours,
        slots: &mut Slots,
        keep: bool,
    ) -> Successor {
        let at = self.live.partition_point(|live| live.0 < step.thread);
        let node = self.live[at].1;
        let op = known.op(node);
        let result = match self.world.perform(step.thread, op, step.alternative) {
            Some(result) => {
                self.spins.note(&op.act, result);
                result
            }
            None => {
                self.spins.take(step.thread);
                0
            }
        };
        let event = (step.thread, op, known.node(node).site);
        let note = |views: &mut Box<Views>| {
            let hidden = known.is_private(op);
            views.note_call(step.thread, op, known.points(op));
            if hidden { Vec::new() } else { views.note(event, result, slots) }
        };
        let races = self.views.as_mut().map(note).unwrap_or_default();
        match op.act {
            Act::Exit(_) => {
                self.running = None;
                self.live.remove(at);
                if keep {
                    self.ended.push(node);
                    self.ended.sort_unstable();
                }
                return Successor::Known(self, races);
            }
            Act::Spawn(child) => match known.root(child) {
                Some(root) => self.place(child, root, known),
                None => return Successor::Unknown(node, result),
            },
            _ => {}
        }
        match known.child(node, result) {
            Some(child) => {
                self.place(step.thread, child, known);
                self.running = known.is_within(child).then_some(step.thread);
                Successor::Known(self, races)
            }
            None => Successor::Unknown(node, result),
        }
    }

    /// Returns a hash of what can still matter: the classes of the threads, and the objects that
    /// some thread may still touch. Which thread is where does not matter, unless the objects or
    /// other threads name it: then the classes do, too. With `by_thread` it always matters.
    pub(crate) fn key(
        &self,
        known: &Behaviours,
        slots: &Slots,
        by_thread: bool,
        sabotage: Sabotage,
    ) -> Hash128 {
        let around = self.around(known, slots, sabotage);
        self.like(known, around, by_thread)
    }

    /// Returns both hashes.
    pub(crate) fn keys(&self, known: &Behaviours, slots: &Slots, sabotage: Sabotage) -> Keys {
        let around = self.around(known, slots, sabotage);
        let same = StateHash::of(&(&self.live, &self.ended, self.running, around));
        Keys { like: self.like(known, around, false), same }
    }

    fn like(&self, known: &Behaviours, around: Hash128, by_thread: bool) -> Hash128 {
        let mut hash = StateHash::new();
        let mut classes: Vec<u32> = self.live.iter().map(|live| known.node(live.1).class).collect();
        // What threads know of accesses is theirs: then their numbers count.
        if self.views.is_none() && !by_thread {
            classes.sort_unstable();
        } else {
            self.live.iter().for_each(|live| live.0.hash(&mut hash));
        }
        classes.hash(&mut hash);
        self.ended.hash(&mut hash);
        // Where the thread can go on; elsewhere the next step will tell.
        let running = self.live.iter().find(|live| {
            Some(live.0) == self.running && self.world.alternatives(live.0, known.op(live.1)) > 0
        });
        running.map(|live| known.node(live.1).class).hash(&mut hash);
        around.hash(&mut hash);
        hash.finish128()
    }

    /// Returns a hash of all but the threads.
    fn around(&self, known: &Behaviours, slots: &Slots, sabotage: Sabotage) -> Hash128 {
        let mut hash = StateHash::new();
        self.relevant(known, |object, state| {
            let is_content = matches!(state, Object::Data(_));
            let is_forgotten = sabotage == Sabotage::ObjectsForgotten
                || (sabotage == Sabotage::ContentsForgotten && is_content);
            if !is_forgotten {
                object.hash(&mut hash);
                hash_object(state, &mut hash);
            }
        });
        self.spins.hash(&mut hash);
        if let Some(views) = &self.views
            && sabotage != Sabotage::ViewsForgotten
        {
            self.hash_views(views, known, slots, &mut hash);
        }
        hash.finish128()
    }

    /// Adds who knows which of the accesses that a later one can race with.
    fn hash_views(&self, views: &Views, known: &Behaviours, slots: &Slots, hash: &mut StateHash) {
        let (mut open, mut objects) = (Vec::new(), Vec::new());
        self.touched(known, |object| {
            objects.push(object);
            open.extend(slots.of(object).iter().copied().filter(|slot| views.exists(*slot)));
        });
        open.hash(hash);
        if open.is_empty() {
            return;
        }
        let mut add = |set: &Known| {
            for slots in open.chunks(64) {
                let bit = |(at, slot): (usize, &u32)| u64::from(set.contains(*slot)) << at;
                hash.write_u64(slots.iter().enumerate().map(bit).sum());
            }
        };
        for (thread, _) in &self.live {
            if let Some(view) = views.threads.get(thread) {
                add(&view.now);
                add(&view.with_fence);
                add(&view.at_fence);
            }
        }
        let none = Known::default();
        for object in objects {
            for of_readers in [false, true] {
                add(views.objects.get(&(object, of_readers)).unwrap_or(&none));
            }
            views.queues.get(&object).into_iter().flatten().for_each(&mut add);
        }
    }

    /// Whether it knows which accesses happened before which: keys then have numbers of threads.
    pub(crate) fn has_views(&self) -> bool {
        self.views.is_some()
    }

    /// Returns a hash of what all threads saw, if threads that ended were kept.
    pub(crate) fn histories(&self) -> Hash128 {
        StateHash::of(&(&self.live, &self.ended))
    }

    /// Calls `each` with every object that a thread may still touch, ascending.
    fn relevant<'s>(&'s self, known: &Behaviours, mut each: impl FnMut(ObjectId, &'s Object)) {
        self.touched(known, |object| {
            if let Some(state) = self.world.get(object) {
                each(object, state);
            }
        });
    }

    /// Calls `each` with the objects and points that a thread may still touch, ascending.
    fn touched(&self, known: &Behaviours, mut each: impl FnMut(ObjectId)) {
        let futures =
            || self.live.iter().map(|live| known.footprints.get(known.node(live.1).future));
        let mut ends: Vec<&[Touch]> = futures().collect();
        let first = |list: &&[Touch]| list.first().map(|touch| touch.object);
        while let Some(next) = ends.iter().filter_map(first).min() {
            for list in &mut ends {
                while first(list) == Some(next) {
                    *list = &list[1..];
                }
            }
            each(next);
        }
    }
}
