//! Checks one model: searches its states, and makes findings of what is violated.

use super::sum::add_stats;
use crate::args::{CheckArgs, Global, LimitArgs, OrderArg, StorageArg};
use crate::failure::{Failure, note, warn};
use crate::model::{self, Engine, Model, Question, Reduced, Reported};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_finding::run::Run;
use anyorder_finding::{Input, Options, Outcome, Stat};
use anyorder_search::ResponseVerdict;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

/// Checks a model; adds what was found to the result, and the run of each finding to `runs`.
pub(super) fn check(
    path: &Path,
    text: &str,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
    runs: &mut Vec<Option<Run>>,
) -> Result<(), Failure> {
    let model = model::load_text(path, text)?;
    print_warnings(&model, global);
    runs.resize(outcome.findings.len(), None);
    let (reported, never_run) = match reason(path, &model, args, global) {
        Some(()) => full(path, &model, args, global, watch, outcome)?,
        None => reduced(path, &model, args, watch, outcome)?,
    };
    for reported in reported {
        outcome.findings.push(reported.finding);
        runs.push(Some(reported.run));
    }
    let idle = model::never_run(&model.machine, never_run.as_deref().unwrap_or(&[]));
    if !idle.is_empty() {
        let known = match outcome.stats.get("never_run") {
            Some(Stat::Text(known)) => format!("{known}; "),
            _ => String::new(),
        };
        outcome.stats.set("never_run", Stat::Text(format!("{known}{}", idle.join("; "))));
    }
    if !global.quiet {
        watch.done();
        idle.iter().for_each(|words| warn(&format!("{}: {words}", shown(path))));
    }
    outcome
        .inputs
        .push(Input { path: path.to_string_lossy().into_owned(), format: "model".to_owned() });
    set_options(&mut outcome.options, args);
    Ok(())
}

/// Returns something when a model must be searched in full, and says why unless that was asked for.
fn reason(path: &Path, model: &Model, args: &CheckArgs, global: &Global) -> Option<()> {
    if args.search.no_reduction {
        return Some(());
    }
    let why = model::full_because(model, args)?;
    if !global.quiet {
        note(&format!("{}: full search, without reduction: {why}", shown(path)));
    }
    Some(())
}

type Found = (Vec<Reported>, Option<Vec<usize>>);

/// Searches all states; returns the findings, and what never runs where that is known.
fn full(
    path: &Path,
    model: &Model,
    args: &CheckArgs,
    global: &Global,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<Found, Failure> {
    let searched = model::search(path, model, &args.search, watch, global.quiet)?;
    // A run that breaks a response has no end, so that no depth covers it.
    let open = searched.responses.contains(&ResponseVerdict::Unknown);
    for limit in &searched.limits {
        let word = model::limit_word(*limit);
        if limit.is_bound() && !open { outcome.bounded_by(word) } else { outcome.cut_by(word) }
    }
    if !searched.complete && searched.limits.is_empty() {
        outcome.cut_by("first");
    }
    add_stats(&mut outcome.stats, &model::stats(&searched.stats));
    let mut reported = model::report(model, &searched.violations);
    if let Some(found) = searched.conflicts {
        let conflicts = model::conflicts_of(model, found);
        reported.extend(model::report_conflicts(model, &conflicts));
    } else if !model.machine.program().components.is_empty() {
        let found = model::reduced(path, model, question(args), watch)?;
        cut(&found, outcome);
        reported.extend(model::report_conflicts(model, &found.conflicts));
    }
    Ok((reported, searched.never_run))
}

/// Searches with reduction; returns the same.
fn reduced(
    path: &Path,
    model: &Model,
    args: &CheckArgs,
    watch: &Watch,
    outcome: &mut Outcome,
) -> Result<Found, Failure> {
    let found = model::reduced(path, model, question(args), watch)?;
    cut(&found, outcome);
    add_stats(&mut outcome.stats, &found.stats);
    let mut reported = model::report(model, &found.violations);
    reported.extend(model::report_conflicts(model, &found.conflicts));
    Ok((reported, found.never_run))
}

fn question(args: &CheckArgs) -> Question {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Question {
        threads: args.search.threads.unwrap_or(cores),
        first: args.search.first,
        values: true,
        states_max: args.search.max_states,
        executions_max: None,
        engine: Engine::Stateful,
    }
}

/// Notes what cut a search with reduction.
pub(crate) fn cut(found: &Reduced, outcome: &mut Outcome) {
    found.limits.iter().for_each(|limit| outcome.cut_by(limit));
    if !found.complete && found.limits.is_empty() {
        outcome.cut_by("first");
    }
}

/// Prints the warnings of a model.
pub(crate) fn print_warnings(model: &Model, global: &Global) {
    if global.quiet {
        return;
    }
    let mut err = anstream::stderr().lock();
    for warning in &model.warnings {
        // Nothing can be done about a stderr that cannot be written.
        let _ = err.write_all(warning.as_bytes());
    }
}

fn set_options(options: &mut Options, args: &CheckArgs) {
    let search = &args.search;
    let order = match search.order {
        OrderArg::Breadth => "breadth",
        OrderArg::Depth => "depth",
    };
    let storage = match search.storage {
        StorageArg::Fingerprint => "fingerprint",
        StorageArg::Exact => "exact",
        StorageArg::Bitstate => "bitstate",
    };
    options.set("order", order);
    options.set("storage", storage);
    if search.storage == StorageArg::Bitstate {
        options.set("storage-size", search.storage_size);
    }
    options.set("first", search.first);
    options.set("no-reduction", search.no_reduction);
    options.set("symmetry", search.symmetry);
    if let Some(most) = search.max_states {
        options.set("max-states", most);
    }
    if let Some(most) = search.max_depth {
        options.set("max-depth", u64::from(most));
    }
    options.set("strict", args.counting.strict);
    set_limits(options, &args.limits);
}

/// Sets the limits of time and memory that were asked for.
pub(crate) fn set_limits(options: &mut Options, limits: &LimitArgs) {
    if let Some(limit) = limits.time_limit {
        options.set("time-limit", u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    }
    if let Some(limit) = limits.memory_limit {
        options.set("memory-limit", limit);
    }
}
