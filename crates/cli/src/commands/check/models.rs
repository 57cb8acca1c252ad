//! Checks one model: searches its states, and makes findings of what is violated.

use super::sum::add_stats;
use crate::args::{CheckArgs, Global, LimitArgs, OrderArg, StorageArg};
use crate::failure::{Failure, warn};
use crate::model::{self, Model};
use crate::output::shown;
use crate::watch::Watch;
use anyorder_finding::{Input, Options, Outcome, Stat};
use anyorder_report::run::Run;
use std::io::Write;
use std::path::Path;

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
    let searched = model::search(path, &model, &args.search, watch, global.quiet)?;
    for limit in &searched.limits {
        outcome.cut_by(model::limit_word(*limit));
    }
    if !searched.complete && searched.limits.is_empty() {
        outcome.cut_by("first");
    }
    runs.resize(outcome.findings.len(), None);
    for reported in model::report(&model, &searched.violations) {
        outcome.findings.push(reported.finding);
        runs.push(Some(reported.run));
    }
    add_stats(&mut outcome.stats, &model::stats(&searched.stats));
    let idle = model::never_run(&model.machine, searched.never_run.as_deref().unwrap_or(&[]));
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
    options.set("symmetry", search.symmetry);
    if let Some(most) = search.max_states {
        options.set("max-states", most);
    }
    if let Some(most) = search.max_depth {
        options.set("max-depth", u64::from(most));
    }
    options.set("strict", args.strict);
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
