//! Reads that only guard: a late reply that compares its request number, and is dropped if a newer
//! request was made.
//!
//! **Problem.** Which reads only decide whether their task does anything? A race on such a read is
//! the guard at work: in either order the task does what is right for that order.
//!
//! **Definition** (`docs/happens-before.md`, section 6). Tasks are of *one code* if their first
//! reads of a location are at one source position, or, where that is not known, if their names are
//! the same but for digits. The *request* of a task is the nearest task of its handler on its chain
//! of posts and forks. A task is *late* if the last write of the location before its read is not
//! one by its request. The reads of a location by tasks of one code *only guard* if
//!
//! - the request of each of these tasks wrote the location before it posted or forked on the chain;
//! - no task of them writes the location, and none has an effect before its read;
//! - each late one has no effect, and reads nothing after the location; some task is late;
//! - the others have effects on memory and objects only, not by tasks that they post or threads
//!   that they fork; some task has such an effect.
//!
//! A race of such a read fits if the write is by a task of the same handler and of other code.
//!
//! **Guarantee.** A guess from the shape of one run. It is not made where a task acts before the
//! check, where a late task acts, where another task or thread acts later on the word of the check,
//! where the write comes from another thread (it can come between check and act), or where the
//! value was not set by the request (a flag such as `ready`, whose race loses an input).
//!
//! **Cost.** One pass over the trace, then for each location that is asked about its writes and the
//! tasks that read it, once each; for a task also its chain, and the logarithm of the writes.

use anyorder_trace::{EventId, EventKind, HandlerId, LocationId, SiteId, TaskId, TaskKind, Trace};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::mem;

/// The maximum number of locations read by a task that are considered.
const READS_MAX: usize = 16;

/// The most posts and forks that a chain is followed back.
const CHAIN_MAX: usize = 64;

/// What a posted task does.
#[derive(Clone, Default, Debug)]
struct Does {
    /// The locations that it reads, with the first reads of them.
    reads: Vec<(LocationId, EventId)>,
    /// How many of them it reads before its first effect.
    before: usize,
    /// Its last read before its first effect.
    last_read: Option<LocationId>,
    /// Whether it has an effect.
    acts: bool,
    /// Whether it has an effect that comes later, or elsewhere.
    passes_on: bool,
}

/// The code of a task: where it reads, or else its name without digits.
type Code = (SiteId, String);

/// What is known of the reads of a location by the tasks of one code.
#[derive(Debug)]
enum OfCode {
    /// Nothing yet; the tasks.
    Tasks(Vec<TaskId>),
    /// Whether they only guard.
    Only(bool),
}

/// The reads of a trace that only guard.
#[derive(Debug)]
pub struct Guards<'t> {
    trace: &'t Trace,
    /// By task; nothing for those that were not posted.
    does: Vec<Does>,
    /// The writes of each location, in the order of the trace.
    writes: ByLocation<EventId>,
    /// The first fork of each handler.
    forks: FxHashMap<HandlerId, EventId>,
    /// The tasks that read a location, with their first reads.
    readers: ByLocation<(TaskId, EventId)>,
    /// By location that was asked about.
    known: RefCell<FxHashMap<LocationId, AtLocation>>,
    /// The tasks and writes looked at so far.
    steps: Cell<u64>,
}

/// What is known of a location.
#[derive(Debug)]
struct AtLocation {
    by_code: FxHashMap<Code, OfCode>,
    /// The first write of each task that writes it.
    first_writes: FxHashMap<TaskId, EventId>,
}

impl<'t> Guards<'t> {
    /// Reads a trace.
    #[must_use]
    pub fn new(trace: &'t Trace) -> Guards<'t> {
        let locations = trace.tables().locations.len();
        let mut does = vec![Does::default(); trace.tasks_count()];
        let mut forks = FxHashMap::default();
        for event in trace.events() {
            if event.kind() == EventKind::Fork {
                forks.entry(HandlerId(event.operand)).or_insert(event.id);
            }
            if trace.tables().tasks[event.task.index()].kind == TaskKind::Posted {
                does[event.task.index()].take(&event);
            }
        }
        let writes = || {
            let writes = trace.events().filter(|event| event.kind().writes());
            writes.filter_map(|event| Some((event.location()?, event.id)))
        };
        let reads = || {
            let reads = |task: TaskId| does[task.index()].reads.iter().map(move |at| (task, at));
            let reads = trace.task_ids().flat_map(reads);
            reads.map(|(task, (location, read))| (*location, (task, *read)))
        };
        let writes = ByLocation::new(locations, writes);
        let readers = ByLocation::new(locations, reads);
        let (known, steps) = (RefCell::default(), Cell::default());
        Guards { trace, does, writes, forks, readers, known, steps }
    }

    /// Returns how many tasks and writes the questions so far have looked at. For tests of growth.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Adds to the number of tasks and writes that questions have looked at.
    fn count(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps as u64);
    }

    /// Returns whether one of two accesses only guards against the other.
    #[must_use]
    pub fn guards(&self, a: EventId, b: EventId) -> bool {
        self.is_guard(a, b) || self.is_guard(b, a)
    }

