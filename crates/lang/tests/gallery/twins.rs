//! Pairs: the fix is enough, and it is needed.

use crate::gallery::files;
use crate::gallery::fix::{body, without};
use crate::gallery::run::{full, machine, summary, verdict};
use anyorder_search::SearchOptions;

#[test]
fn there_are_fifteen_pairs_or_more() {
    assert!(files::pairs().len() >= 15);
}

#[test]
fn fixed_twins_are_clean() {
    for (broken, fixed) in files::pairs() {
        let found = verdict(&full(
            &fixed.name,
            &machine(&fixed.name, &fixed.text),
            &SearchOptions::default(),
        ));
        assert_eq!(found, "clean", "{}", fixed.name);
        assert!(!broken.expected().starts_with("clean"), "{}", broken.name);
    }
}

#[test]
fn twins_fail_again_without_their_fix() {
    for (broken, fixed) in files::pairs() {
        let text = without(&fixed.text);
        assert_ne!(text, fixed.text, "{}: no fix is marked", fixed.name);
        let found = full(&fixed.name, &machine(&fixed.name, &text), &SearchOptions::default());
        assert!(!found.violations.is_empty(), "{}: clean without its fix", fixed.name);
        assert_eq!(summary(&found), broken.expected(), "{}", fixed.name);
        // Twins differ in the fix alone.
        assert_eq!(body(&text), body(&broken.text), "{}", fixed.name);
    }
}
