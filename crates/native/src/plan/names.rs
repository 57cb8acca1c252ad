//! Names for the events of a recording, by which another run of the program has them.
//!
//! An operation is named by the path of its thread (which child of which child), its place in the
//! code, and how often the thread was there before. Addresses differ from run to run, so a place is
//! a file and an offset in it. Plain accesses count once in each *segment* of their thread: the
//! recording leaves out repeated ones, and a segment ends at each event that is more than an access
//! or a call. What a thread waits in is one operation with what it gets then: a request and its
//! lock, a wait and its wake.

use super::holds::{Moment, Operation};
use crate::recording::{Event, Recording, kind};
use crate::to_trace::actions::NO_ORIGIN;
use anyorder_trace::{EventId, Trace};
use rustc_hash::FxHashMap;

/// The path of the main thread.
const MAIN: u64 = 1;

/// The name of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name {
    /// The path of the thread.
    pub path: u64,
    /// The file with the code, by the hash of its path.
    pub module: u64,
    /// The return address, from the first mapped address of that file.
    pub offset: u64,
    /// How often the thread was there before.
    pub number: u32,
}

/// Hashes bytes by FNV-1a.
#[must_use]
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns the path of the `n`-th child, from 0, of a thread with a path.
#[must_use]
pub(super) fn child_of(path: u64, n: u64) -> u64 {
    let mut bytes = path.to_le_bytes().to_vec();
    bytes.extend_from_slice(&n.to_le_bytes());
    fnv(&bytes)
}

/// An operation of one thread.
#[derive(Clone, Copy, Debug)]
struct Own {
    pc: u32,
    number: u32,
    moment: Moment,
    can_wait: bool,
}

/// The operations of all events of a trace.
#[derive(Clone, Debug)]
pub struct Operations<'r> {
    recording: &'r Recording,
    /// By event of the trace: its operation, by thread and place.
    of: Vec<Option<(u32, Own)>>,
    ids: FxHashMap<(u32, u32, u32), u32>,
    /// By thread: its path; `None` where its creation was not recorded.
    paths: Vec<Option<u64>>,
}