    /// Returns whether `read` only guards against `write`.
    fn is_guard(&self, read: EventId, write: EventId) -> bool {
        let [reads, writes] = [read, write].map(|event| self.trace.event(event));
        let (Some(location), EventKind::Read) = (reads.location(), reads.kind()) else {
            return false;
        };
        let does = &self.does[reads.task.index()];
        let first = does.reads.iter().find(|(at, _)| *at == location);
        let Some((_, first)) = first else { return false };
        let one_handler = self.trace.handler_of(read) == self.trace.handler_of(write);
        if !one_handler || !writes.kind().writes() || writes.location() != Some(location) {
            return false;
        }
        let code = self.code(*first);
        let mut known = self.known.borrow_mut();
        let AtLocation { by_code, first_writes } =
            known.entry(location).or_insert_with(|| self.at_location(location));
        let Some(of_code) = by_code.get_mut(&code) else { return false };
        let holds = match of_code {
            OfCode::Only(holds) => *holds,
            OfCode::Tasks(tasks) => self.only_guard(location, &mem::take(tasks), first_writes),
        };
        *of_code = OfCode::Only(holds);
        holds
    }

    /// Returns the tasks that read a location, by code, and the first write of each that writes it.
    fn at_location(&self, location: LocationId) -> AtLocation {
        let (readers, writes) = (self.readers.of(location), self.writes.of(location));
        self.count(readers.len() + writes.len());
        let mut by_code: FxHashMap<Code, Vec<TaskId>> = FxHashMap::default();
        for (task, read) in readers {
            by_code.entry(self.code(*read)).or_default().push(*task);
        }
        let mut first_writes = FxHashMap::default();
        for write in writes {
            first_writes.entry(self.trace.event(*write).task).or_insert(*write);
        }
        let by_code = by_code.into_iter().map(|(code, tasks)| (code, OfCode::Tasks(tasks)));
        AtLocation { by_code: by_code.collect(), first_writes }
    }

    /// Returns whether the reads of a location by the tasks of one code only guard.
    fn only_guard(
        &self,
        location: LocationId,
        tasks: &[TaskId],
        first_writes: &FxHashMap<TaskId, EventId>,
    ) -> bool {
        self.count(tasks.len());
        if tasks.iter().any(|task| first_writes.contains_key(task)) {
            return false;
        }
        let writes = self.writes.of(location);
        let writer = |write: &EventId| self.trace.event(*write).task;
        let (mut dropped, mut acted) = (false, false);
        for task in tasks {
            let does = &self.does[task.index()];
            let mut before = does.reads[..does.before].iter();
            let Some((_, read)) = before.find(|(at, _)| *at == location) else { return false };
            let Some((request, link)) = self.request(*task) else { return false };
            if first_writes.get(&request).is_none_or(|write| *write >= link) {
                return false;
            }
            let last = writes[..writes.partition_point(|write| write < read)].last();
            if last.is_none_or(|write| writer(write) != request) {
                if does.acts || does.last_read != Some(location) {
                    return false;
                }
                dropped = true;
            } else if does.passes_on {
                return false;
            } else {
                acted |= does.acts;
            }
        }
        dropped && acted
    }

    /// Returns the request of a task, and the event by which it posted or forked on the chain.
    fn request(&self, task: TaskId) -> Option<(TaskId, EventId)> {
        let handler = self.trace.span(task).handler;
        let mut at = task;
        for _ in 0..CHAIN_MAX {
            let span = self.trace.span(at);
            let fork = || self.forks.get(&span.handler).copied();
            let link = span.post.some().or_else(fork)?;
            at = self.trace.event(link).task;
            if self.trace.span(at).handler == handler {
                return Some((at, link));
            }
        }
        None
    }

    fn code(&self, read: EventId) -> Code {
        let event = self.trace.event(read);
        if event.site != SiteId(0) {
            return (event.site, String::new());
        }
        let name = self.trace.task_name(event.task);
        (SiteId(0), name.chars().filter(|c| !c.is_ascii_digit()).collect())
    }
}

/// Items by location, all in one piece of memory.
#[derive(Debug)]
struct ByLocation<T> {
    /// Where the items of each location end.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> ByLocation<T> {
    /// Sorts items by location; those of one location keep their order. Linear time.
    fn new<I: Iterator<Item = (LocationId, T)>>(
        locations: usize,
        items: impl Fn() -> I,
    ) -> ByLocation<T> {
        let mut ends = vec![0_u32; locations + 1];
        for (location, _) in items() {
            ends[location.index() + 1] += 1;
        }
        for location in 0..locations {
            ends[location + 1] += ends[location];
        }
        // Each start moves to its end, which is the next start.
        let mut sorted: Vec<T> = items().map(|(_, item)| item).collect();
        for (location, item) in items() {
            let at = &mut ends[location.index()];
            sorted[*at as usize] = item;
            *at += 1;
        }
        ends.truncate(locations);
        ByLocation { ends, items: sorted }
    }

    fn of(&self, location: LocationId) -> &[T] {
        let end = self.ends.get(location.index()).map_or(0, |end| *end as usize);
        let start = location.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.items.get(start..end).unwrap_or_default()
    }
}

impl Does {
    fn take(&mut self, event: &anyorder_trace::Event) {
        match event.kind() {
            EventKind::Read => {
                let Some(location) = event.location() else { return };
                let is_known = self.reads.iter().any(|(known, _)| *known == location);
                if !is_known && self.reads.len() < READS_MAX {
                    self.reads.push((location, event.id));
                }
                if !self.acts {
                    self.last_read = Some(location);
                    self.before = self.reads.len();
                }
            }
            EventKind::Write | EventKind::Rmw | EventKind::Invoke => self.acts = true,
            EventKind::Get
            | EventKind::Begin
            | EventKind::End
            | EventKind::Exit
            | EventKind::Acquire
            | EventKind::Release
            | EventKind::Refused
            | EventKind::Request
            | EventKind::Return
            | EventKind::Choice
            | EventKind::Trigger
            | EventKind::Alloc => {}
            _ => (self.acts, self.passes_on) = (true, true),
        }
    }
}
