//! Loops that spin: which of them give up, and after how many turns.
//!
//! A thread that gives way after the same reads waits until something of them changes
//! ([`Act::Await`]). That loses nothing where a turn in vain leaves everything as it was and the
//! loop never ends by itself: then any number of such turns is as good as none. A loop that gives
//! up does something else after some turns, and others can go on meanwhile.
//!
//! Which kind a loop is of, a *trial* shows: from where the thread waits, it goes on alone, and its
//! waits end though nothing changed. The thread is deterministic, so the trial shows what it does
//! after these results whenever nothing changes. The waits up to where it gives up become
//! [`Act::Yield`]s, which never wait. So each place of a thread at which it waits is tried once.

use crate::execution::Event;
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::learn::Sabotage;
use crate::op::{Act, Op, Watched};
use rustc_hash::FxHashMap;
use std::mem::discriminant;

/// The most turns in vain of a loop that is explored turn by turn, unless said otherwise.
pub const TURNS_MAX: u32 = 32;

/// The most operations of one trial.
pub(crate) const TRIAL_MAX: usize = 20_000;

/// How many of the last operations of a thread are taken for those of its loop, where it has to
/// wait for another thread.
pub(crate) const RECENT: usize = 64;

/// How often a loop is tried as long as `spins_max` allows, if it never gave up. Later trials of
/// it, but for every one whose number is a power of two, are shorter.
const LONG_TRIALS: u32 = 8;

/// The turns of threads that spin where nothing else can go on: one after another, in a circle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Spins {
    /// Turns since the last operation that changed something.
    pub(crate) fruitless: u32,
    /// Whose turn was the last one.
    last: Option<ThreadId>,
}

impl Spins {
    /// Returns whose turn it is among the threads that spin, in ascending order.
    pub(crate) fn turn(
        &self,
        mut spinning: impl Iterator<Item = ThreadId>,
        spins_max: u32,
    ) -> Option<ThreadId> {
        if self.fruitless >= spins_max {
            return None;
        }
        let first = spinning.next()?;
        match self.last {
            Some(last) if first <= last => Some(spinning.find(|id| *id > last).unwrap_or(first)),
            _ => Some(first),
        }
    }

    pub(crate) fn take(&mut self, thread: ThreadId) {
        *self = Spins { fruitless: self.fruitless + 1, last: Some(thread) };
    }

    /// Notes an operation and its result.
    pub(crate) fn note(&mut self, act: &Act, result: u64) {
        if self.fruitless > 0 && act.changes(result) {
            *self = Spins::default();
        }
    }
}

/// A loop that gives up after more turns in vain than are explored turn by turn. What it does then
/// is explored only where nothing else can go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LongLoop {
    /// The thread.
    pub thread: ThreadId,
    /// Where it gives way.
    pub site: SiteId,
    /// Where it did its last operation before.
    pub before: SiteId,
    /// The turns in vain that were counted.
    pub turns: u32,
}

/// What is known of a place at which a thread gives way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It waits. With an operation, for more than it said.
    Waits(Option<Op>),
    /// It goes on.
    Yields,
    /// Its turn needs what another thread holds: this operation was not possible. The loop was seen
    /// to go on for ever elsewhere.
    Unclear(Op),
}

/// A place of a thread: the thread, and a hash of the results that it got.
pub(crate) type PlaceKey = (ThreadId, u64);

/// What trials have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loops {
    verdicts: FxHashMap<PlaceKey, Verdict>,
    /// By loop, how many trials have shown it to go on for ever.
    endless: FxHashMap<(SiteId, Box<[Op]>), u32>,
    /// The loops that give up too late.
    pub(crate) long: Vec<LongLoop>,
    /// Whether a thread waited somewhere where it goes on, as a later trial has shown.
    pub(crate) waited_in_vain: bool,
    /// How many trials there were.
    pub(crate) trials: u64,
    pub(crate) sabotage: Sabotage,
}

impl Loops {
    pub(crate) fn verdict(&self, place: PlaceKey) -> Option<&Verdict> {
        self.verdicts.get(&self.key_of(place))
    }

    pub(crate) fn note(&mut self, place: PlaceKey, verdict: Verdict) {
        let goes_on = verdict == Verdict::Yields;
        let before = self.verdicts.insert(self.key_of(place), verdict);
        self.waited_in_vain |= goes_on && matches!(before, Some(Verdict::Unclear(_)));
    }

    fn key_of(&self, (thread, history): PlaceKey) -> PlaceKey {
        let history = if self.sabotage == Sabotage::LoopsAreOne { 0 } else { history };
        (thread, history)
    }

