//! Searches of unfolded apps against many plain runs.

use crate::concrete::Home;
use crate::homes::Homes;
use crate::slice_twin::{LOOP, answer, made, without_one};
use anyorder_common::random::Rng;
use anyorder_testkit::effort;
use std::collections::{BTreeMap, BTreeSet};

/// Most runs of a home, and the steps of each.
const RUNS_MAX: u64 = 3_000;
const RUNS_MIN: u64 = 100;
const STEPS: usize = 12;

/// What a finding or a run is about.
fn keys(titles: &BTreeSet<String>) -> BTreeSet<String> {
    let key = |title: &String| match title.split_once(" to different values") {
        Some((key, _)) => key.to_owned(),
        None => LOOP.to_owned(),
    };
    titles.iter().map(key).collect()
}

/// Returns what occurs in runs: at least so many, and more until all that is expected occurred.
fn occurs(texts: &[String], expected: &BTreeSet<String>) -> BTreeSet<String> {
    let scripts = Home::read(texts);
    let mut found = BTreeSet::new();
    for run in 0..RUNS_MAX {
        if run >= RUNS_MIN && expected.is_subset(&found) {
            break;
        }
        let mut home = Home::new(&scripts, run);
        home.install();
        for _ in 0..STEPS {
            if home.is_endless {
                break;
            }
            home.step();
        }
        found.append(&mut home.conflicts);
        if home.is_endless {
            found.insert(LOOP.to_owned());
        }
    }
    found
}

#[test]
fn what_a_search_finds_is_what_plain_runs_have() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in effort::seeds(60) {
        let texts = Homes::new(seed).home();
        let [(all, _), _] = made(&texts);
        let broken = without_one(all.program.clone(), &mut Rng::new(seed)).and_then(answer);
        let Some(titles) = answer(all.program) else { continue };
        let expected = keys(&titles);
        let found = occurs(&texts, &expected);
        let shown = texts.join("\n//----\n");
        assert!(found == expected, "seed {seed}: runs {found:#?}, search {expected:#?}\n{shown}");
        *counts.entry("homes").or_default() += 1;
        *counts.entry("silent homes").or_default() += u64::from(found.is_empty());
        *counts.entry("conflicts and loops").or_default() += found.len() as u64;
        *counts.entry("loops").or_default() += u64::from(found.contains(LOOP));
        let noticed = broken.is_some_and(|broken| !found.is_subset(&keys(&broken)));
        *counts.entry("noticed: an event dropped").or_default() += u64::from(noticed);
    }
    println!("{counts:?}");
    assert!(counts.values().all(|count| *count > 0), "{counts:?}");
}
