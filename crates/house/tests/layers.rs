//! Dependencies point down: no crate may depend on a crate of its own layer or a higher one.

use crate::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// For each crate, the crates of the workspace that it may depend on. A crate that is not listed
/// fails the test.
const MAP: &[(&str, &[&str])] = &[
    ("anyorder-common", &[]),
    ("anyorder-trace", &["anyorder-common"]),
    ("anyorder-formats", &["anyorder-trace"]),
    ("anyorder-system", &["anyorder-trace"]),
    ("anyorder-order", &["anyorder-trace"]),
    ("anyorder-finding", &[]),
    ("anyorder-process", &[]),
    ("anyorder-native", &["anyorder-trace"]),
    // It is inside the program that is recorded: nothing of ours is there.
    ("anyorder-runtime", &[]),
    ("anyorder-hb", &["anyorder-trace", "anyorder-system", "anyorder-order"]),
    ("anyorder-certify", &["anyorder-trace", "anyorder-system", "anyorder-commute"]),
    ("anyorder-generate", &["anyorder-trace"]),
    // From text to text: it knows nothing of ours.
    ("anyorder-webscript", &[]),
    ("anyorder-consistency", &["anyorder-trace", "anyorder-system", "anyorder-order"]),
    ("anyorder-program", &["anyorder-system"]),
    ("anyorder-vm", &["anyorder-program", "anyorder-trace", "anyorder-system"]),
    ("anyorder-search", &["anyorder-trace", "anyorder-system"]),
    ("anyorder-lang", &["anyorder-common", "anyorder-program"]),
    // The language of smart-home apps: from text to a tree and its meaning, and to a program.
    ("anyorder-groovy", &["anyorder-common", "anyorder-program"]),
    // Their platform: from apps to a program of the machine.
    (
        "anyorder-home",
        &["anyorder-common", "anyorder-groovy", "anyorder-program", "anyorder-system"],
    ),
    // Configurations of Home Assistant: from files to programs of the machine, and their search.
    (
        "anyorder-homeassistant",
        &["anyorder-common", "anyorder-program", "anyorder-system", "anyorder-vm"],
    ),
    ("anyorder-pipe", &["anyorder-trace", "anyorder-system"]),
    ("anyorder-web", &["anyorder-trace", "anyorder-system"]),
    ("anyorder-commute", &[]),
    // The library for tests: light, and below the command.
    ("anyorder", &["anyorder-commute", "anyorder-common", "anyorder-macros", "anyorder-threads"]),
    // An attribute, for the compiler.
    ("anyorder-macros", &[]),
    ("cargo-anyorder", &[]),
    (
        "anyorder-explore",
        &["anyorder-trace", "anyorder-system", "anyorder-commute", "anyorder-search"],
    ),
    ("anyorder-threads", &["anyorder-common"]),
    ("anyorder-stream", &["anyorder-trace", "anyorder-order", "anyorder-commute"]),
    (
        "anyorder-predict",
        &[
            "anyorder-trace",
            "anyorder-system",
            "anyorder-order",
            "anyorder-commute",
            "anyorder-hb",
            "anyorder-stream",
        ],
    ),
    ("anyorder-robust", &["anyorder-common", "anyorder-trace", "anyorder-system", "anyorder-hb"]),
    (
        "anyorder-report",
        &["anyorder-common", "anyorder-finding", "anyorder-trace", "anyorder-system"],
    ),
    (
        "anyorder-drive",
        &[
            "anyorder-common",
            "anyorder-trace",
            "anyorder-formats",
            "anyorder-system",
            "anyorder-finding",
            "anyorder-hb",
            "anyorder-homeassistant",
            "anyorder-consistency",
            "anyorder-certify",
            "anyorder-vm",
            "anyorder-search",
            "anyorder-commute",
            "anyorder-explore",
            "anyorder-predict",
            "anyorder-robust",
            "anyorder-home",
            "anyorder-lang",
            "anyorder-native",
            "anyorder-pipe",
            "anyorder-threads",
            "anyorder-web",
            "anyorder-webscript",
        ],
    ),
    (
        "anyorder-cli",
        &[
            "anyorder-common",
            "anyorder-drive",
            "anyorder-finding",
            "anyorder-generate",
            "anyorder-process",
            "anyorder-report",
            "anyorder-system",
            "anyorder-trace",
            "anyorder-formats",
        ],
    ),
    // The examples for users: everything that is no test.
    (
        "anyorder-examples",
        &[
            "anyorder-common",
            "anyorder-trace",
            "anyorder-formats",
            "anyorder-system",
            "anyorder-order",
            "anyorder-finding",
            "anyorder-hb",
            "anyorder-certify",
            "anyorder-generate",
            "anyorder-consistency",
            "anyorder-vm",
            "anyorder-search",
            "anyorder-lang",
            "anyorder-pipe",
            "anyorder-commute",
            "anyorder-explore",
            "anyorder-predict",
            "anyorder-report",
            "anyorder-drive",
        ],
    ),
    // The oracles share only the model of traces with the engines.
    ("anyorder-testkit", &["anyorder-trace"]),
    // Mutated runs see the binary from outside; a checkpoint's checksum is the hash of states.
    ("anyorder-mutate", &["anyorder-system"]),
    ("anyorder-house", &[]),
];

