//! Hostile names everywhere a name can be, and a look at every byte that leaves: standard output,
//! standard error, and each file that is written.

#![allow(clippy::print_stdout, reason = "the test prints what it reached")]

use crate::common;

use anyorder_common::text::is_hostile;
use common::{command, folder};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Names. `@` stands for one of them in the cases below.
const NAMES: [&str; 4] = [
    "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{7f}y",
    "x\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{115f}\u{34f}\u{fe0f}\u{e0041}\u{2028}y",
    "x\r\u{b}\u{85}\u{8}y",
    "x<b>\u{202e}&'\"]]>y",
];

/// A run of the binary in a folder of its own. Fields of arguments end with `|`, lines of files
/// with a line feed. The folder has a file for each pair of a name and a content.
struct Case {
    name: &'static str,
    arguments: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// What one of the outputs says, for at least one of the names: the path was reached.
    says: &'static str,
}

const fn case(
    name: &'static str,
    arguments: &'static str,
    files: &'static [(&'static str, &'static str)],
    says: &'static str,
) -> Case {
    Case { name, arguments, files, says }
}

const RACE: &str = "T@1|w(v@)|s@1\nT@2|w(v@)|s@2\n";
const LOCKED: &str = "T@1|acq(l@)|1\nT@1|w(v@)|s@1\nT@1|rel(l@)|2\nT@2|w(v@)|s@2\n";
const UNKNOWN: &str = "T1|odd(v@)|1\nT1|w(v)|2\nT2|w(v)|3\n";
const MODEL: &str = "model early\nvar script = false;\nevent click { assert script; }\n";

/// Inputs that are read, and each form of output.
const RESULTS: &[Case] = &[
    case("text", "check|a@.std|--max-findings|9", &[("a@.std", RACE)], "race"),
    case("json", "check|a@.std|--format|json", &[("a@.std", RACE)], "\"findings\""),
    case("jsonl", "check|a@.std|--format|jsonl", &[("a@.std", RACE)], "\"kind\""),
    case("sarif", "check|a@.std|--format|sarif", &[("a@.std", RACE)], "sarif"),
    case("junit", "check|a@.std|--format|junit", &[("a@.std", RACE)], "<testsuites"),
    case("report", "check|a@.std|--report|out@", &[("a@.std", RACE)], "index.html"),
    case("colour", "--color|always|check|a@.std", &[("a@.std", RACE)], "race"),
    case(
        "sites",
        "check|a.std|--sites|s@.tsv",
        &[("a.std", "T1|w(x)|1\nT2|w(x)|2\n"), ("s@.tsv", "1\tf@\tfile@:3\n2\tg@\tfile@:4\n")],
        "race",
    ),
    case("predict", "predict|a@.std|--analysis|hb", &[("a@.std", RACE)], "race"),
    case("predict json", "predict|a@.std|--format|json", &[("a@.std", LOCKED)], "\"findings\""),
    case("witnesses", "predict|a@.std|--schedules|w@", &[("a@.std", RACE)], "replay"),
    case("baseline", "check|a@.std|--write-baseline|b@.json", &[("a@.std", RACE)], "race"),
    case("unknown words", "check|a.std", &[("a.std", UNKNOWN)], "odd"),
    case("unknown words json", "check|a.std|--format|json", &[("a.std", UNKNOWN)], "odd"),
    case("info", "info|a@.std", &[("a@.std", LOCKED)], "events"),
    case("info json", "info|a@.std|--format|json", &[("a@.std", LOCKED)], "\"locks\""),
    case("why", "why|a@.std|1|4", &[("a@.std", LOCKED)], "order"),
    case("why json", "why|a@.std|1|4|--format|json", &[("a@.std", LOCKED)], "\"ordered\""),
    case("to text", "convert|a@.std|out@.trace|--to|text", &[("a@.std", LOCKED)], "wrote"),
    case("to text, printed", "convert|a@.std|-|--to|text", &[("a@.std", LOCKED)], "anyorder-trace"),
    case("to binary", "convert|a@.std|out@.bin|--to|binary", &[("a@.std", LOCKED)], "wrote"),
    case("consistency", "consistency|a@.std", &[("a@.std", LOCKED)], "consistent"),
    case("model", "check|m@.any|--schedules|s@", &[("m@.any", MODEL)], "assertion"),
    case("model json", "check|m@.any|--format|json", &[("m@.any", MODEL)], "\"schedule\""),
    case("model report", "check|m@.any|--report|r@", &[("m@.any", MODEL)], "index.html"),
    case("explore", "explore|m@.any|--format|json", &[("m@.any", MODEL)], "\"explore\""),
    case("simulate", "simulate|m@.any", &[("m@.any", MODEL)], "assertion"),
    case("graph", "graph|m@.any", &[("m@.any", MODEL)], "digraph"),
    case("graph json", "graph|m@.any|--format|json", &[("m@.any", MODEL)], "\"states\""),
    case(
        "checkpoint",
        "check|m@.any|--no-reduction|--checkpoint|c@|--max-states|1",
        &[("m@.any", MODEL)],
        "assertion",
    ),
    case(
        "never runs",
        "check|m@.any",
        &[("m@.any", "model m\nvar x = 0;\nevent a when x > 0 { x = 1; }\n")],
        "never",
    ),
];

