//! Several cores, each with a program of its own, explore one tree.
//!
//! **Why the counts are those of one core.** Each state has its branches in an order. A branch
//! sleeps below those to its right: so no trace is run twice, in whatever order branches are run.
//! What was found below a branch is put to the right of it, as on one core; and new branches are
//! the last ones of their state, so that what sleeps below a branch does not change any more.
//!
//! On one core, nothing to the right was begun by then. On several ones it may have been, and *a
//! branch that was begun does not make up for a sequence that it can begin*: it learns from what
//! sleeps below it what wakes that. An example: `s` sleeps, which writes `x`. So does `u` if it
//! does not find both `p` and `q` there before it, and so does `q` if it comes before `p`. The
//! branch was begun with `p u`. Below `p` only `u` wakes `s`: no race there tells that `u` alone,
//! or `q` before `p`, would wake it, too. The executions below `s` tell. So a sequence goes on
//! below a branch that was begun, as it goes on below one that was not, up to where nobody sleeps:
//! from there all is run, whatever others find.
//!
//! *Each trace is run.* Let all be over, and let some state have a continuation `w` that no
//! execution has, though nothing that sleeps in the state (the branches from there included) can
//! begin it. Take the last such state: with everything below it, and what sleeps in it, as it
//! should be. Of all that sleeps in it, take the `p` that is independent of the longest part of
//! `w`. An execution in which `p` comes first, and then that part and the next event of `w`,
//! exists; it has a race of `p` with that event, and so a sequence was put to the right of `p`.
//! Nothing to the left of `p`, and nothing else that sleeps, can begin that sequence: it would be
//! independent of more of `w`, or could begin `w`. So the sequence went below the branches that
//! lead to the state, where `p` still sleeps, and became or found a branch there that can begin
//! `w`: a contradiction.
//!
//! *No execution is blocked.* Nothing that sleeps at the end of a sequence, or stands to the left
//! of it, could begin it when it was put there, and nothing is put to the left of anything. So it
//! wakes them all.
//!
//! **Memory.** A branch below which all was run stays until all that sleeps there was run: until
//! then, sequences may come. Where nobody sleeps, none do.
//!
//! **The same answer.** One core begins, and others help after some executions. They count, and
//! show by *exhibits* which faults there are: then the first core goes on, until it has found
//! them, too, so that each comes with the execution with which it comes on one core. Where they
//! come to something that depends on what was run before (loops that give way, a limit, a program
//! that is bound to one core), what they did is thrown away, and one core goes on alone.

use super::forest::{Forest, StateId, Task};
use super::outcome::{DporExplored, DporOptions};
use super::sabotage::Sabotage;
use super::search::{Search, Start};
use crate::execution::{Event, Step};
use crate::ids::ThreadId;
use crate::learn::Incomplete;
use crate::op::Act;
use crate::program::{Beside, ThreadProgram};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// After how many executions others help: to make a program and a thread of the system costs as
/// much as some executions, and those so far are run again.
pub(super) const FROM: u64 = 256;

/// An execution that shows something. Threads have the numbers of the events that spawned them,
/// from 1, and so the same in all programs.
#[derive(Clone, Debug)]
struct Exhibit(Vec<(u32, u32)>);

impl Exhibit {
    fn new(events: &[Event]) -> Exhibit {
        let mut numbers: FxHashMap<ThreadId, u32> = FxHashMap::default();
        let step = |(at, event): (usize, &Event)| {
            if let Act::Spawn(child) = event.op.act {
                numbers.insert(child, at as u32 + 1);
            }
            let thread = numbers.get(&event.step.thread).copied().unwrap_or(0);
            (thread, event.step.alternative)
        };
        Exhibit(events.iter().enumerate().map(step).collect())
    }
}

/// What exhibits show.
#[derive(Clone, Copy, Debug)]
struct Shown {
    faults: usize,
    beside: Beside,
    has_more: bool,
}

/// How the help of others ended.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Over {
    /// Everything was run.
    All,
    /// It was stopped.
    Stopped(Incomplete),
    /// It is for one core.
    OneCore,
}

/// A core, with what it ran last.
struct Worker<'p, 'v, P: ThreadProgram + ?Sized> {
    search: Search<'p, 'v, P>,
    /// The states of its last path, as far as they are in the tree.
    states: Vec<StateId>,
    exhibits: Vec<Exhibit>,
}

impl<'p, 'v, P: ThreadProgram + ?Sized> Worker<'p, 'v, P> {
    fn new(mut search: Search<'p, 'v, P>) -> Self {
        search.reversed = Some(Vec::new());
        Worker { search, states: Vec::new(), exhibits: Vec::new() }
    }

