//! Searches with reduction: skips states that differ only in the order of independent steps.
//!
//! A reduced search finds every failure, but not the shortest run to each. Once it has findings, a
//! full search covers the states up to their depth, within a limit on the number of states. If it
//! completes, the runs are the shortest.

use super::check::{Algorithm, CheckOptions};
use super::conflicts::Conflict;
use super::program::StateProgram;
use crate::Failure;
use anyorder_common::text::{escape, shown};
use anyorder_explore::paper;
use anyorder_explore::stateful::{self, Options};
use anyorder_finding::Stats;
use anyorder_search::{Property, Stop, UpdateConflict, Violation};
use anyorder_system::{Control, Reducible, StateSystem};
use std::collections::BTreeMap;
use std::path::Path as FilePath;

/// The limit on states searched for shorter runs: at least this number, and this multiple of the
/// states of the reduced search.
const SHORTEN_STATES: u64 = 20_000;
const SHORTEN_FACTOR: u64 = 2;

/// The result of a search with reduction.
pub(super) struct Reduced<S: StateSystem> {
    pub(super) violations: Vec<Violation<S>>,
    pub(super) conflicts: Vec<Conflict<S>>,
    /// Whether the search was complete.
    complete: bool,
    limits: Vec<&'static str>,
    pub(super) stats: Stats,
    /// The parts that never run, if known.
    pub(super) never_run: Option<Vec<usize>>,
}

impl<S: StateSystem> Reduced<S> {
    /// Returns the limits that cut the search.
    pub(super) fn limits(&self) -> Vec<String> {
        if !self.complete && self.limits.is_empty() {
            return vec!["first".to_owned()];
        }
        self.limits.iter().map(|limit| (*limit).to_owned()).collect()
    }
}

/// Searches a program with reduction.
pub(super) fn reduced<P>(
    program: &P,
    algorithm: Algorithm,
    options: &CheckOptions,
    control: &Control<'_>,
) -> Result<Reduced<P::System>, Failure>
where
    P: StateProgram,
    P::System: Reducible,
{
    let system = program.system();
    let found = match algorithm {
        Algorithm::Paper => by_paper(system, options, control),
        _ => by_stateful(system, options, control),
    };
    let found = found.map_err(|error| {
        let name = shown(FilePath::new(&program.program().name));
        Failure::new(format!("{name}: {}", escape(&error.to_string())))
    })?;
    let Found { mut violations, conflicts, complete, limits, stats, states, never_run } = found;
    let conflicts = conflicts.into_iter().map(|one| Conflict::of(program, one)).collect();
    if !violations.is_empty() {
        let budget = SHORTEN_STATES.max(states.saturating_mul(SHORTEN_FACTOR));
        shorten(system, &mut violations, options, budget, control);
    }
    Ok(Reduced { violations, conflicts, complete, limits, stats, never_run })
}

/// The result of an engine.
struct Found<S: StateSystem> {
    violations: Vec<Violation<S>>,
    conflicts: Vec<UpdateConflict<S>>,
    complete: bool,
    limits: Vec<&'static str>,
    stats: Stats,
    states: u64,
    never_run: Option<Vec<usize>>,
}

impl<S: StateSystem> Found<S> {
    fn of<D>(outcome: anyorder_search::Outcome<S, D>, stats: Stats) -> Found<S> {
        Found {
            violations: outcome.violations,
            conflicts: outcome.conflicts.unwrap_or_default(),
            complete: outcome.complete,
            limits: outcome.limits.iter().map(|limit| limit.word()).collect(),
            stats,
            states: outcome.stats.states,
            never_run: outcome.never_run,
        }
    }
}

fn by_stateful<S: Reducible>(
    system: &S,
    check_options: &CheckOptions,
    control: &Control<'_>,
) -> Result<Found<S>, stateful::Error> {
    let options = Options {
        threads: check_options.threads,
        values: check_options.values,
        stop_at_first: check_options.first,
        states_max: check_options.states_max,
        ..Options::default()
    };
    let outcome = stateful::explore(system, &options, control)?;
    let (counts, own) = (&outcome.stats, &outcome.detail.counts);
    let mut stats = Stats::new();
    stats
        .set("algorithm", "stateful")
        .set("states", counts.states)
        .set("transitions", counts.transitions)
        .set("executions", counts.executions)
        .set("inferred", own.inferred)
        .set("re_expansions", own.re_expansions)
        .set("reduced_states", own.reduced_states)
        .set("max_depth", counts.max_depth)
        .set("frontier_peak", counts.frontier_peak)
        .set("bytes_per_state", counts.bytes_per_state);
    Ok(Found::of(outcome, stats))
}

fn by_paper<S: Reducible>(
    system: &S,
    check_options: &CheckOptions,
    control: &Control<'_>,
) -> Result<Found<S>, stateful::Error> {
    let options = paper::Options {
        values: check_options.values,
        states_max: check_options.states_max,
        ..paper::Options::default()
    };
    let outcome = paper::explore(system, &options, control)?;
    let (counts, own) = (&outcome.stats, &outcome.detail.counts);
    let mut stats = Stats::new();
    stats
        .set("algorithm", "paper")
        .set("states", counts.states)
        .set("transitions", counts.transitions)
        .set("executions", counts.executions)
        .set("inferred", 0_u64)
        .set("sequences", own.sequences)
        .set("backtracking_points", own.backtracking_points)
        .set("backward_steps", own.backward_steps)
        .set("max_depth", counts.max_depth);
    Ok(Found::of(outcome, stats))
}

/// Searches in full for shorter runs, up to the length of the longest run found. If a limit cuts
/// this search, its findings so far are still used: breadth-first search finds shortest runs.
fn shorten<S: StateSystem>(
    system: &S,
    violations: &mut Vec<Violation<S>>,
    check_options: &CheckOptions,
    budget: u64,
    control: &Control<'_>,
) {
    let lengths = violations.iter().map(|violation| violation.path.steps.len());
    let reach = if check_options.first { lengths.min() } else { lengths.max() };
    let options = anyorder_search::Options {
        stop: if check_options.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: check_options.threads,
        responses: false,
        states_max: Some(budget),
        // One more step, because a deadlock shows only when the search tries to expand the state.
        depth_max: Some(u32::try_from(reach.unwrap_or(0)).unwrap_or(u32::MAX).saturating_add(1)),
        ..anyorder_search::Options::default()
    };
    control.progress.phase("shorter runs");
    let mut control = control.clone();
    control.limits.executions = None;
    let Ok(found) = anyorder_search::search(system, &options, &control) else { return };
    let mut best: BTreeMap<Property, Violation<S>> = BTreeMap::new();
    let known = std::mem::take(violations);
    let reduced: Vec<Property> = known.iter().map(|one| one.property.clone()).collect();
    for one in known.into_iter().chain(found.violations) {
        // With a depth limit, a state without explored successors is not necessarily a deadlock.
        if !check_options.first && !reduced.contains(&one.property) {
            continue;
        }
        let shorter = |old: &Violation<S>| one.path.steps.len() <= old.path.steps.len();
        if best.get(&one.property).is_none_or(shorter) {
            best.insert(one.property.clone(), one);
        }
    }
    violations.extend(best.into_values());
    violations
        .sort_by(|a, b| (a.path.steps.len(), &a.property).cmp(&(b.path.steps.len(), &b.property)));
}
