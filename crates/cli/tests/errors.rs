//! Bad input and usage: exit status 2, nothing on stdout, and a message with the place of the
//! error.

use crate::common;

use common::{NOTES, Ran, file, folder, path, run, run_with_stdin};

/// Runs a command that must fail with status 2. Returns its messages.
fn refused(arguments: &[&str]) -> String {
    said(run(arguments), arguments)
}

fn said(ran: Ran, arguments: &[&str]) -> String {
    assert_eq!(ran.status, 2, "{arguments:?}: {ran:?}");
    assert_eq!(ran.stdout, "", "{arguments:?}: stdout stays empty");
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!ran.stderr.contains(control), "raw control characters: {:?}", ran.stderr);
    ran.stderr
}

/// Checks that all commands that read traces report the same error for an input.
fn refused_by_all(input: &str) -> String {
    let check = refused(&["check", "--format", "json", input]);
    assert_eq!(refused(&["info", input]), check);
    assert_eq!(refused(&["why", input, "1", "2"]), check);
    let folder = folder();
    let out = path(&folder, "out.bin");
    assert_eq!(refused(&["convert", input, &out, "--to", "binary"]), check);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "nothing is left behind: {left:?}");
    check
}

#[test]
fn a_directory() {
    let folder = folder();
    let input = folder.path().to_str().unwrap();
    let expected = format!(
        "error: cannot read {input}: is a directory\nhint: give the files in it one by one\n"
    );
    assert_eq!(refused_by_all(input), expected);
}

#[test]
fn a_missing_file() {
    let expected = "error: cannot read no/such: no such file or directory\nhint: check the spelling of the path\n";
    assert_eq!(refused_by_all("no/such"), expected);
}

#[test]
fn an_empty_file() {
    let folder = folder();
    let input = file(&folder, "empty.std", "");
    let message = refused_by_all(&input);
    assert_eq!(message, format!("error: {input}: the input is empty, expected a trace\n"));
}

#[test]
fn a_file_that_fits_two_formats() {
    let folder = folder();
    let input = file(&folder, "both.log", "T1|acq(L1)|12\n2 THREADINIT tid:1\n");
    let what = "the format is ambiguous: std or droidracer; name it with `--input-format`";
    assert_eq!(refused_by_all(&input), format!("error: {input}: {what}\n"));
}

#[test]
fn something_else_entirely() {
    let message = refused_by_all("LICENSE-MIT");
    assert!(
        message.starts_with("error: LICENSE-MIT: line 1: `MIT License` fits no format"),
        "{message}"
    );
    assert!(message.contains("hint: `--input-format`"), "{message}");
    let folder = folder();
    let zip = file(&folder, "a.gz", b"\x1f\x8b\x08\0\0\0\0\0");
    assert!(refused_by_all(&zip).contains("compressed with gzip"));
    let headless = file(&folder, "a.any", "var x = 0;\nevent up { x += 1; }\n");
    assert!(refused_by_all(&headless).contains("hint: a model begins with the word `model`"));
}

#[test]
fn a_line_with_one_field_too_few() {
    let folder = folder();
    let input = file(&folder, "a.std", "T1|w(x)|1\nT1|r(x)\nT2|w(x)|2\n");
    let message = refused_by_all(&input);
    assert!(message.starts_with(&format!("error: {input}: line 2")), "{message}");
    assert!(message.contains("\n     2 | T1|r(x)\n"), "the text is shown: {message}");
}

#[test]
fn all_problems_of_a_file_are_listed() {
    let folder = folder();
    let mut text = String::from("T1|w(x)|1\n");
    for _ in 0..30 {
        text.push_str("T1|bad\n");
    }
    let input = file(&folder, "a.std", text);
    let message = refused(&["check", &input]);
    assert_eq!(message.matches("error: ").count(), 21, "{message}");
    assert!(message.contains("line 2") && message.contains("line 21"), "{message}");
    assert!(message.contains("and 10 more errors"), "{message}");
}

#[test]
fn a_release_without_acquire() {
    let folder = folder();
    let input = file(&folder, "a.std", "T1|acq(l)|1\nT1|rel(l)|2\nT2|rel(l)|3\n");
    let message = refused(&["check", &input]);
    assert!(message.contains("line 3") && message.contains("`l`"), "{message}");
    assert_eq!(message, refused(&["why", &input, "1", "2"]));
}

#[test]
fn a_truncated_binary() {
    let folder = folder();
    let whole = path(&folder, "whole.bin");
    assert_eq!(run(&["convert", NOTES, &whole, "--to", "binary"]).status, 0);
    let bytes = std::fs::read(&whole).unwrap();
    for length in [1, 7, 8, 20, bytes.len() / 2, bytes.len() - 1] {
        let cut = file(&folder, "cut.bin", &bytes[..length]);
        let message = refused_by_all(&cut);
        assert!(message.starts_with(&format!("error: {cut}: ")), "{length}: {message}");
    }
    let cut = file(&folder, "cut.bin", &bytes[..bytes.len() - 1]);
    let message = refused(&["check", &cut]);
    assert!(message.contains("byte ") && message.contains("--salvage"), "{message}");
    let salvaged = run(&["info", "--salvage", &cut]);
    assert_eq!(salvaged.status, 0, "{salvaged:?}");
    assert!(salvaged.stderr.starts_with("warning: "), "{salvaged:?}");
}

