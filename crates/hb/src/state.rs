//! What a forward pass remembers between events: clocks of strands, and of what later events wait for.

use crate::fifo::BegunTasks;
use crate::strands::StrandId;
use anyorder_order::{ChainId, Clock};
use anyorder_trace::{ConditionId, EventId, HandlerId, LocationId, LockId, TaskId};
use rustc_hash::FxHashMap;

/// The clock just behind an event: what is before it, and the event itself.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    pub(crate) event: EventId,
    pub(crate) strand: StrandId,
    pub(crate) clock: Clock,
}

/// Clocks joined by key, where an event takes those of all other keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByKey {
    clocks: Vec<(u32, Clock)>,
}

impl ByKey {
    /// Joins a clock into the one of its key.
    pub(crate) fn add(&mut self, key: u32, clock: &Clock, chain: ChainId, value: u32) {
        let at = self.clocks.iter().position(|(k, _)| *k == key).unwrap_or_else(|| {
            self.clocks.push((key, Clock::new()));
            self.clocks.len() - 1
        });
        let joined = &mut self.clocks[at].1;
        joined.join(clock);
        joined.raise(chain, value);
    }

    /// Joins the clocks of all keys but one into `clock`; returns how many there were.
    pub(crate) fn join_others(&self, key: u32, clock: &mut Clock) -> u64 {
        let mut joined = 0;
        for (k, other) in &self.clocks {
            if *k != key {
                clock.join(other);
                joined += 1;
            }
        }
        joined
    }
}

/// The releases of a lock, by handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Releases {
    pub(crate) exclusive: ByKey,
    pub(crate) shared: ByKey,
}

/// The state of a forward pass.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The clock of each strand at its current event; at its end after that.
    pub(crate) clocks: Vec<Clock>,
    /// How many synchronising events each strand has passed.
    pub(crate) segments: Vec<u32>,
    pub(crate) posts: FxHashMap<TaskId, Stamp>,
    pub(crate) forks: FxHashMap<HandlerId, Vec<Stamp>>,
    pub(crate) loops: Vec<Option<Stamp>>,
    pub(crate) attaches: Vec<Option<Stamp>>,
    pub(crate) locks: FxHashMap<LockId, Releases>,
    pub(crate) barriers: FxHashMap<ConditionId, ByKey>,
    /// The last write of a location with atomic accesses, if it releases.
    pub(crate) atomics: FxHashMap<LocationId, Stamp>,
    /// Stamps of the sources of given edges.
    pub(crate) saved: FxHashMap<EventId, Stamp>,
    pub(crate) begun: Vec<BegunTasks>,
    /// Tasks whose order rests on more than posts.
    pub(crate) tainted: Vec<bool>,
    /// The number of edges met, program order left out.
    pub(crate) edges: u64,
}

impl State {
    pub(crate) fn new(strands: usize, handlers: usize) -> State {
        State {
            clocks: vec![Clock::new(); strands],
            segments: vec![0; strands],
            loops: vec![None; handlers],
            attaches: vec![None; handlers],
            begun: vec![BegunTasks::default(); handlers],
            tainted: vec![false; strands],
            ..State::default()
        }
    }
}
