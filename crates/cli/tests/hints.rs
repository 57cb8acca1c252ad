//! Every option that a message names exists, in the command that it is said of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The commands that print results, and others that messages name.
const COMMANDS: &[&str] = &[
    "check",
    "predict",
    "why",
    "consistency",
    "robust",
    "certify",
    "explore",
    "shrink",
    "replay",
    "simulate",
    "diff",
    "graph",
    "run",
    "fmt",
    "info",
    "convert",
    "generate",
    "explain",
    "schema",
];

/// The long options of each command, by its help.
fn options() -> BTreeMap<&'static str, BTreeSet<String>> {
    let of = |command: &&'static str| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_anyorder"));
        let output = run.args([command, "--help"]).output().expect("the help");
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = help.lines().map(str::trim_start);
        let named = lines.filter_map(|line| {
            let line = line
                .split_once(", ")
                .map_or(line, |(short, rest)| if short.len() == 2 { rest } else { line });
            line.strip_prefix("--").map(word)
        });
        (*command, named.collect::<BTreeSet<String>>())
    };
    COMMANDS.iter().map(of).collect()
}

/// The word at the start of a text: small letters and hyphens.
fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect()
}

#[test]
fn limits_are_shown_as_options_where_the_command_has_them() {
    let options = options();
    assert!(options["check"].len() > 20 && options["check"].contains("max-states"));
    let mut checked = 0;
    for (option, commands) in anyorder_report::limits::OPTIONS {
        for command in *commands {
            assert!(options[command].contains(*option), "`{command}` has no --{option}");
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(path);
        }
    }
}

/// The lines of code of a file without comments and without its tests.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn messages_name_options_that_exist() {
    let options = options();
    let all: BTreeSet<&String> = options.values().flatten().collect();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    let mut named = 0;
    for folder in std::fs::read_dir(crates).expect("the crates") {
        let folder = folder.expect("a crate").path();
        // Another command, whose tests look at its own messages.
        let is_other = folder.ends_with("cargo-anyorder");
        let folder = folder.join("src");
        let mut files = Vec::new();
        if folder.is_dir() && !is_other {
            sources(&folder, &mut files);
        }
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source");
            for line in code(&text).filter(|line| line.contains('"')) {
                // `--option` as a message writes it, behind a backtick or within a command.
                for (at, _) in line.match_indices("--") {
                    let before = &line[..at];
                    let option = word(&line[at + 2..]);
                    let starts = option.starts_with(|c: char| c.is_ascii_lowercase());
                    let in_command = before.rfind("`anyorder ").map(|from| &before[from + 10..]);
                    let in_command = in_command.filter(|rest| !rest.contains('`'));
                    if !starts || !(before.ends_with('`') || in_command.is_some()) {
                        continue;
                    }
                    named += 1;
                    let command = in_command.map(word);
                    let known = match command.as_deref().and_then(|one| options.get(one)) {
                        Some(options) => options.contains(&option),
                        None => all.contains(&option),
                    };
                    if !known {
                        wrong.push(format!("{}: {}", file.display(), line.trim()));
                    }
                }
            }
        }
    }
    assert!(named > 30, "{named} options are named");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `check` prints about a model.
fn checked(model: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.any");
    std::fs::write(&file, model).expect("a file");
    let mut run = Command::new(env!("CARGO_BIN_EXE_anyorder"));
    let output = run.arg("check").arg(&file).args(more).output().expect("a run");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn tables_name_the_alternatives_that_were_chosen() {
    let model = "model m
var x = 0;
once event shop { choose { \"ask\" => { x = 1; } \"pay\" => { x = 2; } } }
once event pick { let i = choose 4..6; x = x + i; }
invariant small: x < 7;
";
    let text = checked(model, &[]);
    assert!(text.contains("chooses \"pay\"; x: 0 -> 2"), "{text}");
    assert!(text.contains("chooses 5; x: 2 -> 7"), "{text}");
    assert!(!text.contains("(alternative"), "{text}");
}

#[test]
fn a_lost_update_says_that_reading_and_writing_are_two_steps() {
    let model = "model m
var seen: set<int>;
var done = 0;
thread add[i in 0..2] { seen.add(i); atomic { done += 1; } }
invariant both: done < 2 || seen.len() == 2;
";
    let text = checked(model, &[]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("lost update: step"), "{text}");
    assert!(flat.contains("(reading and writing are two steps here)"), "{text}");
    // One step at a time: nothing is lost, and nothing is said.
    let whole = model.replace("seen.add(i);", "atomic { seen.add(i); }");
    let broken = whole.replace("seen.len() == 2", "seen.len() == 3");
    let text = checked(&broken, &[]);
    assert!(text.contains("invariant `both`") && !text.contains("lost update"), "{text}");
}

#[test]
fn a_lock_is_held_by_a_thread_with_a_name() {
    let model = "model m
lock m;
var done = false;
fn work() { acquire m; assume done; release m; }
once event start { fork work(); }
final: done;
";
    let text = checked(model, &[]);
    assert!(text.contains("held by work#"), "{text}");
    assert!(!text.contains("held by #"), "{text}");
}

#[test]
fn names_are_cut_only_where_they_can_be_shown_whole() {
    let name = "a_handler_whose_name_is_longer_than_its_column";
    let model = format!(
        "model m\nvar x = 0;\nhandler {name}: fifo;\nonce event e on {name} {{ x = 1; }}\ninvariant i: x == 0;\n"
    );
    let text = checked(&model, &[]);
    assert!(text.contains("`--wide` shows them whole"), "{text}");
    let wide = checked(&model, &["--wide"]);
    assert!(wide.contains(&format!("1  {name}  e")) && !wide.contains('…'), "{wide}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("out.txt");
    checked(&model, &["--output", file.to_str().expect("a path")]);
    let written = std::fs::read_to_string(&file).expect("a result");
    assert!(written.contains(name) && !written.contains('…'), "{written}");
}