    /// How many turns a trial of a loop takes at most.
    pub(crate) fn turns_of_trial(
        &self,
        (site, op): (SiteId, &Op),
        (turns_max, spins_max): (u32, u32),
    ) -> usize {
        let count = self.endless.get(&key(site, op)).copied().unwrap_or(0);
        let is_long = count < LONG_TRIALS || (count + 1).is_power_of_two();
        let most = if is_long { spins_max } else { spins_max.min(2 * turns_max + 2) };
        most as usize
    }

    /// Notes what a trial has shown.
    pub(crate) fn conclude(&mut self, trial: &Trial, end: End, turns_max: u32) {
        self.trials += 1;
        let Some(first) = trial.waits.first() else { return };
        let thread = trial.thread;
        let Shown { mut turns, then } = match end {
            End::Needs(op) => {
                let is_endless = self.endless.contains_key(&key(first.site, &first.op));
                let verdict = match () {
                    () if self.sabotage == Sabotage::NeedsAreEndless => Verdict::Waits(None),
                    () if is_endless || self.sabotage == Sabotage::NeedsWait => {
                        Verdict::Unclear(op)
                    }
                    // What it does up to the lock, it may do while the lock is held.
                    () => Verdict::Yields,
                };
                return self.note((thread, first.history), verdict);
            }
            End::Left => Shown { turns: trial.turns_of_first(), then: None },
            End::Spins => trial.cycle(),
        };
        if self.sabotage == Sabotage::LoopsGiveUpEarly {
            turns = turns.saturating_sub(1);
        } else if self.sabotage == Sabotage::LoopsNeverGiveUp {
            turns = 0;
        }
        if turns as u64 > u64::from(turns_max) {
            let (site, before, turns) = (first.site, trial.before, turns as u32);
            let is_it = |long: &&mut LongLoop| (long.thread, long.site) == (thread, site);
            match self.long.iter_mut().find(is_it) {
                Some(long) => long.turns = long.turns.max(turns),
                None => self.long.push(LongLoop { thread, site, before, turns }),
            }
            return self.note((thread, first.history), Verdict::Waits(None));
        }
        for wait in &trial.waits[..turns] {
            self.note((thread, wait.history), Verdict::Yields);
        }
        if turns == 0 {
            *self.endless.entry(key(first.site, &first.op)).or_default() += 1;
            self.note((thread, first.history), Verdict::Waits(None));
        }
        if let Some(watched) = then
            && let Some(wait) = trial.waits.get(turns)
        {
            let op = Op { act: Act::Await(watched), ..wait.op.clone() };
            let is_same = is_covered(&op, &wait.op) && is_covered(&wait.op, &op);
            self.note((thread, wait.history), Verdict::Waits((!is_same).then_some(op)));
        }
    }
}

/// A loop: where it gives way and what it reads.
fn key(site: SiteId, op: &Op) -> (SiteId, Box<[Op]>) {
    let watched = watched(op).iter().map(|one| one.op.clone()).collect();
    (site, watched)
}

pub(crate) fn watched(op: &Op) -> &[Watched] {
    match &op.act {
        Act::Await(watched) => watched,
        _ => &[],
    }
}

/// Whether whoever waits as `wide` does waits for all for which `op` waits.
pub(crate) fn is_covered(op: &Op, wide: &Op) -> bool {
    watched(op).iter().all(|one| watched(wide).iter().any(|other| other.is_like(one)))
}

/// Whether two waits are those of one loop, and of turns in which it read the same of others.
fn is_like(op: &Op, other: &Op) -> bool {
    watched(op).len() == watched(other).len()
        && watched(op).iter().zip(watched(other)).all(|(one, other)| one.is_like(other))
}

/// How a trial ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The thread ended, or went on without giving way, or waits for something else.
    Left,
    /// The thread took as many turns as a trial has.
    Spins,
    /// Its turn needs what another thread holds, for this operation.
    Needs(Op),
}

/// A wait that ended though nothing changed.
#[derive(Clone, Debug)]
struct Wait {
    history: u64,
    op: Op,
    site: SiteId,
}

/// An operation that is no wait.
#[derive(Debug)]
struct Did {
    /// How many waits were before.
    waits: usize,
    site: SiteId,
    op: Op,
    result: u64,
}

/// What a thread did that went on alone.
#[derive(Debug)]
pub(crate) struct Trial {
    thread: ThreadId,
    /// Where the thread did its last operation before.
    before: SiteId,
    waits: Vec<Wait>,
    /// The other operations.
    ops: Vec<Did>,
}

/// How many waits are turns of a loop that gives up, and for what the thread waits then.
struct Shown {
    turns: usize,
    then: Option<Box<[Watched]>>,
}

