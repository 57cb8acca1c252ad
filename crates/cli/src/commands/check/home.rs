//! Checks smart-home apps: all together, or each pair.

use crate::args::{CheckArgs, cores};
use crate::commands::home::GivenApp;
use crate::failure::Failure;
use crate::search_watch::SearchWatch;
use crate::watch::Watch;
use anyorder_drive::home::{Household, Memo, check_home};
use anyorder_drive::states::CheckOptions;
use anyorder_drive::{JobControl, JobResult};
use anyorder_finding::Input;
use anyorder_system::{Control, NoProgress};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

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

/// Checks each pair, several at a time, and hands the results over in order. Returns how many pairs
/// a limit left out.
pub(super) fn pairs(
    apps: &[GivenApp],
    args: &CheckArgs,
    watch: &Watch,
    add: &mut dyn FnMut(Vec<Input>, JobResult),
) -> Result<usize, Failure> {
    let numbers = 0..apps.len();
    let pairs: Vec<[usize; 2]> =
        numbers.clone().flat_map(|a| (a + 1..numbers.end).map(move |b| [a, b])).collect();
    let workers = args.search.threads.unwrap_or_else(cores).get().min(pairs.len());
    let options = CheckOptions {
        threads: NonZeroUsize::MIN,
        states_max: Some(args.search.max_states.unwrap_or(PAIR_STATES_MAX)),
        ..args.search.options()
    };
    let control = watch.control();
    let bar = control.progress;
    // The pairs are counted, not the states of each.
    let quiet = Control { progress: &NoProgress, ..control.control.clone() };
    let memo = Memo::default();
    let job = Job { apps, pairs: &pairs, next: AtomicUsize::new(0), args, options, memo: &memo };
    let quiet = JobControl::new(quiet, control.found);
    bar.phase("checking pairs");
    std::thread::scope(|scope| {
        let (send, results) = channel();
        let start = |_| {
            let (send, job, quiet) = (send.clone(), &job, &quiet);
            let work = move || job.work(watch, quiet, &send);
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).is_ok()
        };
        // Without another thread, this one does all.
        if !(0..workers).map(start).fold(false, |any, is_started| any | is_started) {
            job.work(watch, &quiet, &send);
        }
        drop(send);
        let (mut waiting, mut added) = (BTreeMap::new(), 0);
        for (done, (at, result)) in results.into_iter().enumerate() {
            bar.report(done as u64 + 1, Some(pairs.len() as u64));
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&added) {
                add(inputs(&pairs[added].map(|app| &apps[app])), result?);
                added += 1;
            }
        }
        Ok(pairs.len() - added)
    })
}

/// The pairs, and which of them is the next.
struct Job<'a> {
    apps: &'a [GivenApp],
    pairs: &'a [[usize; 2]],
    next: AtomicUsize,
    args: &'a CheckArgs,
    options: CheckOptions,
    /// What one pair has evaluated, the others need not.
    memo: &'a Memo,
}

/// The number of a pair, and its result.
type Done = (usize, Result<JobResult, Failure>);

impl Job<'_> {
    /// Checks pairs until there are no more, or a limit is reached.
    fn work(&self, watch: &Watch, control: &JobControl<'_>, send: &Sender<Done>) {
        let stop = || control.check().is_err();
        let options = self.args.home.options();
        let household = match Household::new(self.apps, &options, Some(self.memo), &stop) {
            Ok(household) => household,
            Err(failure) => {
                let _ = send.send((self.next.fetch_add(1, Ordering::Relaxed), Err(failure.into())));
                return;
            }
        };
        while watch.stopped().is_none() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(pair) = self.pairs.get(at) else { return };
            let result = household.check_pair(*pair, &self.options, control);
            let result = result.map_err(Failure::from).map(|mut result| {
                self.args.search.set(&mut result.options);
                result
            });
            if send.send((at, result)).is_err() {
                return;
            }
        }
    }
}
