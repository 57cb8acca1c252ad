//! Checks smart-home apps: all together, or each pair.

use crate::args::{CheckArgs, cores};
use crate::commands::home::GivenApp;
use crate::failure::Failure;
use crate::search_watch::SearchWatch;
use crate::watch::Watch;
use anyorder_drive::home::check_home;
use anyorder_drive::states::CheckOptions;
use anyorder_drive::{JobControl, JobResult};
use anyorder_finding::Input;
use std::num::NonZeroUsize;
use std::path::Path;

/// The most states of a pair, without `--max-states`.
const PAIR_STATES_MAX: u64 = 200_000;

/// The stack of a thread that evaluates apps: their calls nest up to 100 deep.
const STACK_BYTES: usize = 64 << 20;

fn inputs(apps: &[&GivenApp]) -> Vec<Input> {
    apps.iter().map(|(file, _)| Input::new(Path::new(file), "app")).collect()
}

/// Checks all apps together.
pub(super) fn together(
    apps: &[GivenApp],
    args: &CheckArgs,
    watch: &Watch,
) -> Result<(Vec<Input>, JobResult), Failure> {
    let mut follower = SearchWatch::new(watch, &args.search);
    let (home, search) = (args.home.options(), args.search.options());
    let mut result = check_home(apps, &home, &search, &watch.control(), &mut follower)?;
    args.search.set(&mut result.options);
    Ok((inputs(&apps.iter().collect::<Vec<_>>()), result))
}

/// Checks each pair, several at a time, and hands the results over in order.
pub(super) fn pairs(
    apps: &[GivenApp],
    args: &CheckArgs,
    watch: &Watch,
    add: &mut dyn FnMut(Vec<Input>, JobResult),
) -> Result<(), Failure> {
    let pairs: Vec<[&GivenApp; 2]> = apps
        .iter()
        .enumerate()
        .flat_map(|(at, first)| apps[at + 1..].iter().map(move |second| [first, second]))
        .collect();
    let workers = args.search.threads.unwrap_or_else(cores).get();
    let options = CheckOptions {
        threads: NonZeroUsize::MIN,
        states_max: Some(args.search.max_states.unwrap_or(PAIR_STATES_MAX)),
        ..args.search.options()
    };
    let control = watch.control();
    for some in pairs.chunks(workers) {
        if watch.stopped().is_some() {
            break;
        }
        let results = std::thread::scope(|scope| {
            let one = |pair: &[&GivenApp; 2]| {
                let (pair, options, control) = (pair.map(Clone::clone), &options, &control);
                let job = move || checked(&pair, args, options, control);
                std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, job)
            };
            let started: Vec<_> = some.iter().map(one).collect();
            started.into_iter().map(|one| one.ok()?.join().ok()).collect::<Vec<_>>()
        });
        for (pair, result) in some.iter().zip(results) {
            // A thread that could not be started leaves its pair to this one.
            let result = match result {
                Some(result) => result?,
                None => checked(&pair.map(Clone::clone), args, &options, &control)?,
            };
            add(inputs(pair), result);
        }
    }
    Ok(())
}

fn checked(
    pair: &[GivenApp; 2],
    args: &CheckArgs,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    let mut result = check_home(pair, &args.home.options(), options, control, &mut ())?;
    args.search.set(&mut result.options);
    Ok(result)
}
