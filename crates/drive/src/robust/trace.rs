//! Robustness of one recorded run, by its conflicts.

use super::finding::CONFLICT_ONLY;
use super::model::UNDECIDED;
use crate::failure::Failure;
use crate::limits::stopped_by;
use crate::remark::{Remark, Remarked};
use crate::result::JobResult;
use crate::rules::fitting_rules;
use crate::trace_input::{TraceInput, observed};
use crate::words::{self, FORCED};
use anyorder_finding::{
    Finding, Harm, Outcome, Policy, Verdict, Warning, WarningKind, glob, option, stat,
};
use anyorder_hb::RuleSet;
use anyorder_robust::trace::{ConflictGroup, TraceCounts, TraceOptions, check};
use anyorder_system::Control;
use anyorder_trace::{EventId, LocationId, Trace};
use std::collections::BTreeSet;

/// The options of [`robust_trace`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RobustTraceOptions {
    /// The rules by which every run has an order; `None` chooses them by the contents of the trace.
    pub rules: Option<RuleSet>,
    /// Patterns of locations whose conflicts do not count.
    pub ignore: Vec<String>,
    /// Whether conflicts do not count that every run has in the same order.
    pub ignore_forced: bool,
    /// The maximum number of event pairs listed for a finding; all are counted.
    pub max_pairs: usize,
    /// The maximum number of cycles of events that are reported.
    pub max_cycles: usize,
    /// Conflicts of a trace with more tasks are not classed as forced or racing.
    pub max_classed_tasks: u64,
}

impl Default for RobustTraceOptions {
    fn default() -> RobustTraceOptions {
        let TraceOptions { max_pairs, max_cycles, max_classed_tasks, .. } =
            TraceOptions::new(RuleSet::Mailbox);
        RobustTraceOptions {
            rules: None,
            ignore: Vec::new(),
            ignore_forced: false,
            max_pairs,
            max_cycles,
            max_classed_tasks,
        }
    }
}

impl RobustTraceOptions {
    /// Returns the filters whose findings do not count.
    #[must_use]
    pub fn filters(&self) -> Vec<String> {
        let forced = self.ignore_forced.then(|| FORCED.to_owned());
        forced.into_iter().chain([UNDECIDED.to_owned()]).collect()
    }
}

/// Decides whether a recorded run is robust: whether its events are conflict-serializable, and each
/// event conflict-deterministic. `docs/robustness.md` has the definitions. The verdict is that of
/// [`robust_verdict`].
///
/// # Errors
///
/// Fails for a partial trace, whose events have no recorded order.
pub fn robust_trace(
    input: &TraceInput,
    options: &RobustTraceOptions,
    control: &Control<'_>,
) -> Result<JobResult, Failure> {
    let trace = &input.trace;
    observed(&input.name, trace.tables())?;
    let mut result = JobResult::default();
    input.describe(&mut result);
    let rules = options.rules.unwrap_or_else(|| fitting_rules(trace));
    set_options(&mut result, options, rules);
    if let Some(reason) = control.cancel.reason() {
        result.cut_by(stopped_by(reason));
        return Ok(result);
    }
    let of_engine = TraceOptions {
        rules,
        ignore: ignored(trace, &options.ignore),
        max_pairs: options.max_pairs,
        max_cycles: options.max_cycles,
        max_classed_tasks: options.max_classed_tasks,
    };
    let checked = check(trace, &of_engine, control);
    set_stats(&mut result, &checked.counts, trace.len());
    if checked.counts.tasks == 0 && checked.counts.events > 0 {
        let warning = only_threads(&input.name);
        let what = Remarked::OnlyThreads(warning.text.clone());
        result.remarks.push(Remark::on(&input.name, what));
        result.warnings.push(warning);
    }
    let mut findings = words::conflicts(trace, &checked.groups);
    let pairs: Vec<[(EventId, EventId); 1]> =
        checked.groups.iter().map(|ConflictGroup { shown: [a, b], .. }| [(*a, *b)]).collect();
    let of_each = findings.iter_mut().zip(&pairs);
    let of_each = of_each.map(|(finding, pairs)| (finding, pairs[0].0.max(pairs[0].1), &pairs[..]));
    input.not_understood.mark_all(trace, of_each);
    for (mut finding, group) in findings.into_iter().zip(&checked.groups) {
        let first = group.pairs.first();
        finding.replay = first.map(|pair| words::why_command(&input.name, trace, *pair));
        result.push(finding, None);
    }
    if checked.more_cycles {
        result.bounded_by(option::MAX_CYCLES);
    }
    if checked.unclassed {
        result.bounded_by(option::MAX_CLASSED_TASKS);
    }
    if let Some(reason) = checked.stopped {
        result.cut_by(stopped_by(reason));
    }
    Ok(result)
}