    /// Runs an execution.
    fn run(&mut self, task: &Task) -> Result<(), Incomplete> {
        let search = &mut self.search;
        let before = (search.explored.faults.len(), search.execution.program_ref().beside());
        while search.path.len() > task.common {
            search.path.pop();
        }
        search.replay()?;
        let mut sleep = search.sleep_at_end();
        let mut left = task.left.iter();
        for (label, left) in task.steps.iter().zip(left.by_ref()) {
            if search.asks_for_one_core() {
                return Err(Incomplete::Diverged(None));
            }
            sleep.extend_from_slice(left);
            let step = Step { thread: ThreadId(label.thread), alternative: label.alternative };
            let result = search.execution.perform(step).ok_or(Incomplete::Diverged(None))?;
            sleep = search.push(step, result, (sleep, Vec::new()));
            if search.path.nodes.last().is_none_or(|node| node.label != *label) {
                return Err(Incomplete::Diverged(None));
            }
        }
        left.for_each(|left| sleep.extend_from_slice(left));
        search.extend(Start { sleep, trees: task.branch.iter().cloned().collect() })?;
        if search.path.len() + 1 < task.states.len() {
            return Err(Incomplete::Diverged(None));
        }
        search.execution.stop();
        let after = (search.explored.faults.len(), search.execution.program_ref().beside());
        if search.asks_for_one_core() {
            return Err(Incomplete::Diverged(None));
        }
        if before != after {
            self.exhibits.push(Exhibit::new(search.execution.events()));
        }
        Ok(())
    }

    /// Puts what the execution has shown into the tree. Returns the states that it began.
    fn commit(&mut self, task: Task, forest: &mut Forest) -> Vec<StateId> {
        forest.running -= 1;
        let begun_from = if task.branch.is_some() { task.depth + 1 } else { 0 };
        let reversed = self.search.reversed.replace(Vec::new()).unwrap_or_default();
        let (nodes, at_end) = (&self.search.path.nodes, self.search.sleep_at_end());
        let sleep = |at: usize| nodes.get(at).map_or(&at_end, |node| &node.sleep).clone();
        self.states = task.states;
        for at in task.depth + 1..self.states.len() {
            forest.note_performed(self.states[at], nodes[at - 1].label.clone(), sleep(at));
        }
        for (first, sequence) in reversed {
            while self.states.len() <= first as usize + 1 {
                let at = self.states.len();
                let label = nodes[at - 1].label.clone();
                self.states.push(forest.add_free(self.states[at - 1], label, sleep(at)));
            }
            forest.insert(self.states[first as usize + 1], sequence);
        }
        self.states[begun_from..].to_vec()
    }
}

/// What cores have in common.
struct Shared {
    forest: Mutex<Forest>,
    /// Tells that there is something to do, or that all is over.
    change: Condvar,
    over: Mutex<Option<Over>>,
    /// The executions that ended.
    ended: AtomicU64,
}

impl Shared {
    fn forest(&self) -> MutexGuard<'_, Forest> {
        self.forest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self) -> MutexGuard<'_, Option<Over>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it for all.
    fn stop(&self, over: Over) {
        // With the lock, so that nobody begins to wait meanwhile.
        let forest = self.forest();
        self.over().get_or_insert(over);
        drop(forest);
        self.change.notify_all();
    }

    /// Waits for something to do. `None` if all is over.
    fn wait(&self, mut forest: MutexGuard<'_, Forest>, path: &[StateId]) -> Option<Task> {
        loop {
            if self.over().is_some() {
                return None;
            }
            if let Some(task) = forest.begin_any(0, path) {
                return Some(task);
            }
            if forest.running == 0 {
                self.change.notify_all();
                return None;
            }
            forest = self.change.wait(forest).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs one execution after another.
    fn work<P: ThreadProgram + ?Sized>(&self, worker: &mut Worker<'_, '_, P>) {
        let mut task = self.wait(self.forest(), &[]);
        while let Some(this) = task {
            if let Err(stopped) = worker.search.options.cancel.check() {
                return self.stop(Over::Stopped(Incomplete::Stopped(stopped.0)));
            }
            let is_run = worker.run(&this).is_ok();
            let ended = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
            if !is_run || ended > worker.search.options.executions_max {
                return self.stop(Over::OneCore);
            }
            let mut forest = self.forest();
            let begun = worker.commit(this, &mut forest);
            // First its own: most of the path is there, and states are forgotten soon.
            task = match self.over().is_some() {
                true => return,
                false => forest.begin_on(&worker.states),
            };
            forest.end(&begun);
            if forest.has_ready() {
                self.change.notify_one();
            }
            if task.is_none() {
                task = self.wait(forest, &worker.states);
            }
        }
    }
}

/// Ends it for all if a core panics: the others would wait for it.
struct StopOnPanic<'s>(&'s Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop(Over::OneCore);
        }
    }
}

