//! Varies a run, and puts what was found into a result.

use super::checked::Repeats;
use super::findings::Teller;
use super::target::{Target, cannot_start};
use crate::commands::add_stats;
use crate::failure::{Failure, note, warn};
use crate::watch::Watch;
use anyorder_common::numbers::plural;
use anyorder_common::text::shown;
use anyorder_explore::r4::{self, Counts, Limit, Verdict};
use anyorder_finding::run::Run;
use anyorder_finding::{Ordered, Outcome, Stats};
use anyorder_system::RunError;
use std::path::Path;
use std::sync::atomic::Ordering;

/// What is asked of an exploration.
pub(crate) struct Asked<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) options: r4::Options,
    pub(crate) executions_max: Option<u64>,
    pub(crate) steps_max: Option<u64>,
    /// How often each event of a model happens at most; more where the recording has it more often.
    pub(crate) repeats: u32,
    pub(crate) quiet: bool,
}

/// What came of it.
pub(crate) struct Explored {
    /// The run of each finding that was added, where there is one.
    pub(crate) runs: Vec<Option<Run>>,
}

/// Varies a run; adds findings, limits and counts to a result.
pub(crate) fn explored(
    asked: &Asked<'_>,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<Explored, Failure> {
    let target = asked.target;
    let recorded = asked.options.recording.iter().flat_map(|recording| &recording.choices);
    let recorded = recorded.filter(|choice| choice.task.creator().is_none());
    let most = recorded.map(|choice| choice.task.segment().ordinal).max().unwrap_or(0);
    let repeats = asked.repeats.max(most);
    let limit = Repeats::of(repeats);
    let mut control = watch.control();
    control.limits.executions = asked.executions_max;
    control.limits.steps = asked.steps_max;
    control.progress.phase("runs");
    let explored = match target.explore(&asked.options, &control, &limit) {
        Ok(explored) => explored,
        Err(r4::Error::Stopped(reason)) => {
            outcome.cut_by(reason.word());
            return Ok(Explored { runs: Vec::new() });
        }
        Err(r4::Error::Start(error)) => {
            return Err(cannot_start(target.name(), &RunError::Crashed(error)));
        }
        Err(error) => {
            let error = anyorder_common::text::escape(&error.to_string()).into_owned();
            return Err(Failure::new(format!("{}: {error}", shown(Path::new(target.name())))));
        }
    };
    for limit in &explored.limits {
        outcome.cut_by(limit_word(*limit));
    }
    if target.model().is_some() {
        outcome.options.set("repeats", u64::from(repeats));
        if limit.reached.load(Ordering::Relaxed) {
            outcome.bounded_by("repeats");
        }
    }
    if let Some(bound) = asked.options.bound {
        outcome.options.set("bound", u64::from(bound));
        if !explored.exhausted && explored.complete {
            outcome.bounded_by("bound");
        }
    }
    add_stats(&mut outcome.stats, &stats(&explored));
    let told = Teller::new(target, &explored, watch).findings()?;
    let mut runs = Vec::with_capacity(told.len());
    for one in told {
        outcome.findings.push(one.finding);
        runs.push(one.run);
    }
    if !asked.quiet {
        watch.done();
        say(target.name(), &explored.counts);
        if explored.limits.contains(&Limit::Waiting) {
            let what = "the program does not tell what its tasks wait for";
            warn(&format!(
                "{}: {what}, so there may be further orders",
                shown(Path::new(target.name()))
            ));
        }
        if explored.runs.first().is_some_and(|run| run.cut) {
            let what = "the recorded run was cut, as it goes on";
            let hint = "a shorter one may do: `--max-steps`, or `--recording` of one that ends";
            warn(&format!("{}: {what}; {hint}", shown(Path::new(target.name()))));
        }
        let invariants =
            target.model().is_some_and(|model| !model.machine.program().invariants.is_empty());
        if invariants {
            let what = "invariants are checked in the runs that were made";
            note(&format!(
                "{}: {what}; `--algorithm stateful` checks all states",
                shown(Path::new(target.name()))
            ));
        }
    }
    Ok(Explored { runs })
}

/// Says what was not as it should be with the program.
fn say(name: &str, counts: &Counts) {
    let name = shown(Path::new(name));
    if counts.retries > 0 {
        let what = plural(counts.retries, "attempt");
        warn(&format!("{name}: {what} at a run failed and had to be repeated"));
    }
    if counts.lost > 0 {
        let what = plural(counts.lost, "planned run");
        warn(&format!("{name}: {what} given up, as all attempts failed"));
    }
}

const fn limit_word(limit: Limit) -> &'static str {
    match limit {
        Limit::Executions => "max-executions",
        Limit::Steps => "max-steps",
        Limit::Memory => "memory-limit",
        Limit::Lost => "attempts",
        Limit::Alternatives => "alternatives",
        Limit::Waiting => "waiting",
        Limit::Stopped(reason) => reason.word(),
    }
}

/// Returns the counts under the names that they have in results.
fn stats(explored: &r4::Outcome) -> Stats {
    let counts = &explored.counts;
    let mut classes: Ordered<u64> = Ordered::new();
    for verdict in [
        Verdict::Equivalent,
        Verdict::Bookkeeping,
        Verdict::Timers,
        Verdict::LateRegistration,
        Verdict::CutByFailure,
        Verdict::Alternative,
        Verdict::Different,
        Verdict::Unstable,
    ] {
        let same = |run: &&r4::RunInfo| {
            run.comparison.as_ref().is_some_and(|comparison| comparison.verdict == verdict)
        };
        let count = explored.runs.iter().filter(same).count() as u64;
        let seldom = matches!(verdict, Verdict::CutByFailure | Verdict::Alternative);
        if count > 0 || !seldom {
            classes.set(verdict.word(), count);
        }
    }
    let depth = explored.runs.iter().map(|run| run.depth).max().unwrap_or(0);
    let tasks = explored.runs.first().map_or(0, |run| run.length);
    let mut stats = Stats::new();
    stats
        .set("algorithm", "r4")
        .set("recorded_tasks", tasks)
        .set("sequences", explored.runs.len())
        .set("executions", counts.executions)
        .set("reversals", classes)
        .set("max_reversals", depth)
        .set("plans", counts.plans)
        .set("slept", counts.slept)
        .set("repeated", counts.repeated)
        .set("duplicates", counts.duplicates)
        .set("sleep_blocked", counts.sleep_blocked)
        .set("confirmations", counts.confirmations)
        .set("retries", counts.retries)
        .set("lost", counts.lost)
        .set("unstable", counts.unstable)
        .set("cut", counts.cut)
        .set("restarts", counts.restarts)
        .set("executed_tasks", counts.tasks);
    stats
}
