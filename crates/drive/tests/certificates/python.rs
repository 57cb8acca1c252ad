//! The checker in Python, for many certificates at once.

use super::cases::Case;

/// Returns the exit status and the words of the checker for each case; `None` without Python.
pub(crate) fn verdicts(cases: &[Case]) -> Option<Vec<(u8, String)>> {
    let line = |case: &Case| serde_json::json!([*case.trace, case.text, case.mailbox]).to_string();
    let lines: Vec<String> = cases.iter().map(line).collect();
    if let Some(path) = std::env::var_os("ANYORDER_CERTIFICATES_BATCH") {
        std::fs::write(path, lines.join("\n") + "\n").expect("the cases are written");
    }
    let verdicts = anyorder_testkit::python_verdicts(&lines)?;
    Some(verdicts.iter().map(|line| serde_json::from_str(line).expect("a verdict")).collect())
}
