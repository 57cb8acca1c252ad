//! Searches a model: options, progress, checkpoints.

use super::growth::Growth;
use super::kept::{Kept, spare};
use super::load::Model;
use super::progress::Progress;
use crate::args::{OrderArg, SearchArgs, StorageArg};
use crate::failure::{Failure, warn};
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_finding::Stats;
use anyorder_search::{Limit, Options, Order, Outcome, Pause, Search, SearchError, Stop, Storage};
use anyorder_system::StateSystem;
use anyorder_vm::Machine;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;
use std::time::Instant;

/// Searches all states of a model that the options allow.
pub(crate) fn search(
    path: &Path,
    model: &Model,
    args: &SearchArgs,
    watch: &Watch,
    quiet: bool,
) -> Result<Outcome<Machine>, Failure> {
    let machine = &*model.machine;
    let options = options(path, machine, args, quiet);
    let identity = format!("{}", model.program.hash.unwrap_or_default());
    let failed = |error: SearchError| failure(path, &error);
    let unkept = |file: &Path, error: &SearchError| {
        format!("{}: {}", shown(file), escape(&error.to_string()))
    };
    args.checkpoint.as_deref().map_or(Ok(()), spare)?;
    let mut search = match &args.resume {
        None => Search::new(machine, &options).map_err(failed)?,
        Some(file) => Search::resume(machine, &options, file, &identity)
            .map_err(|error| Failure::new(unkept(file, &error)))?,
    };
    let mut kept = match args.checkpoint.as_deref() {
        None => None,
        Some(file) => Some(
            Kept::begin(&search, (file, args.checkpoint_every), &identity)
                .map_err(|error| Failure::new(unkept(file, &error)))?,
        ),
    };
    let (mut control, start) = (watch.control(), Instant::now());
    let growth = Growth::new(control.progress, machine);
    control.progress = &growth;
    let mut progress = Progress::new(&search.gauge(), &options);
    let outcome = search.run_paused(&control, &mut |search, pause| {
        progress.note(&search.gauge());
        watch.detail(progress.words(start.elapsed()));
        if let Some(kept) = &mut kept
            && (pause == Pause::Cut || kept.is_due())
        {
            kept.save(search, &identity);
        }
        Ok(())
    });
    let outcome = outcome.map_err(failed)?;
    if let Some(kept) = kept
        && !quiet
    {
        watch.done();
        match kept.end() {
            Ok(file) if !outcome.limits.is_empty() => {
                let file = shown(file);
                warn(&format!("the search is in {file}; `--resume {file}` goes on with it"));
            }
            Ok(_) => {}
            Err((file, error)) => {
                warn(&format!("cannot keep the search: {}", unkept(file, &error)))
            }
        }
    }
    Ok(outcome)
}

fn options(path: &Path, machine: &Machine, args: &SearchArgs, quiet: bool) -> Options {
    let storage = match args.storage {
        StorageArg::Fingerprint => Storage::Fingerprints,
        StorageArg::Exact => Storage::Exact,
        StorageArg::Bitstate => Storage::Bitstate { bytes: args.storage_size.max(8) },
    };
    let bits = args.storage == StorageArg::Bitstate;
    let has_responses = !machine.responses().is_empty();
    if bits && has_responses && !quiet {
        warn(&format!("{}: responses are not checked with `--storage bitstate`", shown(path)));
    }
    let responses = has_responses && !bits;
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    // Responses are about particular components, which symmetry exchanges.
    let symmetry = args.symmetry && !responses && !machine.program().symmetries.is_empty();
    Options {
        order: match args.order {
            OrderArg::Breadth => Order::Breadth,
            OrderArg::Depth => Order::Depth,
        },
        storage,
        stop: if args.first { Stop::FirstViolation } else { Stop::Exhausted },
        threads: args.threads.unwrap_or(cores),
        symmetry,
        // So are update conflicts; and what is saved does not say what transitions update.
        updates: !symmetry && !bits && args.checkpoint.is_none() && args.resume.is_none(),
        responses,
        states_max: args.max_states,
        depth_max: args.max_depth,
        ..Options::default()
    }
}

/// Makes the failure of a search that cannot be done.
pub(crate) fn failure(path: &Path, error: &SearchError) -> Failure {
    let failure = Failure::new(format!("{}: {}", shown(path), escape(&error.to_string())));
    match error {
        SearchError::Symmetry => failure.with_hint(
            "values of an index type do not behave alike, which is a mistake of this program; without `--symmetry` they are told apart",
        ),
        _ => failure,
    }
}

/// Returns the name under which a result lists a limit.
pub(crate) const fn limit_word(limit: Limit) -> &'static str {
    match limit {
        // Not an option of its own: it is the kind of storage that was asked for.
        Limit::Bitstate => "storage",
        limit => limit.word(),
    }
}

/// Returns the counts under the names that they have in results.
pub(crate) fn stats(counts: &anyorder_search::Stats) -> Stats {
    let mut stats = Stats::new();
    stats
        .set("algorithm", "full")
        .set("states", counts.states)
        .set("transitions", counts.transitions)
        .set("executions", counts.executions)
        .set("inferred", 0_u64)
        .set("max_depth", counts.max_depth)
        .set("frontier_peak", counts.frontier_peak)
        .set("bytes_per_state", counts.bytes_per_state);
    stats
}

/// Returns what never runs, in words.
pub(crate) fn never_run(machine: &Machine, parts: &[usize]) -> Vec<String> {
    let program = machine.program();
    let (events, tasks) = (program.events.len(), program.tasks.len());
    let words = |part: &usize, name: &str| match *part {
        part if part < events => format!("event `{name}` never happens"),
        part if part < events + tasks => format!("task `{name}` never runs"),
        _ => format!("thread `{name}` never runs"),
    };
    let names = machine.parts();
    parts.iter().filter_map(|part| Some(words(part, names.get(*part)?))).collect()
}
