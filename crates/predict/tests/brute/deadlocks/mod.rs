//! Deadlocks of small random runs against all their reorderings: none is missed, none is invented,
//! and those that keep the order of each lock are found without the solver.

mod barriers;
mod calls;
mod examples;
mod limits;
mod meetings;
mod monitors;
mod mutants;
mod naive;
mod objects;
mod programs;
mod races;
mod record;
mod semaphores;

use crate::brute::generate::{RandomSource, show};
use crate::brute::types::{TraceCalls, Types};
use anyorder_certify::{ClaimedDeadlock, Lanes, ReorderingChecker};
use anyorder_predict::{
    ConfirmOptions, Confirmer, DeadlockEvidence, DeadlockOptions, Deadlocks, Sabotage,
    SpecifiedCommunication, Types as StreamTypes, WaitsFor,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::sampled;
use anyorder_trace::{EventId, EventKind, NameId, Trace};
use naive::{Naive, Request, Shape, Threads, What, deadlocks, in_order};
use programs::{Family, run};
use std::collections::{BTreeMap, BTreeSet};

const STATES_MAX: usize = 20_000;

/// Runs the search, with the independent checker behind it.
fn search(trace: &Trace, what: &str) -> Deadlocks {
    let found = search_with(trace, Sabotage::None);
    assert_eq!((&*found.cuts, found.undecided), (&[][..], 0), "{what}");
    found
}

/// The same, with a fault in it.
fn search_with(trace: &Trace, sabotage: Sabotage) -> Deadlocks {
    search_by(trace, |confirmer| confirmer.with_fault(sabotage))
}

/// The same, by a search that was changed.
fn search_by(
    trace: &Trace,
    change: impl for<'a> FnOnce(Confirmer<'a>) -> Confirmer<'a>,
) -> Deadlocks {
    let of_types = StreamTypes::built_in().expect("they are tested");
    let mut communication = SpecifiedCommunication::new(of_types, trace);
    let options = ConfirmOptions { window: 0, ..ConfirmOptions::default() };
    let confirmer = Confirmer::new(trace, &mut communication, options);
    let types = Types::new();
    let calls = TraceCalls::new(&types, trace);
    let mut checker = ReorderingChecker::new(trace, &calls, Lanes::Handlers);
    change(confirmer).deadlocks(
        &DeadlockOptions::default(),
        &mut |requests, witness| {
            let (prefix, order) = (witness.prefix, witness.order.as_slice());
            let claimed = ClaimedDeadlock { requests, prefix, order };
            checker.check_deadlock(claimed, &Cancel::new()).map_err(|wrong| format!("{wrong:?}"))
        },
        &Control::default(),
    )
}

/// The requests of a deadlock, and which of them wait for a signal or a permit.
fn requests(one: &anyorder_predict::Deadlock) -> Vec<Request> {
    let is_signal = |of: WaitsFor| matches!(of, WaitsFor::Signal(_) | WaitsFor::Call { .. });
    one.requests.iter().map(|of| (of.event.index(), is_signal(of.waits_for))).collect()
}

/// What the search says: the shapes of deadlocks, and those found without the solver.
fn shapes(threads: &Threads<'_>, found: &Deadlocks) -> [BTreeSet<Shape>; 2] {
    let of = |only: bool| {
        let all = found.found.iter().filter(|one| match &one.evidence {
            DeadlockEvidence::Confirmed { in_order, .. } => *in_order || !only,
            evidence => panic!("{evidence:?}"),
        });
        let shape = |one: &anyorder_predict::Deadlock| threads.shape(&requests(one));
        all.map(shape).collect()
    };
    [of(false), of(true)]
}

#[derive(Default, Debug)]
struct Tally {
    traces: u64,
    given_up: u64,
    with_deadlock: u64,
    cycles: u64,
    impossible: u64,
    in_order: u64,
    by_solver: u64,
    longer: u64,
    joins: u64,
    signals: u64,
    /// Of these, with two of them in one cycle; with three threads; and found by the solver.
    of_signals: [u64; 3],
    /// Shapes that wait for a signal and need a free read.
    freed: u64,
    shared: u64,
    hung: u64,
    asked: u64,
    /// Runs that are said to be shortest.
    shortest: u64,
    permits: OfPermits,
    members: OfMembers,
}

/// Of deadlocks with waits for permits: all; with two of them; with three threads; by the solver
/// and without it; with permits whose number is known, and is not; with joins, and with signals.
#[derive(Default, Debug)]
struct OfPermits([u64; 9]);

/// Of deadlocks with a member that waits there, by method or `barrier`: all; with three threads; by
/// the solver and without it; with a lock, a join, and another such wait; and runs of which it is
/// said that the number is not known.
#[derive(Default, Debug)]
struct OfMembers(BTreeMap<String, [u64; 8]>);

