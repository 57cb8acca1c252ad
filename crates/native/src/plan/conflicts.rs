//! Conflicts between the events of a witness: to which earlier ones the order of an event matters.

use anyorder_trace::{Action, Event, Location, Trace};
use std::collections::HashMap;

/// Memory is looked up by blocks of this many bytes.
const BLOCK: u64 = 8;
/// Ranges of more blocks are compared with all others.
const BLOCKS_MAX: u64 = 32;

/// What events can conflict over.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Resource {
    Lock(u32),
    Condition(u32),
    Location(u32),
    Block { number: u64, generation: u32 },
    Object(u32),
}

/// An event that has been seen.
#[derive(Clone, Copy)]
struct Seen {
    thread: u32,
    at: u32,
    is_exclusive: bool,
}

/// A part of memory that an event has touched.
#[derive(Clone, Copy)]
struct Touched {
    seen: Seen,
    address: u64,
    size: u64,
    generation: u32,
}

impl Touched {
    fn meets(&self, other: &Touched) -> bool {
        self.generation == other.generation
            && self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
            && (self.seen.is_exclusive || other.seen.is_exclusive)
    }
}

/// Finds, for each event of a run, the latest earlier events of other threads that it conflicts
/// with.
///
/// **Cost.** The event's own threads and its resource, at each event; each range of more than 256
/// bytes is compared with all earlier memory, and each later access with it.
#[derive(Default)]
pub(super) struct Conflicts {
    /// By resource: the last exclusive event of each thread, and the last shared one since.
    last: HashMap<Resource, Vec<Seen>>,
    /// All memory touched so far, and the large ranges among it.
    memory: Vec<Touched>,
    large: Vec<Touched>,
}

impl Conflicts {
    /// Adds the next event of a run. Returns the places in the run of earlier events of other
    /// threads whose order to it matters: at least the latest of each thread.
    pub(super) fn add(&mut self, trace: &Trace, event: Event, thread: u32, at: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let seen = |is_exclusive: bool| Seen { thread, at, is_exclusive };
        match event.action() {
            Action::Acquire(lock, mode) | Action::Refused(lock, mode) => {
                let refused = matches!(event.action(), Action::Refused(..));
                let is_exclusive = !mode.is_shared() && !refused;
                self.one(Resource::Lock(lock.0), seen(is_exclusive), &mut found);
            }
            Action::Destroy(lock) => self.one(Resource::Lock(lock.0), seen(true), &mut found),
            Action::Signal(condition) | Action::Broadcast(condition) | Action::Wait(condition) => {
                self.one(Resource::Condition(condition.0), seen(true), &mut found);
            }
            Action::Invoke(invocation) => {
                let object = trace.tables().invocations[invocation.index()].object;
                self.one(Resource::Object(object.0), seen(true), &mut found);
            }
            Action::Access { kind, location, .. } => {
                self.access(trace, location.0, seen(kind.writes()), &mut found);
            }
            Action::Alloc(location) | Action::Free(location) => {
                self.access(trace, location.0, seen(true), &mut found);
            }
            _ => {}
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        found
    }

    fn access(&mut self, trace: &Trace, location: u32, seen: Seen, found: &mut Vec<u32>) {
        let tables = trace.tables();
        let Location::Range { address, size, generation } = tables.locations[location as usize]
        else {
            self.one(Resource::Location(location), seen, found);
            return;
        };
        let touched = Touched { seen, address, size: u64::from(size.max(1)), generation };
        let end = address.saturating_add(touched.size - 1);
        let is_large = end / BLOCK - address / BLOCK >= BLOCKS_MAX;
        let against = if is_large { &self.memory } else { &self.large };
        let others = against.iter().filter(|o| o.seen.thread != seen.thread && o.meets(&touched));
        found.extend(others.map(|other| other.seen.at));
        if is_large {
            self.large.push(touched);
        } else {
            for number in address / BLOCK..=end / BLOCK {
                self.one(Resource::Block { number, generation }, seen, found);
            }
        }
        self.memory.push(touched);
    }

    /// Looks for conflicts over one resource, and adds the event.
    fn one(&mut self, resource: Resource, seen: Seen, found: &mut Vec<u32>) {
        let last = self.last.entry(resource).or_default();
        let conflicts =
            |o: &&Seen| o.thread != seen.thread && (o.is_exclusive || seen.is_exclusive);
        found.extend(last.iter().filter(conflicts).map(|other| other.at));
        // Of a thread, the latest event stands for those before it that conflict with as much.
        last.retain(|o| o.thread != seen.thread || (o.is_exclusive && !seen.is_exclusive));
        last.push(seen);
    }
}
