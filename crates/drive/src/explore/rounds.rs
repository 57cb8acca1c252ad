//! Goes on beyond one reversal, in rounds of more and more runs.
//!
//! **Problem.** One reversal is decided at once, and many mistakes need two or three, inputs in
//! another order, or an event that comes twice. A fixed bound says `ok` on them. **Method.** The
//! further explorations, or *parts*, are: more and more reversals; the same with input events in
//! any order; all orders at once; and this with more occurrences of events that can come any number
//! of times. Each round gives every open part ten times the runs of the round before. A part that
//! comes to its end leaves, and so do those that it makes superfluous. A part begins anew in each
//! round, which costs a ninth of all runs. **Guarantee.** If the caller does not end it, the result
//! is the same each time. What was not tried is in `bounds`.

use super::program::TaskProgram;
use super::vary::{Covered, Deepening, Job, Part};
use crate::Failure;
use crate::limits;
use anyorder_explore::r4::{Limit, UserEvents};
use anyorder_finding::{OptionName, option};

/// The runs of a part in the first round, at least.
const RUNS_MIN: u64 = 200;

/// The growth from round to round.
const GROWTH: u64 = 10;

/// The most tasks of a run where the recording never ends: it then repeats itself.
const STEPS_MAX: u64 = 50;

/// The parts, and what they covered so far.
struct Rounds {
    open: Vec<Part>,
    /// The parts that came to their end, with everything in them run.
    proved: Vec<Part>,
    /// The most reversals of which all runs were made.
    reached: u32,
    /// Bounds that ended a part.
    bounds: Vec<OptionName>,
}

/// Goes on after the first exploration, and names what was not tried.
pub(super) fn deepen<P: TaskProgram>(
    job: &mut Job<'_, P>,
    first: &Covered,
    deepening: &Deepening,
) -> Result<(), Failure> {
    let mut rounds = Rounds::begin(job, first, deepening);
    let mut most = first.runs.saturating_mul(GROWTH).max(RUNS_MIN);
    while !rounds.open.is_empty() {
        let had_found = job.findings.any_harmful();
        most = most.min(deepening.executions_max);
        if !rounds.round(job, most, deepening)? {
            break;
        }
        if had_found {
            break;
        }
        if most == deepening.executions_max {
            rounds.bounds.push(option::MAX_EXECUTIONS);
            job.result.options.set(option::MAX_EXECUTIONS, most);
            break;
        }
        most = most.saturating_mul(GROWTH);
    }
    rounds.name(job, first, deepening);
    Ok(())
}

impl Rounds {
    /// Lists the parts that the first exploration leaves open.
    fn begin<P: TaskProgram>(job: &Job<'_, P>, first: &Covered, deepening: &Deepening) -> Rounds {
        let given = job.part();
        // A given recording is as long as it is.
        let endless = first.cut && job.options.reversals.recording.is_none();
        let steps = endless.then_some(STEPS_MAX);
        let more = Part { bound: Some(u32::MAX), steps, ..given.clone() };
        let reached = given.bound.filter(|_| first.complete).unwrap_or(0);
        let mut rounds =
            Rounds { open: Vec::new(), proved: Vec::new(), reached, bounds: Vec::new() };
        rounds.open.push(more.clone());
        let mut widest = more.clone();
        if deepening.other_inputs && has_other_inputs(&given, first) {
            widest.user_events = UserEvents::Free;
            rounds.open.push(widest.clone());
        }
        if !first.cut {
            rounds.open.push(Part { bound: None, ..widest.clone() });
        }
        if first.repeats {
            for repeats in (given.repeats..=deepening.repeats_max).skip(1) {
                rounds.open.push(Part { repeats, ..widest.clone() });
                if !first.cut {
                    rounds.open.push(Part { repeats, bound: None, ..widest.clone() });
                }
            }
        }
        if first.exhausted {
            rounds.prove(more);
        }
        rounds
    }

