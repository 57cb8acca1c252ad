//! Reversals on the models of the gallery: the bugs are found, and no repair alarms.

use super::{json, wrong};
use crate::common::{run, workspace};

/// The models without a bug, or with one that reversals cannot find: it takes an endless run.
const OTHERS: [&str; 6] = [
    "counter-and-spinner",
    "news",
    "slide-show",
    "slide-show-six",
    "starved-writer",
    "two-phase-commit-symmetric",
];

/// Bugs that need more runs than this test makes.
const LATE: [&str; 2] = ["dining-philosophers", "two-phase-commit"];

#[test]
fn reversals_find_the_bugs_of_the_gallery_and_no_repair_alarms() {
    let folder = workspace().join("examples/models");
    let names = std::fs::read_dir(folder).expect("the gallery").filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        Some(name.strip_suffix(".any")?.to_owned())
    });
    let mut names: Vec<String> = names.filter(|name| !LATE.contains(&name.as_str())).collect();
    names.sort();
    let (mut found, mut missed, mut fixed) = (0, Vec::new(), 0);
    for name in names.iter().filter(|name| !OTHERS.contains(&name.as_str())) {
        let model = format!("examples/models/{name}.any");
        // A count, so that the result is the same everywhere.
        let limit = ["--max-executions", "1200", "--budget", "60s", "--max-steps", "200"];
        let explore = ["explore", &model, "--algorithm", "r4", "-q", "--format", "json"];
        let value = json(&run(&[&explore[..], &limit].concat()));
        let violations = wrong(&value).iter().filter(|one| one["kind"] != "race").count();
        if name.ends_with("-fixed") {
            assert_eq!(wrong(&value).len(), 0, "{name}: {value}");
            fixed += 1;
        } else if violations > 0 {
            found += 1;
        } else {
            missed.push(name);
        }
    }
    println!("{found} bugs found, {missed:?} missed; {fixed} repairs without an alarm");
    assert!(found >= 20 && missed.is_empty() && fixed >= 20);
}
