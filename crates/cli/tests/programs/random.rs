//! Random programs, compared with all their orders, which the program itself lists.

use super::{bounds, checked, has_python, wrong};
use crate::common::workspace;
use serde_json::Value;
use std::process::Command;

const PROGRAM: &str = "crates/cli/tests/programs/random.py";

/// All orders of a program, in words; `None` if there are too many for a test.
fn all_orders(seed: u64) -> Option<Value> {
    let seed = seed.to_string();
    let mut command = Command::new("python3");
    let output = command.args([PROGRAM, &seed, "--all"]).current_dir(workspace()).output();
    let output = output.expect("python runs").stdout;
    let value: Value = serde_json::from_slice(&output).expect("JSON");
    value["runs"].as_u64().is_some_and(|runs| runs <= 200).then_some(value)
}

#[test]
fn a_program_is_ok_exactly_if_all_its_orders_are() {
    if !has_python() {
        return;
    }
    let count = anyorder_testkit::effort::cases(16);
    let is = |value: &Value, name: &str| value[name] == true;
    let (mut wrong_ones, mut silent, mut failing, mut several, mut by_inputs) = (0, 0, 0, 0, 0);
    // From a seed on where the first few have all shapes.
    for seed in 18..18 + count {
        let Some(all) = all_orders(seed) else { continue };
        let expected = i32::from(is(&all, "differs") || is(&all, "fails"));
        for hide in ["", " --hide"] {
            let (status, value) = checked(&format!("python3 {PROGRAM} {seed}{hide}"), &[]);
            assert_eq!(status, expected, "{seed}{hide}: {all} {value}");
            assert_eq!(wrong(&value).is_empty(), expected == 0, "{seed}{hide}: {value}");
            if expected == 0 {
                assert_eq!(bounds(&value).len(), 0, "{seed}{hide}: {value}");
            }
            let warned = !value["warnings"].is_null();
            let runs = all["runs"].as_u64().unwrap_or(0);
            assert!(warned || hide.is_empty() || runs == 1, "{seed}{hide}: {value}");
        }
        wrong_ones += expected;
        silent += 1 - expected;
        failing += i32::from(is(&all, "fails"));
        several += i32::from(all["inputs"].as_u64().is_some_and(|inputs| inputs > 1));
        by_inputs += i32::from(expected == 0 && all["ends"].as_u64() > Some(1));
    }
    println!(
        "{wrong_ones} wrong ({failing} fail), {silent} right; {several} with several inputs, \
         {by_inputs} differ by their order only"
    );
    assert!(wrong_ones > 3 && silent > 2 && several > 3 && failing > 1 && by_inputs > 1);
}
