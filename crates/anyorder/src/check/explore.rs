//! The only place that knows which engine explores a program.

use super::engine::Engine;
use super::failure::{Failure, FailureKind, leak, race, signature};
use super::misuse::misuse;
use super::passing::{self, Budget};
use super::relive::{provoke, relive, stops_spinning};
use super::replay::{self, Replayed, Schedule};
use super::run::{Run, along};
use super::source::Sources;
use super::summary::{Doubt, LongLoop, Summary};
use super::trace::Trace;
use super::{blocked, endless, frees};
use crate::runtime::{self, Leaked, MisuseKind, Program};
use anyorder_common::cancel::{Cancel, StopReason};
use anyorder_threads::{
    Act, Ending, Fault, Found, Journal, LearnOptions, SiteId, TURNS_MAX, ThreadId, races_of,
};
use rustc_hash::FxHashSet;
use std::thread;
use std::time::Duration;

/// How far a program is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most executions; none if `None`. At most as many again are run for reports, and one to
    /// confirm each failure; or, of those in which the same operations wait, the first one.
    pub executions_max: Option<u64>,
    /// The most operations of one execution. A longer one is cut, and the check is incomplete.
    pub steps_max: usize,
    /// The most time; none if `None`.
    pub time_max: Option<Duration>,
    /// Which executions are run.
    pub engine: Engine,
    /// The most preemptions of one execution; any number if `None`.
    pub preemptions_max: Option<u32>,
    /// The most turns in vain after which a loop may give up that is explored turn by turn.
    pub turns_max: u32,
    /// Whether the number of turns in vain is not combined with all that comes later.
    pub turns_merged: bool,
    /// On how many cores executions are explored at most, under weak memory and by
    /// [`Engine::Optimal`].
    pub cores: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            executions_max: None,
            steps_max: 100_000,
            time_max: None,
            engine: Engine::Learning,
            preemptions_max: None,
            turns_max: TURNS_MAX,
            turns_merged: false,
            cores: 1,
        }
    }
}

/// Explores a program by learning: it is run until no thread can see anything new. Each failure is
/// told once, with an execution that shows it. Executions that only show one are counted apart.
///
/// ```
/// use anyorder::{Limits, Program, explore};
/// let mut program = Program::new(|| assert_eq!(anyorder::choose(2), 0));
/// let summary = explore(&mut program, Limits::default());
/// assert_eq!((summary.executions, summary.failures.len()), (2, 1));
/// ```
pub fn explore(program: &mut Program, limits: Limits) -> Summary {
    explore_from(program, limits, None).0
}

/// As [`explore`]. With `resume`, goes on where an earlier one was cut, if it has a journal; and if
/// this one is cut, returns its journal.
pub(super) fn explore_from(
    program: &mut Program,
    limits: Limits,
    resume: Option<Option<Journal>>,
) -> (Summary, Option<Box<Journal>>) {
    let budget = Budget::new(limits);
    program.set_describe(replay::of_log);
    let (cancel, turn) = (Cancel::new(), Cancel::new());
    let options = LearnOptions {
        steps_max: limits.steps_max,
        executions_max: limits.executions_max.unwrap_or(u64::MAX),
        preemptions_max: limits.preemptions_max,
        turns_max: limits.turns_max,
        merges_turns: limits.turns_merged,
        keeps_journal: resume.is_some(),
        resume: resume.flatten(),
        cancel: cancel.clone(),
        turn: turn.clone(),
        ..LearnOptions::default()
    };
    // The last third of the time is for what may be complete up to some number of preemptions.
    let learnt = timed(limits.time_max, &cancel, || {
        let before = limits.time_max.map(|most| most * 2 / 3);
        let before = before.filter(|_| !options.keeps_journal);
        timed(before, &turn, || limits.engine.explore(program, &options, limits.cores))
    });
    let (executions_for_frees, frees_incomplete) =
        frees::watch(program, &options, &learnt, budget.time_left());
    let mut reporter = Reporter { budget, sources: Sources::default(), saw_clock: false };
    let leaks = program.take_leaks();
    let (misuses, candidates) = program.take_misuses();
    let (mut failures, mut failures_like_them) = (Vec::new(), 0);
    let mut stuck_at = FxHashSet::default();
    for found in &learnt.faults {
        let is_new = stuck(&found.fault).is_none_or(|at| stuck_at.insert(at));
        match is_new || !reporter.budget.is_spent() {
            true => failures.extend(reporter.fault(program, found)),
            false => failures_like_them += 1,
        }
    }
    failures.extend(leaks.iter().map(|leaked| reporter.leak(program, leaked)));
    let mut provoked = reporter.provoke(program, &candidates);
    let shown: FxHashSet<_> = misuses.iter().map(runtime::Misuse::key).collect();
    provoked.retain(|misuse| !shown.contains(&misuse.key()));
    for found in misuses.iter().chain(&provoked) {
        failures.push(reporter.misuse(program, found));
    }
    let doubts = [
        (program.has_loose_names(), Doubt::LooseNames),
        (program.has_moved(), Doubt::Moved),
        (program.has_outside_data(), Doubt::OutsideData),
        (reporter.saw_clock, Doubt::Clock),
    ];
    let journal = learnt.journal;
    let doubts = doubts.into_iter().filter(|doubt| doubt.0).map(|doubt| doubt.1).collect();
    let summary = Summary {
        executions: learnt.executions,
        states: learnt.states,
        executions_for_reports: reporter.budget.executions + learnt.confirmations,
        executions_for_frees,
        frees_incomplete,
        executions_for_loops: learnt.trials,
        long_loops: learnt.long_loops.iter().map(|long| LongLoop::of(program, long)).collect(),
        incomplete: learnt.incomplete,
        turns_merged: limits.turns_merged && limits.preemptions_max.is_none(),
        preemptions: learnt.preemptions,
        unseen: learnt.unseen,
        doubts,
        failures,
        failures_like_them,
        ..Summary::default()
    };
    (summary, journal)
}

