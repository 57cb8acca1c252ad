//! Repository rules that the compiler does not check.

use crate::files;
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum length of a source file. Split a longer file by topic.
const LINES_MAX: usize = 600;

/// The maximum length of a test file.
const TEST_LINES_MAX: usize = 800;

/// Files that are longer, with their bounds. The list may only shrink.
const KNOWN_LONG: &[(&str, usize)] = &[];

/// The maximum width of a comment line.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Words that must not appear in sources. They are assembled here, so that this file does not
/// contain them.
fn banned() -> Vec<(String, &'static str)> {
    vec![
        (format!("{}!(", "todo"), "unfinished code"),
        (format!("{}!(", "unimplemented"), "unfinished code"),
        (format!("{}ME", "FIX"), "an open end without an owner"),
        (format!("//! {}\n", "TODO"), "a file without a description"),
        (format!("/{}/", "work"), "a path of one machine"),
        (format!("/{}/", "root"), "a path of one machine"),
        (
            format!("../{}/data", "shared"),
            "recorded runs are in `data`, so that no test skips them",
        ),
    ]
}

#[test]
fn files_are_short_and_finished() {
    let sources = sources();
    assert!(sources.len() > 20, "the sources must be found");
    let mut wrong = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        wrong.extend(complaints(&path.display().to_string(), &text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_rules_catch_what_they_forbid() {
    for (word, _) in banned() {
        assert_eq!(complaints("x.rs", &format!("fn f() {{}}\n{word}")).len(), 1, "{word}");
    }
    assert_eq!(complaints("x.rs", &"\n".repeat(LINES_MAX + 1)).len(), 1);
    assert_eq!(complaints("x.rs", &"\n".repeat(LINES_MAX)).len(), 0);
    assert_eq!(complaints("a/tests/x.rs", &"\n".repeat(TEST_LINES_MAX)).len(), 0);
    assert_eq!(complaints("a/tests/x.rs", &"\n".repeat(TEST_LINES_MAX + 1)).len(), 1);
    assert_eq!(complaints("lib.rs", "//! Doc.\nfn f() {}\n").len(), 1);
    assert_eq!(complaints("lib.rs", "//! ```\n//! fn f() {}\n//! ```\nmod a;\n").len(), 0);
}

#[test]
fn comments_are_narrow() {
    let mut wrong = Vec::new();
    let folders = ["crates", "examples/rust"].map(|folder| workspace().join(folder));
    for path in folders.iter().flat_map(|folder| files::files(folder, "rs")) {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        let lines = wide_comments(&text).into_iter();
        wrong.extend(lines.map(|line| format!("{}:{line}", path.display())));
    }
    assert!(wrong.is_empty(), "comments wider than 100 columns:\n{}", wrong.join("\n"));
    let fits = format!("    /// {}", "x".repeat(COMMENT_COLUMNS_MAX - 8));
    assert_eq!(wide_comments(&format!("{fits}\n{fits}y\nlet {fits}y\n")), [2]);
    assert_eq!(wide_comments(&format!("//! ```\n//! {fits}\n//! ```\n//! | {fits} |\n")), [0; 0]);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut wrong = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("documents are UTF-8");
        for target in links(&text) {
            let target_path = path.parent().expect("a folder").join(&target);
            if !target_path.exists() {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "dead links:\n{}", wrong.join("\n"));
    assert_eq!(links("[a](b.md#c) [d](https://e) [f](#g)"), ["b.md"]);
}

/// Every file that the list of oracle gaps names exists. If a file moves, its row must change.
#[test]
fn the_list_of_what_oracles_leave_out_names_files_that_exist() {
    let page = workspace().join("docs/testing.md");
    let text = fs::read_to_string(page).expect("the page is UTF-8");
    let (_, list) = text.split_once("\n## What the oracles leave out").expect("the section");
    let rows: Vec<&str> = list.lines().filter_map(|line| line.strip_prefix("| `")).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let named = list.split('`').skip(1).step_by(2).filter(|name| name.starts_with("crates/"));
    let missing: Vec<&str> = named.filter(|name| !workspace().join(name).exists()).collect();
    assert!(missing.is_empty(), "the list names what is not there: {missing:?}");
    for row in rows {
        let cells = row.split(" | ").count();
        assert_eq!(cells, 4, "what, how often and why: {row}");
        assert!(!row.trim_end().ends_with("| |"), "no reason: {row}");
    }
}

/// Returns the violations of one source file.
fn complaints(name: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let lines = text.lines().count();
    let known = KNOWN_LONG.iter().find(|(path, _)| name.ends_with(path));
    let lines_max = match known {
        Some((_, bound)) => *bound,
        None if name.contains("/tests/") => TEST_LINES_MAX,
        None => LINES_MAX,
    };
    if lines > lines_max {
        wrong.push(format!("{name}: {lines} lines, {lines_max} at the most"));
    }
    for (word, why) in banned() {
        if let Some(at) = text.find(&word) {
            let line = text[..at].matches('\n').count() + 1;
            wrong.push(format!("{name}:{line}: {why}: `{}`", word.trim()));
        }
    }
    let logic = |line: &str| line.trim_start_matches("pub ").trim_start().starts_with("fn ");
    // The compiler wants attributes in the root of their crate.
    let is_macros = name.ends_with("/macros/src/lib.rs");
    if name.ends_with("lib.rs") && !is_macros && text.lines().any(logic) {
        wrong.push(format!("{name}: a lib.rs is a table of contents and has no logic"));
    }
    wrong
}

/// Returns the numbers of the comment lines that are too wide. Code examples and table rows have no
/// bound.
fn wide_comments(text: &str) -> Vec<usize> {
    let mut wide = Vec::new();
    let mut in_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            in_code = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        in_code ^= comment.starts_with("```");
        let is_free = in_code || comment.starts_with('|');
        if !is_free && line.chars().count() > COMMENT_COLUMNS_MAX {
            wide.push(number);
        }
    }
    wide
}

/// Returns the relative targets of the links of a document, without their anchors.
fn links(text: &str) -> Vec<String> {
    let parts = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    parts
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| target.split('#').next().unwrap_or_default().to_owned())
        .collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn sources() -> Vec<PathBuf> {
    files::files(&workspace().join("crates"), "rs")
}

fn documents() -> Vec<PathBuf> {
    let mut found = files::files(&workspace().join("docs"), "md");
    for entry in fs::read_dir(workspace()).expect("the workspace can be listed").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "md") {
            found.push(entry.path());
        }
    }
    found
}
