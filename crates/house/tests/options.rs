//! A job is called from Rust, too: `drive` and the engines name no option of the command line. They
//! give advice as data, and `cli` has the words.

use crate::files;
use std::fs;

/// The crates that the command line stands on, but those that write for its users.
const CRATES: &[&str] = &[
    "certify",
    "common",
    "commute",
    "consistency",
    "drive",
    "explore",
    "formats",
    "hb",
    "lang",
    "order",
    "pipe",
    "predict",
    "program",
    "robust",
    "search",
    "stream",
    "system",
    "trace",
    "vm",
];

#[test]
fn jobs_and_engines_name_no_option_of_the_command_line() {
    let mut sources = Vec::new();
    for name in CRATES {
        let of_crate = files::code(&files::source_folder(name));
        assert!(!of_crate.is_empty(), "the sources of {name} must be found");
        sources.extend(of_crate);
    }
    let mut wrong = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let name = path.display().to_string().replace('\\', "/");
        wrong.extend(named(&text).iter().map(|line| format!("{name}:{line}")));
    }
    assert!(wrong.is_empty(), "a job names an option:\n{}", wrong.join("\n"));
}

#[test]
fn the_rule_sees_what_it_forbids() {
    assert_eq!(named("fn f() {}\n    hint(\"`--salvage` reads\");\n"), [2]);
    assert_eq!(named("let text = \"omit --run\";\n"), [1]);
    assert_eq!(named("let text = \"see `a`;\n    --spec adds others\";\n"), [2]);
    for allowed in ["// `--salvage`\n", "/// --spec\n", "Token(\"--\")\n", "frame(\"-->\")\n"] {
        assert_eq!(named(allowed), [0; 0], "{allowed}");
    }
    let only_tests = "#[cfg(test)]\nmod tests {\n    run(\"./run.sh --fast\");\n}\n";
    assert_eq!(named(only_tests), [0; 0]);
}

/// Returns the lines that name an option. Comments do not count, nor do the tests at the end.
fn named(text: &str) -> Vec<usize> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = (1..).zip(code.lines());
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.filter(|(_, line)| has_option(line)).map(|(number, _)| number).collect()
}

fn has_option(line: &str) -> bool {
    line.match_indices("--").any(|(at, _)| {
        line[at + 2..].starts_with(|next: char| next.is_ascii_lowercase())
            && !line[..at].ends_with('-')
    })
}