/// The crates that return data: ids of events, tasks and locations, and what was decided of them.
const ENGINES: &[&str] = &[
    "anyorder-certify",
    "anyorder-commute",
    "anyorder-consistency",
    "anyorder-explore",
    "anyorder-hb",
    "anyorder-lang",
    "anyorder-native",
    "anyorder-order",
    "anyorder-pipe",
    "anyorder-predict",
    "anyorder-program",
    "anyorder-robust",
    "anyorder-search",
    "anyorder-system",
    "anyorder-trace",
    "anyorder-vm",
    "anyorder-web",
    "anyorder-webscript",
];

/// The crates that make words for people, or hold them.
const WORDS: &[&str] = &["anyorder-drive", "anyorder-finding", "anyorder-report"];

/// The crate that every other crate may use: small utilities without domain knowledge.
const BELOW_ALL: &str = "anyorder-common";

/// Crates for tests only: other crates may have them only as development dependencies.
const TESTS_ONLY: &[&str] = &["anyorder-testkit", "anyorder-mutate", "anyorder-house"];

#[derive(Clone, PartialEq, Eq, Debug)]
struct Edge {
    from: String,
    to: String,
    dev: bool,
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let edges = edges(&metadata());
    assert!(edges.len() >= 8, "the metadata must hold the edges: {edges:?}");
    let wrong = violations(&edges);
    assert!(wrong.is_empty(), "forbidden dependencies:\n{}", wrong.join("\n"));
}

#[test]
fn engines_make_no_words() {
    let edges = edges(&metadata());
    for engine in ENGINES {
        assert!(edges.iter().any(|edge| edge.to == *engine), "{engine} is no crate");
    }
    let wrong = wordy(&edges);
    assert!(wrong.is_empty(), "engines return data, and `drive` makes the words:\n{wrong:?}");
}

#[test]
fn an_engine_that_reaches_words_is_caught() {
    let edge = |from: &str, to: &str, dev| Edge { from: from.to_owned(), to: to.to_owned(), dev };
    let direct = edge("anyorder-hb", "anyorder-finding", false);
    assert_eq!(wordy(std::slice::from_ref(&direct)), ["anyorder-hb"]);
    let by_way = [edge("anyorder-robust", "anyorder-hb", false), direct];
    assert_eq!(wordy(&by_way), ["anyorder-hb", "anyorder-robust"]);
    // Not even in its tests: they compare data.
    assert_eq!(wordy(&[edge("anyorder-vm", "anyorder-report", true)]), ["anyorder-vm"]);
    assert_eq!(wordy(&[edge("anyorder-drive", "anyorder-finding", false)]), [""; 0]);
}

#[test]
fn every_crate_has_its_place_in_the_map() {
    for name in crates(&metadata()) {
        assert!(
            MAP.iter().any(|(known, _)| *known == name),
            "{name} has no place in the map of crates"
        );
    }
}

/// The only file of `drive` that knows the language of models: every other front end that lowers to
/// the machine has the same jobs.
const KNOWS_THE_LANGUAGE: &str = "model/compile.rs";

#[test]
fn only_the_compiler_of_models_knows_the_language() {
    let root = files::source_folder("drive");
    let knows =
        |path: &PathBuf| fs::read_to_string(path).expect("a text").contains("anyorder_lang");
    let knowing = files::files(&root, "rs").into_iter().filter(knows);
    let name = |path: PathBuf| path.strip_prefix(&root).expect("below").display().to_string();
    let knowing: Vec<String> = knowing.map(name).collect();
    assert_eq!(knowing, [KNOWS_THE_LANGUAGE]);
}