impl Trial {
    pub(crate) fn new(thread: ThreadId, before: SiteId) -> Trial {
        Trial { thread, before, waits: Vec::new(), ops: Vec::new() }
    }

    /// Notes where the thread waits.
    pub(crate) fn wait(&mut self, history: u64, op: &Op, site: SiteId) {
        self.waits.push(Wait { history, op: op.clone(), site });
    }

    /// Whose trial it is.
    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    /// How many waits there were.
    pub(crate) fn turns(&self) -> usize {
        self.waits.len()
    }

    /// Notes another operation.
    pub(crate) fn step(&mut self, event: &Event) {
        let Event { site, result, .. } = *event;
        self.ops.push(Did { waits: self.waits.len(), site, op: event.op.clone(), result });
    }

    /// Whether the thread wrote to an object meanwhile.
    fn has_written(&self, object: ObjectId) -> bool {
        self.ops.iter().any(|did| {
            let act = &did.op.act;
            did.op.object == object
                && act.leaves(did.result).is_some()
                && !act.only_reads(did.result)
        })
    }

    /// What an object of the thread's own had at its wait after so many turns.
    fn left_before(&self, turns: usize, read: &Watched) -> u64 {
        let left = |did: &Did| {
            let is_before = did.waits <= turns && did.op.object == read.op.object;
            let own = (did.op == read.op).then_some(did.result);
            if is_before { did.op.act.leaves(did.result).or(own) } else { None }
        };
        let known = self.ops.iter().rev().find_map(left);
        let at_first = || self.first().iter().find(|one| one.op == read.op).map(|one| one.result);
        known.or_else(at_first).unwrap_or(read.result)
    }

    /// What the thread waited for at first.
    fn first(&self) -> &[Watched] {
        self.waits.first().map_or(&[][..], |wait| watched(&wait.op))
    }

    /// How many waits in a row are those of the loop at the beginning.
    fn turns_of_first(&self) -> usize {
        let Some(first) = self.waits.first() else { return 0 };
        self.waits.iter().take_while(|wait| is_like(&wait.op, &first.op)).count()
    }

    /// What a thread that goes on spinning does again and again: what it did in the second half of
    /// the trial. Before that, it gives up each loop that is not all of it. If it is nothing but
    /// the loop in which the thread waits, it gives up nothing.
    fn cycle(&self) -> Shown {
        let half = self.waits.len() / 2;
        let kind = |did: &Did| (did.site, did.op.object, discriminant(&did.op.act));
        let mut lasting: Vec<_> = Vec::new();
        let mut reads: Vec<Watched> = Vec::new();
        for did in self.ops.iter().filter(|did| did.waits > half) {
            if !lasting.contains(&kind(did)) {
                lasting.push(kind(did));
            }
            let is_known = reads.iter().any(|other| other.op == did.op);
            if did.op.act.only_reads(did.result) && !is_known {
                let is_own = self.has_written(did.op.object);
                reads.push(Watched { op: did.op.clone(), result: did.result, is_own });
            }
        }
        let passing = self.ops.iter().rev().find(|did| !lasting.contains(&kind(did)));
        let mut turns = passing.map_or(0, |did| did.waits);
        let first = self.first();
        for read in reads.iter().filter(|read| !first.iter().any(|one| one.is_like(read))) {
            let is_it =
                |did: &&Did| did.op == read.op && (read.is_own || did.result == read.result);
            turns = turns.max(self.ops.iter().find(is_it).map_or(0, |did| did.waits));
        }
        // A change that is taken back in the same turn is watched, and none of these reads.
        let is_done = |op: &Op| self.ops.iter().any(|did| did.waits > half && did.op == *op);
        let is_read = |one: &Watched| reads.iter().any(|read| read.is_like(one));
        let changed = first.iter().filter(|one| is_done(&one.op) && !is_read(one));
        let changed: Vec<Watched> = changed.cloned().collect();
        reads.extend(changed);
        for read in reads.iter_mut().filter(|read| read.is_own) {
            read.result = self.left_before(turns, read);
        }
        // What comes after the loop is tried on its own.
        let of_first = self.turns_of_first();
        let then = (turns <= of_first).then(|| reads.into_boxed_slice());
        Shown { turns: turns.min(of_first), then }
    }
}

/// Adds a result to the hash of those before. Not 0 for 0 after 0: the first thread has read
/// nothing else at times, and each result is another place.
#[inline]
pub(crate) fn mix(history: u64, result: u64) -> u64 {
    let sum = (history.rotate_left(23) ^ result).wrapping_add(0x2545_f491_4f6c_dd1d);
    let mixed = sum.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (mixed >> 32)
}
