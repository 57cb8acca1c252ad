//! Bytes enter and leave the program in one place each: `anyorder_common::files` opens, reads,
//! writes and renames files, and `cli/src/output.rs` and `streams.rs` have the standard streams.

use crate::files;
use std::fs;

/// Calls that open, read, write, rename or remove files, and the standard streams.
const BANNED: &[&str] = &[
    "fs::read(",
    "fs::read_to_string",
    "fs::write(",
    "fs::rename",
    "fs::copy",
    "fs::create_dir",
    "fs::hard_link",
    "fs::remove_file",
    "fs::set_permissions",
    "fs::File",
    "fs::{",
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions::new",
    "read_to_string(",
    "read_to_end(",
    "read_until(",
    ".read_line(",
    "io::read_to_string",
    "stdin()",
    "stdout()",
    "stderr()",
    "tempfile",
    "println!(",
    "eprintln!(",
    "rustix::fs",
];

/// The places that may, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("common/src/files/", "", "the place"),
    ("testkit/", "", "for tests only"),
    (
        "cargo-anyorder/",
        "",
        "a program of its own, with nothing above cargo: manifests, and its words",
    ),
    ("mutate/", "", "for tests only"),
    ("pipe/src/descendants.rs", "fs::read(", "environments of processes, from the system"),
    ("anyorder/src/check/environment.rs", "stderr()", "a harness keeps what passing tests print"),
    ("anyorder/src/check/checkpoint.rs", "fs::remove_file", "a checkpoint that is done"),
    ("anyorder/src/runtime/abort.rs", "stderr()", "the process ends before there is a report"),
    ("cli/src/output.rs", "stdout()", "results"),
    ("cli/src/output.rs", "stderr()", "given to a program that is run"),
    ("cli/src/streams.rs", "stderr()", "messages"),
    ("cli/src/failure/", "stderr()", "that of `streams.rs`"),
    ("cli/src/commands/mod.rs", "stderr()", "that of `streams.rs`"),
    ("cli/src/panic.rs", "stderr()", "escaped; a panic must not depend on the state of colours"),
    ("cli/src/input.rs", "stdin()", "asks whether it is a terminal"),
    ("cli/src/input.rs", "read_to_end(", "takes the first 64 KiB"),
    ("cli/src/watch.rs", "stderr()", "the bar, which has no text of an input"),
    ("cli/src/guard/", "stderr()", "the last message, if the streams are locked for ever"),
    ("cli/src/guard/", "stdout()", "the last result, if the streams are locked for ever"),
    ("cli/src/guard/", "fs::File", "copies of the standard streams"),
    ("cli/src/commands/why.rs", "stderr()", "one of three reasons"),
    ("cli/src/commands/convert.rs", "stderr()", "numbers and an escaped path"),
    ("cli/src/commands/render.rs", "stderr()", "an escaped path"),
    ("cli/src/commands/render.rs", "stdout()", "asks whether it has colours"),
    ("process/src/", "", "reads the memory of this process, without an allocation"),
    ("pipe/src/lines.rs", "read_until(", "takes at most the longest reply"),
    ("web/src/browser/launch.rs", "tempfile", "a folder for the profile of a browser"),
    ("web/src/devtools/client.rs", "read_until(", "takes at most the longest message"),
    ("search/src/checkpoint/", "read_to_end(", "takes a piece"),
    ("formats/src/", "read_to_end(", "takes a block"),
    ("native/src/recording/", "read_to_end(", "takes a chunk, then no more than a bound"),
    ("native/src/launch/folder.rs", "", "a folder for the runtime and its recordings"),
    ("native/src/launch/mod.rs", "fs::create_dir", "that folder"),
    ("native/src/launch/mod.rs", "fs::write(", "the runtime, in that folder"),
    ("native/src/launch/mod.rs", "fs::File", "what a run prints, in that folder"),
    ("native/src/launch/mod.rs", "File::create", "the same"),
    ("native/src/launch/mod.rs", "fs::hard_link", "its other names"),
    (
        "native/src/launch/recognise.rs",
        "File::open",
        "headers and symbols of a program, piece by piece",
    ),
    ("native/src/launch/recognise.rs", "fs::File", "the same"),
    ("native/src/launch/recognise.rs", "read_to_end(", "takes 512 bytes"),
    ("native/src/plan/file.rs", "fs::File", "the plan, which both sides write"),
    ("native/src/plan/file.rs", "read_to_end(", "takes what the plan has at the most"),
    (
        "anyorder/src/check/environment.rs",
        "fs::OpenOptions",
        "adds a line to a file that processes share",
    ),
    ("anyorder/src/check/environment.rs", "OpenOptions::new", "the same"),
    ("native/src/rerun.rs", "fs::", "makes the plan, in the folder of the runtime"),
    ("native/src/rerun.rs", "OpenOptions::new", "the same plan"),
    ("native/src/schedule.rs", "fs::", "what decides the order of a run, in the same folder"),
    ("native/src/schedule.rs", "OpenOptions::new", "the same file"),
    ("native/src/variables.rs", "File::open", "debugging information, section by section"),
    ("native/src/variables.rs", "fs::File", "the same"),
    ("native/src/symbols.rs", "read_to_end(", "takes the first 64 KiB"),
    ("formats/src/", "read_until(", "takes the longest line"),
    ("certify/src/text.rs", "read_until(", "lines of a text with a bound"),
];

#[test]
fn files_and_streams_are_used_in_one_place() {
    let sources = files::code_of_all();
    assert!(sources.len() > 300, "the sources must be found: {}", sources.len());
    let mut wrong = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let name = path.display().to_string().replace('\\', "/");
        wrong.extend(complaints(&name, &text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rule_sees_what_it_forbids() {
    for word in BANNED {
        let line = format!("fn f() {{ {word}x); }}\n");
        assert_eq!(complaints("x/src/a.rs", &line).len(), 1, "{word}");
        assert_eq!(complaints("common/src/files/a.rs", &line).len(), 0, "{word}");
        let only_tests = format!("#[cfg(test)]\nmod tests {{\n{line}}}\n");
        assert_eq!(complaints("x/src/a.rs", &only_tests).len(), 0, "{word}");
        assert_eq!(complaints("x/src/a.rs", &format!("// {line}/// {line}")).len(), 0, "{word}");
    }
    assert_eq!(complaints("x/src/a.rs", "AtomicFile::create(p); use_stderr();").len(), 0);
}

/// Returns the uses in a source that it may not have. Comments do not count, nor do the tests at
/// its end.
fn complaints(name: &str, text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut wrong = Vec::new();
    for (number, line) in (1..).zip(code.lines()) {
        if line.trim_start().starts_with("//") {
            continue;
        }
        let found = BANNED.iter().filter(|word| contains_word(line, word)).filter(|word| {
            !ALLOWED
                .iter()
                .any(|(place, allowed, _)| name.contains(place) && word.contains(allowed))
        });
        if let Some(word) = found.max_by_key(|word| word.len()) {
            wrong.push(format!("{name}:{number}: `{word}`"));
        }
    }
    wrong
}

/// Returns whether a line has a word that is not the end of a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    let ends_name = |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let starts_name = word.starts_with(|c: char| c.is_alphanumeric());
        !(starts_name && ends_name(&line[..at]))
    })
}
