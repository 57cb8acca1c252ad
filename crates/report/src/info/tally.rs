//! Counts the contents of a trace while its blocks are streamed. Memory grows with the tables, not
//! with the length.

use super::lanes::Lanes;
use anyorder_trace::{
    Block, Columns, EventKind, HandlerId, LabelScheme, OperandKind, Tables, TaskId, TaskKind,
};

/// Counts of a trace.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Events.
    pub(super) events: u64,
    /// Events by the number of their kind.
    pub(super) kinds: [u64; EventKind::ALL.len()],
    /// By handler.
    pub(super) handlers: Vec<HandlerTally>,
    /// Reads and writes by location; rmw counts as both.
    pub(super) locations: Vec<[u64; 2]>,
    /// Acquires by lock.
    pub(super) locks: Vec<u64>,
    /// Tasks that were posted and ran.
    pub(super) tasks_ran: u64,
    /// The first and last virtual time.
    pub(super) times: Option<(u64, u64)>,
    /// Entries of sparse columns.
    pub(super) sparse: [u64; 4],
    /// The activity of handlers over the trace.
    pub(super) lanes: Lanes,
    tasks: Vec<TaskTally>,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            events: 0,
            kinds: [0; EventKind::ALL.len()],
            handlers: Vec::new(),
            locations: Vec::new(),
            locks: Vec::new(),
            tasks_ran: 0,
            times: None,
            sparse: [0; 4],
            lanes: Lanes::default(),
            tasks: Vec::new(),
        }
    }
}

/// Counts of one handler.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct HandlerTally {
    /// Events it ran.
    pub(super) events: u64,
    /// Tasks it took from its mailbox.
    pub(super) tasks: u64,
    /// Posts to it.
    pub(super) posts_in: u64,
    /// Posts by it.
    pub(super) posts_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct TaskTally {
    handler: HandlerId,
    posts: u32,
}

impl Tally {
    /// Takes the next block.
    pub fn add(&mut self, tables: &Tables, block: &Block) {
        self.grow(tables);
        let columns = &block.columns;
        self.events += columns.len() as u64;
        for row in 0..columns.len() {
            self.event(columns.ops[row].kind(), columns.tasks[row], columns.operands[row]);
        }
        for (_, time) in columns.times.iter() {
            let (low, high) = self.times.unwrap_or((time, time));
            self.times = Some((low.min(time), high.max(time)));
        }
        let lens =
            [columns.values.len(), columns.times.len(), columns.stacks.len(), columns.refers.len()];
        for (sum, len) in self.sparse.iter_mut().zip(lens) {
            *sum += len as u64;
        }
    }

    /// Completes the counts that need the complete trace.
    pub fn finish(&mut self, tables: &Tables) {
        self.grow(tables);
        for (task, tally) in self.tasks.iter().enumerate() {
            let handler = tally.handler.some().unwrap_or(tables.tasks[task].handler);
            if let Some(handler) = self.handlers.get_mut(handler.index()) {
                handler.posts_in += u64::from(tally.posts);
            }
        }
    }

    /// The average memory of one event in bytes, without tables.
    pub(super) fn memory_bytes_per_event(&self, labels: LabelScheme) -> f64 {
        let labels = if labels == LabelScheme::Position { 0 } else { 4 };
        let dense = (Columns::BYTES_PER_EVENT - 4 + labels) as f64;
        let [values, times, stacks, refers] = self.sparse;
        let sparse = (12 * (values + times + refers) + 8 * stacks) as f64;
        dense + sparse / self.events.max(1) as f64
    }

    /// The counts of tasks by kind: initial, posted, bursts.
    pub(super) fn tasks_by_kind(tables: &Tables) -> [u64; 3] {
        let of = |kind| tables.tasks.iter().filter(|task| task.kind == kind).count() as u64;
        [of(TaskKind::Initial), of(TaskKind::Posted), of(TaskKind::Burst)]
    }

