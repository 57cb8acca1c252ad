//! The naive interpreter on the models of the gallery: every state and step as the machine has
//! them, and as many as the model expects.

use crate::naive::differential::{Difference, compare};
use crate::naive::explore::search_up_to;
use crate::naive::interp::program::Mutant;
use std::path::PathBuf;

/// Larger models are left out: `NAIVE_GALLERY_STATES` asks for others.
const STATES_MAX: usize = 20_000;

#[test]
fn the_gallery_has_the_same_states_and_steps() {
    let limit = std::env::var("NAIVE_GALLERY_STATES").ok().and_then(|n| n.parse().ok());
    let limit = limit.unwrap_or(STATES_MAX);
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the gallery")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "any"))
        .collect();
    paths.sort();
    let (mut looked_at, mut left_out, mut wrong) = (0, vec![], vec![]);
    let (mut states, mut transitions) = (0, 0);
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a model");
        let Some(expected) = expected(&text) else { panic!("{name}: no `// expect:`") };
        if expected.0 > limit {
            left_out.push(name);
            continue;
        }
        looked_at += 1;
        match compare(&text, Mutant::None, limit) {
            Ok(compared) => {
                let mut counts = (compared.states, compared.transitions);
                assert!(!compared.undecided, "{name}");
                if compared.coloured {
                    // The walk in step stopped where states look alike.
                    let found = search_up_to(&text, limit);
                    counts = (found.states, found.transitions);
                }
                if counts != expected {
                    wrong.push(format!("{name}: {expected:?} expected, {counts:?}"));
                }
                states += compared.states;
                transitions += compared.transitions;
            }
            Err(Difference::Found(what) | Difference::Refused(what)) => {
                wrong.push(format!("{name}: {what}"));
            }
        }
    }
    println!(
        "{looked_at} models, {states} states, {transitions} transitions; left out: {left_out:?}"
    );
    assert!(looked_at >= 30, "{looked_at} models");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `N states, M transitions` at the end of the line that tells what a search finds.
fn expected(text: &str) -> Option<(usize, usize)> {
    let line = text.lines().find_map(|line| line.strip_prefix("// expect: "))?;
    let counts = line.rsplit("; ").next()?;
    let mut words = counts.split(' ');
    let states = words.next()?.parse().ok()?;
    Some((states, words.nth(1)?.parse().ok()?))
}
