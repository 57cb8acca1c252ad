//! The trait of analyses, and the event loop that feeds several of them from one stream.

use crate::error::PredictError;
use crate::report::Report;
use anyorder_common::cancel::Cancel;
use anyorder_order::ChainId;
use anyorder_trace::{Block, Columns, EventId, EventKind, Op, SiteId, Tables, Trace, TraceSource};

/// One event of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamEvent {
    /// Number of the event, from 0.
    pub event: u64,
    /// Kind and mode.
    pub op: Op,
    /// Number of the task.
    pub task: u32,
    /// The operand; its meaning depends on the kind.
    pub operand: u32,
    /// Source position.
    pub site: SiteId,
    /// The earlier event that it refers to.
    pub refers: Option<u64>,
}

impl StreamEvent {
    /// Returns the event in a row of a block.
    ///
    /// # Panics
    ///
    /// Panics when the block does not have the row.
    #[inline(always)]
    #[must_use]
    pub fn of(block: &Block, row: usize) -> StreamEvent {
        StreamEvent::in_row(&block.columns, row, block.first)
    }

    /// Returns an event of a trace in memory.
    ///
    /// # Panics
    ///
    /// Panics when the trace does not have the event.
    #[must_use]
    pub fn of_event(trace: &Trace, event: EventId) -> StreamEvent {
        StreamEvent::in_row(trace.columns(), event.index(), 0)
    }

    #[inline(always)]
    fn in_row(columns: &Columns, row: usize, first: u64) -> StreamEvent {
        let op = columns.ops[row];
        let mut refers = None;
        if op.kind() == EventKind::Wake {
            refers = columns.refers.get(row as u32).filter(|event| *event != Columns::INITIAL);
        }
        StreamEvent {
            event: first + row as u64,
            op,
            task: columns.tasks[row].0,
            operand: columns.operands[row],
            site: columns.sites[row],
            refers,
        }
    }
}

/// A point in a thread's time: an event is ordered before any event that knows its stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The thread's place in clocks.
    pub slot: ChainId,
    /// Its count, from 1.
    pub count: u32,
}

/// An analysis: takes the events of a trace in order, one at a time.
pub trait Analysis {
    /// Makes room for new entries of the tables.
    ///
    /// # Errors
    ///
    /// Fails when a bound of the analysis is reached.
    fn grow(&mut self, tables: &Tables) -> Result<(), PredictError>;

    /// Takes the next event.
    ///
    /// # Errors
    ///
    /// Fails when the event names something that `tables` does not have, or a count overflows.
    fn step(&mut self, tables: &Tables, step: StreamEvent) -> Result<(), PredictError>;

    /// Returns the stamp of the last event.
    fn stamp(&self) -> Option<Stamp>;

    /// Returns whether an event is ordered before, or is, the last event.
    fn knows(&self, stamp: Stamp) -> bool;

    /// Ends the trace and returns the findings.
    fn finish(&mut self) -> Report;

    /// Returns the memory held, in bytes. Takes linear time; for statistics.
    fn memory_bytes(&self) -> usize;

    /// Processes all events of a block; `tables` contains every name in them.
    ///
    /// # Errors
    ///
    /// As [`grow`](Analysis::grow) and [`step`](Analysis::step).
    fn block(&mut self, tables: &Tables, block: &Block) -> Result<(), PredictError> {
        self.block_until(tables, block, &Cancel::new())
    }

    /// Processes the events of a block until the job is stopped.
    ///
    /// # Errors
    ///
    /// As [`block`](Analysis::block).
    fn block_until(
        &mut self,
        tables: &Tables,
        block: &Block,
        cancel: &Cancel,
    ) -> Result<(), PredictError> {
        self.grow(tables)?;
        for row in 0..block.columns.len() {
            if cancel.reason().is_some() {
                return Ok(());
            }
            self.step(tables, StreamEvent::of(block, row))?;
        }
        Ok(())
    }
}

/// Runs analyses over a stream, block by block; returns the number of events. `progress` gets the
/// number so far.
///
/// # Errors
///
/// Fails if the source or an analysis fails.
pub fn run(
    source: &mut dyn TraceSource,
    analyses: &mut [&mut dyn Analysis],
    progress: impl FnMut(u64),
) -> Result<u64, PredictError> {
    run_until(source, analyses, &Cancel::new(), progress)
}

/// Works like [`run`], until the job is stopped. Then each analysis has processed the events up to
/// some event, and its report is about these.
///
/// # Errors
///
/// As [`run`].
pub fn run_until(
    source: &mut dyn TraceSource,
    analyses: &mut [&mut dyn Analysis],
    cancel: &Cancel,
    mut progress: impl FnMut(u64),
) -> Result<u64, PredictError> {
    let mut block = Block::default();
    let mut events = 0;
    while cancel.check().is_ok() && source.next_block(&mut block)? {
        for analysis in analyses.iter_mut() {
            analysis.block_until(source.tables(), &block, cancel)?;
        }
        events = block.first + block.columns.len() as u64;
        progress(events);
    }
    Ok(events)
}
