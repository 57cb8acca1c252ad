//! Robustness of a program: its events and tasks in every order that the multi-thread semantics
//! has.

use super::finding::Reporter;
use super::program::{ActionOf, RobustProgram, StateOf};
use crate::failure::Unusable;
use crate::limits::stopped_by;
use crate::{Failure, JobControl, JobResult, Reported};
use anyorder_common::numbers::plural;
use anyorder_finding::{Harm, Severity, Warning, WarningKind, option, stat};
use anyorder_robust::model::{
    Answer, Conflicts, Divergence, Options, Property, Searched, SerialOutcomes, Views, Violation,
    conflicts, outcomes, shown_by,
};
use anyorder_system::{AsyncSystem, Control, JobWatch, RunError};

/// The filter of findings whose harm was not decided: they do not count.
pub(super) const UNDECIDED: &str = "undecided";

/// The category of a finding of a run that ends with tasks that wait for ever.
const DEADLOCK: &str = "deadlock";

/// The options of [`robust_model`](crate::robust_model).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RobustModelOptions {
    /// How many invocations may stop half-way besides the one with the pivot.
    pub stops: u32,
    /// How often an event may happen that is not declared `once`.
    pub repeat: u32,
    /// The most states of each search.
    pub max_states: usize,
}

impl Default for RobustModelOptions {
    fn default() -> RobustModelOptions {
        let Options { stops, repeat, max_states, .. } = Options::default();
        RobustModelOptions { stops, repeat, max_states }
    }
}

/// Decides whether a program is robust against concurrency: searches all states for an outcome that
/// no serial run has, and all runs for violations of the properties of conflicts
/// (`docs/robustness.md`, "Models"). Certificates are not checked yet.
///
/// # Errors
///
/// Fails for a program with anything but events and tasks, and for one that cannot begin.
pub(crate) fn decide<P: RobustProgram>(
    program: &P,
    options: &RobustModelOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    let mut result = JobResult::default();
    result.options.set(option::STOPS, u64::from(options.stops));
    result.options.set(option::REPEAT, u64::from(options.repeat));
    result.options.set(option::MAX_STATES, options.max_states as u64);
    let watched = JobWatch::of(control).enter();
    let name = &program.program().name;
    let mut system = program.tasks()?;
    let searched = Options {
        stops: options.stops,
        repeat: options.repeat,
        max_states: options.max_states,
        ..Options::default()
    };
    let view = program.tasks()?;
    let states = program.system();
    let failed = |error: RunError| Failure::input(name, Unusable::Run(error));
    let (serial, states) = with_views(program, &view, searched.repeat, |views| {
        outcomes(&mut system, states, views, &searched, control)
    })
    .map_err(failed)?;
    let states = states.ok_or_else(|| Failure::input(name, Unusable::CannotBegin))?;
    let mut job = Job {
        program,
        system,
        options: &searched,
        control,
        strange: None,
        decided: Decided { serial, states, conflicts: Conflicts::default() },
    };
    job.strange = job.strange(&view)?;
    // Whatever ends the job from here on, this is found.
    if let Some((reported, _)) = &job.strange {
        result.findings = vec![reported.clone()];
        control.publish(result.clone());
    }
    let ends = !job.decided.states.has_endless_event();
    job.decided.conflicts = conflicts(&mut job.system, &searched, ends, control).map_err(failed)?;
    // The runs that were found are shown even if the job was stopped.
    drop(watched);
    Ok(job.finish(result))
}

/// What was decided of a program.
struct Decided<P: RobustProgram> {
    serial: SerialOutcomes,
    states: Searched<StateOf<P>, ActionOf<P>>,
    conflicts: Conflicts,
}

