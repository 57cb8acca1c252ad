//! What is kept of footprints and places, to choose the threads to try in the next state.

use super::behaviour::NodeId;
use super::footprint::FootprintId;
use crate::ids::ObjectId;
use rustc_hash::FxHashSet;

/// The most answers that are kept about threads that do not wait.
const ANSWERS_MAX: usize = 1 << 16;

/// What was found out about footprints and places, and holds until classes are made anew.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// By what is touched first and whether that is possible, and by what is touched then: whether
    /// the two are in conflict, where that depends on no state.
    clashes: Vec<Vec<Option<bool>>>,
    /// From these places threads come to what is sought without waiting for the end of one of some
    /// threads, or it takes long to find out. Trees only grow, so that stays so.
    pub(super) not_waiting: FxHashSet<Question>,
    /// From these they do not, as far as is known in one [`Behaviours::epoch`], and these are the
    /// places that were looked at.
    pub(super) waiting: FxHashSet<Question>,
    pub(super) looked_at: FxHashSet<NodeId>,
    pub(super) epoch: u64,
}

/// From where, to what, and for the ends of which threads.
pub(super) type Question = (NodeId, Sought, Vec<ObjectId>);

impl Memo {
    pub(crate) fn clear(&mut self) {
        self.clashes.clear();
        self.not_waiting.clear();
        self.renew(self.epoch);
    }

    /// Forgets what was found out in another epoch.
    pub(super) fn renew(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.waiting.clear();
        self.looked_at.clear();
    }

    /// Whether what was found out in this epoch may be otherwise once this place has a child more.
    pub(crate) fn rests_on(&self, node: NodeId) -> bool {
        self.looked_at.contains(&node)
    }

    pub(super) fn note(&mut self, question: Question, waits: bool) {
        let answers = if waits { &mut self.waiting } else { &mut self.not_waiting };
        if answers.len() >= ANSWERS_MAX {
            answers.clear();
        }
        answers.insert(question);
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
        if clashes.len() <= future.index() {
            clashes.resize(future.index() + 1, None);
        }
        *clashes[future.index()].get_or_insert_with(find)
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