    /// Explores each open part. Returns false if the job has to end.
    fn round<P: TaskProgram>(
        &mut self,
        job: &mut Job<'_, P>,
        most: u64,
        deepening: &Deepening,
    ) -> Result<bool, Failure> {
        for part in self.open.clone() {
            if !self.open.contains(&part) {
                continue;
            }
            if deepening.budget.check().is_err() {
                self.bounds.push(option::BUDGET);
                return Ok(false);
            }
            if job.left() == Some(0) {
                self.bounds.push(option::MAX_EXECUTIONS);
                return Ok(false);
            }
            let Some(covered) = job.further(&part, most, &deepening.budget)? else {
                return Ok(false);
            };
            if !self.take(job, part, &covered) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Notes what an exploration covered. Returns false if the job has to end.
    fn take<P: TaskProgram>(
        &mut self,
        job: &mut Job<'_, P>,
        part: Part,
        covered: &Covered,
    ) -> bool {
        let given = job.part();
        if part.repeats == given.repeats && part.user_events == given.user_events {
            self.reached = self.reached.max(covered.depth);
        }
        let mut goes_on = true;
        let mut ended = true;
        for limit in &covered.limits {
            match limit {
                Limit::Executions => ended = false,
                Limit::Budget | Limit::Memory => {
                    self.bounds.push(limits::explored(*limit));
                    (ended, goes_on) = (false, false);
                }
                Limit::Steps | Limit::Waiting => self.bounds.push(limits::explored(*limit)),
                Limit::Alternatives | Limit::Lost => job.result.cut_by(limits::explored(*limit)),
                Limit::Stopped(_) => {
                    job.result.cut_by(limits::explored(*limit));
                    (ended, goes_on) = (false, false);
                }
            }
        }
        if covered.exhausted {
            self.prove(part);
        } else if ended {
            // More runs of it give nothing more.
            self.open.retain(|one| *one != part);
        }
        goes_on
    }

    /// Closes a part in which everything was run, and the parts within it.
    fn prove(&mut self, part: Part) {
        self.open.retain(|one| !covers(&part, one));
        self.proved.push(part);
    }

    /// Names what was not tried.
    fn name<P: TaskProgram>(&self, job: &mut Job<'_, P>, first: &Covered, deepening: &Deepening) {
        let given = job.part();
        let of = |repeats: u32| self.proved.iter().filter(move |part| part.repeats == repeats);
        let is_proved = of(given.repeats).next().is_some();
        let other_inputs = has_other_inputs(&given, first);
        let free = |part: &Part| part.user_events == UserEvents::Free;
        let inputs = !other_inputs || of(given.repeats).any(free);
        let result = &mut job.result;
        let mut reasons = self.bounds.clone();
        if is_proved && inputs && !self.open.iter().any(|part| part.repeats == given.repeats) {
            // What stopped parts that others made superfluous is of no interest.
            reasons.retain(|_| first.repeats && !self.open.is_empty());
        }
        if !is_proved {
            result.options.set(option::BOUND, u64::from(self.reached));
            result.bounded_by(option::BOUND);
        }
        if !inputs {
            result.bounded_by(option::USER_EVENTS);
        }
        if first.repeats {
            let most = (given.repeats..=deepening.repeats_max.max(given.repeats))
                .take_while(|repeats| of(*repeats).next().is_some());
            result.options.set(option::REPEATS, u64::from(most.last().unwrap_or(given.repeats)));
            result.bounded_by(option::REPEATS);
        }
        for reason in reasons {
            if !result.limits.contains(&reason) && !result.bounds.contains(&reason) {
                result.bounded_by(reason);
            }
        }
    }
}

/// Whether the recorded input events could come in another order.
fn has_other_inputs(given: &Part, first: &Covered) -> bool {
    given.user_events == UserEvents::Declared && first.inputs > 1
}

/// Whether everything of a part lies in another one, all of which was run.
fn covers(all: &Part, part: &Part) -> bool {
    all.repeats == part.repeats
        && (all.user_events == part.user_events || all.user_events == UserEvents::Free)
}
