//! Random executions, for programs whose executions are too many.

use crate::execution::{Ending, Execution, Step};
use crate::fuzz::{Fuzzer, Guide};
use crate::ids::ThreadId;
use crate::learn::{Blocked, Fault, Found, LearnOptions, Sabotage, conflict};
use crate::op::{Act, Op};
use crate::program::ThreadProgram;
use crate::races::{Slots, Views};
use crate::spinning::LongLoop;
use anyorder_common::random::{Random, SplitMix64};
use rustc_hash::FxHashMap;

/// How the next step of a random execution is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampling {
    /// Any step that is possible, with equal probability.
    Walk,
    /// The thread of the highest priority runs. Priorities are random, and at `depth - 1` random
    /// steps the running thread gets the lowest one (S. Burckhardt and others, "A randomized
    /// scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010: PCT).
    Priorities {
        /// The bugs sought are orders of this many steps. At least 1.
        depth: u32,
    },
    /// The operation of the highest priority runs. Priorities are random, and anew for all that are
    /// in conflict with the one that ran (X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency
    /// sampling", CAV 2018: POS).
    PartialOrder,
    /// As `PartialOrder`, but which operation sees what which one wrote is chosen by what the
    /// executions before have shown (D. Wolff and others, "Greybox fuzzing for concurrency
    /// testing", ASPLOS 2024: RFF).
    ReadsFrom,
}

/// What random executions found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sampled {
    /// The executions.
    pub executions: u64,
    /// The steps of all executions.
    pub steps: u64,
    /// The faults, each once, in the order in which they were found.
    pub faults: Vec<Found>,
    /// The loops that give up after more turns in vain than `turns_max`: what they do then was seen
    /// only where nothing else could go on.
    pub long_loops: Vec<LongLoop>,
}

/// Runs random executions, as many as `options` allow. The same seed gives the same ones.
///
/// Finds some faults and never tells that there are no others. Takes time linear in the steps,
/// times the threads.
pub fn sample<P: ThreadProgram + ?Sized>(
    program: &mut P,
    sampling: Sampling,
    seed: u64,
    options: &LearnOptions,
) -> Sampled {
    let mut sampled = Sampled::default();
    let mut execution = Execution::new(program);
    execution.set_spins_max(options.spins_max);
    execution.set_turns_max(options.turns_max);
    let (mut longest, mut fuzzer) = (1, Fuzzer::default());
    while sampled.executions < options.executions_max && options.cancel.check().is_ok() {
        let rng = SplitMix64(SplitMix64(seed ^ sampled.executions << 20).bits());
        let mut chooser = Chooser::new(sampling, rng, longest);
        if sampling == Sampling::ReadsFrom {
            chooser.guide = Some(fuzzer.next(&mut chooser.rng));
        }
        execution.restart();
        let length = run(&mut execution, &mut chooser, options, &mut sampled.faults);
        sampled.executions += 1;
        sampled.steps += length as u64;
        longest = longest.max(length);
        if let Some(guide) = chooser.guide {
            fuzzer.note(guide, execution.events());
        }
    }
    sampled.long_loops = execution.loops().long.clone();
    sampled
}

/// Runs one execution and notes its faults. Returns its length.
fn run<P: ThreadProgram + ?Sized>(
    execution: &mut Execution<'_, P>,
    chooser: &mut Chooser,
    options: &LearnOptions,
    faults: &mut Vec<Found>,
) -> usize {
    let mut ready = Vec::new();
    let (mut views, mut slots) = (Views::new(Sabotage::None), Slots::default());
    let mut note = |fault: Fault, execution: &Execution<'_, P>| {
        if !faults.iter().any(|found| found.fault == fault) {
            let steps = execution.events().iter().map(|event| event.step).collect();
            faults.push(Found { fault, steps, is_shortest: false });
        }
    };
    loop {
        execution.ready(&mut ready);
        if execution.has_diverged() {
            return execution.events().len();
        }
        let length = execution.events().len();
        if length == options.steps_max && !ready.is_empty() {
            note(Fault::StepLimit, execution);
            return length;
        }
        let Some(step) = chooser.choose(&ready, execution, length) else { break };
        if execution.step(step).is_none() {
            break;
        }
        let Some(event) = execution.events().last() else { break };
        let seen = (step.thread, &event.op, event.site);
        let races = views.note(seen, event.result, &mut slots);
        if let Act::Fail(number) = event.op.act {
            note(Fault::Failure(number), execution);
        }
        races.into_iter().for_each(|race| note(Fault::Race(race), execution));
    }
    let blocked = execution.pending().map(|(thread, next)| Blocked {
        thread,
        op: next.op.clone(),
        site: next.site,
    });
    let blocked: Vec<Blocked> = blocked.collect();
    match execution.ending() {
        Ending::Deadlock => note(Fault::Deadlock(blocked), execution),
        Ending::Livelock => note(Fault::Livelock(blocked), execution),
        Ending::Completed | Ending::StepLimit => {}
    }
    execution.events().len()
}

/// The choices of one execution.
struct Chooser {
    sampling: Sampling,
    rng: SplitMix64,
    priorities: FxHashMap<ThreadId, u64>,
    /// Where the running thread gets the lowest priority, ascending.
    changes: Vec<usize>,
    lowest: u64,
    /// What is to see what, if that is chosen.
    guide: Option<Guide>,
}

impl Chooser {
    fn new(sampling: Sampling, mut rng: SplitMix64, longest: usize) -> Chooser {
        let mut changes = Vec::new();
        if let Sampling::Priorities { depth } = sampling {
            changes = (1..depth).map(|_| rng.index(longest)).collect();
            changes.sort_unstable();
        }
        let lowest = u64::from(u32::MAX);
        Chooser { sampling, rng, priorities: FxHashMap::default(), changes, lowest, guide: None }
    }

    /// The priority of a thread: at first above all that were lowered.
    fn priority(&mut self, thread: ThreadId) -> u64 {
        let rng = &mut self.rng;
        *self.priorities.entry(thread).or_insert_with(|| rng.bits() | 1 << 63)
    }

    fn choose<P: ThreadProgram + ?Sized>(
        &mut self,
        ready: &[Step],
        execution: &Execution<'_, P>,
        at: usize,
    ) -> Option<Step> {
        if ready.is_empty() {
            return None;
        }
        if self.sampling == Sampling::Walk {
            return Some(self.rng.pick(ready));
        }
        let allowed = self.guide.as_mut().map(|guide| guide.allowed(ready, execution));
        let ready = allowed.as_deref().unwrap_or(ready);
        let mut best = ready[0].thread;
        for step in ready {
            if self.priority(step.thread) > self.priority(best) {
                best = step.thread;
            }
        }
        while self.changes.first().is_some_and(|change| *change <= at) {
            self.changes.remove(0);
            self.lowest -= 1;
            self.priorities.insert(best, self.lowest);
        }
        if matches!(self.sampling, Sampling::PartialOrder | Sampling::ReadsFrom)
            && let Some(next) = execution.next(best)
        {
            let op = next.op.clone();
            self.redraw(&op, best, execution);
        }
        let ways: Vec<Step> = ready.iter().copied().filter(|step| step.thread == best).collect();
        Some(self.rng.pick(&ways))
    }

    /// Draws new priorities for the thread that runs, and for those in conflict with it.
    fn redraw<P: ThreadProgram + ?Sized>(
        &mut self,
        op: &Op,
        of: ThreadId,
        execution: &Execution<'_, P>,
    ) {
        for (thread, next) in execution.pending() {
            if thread == of || conflict(op, &next.op) {
                self.priorities.remove(&thread);
            }
        }
    }
}
