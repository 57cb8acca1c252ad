//! Mutated inputs of all formats under random command lines: whatever the input, a run ends as it
//! should. `docs/testing.md` says what is judged, and how the same runs go on for a night.

use anyorder_mutate::campaign::{self, Bench, Setup};
use anyorder_mutate::case::{Case, Stated};
use anyorder_testkit::effort;
use assert_cmd::cargo::cargo_bin;
use std::path::Path;
use std::time::Duration;

/// Cases of a night, for each unit of its effort; a quarter of them on a push.
const RUNS: u64 = 600;

/// By how much other tests and a build that is not optimised may stretch the time of a run.
const STRETCH: u32 = 12;

fn bench(folder: &tempfile::TempDir) -> Bench {
    let setup = Setup {
        binary: cargo_bin("anyorder"),
        root: Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."),
        folder: folder.path().join("campaign"),
        scratch: folder.path().join("scratch"),
        stretch: STRETCH,
    };
    Bench::new(setup).expect("the binary says what it can do, and makes seeds")
}

#[test]
fn no_mutant_breaks_a_promise() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bench = bench(&folder);
    let seed = effort::first_seed();
    println!("seed {seed}");
    let jobs = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let runs = if effort::counts_all() { effort::cases(RUNS) } else { RUNS / 4 };
    let summary = campaign::run(&bench, seed, runs, jobs, None, |_| {}).expect("runs");
    println!("{}", summary.table());
    if !summary.faults.is_empty() {
        // The temporary folder goes; the failures stay for whoever reads this.
        let kept = folder.keep();
        panic!("faults; the cases are in {}:\n{}", kept.display(), summary.table());
    }
    let ends = |status: &str| {
        let all = summary.counts.iter().filter(|(key, _)| key.ends_with(&format!(" {status}")));
        all.map(|(_, count)| count).sum::<u64>()
    };
    // Mutants get past the readers: otherwise only error messages are tested.
    assert!(ends("0") + ends("1") + ends("3") > summary.next / 8, "{}", summary.table());
    assert!(ends("2") > 0, "{}", summary.table());
}

#[test]
fn a_number_gives_the_same_case_each_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bench = bench(&folder);
    let case = |number| anyorder_mutate::command::case(7, number, &bench.seeds, &bench.commands);
    let mut commands = std::collections::BTreeSet::new();
    for number in 0..500 {
        assert!(case(number) == case(number), "case {number}");
        commands.insert(case(number).command().to_owned());
    }
    // Every command that reads something is there.
    for command in &bench.commands {
        let rare = ["schema", "man", "completions", "explain", "generate"];
        assert!(
            rare.contains(&command.name.as_str()) || commands.contains(&command.name),
            "{} is never run",
            command.name
        );
    }
    let saved = case(3);
    saved.save(&folder.path().join("saved"), &serde_json::Value::Null).expect("saved");
    assert!(Case::load(&folder.path().join("saved")).expect("loaded") == saved);
}

/// Each class of faults can be seen.
#[test]
fn faults_are_noticed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let classes = |script: &str, format: &str| -> Vec<&str> {
        let case = Case {
            arguments: ["-c", script, "sh", "--format", format].map(str::to_owned).to_vec(),
            inputs: vec![],
            writes: vec!["output".to_owned(), "converted".to_owned()],
            stdin: None,
            // A busy machine is slow to start a shell: only what sleeps has a limit of time.
            stated: Stated {
                time_ms: script.starts_with("sleep").then_some(0),
                memory_bytes: Some(64 << 20),
            },
        };
        let shell = Path::new("/bin/sh");
        let judge = anyorder_mutate::judge::Judge::new(
            b"{\"required\":[\"schema\"]}",
            &ran_idle(shell, folder.path()),
            1,
        );
        let judge = judge.expect("a schema");
        let stage = anyorder_mutate::stage::Stage::new(shell, &judge, folder.path());
        let (_, faults) = stage.expect("a stage").once(&case).expect("a run");
        faults.into_iter().map(|fault| fault.class).collect()
    };
    assert_eq!(classes("exit 0", "text"), [""; 0]);
    assert_eq!(classes("exit 70", "text"), ["bug"]);
    assert_eq!(classes("exit 101", "text"), ["status"]);
    assert_eq!(classes("kill -9 $$", "text"), ["signal"]);
    assert_eq!(classes("sleep 2", "text"), ["late"]);
    assert_eq!(classes("sleep 60", "text"), ["hang"]);
    assert_eq!(classes("echo thread panicked at x >&2", "text"), ["panic"]);
    assert_eq!(classes("echo '{'", "json"), ["json"]);
    assert_eq!(classes("true", "json"), ["json"]);
    assert_eq!(classes("exit 2", "json"), [""; 0]);
    assert_eq!(classes("echo '{\"tool\":\"anyorder\"}'", "json"), ["schema"]);
    let verdict = "echo '{\"tool\":\"anyorder\",\"schema\":1,\"verdict\":\"findings\"}'";
    assert_eq!(classes(verdict, "json"), ["verdict"]);
    assert_eq!(classes("printf '\\342\\200\\256'", "text"), ["hostile"]);
    assert_eq!(classes("printf '\\033[0m' >&2", "text"), ["hostile"]);
    assert_eq!(classes("printf '\\377'", "text"), ["text"]);
    assert_eq!(classes("touch x.part", "text"), ["left", "torn"]);
    assert_eq!(classes("echo '{' > output", "json"), ["json"]);
    let much = "x=$(head -c 150000000 /dev/zero | tr '\\0' a); exit 0";
    let classes = classes(much, "text");
    assert!(classes.contains(&"memory"), "{classes:?}");
}

fn ran_idle(shell: &Path, folder: &Path) -> anyorder_mutate::process::Ran {
    let arguments = ["-c".to_owned(), "exit 0".to_owned()];
    let patience = Duration::from_secs(10);
    anyorder_mutate::process::run(shell, &arguments, folder, None, folder, patience).expect("a run")
}
