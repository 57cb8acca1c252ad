//! Searches a model with reduction: states to which only other orders of independent steps lead are left out.
//!
//! A reduced search finds every failure, but not the shortest way to each. So once it has found something, the states up to that depth are
//! searched in full, as far as a limit on their number allows: then the ways are the shortest there are.

use super::finding::{Reported, report};
use super::growth::Growth;
use super::load::Model;
use super::updates::{Conflict, report_conflicts};
use crate::args::{CheckArgs, OrderArg, StorageArg};
use crate::failure::Failure;
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_explore::paper;
use anyorder_explore::stateful::{self, Options};
use anyorder_finding::{Outcome, Stats};
use anyorder_search::{Property, Stop, UpdateConflict, Violation};
use anyorder_system::Control;
use anyorder_vm::Machine;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path as FilePath;

/// How many states are searched for shorter ways in any case, and how many times those of the search with reduction.
const SHORTEN_STATES: u64 = 20_000;
const SHORTEN_FACTOR: u64 = 2;

/// What a search with reduction found.
pub(crate) struct Reduced {
    pub(crate) violations: Vec<Violation<Machine>>,
    pub(crate) conflicts: Vec<Conflict>,
    /// Nothing cut it.
    pub(crate) complete: bool,
    pub(crate) limits: Vec<&'static str>,
    pub(crate) stats: Stats,
    /// The parts that never run, where that is known.
    pub(crate) never_run: Option<Vec<usize>>,
}

/// What a search with reduction is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) threads: NonZeroUsize,
    pub(crate) first: bool,
    /// Two writes of one value do not conflict.
    pub(crate) values: bool,
    pub(crate) states_max: Option<u64>,
    pub(crate) executions_max: Option<u64>,
    pub(crate) engine: Engine,
}

/// Which algorithm reduces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// Ours.
    Stateful,
    /// The published one.
    Paper,
}

/// Says why a model must be searched in full, if it must.
pub(crate) fn full_because(model: &Model, args: &CheckArgs) -> Option<&'static str> {
    let search = &args.search;
    let reasons = [
        (search.resume.is_some(), "`--resume` goes on with one"),
        (search.checkpoint.is_some(), "`--checkpoint` keeps one"),
        (search.symmetry, "`--symmetry` is of full search"),
        (search.storage != StorageArg::Fingerprint, "`--storage` is of full search"),
        (search.order != OrderArg::Breadth, "`--order` is of full search"),
        (search.max_depth.is_some(), "`--max-depth` bounds runs, and reduction needs whole ones"),
        (!model.machine.responses().is_empty(), "response properties need every order"),
    ];
    reasons.iter().find(|(applies, _)| *applies).map(|(_, reason)| *reason)
}

/// Searches a model with reduction.
pub(crate) fn reduced(
    path: &FilePath,
    model: &Model,
    question: Question,
    watch: &Watch,
) -> Result<Reduced, Failure> {
    let machine = &*model.machine;
    let mut control = watch.control();
    let growth = Growth::new(control.progress, machine);
    control.progress = &growth;
    control.limits.executions = question.executions_max;
    let failed = |error: stateful::Error| {
        Failure::new(format!("{}: {}", shown(path), escape(&error.to_string())))
    };
    let found = match question.engine {
        Engine::Stateful => by_stateful(machine, question, &control),
        Engine::Paper => by_paper(machine, question, &control),
    };
    let Found { mut violations, conflicts, complete, limits, stats, states, never_run } =
        found.map_err(failed)?;
    let conflicts = super::updates::conflicts_of(model, conflicts);
    if !violations.is_empty() {
        let budget = SHORTEN_STATES.max(states.saturating_mul(SHORTEN_FACTOR));
        shorten(machine, &mut violations, &question, budget, &watch.control());
    }
    Ok(Reduced { violations, conflicts, complete, limits, stats, never_run })
}

