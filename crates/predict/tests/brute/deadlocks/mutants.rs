//! With a fault in the search for deadlocks, random runs show a difference.

use super::examples::traces;
use super::naive::{Shape, Threads, deadlocks, in_order};
use super::programs::{Family, run};
use super::{STATES_MAX, has_order, requests, search_with};
use crate::brute::generate::{RandomSource, show};
use anyorder_predict::{DeadlockEvidence, Sabotage};
use anyorder_trace::Trace;
use std::collections::BTreeSet;
use std::panic::catch_unwind;

const FAULTS: [Sabotage; 32] = [
    Sabotage::SectionsNeverEnd,
    Sabotage::OrderIsNecessary,
    Sabotage::ReadersExclude,
    Sabotage::RequestsStay,
    Sabotage::ObservationsForgotten,
    Sabotage::ForksForgotten,
    Sabotage::AttemptsWait,
    Sabotage::EndsForgotten,
    Sabotage::RequestsForgotten,
    Sabotage::RequestsAnywhere,
    Sabotage::AllExclusive,
    Sabotage::AllShared,
    Sabotage::GatesForgotten,
    Sabotage::PairsOnly,
    Sabotage::HeldForgotten,
    Sabotage::RequestsHeld,
    Sabotage::SignalsForgotten,
    Sabotage::WaitsAtWake,
    Sabotage::FreeSignals,
    Sabotage::SignalsLate,
    Sabotage::PermitsForgotten,
    Sabotage::PermitsLeft,
    Sabotage::PermitsGiven,
    Sabotage::OutsidersForgotten,
    Sabotage::KeptForgotten,
    Sabotage::PermitsAnywhere,
    Sabotage::TakersWait,
    Sabotage::OneComparison,
    Sabotage::OneSemaphore,
    Sabotage::BarriersForgotten,
    Sabotage::AnyRound,
    Sabotage::BarriersPassed,
];

/// Random traces tried at most to notice a fault that no example shows.
const TRACES: u64 = 160;

/// What is right of a trace: the shapes of its deadlocks, and of those that keep the order of each
/// lock.
type Shapes = [BTreeSet<Shape>; 2];

/// Returns what the search says; `None` if it leaves a cycle undecided, if the checker refuses a
/// run, or if there is no cycle to decide but one is listed.
fn said(trace: &Trace, is_silent: bool, fault: Sabotage) -> Option<Shapes> {
    let threads = Threads::new(trace);
    let deadlocks = search_with(trace, fault);
    if is_silent && deadlocks.cycles > 0 {
        return None;
    }
    let mut shapes = Shapes::default();
    for one in deadlocks.found {
        let DeadlockEvidence::Confirmed { in_order, .. } = one.evidence else { return None };
        let shape = threads.shape(&requests(&one));
        if in_order {
            shapes[1].insert(shape.clone());
        }
        shapes[0].insert(shape);
    }
    Some(shapes)
}

/// By all reorderings; `None` if there are too many.
fn right(trace: &Trace) -> Option<Shapes> {
    let threads = Threads::new(trace);
    let all = deadlocks(&threads, STATES_MAX)?;
    Some([all.shapes, in_order(&threads, 4 * STATES_MAX)?.shapes])
}

#[test]
fn every_fault_is_noticed() {
    let random = (1..=TRACES).map(|seed| {
        let others = [Family::Semaphores, Family::Objects, Family::Barriers];
        let at = (seed % (Family::ALL.len() + others.len()) as u64) as usize;
        let family = Family::ALL.into_iter().chain(others).nth(at).expect("it is one of them");
        (run(&mut RandomSource::new(seed), family, 24), false)
    });
    let mut open: Vec<Sabotage> = FAULTS.to_vec();
    for (number, (trace, is_silent)) in traces().chain(random).enumerate() {
        let Some(right) = right(&trace) else { continue };
        let agrees = |said: Option<Shapes>| {
            said.is_some_and(|[all, closed]| {
                all == right[0] && has_order(&trace, &closed, &right[1])
            })
        };
        assert!(agrees(said(&trace, is_silent, Sabotage::None)), "{}", show(&trace));
        // Without clocks, the solver decides alone.
        let alone = said(&trace, is_silent, Sabotage::NoClocks).map(|[all, _]| all);
        assert_eq!(alone.as_ref(), Some(&right[0]), "{}", show(&trace));
        open.retain(|fault| {
            // Assertions in the search notice some.
            let found = catch_unwind(|| said(&trace, is_silent, *fault));
            let is_noticed = !found.is_ok_and(agrees);
            if is_noticed {
                println!("{fault:?}: trace {number}");
            }
            !is_noticed
        });
        if open.is_empty() {
            return;
        }
    }
    panic!("not noticed: {open:?}");
}
