//! The checker in Python, for many certificates at once.

use super::cases::Case;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the exit status and the words of the checker for each case; `None` without Python.
pub(crate) fn verdicts(cases: &[Case]) -> Option<Vec<(u8, String)>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/checker/certify.py");
    let mut child = Command::new("python3")
        .args([script.as_os_str(), "--batch".as_ref()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let lines: Vec<String> = cases
        .iter()
        .map(|case| serde_json::json!([*case.trace, case.text, case.mailbox]).to_string())
        .collect();
    if let Some(path) = std::env::var_os("ANYORDER_CERTIFICATES_BATCH") {
        std::fs::write(path, lines.join("\n") + "\n").expect("the cases are written");
    }
    let writer = std::thread::spawn(move || {
        lines.iter().for_each(|line| writeln!(stdin, "{line}").expect("the checker reads"));
    });
    let output = child.wait_with_output().expect("the checker ends");
    writer.join().expect("the writer ends");
    assert!(output.status.success(), "the checker fails");
    let text = String::from_utf8(output.stdout).expect("the checker writes UTF-8");
    let verdicts: Vec<(u8, String)> =
        text.lines().map(|line| serde_json::from_str(line).expect("a verdict")).collect();
    assert_eq!(verdicts.len(), cases.len());
    Some(verdicts)
}
