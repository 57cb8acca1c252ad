//! Kills, and losses of power, at any call.
//!
//! After each, every file is the old or the new one as a whole, or an unfinished one under a name
//! of its own; the same command then ends as if nothing had happened, and cleans up. A search that
//! was interrupted is resumed from its checkpoint, and ends with the counts of an uninterrupted
//! one.

use crate::judge::{differing, is_same};
use crate::scenario::{Scenario, scenarios};
use crate::shim::{Fault, Files, Place, Ran, shim};
use crate::sweep::whole_run;
use anyorder_common::random::{Random, Rng};
use std::collections::BTreeSet;

/// Interruptions of commands that write files, and as many of searches; half are kills, half losses
/// of power. Half of them on a push, ten times as many with `ANYORDER_FAULTS=all`.
const INTERRUPTIONS: u64 = 50;

fn interruptions() -> u64 {
    let all = std::env::var_os("ANYORDER_FAULTS").is_some_and(|wanted| wanted == "all");
    if all { 10 * INTERRUPTIONS } else { anyorder_testkit::effort::cases(INTERRUPTIONS) }
}

/// The interruption of this number, at a random call of a run with so many.
fn interruption(number: u64, calls: u64, rng: &mut Rng) -> Fault {
    // The last calls are those after the results: they count as much as all others.
    let at =
        if rng.below(2) == 0 { 1 + rng.below(calls) } else { calls - rng.below(calls.min(30)) };
    let how = if number.is_multiple_of(2) { "kill" } else { "power" };
    Fault { kind: None, at, how, seed: rng.bits() }
}

/// Names of files that are not finished.
fn is_unfinished(name: &str) -> bool {
    name.ends_with(".part")
}

fn finished(files: &Files) -> Files {
    let kept = files.iter().filter(|(name, _)| !is_unfinished(name));
    kept.map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
}

/// Every file is whole. A file that was missing before may be missing still.
fn check_files(scenario: &Scenario, whole: &Ran, left: &Files) -> Result<(), String> {
    for (name, bytes) in left.iter().filter(|(name, _)| !is_unfinished(name)) {
        let (old, new) = (scenario.before.get(name), whole.files.get(name));
        // A checkpoint of another moment is whole if the search can resume from it.
        let is_checkpoint = name == "saved" && bytes.starts_with(b"anyorder-search");
        let is = |one: Option<&Vec<u8>>| one.is_some_and(|one| is_same(one, bytes));
        if !is(old) && !is(new) && !is_checkpoint {
            return Err(format!(
                "`{name}` is neither the old nor the new file: {} bytes",
                bytes.len()
            ));
        }
    }
    let lost = scenario.before.keys().find(|name| !left.contains_key(*name));
    lost.map_or(Ok(()), |name| Err(format!("`{name}` is gone")))
}

#[test]
fn an_interrupted_command_leaves_whole_files() {
    if shim().is_none() {
        return;
    }
    let writes = |scenario: &Scenario| {
        let writing = [
            "-o",
            "--report",
            "--schedules",
            "--write-baseline",
            "--witness",
            "--dir",
            "fmt",
            "convert",
        ];
        scenario.arguments.iter().any(|argument| writing.contains(&argument.as_str()))
    };
    let scenarios: Vec<Scenario> = scenarios().into_iter().filter(writes).collect();
    let place = Place::new();
    let wholes: Vec<Ran> = scenarios.iter().map(|one| whole_run(one, &place)).collect();
    let mut rng = Rng::new(14);
    let (mut interrupted, mut unfinished, mut wrong) = (0_u64, 0_u64, Vec::new());
    // Some runs end before their interruption: threads do not make the same calls every time.
    for number in 0..3 * interruptions() {
        if interrupted == interruptions() {
            break;
        }
        let at = usize::try_from(rng.below(scenarios.len() as u64)).expect("few scenarios");
        let (scenario, whole) = (&scenarios[at], &wholes[at]);
        let fault = interruption(number, whole.calls.total, &mut rng);
        place.reset(&scenario.before);
        let ran = place.run(&scenario.arguments, &scenario.stdin, Some(&fault));
        interrupted += u64::from(ran.calls.fired > 0);
        unfinished += u64::from(ran.files.keys().any(|name| is_unfinished(name)));
        let again = || {
            let after = place.run(&scenario.arguments, &scenario.stdin, None);
            if after.status != whole.status {
                return Err(format!(
                    "the next run has status {:?}: {}",
                    after.status, after.stderr
                ));
            }
            let names = differing(&after.files, &whole.files);
            if names.is_empty() { Ok(()) } else { Err(format!("the next run leaves {names:?}")) }
        };
        let judged = check_files(scenario, whole, &ran.files).and_then(|()| again());
        if let Err(error) = judged {
            wrong.push(format!(
                "{}, {} at {} of {}: {error}",
                scenario.name, fault.how, fault.at, whole.calls.total
            ));
        }
    }
    println!(
        "{interrupted} interruptions of {} commands, {unfinished} left unfinished files",
        scenarios.len()
    );
    wrong.iter().for_each(|one| println!("{one}"));
    assert!(wrong.is_empty(), "{} of {interrupted} interruptions lost something", wrong.len());
}

