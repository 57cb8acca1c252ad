//! Strands: the pieces of a trace that program order orders totally.
//!
//! A posted task is one strand, and so is a burst. Code that a looping handler runs outside its
//! tasks forms several strands: one up to the loop point, and after it one for each piece between
//! tasks. In the `threads` rule set a handler is one strand.

use crate::relation::rules::RuleSet;
use anyorder_trace::{EventId, EventKind, HandlerId, TaskId, TaskKind, Trace};

/// A strand: its position in [`Strands`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StrandId(pub(crate) u32);

impl StrandId {
    pub(crate) const NONE: StrandId = StrandId(u32::MAX);

    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One strand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strand {
    /// Its task; in `threads` the task of its first event.
    pub(crate) task: TaskId,
    /// The handler that runs it.
    pub(crate) handler: HandlerId,
    /// Its first event.
    pub(crate) first: EventId,
    /// Its last event.
    pub(crate) last: EventId,
    /// Whether it is a posted task whose position among its handler's tasks is not fixed.
    pub(crate) posted: bool,
}

/// All strands of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Strands {
    list: Vec<Strand>,
    /// The strands of each task, as a range of `list`, ascending.
    of_task: Vec<(u32, u32)>,
    /// The loop point of each handler; `NONE` if it has none.
    pub(crate) loop_points: Vec<EventId>,
}

impl Strands {
    /// Cuts a trace into strands. Linear in the number of events.
    pub(crate) fn new(trace: &Trace, rules: RuleSet) -> Strands {
        let mut strands = if rules.reorders_tasks() {
            Strands::of_tasks(trace)
        } else {
            Strands::of_handlers(trace)
        };
        // Only traces that are not well-formed have tasks without a handler. Each gets its own
        // handler, so that the code below needs no special case.
        let nobody = HandlerId(trace.tables().handlers.len() as u32);
        strands.loop_points.push(EventId::NONE);
        for strand in &mut strands.list {
            if strand.handler.index() > nobody.index() {
                strand.handler = nobody;
            }
        }
        strands
    }

    fn of_tasks(trace: &Trace) -> Strands {
        let loop_points = loop_points(trace);
        let mut list = Vec::with_capacity(trace.tasks_count());
        let mut of_task = Vec::with_capacity(trace.tasks_count());
        let pieces = pieces(trace, &loop_points);
        let mut next_piece = 0;
        for task in trace.task_ids() {
            let span = trace.span(task);
            let start = list.len() as u32;
            if !span.first.is_none() {
                let posted = trace.tables().tasks[task.index()].kind == TaskKind::Posted;
                let strand = Strand {
                    task,
                    handler: span.handler,
                    first: span.first,
                    last: span.last,
                    posted,
                };
                let own = pieces[next_piece..].iter().take_while(|piece| piece.task == task);
                list.extend(own);
                if list.len() as u32 == start {
                    list.push(strand);
                } else {
                    next_piece += list.len() - start as usize;
                }
            }
            of_task.push((start, list.len() as u32));
        }
        Strands { list, of_task, loop_points }
    }

    fn of_handlers(trace: &Trace) -> Strands {
        let mut list: Vec<Strand> = Vec::new();
        let mut of_handler = vec![StrandId::NONE; trace.tables().handlers.len()];
        let mut of_task = vec![(0, 0); trace.tasks_count()];
        for task in trace.task_ids() {
            let span = trace.span(task);
            if span.first.is_none() {
                continue;
            }
            let burst = trace.tables().tasks[task.index()].kind == TaskKind::Burst;
            let slot = of_handler.get_mut(span.handler.index()).filter(|_| !burst);
            let known = slot.as_ref().map_or(StrandId::NONE, |slot| **slot);
            let strand = if known == StrandId::NONE {
                let strand = StrandId(list.len() as u32);
                list.push(Strand {
                    task,
                    handler: span.handler,
                    first: span.first,
                    last: span.last,
                    posted: false,
                });
                if let Some(slot) = slot {
                    *slot = strand;
                }
                strand
            } else {
                let strand = &mut list[known.index()];
                strand.first = strand.first.min(span.first);
                strand.last = strand.last.max(span.last);
                known
            };
            of_task[task.index()] = (strand.0, strand.0 + 1);
        }
        let loop_points = vec![EventId::NONE; trace.tables().handlers.len()];
        Strands { list, of_task, loop_points }
    }

