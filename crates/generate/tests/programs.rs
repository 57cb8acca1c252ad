//! The benchmark programs: sizes as printed in the paper's tables, runs that replay, seeds that
//! matter.

use crate::common;

use anyorder_generate::{Counts, Family, Request, RunMailbox, generate, generate_with_run};
use anyorder_trace::EventKind;
use common::oracle::{is_consistent, open_pairs};
use common::{check_sound, replay};

/// Family, size, events, messages, handlers: the paper's tables, except for Chang-Roberts of size
/// 2.
const PRINTED: [(Family, u64, Counts); 17] = [
    (Family::Buyers, 2, Counts::new(88, 6, 2)),
    (Family::Buyers, 4, Counts::new(166, 10, 2)),
    (Family::Buyers, 8, Counts::new(322, 18, 2)),
    (Family::ChangRoberts, 4, Counts::new(353, 17, 5)),
    (Family::ChangRoberts, 8, Counts::new(737, 33, 9)),
    (Family::Consensus, 2, Counts::new(221, 9, 3)),
    (Family::Consensus, 4, Counts::new(677, 25, 5)),
    (Family::Consensus, 8, Counts::new(2333, 81, 9)),
    (Family::Counting, 2, Counts::new(129, 9, 3)),
    (Family::Counting, 4, Counts::new(443, 25, 5)),
    (Family::Counting, 8, Counts::new(1647, 81, 9)),
    (Family::MessageLoop, 2, Counts::new(268, 23, 3)),
    (Family::MessageLoop, 4, Counts::new(954, 73, 5)),
    (Family::MessageLoop, 8, Counts::new(3670, 269, 9)),
    (Family::SparseMat, 2, Counts::new(231, 7, 3)),
    (Family::SparseMat, 4, Counts::new(427, 11, 3)),
    (Family::SparseMat, 8, Counts::new(819, 19, 3)),
];

#[test]
fn sizes_are_the_printed_ones() {
    for (family, size, printed) in PRINTED {
        for mailbox in RunMailbox::ALL {
            for seed in 1..4 {
                let request = Request { mailbox, seed, ..Request::new(family, size) };
                let trace = generate(&request).unwrap();
                assert_eq!(Counts::of(&trace), printed, "{request:?}");
            }
        }
    }
}

/// The printed numbers of this one, 207 events and 11 messages, fit no ring of two nodes.
#[test]
fn chang_roberts_of_size_two_is_smaller_than_printed() {
    let trace = generate(&Request::new(Family::ChangRoberts, 2)).unwrap();
    assert_eq!(Counts::of(&trace), Counts::new(161, 9, 3));
}

#[test]
fn runs_of_recorded_families_replay() {
    let recorded = Family::ALL.into_iter().filter(|family| family.is_recorded());
    for family in recorded {
        for size in [1, 2, 3, 5, 8, 40] {
            let Ok(trace) = generate(&Request::new(family, size)) else {
                assert!(
                    matches!(family, Family::Flat | Family::Android) && size < 40,
                    "{family:?}"
                );
                continue;
            };
            drop(trace);
            for (mailbox, shuffle_lines) in
                RunMailbox::ALL.into_iter().flat_map(|mailbox| [(mailbox, true), (mailbox, false)])
            {
                let request =
                    Request { mailbox, shuffle_lines, seed: size, ..Request::new(family, size) };
                let made = generate_with_run(&request).unwrap();
                check_sound(&made.trace);
                let run = made.run.expect("a recorded family");
                let fifo = mailbox == RunMailbox::Fifo;
                assert_eq!(replay(&made.trace, &run, fifo), Ok(()), "{request:?}");
                let in_file_order = run.iter().enumerate().all(|(place, e)| e.index() == place);
                assert_eq!(in_file_order, !shuffle_lines, "{request:?}");
            }
        }
    }
}

/// Bags must make a difference: their runs overtake where mailboxes fill up. In a leader election
/// they seldom do.
#[test]
fn bag_runs_break_fifo() {
    let recorded = Family::ALL.into_iter().filter(|family| family.is_recorded());
    for family in recorded {
        let size = if family == Family::Android { 4_000 } else { 8 };
        let seeds = if family == Family::ChangRoberts { 1..200 } else { 1..6 };
        let overtaken = seeds.into_iter().any(|seed| {
            let mailbox = RunMailbox::Bag;
            let request = Request { mailbox, seed, ..Request::new(family, size) };
            let made = generate_with_run(&request).unwrap();
            replay(&made.trace, &made.run.unwrap(), true).is_err()
        });
        assert!(overtaken, "{family:?}");
    }
}