/// Words that are wrong.
const WORDS: &[Case] = &[
    case("command", "@", &[], "unrecognized subcommand"),
    case("option", "check|--@", &[], "unexpected argument"),
    case("value", "check|a|--format|@", &[], "invalid value"),
    case("time", "check|a|--time-limit|@", &[], "invalid value"),
    case("memory", "check|a|--memory-limit|@", &[], "invalid value"),
    case("number", "check|a|--threads|@", &[], "invalid value"),
    case("family", "generate|@|--size|3", &[], "invalid value"),
    case("shell", "completions|@", &[], "invalid value"),
    case("format", "convert|a|b|--to|@", &[], "invalid value"),
    case("topic", "explain|@", &[], "no topic"),
    case("object", "predict|a.std|--object|@", &[("a.std", RACE)], "expected NAME=TYPE"),
    case("type", "predict|a.std|--object|a=@", &[("a.std", RACE)], "unknown type"),
    case("event", "why|a.std|@|1", &[("a.std", RACE)], "has no event"),
    case("quotes", "explore|--program|'@", &[], "not closed"),
    case("program", "explore|--program|./none@", &[], "error"),
    case(
        "finding",
        "replay|m.any|s.json|--finding|@",
        &[("m.any", MODEL), ("s.json", "{\"findings\":[]}")],
        "error",
    ),
];

