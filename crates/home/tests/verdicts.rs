//! What is found in the apps under `examples/home`: each conflict, and its repairs, which are
//! silent.

use anyorder_drive::JobControl;
use anyorder_drive::home::{HomeOptions, check_home};
use anyorder_drive::states::CheckOptions;

/// Returns the titles of the findings in a home with these apps, and what cut the search.
fn found(names: &[&str], options: &HomeOptions) -> (Vec<String>, usize) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/home");
    let read = |name: &&str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}.groovy")).expect(name);
        (format!("{name}.groovy"), text)
    };
    let apps: Vec<(String, String)> = names.iter().map(read).collect();
    let search = CheckOptions::default();
    let result = check_home(&apps, options, &search, &JobControl::default(), &mut ());
    let result = result.expect("a result");
    let titles = result.findings.iter().map(|one| one.finding.title.clone()).collect();
    (titles, result.limits.len())
}

fn check(names: &[&str], expected: &[&str]) {
    let (titles, cut) = found(names, &HomeOptions::default());
    assert_eq!(cut, 0, "{names:?} is searched whole");
    assert_eq!(titles.len(), expected.len(), "{names:?}: {titles:?}");
    for (title, part) in titles.iter().zip(expected) {
        assert!(title.contains(part), "{names:?}: {title} lacks {part}");
    }
}

#[test]
fn two_apps_fight_over_a_lamp_and_each_repair_is_silent() {
    check(&["welcome-light", "dark-night"], &["switch.switch"]);
    check(&["welcome-light", "dark-night-asks"], &[]);
    check(&["welcome-light", "night-light"], &[]);
    check(&["hall"], &[]);
}

#[test]
fn apps_that_answer_each_other_without_end_are_a_loop() {
    let (titles, _) = found(&["always-on", "always-off"], &HomeOptions::default());
    assert!(titles.iter().any(|title| title.contains("no loop of events")), "{titles:?}");
    check(&["always-on"], &[]);
    check(&["always-off"], &[]);
}

#[test]
fn a_door_must_not_be_unlocked_while_everybody_is_away() {
    check(&["unlock-on-motion"], &["unlocked-when-away"]);
    check(&["unlock-on-motion-at-home"], &[]);
    let without = HomeOptions { as_published: true, ..HomeOptions::default() };
    assert_eq!(found(&["unlock-on-motion"], &without).0, [""; 0]);
}

#[test]
fn a_timer_that_ends_later_is_a_conflict_with_whoever_lit_the_lamp() {
    check(&["welcome-light", "lights-out-later"], &["switch.switch"]);
    check(&["lights-out-later"], &[]);
}
