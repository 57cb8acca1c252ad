//! Predictions: on a terminal and on a page, with a witness, and without.

use anyorder_finding::run::{Comparison, Mark, Run, RunPlace, RunStep, Runs};
use anyorder_finding::{
    ExplanationStep, Finding, Harm, Kind, Outcome, Policy, Severity, Site, Stat, Witness,
    WitnessPlace, assign_ids, option,
};
use anyorder_report::{html, terminal};

fn step(lane: &str, what: &str, number: u32, mark: Option<Mark>) -> RunStep {
    RunStep {
        lane: lane.to_owned(),
        what: what.to_owned(),
        place: Some(RunPlace {
            file: "queue.c".to_owned(),
            line: Some(number * 3),
            ..RunPlace::default()
        }),
        number: Some(number.to_string()),
        mark,
        ..RunStep::default()
    }
}

/// A consumer uses a queue that main has freed.
fn run(lanes: u32) -> Run {
    let use_it = step("consumer", "read 0x7f10+8", 31, Some(Mark::First));
    let free = step("main", "free 0x7f10+48", 40, Some(Mark::Second));
    let mut steps = vec![RunStep { left_out: 12, ..step("main", "fork consumer", 13, None) }];
    steps.extend((0..lanes).map(|n| step(&format!("worker-{n}"), "acquire m", 20 + n, None)));
    let mut before = Run { steps: steps.clone(), by_lane: true, ..Run::default() };
    before.steps.extend([use_it.clone(), free.clone()]);
    steps.extend([free, use_it]);
    let compared = Comparison {
        before,
        before_title: "As recorded".to_owned(),
        after_title: "Another order of these events".to_owned(),
        first: "read 0x7f10+8 at queue.c:93".to_owned(),
        second: "free 0x7f10+48 at queue.c:120".to_owned(),
        ..Comparison::default()
    };
    let end = "free 0x7f10+48 (main) comes before read 0x7f10+8 (consumer)".to_owned();
    Run { steps, end, compared: Some(Box::new(compared)), by_lane: true, ..Run::default() }
}

fn finding() -> Finding {
    let site = |task: &str, access: &str, event: &str, line| Site {
        file: Some("queue.c".to_owned()),
        line: Some(line),
        event: Some(event.to_owned()),
        task: Some(task.to_owned()),
        thread: Some(task.to_owned()),
        location: Some("0x7f10+8".to_owned()),
        access: Some(access.to_owned()),
        ..Site::default()
    };
    let said = |rule: &str, text: &str| ExplanationStep {
        rule: Some(rule.to_owned()),
        ..ExplanationStep::new(text)
    };
    let consumer = Site {
        locks: vec!["m".to_owned()],
        stack: vec!["queue.c:93 in pop".to_owned(), "worker.c:7 in consume".to_owned()].into(),
        ..site("consumer", "read", "31", 93)
    };
    Finding {
        category: Some("use_after_free".to_owned()),
        severity: Severity::Error,
        title: "`0x7f10+8` can be read by `consumer` after it is freed".to_owned(),
        sites: vec![consumer, site("main", "free", "40", 120)],
        pairs: vec![["31".to_owned(), "40".to_owned()]],
        pairs_total: 3,
        confirmed: Some(true),
        form: Some("last".to_owned()),
        explanation: vec![
            said("locks", "held at the first: `m`; at the second: no lock"),
            said("witness", "another run of the same events has them the other way round"),
            said("missed", "the analysis takes the two for ordered: 31 before 39 (section of `m`)"),
            said("hint", "`main` joins `consumer` only at event 44, after the free: join first"),
        ],
        witness: Some(Witness {
            format: "reordering".to_owned(),
            place: WitnessPlace::Path("w.json".to_owned()),
        }),
        ..Finding::new(Kind::OrderViolation)
    }
}

/// The confirmed finding, one that was not tried, and one that does no harm.
fn outcome() -> Outcome {
    let mut outcome = Outcome::new("predict", "0.1.0");
    let open = Finding {
        severity: Severity::Note,
        confirmed: None,
        form: None,
        filters: vec!["unconfirmed".to_owned()],
        witness: None,
        title: "write and write of `x` can happen in either order".to_owned(),
        category: Some("multi_threaded".to_owned()),
        sites: Vec::new(),
        explanation: vec![ExplanationStep {
            rule: Some("unconfirmed".to_owned()),
            ..ExplanationStep::new("no witness was looked for")
        }],
        ..Finding { kind: Kind::Race, ..finding() }
    };
    let tried = Finding { confirmed: Some(false), title: "tried".to_owned(), ..open.clone() };
    let guarded = Finding {
        severity: Severity::Note,
        harm: Harm::Harmless,
        harm_class: Some("guarded".to_owned()),
        category: Some("guarded".to_owned()),
        title: "read and write of `n`, under one lock, can happen in either order".to_owned(),
        ..finding()
    };
    outcome.findings = vec![finding(), open, tried, guarded];
    assign_ids(&mut outcome.findings);
    let counts = [("events", 60_u64), ("candidates", 7), ("confirmed", 4), ("dropped", 1)];
    for (name, n) in counts.into_iter().chain([("unconfirmed", 2)]) {
        outcome.stats.keep(name, Stat::from(n));
    }
    outcome.cut_by(option::MAX_TRIES);
    outcome.judge(&policy());
    outcome
}

fn policy() -> Policy {
    Policy { filters: vec!["unconfirmed".to_owned()], ..Policy::default() }
}

fn text(lanes: u32, width: usize) -> String {
    let outcome = outcome();
    let runs: Runs = [(outcome.findings[0].id.clone(), run(lanes))].into_iter().collect();
    let options = terminal::TextOptions { width, ..terminal::TextOptions::default() };
    let mut out = Vec::new();
    terminal::write(&outcome, &policy(), &runs, &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn terminal_with_a_column_for_each_thread() {
    insta::assert_snapshot!(text(1, 90));
}

#[test]
fn terminal_with_more_threads_than_fit() {
    let text = text(12, 80);
    assert!(text.contains("runs on") && text.contains("worker-11"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn only_what_is_confirmed_counts() {
    let policy = policy();
    let counts: Vec<bool> = outcome().findings.iter().map(|f| policy.counts(f)).collect();
    assert_eq!(counts, [true, false, false, false]);
    let strict = Policy { strict: true, ..policy };
    assert!(outcome().findings.iter().all(|f| strict.counts(f)));
}

#[test]
fn html_with_both_orders() {
    let outcome = outcome();
    let runs: Runs = [(outcome.findings[0].id.clone(), run(1))].into_iter().collect();
    let mut out = Vec::new();
    let options = html::HtmlOptions::default();
    html::write(&outcome, &policy(), None, &runs, &options, &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    let from = page.find("id=\"f1\"").expect("the first finding");
    let to = page.find("id=\"f2\"").expect("the second finding");
    insta::assert_snapshot!(page[from..to].replace("><", ">\n<"));
    assert_eq!(page.matches("<span class=\"chip open\">unconfirmed</span>").count(), 2);
    for tile in ["candidates", "confirmed", "dropped", "unconfirmed"] {
        assert!(page.contains(&format!("<span class=\"what\">{tile}</span>")), "{tile}");
    }
}