/// Returns the verdict of a result. Of traces: `not_robust` with a finding that no filter of the
/// policy hides, whether or not a baseline or a suppression accepts it. Of models: with a finding
/// that does harm. Otherwise `unknown` if a limit ended the check, else `robust`; of models
/// within the bounds.
#[must_use]
pub fn robust_verdict(outcome: &Outcome, policy: &Policy) -> Verdict {
    let hidden = |finding: &Finding| {
        let filtered = finding.filters.iter().any(|name| policy.filters.contains(name));
        filtered || finding.harm == Harm::Harmless
    };
    // That such a finding counts (`--strict`) does not make it a proof.
    let proves_nothing = |finding: &Finding| {
        finding.harm_class.as_deref() == Some(CONFLICT_ONLY)
            || finding.filters.iter().any(|name| name == UNDECIDED)
    };
    let shows = |finding: &Finding| !proves_nothing(finding) && (policy.strict || !hidden(finding));
    if outcome.findings.iter().any(shows) {
        Verdict::NotRobust
    } else if outcome.limits.is_empty() {
        Verdict::Robust
    } else {
        Verdict::Unknown
    }
}

/// Says what the answer means for a trace of threads.
fn only_threads(name: &str) -> Warning {
    let text = "no task was posted: each thread that nobody forked counts as an event, and a \
                forked thread as a task that runs after its creator has ended; `anyorder check` \
                finds the races of threads";
    Warning::new(WarningKind::Odd, name, text, 1)
}

/// Returns the locations that a pattern matches, by their names with or without their objects.
fn ignored(trace: &Trace, patterns: &[String]) -> BTreeSet<LocationId> {
    let matches = |location: &LocationId| {
        let tables = trace.tables();
        let names = [tables.location_text(*location), tables.location_without_object(*location)];
        patterns.iter().any(|pattern| names.iter().any(|name| glob::matches(pattern, name)))
    };
    let locations = if patterns.is_empty() { 0 } else { trace.tables().locations.len() };
    (0..locations as u32).map(LocationId).filter(matches).collect()
}

fn set_options(result: &mut JobResult, options: &RobustTraceOptions, rules: RuleSet) {
    let set = &mut result.options;
    set.set(option::RULES, rules.word());
    if !options.ignore.is_empty() {
        set.set(option::IGNORE, options.ignore.clone());
    }
    set.set(option::IGNORE_FORCED, options.ignore_forced);
    set.set(option::MAX_PAIRS, options.max_pairs as u64);
    set.set(option::MAX_CYCLES, options.max_cycles as u64);
    set.set(option::MAX_CLASSED_TASKS, options.max_classed_tasks);
}

fn set_stats(result: &mut JobResult, counts: &TraceCounts, operations: usize) {
    result
        .stats
        .set(stat::OPERATIONS, operations as u64)
        .set(stat::EVENTS, counts.events)
        .set(stat::TASKS, counts.tasks)
        .set(stat::ACCESSES, counts.accesses)
        .set(stat::CONFLICTS, counts.conflicts)
        .set(stat::COMPONENTS, counts.components)
        .set(stat::EVENTS_INTERLEAVED, counts.events_interleaved)
        .set(stat::VIOLATIONS, counts.violations);
}
