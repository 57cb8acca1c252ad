//! A program that does everything once.

use crate::reader::{KINDS, kind};
use crate::run::{compile, forwarded, has_cpp, recorded};
use std::collections::BTreeSet;

/// Kinds that another test has: an access to a virtual table pointer is not everywhere, a failure
/// ends the program.
const ELSEWHERE: [u8; 1] = [kind::FAILURE];

#[test]
fn every_kind_occurs_and_nothing_changes_for_the_program() {
    if !has_cpp() {
        println!("skipped: there is no g++");
        return;
    }
    for option in ["-O0", "-O1", "-O2"] {
        let program = compile("kinds.cc", "g++", &[option]);
        let bare = forwarded(&program, &[]);
        assert_eq!(bare.status, 3, "{}", bare.output);
        let run = recorded(&program, &[], &[]);
        assert_eq!((&run.output, run.status), (&bare.output, 3), "{option}");
        let kinds: BTreeSet<u8> =
            run.recordings[0].all().map(|event| event.kind).chain(ELSEWHERE).collect();
        let missing: Vec<&u8> = KINDS.iter().filter(|kind| !kinds.contains(kind)).collect();
        assert!(missing.is_empty(), "{option}: no events of kinds {missing:?}");
        // The child of the fork has a recording of its own.
        assert_eq!(run.recordings.len(), 2, "{option}");
        assert_eq!((run.recordings[0].flags, run.recordings[1].flags), (2, 6), "{option}");
        assert!(run.recordings[1].count(kind::ATOMIC_RMW) > 0, "{option}");
        assert!(run.maps.contains("libresolv"), "{option}: the library that was loaded later");
    }
}

#[test]
fn failures_are_events_and_end_the_program_as_without() {
    if !has_cpp() {
        println!("skipped: there is no g++");
        return;
    }
    let program = compile("kinds.cc", "g++", &["-O1"]);
    for (argument, signal) in [("crash", 11), ("abort", 6)] {
        let bare = forwarded(&program, &[argument]);
        let run = recorded(&program, &[argument], &[]);
        // The program that keeps the time reports a signal by a number above 128, or by itself.
        assert_eq!((&run.output, run.status), (&bare.output, bare.status));
        assert!([-signal, 128 + signal].contains(&run.status), "{}", run.status);
        let recording = &run.recordings[0];
        assert_eq!(recording.flags, 0);
        let failures = recording.all().filter(|event| event.kind == kind::FAILURE);
        let signals: Vec<u64> = failures.map(|event| event.address).collect();
        assert_eq!(signals, [signal as u64]);
    }
}

#[test]
fn programs_of_clang_are_recorded() {
    for compiler in ["clang++", "clang++-19", "clang++-14"] {
        let found = std::process::Command::new(compiler).arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            continue;
        }
        let program = compile("kinds.cc", compiler, &["-std=c++17", "-O1", "-shared-libsan"]);
        let run = recorded(&program, &[], &[]);
        assert_eq!(run.status, 3, "{compiler}: {}", run.output);
        assert!(run.recordings[0].count(kind::LOCK) > 0, "{compiler}");
    }
}
