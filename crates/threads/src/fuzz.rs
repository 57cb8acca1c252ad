//! Reads-from fuzzing: random executions guided by which operation reads what which one wrote.
//!
//! D. Wolff, S. Zhiyang, G. J. Duck, U. Mathur, A. Roychoudhury, "Greybox fuzzing for concurrency
//! testing" (ASPLOS 2024). An *abstract schedule* is a set of constraints: this read is to see that
//! write, or is not to. Executions obey it as far as they can, and are random otherwise. One that
//! shows a pair of a write and a read that no execution had shown is kept with its abstract
//! schedule, which is then mutated. A power schedule gives more executions to those that lead where
//! few executions were.
//!
//! Here every object is read and written, not only variables: who takes a lock reads from who gave
//! it back. Operations are one if thread, position and object are, since these are the same in all
//! executions.

use crate::execution::{Event, Execution, Step};
use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};
use anyorder_common::random::{Random, SplitMix64};
use anyorder_common::state_hash::StateHash;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most executions in a row from one abstract schedule.
const ENERGY_MAX: u32 = 64;

/// The most constraints of an abstract schedule.
const WANTED_MAX: usize = 8;

/// An operation of some thread, whichever time it comes there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct At {
    thread: ThreadId,
    site: SiteId,
    object: ObjectId,
}

/// A read and the write that it sees; `None` for the object as it is at first.
type Pair = (Option<At>, At);

/// One constraint of an abstract schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Want {
    write: Option<At>,
    read: At,
    /// Whether the read is to see the write, or is not to.
    is_to_see: bool,
}

/// An abstract schedule that is worth to be mutated.
#[derive(Debug)]
struct Entry {
    wanted: Vec<Want>,
    /// What its execution was.
    shown: u64,
    /// How often it was chosen.
    chosen: u32,
}

/// What the executions so far have shown.
#[derive(Debug, Default)]
pub(crate) struct Fuzzer {
    pairs: FxHashSet<Pair>,
    reads: Vec<At>,
    /// By object.
    writes: FxHashMap<ObjectId, Vec<Option<At>>>,
    corpus: Vec<Entry>,
    /// The entry that is mutated now, and how often it still is.
    now: (usize, u32),
    /// How many executions had the same pairs.
    counts: FxHashMap<u64, u64>,
    executions: u64,
}

impl Fuzzer {
    /// Makes the constraints of the next execution: none for the first one.
    pub(crate) fn next(&mut self, rng: &mut SplitMix64) -> Guide {
        let mut wanted = Vec::new();
        if let Some(entry) = self.entry() {
            wanted.clone_from(&self.corpus[entry].wanted);
            for _ in 0..1 + rng.below(2) {
                self.mutate(&mut wanted, rng);
            }
        }
        Guide { wanted, ..Guide::default() }
    }

    /// The entry whose turn it is.
    fn entry(&mut self) -> Option<usize> {
        if self.now.1 == 0 {
            let count = self.corpus.len();
            // Entries that lead where many executions were wait, if there are others.
            let usual = self.executions / (self.counts.len() as u64).max(1);
            let next = (1..=count).map(|more| (self.now.0 + more) % count).find(|entry| {
                let shown = self.corpus[*entry].shown;
                self.counts.get(&shown).is_none_or(|count| *count <= usual)
            });
            let next = next.or((count > 0).then(|| (self.now.0 + 1) % count))?;
            let entry = &mut self.corpus[next];
            entry.chosen += 1;
            self.now = (next, (1 << entry.chosen.min(10)).min(ENERGY_MAX));
        }
        self.now.1 -= 1;
        Some(self.now.0)
    }

    fn mutate(&self, wanted: &mut Vec<Want>, rng: &mut SplitMix64) {
        let kind = if wanted.is_empty() { 0 } else { rng.below(4) };
        let at = rng.index(wanted.len());
        match kind {
            0 if wanted.len() < WANTED_MAX => wanted.extend(self.any(rng)),
            1 => wanted[at].is_to_see ^= true,
            2 => {
                let read = wanted[at].read;
                wanted[at].write = self.any_write(read.object, rng);
            }
            _ => {
                wanted.swap_remove(at);
            }
        }
    }

    fn any(&self, rng: &mut SplitMix64) -> Option<Want> {
        let read = *self.reads.get(rng.index(self.reads.len()))?;
        let write = self.any_write(read.object, rng);
        Some(Want { write, read, is_to_see: rng.percent(75) })
    }

