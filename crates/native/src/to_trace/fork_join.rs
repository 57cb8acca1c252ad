//! The order that creation and join of threads give to what threads do. No other order of the run
//! breaks it.
//!
//! Each thread is divided into *segments*: another one begins where it creates or joins a thread.
//! So all of a segment comes before what the thread begins or waits for at its end.
//!
//! A thread that creates another one inside of a section passes on what it did before that section
//! only. Engines order whole sections of one lock by what is in them, and what is left out would be
//! missing there.

use crate::recording::{Event, kind};

/// A segment, by its number from 1; 0 stands for none.
pub(super) type Segment = u32;

/// The steps of a question: what is farther away counts as unordered.
const STEPS_MAX: usize = 64;

/// The answers that are kept.
const KEPT: usize = 256;

/// A place in a thread: its lane, and the number of its segment there, from 1.
type Place = (usize, u32);

#[derive(Clone, Debug, Default)]
struct Lane {
    /// The number of its present segment among its own, from 1.
    own: u32,
    /// What came before it began.
    created: Option<Place>,
    /// Where it was joined.
    joined: Option<Place>,
    /// The locks that it holds, and its segment when it took the first one.
    held: Vec<u64>,
    held_since: u32,
    /// Its events so far.
    taken: u64,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct ForkJoin {
    lanes: Vec<Lane>,
    /// By lane: its events in all.
    lengths: Vec<u64>,
    /// By segment, from 1.
    places: Vec<Place>,
    /// By lane: its present segment.
    present: Vec<Segment>,
    /// Questions with their answers, each at its hash.
    answers: Box<[(Segment, Segment, bool); KEPT]>,
    /// The threads that have begun.
    begun: Vec<usize>,
    /// A segment that was asked about, how many threads had begun then, and whether it comes after
    /// all that the others have done.
    after_all: (Segment, usize, bool),
}

impl ForkJoin {
    /// Begins with threads that have the given numbers of events.
    pub(super) fn new(lengths: Vec<u64>) -> ForkJoin {
        let lanes = lengths.len();
        ForkJoin {
            lanes: vec![Lane { own: 1, ..Lane::default() }; lanes],
            lengths,
            places: (0..lanes).map(|lane| (lane, 1)).collect(),
            present: (1..=lanes as Segment).collect(),
            answers: Box::new([(0, 0, false); KEPT]),
            begun: Vec::new(),
            after_all: (0, 0, false),
        }
    }

    /// Returns the segment in which a thread is.
    #[inline]
    pub(super) fn present(&self, lane: usize) -> Segment {
        self.present[lane]
    }

    /// Returns the thread of a segment.
    #[inline]
    pub(super) fn lane(&self, segment: Segment) -> u32 {
        self.place(segment).0 as u32
    }

    fn place(&self, segment: Segment) -> Place {
        (segment as usize)
            .checked_sub(1)
            .and_then(|at| self.places.get(at))
            .copied()
            .unwrap_or_default()
    }

    /// Counts an event of a thread.
    #[inline]
    pub(super) fn count(&mut self, lane: usize) {
        let taken = &mut self.lanes[lane].taken;
        if *taken == 0 {
            self.begun.push(lane);
        }
        *taken += 1;
    }

    /// Returns whether all that the other threads have done so far comes before what a thread does
    /// now. Costs a step for each thread, once in a segment.
    pub(super) fn is_after_all(&mut self, lane: usize) -> bool {
        let now = (self.present[lane], self.begun.len());
        if (self.after_all.0, self.after_all.1) != now {
            let to = self.place(now.0);
            let is_before = |other: &usize| self.find(self.place(self.present[*other]), to);
            self.after_all = (now.0, now.1, self.begun.iter().all(is_before));
        }
        self.after_all.2
    }

    /// Takes an event that may order threads. `other` is the thread that it is about.
    pub(super) fn step(&mut self, lane: usize, event: &Event, other: Option<usize>) {
        match (event.kind, other) {
            (kind::LOCK, _) => self.acquire(lane, event.address),
            (kind::UNLOCK, _) => self.release(lane, event.address),
            (kind::COND_WAIT, _) => self.release(lane, event.third),
            (kind::COND_WAKE, _) => self.acquire(lane, event.third),
            (kind::THREAD_CREATE, Some(child)) if self.lanes[child].taken == 0 => {
                let parent = &self.lanes[lane];
                let seen = if parent.held.is_empty() { parent.own } else { parent.held_since - 1 };
                self.lanes[child].created = Some((lane, seen));
                self.divide(lane);
            }
            (kind::THREAD_JOIN, Some(child)) if child != lane => {
                let one = &self.lanes[child];
                if one.taken == self.lengths[child] && one.joined.is_none() {
                    self.divide(lane);
                    self.lanes[child].joined = Some((lane, self.lanes[lane].own));
                }
            }
            _ => {}
        }
    }

    fn acquire(&mut self, lane: usize, lock: u64) {
        let lane = &mut self.lanes[lane];
        if lane.held.is_empty() {
            lane.held_since = lane.own;
        }
        lane.held.push(lock);
    }

    fn release(&mut self, lane: usize, lock: u64) {
        let held = &mut self.lanes[lane].held;
        if let Some(at) = held.iter().rposition(|one| *one == lock) {
            held.remove(at);
        }
    }

    fn divide(&mut self, lane: usize) {
        self.lanes[lane].own += 1;
        self.places.push((lane, self.lanes[lane].own));
        self.present[lane] = self.places.len() as Segment;
    }

    /// Returns whether all of a segment comes before what a thread does now, or is of that thread.
    #[inline]
    pub(super) fn is_before(&mut self, segment: Segment, lane: usize) -> bool {
        let now = self.present[lane];
        if segment == now {
            return true;
        }
        let kept = (segment.wrapping_mul(31) ^ now) as usize % KEPT;
        let (from, to, answer) = self.answers[kept];
        if (from, to) == (segment, now) {
            return answer;
        }
        let answer = self.find(self.place(segment), self.place(now));
        self.answers[kept] = (segment, now, answer);
        answer
    }

    /// Follows the joins from the one place on, and the creations from the other one back.
    fn find(&self, from: Place, to: Place) -> bool {
        let mut from = from;
        for _ in 0..STEPS_MAX {
            let mut back = Some(to);
            for _ in 0..STEPS_MAX {
                let Some((lane, own)) = back else { break };
                if lane == from.0 {
                    if from.1 <= own {
                        return true;
                    }
                    break;
                }
                back = self.lanes[lane].created;
            }
            match self.lanes[from.0].joined {
                Some(joined) => from = joined,
                None => return false,
            }
        }
        false
    }
}
