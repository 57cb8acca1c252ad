//! Programs with known numbers of operations.

use crate::reader::{Event, Recording, kind};
use crate::run::{compile, forwarded, recorded};
use std::collections::BTreeMap;

const ROUNDS: usize = 1000;

#[test]
fn all_operations_are_there_in_their_order() {
    for option in ["-O0", "-O1", "-O2"] {
        let program = compile("counts.c", "gcc", &[option]);
        let bare = forwarded(&program, &[]);
        assert_eq!((bare.output.as_str(), bare.status), ("2000 2000 999\n", 7), "{option}");
        let run = recorded(&program, &[], &[]);
        assert_eq!((run.output, run.status), (bare.output, bare.status), "{option}");
        assert_eq!(run.recordings.len(), 1);
        let recording = &run.recordings[0];
        assert_eq!((recording.flags, recording.threads), (2, 3));
        assert!(recording.command.ends_with(&format!("counts.c-gcc{option}")));
        assert!(run.maps.starts_with("# maps\n") && run.maps.matches("# maps\n").count() == 2);
        counts(recording, option);
        locks_exclude(recording);
        order_of_threads(recording);
    }
}

fn counts(recording: &Recording, option: &str) {
    for thread in [1, 2] {
        let events = &recording.events[&thread];
        let count = |wanted: u8| events.iter().filter(|event| event.kind == wanted).count();
        assert_eq!(count(kind::LOCK), ROUNDS, "{option}");
        assert_eq!(count(kind::UNLOCK), ROUNDS, "{option}");
        assert_eq!(count(kind::ATOMIC_RMW), ROUNDS, "{option}");
        assert_eq!((count(kind::CALL), count(kind::RETURN)), (1, 1), "{option}");
        // The counter is read and written between the lock and the unlock.
        let kinds: Vec<u8> = events.iter().map(|event| event.kind).collect();
        // Times come in between, and so do requests, before a lock.
        let kinds: Vec<u8> = kinds.into_iter().filter(|kind| *kind != kind::TIME).collect();
        let inner = [kind::LOCK, kind::READ, kind::WRITE, kind::UNLOCK, kind::ATOMIC_RMW];
        assert_eq!(kinds.windows(5).filter(|window| *window == inner).count(), ROUNDS, "{option}");
    }
    let main = &recording.events[&0];
    let blocks = main.iter().filter(|event| event.kind == kind::ALLOC && event.third == 123);
    let block = blocks.map(|event| event.address).next().expect("the block");
    let freed = main.iter().filter(|event| event.kind == kind::FREE && event.address == block);
    assert_eq!(freed.count(), 1);
    // The table is written in order, each element once.
    let is_table = |event: &&Event| event.kind == kind::WRITE && event.arg == 8;
    let mut by_place: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for event in main.iter().filter(is_table) {
        by_place.entry(event.place).or_default().push(event.address);
    }
    let table = by_place.values().find(|addresses| addresses.len() == ROUNDS).expect("the table");
    assert!(table.windows(2).all(|two| two[0] + 8 == two[1]), "{option}");
}

/// The stretches in which the threads have the mutex do not overlap in time, nor do their atomic
/// operations happen at one time.
fn locks_exclude(recording: &Recording) {
    let mut stretches = Vec::new();
    for thread in [1, 2] {
        let events = &recording.events[&thread];
        let of = |wanted: u8| events.iter().filter(move |event| event.kind == wanted);
        let ends = of(kind::UNLOCK).map(|event| event.time);
        stretches.extend(of(kind::LOCK).map(|event| event.time).zip(ends));
    }
    stretches.sort_unstable();
    assert!(stretches.windows(2).all(|two| two[0].1 <= two[1].0), "an overlap");
}

fn order_of_threads(recording: &Recording) {
    for thread in [1_u32, 2] {
        let time_of = |of: u32, wanted: u8, address: Option<u64>| {
            let mut events = recording.events[&of].iter().filter(|event| {
                event.kind == wanted && address.is_none_or(|address| event.address == address)
            });
            let event = events.next().expect("an event");
            assert_eq!(events.next(), None);
            event.time
        };
        let created = time_of(0, kind::THREAD_CREATE, Some(thread.into()));
        let begun = time_of(thread, kind::THREAD_BEGIN, None);
        let ended = time_of(thread, kind::THREAD_END, None);
        let joined = time_of(0, kind::THREAD_JOIN, Some(thread.into()));
        assert!(created <= begun && begun <= ended && ended <= joined);
        let first = recording.events[&thread].iter().find(|event| event.kind != kind::TIME);
        assert_eq!(first.map(|event| event.kind), Some(kind::THREAD_BEGIN));
    }
    assert_eq!(recording.count(kind::EXIT), 1);
}

#[test]
fn repeats_are_left_out_until_the_next_synchronisation() {
    let run = recorded(&compile("repeats.c", "gcc", &["-O1"]), &[], &[]);
    let recording = &run.recordings[0];
    let mut addresses = run.output.split_whitespace();
    let mut next = || {
        let text = addresses.next().expect("two addresses").trim_start_matches("0x");
        u64::from_str_radix(text, 16).expect("an address")
    };
    let (plain, locked) = (next(), next());
    let writes = |address: u64| {
        let is_write = |event: &&Event| event.kind == kind::WRITE && event.address == address;
        recording.all().filter(is_write).count()
    };
    assert_eq!((writes(plain), writes(locked)), (4, 100));
    assert!(recording.left_out >= 96, "{}", recording.left_out);
}