#[test]
fn a_forbidden_edge_is_caught() {
    let edge = |from: &str, to: &str, dev| Edge { from: from.to_owned(), to: to.to_owned(), dev };
    let wrong = [
        edge("anyorder-trace", "anyorder-hb", false),
        edge("anyorder-certify", "anyorder-order", false),
        edge("anyorder-report", "anyorder-hb", false),
        edge("anyorder-hb", "anyorder-cli", false),
        edge("anyorder-hb", "anyorder-testkit", false),
        edge("anyorder-testkit", "anyorder-hb", false),
        edge("anyorder-new", "anyorder-trace", false),
        edge("anyorder-vm", "anyorder-lang", false),
        edge("anyorder-lang", "anyorder-vm", false),
        edge("anyorder-search", "anyorder-vm", false),
        edge("anyorder-lang", "anyorder-search", false),
        edge("anyorder-cli", "anyorder-hb", false),
        edge("anyorder-common", "anyorder-trace", false),
        edge("anyorder-examples", "anyorder-testkit", false),
        edge("anyorder-drive", "anyorder-examples", false),
    ];
    for edge in wrong {
        assert_eq!(violations(std::slice::from_ref(&edge)).len(), 1, "{edge:?}");
    }
    let right = [
        edge("anyorder-hb", "anyorder-testkit", true),
        edge("anyorder-hb", "anyorder-certify", true),
        edge("anyorder-cli", "anyorder-drive", false),
        edge("anyorder-examples", "anyorder-order", false),
        edge("anyorder-lang", "anyorder-search", true),
        edge("anyorder-finding", "anyorder-common", false),
        edge("anyorder-testkit", "anyorder-common", false),
    ];
    assert_eq!(violations(&right), Vec::<String>::new());
}

#[test]
fn a_cycle_in_the_map_would_be_caught() {
    assert!(is_layered(MAP));
    assert!(!is_layered(&[("a", &["b"]), ("b", &["a"])]));
}

/// Returns an error for each forbidden edge. Tests may use crates of their own layer, but no crate
/// may use the binary.
fn violations(edges: &[Edge]) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = MAP.iter().copied().collect();
    let is_wrong = |edge: &&Edge| match allowed.get(edge.from.as_str()) {
        None => true,
        Some(_) if edge.dev => edge.to == "anyorder-cli",
        Some(_) if edge.to == BELOW_ALL => edge.from == BELOW_ALL,
        Some(below) => TESTS_ONLY.contains(&edge.to.as_str()) || !below.contains(&edge.to.as_str()),
    };
    edges.iter().filter(is_wrong).map(|edge| format!("{} -> {}", edge.from, edge.to)).collect()
}

/// Returns the engines that depend on a crate of words, directly or by way of others.
fn wordy(edges: &[Edge]) -> Vec<&'static str> {
    let reaches_words = |engine: &&&'static str| {
        let mut reached = vec![**engine];
        let mut at = 0;
        while let Some(from) = reached.get(at).copied() {
            // Of other crates, what their tests use does not come along.
            let own = edges.iter().filter(|edge| edge.from == from && (at == 0 || !edge.dev));
            let next: Vec<&str> = own.map(|edge| edge.to.as_str()).collect();
            for to in next {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            at += 1;
        }
        reached.iter().any(|name| WORDS.contains(name))
    };
    ENGINES.iter().filter(reaches_words).copied().collect()
}

/// Returns whether the graph has no cycle: crates can be removed one by one, each after its
/// dependencies.
fn is_layered(map: &[(&str, &[&str])]) -> bool {
    let mut left: Vec<(&str, &[&str])> = map.to_vec();
    while !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        let before = left.len();
        left.retain(|(_, below)| below.iter().any(|name| names.contains(name)));
        if left.len() == before {
            return false;
        }
    }
    true
}

pub(crate) fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

fn crates(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages.iter().map(|package| package["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns the edges between crates of the workspace.
fn edges(metadata: &Value) -> Vec<Edge> {
    let names = crates(metadata);
    let mut edges = Vec::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        for dependency in package["dependencies"].as_array().expect("a list of dependencies") {
            let to = dependency["name"].as_str().expect("a name").to_owned();
            if names.contains(&to) {
                let from = package["name"].as_str().expect("a name").to_owned();
                edges.push(Edge { from, to, dev: dependency["kind"] == "dev" });
            }
        }
    }
    edges
}
