//! The only place that calls the engines: what was typed becomes their options, and their answers what is shown.

use crate::args::{CheckArgs, CoverageArg, GroupArg, RulesArg};
use anyorder_finding::{CoverageLevel, Finding, Ordered, Stats};
use anyorder_hb::{GroupBy, Options, RuleSet, Statistics, Why};
use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, InputFamily, Tables, TaskKind, Trace};

/// What a check found.
pub(crate) struct Analysis {
    pub(crate) findings: Vec<Finding>,
    pub(crate) stats: Stats,
    /// The name of the option that cut the search.
    pub(crate) limit: Option<&'static str>,
    /// The rule set that was used.
    pub(crate) rules: &'static str,
    /// The level of coverage that was used.
    pub(crate) coverage: &'static str,
}

/// Finds the races of a trace.
pub(crate) fn check(trace: &Trace, args: &CheckArgs, control: &Control<'_>) -> Analysis {
    let rules = rule_set(trace, args.rules);
    let mut options = Options::new(rules);
    if let Some(level) = args.coverage {
        options.coverage = match level {
            CoverageArg::Task => CoverageLevel::Task,
            CoverageArg::Access => CoverageLevel::Access,
            CoverageArg::Single => CoverageLevel::Single,
        };
    }
    options.group_by = group_by(args);
    options.max_pairs = args.max_pairs;
    options.filters = !args.no_filters;
    control.progress.phase("checking");
    let checked = anyorder_hb::check(trace, &options, control);
    Analysis {
        findings: checked.findings,
        stats: stats(&checked.statistics),
        limit: checked.stopped.map(|reason| reason.word()),
        rules: rules.word(),
        coverage: options.coverage.word(),
    }
}

/// Returns the way of grouping that was asked for.
pub(crate) fn group_by(args: &CheckArgs) -> GroupBy {
    match args.group_by {
        GroupArg::Field => GroupBy::Field,
        GroupArg::Sites => GroupBy::Sites,
    }
}

/// Explains the order of two events.
pub(crate) fn why(
    trace: &Trace,
    rules: RuleSet,
    a: EventId,
    b: EventId,
    control: &Control<'_>,
) -> Result<Why, Stopped> {
    control.progress.phase("explaining");
    anyorder_hb::why(trace, rules, a, b, &control.cancel)
}

/// Returns the counts under the names that they have in results.
fn stats(counts: &Statistics) -> Stats {
    let by_category: Ordered<u64> =
        counts.races_by_category.0.iter().map(|(category, n)| (category.word(), *n)).collect();
    let mut stats = Stats::new();
    stats
        .set("events", counts.events)
        .set("tasks", counts.tasks)
        .set("handlers", counts.handlers)
        .set("threads", counts.threads)
        .set("locks", counts.locks)
        .set("locations", counts.locations)
        .set("hb_edges", counts.hb_edges)
        .set("rounds", counts.rounds)
        .set("chains", counts.chains)
        .set("race_pairs", counts.race_pairs)
        .set("races", counts.races)
        .set("races_uncovered", counts.races_uncovered)
        .set("races_by_category", by_category);
    stats
}

/// Returns the rule set to use: the one asked for, else the one that fits what the trace holds.
pub(crate) fn rule_set(trace: &Trace, asked: RulesArg) -> RuleSet {
    match asked {
        RulesArg::Android => RuleSet::Android,
        RulesArg::Mailbox => RuleSet::Mailbox,
        RulesArg::Threads => RuleSet::Threads,
        RulesArg::Auto => fitting(trace),
    }
}

/// Returns whether the rules of Android's components fit a trace.
pub(crate) fn is_android(tables: &Tables) -> bool {
    let android = |family| {
        use InputFamily::{Broadcast, Idle, Lifecycle, Service};
        matches!(family, Lifecycle | Service | Broadcast | Idle)
    };
    tables.meta.origin == "droidracer" || tables.inputs.iter().any(|i| android(i.family))
}

fn fitting(trace: &Trace) -> RuleSet {
    let tables = trace.tables();
    if is_android(tables) {
        RuleSet::Android
    } else if tables.tasks.iter().any(|task| task.kind == TaskKind::Posted) {
        RuleSet::Mailbox
    } else {
        RuleSet::Threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{Input, Mailbox, TraceBuilder};

    #[test]
    fn rules_are_chosen_by_what_the_trace_holds() {
        let mut b = TraceBuilder::new();
        let ui = b.handler("ui", Mailbox::Fifo).unwrap();
        assert_eq!(rule_set(&b.clone().finish(), RulesArg::Auto), RuleSet::Threads);
        b.task("click", ui).unwrap();
        assert_eq!(rule_set(&b.clone().finish(), RulesArg::Auto), RuleSet::Mailbox);
        let mut logged = b.clone();
        logged.interner.tables.meta.origin = "droidracer".to_owned();
        assert_eq!(rule_set(&logged.finish(), RulesArg::Auto), RuleSet::Android);
        b.interner.input(Input { family: InputFamily::Idle, ..Input::default() }).unwrap();
        assert_eq!(rule_set(&b.clone().finish(), RulesArg::Auto), RuleSet::Android);
        assert_eq!(rule_set(&b.finish(), RulesArg::Threads), RuleSet::Threads);
    }
}
