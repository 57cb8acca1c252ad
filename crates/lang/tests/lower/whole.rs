//! Whole models: every construct at once, and the programs that the checker's tests use.

use crate::lower::explore::{machine, successors};
use anyorder_system::StateSystem;

#[test]
fn every_model_runs_a_few_hundred_steps() {
    let mut texts = vec![include_str!("../all.any").to_owned()];
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut paths: Vec<_> = std::fs::read_dir(programs)
        .expect("the folder is part of the crate")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "any"))
        .collect();
    paths.sort();
    texts.extend(paths.iter().map(|p| std::fs::read_to_string(p).expect("readable")));
    assert!(texts.len() > 5);
    for text in texts {
        let machine = machine(&text);
        let mut state = machine.initial().remove(0);
        for step in 0..300 {
            let mut next = successors(&machine, &state);
            next.retain(|s| s.failure.is_none());
            if next.is_empty() {
                break;
            }
            state = next.swap_remove(step * 7 % next.len()).state;
        }
    }
}