/// Calls `then` with the views of a program.
pub(super) fn with_views<P: RobustProgram, T>(
    program: &P,
    tasks: &P::Tasks,
    repeat: u32,
    then: impl FnOnce(&Views<'_, P::System>) -> T,
) -> T {
    let quiet = |state: &StateOf<P>| program.quiet_memory(state);
    let started = |action: &ActionOf<P>| program.started(action);
    let waiting = |state: &StateOf<P>| program.waiting(state);
    let most = |once: bool| if once { 1 } else { u8::try_from(repeat).unwrap_or(u8::MAX) };
    let most = tasks.events().iter().map(|event| most(event.once)).collect();
    let init_is_step = tasks.init_is_step();
    then(&Views { quiet: &quiet, started: &started, waiting: &waiting, most, init_is_step })
}

/// A program of which all is decided, to be reported.
struct Job<'a, 'c, P: RobustProgram> {
    program: &'a P,
    system: P::Tasks,
    options: &'a Options,
    control: &'a Control<'c>,
    /// The run to an outcome that no serial run has, with the violation that it shows first.
    strange: Option<(Reported, Option<Violation>)>,
    decided: Decided<P>,
}

impl<P: RobustProgram> Job<'_, '_, P> {
    fn finish(self, mut result: JobResult) -> JobResult {
        result.findings = self.findings();
        let states = match &self.decided.states.divergence {
            _ if result.findings.iter().any(is_harmful) => Answer::No,
            Divergence::Never if !self.has_no_end() => Answer::Yes,
            _ => Answer::Unknown,
        };
        self.set_stats(&mut result, states);
        self.name_bounds(&mut result, states);
        self.warn(&mut result);
        result
    }

    /// Names what was not decided.
    fn name_bounds(&self, result: &mut JobResult, states: Answer) {
        let stopped = self.control.check().err();
        let conflicts = &self.decided.conflicts;
        // Some event may be open although another one is known to fail.
        let mut answers = conflicts.deterministic.values();
        let open = answers.any(|one| *one == Answer::Unknown)
            || [conflicts.serializable, conflicts.start_order].contains(&Answer::Unknown);
        if let Some(stopped) = &stopped {
            // What was decided before stands.
            match states {
                Answer::Unknown => result.cut_by(stopped_by(stopped.0)),
                _ if open => result.open_within(stopped_by(stopped.0)),
                _ => {}
            }
        } else if self.has_no_end() {
            result.cut_by(option::NO_END);
        } else if states == Answer::Unknown {
            result.cut_by(option::MAX_STATES);
        }
        if open && stopped.is_none() {
            result.open_within(option::STOPS);
            result.open_within(option::MAX_STATES);
        }
        if self.decided.states.repeats {
            result.open_within(option::REPEAT);
        }
    }

    /// Returns whether all states are known, and no run ends, or no serial run.
    fn has_no_end(&self) -> bool {
        let states = &self.decided.states;
        let known = matches!(states.divergence, Divergence::Never);
        known && !(states.ends && self.decided.serial.ends) && states.runs
    }

    /// Says what the answer does not cover.
    fn warn(&self, result: &mut JobResult) {
        let name = &self.program.program().name;
        let found = &self.decided.states;
        let mut add = |text: String, count: usize, places: Vec<String>| {
            let warning = Warning::new(WarningKind::Odd, name, text, count as u64);
            result.warnings.push(Warning { places, ..warning });
        };
        if matches!(found.divergence, Divergence::Never) {
            let both = found.begun.iter().zip(&found.ended).zip(self.system.events());
            let endless: Vec<String> = both
                .filter(|((begun, ended), _)| **begun && !**ended)
                .map(|(_, event)| event.name.clone())
                .collect();
            if self.has_no_end() {
                let text = match found.ends {
                    false => "no run of the model ends, so there is no outcome to compare",
                    true => "no serial run of the model ends, so there is nothing to compare with",
                };
                add(text.to_owned(), 1, Vec::new());
            } else if !endless.is_empty() {
                let text = format!(
                    "no run with {} ends, so its outcome was not compared: {}",
                    plural(endless.len() as u64, "event"),
                    endless.join(", ")
                );
                add(text, endless.len(), Vec::new());
            }
        }
        let stuck = &self.decided.serial.stuck;
        if !stuck.is_empty() {
            let text = "one event after another, a task waits for ever; what comes after it has \
                        no serial outcome";
            let lines = stuck.iter().map(|(line, _)| format!("line {line}")).collect();
            add(text.to_owned(), stuck.len(), lines);
        }
    }

    /// Makes the finding of a run to another outcome.
    fn strange(
        &mut self,
        view: &P::Tasks,
    ) -> Result<Option<(Reported, Option<Violation>)>, Failure> {
        let Divergence::Reached(outcome) = &self.decided.states.divergence else {
            return Ok(None);
        };
        let (outcome, program) = (outcome.clone(), self.program);
        // A job that is stopped now shows what it found nevertheless: the run is known.
        let _unwatched = JobWatch::default().enter();
        let again = with_views(program, view, self.options.repeat, |views| {
            shown_by(&mut self.system, program.system(), views, &outcome.path)
        });
        let (run, violations) = match again {
            Ok(Some(again)) => again,
            Ok(None) | Err(RunError::Stopped(_)) => return Ok(None),
            Err(error) => {
                let name = &self.program.program().name;
                return Err(Failure::input(name, Unusable::Run(error)));
            }
        };
        let cause = violations.into_iter().next();
        let reported = self.reporter().strange(&run, cause.as_ref(), &outcome);
        Ok(reported.map(|reported| (reported, cause)))
    }

    /// Makes the findings: the violations of conflicts, and if none of them does harm although some
    /// outcome is another one, the run to that outcome.
    ///
    /// That run may show a violation that is listed already. If it then fails or ends in another
    /// state, it is the better run of the same finding. If it ends in a deadlock, it stays a
    /// finding of its own: what waits there need not have to do with the conflict before it.
    fn findings(&self) -> Vec<Reported> {
        let violations = &self.decided.conflicts.violations;
        let reporter = self.reporter();
        let (shown, mut findings): (Vec<&Violation>, Vec<Reported>) =
            violations.iter().filter_map(|runs| Some((&runs[0], reporter.best(runs)?))).unzip();
        if findings.iter().any(is_harmful) {
            return findings;
        }
        let Some((reported, cause)) = self.strange.clone() else { return findings };
        let is_deadlock = reported.finding.category.as_deref() == Some(DEADLOCK);
        let cause = cause.filter(|_| !is_deadlock);
        let listed = cause.and_then(|cause| shown.iter().position(|one| is_same(one, &cause)));
        match listed {
            Some(position) => findings[position] = reported,
            None => findings.push(reported),
        }
        findings
    }

    fn reporter(&self) -> Reporter<'_, P> {
        Reporter {
            program: self.program,
            system: &self.system,
            serial: &self.decided.serial,
            robust: matches!(self.decided.states.divergence, Divergence::Never)
                && !self.has_no_end(),
            repeat: self.options.repeat,
            limits: (self.options.max_states, self.control),
        }
    }

    fn set_stats(&self, result: &mut JobResult, states: Answer) {
        let conflicts = &self.decided.conflicts;
        let count = |property| {
            conflicts.violations.iter().filter(|one| one[0].property == property).count() as u64
        };
        let failing = conflicts.deterministic.iter().filter(|(_, one)| **one == Answer::No);
        let failing: Vec<&str> = failing.map(|(event, _)| self.event_name(*event)).collect();
        let declared = self.program.declared();
        result
            .stats
            .set(stat::EVENTS, self.system.events().len() as u64)
            .set(stat::TASKS, declared.tasks as u64)
            .set(stat::PROCEDURES, declared.procedures as u64)
            .set(stat::RUNS, conflicts.pivots.runs)
            .set(stat::STEPS, conflicts.pivots.steps)
            .set(stat::STOPS, u64::from(conflicts.pivots.stops))
            .set(stat::SERIAL_STATES, self.decided.serial.len() as u64)
            .set(stat::ALL_STATES, self.decided.states.states as u64)
            .set(stat::DETERMINISTIC, conflicts.all_deterministic().word())
            .set(stat::NOT_DETERMINISTIC, failing.join(", ").as_str())
            .set(stat::SERIALIZABLE, conflicts.serializable.word())
            .set(stat::START_ORDER, conflicts.start_order.word())
            .set(stat::STATES, states.word())
            .set(stat::VIOLATIONS_OF_DETERMINISM, count(Property::Determinism))
            .set(stat::VIOLATIONS_OF_SERIALIZABILITY, count(Property::Serializability))
            .set(stat::VIOLATIONS_OF_START_ORDER, count(Property::StartOrder))
            .set(stat::VIOLATIONS, conflicts.violations.len() as u64);
    }

    fn event_name(&self, event: u32) -> &str {
        let event = self.system.events().get(event as usize);
        event.map_or("init", |event| event.name.as_str())
    }
}

fn is_harmful(reported: &Reported) -> bool {
    reported.finding.harm == Harm::Harmful
}

/// Returns whether two runs show one violation.
fn is_same(one: &Violation, other: &Violation) -> bool {
    let event = |violation: &Violation| {
        (violation.property == Property::Determinism).then_some(violation.event)
    };
    (one.property, &one.places, event(one)) == (other.property, &other.places, event(other))
}

/// Marks a finding as one whose harm is open.
pub(super) fn undecided(finding: &mut anyorder_finding::Finding) {
    finding.severity = Severity::Note;
    finding.filters = vec![UNDECIDED.to_owned()];
}