/// A search that saves itself all the time.
fn search() -> Vec<String> {
    let line =
        "check tables.any --threads 1 --checkpoint saved --checkpoint-every 1ms --format json";
    line.split(' ').map(str::to_owned).collect()
}

/// The result of a search, without the times and sizes that depend on the way; empty without one.
fn result(ran: &Ran) -> serde_json::Map<String, serde_json::Value> {
    let result: Option<serde_json::Value> = serde_json::from_slice(&ran.stdout).ok();
    let mut result = result.and_then(|one| one.as_object().cloned()).unwrap_or_default();
    if let Some(stats) = result.get_mut("stats").and_then(serde_json::Value::as_object_mut) {
        let varies = ["elapsed", "memory", "bytes"];
        stats.retain(|name, _| !varies.iter().any(|word| name.contains(word)));
    }
    result.remove("options");
    result
}

/// The parts of two results that differ.
fn differences(whole: &Ran, after: &Ran) -> Vec<String> {
    let (whole, after) = (result(whole), result(after));
    let names: BTreeSet<&String> = whole.keys().chain(after.keys()).collect();
    let differ = names.into_iter().filter(|name| whole.get(*name) != after.get(*name));
    differ.map(|name| format!("{name}: {:?} and {:?}", whole.get(name), after.get(name))).collect()
}

#[test]
fn an_interrupted_search_goes_on_to_the_same_counts() {
    if shim().is_none() {
        return;
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let model = std::fs::read(root.join("two-phase-commit.any")).expect("an example");
    let before = Files::from([("tables.any".to_owned(), model)]);
    let place = Place::new();
    place.reset(&before);
    let whole = place.run(&search(), &[], None);
    let mut rng = Rng::new(15);
    let (mut interrupted, mut resumed, mut wrong) = (0_u64, 0_u64, Vec::new());
    // One search may be interrupted several times; its file stays.
    let mut begin_again = true;
    // Some runs end before their interruption: threads do not make the same calls every time.
    for number in 0..3 * interruptions() {
        if interrupted == interruptions() {
            break;
        }
        if begin_again {
            place.reset(&before);
        }
        let is_saved = place.work().join("saved").exists();
        let mut arguments = search();
        if is_saved {
            arguments.extend(["--resume", "saved"].map(str::to_owned));
            resumed += 1;
        }
        let fault = interruption(number, whole.calls.total, &mut rng);
        let ran = place.run(&arguments, &[], Some(&fault));
        interrupted += u64::from(ran.calls.fired > 0);
        let what = format!("{} at {} of {}", fault.how, fault.at, whole.calls.total);
        if finished(&ran.files).keys().any(|name| name != "saved" && name != "tables.any") {
            wrong.push(format!("{what}: leaves {:?}", ran.files.keys()));
        }
        if is_saved && !ran.files.contains_key("saved") {
            wrong.push(format!("{what}: the checkpoint is gone"));
        }
        if !ran.files.contains_key("saved") {
            begin_again = true;
            continue;
        }
        // The checkpoint is whole: the search ends from it.
        let kept = ran.files.clone();
        let mut arguments = search();
        arguments.extend(["--resume", "saved"].map(str::to_owned));
        let after = place.run(&arguments, &[], None);
        let differ = differences(&whole, &after);
        if after.status != whole.status || !differ.is_empty() {
            let (status, stderr) = (after.status, &after.stderr);
            wrong.push(format!("{what}: status {status:?}, other {differ:?}: {stderr}"));
        }
        place.reset(&kept);
        begin_again = number % 5 == 4;
    }
    println!("{interrupted} interruptions of a search, {resumed} of searches already resumed");
    wrong.iter().for_each(|one| println!("{one}"));
    assert!(wrong.is_empty(), "{} of {interrupted} interruptions lost something", wrong.len());
}