impl OfMembers {
    fn add(&mut self, trace: &Trace, found: &Deadlocks) {
        for one in &found.found {
            let is_in_order =
                matches!(one.evidence, DeadlockEvidence::Confirmed { in_order: true, .. });
            let has = |is: fn(WaitsFor) -> bool| one.requests.iter().any(|of| is(of.waits_for));
            let name = |of: WaitsFor| match of {
                WaitsFor::Call { method, .. } => Some(trace.tables().name(method).to_owned()),
                WaitsFor::Barrier(_) => Some("barrier".to_owned()),
                _ => None,
            };
            let names: Vec<String> =
                one.requests.iter().filter_map(|of| name(of.waits_for)).collect();
            let kinds = [
                true,
                one.requests.len() > 2,
                !is_in_order,
                is_in_order,
                has(|of| matches!(of, WaitsFor::Lock(_))),
                has(|of| matches!(of, WaitsFor::End(_))),
                names.len() > 1,
                one.permits.iter().any(|of| !of.is_known),
            ];
            for name in names {
                let counts = self.0.entry(name).or_default();
                kinds.iter().zip(counts).for_each(|(is, n)| *n += u64::from(*is));
            }
        }
    }
}

impl OfPermits {
    fn add(&mut self, found: &Deadlocks) {
        for one in found.found.iter().filter(|one| !one.permits.is_empty()) {
            let is_in_order =
                matches!(one.evidence, DeadlockEvidence::Confirmed { in_order: true, .. });
            let is_known = one.permits.iter().all(|of| of.is_known);
            let kinds = [
                true,
                one.permits.len() > 1,
                one.requests.len() > 2,
                !is_in_order,
                is_in_order,
                is_known,
                !is_known,
                one.requests.iter().any(|of| matches!(of.waits_for, WaitsFor::End(_))),
                one.requests.iter().any(|of| matches!(of.waits_for, WaitsFor::Signal(_))),
            ];
            kinds.iter().zip(&mut self.0).for_each(|(is, n)| *n += u64::from(*is));
        }
    }
}

impl Tally {
    fn add(&mut self, trace: &Trace, found: &Deadlocks, naive: &Naive) {
        self.traces += 1;
        self.with_deadlock += u64::from(!naive.shapes.is_empty());
        self.cycles += found.cycles;
        self.impossible += found.impossible;
        self.permits.add(found);
        self.members.add(trace, found);
        for one in &found.found {
            let DeadlockEvidence::Confirmed { in_order, witness } = &one.evidence else { continue };
            self.in_order += u64::from(*in_order);
            self.by_solver += u64::from(!in_order);
            self.longer += u64::from(one.requests.len() > 2);
            let ends = |of: &&anyorder_predict::DeadlockRequest| {
                matches!(of.waits_for, anyorder_predict::WaitsFor::End(_))
            };
            self.joins += u64::from(one.requests.iter().any(|of| ends(&of)));
            let is_signal = |of: &&anyorder_predict::DeadlockRequest| {
                matches!(of.waits_for, anyorder_predict::WaitsFor::Signal(_))
            };
            let is_signal = one.requests.iter().filter(is_signal).count();
            self.signals += u64::from(is_signal > 0);
            if is_signal > 0 {
                let kinds = [is_signal > 1, one.requests.len() > 2, !in_order];
                kinds.iter().zip(&mut self.of_signals).for_each(|(is, n)| *n += u64::from(*is));
            }
            let is_shared = |event: &EventId| trace.event(*event).mode().is_shared();
            self.shared += u64::from(one.events().iter().any(is_shared));
            let asks = |event: &EventId| trace.event(*event).kind() == EventKind::Request;
            self.asked += u64::from(one.events().iter().any(asks));
            self.hung += u64::from(witness.order.len() + witness.prefix as usize == trace.len());
        }
    }
}

/// Returns how many shapes of deadlocks with a wait for a signal are none if all reads bind.
fn freed(trace: &Trace, naive: &Naive) -> u64 {
    let mut columns = trace.columns().clone();
    for at in 0..columns.len() {
        if columns.ops[at].kind() == EventKind::Other {
            columns.operands[at] = NameId::EMPTY.0;
        }
    }
    let bound = Trace::new(trace.tables().clone(), columns);
    let bound = deadlocks(&Threads::new(&bound), STATES_MAX).expect("fewer reorderings");
    assert!(bound.shapes.is_subset(&naive.shapes), "{}", show(trace));
    let waits = |shape: &&Shape| shape.iter().any(|(target, _)| target.0 == What::Condition);
    naive.shapes.difference(&bound.shapes).filter(waits).count() as u64
}