/// Calls `f`, and asks it to stop when the time is over.
pub(super) fn timed<R>(time_max: Option<Duration>, cancel: &Cancel, f: impl FnOnce() -> R) -> R {
    let Some(time_max) = time_max else { return f() };
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let watched = cancel.clone();
    let watch = thread::spawn(move || {
        if is_done.recv_timeout(time_max) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            watched.stop(StopReason::TimeLimit);
        }
    });
    let result = f();
    drop(done);
    // It has nothing left to do.
    let _ = watch.join();
    result
}

/// Runs one execution, as a text says.
pub(super) fn replay(program: &mut Program, schedule: &Schedule, limits: Limits) -> Summary {
    let sources = Sources::default();
    let mut reporter = Reporter { budget: Budget::new(limits), sources, saw_clock: false };
    let _ = (program.take_leaks(), program.take_misuses());
    program.set_describe(replay::of_log);
    let (mut run, mut misfit) = schedule.run(program, limits.steps_max);
    if misfit.is_some() {
        // It may be one of those for which locks protect what is not seen.
        let _ = (program.take_leaks(), program.take_misuses());
        program.set_guards_unseen(true);
        let (other, still) = schedule.run(program, limits.steps_max);
        program.set_guards_unseen(still.is_none());
        if still.is_none() {
            (run, misfit) = (other, still);
        }
    }
    let (leaks, (misuses, _)) = (program.take_leaks(), program.take_misuses());
    let mut summary = Summary { executions: 1, ..Summary::default() };
    if let Some(misfit) = misfit {
        summary.threads_at_misfit = replay::about(program, &run, &mut reporter.sources);
        summary.replayed = Some(Replayed::Misfit(misfit));
        return summary;
    }
    if run.ending.is_none() && run.events.len() >= limits.steps_max && !run.has_failed() {
        let failure = reporter.endless(program, run);
        let is_same = failure.schedule.signature() == schedule.signature();
        summary.replayed = Some(if is_same { Replayed::Same } else { Replayed::Otherwise });
        summary.failures.push(failure);
        return summary;
    }
    let trace = Trace::new(program, &run, &mut reporter.sources);
    let mut kinds = reporter.kinds(program, &run, &trace);
    kinds.extend(leaks.iter().map(leak));
    let misuse = |found| FailureKind::Misuse(misuse(program, &run, &trace, found));
    kinds.extend(misuses.iter().map(misuse));
    let is_same = kinds.iter().any(|kind| Some(signature(kind, &trace)) == schedule.signature());
    summary.replayed = Some(match (kinds.is_empty(), is_same) {
        (true, _) => Replayed::Passed,
        (_, true) => Replayed::Same,
        _ => Replayed::Otherwise,
    });
    for kind in kinds {
        let failure = reporter.failure(program, &run, trace.clone(), kind, true);
        summary.failures.push(failure);
    }
    summary.executions_for_reports = reporter.budget.executions;
    summary
}