/// By the definition, not by the run: FIFO runs are consistent, and some bag runs are not.
#[test]
fn fifo_runs_are_consistent_and_some_bag_runs_are_not() {
    let (mut consistent, mut inconsistent) = (0, 0);
    for family in Family::ALL.into_iter().filter(|family| family.is_recorded()) {
        for seed in 1..5 {
            let size = match family {
                Family::Android => 400,
                Family::Flat | Family::Shuffle => 12,
                _ => 2 + seed % 3,
            };
            let request = Request { seed, ..Request::new(family, size) };
            assert!(is_consistent(&generate(&request).unwrap()), "{request:?}");
            let mailbox = RunMailbox::Bag;
            let from_bag = is_consistent(&generate(&Request { mailbox, ..request }).unwrap());
            *(if from_bag { &mut consistent } else { &mut inconsistent }) += 1;
        }
    }
    assert!(consistent >= 5 && inconsistent >= 5, "{consistent} {inconsistent}");
}

/// The pairs of messages of one handler are as many as in the measurements of other tools.
#[test]
fn messages_meet_on_handlers_as_often_as_measured() {
    for (family, size, pairs) in [
        (Family::Buyers, 8, 56),
        (Family::ChangRoberts, 2, 4),
        (Family::ChangRoberts, 8, 22),
        (Family::Consensus, 4, 30),
        (Family::Counting, 4, 40),
        (Family::MessageLoop, 2, 90),
        (Family::SparseMat, 8, 40),
        (Family::Shuffle, 40, 960),
        (Family::Sat3, 5, 68),
    ] {
        let open = open_pairs(&generate(&Request::new(family, size)).unwrap());
        assert_eq!(open.map(|(_, all)| all), Some(pairs), "{family:?}");
    }
}

#[test]
fn shuffle_and_flat_have_the_stated_sizes() {
    for size in [20, 40, 80, 160] {
        let trace = generate(&Request::new(Family::Shuffle, size)).unwrap();
        assert_eq!(Counts::of(&trace), Counts::new(5 * size, 2 * size + 1, 6));
    }
    for size in [5, 40, 100, 200] {
        let trace = generate(&Request::new(Family::Flat, size)).unwrap();
        assert_eq!(Counts::of(&trace), Counts::new(20 * size, size, 4));
        let nested = trace
            .events()
            .find(|event| event.kind() == EventKind::Post && trace.ran_from_mailbox(event.task));
        assert_eq!(nested, None);
    }
}

#[test]
fn seeds_decide() {
    for family in Family::ALL {
        let size = if family == Family::Android { 2_000 } else { 8 };
        for shuffle_lines in [true, false] {
            let of_seed = |seed| {
                let request = Request { seed, shuffle_lines, ..Request::new(family, size) };
                generate(&request).unwrap()
            };
            assert!(of_seed(3) == of_seed(3), "{family:?}");
            assert!(of_seed(3) != of_seed(4), "{family:?}");
        }
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    for family in Family::ALL {
        for size in [0, 60_000_000, u64::MAX] {
            let error = generate(&Request::new(family, size)).unwrap_err().to_string();
            assert!(error.contains(&size.to_string()), "{error}");
            assert!(error.contains(family.name()), "{error}");
        }
    }
    for (family, size) in [
        (Family::Consensus, 1_300),
        (Family::MessageLoop, 1_000),
        (Family::Shuffle, 10_000_001),
        (Family::Sat3, 800_000),
    ] {
        let error = generate(&Request::new(family, size)).unwrap_err().to_string();
        assert!(error.contains("50000000"), "{error}");
    }
}

#[test]
fn names_of_families_are_distinct_and_found() {
    for family in Family::ALL {
        assert_eq!(Family::from_name(family.name()), Some(family));
        assert!(!family.describe().is_empty());
    }
    assert_eq!(Family::from_name("nothing"), None);
}
