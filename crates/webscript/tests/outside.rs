//! The real things: node and Chromium, where they are installed.

use anyorder_webscript::{Kind, Origin, Sites, rewrite_script};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs node on a script with arguments, and returns what it prints; `None`, with a word, if there
/// is no node.
pub(crate) fn node(script: &str, arguments: &[&Path]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script.js");
    fs::write(&path, script).expect("a script");
    let mut command = Command::new("timeout");
    command
        .args(["-k", "1", "60", "node"])
        .arg("--stack-size=3000")
        .arg(&path)
        .args(arguments)
        .stdin(Stdio::null());
    let output = command.output().ok()?;
    if output.status.code() == Some(127) {
        eprintln!("skipped: there is no node");
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

/// Lets Chromium load a page of a folder, and returns its tree after loading; `None`, with a word,
/// if there is no Chromium.
pub(crate) fn chromium(page: &Path) -> Option<String> {
    let profile = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "60", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
    command.args([
        "--no-first-run",
        "--allow-file-access-from-files",
        "--virtual-time-budget=5000",
    ]);
    command.arg(format!("--user-data-dir={}", profile.path().display())).arg("--dump-dom");
    command.arg(format!("file://{}", page.display())).stdin(Stdio::null());
    let output = command.output().ok()?;
    if output.status.code() == Some(127) {
        eprintln!("skipped: there is no Chromium");
        return None;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("the tree is UTF-8"))
}

/// Rewrites a script that is right.
pub(crate) fn rewrite(text: &str, kind: Kind) -> String {
    let mut sites = Sites::new();
    let source = sites.add_source("test");
    let result = rewrite_script(text, kind, Origin::start_of(source), &mut sites);
    result.unwrap_or_else(|error| panic!("{error}\n{text}"))
}