impl<'r> Operations<'r> {
    /// Finds the operations of a trace that was made of a recording; `origins` came with it. Linear
    /// in the recording.
    #[must_use]
    pub fn new(recording: &'r Recording, trace: &Trace, origins: &[u32]) -> Operations<'r> {
        let mut of: Vec<Option<(u32, Own)>> = vec![None; trace.len()];
        // By thread: its events of the trace, in their order.
        let mut rows: Vec<Vec<(u32, u32)>> = vec![Vec::new(); recording.threads.len()];
        for (row, origin) in origins.iter().enumerate().filter(|(_, origin)| **origin != NO_ORIGIN)
        {
            let lane = trace.handler_of(EventId(row as u32)).index();
            rows[lane].push((*origin, row as u32));
        }
        for (lane, rows) in rows.iter().enumerate() {
            let mut wanted = rows.iter().peekable();
            let mut counting = Counting::default();
            for (at, event) in (0_u32..).zip(recording.events(lane)) {
                let own = counting.add(&event);
                while let Some((_, row)) = wanted.next_if(|(origin, _)| *origin == at) {
                    of[*row as usize] = own.map(|own| (lane as u32, own));
                }
            }
        }
        let mut ids = FxHashMap::default();
        for (lane, own) in of.iter().flatten() {
            let next = ids.len() as u32;
            ids.entry((*lane, own.pc, own.number)).or_insert(next);
        }
        Operations { recording, of, ids, paths: paths(recording) }
    }

    /// Returns the operation of an event; `None` for one that no other run can be held at.
    #[must_use]
    pub fn operation(&self, event: EventId) -> Option<Operation> {
        let (lane, own) = self.of.get(event.index()).copied().flatten()?;
        let id = *self.ids.get(&(lane, own.pc, own.number))?;
        self.paths[lane as usize]?;
        Some(Operation { id, moment: own.moment, can_wait: own.can_wait })
    }

    /// Returns the name of an event's operation.
    #[must_use]
    pub fn name(&self, event: EventId) -> Option<Name> {
        let (lane, own) = self.of.get(event.index()).copied().flatten()?;
        let modules = &self.recording.modules;
        let address = modules.complete(own.pc.wrapping_sub(1)).next()?;
        let piece = modules.find(address)?;
        let first = modules.find_first(piece)?;
        Some(Name {
            path: self.paths[lane as usize]?,
            module: fnv(piece.path.as_bytes()),
            offset: address + 1 - first.start,
            number: own.number,
        })
    }
}

/// Returns the paths of all threads.
fn paths(recording: &Recording) -> Vec<Option<u64>> {
    let mut paths: Vec<Option<u64>> = vec![None; recording.threads.len()];
    if let Some(main) = recording.position(0) {
        paths[main] = Some(MAIN);
    }
    // Each thread is created by one with a smaller number; in a damaged recording, by none.
    for lane in 0..recording.threads.len() {
        let Some(path) = paths[lane] else { continue };
        let created = recording.events(lane).filter(|event| event.kind == kind::THREAD_CREATE);
        for (n, event) in (0_u64..).zip(created) {
            if let Some(child) = recording.position(event.address as u32)
                && child > lane
            {
                paths[child] = Some(child_of(path, n));
            }
        }
    }
    paths
}

/// Counts the operations of one thread.
#[derive(Default)]
struct Counting {
    segment: u64,
    /// By place: how many operations there were, and the segment of the last access.
    places: FxHashMap<u32, (u32, u64)>,
    /// The operation that the thread waits in: its kind, object, place and number.
    open: Option<(u8, u64, u32, u32)>,
}

impl Counting {
    /// Takes the next event of the thread. Returns its operation.
    fn add(&mut self, event: &Event) -> Option<Own> {
        match event.kind {
            kind::CALL | kind::RETURN | kind::UNWIND | kind::SIGNAL_BEGIN | kind::SIGNAL_END => {
                return None;
            }
            kind::READ..=kind::VPTR_WRITE => {
                let segment = self.segment + 1;
                let (count, last) = self.places.entry(event.pc).or_default();
                if *last != segment {
                    (*count, *last) = (*count + 1, segment);
                }
                let (number, moment) = (*count - 1, Moment::Passed);
                return Some(Own { pc: event.pc, number, moment, can_wait: true });
            }
            _ => {}
        }
        let is_quiet = matches!(event.kind, kind::FD_OPEN..=kind::FD_CLOSE | kind::THREAD_BEGIN);
        self.segment += u64::from(!is_quiet);
        let begun = match event.kind {
            kind::LOCK | kind::LOCK_REFUSED => Some(kind::LOCK_REQUEST),
            kind::COND_WAKE => Some(kind::COND_WAIT),
            kind::SEM_WAIT | kind::SEM_REFUSED => Some(kind::SEM_REQUEST),
            kind::THREAD_JOIN => Some(kind::THREAD_JOIN_REQUEST),
            kind::BARRIER_LEAVE => Some(kind::BARRIER_ARRIVE),
            _ => None,
        };
        if let Some((open, object, pc, number)) = self.open.take()
            && begun == Some(open)
            && object == event.address
        {
            // Whoever waits on a condition or at a barrier cannot be held before the end of that.
            let can_wait = !matches!(event.kind, kind::COND_WAKE | kind::BARRIER_LEAVE);
            return Some(Own { pc, number, moment: Moment::Passed, can_wait });
        }
        if matches!(event.kind, kind::THREAD_BEGIN | kind::THREAD_END) || event.pc == 0 {
            return None;
        }
        let (count, _) = self.places.entry(event.pc).or_default();
        *count += 1;
        let number = *count - 1;
        let moment = match event.kind {
            kind::COND_WAIT => Moment::Waiting,
            kind::LOCK_REQUEST
            | kind::SEM_REQUEST
            | kind::THREAD_JOIN_REQUEST
            | kind::BARRIER_ARRIVE => Moment::Reached,
            _ => Moment::Passed,
        };
        if moment != Moment::Passed {
            self.open = Some((event.kind, event.address, event.pc, number));
        }
        Some(Own { pc: event.pc, number, moment, can_wait: true })
    }
}
