//! Random programs compute the same, and a rule that is left out is noticed.

use super::generator::Generator;
use super::runner;
use anyorder_testkit::effort::{cases, seeds};
use std::collections::BTreeMap;

fn programs(seeds: impl Iterator<Item = u64>) -> (Vec<String>, BTreeMap<&'static str, u64>) {
    let mut counts = BTreeMap::new();
    let programs = seeds
        .map(|seed| {
            let mut generator = Generator::new(seed);
            let program = generator.program();
            for (name, count) in generator.counts {
                *counts.entry(name).or_default() += count;
            }
            program
        })
        .collect();
    (programs, counts)
}

#[test]
fn random_programs_compute_the_same() {
    let seeds = seeds(600);
    println!("seeds {seeds:?}");
    let (programs, counts) = programs(seeds.into_iter());
    for name in Generator::constructs() {
        assert!(counts.get(name).is_some_and(|count| *count > 3), "{name}: {:?}", counts.get(name));
    }
    for part in programs.chunks(1000) {
        let Some(seen) = runner::compare(part) else { return };
        // Most programs must do something before they end in an error.
        let count = u64::try_from(part.len()).expect("a count");
        assert!(
            seen.lines > count * 5 && seen.records > count * 15,
            "{} {}",
            seen.lines,
            seen.records
        );
    }
}

/// Mistakes in what the rewriting writes: each changes what some program computes.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("a postfix becomes a prefix", ",c++)", ",++c)"),
    ("an optional link does not say so", "__aoP(", "__aoR("),
    ("the rest of a chain is optional", "__aoC(", "__aoQ(0,"),
    ("a key is evaluated twice", "__aoK(out(", "__aoK(out(0),out("),
];

#[test]
fn mistakes_are_noticed() {
    let (programs, _) = programs(0..cases(400));
    for (name, from, to) in MISTAKES {
        let change = |text: String| text.replace(from, to);
        let Some((wrong, _)) = runner::differing(&programs, change) else { return };
        assert!(!wrong.is_empty(), "{name}");
    }
}
