//! The engine over pages: one reversal finds the mistakes, and none in the guarded twin.

use crate::common::{ByHand, factory, has_browser};
use anyorder_explore::r4::{FindingKind, Found, Outcome, ReversalOptions, Verdict, explore};
use anyorder_system::Control;
use std::sync::Arc;

type Replacements = &'static [(&'static str, &'static str)];

const RESULTS: Replacements = &[
    ("results.textContent = text", "__log('results', 2), results.textContent = text"),
    ("own === last", "own === __log('last', 1, last)"),
    ("++last", "__log('last', 3, ++last)"),
];

const SCRIPT: Replacements = &[("document.get", "__log('#name.value', 2), document.get")];

fn explored(name: &str, replacements: Replacements) -> Outcome {
    let factory = factory(name, Arc::new(ByHand(replacements)));
    explore(&factory, &ReversalOptions::default(), &Control::default()).expect("it explores")
}

fn shown(found: &Found) -> (String, String) {
    let reversal = found.reversal.as_ref().expect("a reversal");
    (reversal.first.to_string(), reversal.second.to_string())
}

fn differing(outcome: &Outcome, found: &Found) -> Vec<String> {
    let run = &outcome.runs[found.run.expect("a run")];
    let differences = &run.comparison.as_ref().expect("a comparison").differences;
    differences.iter().map(|one| one.path.to_string()).collect()
}

#[test]
fn a_stale_response_is_found() {
    if !has_browser() {
        return;
    }
    let outcome = explored("search", RESULTS);
    assert!(outcome.complete && outcome.reports_data());
    assert_eq!(outcome.findings.len(), 1, "{:#?}", outcome.findings);
    let found = &outcome.findings[0];
    assert_eq!((&found.kind, found.confirmed), (&FindingKind::Harmful, Some(true)));
    let first = "type@%23query%20a/fetch@%2Fsearch?q=a".to_owned();
    let second = "type@%23query%20b/fetch@%2Fsearch?q=ab".to_owned();
    assert_eq!(shown(found), (first, second));
    assert_eq!(differing(&outcome, found), ["page/html", "page/pixels", "page/text"]);
}

#[test]
fn the_guarded_page_has_no_finding() {
    if !has_browser() {
        return;
    }
    let outcome = explored("search_guarded", RESULTS);
    assert_eq!(outcome.findings, []);
    assert!(outcome.complete && outcome.runs.len() > 1, "{} runs", outcome.runs.len());
    let verdicts = outcome.runs.iter().filter_map(|run| Some(run.comparison.as_ref()?.verdict));
    assert!(verdicts.into_iter().all(|verdict| verdict == Verdict::Equivalent));
}

#[test]
fn a_script_that_overwrites_what_the_user_typed_is_found() {
    if !has_browser() {
        return;
    }
    let outcome = explored("late_script", SCRIPT);
    assert_eq!(outcome.findings.len(), 1, "{:#?}", outcome.findings);
    let found = &outcome.findings[0];
    let expected = ("load/script@%2Fprepare.js".to_owned(), "type@%23name%20x".to_owned());
    assert_eq!((shown(found), found.confirmed), (expected, Some(true)));
    assert!(differing(&outcome, found).contains(&"fields/#name".to_owned()));
}
