//! Runs the checker of certificates in Python on many certificates at once.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Gives the cases to the checker, one line of JSON each: a trace, a certificate, and the mailbox
/// rule or null. Returns one line of JSON for each: the exit status and the words. `None` without
/// Python.
///
/// # Panics
///
/// Panics if the checker fails, or leaves out a case.
#[must_use]
pub fn python_verdicts(cases: &[String]) -> Option<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/checker/certify.py");
    let mut child = Command::new("python3")
        .args([script.as_os_str(), "--batch".as_ref()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // Both pipes at once: neither side waits for the other.
        scope.spawn(move || {
            let Some(mut stdin) = stdin else { return };
            let mut lines = cases.iter();
            assert!(lines.all(|line| writeln!(stdin, "{line}").is_ok()), "the checker reads");
        });
        child.wait_with_output()
    });
    let output = output.ok().filter(|output| output.status.success());
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    let Some(text) = text else { panic!("the checker in Python fails") };
    let verdicts: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(verdicts.len(), cases.len(), "one verdict for each case");
    Some(verdicts)
}
