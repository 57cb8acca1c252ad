//! Events whose names repeat: what is found does not depend on how a trace names its events, and
//! each name in a result is that of one event.

use anyorder_common::random::{Random as _, Rng};
use anyorder_drive::{
    CheckTraceOptions, JobControl, JobResult, PredictOptions, RobustTraceOptions, TraceInput,
    check_trace, predict, robust_trace, why,
};
use anyorder_finding::Finding;
use anyorder_system::Control;
use anyorder_testkit::{Shape, random_trace};
use anyorder_trace::{
    EventId, EventKind, LabelScheme, Mailbox, Mode, Problems, Trace, TraceBuilder,
};
use std::collections::BTreeSet;

/// Traces of each kind.
const TRACES: u64 = 60;

/// How often each shape occurred.
#[derive(Default, Debug)]
struct Tally {
    findings: u64,
    /// Pairs with an event whose name repeats.
    repeated: u64,
    confirmed: u64,
    refuted: u64,
    explained: u64,
}

/// The same trace with names from a few words, or with numbers that repeat.
fn renamed(trace: &Trace, rng: &mut Rng, scheme: LabelScheme) -> Trace {
    let (mut tables, mut columns) = (trace.tables().clone(), trace.columns().clone());
    tables.meta.labels = scheme;
    let words = 1 + rng.index(trace.len().max(2));
    columns.numbers = (0..trace.len())
        .map(|_| match scheme {
            // Any names of the table will do.
            LabelScheme::Name => rng.index(tables.names.len().min(words).max(2)) as u32,
            _ => rng.index(words) as u32,
        })
        .collect();
    Trace::new(tables, columns)
}

/// Threads that access variables, some of them under a lock.
fn threads(rng: &mut Rng) -> Trace {
    let mut b = TraceBuilder::new();
    let handlers = ["main", "a", "b"].map(|name| b.handler(name, Mailbox::None).expect("room"));
    let tasks = handlers.map(|handler| b.initial(handler));
    b.write(tasks[0], "x").expect("room");
    for handler in &handlers[1..] {
        b.on_handler(tasks[0], EventKind::Fork, *handler);
    }
    for _ in 0..3 + rng.index(5) {
        let task = tasks[rng.index(3)];
        let guarded = rng.percent(40);
        if guarded {
            b.acquire(task, "m", Mode::EXCLUSIVE).expect("room");
        }
        for _ in 0..1 + rng.index(2) {
            let name = ["x", "y"][rng.index(2)];
            match rng.percent(50) {
                true => b.read(task, name).expect("room"),
                false => b.write(task, name).expect("room"),
            };
        }
        if guarded {
            b.release(task, "m", Mode::EXCLUSIVE).expect("room");
        }
    }
    b.finish()
}

fn input(trace: Trace) -> Option<TraceInput> {
    TraceInput::new("t", trace, &Problems::default(), &Control::default()).ok()
}

/// What a result says of its findings, with events in the place of names.
fn said(trace: &Trace, result: &JobResult) -> Vec<(String, Option<bool>, Vec<[EventId; 2]>)> {
    let of = |finding: &Finding| {
        let event = |name: &String| {
            trace.find(name).unwrap_or_else(|| panic!("`{name}` names no event, or several"))
        };
        let pairs = finding.pairs.iter().map(|pair| [event(&pair[0]), event(&pair[1])]);
        finding.sites.iter().filter_map(|site| site.event.as_ref()).for_each(|name| {
            event(name);
        });
        (without_events(&finding.title), finding.confirmed, pairs.collect())
    };
    result.findings.iter().map(|reported| of(&reported.finding)).collect()
}

/// A title in which code between tasks is not told by the name of its first event.
fn without_events(title: &str) -> String {
    let mut parts = title.split("from event ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('`').map_or("", |(_, rest)| rest))
}

/// Checks that `why` with the names of a pair explains that pair.
fn explains(input: &TraceInput, finding: &Finding, tally: &mut Tally) {
    let Some([a, b]) = finding.pairs.first() else { return };
    let answer = why(input, [a, b], None, None, &Control::default()).expect("two events");
    let answer = answer.expect("not stopped");
    let named = [a, b].map(|name| input.trace.find(name).expect("one event"));
    assert_eq!(BTreeSet::from([answer.first, answer.second]), BTreeSet::from(named));
    tally.explained += 1;
    tally.repeated += u64::from([a, b].into_iter().any(|name| name.starts_with('@')));
}

#[test]
fn what_is_found_does_not_depend_on_the_names_of_events() {
    let (mut rng, mut tally, control) = (Rng::new(7), Tally::default(), JobControl::default());
    for seed in anyorder_testkit::effort::seeds(TRACES) {
        let plain = match seed % 4 {
            0 | 1 => random_trace(seed, &Shape::tiny()),
            _ => threads(&mut rng),
        };
        let scheme = [LabelScheme::Name, LabelScheme::Line][seed as usize % 2];
        let other = renamed(&plain, &mut rng, scheme);
        let (Some(plain), Some(other)) = (input(plain), input(other)) else { continue };
        let jobs: [&dyn Fn(&TraceInput) -> JobResult; 3] = [
            &|input| check_trace(input, &CheckTraceOptions::default(), &control).expect("a trace"),
            &|input| predict(input, &PredictOptions::default(), &control).expect("a trace").result,
            &|input| {
                robust_trace(input, &RobustTraceOptions::default(), &control).expect("a trace")
            },
        ];
        for job in jobs {
            let (expected, found) = (job(&plain), job(&other));
            let expected = said(&plain.trace, &expected);
            assert_eq!(said(&other.trace, &found), expected, "seed {seed}, {scheme:?}");
            tally.findings += expected.len() as u64;
            for (_, confirmed, _) in expected {
                tally.confirmed += u64::from(confirmed == Some(true));
                tally.refuted += u64::from(confirmed == Some(false));
            }
            for reported in &found.findings {
                explains(&other, &reported.finding, &mut tally);
            }
        }
    }
    println!("{tally:?}");
    let Tally { findings, repeated, confirmed, explained, .. } = tally;
    assert!(findings > 50 && repeated > 50 && confirmed > 10 && explained > 50, "{tally:?}");
}
