//! Every model, every way to search it.

use crate::gallery::files::{self, File};
use crate::gallery::run::{full, machine, summary, verdict};
use anyorder_search::{Order, SearchOptions, Storage};
use std::num::NonZeroUsize;

fn bless() -> bool {
    std::env::var_os("ANYORDER_BLESS").is_some()
}

#[test]
fn every_model_gives_what_it_expects() {
    let mut wrong = Vec::new();
    for file in files::all() {
        let found =
            summary(&full(&file.name, &machine(&file.name, &file.text), &SearchOptions::default()));
        if bless() {
            file.bless(&found);
        } else if found != file.expected() {
            wrong.push(format!("{}: expected {}\n    found {found}", file.name, file.expected()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_search_finds_the_same() {
    let ways = [
        SearchOptions { storage: Storage::Exact, ..SearchOptions::default() },
        SearchOptions { order: Order::Depth, ..SearchOptions::default() },
        SearchOptions { threads: NonZeroUsize::new(3).expect("three"), ..SearchOptions::default() },
    ];
    for file in files::all() {
        let machine = machine(&file.name, &file.text);
        let expected = summary(&full(&file.name, &machine, &SearchOptions::default()));
        for options in &ways {
            assert_eq!(
                summary(&full(&file.name, &machine, options)),
                expected,
                "{}: {options:?}",
                file.name
            );
        }
    }
}

/// Symmetry leaves verdicts and lengths alone, and leaves states out where a model declares an
/// index type.
#[test]
fn symmetry_leaves_states_out() {
    let mut declared = 0;
    for file in files::all().iter().filter(|file| !file.text.contains("\nresponse ")) {
        let machine = machine(&file.name, &file.text);
        let all = full(&file.name, &machine, &SearchOptions::default());
        let some = full(
            &file.name,
            &machine,
            &SearchOptions { symmetry: true, ..SearchOptions::default() },
        );
        assert_eq!(verdict(&some), verdict(&all), "{}", file.name);
        let symmetric = file.text.contains("\nindex ");
        assert_eq!(some.stats.states < all.stats.states, symmetric, "{}", file.name);
        declared += usize::from(symmetric);
    }
    assert!(declared >= 3, "{declared} models declare a symmetry");
}

/// Small enough to be looked at, large enough to be worth it.
#[test]
fn models_are_small() {
    for file in files::all() {
        let lines = file.text.lines().count();
        assert!(lines <= 80, "{}: {lines} lines", file.name);
        let states = states(&file);
        assert!((4..=50_000).contains(&states), "{}: {states} states", file.name);
    }
}

/// The number of states that a file expects.
pub(crate) fn states(file: &File) -> u64 {
    let counts = file.expected().rsplit("; ").next().unwrap_or_default();
    let number = counts.split(' ').next().and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("{}: no states in {}", file.name, file.expected()))
}
