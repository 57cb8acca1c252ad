//! The running example of the paper (its figure 1), end to end.

use crate::common::{ByHand, example, factory, has_browser, run, start, text};
use anyorder_explore::r4::{Outcome, ReversalOptions, Verdict, explore};
use anyorder_system::{Choice, Control, ProgramIdentity, Schedule};
use anyorder_web::{Rewriter, Unchanged};
use std::sync::Arc;

const IMAGE2: &str = "load/script@%2Fstats.js/image@%2Fimage2.png";
const IMAGE3: &str = "load/script@%2Fstats.js/image@%2Fimage3.png";
const CLICK1: &str = "click@%23next";
const CLICK2: &str = "click@%23next#1";
const TIMER1: &str = "click@%23next/timeout@(page):16";
const TIMER2: &str = "click@%23next#1/timeout@(page):16";
const BEFORE: [&str; 3] = ["load", "load/image@%2Fimage1.png", "load/script@%2Fstats.js"];

fn plan<'a>(events: &[&'a str]) -> Vec<&'a str> {
    BEFORE.iter().chain(events).copied().collect()
}

fn shown(html: &str) -> String {
    let images = ["image1", "image2", "image3"];
    let found = images.iter().filter(|image| html.contains(*image)).copied();
    found.collect::<Vec<&str>>().join(" ")
}

/// Q1 to Q7 of the paper. A run goes on until nothing is left: timers that the paper leaves out
/// come at the end.
#[test]
fn the_seven_sequences() {
    if !has_browser() {
        return;
    }
    let mut page = start("slides");
    let (e0, e1, e2, e3, e4) = (IMAGE2, CLICK1, CLICK2, IMAGE3, TIMER2);
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&[e0, e1, e2, e3, e4], &[e0, e1, e2, e3, e4], "image3"),
        (&[e0, e1, e2, e4, e3], &[e0, e1, e2, e4, e3, "again"], "image3"),
        (&[e0, e1, e3, e2, e4], &[e0, e1, e3, e2], "image3"),
        (&[e1, e0, e2, e3, e4], &[e1, e0, e2, e3, TIMER1], "image3"),
        (&[e0, e3, e1, e2], &[e0, e3, e1, e2], "image3"),
        (&[e1, e0, e3, e2], &[e1, e0, e3, e2, TIMER1], "image3"),
        (&[e1, e2, e0, e3], &[e1, e2, e0, e3, TIMER1, TIMER2], "image3"),
        // The images in the other order, which takes more reversals.
        (&[e3, e1, e0, e2], &[e3, e1, e0, e2], "image2"),
    ];
    let again = format!("{TIMER2}/timeout@(page):16");
    let mut outcomes = Vec::new();
    for (planned, ran, last) in cases {
        let (names, outcome) = run(&mut page, &plan(planned));
        let ran: Vec<&str> =
            ran.iter().map(|one| if *one == "again" { &again } else { *one }).collect();
        assert_eq!(names, plan(&ran), "{planned:?}");
        assert_eq!(shown(&text(&outcome, ["page", "html"])), *last, "{planned:?}");
        outcomes.push(outcome);
    }
    let (first, others) = outcomes.split_first().expect("outcomes");
    let (harmful, harmless) = others.split_last().expect("outcomes");
    for (index, other) in harmless.iter().enumerate() {
        assert_eq!(first.difference(other), [], "Q{}", index + 2);
    }
    let differences = first.difference(harmful);
    let paths: Vec<String> = differences.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, ["page/html", "page/pixels"]);
    assert_eq!(page.stats().late_requests, 0);
}

#[test]
fn ten_equal_runs_have_one_outcome() {
    if !has_browser() {
        return;
    }
    let mut page = start("slides");
    let planned = plan(&[CLICK1, IMAGE3, CLICK2, TIMER1, IMAGE2]);
    let first = run(&mut page, &planned);
    for _ in 0..10 {
        assert_eq!(run(&mut page, &planned), first);
    }
    assert_eq!((page.stats().browsers, page.stats().late_requests), (1, 0));
}

/// Logs the accesses to the queue of the example.
fn queue_log() -> Arc<dyn Rewriter> {
    Arc::new(ByHand(&[
        ("queue.push", "__log('queue', 3, queue).push"),
        ("queue.shift", "__log('queue', 3, queue).shift"),
        ("queue.length", "__log('queue', 1, queue).length"),
    ]))
}

fn explored(rewriter: Arc<dyn Rewriter>, options: &ReversalOptions) -> Outcome {
    let mut recording = Schedule::new(ProgramIdentity::new("http://localhost/"));
    let q1 = plan(&[IMAGE2, CLICK1, CLICK2, IMAGE3, TIMER2]);
    recording.choices = q1.iter().map(|one| Choice::of(crate::common::name(one))).collect();
    let options = ReversalOptions { recording: Some(recording), ..options.clone() };
    explore(&factory("slides", rewriter), &options, &Control::default()).expect("it explores")
}

fn reversals(outcome: &Outcome) -> Vec<(String, String, Verdict)> {
    let reversal = |run: &anyorder_explore::r4::RunInfo| {
        let reversal = run.reversal.as_ref()?;
        let verdict = run.comparison.as_ref().map_or(Verdict::Equivalent, |one| one.verdict);
        Some((reversal.first.to_string(), reversal.second.to_string(), verdict))
    };
    outcome.runs.iter().filter_map(reversal).collect()
}

/// The relevant conflicts of Q1 are exactly those of the paper, and all are harmless.
#[test]
fn one_reversal_finds_the_three_conflicts_of_the_paper() {
    if !has_browser() {
        return;
    }
    let outcome = explored(queue_log(), &ReversalOptions::default());
    let mut found = reversals(&outcome);
    found.sort();
    let mut expected = [(IMAGE2, CLICK1), (CLICK2, IMAGE3), (IMAGE3, TIMER2)]
        .map(|(first, second)| (first.to_owned(), second.to_owned()));
    expected.sort();
    let pairs: Vec<(String, String)> =
        found.iter().map(|(first, second, _)| (first.clone(), second.clone())).collect();
    assert_eq!(pairs, expected, "{found:#?}");
    assert!(found.iter().all(|(.., verdict)| !verdict.is_harmful()), "{found:#?}");
    assert_eq!(outcome.findings, []);
    assert!(outcome.complete);
}

/// The paper's system with real timers has nine sequences with two reversals, by an oracle of its
/// own (all sequences by brute force), and all end as the first one.
#[test]
fn two_reversals_give_nine_sequences() {
    if !has_browser() || anyorder_testkit::effort::effort() == 1 {
        return;
    }
    let options = ReversalOptions { bound: Some(2), ..ReversalOptions::default() };
    let outcome = explored(queue_log(), &options);
    let found = reversals(&outcome);
    assert_eq!(outcome.runs.len(), 9, "{found:#?}");
    assert!(found.iter().all(|(.., verdict)| !verdict.is_harmful()), "{found:#?}");
}

/// Without a log there are no conflicts, and the driver sees only what it enables itself.
#[test]
fn without_a_log_only_enabling_is_known() {
    if !has_browser() {
        return;
    }
    let outcome = explored(Arc::new(Unchanged), &ReversalOptions::default());
    assert_eq!(reversals(&outcome), []);
    assert!(!outcome.reports_data());
    assert!(example("slides").join("index.html").exists());
}