    /// Returns the number of strands.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns a strand.
    #[inline]
    pub(crate) fn get(&self, strand: StrandId) -> &Strand {
        &self.list[strand.index()]
    }

    /// Returns all strands.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (StrandId, &Strand)> {
        self.list.iter().enumerate().map(|(i, strand)| (StrandId(i as u32), strand))
    }

    /// Returns the strands of a task.
    pub(crate) fn of_task(&self, task: TaskId) -> impl Iterator<Item = StrandId> + use<> {
        let (start, end) = self.of_task[task.index()];
        (start..end).map(StrandId)
    }

    /// Returns the strand of an event of a task. Logarithmic in the number of the task's strands.
    #[inline]
    pub(crate) fn of_event(&self, task: TaskId, event: EventId) -> StrandId {
        let (start, end) = self.of_task[task.index()];
        if end - start == 1 {
            return StrandId(start);
        }
        let strands = &self.list[start as usize..end as usize];
        StrandId(start + strands.partition_point(|strand| strand.first <= event) as u32 - 1)
    }
}

/// Finds each handler's loop point: its first `loop` event, or else its last initial event before
/// its first `get`. Handlers that run no posted task have none.
fn loop_points(trace: &Trace) -> Vec<EventId> {
    let handlers = trace.tables().handlers.len();
    let mut last_initial = vec![EventId::NONE; handlers];
    let mut first_loop = vec![EventId::NONE; handlers];
    let mut before_get = vec![EventId::NONE; handlers];
    let mut serves = vec![false; handlers];
    for event in trace.events() {
        let task = trace.tables().tasks[event.task.index()];
        let handler = trace.span(event.task).handler.index();
        if handler >= handlers {
            continue;
        }
        if event.kind() == EventKind::Get && !serves[handler] {
            serves[handler] = true;
            before_get[handler] = last_initial[handler];
        }
        if task.kind == TaskKind::Initial {
            last_initial[handler] = event.id;
            if event.kind() == EventKind::Loop && first_loop[handler].is_none() {
                first_loop[handler] = event.id;
            }
        }
    }
    (0..handlers)
        .map(|h| match (serves[h], first_loop[h].some()) {
            (false, _) => EventId::NONE,
            (true, Some(event)) => event,
            (true, None) => before_get[h],
        })
        .collect()
}

/// Cuts the initial tasks of handlers that run posted tasks. The result is sorted by task, then by
/// event.
fn pieces(trace: &Trace, loop_points: &[EventId]) -> Vec<Strand> {
    let handlers = loop_points.len();
    let mut serves = vec![false; handlers];
    for task in trace.task_ids() {
        let handler = trace.span(task).handler;
        if trace.ran_from_mailbox(task) && handler.index() < handlers {
            serves[handler.index()] = true;
        }
    }
    let mut gets_seen = vec![0_u32; handlers];
    // For each initial task, its current strand, and the number of `get` events seen at its last
    // event.
    let mut open: Vec<Option<(Strand, u32)>> = vec![None; trace.tasks_count()];
    let mut cut: Vec<Strand> = Vec::new();
    for event in trace.events() {
        let handler = trace.span(event.task).handler;
        if handler.index() >= handlers || !serves[handler.index()] {
            continue;
        }
        if event.kind() == EventKind::Get {
            gets_seen[handler.index()] += 1;
        }
        if trace.tables().tasks[event.task.index()].kind != TaskKind::Initial {
            continue;
        }
        let gets = gets_seen[handler.index()];
        let point = loop_points[handler.index()];
        let slot = &mut open[event.task.index()];
        let behind = point.is_none() || event.id > point;
        let starts = match slot {
            None => true,
            Some((strand, gets_then)) => {
                behind && (*gets_then != gets || !point.is_none() && strand.last <= point)
            }
        };
        if starts {
            if let Some((strand, _)) = slot.take() {
                cut.push(strand);
            }
            let strand = Strand {
                task: event.task,
                handler,
                first: event.id,
                last: event.id,
                posted: false,
            };
            *slot = Some((strand, gets));
        } else if let Some((strand, gets_then)) = slot {
            strand.last = event.id;
            *gets_then = gets;
        }
    }
    cut.extend(open.into_iter().flatten().map(|(strand, _)| strand));
    cut.sort_by_key(|strand| (strand.task, strand.first));
    cut
}
