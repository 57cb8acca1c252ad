//! Several cores: what is left of a search is explored by helpers, each with a copy of what is
//! known of the threads and without the program.
//!
//! The graphs below two choices have nothing to do with each other, so whoever has nothing to do
//! gets some of the choices of another one, of those that were offered first. Helpers only count.
//! Where one comes to something that is not known of a thread, to a loop that was not tried, to a
//! fault that was not found, or to a limit, all that the helpers did is thrown away, and the search
//! goes on alone where it was, until it has made twice as many graphs. So the answer is that of a
//! search on one core, with everything in the same order.
//!
//! Numbers of states of objects are the same in all helpers, whoever gives them: graphs that are
//! handed over hold them.

use super::behaviour::Frozen;
use super::explore::{Choice, Frame, Search};
use super::graph::Graph;
use super::outcome::{WeakExecution, WeakExplored, WeakOptions};
use crate::learn::Incomplete;
use crate::program::ThreadProgram;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// After how many graphs others help: before, most is learnt, and it takes some milliseconds.
pub(super) const FROM: u64 = 16_384;

/// When others help for the first time.
pub(super) fn first_help(options: &WeakOptions) -> u64 {
    #[cfg(test)]
    let from = options.cores_from;
    #[cfg(not(test))]
    let from = FROM;
    if options.cores > 1 { from } else { u64::MAX }
}

/// Choices that were not taken yet, and the graph to which they add.
struct Part {
    graph: Graph,
    frame: Frame,
    choices: Vec<Choice>,
}

/// What helpers have in common.
pub(super) struct Shared {
    cores: usize,
    parts: Mutex<Parts>,
    /// Tells that there are parts, or that all is over.
    change: Condvar,
    /// How many helpers wait for a part that is not there yet.
    hungry: AtomicUsize,
    /// Whether one has given up.
    is_over: AtomicBool,
    /// The executions that ended, blocked ones included.
    pub(super) ended: AtomicU64,
}

#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    /// How many helpers have nothing to do.
    idle: usize,
}

impl Shared {
    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_hunger(&self, parts: &Parts) {
        self.hungry.store(parts.idle.saturating_sub(parts.list.len()), Ordering::Relaxed);
    }

    /// Waits for a part. `None` if there is none any more.
    fn next(&self) -> Option<Part> {
        let mut parts = self.parts();
        parts.idle += 1;
        loop {
            if self.is_over.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(part) = parts.list.pop() {
                parts.idle -= 1;
                self.note_hunger(&parts);
                return Some(part);
            }
            if parts.idle == self.cores {
                self.change.notify_all();
                return None;
            }
            self.note_hunger(&parts);
            parts = self.change.wait(parts).unwrap_or_else(PoisonError::into_inner);
            if parts.idle == self.cores && parts.list.is_empty() {
                return None;
            }
        }
    }

    fn give(&self, part: Part) {
        let mut parts = self.parts();
        parts.list.push(part);
        self.note_hunger(&parts);
        self.change.notify_one();
    }

    /// Ends it for all.
    fn stop(&self) {
        // With the lock, so that nobody begins to wait meanwhile.
        let parts = self.parts();
        self.is_over.store(true, Ordering::Relaxed);
        drop(parts);
        self.change.notify_all();
    }
}

/// Ends it for all if a helper panics: the others would wait for it.
struct StopOnPanic<'s>(&'s Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

