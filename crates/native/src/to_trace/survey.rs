//! The first pass: what must be known of all threads before their events are put in order.

use super::actions::OWNER_DEAD;
use super::invocations::Methods;
use crate::merge::Known;
use crate::recording::{Event, Recording, kind};
use rustc_hash::{FxHashMap, FxHashSet};

/// What one thread does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThreadFacts {
    /// The number of its events.
    pub(super) events: u64,
    /// Whether it has fences that acquire: then its relaxed loads may synchronise.
    pub(super) acquires_by_fence: bool,
    /// Whether it has fences that release: then its relaxed stores may synchronise.
    pub(super) releases_by_fence: bool,
    /// The address of its start routine.
    pub(super) routine: Option<u64>,
    /// The last name that the program has given it; zero bytes if there is none.
    pub(super) name: [u8; 16],
    /// Whether it has ended.
    has_ended: bool,
    /// Whether another thread joins it, or it was detached.
    is_awaited: bool,
}

/// The numbers of [`Survey::recent`].
const RECENT: usize = 1024;

/// Places of accesses in front of their set.
#[derive(Debug)]
struct Recent(Box<[u32; RECENT]>);

impl Default for Recent {
    fn default() -> Recent {
        Recent(Box::new([0; RECENT]))
    }
}

/// What is known of all threads.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) threads: Vec<ThreadFacts>,
    pub(super) known: Known,
    /// Memory on which the program declares races to be no mistake, in order: the first address of
    /// each part, and the one behind it.
    pub(super) benign: Vec<(u64, u64)>,
    /// The methods that are invoked.
    pub(super) methods: Methods,
    /// Where accesses are: the low halves of the code addresses after them.
    pub(super) accesses_at: FxHashSet<u32>,
    /// Locks that were taken after their owner had ended.
    pub(super) inherited: FxHashSet<u64>,
    /// By semaphore, how many permits are taken.
    pub(super) permits_taken: FxHashMap<u64, u32>,
    /// By semaphore, when it is first initialised, and with how many permits.
    pub(super) permits_first: FxHashMap<u64, (u64, u64)>,
    /// Objects that synchronise, and that several threads use.
    pub(super) common: FxHashSet<u64>,
    /// Objects that are destroyed.
    pub(super) ended: FxHashSet<u64>,
    /// The threads that have ended, and that nobody joins or detaches, if the process has exited.
    pub(super) leaked: FxHashSet<usize>,
    /// The thread that uses an object.
    users: FxHashMap<u64, usize>,
    /// Some of the places of accesses, each at its lowest bits: most accesses are where others
    /// were.
    recent: Recent,
    /// The time until which all threads are there, where the recording was cut.
    pub(super) until: Option<u64>,
}

impl Survey {
    /// Passes over all threads once, each by itself, as long as `go_on` returns true.
    pub(super) fn of(recording: &Recording, go_on: &mut dyn FnMut() -> bool) -> Survey {
        const ASKED_EVERY: u64 = 1 << 16;
        let mut seen = 0_u64;
        let mut survey = Survey::default();
        survey.threads.resize(recording.threads.len(), ThreadFacts::default());
        for lane in 0..recording.threads.len() {
            let (mut events, mut last, mut count) = (recording.events(lane), 0, 0);
            for event in events.by_ref() {
                seen += 1;
                if seen.is_multiple_of(ASKED_EVERY) && !go_on() {
                    break;
                }
                last = event.time;
                count += 1;
                survey.event(recording, lane, &event);
            }
            survey.threads[lane].events = count;
            if recording.is_cut() && events.is_full() {
                survey.cut(last);
            }
        }
        survey.merge_benign();
        survey.users = FxHashMap::default();
        if !recording.header.has_exited || recording.is_cut() {
            survey.leaked.clear();
        }
        let threads = &survey.threads;
        survey.leaked.retain(|lane| threads[*lane].has_ended && !threads[*lane].is_awaited);
        survey
    }

    /// Events after this time may rest on others that are missing.
    fn cut(&mut self, time: u64) {
        self.until = Some(self.until.map_or(time, |known| known.min(time)));
    }

