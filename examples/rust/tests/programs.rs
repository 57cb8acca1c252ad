//! Each program prints what README.md says.

use std::process::Command;

const README: &str = include_str!("../README.md");

/// Runs a program, and compares what it prints with the block behind its command in README.md.
fn prints_its_block(name: &str, program: &str) {
    let output = Command::new(program).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let command = format!("cargo run -q -p anyorder-examples --bin {name}\n");
    let (_, behind) = README.split_once(&command).expect("README.md has the command");
    let (_, block) = behind.split_once("```text\n").expect("README.md has a block");
    let (block, _) = block.split_once("```").expect("the block ends");
    let printed = String::from_utf8(output.stdout).expect("the program prints UTF-8");
    assert_eq!(printed, block);
}

#[test]
fn races_finds_a_race_and_a_prediction() {
    prints_its_block("races", env!("CARGO_BIN_EXE_races"));
}

#[test]
fn protocol_finds_the_planted_bug() {
    prints_its_block("protocol", env!("CARGO_BIN_EXE_protocol"));
}

#[test]
fn order_finds_an_order_and_a_proof() {
    prints_its_block("order", env!("CARGO_BIN_EXE_order"));
}

#[test]
fn home_has_every_job_of_a_model() {
    prints_its_block("home", env!("CARGO_BIN_EXE_home"));
}
