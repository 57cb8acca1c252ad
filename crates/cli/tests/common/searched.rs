//! Checks models by several searches, and replays and certifies what they find.

use super::{Ran, file, folder, run};
use serde_json::Value;

/// Parses the result of a command.
pub(crate) fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Checks a model by each search; they must agree. Returns kind and id of each finding, sorted.
pub(crate) fn found(body: &str, searches: &[&[&str]]) -> Vec<(String, String)> {
    let folder = folder();
    let model = file(&folder, "m.any", format!("model m\n{body}\n"));
    let mut all: Vec<Vec<(String, String)>> = Vec::new();
    for options in searches {
        let ran = run(&[&["check", &*model, "--format", "json"], *options].concat());
        let result = json(&ran);
        assert_eq!(result["complete"], true, "{body}: {ran:?}");
        let mut found = Vec::new();
        for finding in result["findings"].as_array().expect("findings") {
            assert_eq!(finding["confirmed"], true, "{finding}");
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            found.push((text("kind"), text("id")));
        }
        let stored = file(&folder, "r.json", &ran.stdout);
        for (_, id) in &found {
            let replayed = run(&["replay", &model, &stored, "--finding", id]);
            assert_eq!(replayed.status, 1, "{body}: {replayed:?}");
        }
        if !found.is_empty() {
            let certified = run(&["certify", &model, &stored]);
            assert_eq!(certified.status, 0, "{body}: {certified:?}");
        }
        found.sort();
        all.push(found);
    }
    assert!(all.iter().all(|one| *one == all[0]), "{body}: {all:?}");
    all.swap_remove(0)
}
