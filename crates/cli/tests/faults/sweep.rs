//! One fault in each run: every command, every kind of call, every call or a spread of them.

use crate::judge::{Ended, describe, differing, judge};
use crate::scenario::{Scenario, scenarios};
use crate::shim::{Fault, Place, Ran, kind, shim};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort::is_due;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The faults of each kind: numbers of errors on Linux, and the words of `shim.c`.
const FAULTS: &[(&str, &[&str])] = &[
    ("open", &["13", "24", "5"]),
    ("read", &["5", "4", "short", "short+"]),
    ("write", &["28+", "5", "4", "short", "short+", "32"]),
    ("close", &["5"]),
    ("fsync", &["5", "28"]),
    ("rename", &["5", "28"]),
    ("unlink", &["5"]),
    ("truncate", &["5"]),
    ("mkdir", &["28", "13"]),
    ("stat", &["5", "13"]),
    ("mode", &["1"]),
    ("folder", &["13", "5"]),
    ("spawn", &["11", "12"]),
    ("wait", &["4", "10"]),
    ("kill", &["1"]),
    ("thread", &["11", "11+"]),
    ("memory", &["12", "12+"]),
    ("clock", &["jump", "still+"]),
    ("sleep", &["4"]),
    ("pipe", &["24"]),
    ("poll", &["4"]),
];

/// Kinds that a run without an error need not make.
const SELDOM: [&str; 4] = ["unlink", "truncate", "folder", "mode"];

/// Calls tried of each kind of a command, unless all are wanted.
const SPREAD: u64 = 3;

/// What became of the runs of one kind of call in one command.
#[derive(Clone, Debug, Default)]
struct Tally {
    ended: BTreeMap<Ended, u64>,
    wrong: Vec<String>,
}

#[test]
fn every_fault_ends_with_a_status_and_whole_files() {
    if shim().is_none() {
        return;
    }
    let scenarios = scenarios();
    let tallies = Mutex::new(BTreeMap::<(usize, usize), Tally>::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let place = Place::new();
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let number =
                        scenarios.iter().position(|one| one.name == scenario.name).unwrap_or(0);
                    for (kind, tally) in sweep(scenario, &place) {
                        tallies.lock().expect("no worker panics").insert((kind, number), tally);
                    }
                }
            });
        }
    });
    report(&scenarios, &tallies.into_inner().expect("no worker panics"));
}

/// Runs a command without a fault, twice; both end alike.
pub(crate) fn whole_run(scenario: &Scenario, place: &Place) -> Ran {
    let run = || {
        place.reset(&scenario.before);
        place.run(&scenario.arguments, &scenario.stdin, None)
    };
    let (whole, again) = (run(), run());
    let status = whole.status.unwrap_or(-1);
    assert!((0..4).contains(&status), "{}: status {status}: {}", scenario.name, whole.stderr);
    let usage = whole.stderr.contains("Usage:") || whole.stderr.contains("--help");
    assert!(!usage, "{}: the command is wrong: {}", scenario.name, whole.stderr);
    let differ = differing(&whole.files, &again.files);
    assert!(differ.is_empty(), "{}: two runs differ in {differ:?}", scenario.name);
    whole
}

/// Tries the faults of one command, by kind.
fn sweep(scenario: &Scenario, place: &Place) -> BTreeMap<usize, Tally> {
    let whole = whole_run(scenario, place);
    let mut tallies = BTreeMap::new();
    for (name, hows) in FAULTS {
        let kind = kind(name);
        let tally: &mut Tally = tallies.entry(kind).or_default();
        for (at, how) in points(whole.calls.counts[kind], hows, scenario.name, kind) {
            let fault = Fault { kind: Some(kind), at, how, seed: at };
            place.reset(&scenario.before);
            let ran = place.run(&scenario.arguments, &scenario.stdin, Some(&fault));
            match judge(scenario, &whole, &ran, &fault) {
                Ok(ended) => *tally.ended.entry(ended).or_default() += 1,
                Err(error) => {
                    let what = describe(&fault, &ran);
                    let wrong = format!("{}: {what}: {error}", scenario.name);
                    println!("WRONG {wrong}");
                    tally.wrong.push(wrong);
                }
            }
        }
    }
    tallies
}

/// The calls to fail, and how: all of them in each way, or the first, the last and random ones,
/// each in the next way. A push tries half of these, the next one the others.
fn points(
    calls: u64,
    hows: &'static [&'static str],
    name: &str,
    kind: usize,
) -> Vec<(u64, &'static str)> {
    if std::env::var_os("ANYORDER_FAULTS").is_some() {
        // Of hundreds of looks at the clock, all but some are the same.
        let stride = usize::try_from((calls / 100).max(1)).unwrap_or(1);
        let every = (1..=calls).step_by(stride);
        return every.flat_map(|at| hows.iter().map(move |how| (at, *how))).collect();
    }
    let seed = name.bytes().fold(kind as u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    let mut rng = Rng::new(seed);
    let mut at: Vec<u64> = (1..=calls).collect();
    if calls > SPREAD {
        at = vec![1, calls];
        at.extend((2..SPREAD).map(|_| 2 + rng.below(calls - 2)));
    }
    let first = rng.index(hows.len());
    let all = at.iter().enumerate().map(|(i, at)| (i, (*at, hows[(first + i) % hows.len()])));
    // Of kinds with few calls, one is tried in any case: some make no more in any command.
    let is_tried = |i: usize| at.len() <= 2 && i == 0 || is_due(i + first, 4);
    all.filter(|(i, _)| is_tried(*i)).map(|(_, point)| point).collect()
}

/// Prints the table of kinds and commands, and fails for wrong ends and kinds that never fired.
fn report(scenarios: &[Scenario], tallies: &BTreeMap<(usize, usize), Tally>) {
    let count = |tally: &Tally, ended: Ended| tally.ended.get(&ended).copied().unwrap_or(0);
    let columns = [Ended::Unharmed, Ended::Refused, Ended::Cut, Ended::NotReached];
    println!(
        "{:<10} {:>8} {:>6} {:>9} {:>8} {:>5} {:>12} {:>6}",
        "kind", "commands", "points", "unharmed", "refused", "cut", "not reached", "wrong"
    );
    let (mut points, mut wrong, mut unfired) = (0, Vec::new(), Vec::new());
    for (name, _) in FAULTS {
        let of_kind =
            || tallies.iter().filter(|((of, _), _)| *of == kind(name)).map(|(_, tally)| tally);
        let sums = columns.map(|ended| of_kind().map(|tally| count(tally, ended)).sum::<u64>());
        let bad: Vec<&String> = of_kind().flat_map(|tally| &tally.wrong).collect();
        let tried = sums.iter().sum::<u64>() + bad.len() as u64;
        let commands =
            of_kind().filter(|tally| !tally.ended.is_empty() || !tally.wrong.is_empty()).count();
        println!(
            "{name:<10} {commands:>8} {tried:>6} {:>9} {:>8} {:>5} {:>12} {:>6}",
            sums[0],
            sums[1],
            sums[2],
            sums[3],
            bad.len()
        );
        points += tried;
        if tried == sums[3] && !SELDOM.contains(name) {
            unfired.push(*name);
        }
        wrong.extend(bad);
    }
    println!("{points} points in {} commands", scenarios.len());
    assert!(wrong.is_empty(), "{} of {points} runs ended wrong", wrong.len());
    let is_whole_test = scenarios.len() > 1;
    assert!(!is_whole_test || unfired.is_empty(), "these kinds never fired: {unfired:?}");
}