    /// A write of an object that was seen, or none.
    fn any_write(&self, object: ObjectId, rng: &mut SplitMix64) -> Option<At> {
        let writes = self.writes.get(&object).map_or(&[][..], Vec::as_slice);
        writes.get(rng.index(writes.len())).copied().flatten()
    }

    /// Notes what an execution has shown.
    pub(crate) fn note(&mut self, guide: Guide, events: &[Event]) {
        let mut last: FxHashMap<ObjectId, At> = FxHashMap::default();
        let (mut shown, mut is_new) = (Vec::new(), false);
        for event in events {
            let (thread, site) = (event.step.thread, event.site);
            shared(&event.op, |object| {
                let at = At { thread, site, object };
                let writes = self.writes.entry(object).or_insert_with(|| vec![None]);
                let pair = (last.get(&object).copied(), at);
                shown.push(pair);
                if changes(&event.op.act, event.result) {
                    if !writes.contains(&Some(at)) {
                        writes.push(Some(at));
                    }
                    last.insert(object, at);
                }
                is_new |= self.pairs.insert(pair);
                if !self.reads.contains(&at) {
                    self.reads.push(at);
                }
            });
        }
        shown.sort_unstable();
        let shown = StateHash::of(&shown).0 as u64;
        *self.counts.entry(shown).or_default() += 1;
        self.executions += 1;
        if is_new || self.corpus.is_empty() {
            self.corpus.push(Entry { wanted: guide.wanted, shown, chosen: 0 });
        }
    }
}

/// The constraints of one execution.
#[derive(Debug, Default)]
pub(crate) struct Guide {
    wanted: Vec<Want>,
    /// What was written last, by object.
    last: FxHashMap<ObjectId, At>,
    /// The events that were noted.
    noted: usize,
}

impl Guide {
    /// Lists the steps that are not against a constraint; all, if each one is.
    pub(crate) fn allowed<P: ThreadProgram + ?Sized>(
        &mut self,
        ready: &[Step],
        execution: &Execution<'_, P>,
    ) -> Vec<Step> {
        for event in &execution.events()[self.noted..] {
            let (thread, site) = (event.step.thread, event.site);
            shared(&event.op, |object| {
                let at = At { thread, site, object };
                self.wanted.retain(|want| want.read != at);
                if changes(&event.op.act, event.result) {
                    self.last.insert(object, at);
                }
            });
        }
        self.noted = execution.events().len();
        let is_allowed = |step: &Step| {
            execution.next(step.thread).is_none_or(|next| self.allows(*step, next, execution))
        };
        let allowed: Vec<Step> = ready.iter().copied().filter(is_allowed).collect();
        if allowed.is_empty() { ready.to_vec() } else { allowed }
    }

    fn allows<P: ThreadProgram + ?Sized>(
        &self,
        step: Step,
        next: &Next,
        execution: &Execution<'_, P>,
    ) -> bool {
        let mut is_allowed = true;
        shared(&next.op, |object| {
            let at = At { thread: step.thread, site: next.site, object };
            let last = self.last.get(&object).copied();
            for want in self.wanted.iter().filter(|want| want.read.object == object) {
                let sees = want.write == last;
                is_allowed &= match want.read == at {
                    true => sees == want.is_to_see,
                    // What the read is to see must not be written over.
                    false => !(sees && want.is_to_see && would_change(step, next, execution)),
                };
            }
        });
        is_allowed
    }
}

fn would_change<P: ThreadProgram + ?Sized>(
    step: Step,
    next: &Next,
    execution: &Execution<'_, P>,
) -> bool {
    let would = execution.world().would(step.thread, &next.op);
    would.is_some_and(|result| changes(&next.op.act, result))
}

/// Calls `each` with the objects of an operation about whose order there is something to choose.
fn shared(op: &Op, each: impl FnMut(ObjectId)) {
    match op.act {
        // These come after a lock was taken, or when the thread that they are about allows.
        Act::Use | Act::Alter(_) | Act::Spawn(_) | Act::Exit(_) | Act::Join => {}
        _ => op.objects(each),
    }
}

fn changes(act: &Act, result: u64) -> bool {
    match act {
        Act::Access { write } => *write,
        act => act.changes(result),
    }
}
