//! `anyorder run --confirm`: second runs, in which predicted orders are made to happen.

use super::Again;
use super::replay::hash_of;
use crate::args::RunArgs;
use crate::commands::runner::Runner;
use crate::failure::{Failure, Usage, note as say};
use anyorder_common::numbers::plural;
use anyorder_drive::native_confirm::{
    Answer, Harm as Seen, Limits, Planned, PlannedProgram, Planner, StoredPlan, note, rerun,
    rest_on_run, with_free_reads,
};
use anyorder_drive::native_run::RecordedRun;
use anyorder_drive::native_run::launch::{Ended, Launch};
use anyorder_drive::{JobResult, Reported, check_trace};
use anyorder_finding::{ExplanationStep, Finding, Harm, Severity, Stat, option, stat};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long threads may be held in a second run, at least.
const HELD_MIN: Duration = Duration::from_secs(2);

/// Second runs of one program.
struct Reruns<'a> {
    again: &'a Again<'a>,
    planner: Planner<'a>,
    limits: Limits,
    /// What plans say of the program.
    program: PlannedProgram,
    runner: &'a Runner<'a>,
    runs: usize,
    runs_max: usize,
    /// Findings that were not tried.
    left: u64,
}

/// Runs the program once for each finding of a part that has a witness, the worst first, until the
/// limit, to which the runs for earlier parts count;
/// then for what could happen if reads saw other values, of which only what happens is reported;
/// then for what does no harm by itself.
pub(super) fn confirm(
    again: &Again<'_>,
    ((recorded, earlier), result): ((&RecordedRun<'_>, &JobResult), &mut JobResult),
    args: &RunArgs,
    ended: &Ended,
    runner: &Runner<'_>,
) -> Result<(), Failure> {
    let runs_before = match earlier.stats.get(stat::RERUNS.word()) {
        Some(Stat::Integer(runs)) => usize::try_from(*runs).unwrap_or(usize::MAX),
        _ => 0,
    };
    let held = HELD_MIN.max(ended.ran * 3);
    let mut reruns = Reruns {
        again,
        planner: Planner::new(recorded),
        limits: Limits { held, run: held * 2, usual_status: ended.status, patient: false },
        program: program_of(again, ended),
        runner,
        runs: 0,
        runs_max: args.max_reruns.saturating_sub(runs_before),
        left: 0,
    };
    let mut order: Vec<usize> = (0..result.findings.len()).collect();
    order.sort_by_key(|at| rank(&result.findings[*at].finding));
    let is_harmless = |at: &usize| result.findings[*at].finding.harm == Harm::Harmless;
    let (harmless, harmful): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_harmless);
    for at in harmful {
        reruns.try_finding(&mut result.findings[at].finding)?;
    }
    let guessed = guesses(&mut reruns, ((recorded, earlier), result))?;
    for at in harmless {
        reruns.does_harm(&mut result.findings[at].finding)?;
    }
    for mut one in guessed {
        if reruns.does_harm(&mut one.finding)? {
            rest_on_run(&mut one.finding);
            result.push(one.finding, one.run);
        }
    }
    result.stats.set(stat::RERUNS, reruns.runs as u64);
    if reruns.left > 0 {
        result.bounded_by(option::MAX_RERUNS);
        if !runner.global.quiet {
            let what = plural(reruns.left, "finding");
            say(&format!("{what} not tried in a second run: --max-reruns"));
        }
    }
    Ok(())
}

/// Tries what could happen if reads saw other values. Returns what would do no harm by itself.
fn guesses(
    reruns: &mut Reruns<'_>,
    ((recorded, earlier), result): ((&RecordedRun<'_>, &JobResult), &mut JobResult),
) -> Result<Vec<Reported>, Failure> {
    let control = reruns.runner.watch.control();
    // One finding for two places is enough.
    let places = |finding: &Finding| -> Vec<(Option<String>, Option<u32>)> {
        let mut places: Vec<_> =
            finding.sites.iter().map(|site| (site.file.clone(), site.line)).collect();
        places.sort();
        places
    };
    let counts = result
        .findings
        .iter()
        .chain(&earlier.findings)
        .filter(|one| one.finding.harm != Harm::Harmless);
    let known: BTreeSet<_> = counts.map(|one| places(&one.finding)).collect();
    let Some(input) = with_free_reads(recorded, &control) else {
        return Ok(Vec::new());
    };
    let mut guessed = check_trace(&input?, reruns.again.options, &control)?;
    std::mem::take(&mut guessed.limits).into_iter().for_each(|limit| result.cut_by(limit));
    guessed.findings.retain(|one| !known.contains(&places(&one.finding)));
    guessed.findings.sort_by_key(|one| rank(&one.finding));
    let is_harmless = |one: &Reported| one.finding.harm == Harm::Harmless;
    let (harmless, harmful): (Vec<_>, Vec<_>) = guessed.findings.into_iter().partition(is_harmless);
    for mut one in harmful {
        if let Some(Answer::Reproduced(_)) = reruns.try_finding(&mut one.finding)? {
            rest_on_run(&mut one.finding);
            result.push(one.finding, one.run);
        }
    }
    Ok(harmless)
}

impl Reruns<'_> {
    /// Tries a finding that does no harm by itself. Returns whether it did harm in a run.
    fn does_harm(&mut self, finding: &mut Finding) -> Result<bool, Failure> {
        let answer = self.try_finding(finding)?;
        let harms = matches!(answer, Some(Answer::Reproduced(seen)) if seen != Seen::Met);
        if harms {
            finding.harm = Harm::Harmful;
            finding.harm_class = None;
            finding.severity = Severity::Error;
        }
        Ok(harms)
    }

    /// Runs the program for a finding, and notes what came of it. `None` if there was no run.
    fn try_finding(&mut self, finding: &mut Finding) -> Result<Option<Answer>, Failure> {
        let control = self.runner.watch.control();
        if control.cancel.reason().is_some() {
            return Ok(None);
        }
        let plans = match self.planner.plans_of(finding, &control) {
            Ok(plans) => plans,
            Err(why) => {
                let step = ExplanationStep::new(format!("no second run: {why}"));
                finding.explanation.push(step);
                return Ok(None);
            }
        };
        let mut best: Option<(Answer, &Planned)> = None;
        for (number, planned) in plans.iter().enumerate() {
            if self.runs >= self.runs_max {
                self.left += u64::from(number == 0);
                break;
            }
            control.progress.phase("running again");
            self.runs += 1;
            let answer = self.run(planned)?;
            best = Some(match best {
                Some(known) if !says_more(known.0, answer) => known,
                _ => (answer, planned),
            });
            if !matches!(answer, Answer::NotReproduced(_)) {
                break;
            }
        }
        let Some((answer, planned)) = best else { return Ok(None) };
        note(finding, answer);
        if let (Answer::Reproduced(_), Some(reproduced)) = (answer, &mut finding.reproduced) {
            let stored = StoredPlan::new(planned, self.program.clone());
            reproduced.plan = Some(stored.to_value());
        }
        Ok(Some(answer))
    }

    fn run(&self, planned: &Planned) -> Result<Answer, Failure> {
        let launch = Launch {
            program: self.again.program,
            name: self.again.name,
            arguments: self.again.arguments,
            build: self.again.build,
            stdout: None,
            plan: None,
            schedule: None,
            caught: None,
            is_silent: true,
            recording_max: None,
        };
        let control = self.runner.watch.control();
        let mut go_on = || control.cancel.reason().is_none();
        let again = rerun(self.again.stage, launch, planned, self.limits, &mut go_on);
        let again =
            again.map_err(|error| Usage::NotStarted { name: self.again.name.to_owned(), error })?;
        Ok(again.answer)
    }
}

/// Returns whether the other answer says more: only it shows the order.
fn says_more(known: Answer, other: Answer) -> bool {
    matches!(known, Answer::NotReproduced(_)) && !matches!(other, Answer::NotReproduced(_))
}

/// Returns what the plans of findings say of the program.
fn program_of(again: &Again<'_>, ended: &Ended) -> PlannedProgram {
    let file = again.program.canonicalize().unwrap_or_else(|_| again.program.to_owned());
    let words = std::iter::once(again.name).chain(again.arguments.iter().map(AsRef::as_ref));
    PlannedProgram {
        hash: hash_of(&file),
        file: file.to_string_lossy().into_owned(),
        command: words.map(|word| word.to_string_lossy().into_owned()).collect(),
        status: ended.status,
    }
}

/// The worst first.
fn rank(finding: &Finding) -> u8 {
    match finding.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        _ => 2,
    }
}
