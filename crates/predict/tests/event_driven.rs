//! Event-driven EDC: against the streaming engine where tasks have only one order, on hand-made
//! traces, and on recorded ones.

use crate::common;

use anyorder_common::random::Rng;
use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_hb::{CoverageLevel, RuleSet, races};
use anyorder_predict::{
    CandidateOptions, Conditions, EdcAnalysis, EventDriven, MemoryOnly, Report, Specification,
    ViolationKind, event_driven,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::random_sections;
use anyorder_trace::{Mailbox, Mode, Trace, TraceBuilder};
use common::generate::{Shape, trace};
use common::{analyse, show};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

fn found(t: &Trace, rules: RuleSet, specification: &mut impl Specification) -> EventDriven {
    let options = CandidateOptions { violations_max: usize::MAX, ..CandidateOptions::default() };
    event_driven(t, rules, specification, &options, &Control::default()).expect("nobody cancels")
}

/// The second events of the racy pairs. Accesses with the same races count as one: only the first
/// is listed.
fn seconds(report: &Report, kind: ViolationKind) -> BTreeSet<u64> {
    report.violations.iter().filter(|v| v.kind == kind).map(|v| v.second.event).collect()
}

/// With the rule set `threads`, event-driven EDC is EDC.
#[test]
fn threads_give_the_candidates_of_the_streaming_engine() {
    let (mut racy, mut non_racy, mut not_in_edc) = (0, 0, 0);
    for seed in 1..=3_000 {
        let mut rng = Rng::new(7_000_000 + seed);
        let shape = Shape::small(&mut rng);
        let t = trace(&mut rng, shape);
        let ours = found(&t, RuleSet::Threads, &mut Conditions).report;
        let options =
            CandidateOptions { violations_max: usize::MAX, ..CandidateOptions::default() };
        let theirs = analyse(&t, &mut EdcAnalysis::new(Conditions, options));
        assert_eq!(ours.counts.racy_seconds, theirs.counts.racy_seconds, "{}", show(&t));
        let kind = ViolationKind::Racy;
        let listed = seconds(&ours, kind);
        assert!(listed.is_subset(&seconds(&theirs, kind)), "{}", show(&t));
        let kind = ViolationKind::NonRacy;
        let (listed, edc) = (seconds(&ours, kind), seconds(&theirs, kind));
        non_racy += listed.len();
        not_in_edc += listed.difference(&edc).count();
        racy += ours.counts.racy_seconds;
    }
    println!(
        "{racy} second events, {non_racy} of non-racy candidates, {not_in_edc} of those not in EDC"
    );
    assert!(racy > 0 && non_racy > not_in_edc && not_in_edc > 0);
}

#[test]
fn every_race_is_a_racy_candidate() {
    let (mut more, mut all, mut candidates) = (0, 0, 0);
    for seed in 0..2_000 {
        let t = random_sections(seed);
        let hb = races(&t, RuleSet::Mailbox, CoverageLevel::Task, &Cancel::new());
        let hb = hb.expect("nobody cancels").len() as u64;
        let edc = found(&t, RuleSet::Mailbox, &mut MemoryOnly);
        assert!(edc.race_pairs >= hb, "seed {seed}");
        more += u64::from(edc.race_pairs > hb);
        all += u64::from(hb > 0);
        candidates += edc.report.counts.non_racy;
    }
    println!("{all} traces with races, {more} with more in EDC, {candidates} non-racy candidates");
    assert!(more > 0 && all > 0 && candidates > 0);
}

/// Two threads post to one mailbox, with the posts in sections of a lock. One of the tasks accesses
/// `x`.
fn posters(write_under_lock: bool) -> Trace {
    let mut b = TraceBuilder::new();
    let ui = b.handler("ui", Mailbox::Fifo).expect("room");
    let threads = ["net", "disk"].map(|name| b.handler(name, Mailbox::None).expect("room"));
    let tasks = ["reply", "saved"].map(|name| b.task(name, ui).expect("room"));
    for (thread, task) in threads.into_iter().zip(tasks) {
        let thread = b.initial(thread);
        b.acquire(thread, "log", Mode::EXCLUSIVE).expect("room");
        if write_under_lock {
            b.write(thread, "count").expect("room");
        }
        b.post(thread, task).expect("room");
        b.release(thread, "log", Mode::EXCLUSIVE).expect("room");
    }
    for task in tasks {
        b.get(task).expect("room");
        b.write(task, "document").expect("room");
        b.end(task).expect("room");
    }
    b.finish()
}

#[test]
fn tasks_are_in_order_only_where_the_sections_of_their_posts_do_not_commute() {
    let t = posters(false);
    let hb = races(&t, RuleSet::Mailbox, CoverageLevel::Task, &Cancel::new());
    assert_eq!(hb.expect("nobody cancels").len(), 0, "the lock was handed over");
    let edc = found(&t, RuleSet::Mailbox, &mut MemoryOnly).report;
    assert_eq!((edc.counts.racy, edc.counts.non_racy), (1, 0));

    // The sections write the same location: they are a separate candidate, and the order of the
    // tasks depends on theirs.
    let edc = found(&posters(true), RuleSet::Mailbox, &mut MemoryOnly).report;
    assert_eq!((edc.counts.racy, edc.counts.non_racy), (0, 1));
}

/// Locks order no tasks of one handler, however much their sections conflict.
#[test]
fn sections_of_one_handler_order_nothing() {
    let mut b = TraceBuilder::new();
    let ui = b.handler("ui", Mailbox::Fifo).expect("room");
    let threads = ["net", "disk"].map(|name| b.handler(name, Mailbox::None).expect("room"));
    let tasks = ["reply", "saved"].map(|name| b.task(name, ui).expect("room"));
    for (thread, task) in threads.into_iter().zip(tasks) {
        b.post(b.initial(thread), task).expect("room");
    }
    for task in tasks {
        b.get(task).expect("room");
        b.acquire(task, "lock", Mode::EXCLUSIVE).expect("room");
        b.write(task, "document").expect("room");
        b.release(task, "lock", Mode::EXCLUSIVE).expect("room");
        b.end(task).expect("room");
    }
    let edc = found(&b.finish(), RuleSet::Mailbox, &mut MemoryOnly).report;
    assert_eq!((edc.counts.racy, edc.counts.non_racy), (1, 0));
}

/// The second section uses a value of the first: they cannot be reversed.
#[test]
fn what_a_section_reads_of_another_keeps_them_in_order() {
    for reads in [false, true] {
        let mut b = TraceBuilder::new();
        let (ui, net) = (b.handler("ui", Mailbox::Fifo), b.handler("net", Mailbox::None));
        let (ui, net) = (ui.expect("room"), net.expect("room"));
        let task = b.task("show", ui).expect("room");
        let (main, net) = (b.initial(ui), b.initial(net));
        b.post(main, task).expect("room");
        b.acquire(net, "lock", Mode::EXCLUSIVE).expect("room");
        b.write(net, "reply").expect("room");
        b.release(net, "lock", Mode::EXCLUSIVE).expect("room");
        b.get(task).expect("room");
        b.acquire(task, "lock", Mode::EXCLUSIVE).expect("room");
        b.write(task, "reply").expect("room");
        if reads {
            b.read(task, "other").expect("room");
        }
        b.release(task, "lock", Mode::EXCLUSIVE).expect("room");
        b.end(task).expect("room");
        let edc = found(&b.finish(), RuleSet::Mailbox, &mut MemoryOnly).report;
        assert_eq!((edc.counts.racy, edc.counts.non_racy), (0, 1), "reads: {reads}");
    }
    let mut b = TraceBuilder::new();
    let threads = ["net", "disk"].map(|name| b.handler(name, Mailbox::None).expect("room"));
    let [net, disk] = threads.map(|thread| b.initial(thread));
    b.acquire(net, "lock", Mode::EXCLUSIVE).expect("room");
    b.write(net, "reply").expect("room");
    b.write(net, "length").expect("room");
    b.release(net, "lock", Mode::EXCLUSIVE).expect("room");
    b.acquire(disk, "lock", Mode::EXCLUSIVE).expect("room");
    b.write(disk, "reply").expect("room");
    b.read(disk, "length").expect("room");
    b.release(disk, "lock", Mode::EXCLUSIVE).expect("room");
    let edc = found(&b.finish(), RuleSet::Mailbox, &mut MemoryOnly).report;
    assert_eq!((edc.counts.racy, edc.counts.non_racy), (0, 0));
}

/// Numbers are of whole runs: of the pairs of accesses that race, and of candidates.
#[test]
fn recorded_android_runs() {
    for app in ["twitter", "RemindMe"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/droidracer");
        let text = std::fs::read(path.join(app).join("trace.txt")).expect("the log is there");
        let t = Trace::read(&mut DroidRacerReader::new(&text[..])).expect("the log is right");
        let start = Instant::now();
        let hb = races(&t, RuleSet::Android, CoverageLevel::Task, &Cancel::new());
        let (hb, hb_time) = (hb.expect("nobody cancels").len() as u64, start.elapsed());
        let start = Instant::now();
        let edc = found(&t, RuleSet::Android, &mut MemoryOnly);
        let time = start.elapsed();
        let c = edc.report.counts;
        println!(
            "{app}: {} events, {} acquires; happens-before: {hb} racing pairs ({hb_time:?}); EDC: {} racing pairs, {} racy \
             and {} non-racy candidates, {} ordered, {} undecided, {} stray releases ({time:?})",
            c.events,
            c.acquires,
            edc.race_pairs,
            c.racy,
            c.non_racy,
            c.ordered,
            c.undecided,
            c.stray_releases
        );
        assert!(edc.race_pairs >= hb && hb > 0, "{app}");
        assert_eq!(c.candidates_lost, 0, "{app}");
    }
}
