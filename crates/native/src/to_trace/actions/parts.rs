//! The parts of a long recording: each becomes a trace of its own.
//!
//! A part ends where nobody holds a lock and nobody asks for one. What came before then has
//! happened before every event of the next part, and no lock of it is in the way: each order of the
//! next part that could happen by itself could happen after what was recorded. What a part lacks is
//! the orders across its borders.
//!
//! The first thread that goes on creates all others that do, so that the trace has one thread that
//! nobody creates. A wait that began before ends without an event of its own.

use super::{Maker, Names, Survey, Traced};
use crate::recording::Recording;
use crate::to_trace::stacks::Where;
use anyorder_trace::{
    Columns, EventKind, Handler, HandlerId, Interner, LabelScheme, Meta, TableFull, TaskDef, Trace,
};
use std::mem;

/// Makes the tables of threads.
pub(super) fn with_threads(
    recording: &Recording,
    survey: &Survey,
    names: &mut dyn Names,
) -> Result<Interner, TableFull> {
    let mut interner = Interner::default();
    interner.tables.meta.labels = LabelScheme::Position;
    Meta::RECORDING.clone_into(&mut interner.tables.meta.origin);
    for (thread, facts) in recording.threads.iter().zip(&survey.threads) {
        let routine = facts.routine.and_then(|at| names.frames(at).pop());
        let routine = routine.filter(|frame| frame.line != 0).map(|frame| frame.function);
        let routine = routine.filter(|name| !name.is_empty() && thread.number != 0);
        let given = String::from_utf8_lossy(&facts.name);
        let given = given.trim_matches('\0');
        let routine = if given.is_empty() { routine } else { Some(given.to_owned()) };
        let number = thread.number;
        let name = interner.name(&match routine {
            _ if number == 0 => "main".to_owned(),
            Some(routine) => format!("T{number} {routine}"),
            None => format!("T{number}"),
        })?;
        let handler = interner.push_handler(Handler { name, ..Handler::default() })?;
        interner.push_task(TaskDef { name, handler, ..TaskDef::default() })?;
    }
    Ok(interner)
}

impl Maker<'_> {
    /// Returns the number of events that the trace would have if it ended here.
    pub(in crate::to_trace) fn len(&self) -> usize {
        self.columns.len() + self.awaited
    }

    /// Returns whether a part may end here.
    pub(in crate::to_trace) fn may_end(&self) -> bool {
        self.asking == 0 && self.locks.is_empty()
    }

    /// Ends the trace. The next event is the first of another one, after [`Maker::go_on`].
    pub(in crate::to_trace) fn end(&mut self) -> Result<Traced, TableFull> {
        let open = self.invocations.all_open();
        self.end_calls(open, None)?;
        self.begin_all();
        self.stats.ambiguous = self.stacks.ambiguous;
        self.stats.nowhere = self.stacks.unknown;
        let tables = mem::take(&mut self.interner).tables;
        let trace = Trace::new(tables, mem::take(&mut self.columns));
        let (stats, failure, origins) =
            (self.stats.clone(), self.failure, mem::take(&mut self.origins));
        let misuses = self.watch.take();
        Ok(Traced { trace, stats, failure, unseen: Vec::new(), origins, misuses })
    }

    /// Begins the next trace.
    pub(in crate::to_trace) fn go_on(&mut self) -> Result<(), TableFull> {
        self.interner = with_threads(self.recording, self.survey, self.names)?;
        self.columns = Columns::default();
        self.stacks.forget_ids();
        self.invocations.forget_ids();
        self.memory.forget_locations();
        self.lock_ids.clear();
        self.condition_ids.clear();
        self.objects.clear();
        self.permits.clear();
        (self.awaited, self.asking) = (0, 0);
        for thread in &mut self.threads {
            (thread.is_forked, thread.is_in, thread.asks) = (false, false, false);
            thread.waited = false;
        }
        for lane in self.conditions.values().flat_map(|condition| &condition.waits) {
            self.threads[*lane].waited = true;
        }
        let mut alive = (0..self.threads.len()).filter(|lane| self.is_alive(*lane));
        let Some(first) = alive.next() else { return Ok(()) };
        for lane in alive.collect::<Vec<_>>() {
            let handler = HandlerId::from_index(lane);
            self.push_at(first, EventKind::Fork.into(), handler.0, Where::NOWHERE);
            self.is_forked(lane);
        }
        Ok(())
    }

    /// Returns whether a thread has been created, and goes on.
    fn is_alive(&self, lane: usize) -> bool {
        let (thread, facts) = (self.threads[lane], self.survey.threads[lane]);
        let has_begun = thread.taken > 0 || thread.is_created;
        has_begun && thread.taken < facts.events && !thread.is_over
    }

    /// The trace has the creation of a thread.
    pub(super) fn is_forked(&mut self, child: usize) {
        let thread = &mut self.threads[child];
        self.awaited += usize::from(!thread.is_forked && !thread.is_in);
        (thread.is_created, thread.is_forked) = (true, true);
    }

    /// Lets each created thread begin. Where the trace ends early, the first event of a thread may
    /// come later, which does not mean that it never ran.
    fn begin_all(&mut self) {
        for lane in 0..self.threads.len() {
            let thread = self.threads[lane];
            if thread.is_forked && !thread.is_in {
                self.push_at(lane, EventKind::Begin.into(), 0, Where::NOWHERE);
            }
        }
    }
}
