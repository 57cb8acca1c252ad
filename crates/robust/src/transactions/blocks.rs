//! Which events of a trace are in which block.

use anyorder_trace::{EventId, EventKind, HandlerId, Trace};
use std::collections::BTreeMap;

/// What `begin` and `end` mark in a trace of threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// The life of each thread, if anything.
    Threads,
    /// Blocks.
    Blocks,
    /// Blocks, it seems, but some end without a begin.
    Unbalanced,
}

/// The most begins of a thread that only marks its life: at the top of the trace, and when it runs.
const OF_THREADS_MAX: u32 = 2;

/// Guesses what `begin` and `end` mark: blocks, if some thread begins more than twice. Linear in
/// the trace.
#[must_use]
pub fn marks(trace: &Trace) -> Marks {
    // By thread: how often it begins, and how many blocks are open.
    let mut threads: BTreeMap<HandlerId, (u32, u32)> = BTreeMap::new();
    let mut unbalanced = false;
    for event in trace.events() {
        if !matches!(event.kind(), EventKind::Begin | EventKind::Exit) {
            continue;
        }
        let (begins, open) = threads.entry(trace.handler_of(event.id)).or_default();
        if event.kind() == EventKind::Begin {
            *begins += 1;
            *open += 1;
        } else {
            unbalanced |= *open == 0;
            *open = open.saturating_sub(1);
        }
    }
    match threads.values().any(|(begins, _)| *begins > OF_THREADS_MAX) {
        true if unbalanced => Marks::Unbalanced,
        true => Marks::Blocks,
        false => Marks::Threads,
    }
}

/// An outermost block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) begin: EventId,
    pub(super) end: Option<EventId>,
    pub(super) thread: HandlerId,
}

/// The outermost blocks of a trace, in the order of their begins.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
}

impl Blocks {
    /// Finds the blocks. Those that are all that their thread does count only if `whole_threads`.
    pub(super) fn new(trace: &Trace, whole_threads: bool) -> Blocks {
        let handlers = trace.tables().handlers.len();
        let mut last: Vec<Option<EventId>> = vec![None; handlers];
        let mut first: Vec<Option<EventId>> = vec![None; handlers];
        let mut depth = vec![0_u32; handlers];
        let mut open: Vec<Option<usize>> = vec![None; handlers];
        let mut all: Vec<Block> = Vec::new();
        for event in trace.events() {
            let thread = trace.handler_of(event.id);
            let at = thread.index();
            first[at].get_or_insert(event.id);
            last[at] = Some(event.id);
            match event.kind() {
                EventKind::Begin => {
                    if depth[at] == 0 {
                        open[at] = Some(all.len());
                        all.push(Block { begin: event.id, end: None, thread });
                    }
                    depth[at] += 1;
                }
                EventKind::Exit if depth[at] > 0 => {
                    depth[at] -= 1;
                    if let Some(block) = open[at].filter(|_| depth[at] == 0) {
                        all[block].end = Some(event.id);
                    }
                }
                _ => {}
            }
        }
        all.retain(|block| {
            let at = block.thread.index();
            let is_all =
                first[at] == Some(block.begin) && block.end.is_none_or(|_| block.end == last[at]);
            whole_threads || !is_all
        });
        Blocks { all }
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns a block.
    pub(super) fn get(&self, block: u32) -> Block {
        self.all[block as usize]
    }

    /// Returns the block that begins with an event, if one does: call it with ascending events, and
    /// a place that begins at 0.
    pub(super) fn beginning(&self, event: EventId, place: &mut usize) -> Option<u32> {
        let is_next = self.all.get(*place).is_some_and(|block| block.begin == event);
        is_next.then(|| {
            *place += 1;
            *place as u32 - 1
        })
    }
}