/// Makes reports of failures, with executions that it runs.
struct Reporter {
    budget: Budget,
    sources: Sources,
    /// Whether a loop ended that nothing in the program ends.
    saw_clock: bool,
}

impl Reporter {
    /// Returns a fault with its execution. `None` if it is no failure of its own: what waits after
    /// a panic.
    fn fault(&mut self, program: &mut Program, found: &Found) -> Option<Failure> {
        let is_livelock = matches!(found.fault, Fault::Livelock(_));
        let (mut run, mut is_confirmed) = self.again(program, found);
        for _ in 1..TRIES {
            if is_confirmed || !is_livelock || run.has_failed() || self.budget.is_spent() {
                break;
            }
            (run, is_confirmed) = self.again(program, found);
        }
        if matches!(found.fault, Fault::Deadlock(_) | Fault::Livelock(_)) && run.has_failed() {
            return None;
        }
        if is_livelock && is_confirmed {
            let mut stops = None;
            for _ in 0..TRIES {
                self.budget.executions += 1;
                stops = stops_spinning(program, &found.steps, PATIENCE);
                if stops.is_some() || self.budget.is_spent() {
                    break;
                }
            }
            if stops == Some(true) {
                self.saw_clock = true;
                return None;
            }
        }
        let trace = Trace::new(program, &run, &mut self.sources);
        let kind = match &found.fault {
            Fault::Failure(number) => FailureKind::Panic(program.panic(*number)?),
            Fault::StepLimit => return Some(self.endless(program, run)),
            Fault::Deadlock(_) => FailureKind::Deadlock(blocked::waiting(program, &run, &trace)),
            Fault::Livelock(_) => FailureKind::Livelock(blocked::waiting(program, &run, &trace)),
            Fault::Race(found) => FailureKind::Race(Box::new(race(program, &run, &trace, found))),
        };
        Some(self.failure(program, &run, trace, kind, is_confirmed))
    }

    /// Runs the execution of a fault again. Returns whether it shows the fault. If it is not the
    /// same in each run, what is there of the execution tells how far it came.
    fn again(&mut self, program: &mut Program, found: &Found) -> (Run, bool) {
        self.budget.executions += 1;
        let (run, is_whole) = along(program, &found.steps);
        let is_confirmed = is_whole && shows(&run, &found.fault);
        (run, is_confirmed)
    }

    /// Returns what is wrong in a run, as far as the engine sees it.
    fn kinds(&self, program: &Program, run: &Run, trace: &Trace) -> Vec<FailureKind> {
        let mut kinds = Vec::new();
        for event in &run.events {
            if let Act::Fail(number) = event.op.act {
                kinds.extend(program.panic(number).map(FailureKind::Panic));
            }
        }
        let races = races_of(&run.events);
        kinds.extend(
            races.iter().map(|found| FailureKind::Race(Box::new(race(program, run, trace, found)))),
        );
        match run.ending {
            _ if run.has_failed() => {}
            Some(Ending::Deadlock) => {
                kinds.push(FailureKind::Deadlock(blocked::waiting(program, run, trace)));
            }
            Some(Ending::Livelock) => {
                kinds.push(FailureKind::Livelock(blocked::waiting(program, run, trace)));
            }
            _ => {}
        }
        kinds
    }

    fn failure(
        &mut self,
        program: &mut Program,
        run: &Run,
        trace: Trace,
        kind: FailureKind,
        is_confirmed: bool,
    ) -> Failure {
        let panics = run.events.iter().filter(|event| matches!(event.op.act, Act::Fail(_))).count();
        let is_consequence = matches!(kind, FailureKind::Panic(_)) && panics > 1;
        let schedule = Schedule::of(&run.events, Some(signature(&kind, &trace)));
        let passing = match is_confirmed && !is_consequence {
            true => passing::find(program, run, &mut self.sources, &mut self.budget),
            false => None,
        };
        Failure { kind, trace, is_confirmed, is_consequence, passing, schedule }
    }

    /// Reports an execution that is too long, by its last operations.
    fn endless(&mut self, program: &mut Program, mut run: Run) -> Failure {
        let able: Vec<ThreadId> = run
            .pending
            .iter()
            .filter(|(thread, next)| run.world.alternatives(*thread, &next.op) > 0)
            .map(|(thread, _)| *thread)
            .collect();
        let all = Trace::new(program, &run, &mut self.sources);
        let endless = endless::endless(program, &run, &all, &able);
        let kind = FailureKind::Endless(endless);
        let schedule = Schedule::of(&run.events, Some(signature(&kind, &all)));
        // The start tells how it comes there; the rest is the same again and again.
        run.events.truncate(endless::SHOWN);
        run.in_vain.truncate(endless::SHOWN);
        let trace = Trace::new(program, &run, &mut self.sources);
        Failure { kind, trace, is_confirmed: true, is_consequence: false, passing: None, schedule }
    }

