//! Searches that are resumed from the checkpoint of a stopped one.

use crate::polls::harness::INTERRUPT;
use crate::polls::models::model;
use anyorder_drive::JobResult;
use anyorder_drive::model::{Model, check_model};
use anyorder_drive::states::{Algorithm, CheckOptions, Order, Storage};
use anyorder_system::{Cancel, Control};
use std::path::PathBuf;

/// The polls at which a search is stopped: all of a small one, a spread of a larger one.
const STOPS_MAX: u64 = 15;

/// A file that is removed with its value.
struct Saved(PathBuf);

impl Drop for Saved {
    fn drop(&mut self) {
        // A search that ended before its first pause has no file.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn saved(name: &str) -> Saved {
    Saved(
        PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("polls-{name}-{}", std::process::id())),
    )
}

fn searched(model: &Model, options: &CheckOptions, cancel: &Cancel) -> JobResult {
    let control = Control { cancel: cancel.clone(), ..Control::default() };
    check_model(model, options, &(&control).into()).expect("a search").result
}

/// The counts of a search that do not depend on where it was cut.
fn counts(result: &JobResult) -> (Vec<String>, Vec<(String, String)>) {
    let titles = result.findings.iter().map(|found| found.finding.title.clone()).collect();
    let varies = |name: &str| name.contains("memory") || name.contains("bytes");
    let stats = result.stats.iter().filter(|(name, _)| !varies(name));
    (titles, stats.map(|(name, value)| (name.to_string(), format!("{value:?}"))).collect())
}

#[test]
fn a_resumed_search_ends_with_the_same_counts() {
    let full = CheckOptions { algorithm: Some(Algorithm::Full), ..CheckOptions::default() };
    let variants = [
        ("fingerprints", full.clone()),
        ("exact", CheckOptions { storage: Storage::Exact, ..full.clone() }),
        ("first", CheckOptions { first: true, ..full.clone() }),
        ("depth", CheckOptions { depth_max: Some(9), ..full.clone() }),
        ("depth-first", CheckOptions { order: Order::Depth, ..full.clone() }),
        ("symmetry", CheckOptions { symmetry: true, ..full.clone() }),
    ];
    let (mut stops, mut cuts) = (0_u64, 0_u64);
    for name in
        ["dining-philosophers", "lost-wake-up", "starved-writer", "two-phase-commit-symmetric"]
    {
        let model = model(name);
        for (variant, options) in &variants {
            let counted = Cancel::after_polls(u64::MAX >> 1);
            if check_model(
                &model,
                options,
                &Control { cancel: counted.clone(), ..Control::default() }.into(),
            )
            .is_err()
            {
                continue;
            }
            let whole = searched(&model, options, &Cancel::new());
            let polls = (u64::MAX >> 1) - counted.polls_left();
            let file = saved(&format!("{name}-{variant}"));
            for poll in (0..polls).step_by(
                usize::try_from(polls.div_ceil(anyorder_testkit::effort::cases(STOPS_MAX)).max(1))
                    .expect("few"),
            ) {
                stops += 1;
                let stopping = CheckOptions { checkpoint: Some(file.0.clone()), ..options.clone() };
                let part = searched(&model, &stopping, &Cancel::after_polls(poll));
                let what = format!("{name}, {variant}, stopped at poll {poll} of {polls}");
                if !part.limits.iter().any(|limit| limit == INTERRUPT) {
                    assert_eq!(counts(&part), counts(&whole), "{what}: not cut, and not whole");
                    continue;
                }
                if !file.0.exists() {
                    // Stopped while it made the initial states: there is nothing to resume.
                    assert!(part.stats.get("states").is_none(), "{what}: no checkpoint");
                    continue;
                }
                cuts += 1;
                let resuming = CheckOptions { resume: Some(file.0.clone()), ..options.clone() };
                let resumed = searched(&model, &resuming, &Cancel::new());
                let is_depth_first = options.order == Order::Depth;
                compare(&counts(&resumed), &counts(&whole), is_depth_first, &what);
            }
        }
    }
    println!("{stops} stops, {cuts} searches resumed");
    assert!(cuts > 100, "only {cuts} of {stops} searches were cut");
}

/// Depth-first, the depth and the width of a search depend on where it was cut.
fn compare(
    resumed: &(Vec<String>, Vec<(String, String)>),
    whole: &(Vec<String>, Vec<(String, String)>),
    is_depth_first: bool,
    what: &str,
) {
    let counted =
        |name: &str| !is_depth_first || !(name.contains("depth") || name.contains("width"));
    let of = |stats: &[(String, String)]| -> Vec<(String, String)> {
        stats.iter().filter(|(name, _)| counted(name)).cloned().collect()
    };
    assert_eq!(resumed.0, whole.0, "{what}: the findings of the resumed search");
    assert_eq!(of(&resumed.1), of(&whole.1), "{what}: the counts of the resumed search");
}
