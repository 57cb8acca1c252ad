//! Numbers of states that other tools confirm, in every mode of the search.

use crate::models;

use anyorder_search::{Limit, Order, SearchOptions, Storage, search};
use anyorder_system::{Control, StateSystem};
use models::two_phase::TwoPhase;
use std::num::NonZeroUsize;

fn check<S: StateSystem>(system: &S, states: u64, transitions: Option<u64>) {
    for order in [Order::Breadth, Order::Depth] {
        let storages =
            [Storage::Fingerprints, Storage::Exact, Storage::Bitstate { bytes: 1 << 22 }];
        for storage in storages {
            for threads in [1, 3, 4] {
                let threads = NonZeroUsize::new(threads).unwrap();
                let options = SearchOptions { order, storage, threads, ..SearchOptions::default() };
                let outcome = search(system, &options, &Control::default()).unwrap();
                let what = format!("{options:?}: {outcome:?}");
                assert!(outcome.violations.is_empty(), "{what}");
                if let Storage::Bitstate { .. } = storage {
                    assert!(!outcome.complete, "{what}");
                    assert_eq!(outcome.limits, [Limit::Bitstate]);
                    assert!(
                        outcome.stats.states <= states && outcome.stats.states * 10 >= states * 9,
                        "{what}"
                    );
                } else {
                    assert!(outcome.complete, "{what}");
                    assert_eq!(outcome.stats.states, states, "{what}");
                    assert_eq!(
                        outcome.stats.transitions,
                        transitions.unwrap_or(outcome.stats.transitions)
                    );
                }
            }
        }
    }
}

#[test]
fn two_phase_commit() {
    // Transitions as generated states less the initial one.
    check(&TwoPhase { participants: 3 }, 288, Some(1_145));
    check(&TwoPhase { participants: 4 }, 1_568, Some(8_257));
    check(&TwoPhase { participants: 6 }, 50_816, Some(402_305));
}

#[test]
fn paxos() {
    check(&models::paxos(1), 265, Some(481));
    check(&models::paxos(2), 16_668, Some(32_970));
}

#[test]
fn registers() {
    check(&models::abd(2, 2), 544, None);
    check(&models::single_copy(1, 3), 4_243, Some(6_777));
}
