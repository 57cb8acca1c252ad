use crate::outside::{node, rewrite};
use anyorder_webscript::{Kind, LOG_JS};
use serde_json::Value;
use std::fs;

/// What a comparison saw.
pub(super) struct Seen {
    /// Records of accesses.
    pub(super) records: u64,
    /// Programs that end in an error.
    pub(super) errors: Vec<Value>,
    /// Lines that the programs put out.
    pub(super) lines: u64,
}

/// Runs programs (functions of `out`, as expressions) in both forms, with a change made to the
/// rewritten one, and returns the numbers of those that differ; `None` if there is no node.
pub(super) fn differing(
    programs: &[String],
    change: impl Fn(String) -> String,
) -> Option<(Vec<(usize, String)>, Seen)> {
    let folder = tempfile::tempdir().expect("a folder");
    let pairs: Vec<[String; 2]> =
        programs.iter().map(|text| [text.clone(), change(rewrite(text, Kind::Classic))]).collect();
    let (runtime, list) = (folder.path().join("log.js"), folder.path().join("pairs.json"));
    fs::write(&runtime, LOG_JS).expect("the runtime");
    fs::write(&list, serde_json::to_string(&pairs).expect("JSON")).expect("the pairs");
    let text = node(include_str!("runner.js"), &[&runtime, &list])?;
    let result: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    let wrong = result["wrong"].as_array().expect("a list").iter();
    let wrong = wrong.map(|one| {
        let number = usize::try_from(one["number"].as_u64().expect("a number")).expect("an index");
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        (number, format!("without:\n{}\nwith:\n{}", text("natural"), text("mine")))
    });
    assert_eq!(result["broken"], serde_json::json!([]), "programs that do not parse");
    assert_eq!(result["lost"], 0, "the log failed");
    let count = |name: &str| result[name].as_u64().expect("a count");
    Some((
        wrong.collect(),
        Seen {
            records: count("records"),
            errors: result["errors"].as_array().expect("a list").clone(),
            lines: count("lines"),
        },
    ))
}

/// Runs programs in both forms; fails if one differs.
pub(super) fn compare(programs: &[String]) -> Option<Seen> {
    let (wrong, seen) = differing(programs, |text| text)?;
    if let Some((number, difference)) = wrong.first() {
        let text = &programs[*number];
        let mine = rewrite(text, Kind::Classic);
        panic!("{} differ; the first:\n{text}\n{mine}\n{difference}", wrong.len());
    }
    Some(seen)
}
