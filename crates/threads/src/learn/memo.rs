//! What is kept of footprints and places, to choose the threads to try in the next state.

use super::behaviour::NodeId;
use super::footprint::FootprintId;
use crate::ids::{ObjectId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most answers that are kept about threads that wait or do not.
const ANSWERS_MAX: usize = 1 << 16;

/// What was found out about footprints and places, and holds until classes are made anew.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// By what is touched first and whether that is possible, and by what is touched then: whether
    /// it is known if the two are in conflict, where that depends on no state, and if they are.
    clashes: Vec<Vec<(u64, u64)>>,
    /// From these places threads come to what is sought without waiting for the end of one of some
    /// threads, or it takes long to find out ([`NEVER`]). Trees only grow, so that stays so. From
    /// the others they do not, as far as is known in that [`Behaviours::epoch`].
    waiting: FxHashMap<Question, u64>,
    /// The places that were looked at in this epoch.
    pub(super) looked_at: FxHashSet<NodeId>,
    epoch: u64,
    /// Numbers of sets of several ends.
    sets: FxHashMap<Vec<ObjectId>, u32>,
    /// By place at which a thread can go on: another thread, and a place of it that is in the way
    /// if that one can go on, too, whatever the objects are. Trees only grow, so that stays so.
    in_the_way: Vec<Option<(ThreadId, NodeId)>>,
}

/// In no epoch.
const NEVER: u64 = u64::MAX;

/// From where, for the ends of which threads, and to what, in few words: they are hashed often.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Question([u64; 3]);

impl Memo {
    pub(crate) fn clear(&mut self) {
        self.clashes.clear();
        self.looked_at.clear();
        self.forget_answers();
    }

    /// Forgets who waits, and who is in the way.
    pub(super) fn forget_answers(&mut self) {
        self.waiting.clear();
        self.sets.clear();
        self.in_the_way.clear();
    }

    /// Forgets what was found out in another epoch.
    fn renew(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.looked_at.clear();
        }
    }

    /// Makes a question, about the ends of a set of threads.
    pub(super) fn question(&mut self, node: NodeId, sought: Sought, ends: &[ObjectId]) -> Question {
        let ends = match ends {
            [end] => u64::from(end.0) << 1,
            several => {
                let next = self.sets.len() as u32;
                let known = self.sets.get(several).copied();
                let set =
                    known.unwrap_or_else(|| *self.sets.entry(several.to_vec()).or_insert(next));
                u64::from(set) << 1 | 1
            }
        };
        let Sought { object, owner, against, is_able, is_removal } = sought;
        let kinds = u64::from(against) | u64::from(is_able) << 16 | u64::from(is_removal) << 17;
        let objects = u64::from(object.0) << 32 | u64::from(owner.0);
        Question([u64::from(node.0), objects, ends << 18 | kinds])
    }

    /// Whether threads wait, if that was found out and holds in this epoch.
    pub(super) fn answer(&mut self, question: &Question, epoch: u64) -> Option<bool> {
        self.renew(epoch);
        match *self.waiting.get(question)? {
            NEVER => Some(false),
            then => (then == epoch).then_some(true),
        }
    }

    /// Whether what was found out in this epoch may be otherwise once this place has a child more.
    pub(crate) fn rests_on(&self, node: NodeId) -> bool {
        self.looked_at.contains(&node)
    }

    pub(super) fn note(&mut self, question: Question, waits: bool) {
        if self.waiting.len() >= ANSWERS_MAX || self.sets.len() >= ANSWERS_MAX {
            self.forget_answers();
            return;
        }
        self.waiting.insert(question, if waits { self.epoch } else { NEVER });
    }

    /// Whether the two are in conflict, where that depends on no state.
    #[inline]
    pub(super) fn clash(
        &mut self,
        own: FootprintId,
        is_able: bool,
        future: FootprintId,
        find: impl FnOnce() -> bool,
    ) -> bool {
        let row = 2 * own.index() + usize::from(is_able);
        if self.clashes.len() <= row {
            self.clashes.resize(row + 1, Vec::new());
        }
        let clashes = &mut self.clashes[row];
        let (word, bit) = (future.index() / 64, 1 << (future.index() % 64));
        if clashes.len() <= word {
            clashes.resize(word + 1, (0, 0));
        }
        let (known, are) = &mut clashes[word];
        if *known & bit == 0 {
            *known |= bit;
            *are |= if find() { bit } else { 0 };
        }
        *are & bit != 0
    }

    /// Notes who is in the way of a thread at a place, whatever the objects are.
    pub(super) fn note_in_the_way(&mut self, node: NodeId, other: (ThreadId, NodeId)) {
        let at = node.0 as usize;
        if self.in_the_way.len() <= at {
            self.in_the_way.resize(at + 1, None);
        }
        self.in_the_way[at] = Some(other);
    }

    /// Who is in the way of a thread at a place, if somebody was found.
    #[inline]
    pub(super) fn in_the_way(&self, node: NodeId) -> Option<(ThreadId, NodeId)> {
        self.in_the_way.get(node.0 as usize).copied().flatten()
    }
}

/// What is looked for on the ways of a thread: a conflict, or a removal of an owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sought {
    pub(super) object: ObjectId,
    pub(super) owner: ObjectId,
    pub(super) against: u16,
    pub(super) is_able: bool,
    pub(super) is_removal: bool,
}

impl Sought {
    pub(super) const REMOVAL: Sought = Sought {
        object: ObjectId::NONE,
        owner: ObjectId::NONE,
        against: 0,
        is_able: false,
        is_removal: true,
    };
}
