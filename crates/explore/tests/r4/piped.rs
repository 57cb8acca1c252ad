//! The order form of `examples/pipe`, through the protocol.

use anyorder_explore::r4::{FindingKind, Outcome, ReversalOptions, explore};
use anyorder_pipe::{ChildCommand, PipeFactory, PipeOptions};
use anyorder_system::Control;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn python() -> bool {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

fn explored(arguments: &[&str], options: &ReversalOptions) -> Outcome {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pipe/python");
    let mut command = ChildCommand::new("python3").argument(folder.join("double_submit.py"));
    for argument in arguments {
        command = command.argument(argument);
    }
    let limits =
        PipeOptions { probe_after: Some(Duration::from_millis(100)), ..PipeOptions::default() };
    let factory = PipeFactory { command, options: limits };
    explore(&factory, options, &Control::default()).expect("a recording")
}

fn failures(outcome: &Outcome) -> Vec<String> {
    let failure = |kind: &FindingKind| match kind {
        FindingKind::Failure(failure) => Some(failure.to_string()),
        _ => None,
    };
    outcome.findings.iter().filter_map(|found| failure(&found.kind)).collect()
}

fn options() -> ReversalOptions {
    ReversalOptions { bound: Some(2), ..ReversalOptions::default() }
}

#[test]
fn the_planted_bug_is_found() {
    if !python() {
        println!("skipped: no python3");
        return;
    }
    let outcome = explored(&[], &options());
    println!("{:?} {:?}", outcome.counts, failures(&outcome));
    assert!(failures(&outcome).iter().any(|text| text.contains("ordered twice")));
    let fixed = explored(&["--fixed"], &options());
    assert!(failures(&fixed).is_empty());
}

#[test]
fn lost_replies_are_no_harm() {
    if !python() {
        println!("skipped: no python3");
        return;
    }
    let steady = explored(&[], &options());
    let lossy =
        explored(&["--lose", "50", "--seed", "7"], &ReversalOptions { attempts: 12, ..options() });
    println!("{:?}", lossy.counts);
    let harmful = |outcome: &Outcome| {
        let mut all: Vec<String> = outcome
            .findings
            .iter()
            .filter(|found| !matches!(found.kind, FindingKind::Unstable(_)))
            .map(|found| format!("{:?} {:?}", found.kind, found.reversal))
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let expected = harmful(&steady);
    assert!(harmful(&lossy).iter().all(|found| expected.contains(found)), "nothing wrong");
    assert!(failures(&lossy).iter().any(|text| text.contains("ordered twice")));
    assert!(lossy.counts.retries > 0);
}