    fn grow(&mut self, tables: &Tables) {
        self.handlers.resize(tables.handlers.len(), HandlerTally::default());
        self.locations.resize(tables.locations.len(), [0; 2]);
        self.locks.resize(tables.locks.len(), 0);
        let known = self.tasks.len();
        let new = tables.tasks[known.min(tables.tasks.len())..].iter();
        self.tasks.extend(new.map(|task| TaskTally { handler: task.handler, posts: 0 }));
    }

    fn event(&mut self, kind: EventKind, task: TaskId, operand: u32) {
        self.kinds[kind as usize] += 1;
        let operand_index = operand as usize;
        if kind == EventKind::Get {
            self.tasks_ran += 1;
            if let Some(tally) = self.tasks.get_mut(task.index()) {
                tally.handler = HandlerId(operand);
            }
        }
        let handler = self.tasks.get(task.index()).map_or(HandlerId::NONE, |tally| tally.handler);
        self.lanes.add(handler.index(), kind == EventKind::Get);
        if let Some(tally) = self.handlers.get_mut(handler.index()) {
            tally.events += 1;
            tally.tasks += u64::from(kind == EventKind::Get);
            tally.posts_out += u64::from(kind == EventKind::Post);
        }
        match kind.operand() {
            OperandKind::Location => {
                if let Some([reads, writes]) = self.locations.get_mut(operand_index) {
                    *reads += u64::from(kind.reads());
                    *writes += u64::from(kind.writes());
                }
            }
            OperandKind::Lock if kind == EventKind::Acquire => {
                if let Some(acquires) = self.locks.get_mut(operand_index) {
                    *acquires += 1;
                }
            }
            OperandKind::Task if kind == EventKind::Post => {
                if let Some(tally) = self.tasks.get_mut(operand_index) {
                    tally.posts = tally.posts.saturating_add(1);
                }
            }
            _ => {}
        }
    }
}

/// Returns the positions of the `top` largest counts, largest first. Ties stay in order, and zeros
/// are omitted.
pub(super) fn greatest(counts: impl Iterator<Item = u64>, top: usize) -> Vec<(usize, u64)> {
    let mut all: Vec<(usize, u64)> = counts.enumerate().filter(|(_, n)| *n > 0).collect();
    all.sort_by_key(|(position, n)| (std::cmp::Reverse(*n), *position));
    all.truncate(top);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{Mailbox, TraceBlocks, TraceBuilder, TraceSource};

    #[test]
    fn counts_are_those_of_the_trace() {
        let mut b = TraceBuilder::new();
        let ui = b.handler("ui", Mailbox::Fifo).unwrap();
        let net = b.handler("net", Mailbox::None).unwrap();
        let click = b.task("click", ui).unwrap();
        b.post(b.initial(net), click).unwrap();
        b.get(click).unwrap();
        b.read(click, "x").unwrap();
        b.write(click, "x").unwrap();
        b.write(click, "y").unwrap();
        b.columns.times.push(4, 70);
        b.end(click).unwrap();
        let trace = b.finish();
        let mut tally = Tally::default();
        let (mut source, mut block) = (TraceBlocks::new(&trace), Block::default());
        while source.next_block(&mut block).unwrap() {
            tally.add(trace.tables(), &block);
        }
        tally.finish(trace.tables());
        assert_eq!(tally.events, 6);
        assert_eq!(tally.kinds[EventKind::Write as usize], 2);
        assert_eq!(tally.locations, [[1, 1], [0, 1]]);
        assert_eq!(tally.times, Some((70, 70)));
        let [ui, net] = [tally.handlers[0], tally.handlers[1]];
        assert_eq!((ui.events, ui.tasks, ui.posts_in, ui.posts_out), (5, 1, 1, 0));
        assert_eq!((net.events, net.tasks, net.posts_in, net.posts_out), (1, 0, 0, 1));
        assert_eq!(tally.memory_bytes_per_event(LabelScheme::Position), 15.0);
    }

    #[test]
    fn the_greatest_come_first() {
        assert_eq!(greatest([1, 5, 0, 5].into_iter(), 3), [(1, 5), (3, 5), (0, 1)]);
        assert_eq!(greatest([1, 5].into_iter(), 1), [(1, 5)]);
    }
}