/// What all cores did.
struct Helped {
    over: Over,
    explored: DporExplored,
    exhibits: Vec<Exhibit>,
}

/// Runs everything on several cores.
fn run_all<P: ThreadProgram>(make: &(dyn Fn() -> P + Sync), options: &DporOptions) -> Helped {
    let mut forest = Forest::new(Sabotage::None);
    forest.offer_first();
    let (forest, over, ended) = (Mutex::new(forest), Mutex::default(), AtomicU64::new(0));
    let shared = Shared { forest, change: Condvar::new(), over, ended };
    let one = || {
        let _stop = StopOnPanic(&shared);
        let (mut program, mut visit) = (make(), |_: &[Event], _| {});
        let search = Search::new(&mut program, options, &mut visit, Sabotage::None);
        let mut worker = Worker::new(search);
        shared.work(&mut worker);
        (worker.search.finish(None), worker.exhibits)
    };
    let ended: Vec<(DporExplored, Vec<Exhibit>)> = thread::scope(|scope| {
        let begin = |_| thread::Builder::new().spawn_scoped(scope, one);
        // Where the system has no more threads, there are fewer.
        let workers: Vec<_> = (0..options.cores).filter_map(|at| begin(at).ok()).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().map(join).collect()
    });
    let over = match shared.over().take() {
        Some(over) => over,
        None if ended.is_empty() => Over::OneCore,
        None => Over::All,
    };
    let mut helped = Helped { over, explored: DporExplored::default(), exhibits: Vec::new() };
    for (explored, mut exhibits) in ended {
        helped.explored.add(&explored);
        helped.exhibits.append(&mut exhibits);
    }
    helped
}

impl DporExplored {
    fn add(&mut self, other: &DporExplored) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.steps += other.steps;
        self.runs += other.runs;
    }
}

impl<P: ThreadProgram + ?Sized> Search<'_, '_, P> {
    /// Runs an execution that shows something, and notes what is wrong in it.
    fn show(&mut self, exhibit: &Exhibit) {
        self.explored.runs += 1;
        self.execution.restart();
        let mut threads: FxHashMap<u32, ThreadId> = FxHashMap::default();
        threads.insert(0, ThreadId::MAIN);
        for (at, (thread, alternative)) in exhibit.0.iter().enumerate() {
            let Some(thread) = threads.get(thread).copied() else { return };
            let step = Step { thread, alternative: *alternative };
            if self.execution.perform(step).is_none() {
                return;
            }
            let act = self.execution.events().last().map(|event| &event.op.act);
            match act {
                Some(Act::Spawn(child)) => drop(threads.insert(at as u32 + 1, *child)),
                Some(Act::Fail(number)) => self.note(crate::Fault::Failure(*number), at + 1),
                Some(Act::Access { .. }) => self.has_accesses = true,
                _ => {}
            }
        }
        let mut ready = Vec::new();
        self.execution.ready(&mut ready);
        if ready.is_empty() {
            self.note_ending(self.execution.ending());
        }
        self.execution.stop();
    }

    /// Whether it has found all that others have shown.
    fn has_found(&mut self, shown: &Shown, before: Beside) -> bool {
        self.execution.stop();
        let beside = self.execution.program_ref().beside();
        // Which execution shows a misuse is not a matter of its trace alone.
        let has_misuses = shown.beside.misuses == 0 && beside.misuses == before.misuses;
        self.explored.faults.len() >= shown.faults
            && beside.leaks - before.leaks >= shown.beside.leaks
            && (has_misuses || beside.is_tired)
            && !shown.has_more
    }
}