/// Compares the search with all reorderings on one random run; with semaphores, also the solver
/// alone.
fn compare(seed: u64, family: Family, tally: &mut Tally) {
    let trace = run(&mut RandomSource::new(seed), family, 24);
    let what = format!("seed {seed}, {family:?}\n{}", show(&trace));
    let threads = Threads::new(&trace);
    let Some(naive) = deadlocks(&threads, STATES_MAX) else {
        tally.given_up += 1;
        return;
    };
    let found = search(&trace, &what);
    let [all, closed] = shapes(&threads, &found);
    assert_eq!(all, naive.shapes, "{what}");
    if matches!(family, Family::Semaphores | Family::Objects | Family::Barriers)
        && seed.is_multiple_of(3)
    {
        let alone = search_with(&trace, Sabotage::NoClocks);
        assert_eq!(shapes(&threads, &alone)[0], naive.shapes, "{what}");
    }
    for one in &found.found {
        let mut requests: Vec<usize> = one.events().iter().map(|event| event.index()).collect();
        requests.sort_unstable();
        if let Some(witness) = one.witness().filter(|witness| witness.shortest) {
            tally.shortest += 1;
            assert_eq!(witness.order.len(), naive.lengths[&requests], "{requests:?}, {what}");
        }
    }
    let Some(of_order) = in_order(&threads, 4 * STATES_MAX) else { return };
    assert!(has_order(&trace, &closed, &of_order.shapes), "in order, {closed:?}: {what}");
    tally.add(&trace, &found, &naive);
    if trace.has_branches() && !naive.shapes.is_empty() {
        tally.freed += freed(&trace, &naive);
    }
}

/// Returns whether the deadlocks found without the solver are those that keep the order of locks.
/// Calls that must come, so that all permits are taken, are left to the solver.
fn has_order(trace: &Trace, closed: &BTreeSet<Shape>, right: &BTreeSet<Shape>) -> bool {
    let is_call = |event: anyorder_trace::Event| event.kind() == EventKind::Invoke;
    match trace.events().any(is_call) {
        true => closed.is_subset(right),
        false => closed == right,
    }
}

#[test]
fn the_search_finds_the_deadlocks_of_all_reorderings() {
    let mut tallies: BTreeMap<Family, Tally> = BTreeMap::new();
    for seed in sampled(1_400, 6_000) {
        let family = Family::ALL[(seed % Family::ALL.len() as u64) as usize];
        compare(seed, family, tallies.entry(family).or_default());
    }
    println!("{tallies:#?}");
    for (family, tally) in &tallies {
        assert!(tally.traces > 4 * tally.given_up, "{family:?} {tally:?}");
        let counts = [tally.with_deadlock, tally.in_order];
        assert!(counts.iter().all(|count| *count > 0), "{family:?} {tally:?}");
    }
    let sum = |of: fn(&Tally) -> u64| tallies.values().map(of).sum::<u64>();
    let counts = [
        sum(|t| t.longer),
        sum(|t| t.joins),
        sum(|t| t.shared),
        sum(|t| t.impossible),
        sum(|t| t.by_solver),
        sum(|t| t.asked),
        sum(|t| t.signals),
        sum(|t| t.of_signals[0]),
        sum(|t| t.of_signals[1]),
        sum(|t| t.of_signals[2]),
        sum(|t| t.freed),
        sum(|t| t.shortest),
    ];
    println!("{counts:?}");
    assert!(counts.iter().all(|count| *count > 2), "{counts:?}");
}

#[test]
fn the_search_finds_deadlocks_at_semaphores() {
    let mut tally = Tally::default();
    for seed in sampled(1_200, 8_000) {
        compare(seed, Family::Semaphores, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.traces > 4 * tally.given_up, "{tally:?}");
    let counts = tally.permits.0.iter().chain([&tally.impossible, &tally.shortest]);
    assert!(counts.into_iter().all(|count| *count > 2), "{tally:?}");
}

#[test]
fn the_search_finds_deadlocks_at_channels_wait_groups_and_futures() {
    let mut tally = Tally::default();
    for seed in sampled(1_200, 8_000) {
        compare(seed, Family::Objects, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.traces > 4 * tally.given_up, "{tally:?}");
    for method in ["recv", "send", "wait", "get", "done"] {
        let counts = tally.members.0.get(method).copied().unwrap_or_default();
        assert!(counts[0] > 2 && counts[3] > 2 && counts[4] > 2, "{method} {tally:?}");
    }
    let sum = |at: usize| tally.members.0.values().map(|counts| counts[at]).sum::<u64>();
    let sums: Vec<u64> = (0..8).map(sum).collect();
    assert!(sums.iter().all(|sum| *sum > 2), "{sums:?}");
}

#[test]
fn the_search_finds_deadlocks_at_barriers() {
    let mut tally = Tally::default();
    for seed in sampled(1_200, 8_000) {
        compare(seed, Family::Barriers, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.traces > 4 * tally.given_up, "{tally:?}");
    let counts = tally.members.0.get("barrier").copied().unwrap_or_default();
    assert!(counts[..7].iter().all(|count| *count > 2), "{tally:?}");
}