#[test]
fn a_damaged_binary() {
    let folder = folder();
    let whole = path(&folder, "whole.bin");
    assert_eq!(run(&["convert", NOTES, &whole, "--to", "binary"]).status, 0);
    let mut bytes = std::fs::read(&whole).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    let input = file(&folder, "damaged.bin", bytes);
    let message = refused_by_all(&input);
    assert!(message.contains("block ") && message.contains("byte "), "{message}");
}

#[test]
fn hostile_names_and_paths() {
    let folder = folder();
    let input = file(
        &folder,
        "a\u{1b}]0;x\u{7}.std",
        "T\u{1b}[2J|w(<img src=x>)|1\nT1|rel(\u{202e}l)|\u{9b}\n",
    );
    let message = refused(&["check", &input]);
    assert!(message.contains("a\\u{1b}]0;x\\u{7}.std"), "{message}");
    assert!(!message.contains('\u{202e}') && !message.contains('\u{9b}'), "{message:?}");
    let info = run(&["info", &input]);
    assert_eq!(info.status, 0, "{info:?}");
    assert!(!info.stdout.contains('\u{1b}'), "{info:?}");
    assert!(info.stdout.contains("T\\u{1b}[2J"), "{info:?}");
}

#[test]
fn standard_input() {
    let message = said(run_with_stdin(&["check", "-"], b"T1|bad\n"), &["check", "-"]);
    assert!(message.starts_with("error: -: line 1"), "{message}");
    let message = said(run_with_stdin(&["info", "/dev/stdin"], b""), &["info"]);
    assert!(message.contains("the input is empty"), "{message}");
}

#[test]
fn several_bad_inputs_are_all_named() {
    let message = refused(&["check", NOTES, "no/such", "LICENSE-MIT"]);
    assert!(message.contains("no/such") && message.contains("LICENSE-MIT"), "{message}");
}

#[test]
fn unknown_events() {
    let message = refused(&["why", NOTES, "1", "9999"]);
    let expected = "error: examples/notes-app.trace has no event `9999`\nhint: the events range from `1` to `113`\n";
    assert_eq!(message, expected);
}

#[test]
fn files_that_cannot_be_written() {
    let folder = folder();
    let dir = folder.path().to_str().unwrap();
    let message = refused(&["convert", NOTES, dir, "--to", "binary"]);
    assert!(message.contains("is a directory"), "{message}");
    let message = refused(&["check", NOTES, "-o", "no/such/folder/out"]);
    assert!(message.contains("no such file or directory"), "{message}");
    let taken = file(&folder, "taken", "");
    let message = refused(&["check", NOTES, "--report", &taken]);
    assert!(message.contains("taken"), "{message}");
}

#[test]
fn baselines_and_suppressions() {
    let folder = folder();
    let bad = file(&folder, "bad.json", "[\n{\"id\": 5}]");
    let message = refused(&["check", NOTES, "--baseline", &bad]);
    assert!(message.contains("line 2, column 8"), "{message}");
    let bad = file(&folder, "bad.toml", "[[suppress]]\nkind = \"rac\u{1b}e\"\n");
    let message = refused(&["check", NOTES, "--config", &bad]);
    assert!(message.contains("bad.toml: line 2"), "{message}");
    let message = refused(&["check", NOTES, "--baseline", "no/such"]);
    assert!(message.contains("cannot read no/such"), "{message}");
}

#[test]
fn usage() {
    for arguments in [
        &["check"][..],
        &["nonsense"],
        &["check", "x", "--rules", "java"],
        &["check", "x", "--time-limit", "soon"],
        &["check", "x", "--memory-limit", "much"],
        &["check", "x", "--input-format", "pdf"],
        &["convert", "a", "b"],
        &["convert", "a", "b", "--to", "droidracer"],
    ] {
        let message = refused(arguments);
        assert!(message.starts_with("error: "), "{arguments:?}: {message}");
    }
    assert!(refused(&["explain", "rcae"]).contains("did you mean `race`?"));
}

#[test]
fn a_bug_of_ours() {
    let ran = run(&["bug"]);
    assert_eq!(ran.status, 70);
    assert_eq!(ran.stdout, "");
    for part in ["this is a bug in anyorder", "version", "/issues"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}

#[test]
fn partial_traces_have_no_races() {
    let folder = folder();
    let text = "edtrace 1\na h - post m\nb h m get\nc h m w x\nd h m w x\n";
    let input = file(&folder, "a.edtrace", format!("{text}co x c d\n"));
    let message = refused(&["why", &input, "a", "b"]);
    assert!(message.contains("hint: races need a recorded run"), "{message}");
    assert_eq!(run(&["info", &input]).status, 0);
    let without = file(&folder, "b.edtrace", text);
    assert!(refused(&["info", &without]).contains("line "), "the `co` line is missing");
    assert_eq!(run(&["info", "--infer-co", &without]).status, 0);
}
