//! The checker in Python, for many certificates at once.

/// A trace as native text or edtrace, a certificate, and the mailbox rule.
pub(crate) type Case = (String, String, Option<String>);

/// Returns the exit status and the words of the checker for each case; `None` without Python.
pub(crate) fn verdicts(cases: &[Case]) -> Option<Vec<(u8, String)>> {
    let lines: Vec<String> =
        cases.iter().map(|case| serde_json::json!([case.0, case.1, case.2]).to_string()).collect();
    let verdicts = anyorder_testkit::python_verdicts(&lines)?;
    Some(verdicts.iter().map(|line| serde_json::from_str(line).expect("a verdict")).collect())
}
