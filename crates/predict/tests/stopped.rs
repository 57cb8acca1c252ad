//! Analyses and checks that are stopped at each of their polls: what they report by then is part of
//! the full result.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_predict::check::{
    CheckOptions, Checked, Confirms, Facts, Order, PairResult, Subject, check, check_unconfirmed,
};
use anyorder_predict::{
    Analysis, Answer, CandidateOptions, ConfirmOptions, Confirmer, DeadlockOptions, EdcAnalysis,
    MemoryOnly, NoCommunication, OrderPaths, Report, SpecifiedCommunication, Types, run_until,
};
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::{EventId, EventKind, Invocation, Mailbox, Trace, TraceBlocks, TraceBuilder};
use common::nested::{Nest, nested};
use common::show;
use std::collections::BTreeSet;
use std::sync::Arc;

struct Search<'t>(Confirmer<'t>);

impl Confirms for Search<'_> {
    fn confirm(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> PairResult {
        match self.0.confirm(first, second, cancel) {
            Answer::Confirmed(witness) => PairResult::Confirmed(witness),
            Answer::Impossible => PairResult::Impossible,
            Answer::Unconfirmed(why) => PairResult::GaveUp(why),
        }
    }

    fn work(&self) -> u64 {
        self.0.stats().events
    }
}

fn engine() -> EdcAnalysis<MemoryOnly> {
    EdcAnalysis::new(MemoryOnly, CandidateOptions::default())
}

fn analysed(trace: &Trace, control: &Control<'_>) -> Report {
    let mut edc = engine();
    run_until(&mut TraceBlocks::new(trace), &mut [&mut edc], &control.cancel, |_| {})
        .expect("right");
    edc.finish()
}

fn checked(trace: &Trace, control: &Control<'_>) -> (Report, Checked) {
    let report = analysed(trace, control);
    let mut nothing = NoCommunication;
    let cancel = &control.cancel;
    let options = ConfirmOptions::default();
    let confirmer = Confirmer::new_until(trace, &mut nothing, options, cancel);
    let paths = OrderPaths::new_until(trace, MemoryOnly, cancel).ok();
    let subject = Subject {
        trace,
        report: &report,
        spec: MemoryOnly,
        order: Some(Order::Engine(&mut engine())),
        why: paths.as_ref(),
        extra: &[],
        is_known: &|_| false,
        so_far: &|_| (),
    };
    let mut search = Search(confirmer);
    let checked = check(subject, &mut search, &CheckOptions::default(), control).expect("right");
    (report, checked)
}

/// The pairs with a witness, those without one, and those that are proved to have none.
fn pairs(checked: &Checked) -> [BTreeSet<(u64, u64)>; 3] {
    let of = |wanted: usize| {
        let kind = |result: &PairResult| match result {
            result if result.form().is_some() => 0,
            PairResult::Impossible => 2,
            _ => 1,
        };
        let found = checked.pair_results.iter().filter(|(_, result)| kind(result) == wanted);
        found.map(|(pair, _)| (pair.first, pair.second)).collect()
    };
    [of(0), of(1), of(2)]
}

#[test]
fn what_is_reported_after_a_stop_is_part_of_the_full_result() {
    let (mut polls, mut stopped_with_findings, mut confirmed) = (0, 0, 0);
    for seed in 1..=80 {
        let mut rng = Rng::new(5_000_000 + seed);
        let mut nest = Nest::small(&mut rng);
        nest.events = 12 + rng.index(24);
        let t = nested(&mut rng, nest);
        let (full_report, full) = checked(&t, &Control::default());
        let [all_confirmed, _, all_impossible] = pairs(&full);
        let candidates: BTreeSet<(u64, u64)> =
            full.pair_results.iter().map(|(pair, _)| (pair.first, pair.second)).collect();
        confirmed += all_confirmed.len();
        for n in 0.. {
            let control = Control { cancel: Cancel::after_polls(n), ..Control::default() };
            let (report, stopped) = checked(&t, &control);
            let listed = report.violations.len();
            assert_eq!(report.violations, full_report.violations[..listed], "{n}:\n{}", show(&t));
            let [sure, open, impossible] = pairs(&stopped);
            assert!(sure.is_subset(&all_confirmed), "{n}:\n{}", show(&t));
            assert!(impossible.is_subset(&all_impossible), "{n}:\n{}", show(&t));
            assert!(open.is_subset(&candidates), "{n}:\n{}", show(&t));
            stopped_with_findings += usize::from(!stopped.found.is_empty());
            polls += 1;
            if stopped.stopped.is_none() {
                assert_eq!(stopped, full);
                break;
            }
            assert_eq!(stopped.stopped, Some(StopReason::Interrupted));
        }
    }
    println!("{polls} polls, {stopped_with_findings} with findings, {confirmed} confirmed");
    assert!(polls > 4_000 && stopped_with_findings > 1_000 && confirmed > 100);
}