impl<P: ThreadProgram + ?Sized> Search<'_, '_, P> {
    /// Lets helpers explore what is left. If they come to the end, nothing is.
    pub(super) fn get_help(&mut self) -> Result<(), Incomplete> {
        self.help_at = self.explored.graphs.saturating_mul(2).max(1);
        let shared = Shared {
            cores: self.options.cores,
            parts: Mutex::default(),
            change: Condvar::new(),
            hungry: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            ended: AtomicU64::new(self.explored.executions + self.explored.blocked),
        };
        shared.parts().list = (0..self.frames.len()).filter_map(|at| self.part_of(at)).collect();
        let states = self.states.sharing();
        let none = WeakExplored { faults: self.explored.faults.clone(), ..WeakExplored::default() };
        let (trees, options, sabotage) = (self.known.trees(), &self.options, self.sabotage);
        let helped: Vec<WeakExplored> = thread::scope(|scope| {
            let helper = || {
                let _stop = StopOnPanic(&shared);
                let (mut program, mut visit) = (Frozen, |_: &WeakExecution<'_>| {});
                let mut search = Search::new(&mut program, options, &mut visit, sabotage);
                search.known.freeze(&trees);
                search.states = states.clone();
                search.explored = none.clone();
                search.others = Some(&shared);
                while let Some(part) = shared.next() {
                    search.take_part(part);
                    if !search.run_part(&shared) {
                        shared.stop();
                    }
                }
                search.explored
            };
            let helpers: Vec<_> = (0..shared.cores).map(|_| scope.spawn(helper)).collect();
            let join = |helper: thread::ScopedJoinHandle<'_, WeakExplored>| match helper.join() {
                Ok(explored) => explored,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            helpers.into_iter().map(join).collect()
        });
        let graphs: u64 = helped.iter().map(|explored| explored.graphs).sum();
        let cut = self.options.cancel.check();
        if cut.is_ok() && shared.is_over.load(Ordering::Relaxed) {
            self.explored.wasted += graphs;
            if shared.ended.load(Ordering::Relaxed) > self.options.executions_max {
                self.help_at = u64::MAX;
            }
            return Ok(());
        }
        for explored in &helped {
            self.explored.executions += explored.executions;
            self.explored.blocked += explored.blocked;
        }
        self.explored.graphs += graphs;
        if shared.is_over.load(Ordering::Relaxed) {
            return cut.map_err(|stopped| Incomplete::Stopped(stopped.0));
        }
        self.frames.clear();
        self.choices.clear();
        Ok(())
    }

    /// The choices of a frame that are left, for another search.
    fn part_of(&self, at: usize) -> Option<Part> {
        let frame = self.frames[at];
        let choices = self.choices[frame.choices..self.end_of(at)].to_vec();
        if choices.is_empty() {
            return None;
        }
        let mut graph = self.graphs[frame.depth].clone();
        while graph.events.len() > frame.length {
            graph.pop();
        }
        Some(Part { graph, frame: Frame { depth: 0, choices: 0, ..frame }, choices })
    }

    /// Where the choices of a frame end.
    fn end_of(&self, at: usize) -> usize {
        self.frames.get(at + 1).map_or(self.choices.len(), |next| next.choices)
    }

    /// Begins with what another search has left.
    fn take_part(&mut self, part: Part) {
        self.states.update();
        self.graphs.clear();
        self.graphs.push(part.graph);
        self.frames.clear();
        self.frames.push(part.frame);
        self.choices = part.choices;
    }

    /// Gives some of what is left to others, if they have nothing to do. Returns whether it goes
    /// on.
    pub(super) fn share(&mut self, others: &Shared) -> bool {
        if others.is_over.load(Ordering::Relaxed) || self.options.cancel.check().is_err() {
            return false;
        }
        if others.hungry.load(Ordering::Relaxed) == 0 || self.choices.len() < 2 {
            return true;
        }
        let open = |at: &usize| self.end_of(*at) > self.frames[*at].choices;
        let Some(at) = (0..self.frames.len()).find(open) else { return true };
        let Some(mut part) = self.part_of(at) else { return true };
        // The half of them, or the only one.
        let count = part.choices.len().div_ceil(2);
        part.choices.truncate(count);
        let from = self.frames[at].choices;
        self.choices.drain(from..from + count);
        self.frames[at + 1..].iter_mut().for_each(|frame| frame.choices -= count);
        others.give(part);
        true
    }
}