/// Files that are missing, wrong, or cannot be written.
const FILES: &[Case] = &[
    case("no trace", "check|none@", &[], "cannot read"),
    case("no prediction", "predict|none@", &[], "cannot read"),
    case("no info", "info|none@", &[], "cannot read"),
    case("no reason", "why|none@|1|2", &[], "cannot read"),
    case("no conversion", "convert|none@|b|--to|text", &[], "cannot read"),
    case("no model", "graph|none@", &[], "cannot read"),
    case("nothing to format", "fmt|none@", &[], "cannot read"),
    case("nothing to simulate", "simulate|none@", &[], "cannot read"),
    case("nothing to explore", "explore|none@", &[], "cannot read"),
    case("nothing to shrink", "shrink|none@|other@", &[], "cannot read"),
    case("nothing to replay", "replay|none@|other@", &[], "cannot read"),
    case("nothing to compare", "diff|none@|a@|b@", &[], "cannot read"),
    case("no consistency", "consistency|none@", &[], "cannot read"),
    case("no sites", "check|a.std|--sites|none@", &[("a.std", RACE)], "cannot read"),
    case("no baseline", "check|a.std|--baseline|none@", &[("a.std", RACE)], "cannot read"),
    case("no config", "check|a.std|--config|none@", &[("a.std", RACE)], "cannot read"),
    case("no specification", "predict|a.std|--spec|none@", &[("a.std", RACE)], "cannot read"),
    case("no format", "check|a@", &[("a@", "hello @ world\n")], "fits no format"),
    case("forced text", "check|a@|--input-format|text", &[("a@", "@\n")], "error"),
    case("forced std", "check|a@|--input-format|std", &[("a@", "@ @\n")], "error"),
    case("forced edtrace", "check|a@|--input-format|edtrace", &[("a@", "@\n")], "error"),
    case("forced binary", "check|a@|--input-format|binary", &[("a@", "@\n")], "error"),
    case("forced droidracer", "check|a@|--input-format|droidracer", &[("a@", "@\n")], "error"),
    case("edtrace line", "check|a@", &[("a@", "edtrace 1\n@ @ @\n")], "error"),
    case("text line", "check|a@", &[("a@", "anyorder-trace 1\n@ @\n")], "error"),
    case("not held", "check|a@", &[("a@", "T@|rel(l@)|1\n")], "error"),
    case("few fields", "check|a@", &[("a@", "T1|w(x)|1\nT@|w\n")], "error"),
    case("model word", "check|m@.any", &[("m@.any", "model m\nvar @ = 0;\n")], "error"),
    case("model name", "check|m@.any", &[("m@.any", "model m\nvar x = y; // @\n")], "unknown name"),
    case("model text", "check|m@.any", &[("m@.any", "model m\nvar s = \"@\" + y;\n")], "error"),
    case("model to format", "fmt|m@.any", &[("m@.any", "model m\nvar @ = ;\n")], "error"),
    case("config key", "check|a.std|--config|c@", &[("a.std", RACE), ("c@", "@ = 1\n")], "error"),
    case(
        "config kind",
        "check|a.std|--config|c@",
        &[("a.std", RACE), ("c@", "[[suppress]]\nkind = 'a@'\n")],
        "error",
    ),
    case(
        "config unused",
        "check|a.std|--config|c@",
        &[("a.std", RACE), ("c@", "[[suppress]]\nlocation = 'a'\nreason = 'b'\n")],
        "matches nothing",
    ),
    case(
        "config found",
        "check|a.std",
        &[("a.std", RACE), ("anyorder.toml", "'@' = 1\n")],
        "error",
    ),
    case(
        "baseline key",
        "check|a.std|--baseline|b@",
        &[("a.std", RACE), ("b@", "[{\"@\": 1}]")],
        "error",
    ),
    case(
        "baseline gone",
        "check|a.std|--baseline|b@",
        &[("a.std", RACE), ("b@", "[{\"id\":\"0123456789abcdef\",\"title\":\"@\"}]")],
        "did not occur",
    ),
    case(
        "specification",
        "predict|a.std|--spec|s@",
        &[("a.std", RACE), ("s@", "type @ {\n")],
        "has no meaning",
    ),
    case("sites found", "check|a.std", &[("a.std", RACE), ("sites.tsv", "@\n")], "ignored"),
    case(
        "schedule",
        "replay|m.any|s@",
        &[("m.any", MODEL), ("s@", "{\"schedule\":1,\"@\":1}")],
        "error",
    ),
    case(
        "schedule version",
        "replay|m.any|s@",
        &[("m.any", MODEL), ("s@", "{\"schedule\":\"@\"}")],
        "error",
    ),
    case(
        "witness",
        "replay|a.std|w@",
        &[("a.std", RACE), ("w@", "{\"reordering\":1,\"first\":\"@\"}")],
        "error",
    ),
    case(
        "resume",
        "check|m.any|--no-reduction|--resume|c@",
        &[("m.any", MODEL), ("c@", "@")],
        "checkpoint",
    ),
    case(
        "no checkpoint",
        "check|m.any|--no-reduction|--checkpoint|c@",
        &[("m.any", MODEL), ("c@", "@")],
        "not overwritten",
    ),
    case("no folder", "convert|a.std|none@/b|--to|text", &[("a.std", RACE)], "cannot write"),
    case(
        "a folder",
        "check|a.std|--output|d@",
        &[("a.std", RACE), ("d@/f", "")],
        "it is a directory",
    ),
    case(
        "folder is a file",
        "check|a.std|--report|f@",
        &[("a.std", RACE), ("f@", "")],
        "cannot write",
    ),
    case("reply", "explore|--program|sh p.sh", &[("p.sh", "echo '@'\n")], "error"),
    case("last words", "explore|--program|sh p.sh", &[("p.sh", "echo '@' >&2\nexit 3\n")], "error"),
];

/// Formats without escapes keep names as they are; on a terminal they are escaped, too.
const AS_READ: [&str; 2] = [".bin", ".std"];

