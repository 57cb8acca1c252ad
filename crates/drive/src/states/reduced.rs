//! Searches a model with reduction: states to which only other orders of independent steps lead are
//! left out.
//!
//! A reduced search finds every failure, but not the shortest way to each. So once it has found
//! something, the states up to that depth are searched in full, as far as a limit on their number
//! allows: then the ways are the shortest there are.

use super::check::{Algorithm, CheckOptions};
use super::conflicts::Conflict;
use super::observed::Observed;
use super::program::StateProgram;
use crate::Failure;
use anyorder_common::text::{escape, shown};
use anyorder_explore::paper;
use anyorder_explore::stateful::{self, Finding, Options};
use anyorder_finding::Stats;
use anyorder_search::{Path, PathStep, Property, Stop, Violation};
use anyorder_system::{Control, Reducible, StateSystem, Successor};
use std::collections::BTreeMap;
use std::path::Path as FilePath;

/// How many states are searched for shorter ways in any case, and how many times those of the
/// search with reduction.
const SHORTEN_STATES: u64 = 20_000;
const SHORTEN_FACTOR: u64 = 2;

/// What a search with reduction found.
pub(super) struct Reduced<S: StateSystem> {
    pub(super) violations: Vec<Violation<S>>,
    pub(super) conflicts: Vec<Conflict<S>>,
    /// Nothing cut it.
    complete: bool,
    limits: Vec<&'static str>,
    pub(super) stats: Stats,
    /// The parts that never run, where that is known.
    pub(super) never_run: Option<Vec<usize>>,
}

impl<S: StateSystem> Reduced<S> {
    /// Returns what cut the search.
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
    let observed = Observed::new(system);
    let found = match algorithm {
        Algorithm::Paper => by_paper(&observed, options, control),
        _ => by_stateful(&observed, options, control),
    };
    let Found { findings, complete, limits, stats, states } = found.map_err(|error| {
        let name = shown(FilePath::new(&program.program().name));
        Failure::new(format!("{name}: {}", escape(&error.to_string())))
    })?;
    let (mut violations, mut conflicts) = (Vec::new(), Vec::new());
    for finding in findings {
        let path = path_of(system, &finding);
        let property = match finding.property {
            stateful::Property::Failure(message) => Property::Failure(message),
            stateful::Property::Invariant(index) => Property::Invariant(index),
            stateful::Property::Deadlock => Property::Deadlock,
            stateful::Property::Final => Property::Final,
            stateful::Property::UpdateConflict { place, components } => {
                conflicts.push(Conflict::of(program, place, components, path));
                continue;
            }
        };
        violations.push(Violation { property, name: finding.name, path });
    }
    if !violations.is_empty() {
        let budget = SHORTEN_STATES.max(states.saturating_mul(SHORTEN_FACTOR));
        shorten(system, &mut violations, options, budget, control);
    }
    let never_run = complete.then(|| observed.never_run());
    Ok(Reduced { violations, conflicts, complete, limits, stats, never_run })
}

/// What an engine found.
struct Found<'a, S: Reducible> {
    findings: Vec<Finding<Observed<'a, S>>>,
    complete: bool,
    limits: Vec<&'static str>,
    stats: Stats,
    states: u64,
}

fn by_stateful<'a, S: Reducible>(
    system: &Observed<'a, S>,
    asked: &CheckOptions,
    control: &Control<'_>,
) -> Result<Found<'a, S>, stateful::Error> {
    let options = Options {
        threads: asked.threads,
        values: asked.values,
        stop_at_first: asked.first,
        states_max: asked.states_max,
        ..Options::default()
    };
    let outcome = stateful::explore(system, &options, control)?;
    Ok(Found {
        findings: outcome.findings,
        complete: outcome.complete,
        limits: outcome.limits.iter().map(|limit| limit.word()).collect(),
        stats: stats(&outcome.stats),
        states: outcome.stats.states,
    })
}

fn by_paper<'a, S: Reducible>(
    system: &Observed<'a, S>,
    asked: &CheckOptions,
    control: &Control<'_>,
) -> Result<Found<'a, S>, stateful::Error> {
    let options = paper::Options {
        values: asked.values,
        states_max: asked.states_max,
        ..paper::Options::default()
    };
    let outcome = paper::explore(system, &options, control)?;
    let word = |limit: &paper::Limit| match limit {
        paper::Limit::States => "max-states",
        paper::Limit::Executions => "max-executions",
        paper::Limit::Backward => "max-transitions",
        paper::Limit::Memory => "memory-limit",
        paper::Limit::Time => "time-limit",
        paper::Limit::Interrupt => "interrupt",
    };
    let counts = &outcome.stats;
    let mut stats = Stats::new();
    stats
        .set("algorithm", "paper")
        .set("states", counts.states)
        .set("transitions", counts.transitions)
        .set("executions", counts.executions)
        .set("inferred", 0_u64)
        .set("sequences", counts.sequences)
        .set("backtracking_points", counts.backtracking_points)
        .set("backward_steps", counts.backward_steps)
        .set("max_depth", counts.max_depth);
    Ok(Found {
        complete: outcome.complete,
        limits: outcome.limit.iter().map(word).collect(),
        stats,
        states: counts.states,
        findings: outcome.findings,
    })
}

/// Searches in full, up to the length of the longest way, for shorter ways to what was found. Where
/// a limit cuts that, what was found so far is used: breadth-first it is the shortest, too.
fn shorten<S: StateSystem>(
    system: &S,
    violations: &mut Vec<Violation<S>>,
    asked: &CheckOptions,
    budget: u64,
    control: &Control<'_>,
) {
    let lengths = violations.iter().map(|violation| violation.path.steps.len());
    let reach = if asked.first { lengths.min() } else { lengths.max() };
    let options = anyorder_search::Options {
        stop: if asked.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: asked.threads,
        responses: false,
        states_max: Some(budget),
        // One more, as a deadlock shows only where a step is tried.
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
        // With a limit on the depth, a state in which nothing happens for now is none in which
        // nothing can.
        if !asked.first && !reduced.contains(&one.property) {
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

/// Makes a path of a full search of one of a search with reduction: the states are the same.
fn path_of<S: Reducible>(system: &S, finding: &Finding<Observed<'_, S>>) -> Path<S> {
    let found = &finding.path;
    let mut path = Path {
        start: found.start,
        initial: found.initial.clone(),
        steps: Vec::with_capacity(found.steps.len()),
        repeats_from: None,
    };
    for step in &found.steps {
        let mut successors: Vec<Successor<S::State, S::Action>> = Vec::new();
        system.successors(path.last(), &mut successors);
        let wanted = system.fingerprint(&step.state);
        let place = successors.iter().position(|one| {
            one.failure == step.failure && system.fingerprint(&one.state) == wanted
        });
        path.steps.push(PathStep {
            action: step.action.clone(),
            place: place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX),
            state: step.state.clone(),
            failure: step.failure.clone(),
        });
    }
    path
}

/// Returns the counts under the names that they have in results.
fn stats(counts: &stateful::Stats) -> Stats {
    let mut stats = Stats::new();
    stats
        .set("algorithm", "stateful")
        .set("states", counts.states)
        .set("transitions", counts.transitions)
        .set("executions", counts.executions)
        .set("inferred", counts.inferred)
        .set("re_expansions", counts.re_expansions)
        .set("reduced_states", counts.reduced_states)
        .set("max_depth", counts.max_depth)
        .set("frontier_peak", counts.frontier_peak)
        .set("bytes_per_state", counts.bytes_per_state);
    stats
}