/// Explores a program by one execution for each Mazurkiewicz trace, on several cores if the
/// options say so and it pays. `make` makes another program that is the same: threads and objects
/// have the same numbers in all that it makes.
///
/// What is counted and found is what [`explore_optimal`](super::explore_optimal) counts and finds,
/// in the same order, but for `runs`; and but for what was found when it is stopped.
pub fn explore_optimal_on<P: ThreadProgram>(
    program: &mut P,
    make: &(dyn Fn() -> P + Sync),
    options: &DporOptions,
) -> DporExplored {
    let before = program.beside();
    let mut visit = |_: &[Event], _| {};
    let mut search = Search::new(program, options, &mut visit, Sabotage::None);
    if options.cores < 2 {
        return search.explore();
    }
    #[cfg(test)]
    let from = options.cores_from;
    #[cfg(not(test))]
    let from = FROM;
    let mut end = search.run_while(|search| search.explored.executions < from);
    search.execution.stop();
    let is_for_one = search.asks_for_one_core() || search.execution.program_ref().has_more();
    if end != Ok(false) || is_for_one {
        if end == Ok(false) {
            end = search.run_while(|_| true);
        }
        return search.finish(end.err());
    }
    let helped = run_all(make, options);
    search.explored.runs += helped.explored.runs;
    end = match &helped.over {
        Over::OneCore => search.run_while(|_| true),
        Over::Stopped(why) => Err(why.clone()),
        Over::All => {
            let shown = shown_by(make, options, &helped.exhibits);
            search.run_while(|search| !search.has_found(&shown, before))
        }
    };
    if helped.over != Over::OneCore && end != Ok(true) {
        if end.is_err() {
            helped.exhibits.iter().for_each(|exhibit| search.show(exhibit));
        }
        let DporExplored { executions, blocked, steps, .. } = helped.explored;
        let is_more = executions > search.explored.executions;
        if is_more {
            let explored = &mut search.explored;
            (explored.executions, explored.blocked, explored.steps) = (executions, blocked, steps);
        }
    }
    search.finish(end.err())
}

/// Counts what exhibits show, in a program of its own.
fn shown_by<P: ThreadProgram>(
    make: &(dyn Fn() -> P + Sync),
    options: &DporOptions,
    exhibits: &[Exhibit],
) -> Shown {
    let (mut program, mut visit) = (make(), |_: &[Event], _| {});
    let mut search = Search::new(&mut program, options, &mut visit, Sabotage::None);
    exhibits.iter().for_each(|exhibit| search.show(exhibit));
    let program = search.execution.program_ref();
    let (beside, has_more) = (program.beside(), program.has_more());
    Shown { faults: search.explored.faults.len(), beside, has_more }
}

/// Explores a program with several workers of which one at a time does something. `choose` says
/// which, and which branch it takes.
#[cfg(test)]
pub(crate) fn explore_in_turns<P: ThreadProgram>(
    programs: &mut [P],
    options: &DporOptions,
    choose: &mut dyn FnMut(usize) -> usize,
    visit: &dyn Fn(&[Event], crate::Ending),
    sabotage: Sabotage,
) -> Result<(DporExplored, super::forest::Meetings), Incomplete> {
    let mut visits: Vec<_> =
        programs.iter().map(|_| |events: &_, end| visit(events, end)).collect();
    let searches = programs.iter_mut().zip(&mut visits);
    let mut workers: Vec<_> = searches
        .map(|(program, visit)| Worker::new(Search::new(program, options, visit, sabotage)))
        .collect();
    let mut forest = Forest::new(sabotage);
    forest.offer_first();
    // What each worker is at, and whether it was run.
    let mut tasks: Vec<Option<(Task, bool)>> = workers.iter().map(|_| None).collect();
    loop {
        let is_able = |at: &usize| tasks[*at].is_some() || forest.has_ready();
        let able: Vec<usize> = (0..workers.len()).filter(is_able).collect();
        if able.is_empty() {
            break;
        }
        let at = able[choose(able.len())];
        tasks[at] = match tasks[at].take() {
            None => {
                let number = choose(forest.ready_count());
                forest.begin_any(number, &workers[at].states).map(|task| (task, false))
            }
            Some((task, false)) => {
                workers[at].run(&task)?;
                Some((task, true))
            }
            Some((task, true)) => {
                let begun = workers[at].commit(task, &mut forest);
                let own = (choose(2) == 0).then(|| forest.begin_on(&workers[at].states));
                forest.end(&begun);
                own.flatten().map(|task| (task, false))
            }
        };
        let ended: u64 = workers.iter().map(|worker| worker.search.explored.executions).sum();
        if ended > options.executions_max {
            return Err(Incomplete::Executions);
        }
    }
    let mut explored = DporExplored::default();
    for worker in workers {
        let own = worker.search.finish(None);
        explored.add(&own);
        for found in own.faults {
            let key = |found: &crate::Found| super::search::key_of(&found.fault);
            if !explored.faults.iter().any(|known| key(known) == key(&found)) {
                explored.faults.push(found);
            }
        }
    }
    Ok((explored, forest.meetings))
}