#[test]
fn candidates_found_before_a_stop_are_listed_as_unconfirmed() {
    let mut rng = Rng::new(6_000_000);
    let nest = Nest { events: 400, ..Nest::small(&mut rng) };
    let t = nested(&mut rng, nest);
    let full = analysed(&t, &Control::default());
    assert!(full.violations.len() > 10);
    for n in (0..410).step_by(10) {
        let control = Control { cancel: Cancel::after_polls(n), ..Control::default() };
        let report = analysed(&t, &control);
        let facts = Facts::gather(&mut TraceBlocks::new(&t), Facts::wanted(&report), |_| {});
        let facts = Arc::new(facts.expect("right"));
        let options = CheckOptions::default();
        let checked = check_unconfirmed((t.tables(), &facts), &report, &options, &control.cancel);
        let pairs: u64 = checked.found.iter().map(|found| found.total).sum();
        assert_eq!(pairs, checked.statistics.candidates, "{n}");
        assert!(pairs > 0 || report.violations.is_empty(), "{n}");
        assert_eq!(checked.stopped, control.cancel.reason());
    }
}

/// Three threads that take turns: locks, reads and tests, permits, values of a channel, barriers.
fn all_in_turn(rounds: usize) -> Trace {
    let mut b = TraceBuilder::new();
    let tasks: Vec<_> = (0..3)
        .map(|at| {
            let handler = b.handler(&format!("T{at}"), Mailbox::None).expect("room");
            b.initial(handler)
        })
        .collect();
    let locks: Vec<_> = ["A", "B"]
        .into_iter()
        .map(|name| {
            let name = b.interner.name(name).expect("room");
            b.interner.lock(name).expect("room")
        })
        .collect();
    let branch = b.interner.name("branch").expect("room");
    let calls: Vec<_> = [("acquire", "semaphore:s"), ("release", "semaphore:s")]
        .into_iter()
        .map(|(method, object)| {
            let object = b.interner.name(object).expect("room");
            let method = b.interner.name(method).expect("room");
            let call = Invocation { object, method, arguments: Vec::new(), result: None };
            b.interner.push_invocation(call).expect("room")
        })
        .collect();
    for _ in 0..rounds {
        for task in &tasks {
            b.push(*task, EventKind::Acquire.into(), locks[0].0);
            b.push(*task, EventKind::Invoke.into(), calls[0].0);
            b.read(*task, "x").expect("room");
            b.push(*task, EventKind::Other.into(), branch.0);
            b.push(*task, EventKind::Invoke.into(), calls[1].0);
            b.push(*task, EventKind::Release.into(), locks[0].0);
            b.push(*task, EventKind::Acquire.into(), locks[1].0);
            b.push(*task, EventKind::Release.into(), locks[1].0);
        }
        for task in &tasks {
            b.on_condition(*task, EventKind::Barrier, "b").expect("room");
        }
    }
    b.finish()
}

/// Each pass over the events, calls or sections asks at least once in 4,096 of them whether the job
/// was stopped. One asks at each event: that is left out.
#[test]
fn every_pass_of_the_search_for_deadlocks_can_be_stopped() {
    let of_types = Types::built_in().expect("they are tested");
    let polls = |rounds: usize| {
        let trace = all_in_turn(rounds);
        let mut communication = SpecifiedCommunication::new(of_types.clone(), &trace);
        let most = 1 << 40;
        let cancel = Cancel::after_polls(most);
        let options = ConfirmOptions::default();
        let mut confirmer = Confirmer::new_until(&trace, &mut communication, options, &cancel);
        let prepared = most - cancel.polls_left();
        let control = Control { cancel: cancel.clone(), ..Control::default() };
        confirmer.deadlocks(&DeadlockOptions::default(), &mut |_, _| Ok(()), &control);
        [prepared - trace.len() as u64, most - cancel.polls_left() - prepared]
    };
    let (few, many) = (polls(2_000), polls(6_000));
    let more = [many[0] - few[0], many[1] - few[1]];
    println!("{few:?} {many:?} {more:?}");
    // What 108,000 more events, with 24,000 sections and as many calls, take: to prepare, and to
    // search. A pass that does not ask any more takes at least 5 away.
    assert!(more[0] >= 154 - 3 && more[1] >= 1_586 - 3, "{more:?}");
}
