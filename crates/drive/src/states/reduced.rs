//! Searches with reduction: skips states that differ only in the order of independent steps.
//!
//! A reduced search finds every failure, but not the shortest run to each. Once it has findings, a
//! full search covers the states up to their depth, within a limit on the number of states. If it
//! completes, the runs are the shortest.

use super::check::{CheckOptions, Searched};
use super::program::StateProgram;
use super::report::publish;
use crate::JobControl;
use crate::failure::{Failure, Unusable};
use anyorder_explore::stateful::GiveUp;
use anyorder_explore::{paper, stateful};
use anyorder_finding::{Stats, stat};
use anyorder_search::{Property, Stop, Violation};
use anyorder_system::{Control, Reducible, StateSystem};
use std::collections::BTreeMap;

/// The limit on states searched for shorter runs: at least this number, and this multiple of the
/// states of the reduced search.
const SHORTEN_STATES: u64 = 20_000;
const SHORTEN_FACTOR: u64 = 2;

/// Searches a program with reduction.
pub(super) fn by_stateful<P>(
    program: &P,
    check_options: &CheckOptions,
    give_up: GiveUp,
    control: &JobControl<'_>,
) -> Result<(stateful::Outcome<P::System>, Stats), Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let options = stateful::StatefulOptions {
        threads: check_options.threads,
        values: check_options.values,
        stop_at_first: check_options.first,
        states_max: check_options.states_max,
        give_up,
        ..stateful::StatefulOptions::default()
    };
    let mut on_found = |found: Vec<_>| publish(program, &found, control);
    let outcome = stateful::explore_watched(program.system(), &options, control, &mut on_found);
    let outcome = outcome.map_err(|error| failure(program, error))?;
    let (counts, own) = (&outcome.stats, &outcome.detail.counts);
    let mut stats = Stats::new();
    stats
        .set(stat::ALGORITHM, "stateful")
        .set(stat::STATES, counts.states)
        .set(stat::TRANSITIONS, counts.transitions)
        .set(stat::EXECUTIONS, counts.executions)
        .set(stat::INFERRED, own.inferred)
        .set(stat::RE_EXPANSIONS, own.re_expansions)
        .set(stat::REDUCED_STATES, own.reduced_states)
        .set(stat::MAX_DEPTH, counts.max_depth)
        .set(stat::FRONTIER_PEAK, counts.frontier_peak)
        .set(stat::BYTES_PER_STATE, counts.bytes_per_state);
    Ok((outcome, stats))
}

/// Searches a program with the published reduction.
pub(super) fn by_paper<P>(
    program: &P,
    check_options: &CheckOptions,
    control: &Control<'_>,
) -> Result<(paper::Outcome<P::System>, Stats), Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let options = paper::PaperOptions {
        values: check_options.values,
        states_max: check_options.states_max,
        ..paper::PaperOptions::default()
    };
    let outcome = paper::explore(program.system(), &options, control);
    let outcome = outcome.map_err(|error| failure(program, error))?;
    let (counts, own) = (&outcome.stats, &outcome.detail.counts);
    let mut stats = Stats::new();
    stats
        .set(stat::ALGORITHM, "paper")
        .set(stat::STATES, counts.states)
        .set(stat::TRANSITIONS, counts.transitions)
        .set(stat::EXECUTIONS, counts.executions)
        .set(stat::INFERRED, 0_u64)
        .set(stat::SEQUENCES, own.sequences)
        .set(stat::BACKTRACKING_POINTS, own.backtracking_points)
        .set(stat::BACKWARD_STEPS, own.backward_steps)
        .set(stat::MAX_DEPTH, counts.max_depth);
    Ok((outcome, stats))
}

fn failure<P: StateProgram>(program: &P, error: stateful::Error) -> Failure {
    Failure::input(&program.program().name, Unusable::Reduction(error))
}

/// Searches in full for shorter runs, up to the length of the longest run found. If a limit cuts
/// this search, its findings so far are still used: breadth-first search finds shortest runs.
pub(super) fn shortest<S: StateSystem, D>(
    system: &S,
    (mut outcome, stats): Searched<S, D>,
    check_options: &CheckOptions,
    control: &Control<'_>,
) -> Searched<S, D> {
    let violations = &mut outcome.violations;
    if violations.is_empty() {
        return (outcome, stats);
    }
    let budget = SHORTEN_STATES.max(outcome.stats.states.saturating_mul(SHORTEN_FACTOR));
    let lengths = violations.iter().map(|violation| violation.path.steps.len());
    let reach = if check_options.first { lengths.min() } else { lengths.max() };
    let options = anyorder_search::SearchOptions {
        stop: if check_options.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: check_options.threads,
        responses: false,
        livelocks: violations.iter().any(|one| matches!(one.property, Property::Livelock(_))),
        states_max: Some(budget),
        // One more step, because a deadlock shows only when the search tries to expand the state.
        depth_max: Some(u32::try_from(reach.unwrap_or(0)).unwrap_or(u32::MAX).saturating_add(1)),
        ..anyorder_search::SearchOptions::default()
    };
    control.progress.phase("shorter runs");
    let mut control = control.clone();
    control.limits.executions = None;
    let Ok(found) = anyorder_search::search(system, &options, &control) else {
        return (outcome, stats);
    };
    let mut best: BTreeMap<Property, Violation<S>> = BTreeMap::new();
    let known = std::mem::take(violations);
    let reduced: Vec<Property> = known.iter().map(|one| one.property.clone()).collect();
    for one in known.into_iter().chain(found.violations) {
        // With a depth limit, a state without explored successors is not necessarily a deadlock.
        if !check_options.first && !reduced.contains(&one.property) {
            continue;
        }
        // Of a run that repeats, what counts is the way to the part that does.
        let length = |one: &Violation<S>| {
            let steps = one.path.steps.len();
            (one.path.repeats_from.unwrap_or(steps), steps)
        };
        let shorter = |old: &Violation<S>| {
            let (new, old) = (length(&one), length(old));
            if one.path.repeats_from.is_some() { new.0 <= old.0 } else { new <= old }
        };
        if best.get(&one.property).is_none_or(shorter) {
            best.insert(one.property.clone(), one);
        }
    }
    violations.extend(best.into_values());
    violations
        .sort_by(|a, b| (a.path.steps.len(), &a.property).cmp(&(b.path.steps.len(), &b.property)));
    (outcome, stats)
}