    /// Returns values that an execution leaves, with the execution.
    fn leak(&mut self, program: &mut Program, leaked: &Leaked) -> Failure {
        let _ = program.take_leaks();
        self.budget.executions += 1;
        let run = relive(program, &leaked.log, self.budget.steps_max);
        let again = program.take_leaks();
        let is_confirmed = again.iter().any(|again| {
            let places = |leaked: &Leaked| {
                leaked.made.iter().map(|at| (at.file(), at.line())).collect::<Vec<_>>()
            };
            places(again) == places(leaked)
        });
        let mut trace = Trace::new(program, &run, &mut self.sources);
        let kind = leak(leaked);
        if let FailureKind::Leak(leaks) = &kind {
            trace.watch(&leaks.iter().map(|leak| leak.made.clone()).collect::<Vec<_>>());
        }
        self.failure(program, &run, trace, kind, is_confirmed)
    }

    /// Runs executions in which what is used may be freed before. Returns what they show.
    fn provoke(
        &mut self,
        program: &mut Program,
        candidates: &[runtime::Misuse],
    ) -> Vec<runtime::Misuse> {
        for candidate in candidates.iter().take(CANDIDATES_MAX) {
            if self.budget.is_spent() {
                break;
            }
            self.budget.executions += 1;
            provoke(program, candidate, self.budget.steps_max);
        }
        // What else they leave was found by the search.
        let _ = program.take_leaks();
        program.take_misuses().0
    }

    /// Returns a misuse of memory with its execution.
    fn misuse(&mut self, program: &mut Program, found: &runtime::Misuse) -> Failure {
        // The runs beside other failures are not this one.
        let _ = program.take_misuses();
        self.budget.executions += 1;
        let run = relive(program, &found.log, self.budget.steps_max);
        let again = program.take_misuses().0;
        let is_same = |again: &&runtime::Misuse| {
            let is_it = (again.kind, again.object) == (found.kind, found.object);
            // Here a free comes as early as it can: before another free, or an earlier use.
            is_it && (again.user.0 == found.user.0 || found.kind == MisuseKind::FreedTwice)
        };
        let again = again.iter().find(is_same);
        let (is_confirmed, found) = (again.is_some(), again.unwrap_or(found));
        let trace = Trace::new(program, &run, &mut self.sources);
        let kind = FailureKind::Misuse(misuse(program, &run, &trace, found));
        self.failure(program, &run, trace, kind, is_confirmed)
    }
}

/// How often an execution with a loop is tried: one that looks at a clock ends it at times.
const TRIES: u32 = 8;

/// How long a loop is watched before it is said never to end.
const PATIENCE: Duration = Duration::from_millis(100);

/// The most executions that are run to see whether memory can be used after it is freed.
const CANDIDATES_MAX: usize = 64;

/// Where the threads of a deadlock or livelock wait, in the order of the places: where only the
/// threads and objects differ, it is the same mistake as a rule.
fn stuck(fault: &Fault) -> Option<Vec<SiteId>> {
    let (Fault::Deadlock(blocked) | Fault::Livelock(blocked)) = fault else { return None };
    let mut sites: Vec<SiteId> = blocked.iter().map(|blocked| blocked.site).collect();
    sites.sort_unstable();
    Some(sites)
}

/// Whether an execution shows a fault.
fn shows(run: &Run, fault: &Fault) -> bool {
    let last = run.events.last();
    match fault {
        Fault::Failure(number) => last.is_some_and(|event| event.op.act == Act::Fail(*number)),
        Fault::Deadlock(blocked) | Fault::Livelock(blocked) => {
            let threads = run.pending.iter().map(|pending| pending.0);
            run.ending.is_some() && threads.eq(blocked.iter().map(|blocked| blocked.thread))
        }
        Fault::Race(race) => races_of(&run.events).iter().any(|other| {
            let sides = |one: &anyorder_threads::Race| [one.first, one.second];
            let (own, mut others) = (sides(race), sides(other));
            let is_same = own == others;
            others.reverse();
            other.object == race.object && (is_same || own == others)
        }),
        Fault::StepLimit => true,
    }
}