    /// Puts the memory with benign races in order, in parts that do not overlap.
    fn merge_benign(&mut self) {
        self.benign.sort_unstable();
        self.benign.dedup_by(|next, last| {
            let meets = next.0 <= last.1;
            if meets {
                last.1 = last.1.max(next.1);
            }
            meets
        });
    }

    /// Returns whether all of an access is to memory on which races are declared to be no mistake.
    pub(super) fn is_benign(&self, address: u64, size: u64) -> bool {
        let end = address.saturating_add(size);
        let after = self.benign.partition_point(|(first, _)| *first <= address);
        after > 0 && end <= self.benign[after - 1].1
    }

    #[inline]
    fn event(&mut self, recording: &Recording, lane: usize, event: &Event) {
        // A range may also be that of a function of the C library, which any code calls.
        match event.kind {
            kind::CALL | kind::RETURN | kind::READ_RANGE | kind::WRITE_RANGE => {}
            kind::READ..=kind::ATOMIC_RMW => self.access(event.pc),
            _ => self.rare(recording, lane, event),
        }
    }

    /// Adds the place of an access.
    #[inline]
    fn access(&mut self, pc: u32) {
        let recent = &mut self.recent.0[(pc ^ pc >> 10) as usize % RECENT];
        // Zero is in the set only if an access is there, and never in front of it.
        if *recent != pc || pc == 0 {
            *recent = pc;
            self.accesses_at.insert(pc);
        }
    }

    fn rare(&mut self, recording: &Recording, lane: usize, event: &Event) {
        let address = event.address;
        match event.kind {
            kind::LOCK..=kind::SEM_REQUEST | kind::COND_INIT => self.use_of(lane, address),
            kind::THREAD_JOIN | kind::THREAD_DETACH => {
                if let Some(other) = recording.position(address as u32) {
                    self.threads[other].is_awaited = true;
                }
            }
            _ => {}
        }
        if matches!(event.kind, kind::LOCK_DESTROY | kind::COND_DESTROY) {
            self.ended.insert(address);
        }
        let facts = &mut self.threads[lane];
        match event.kind {
            kind::LOCK if event.arg & OWNER_DEAD != 0 => {
                self.inherited.insert(address);
            }
            kind::SEM_INIT => {
                let first = self.permits_first.entry(address).or_insert((u64::MAX, 0));
                *first = (*first).min((event.time, event.third));
            }
            kind::SEM_WAIT => {
                let taken = self.permits_taken.entry(address).or_default();
                *taken = taken.saturating_add(1);
            }
            kind::THREAD_NAME => {
                if let Some(named) = recording.position(address as u32) {
                    let at = usize::from(event.arg & 1) * 8;
                    let name = &mut self.threads[named].name;
                    name[at..at + 8].copy_from_slice(&event.third.to_le_bytes());
                }
            }
            kind::BENIGN => self.benign.push((address, address.saturating_add(event.third))),
            kind::METHOD | kind::TEXT => self.methods.add(lane, event),
            kind::THREAD_END => facts.has_ended = true,
            kind::FENCE => {
                self.accesses_at.insert(event.pc);
                let order = event.arg >> 5;
                facts.acquires_by_fence |= matches!(order, 1 | 2 | 4 | 5);
                facts.releases_by_fence |= matches!(order, 3..=5);
            }
            kind::THREAD_CREATE => {
                self.known.created.insert(address as u32);
                match recording.position(address as u32) {
                    Some(child) => {
                        self.threads[child].routine = Some(event.third);
                        if event.arg & 1 == 0 {
                            self.leaked.insert(child);
                        }
                    }
                    // There was no chunk for it.
                    None if recording.is_cut() => self.cut(event.time),
                    None => {}
                }
            }
            _ => {}
        }
    }

    /// A thread uses an object that synchronises.
    fn use_of(&mut self, lane: usize, object: u64) {
        if *self.users.entry(object).or_insert(lane) != lane {
            self.common.insert(object);
        }
    }
}