/// What an engine found.
struct Found {
    violations: Vec<Violation<Machine>>,
    conflicts: Vec<UpdateConflict<Machine>>,
    complete: bool,
    limits: Vec<&'static str>,
    stats: Stats,
    states: u64,
    never_run: Option<Vec<usize>>,
}

impl Found {
    fn of<D>(outcome: anyorder_search::Outcome<Machine, D>, stats: Stats) -> Found {
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

fn by_stateful(
    machine: &Machine,
    question: Question,
    control: &Control<'_>,
) -> Result<Found, stateful::Error> {
    let options = Options {
        threads: question.threads,
        values: question.values,
        stop_at_first: question.first,
        states_max: question.states_max,
        ..Options::default()
    };
    let outcome = stateful::explore(machine, &options, control)?;
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

fn by_paper(
    machine: &Machine,
    question: Question,
    control: &Control<'_>,
) -> Result<Found, stateful::Error> {
    let options = paper::Options {
        values: question.values,
        states_max: question.states_max,
        ..paper::Options::default()
    };
    let outcome = paper::explore(machine, &options, control)?;
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

/// Searches a model in full; adds limits and counts to a result.
pub(crate) fn full_states(
    path: &FilePath,
    model: &Model,
    question: Question,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<Vec<Reported>, Failure> {
    let options = anyorder_search::Options {
        stop: if question.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: question.threads,
        responses: !model.machine.responses().is_empty(),
        updates: true,
        states_max: question.states_max,
        ..anyorder_search::Options::default()
    };
    let searched = anyorder_search::search(&*model.machine, &options, &watch.control())
        .map_err(|error| super::search::failure(path, &error))?;
    searched.limits.iter().for_each(|limit| outcome.cut_by(super::search::limit_word(*limit)));
    if !searched.complete && searched.limits.is_empty() {
        outcome.cut_by("first");
    }
    let counts = super::search::stats(&searched.stats);
    for (name, stat) in counts.iter() {
        outcome.stats.set(name, stat.clone());
    }
    let mut reported = report(model, &searched.violations);
    let conflicts = super::updates::conflicts_of(model, searched.conflicts.unwrap_or_default());
    reported.extend(report_conflicts(model, &conflicts));
    Ok(reported)
}

/// Searches in full, up to the length of the longest way, for shorter ways to what was found. Where a limit cuts that, what was
/// found so far is used: breadth-first it is the shortest, too.
fn shorten(
    machine: &Machine,
    violations: &mut Vec<Violation<Machine>>,
    question: &Question,
    budget: u64,
    control: &Control<'_>,
) {
    let lengths = violations.iter().map(|violation| violation.path.steps.len());
    let reach = if question.first { lengths.min() } else { lengths.max() };
    let options = anyorder_search::Options {
        stop: if question.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: question.threads,
        responses: false,
        states_max: Some(budget),
        // One more, as a deadlock shows only where a step is tried.
        depth_max: Some(u32::try_from(reach.unwrap_or(0)).unwrap_or(u32::MAX).saturating_add(1)),
        ..anyorder_search::Options::default()
    };
    control.progress.phase("shorter runs");
    let Ok(found) = anyorder_search::search(machine, &options, control) else { return };
    let mut best: BTreeMap<Property, Violation<Machine>> = BTreeMap::new();
    let known = std::mem::take(violations);
    let reduced: Vec<Property> = known.iter().map(|one| one.property.clone()).collect();
    for one in known.into_iter().chain(found.violations) {
        // With a limit on the depth, a state in which nothing happens for now is none in which nothing can.
        if !question.first && !reduced.contains(&one.property) {
            continue;
        }
        let shorter = |old: &Violation<Machine>| one.path.steps.len() <= old.path.steps.len();
        if best.get(&one.property).is_none_or(shorter) {
            best.insert(one.property.clone(), one);
        }
    }
    violations.extend(best.into_values());
    violations
        .sort_by(|a, b| (a.path.steps.len(), &a.property).cmp(&(b.path.steps.len(), &b.property)));
}