#[test]
fn results_show_no_hostile_bytes() {
    drive(RESULTS);
}

#[test]
fn errors_of_words_show_no_hostile_bytes() {
    drive(WORDS);
}

#[test]
fn errors_of_files_show_no_hostile_bytes() {
    drive(FILES);
}

/// Runs all cases with all names. Each must have been reached.
fn drive(cases: &[Case]) {
    let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases {
        let count = reached.entry(case.name).or_default();
        let mut last = String::new();
        for name in NAMES {
            let said = one(case, name, &mut wrong);
            *count += usize::from(said.contains(case.says));
            last = said;
        }
        if *count == 0 {
            wrong.push(format!("{}: not reached, the last output is {last:?}", case.name));
        }
    }
    println!("{reached:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs one case. Returns both outputs.
fn one(case: &Case, name: &str, wrong: &mut Vec<String>) -> String {
    let folder = folder();
    let mut given = Vec::new();
    for (path, content) in case.files {
        let path = folder.path().join(path.replace('@', name).replace('<', "("));
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, content.replace('@', name)).expect("the input");
        given.push(path);
    }
    let is_path = |word: &str| case.files.iter().any(|(path, _)| *path == word);
    let words: Vec<String> = case
        .arguments
        .split('|')
        .map(|word| match is_path(word) {
            true => word.replace('@', name).replace('<', "("),
            false => word.replace('@', name),
        })
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut run = command(&words);
    let output = run.current_dir(folder.path()).env("NO_COLOR_", name).output().expect("it runs");
    let place = format!("{} with {name:?}", case.name);
    let status = output.status.code();
    if !matches!(status, Some(0..=3)) {
        wrong.push(format!("{place}: status {status:?}"));
    }
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    for (what, text) in [("stdout", &stdout), ("stderr", &stderr)] {
        wrong
            .extend(complaint(&without_colours(text)).map(|why| format!("{place}: {what}: {why}")));
    }
    // Without a result, standard output is empty.
    let refused = status == Some(2) && stdout.is_empty();
    if !refused && (words.contains(&"json") || words.contains(&"sarif")) {
        let json: Result<serde_json::Value, _> = serde_json::from_str(&stdout);
        wrong.extend(json.err().map(|error| format!("{place}: {error}")));
    }
    if !refused && words.contains(&"junit") {
        wrong.extend(roxmltree::Document::parse(&stdout).err().map(|e| format!("{place}: {e}")));
    }
    written(folder.path(), &mut |path| {
        let shown = path.to_string_lossy();
        if given.iter().any(|known| known == path) || AS_READ.iter().any(|end| shown.ends_with(end))
        {
            return;
        }
        let bytes = fs::read(path).expect("the output");
        // A checkpoint is no text.
        if bytes.starts_with(b"anyorder-search\0") {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        wrong.extend(complaint(&text).map(|why| format!("{place}: {shown:?}: {why}")));
        if shown.ends_with(".html") && text.contains("x<b>") {
            wrong.push(format!("{place}: markup in {shown:?}"));
        }
    });
    stdout + &stderr
}

/// Calls for each file below a folder.
fn written(folder: &Path, file: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("the folder").flatten() {
        match entry.path() {
            path if path.is_dir() => written(&path, file),
            path => file(&path),
        }
    }
}

/// Returns what is wrong with a text.
fn complaint(text: &str) -> Option<String> {
    let (at, c) = text.char_indices().find(|(_, c)| *c != '\n' && is_hostile(*c))?;
    let before: String = text[..at].chars().rev().take(40).collect();
    let before: String = before.chars().rev().collect();
    Some(format!("{c:?} after {before:?}"))
}

/// Returns a text without sequences that set colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        match part[end..].strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => out.push_str(&format!("\u{1b}[{part}")),
        }
    }
    out
}

#[test]
fn the_look_at_bytes_sees_what_it_should() {
    assert_eq!(complaint("plain\n\u{e9}"), None);
    for name in NAMES {
        assert!(complaint(name).is_some(), "{name:?}");
    }
    assert_eq!(without_colours("\u{1b}[1;31mred\u{1b}[0m"), "red");
    assert!(complaint(&without_colours("\u{1b}[2J")).is_some());
}
