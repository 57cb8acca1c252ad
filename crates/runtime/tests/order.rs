//! Times are only taken where they matter, and chunks are used again: the order of accesses that
//! conflict is that of the run, and nothing is lost when the process is killed.

use crate::reader::{Event, Recording, kind};
use crate::run::{compile, recorded, recorded_by};
use anyorder_testkit::effort::sampled;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What a thread did in its turn, and the event of it.
#[derive(Clone, Copy, Debug)]
struct Turn {
    event: Event,
    size: u64,
    writes: bool,
    /// Whether it has the time of the event before it.
    is_untimed: bool,
}

/// Returns the turns of a run, with the events that it wrote.
fn turns(output: &str, recording: &Recording) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut next: BTreeMap<u32, usize> = BTreeMap::new();
    for line in output.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let thread: u32 = words[1].parse().expect("a thread");
        let address = u64::from_str_radix(&words[2][2..], 16).expect("an address");
        let (wanted, writes) = match words[0] {
            "r" | "u" => (kind::READ, false),
            "w" | "U" => (kind::WRITE, true),
            "R" => (10, false),
            "W" => (11, true),
            "a" => (kind::ATOMIC_RMW, true),
            _ => (16, false),
        };
        let events = &recording.events[&thread];
        let at = next.entry(thread).or_default();
        let is_it = |event: &Event| event.kind == wanted && event.address == address;
        let found = events[*at..].iter().position(is_it).map(|after| *at + after);
        let found = found.unwrap_or_else(|| panic!("no event of {line}"));
        *at = found + 1;
        let event = events[found];
        let size = words[3].parse().expect("a size");
        let is_untimed = event.time == events[found - 1].time;
        turns.push(Turn { event, size, writes, is_untimed });
    }
    turns
}

#[test]
fn accesses_that_conflict_have_the_order_of_the_run() {
    let program = compile("turns.c", "gcc", &["-O1", "-fno-builtin"]);
    let (mut untimed, mut conflicts, mut needed) = (0, 0, 0);
    for seed in sampled(4, 200) {
        let run = recorded(&program, &[&seed.to_string()], &[]);
        assert_eq!(run.status, 0);
        let turns = turns(&run.output, &run.recordings[0]);
        assert_eq!(turns.len(), 6000);
        // By byte: the last write, and the reads after it.
        let mut bytes: BTreeMap<u64, (Option<Turn>, Vec<Turn>)> = BTreeMap::new();
        for turn in &turns {
            untimed += u64::from(turn.is_untimed);
            for byte in turn.event.address..turn.event.address + turn.size {
                let (write, reads) = bytes.entry(byte).or_default();
                let before = write.iter().chain(reads.iter().filter(|_| turn.writes));
                for before in before.filter(|before| before.event.thread != turn.event.thread) {
                    conflicts += 1;
                    assert!(
                        before.event.time < turn.event.time,
                        "seed {seed}: {before:?} {turn:?}"
                    );
                    needed += u64::from(before.is_untimed);
                }
                if turn.writes {
                    (*write, *reads) = (Some(*turn), Vec::new());
                } else {
                    reads.push(*turn);
                }
            }
        }
    }
    println!("{untimed} without a time of their own, {conflicts} conflicts, {needed} after such");
    assert!(untimed > 1000 && conflicts > 10_000 && needed > 1000);
}

#[test]
fn nothing_is_lost_when_the_process_is_killed() {
    let program = compile("killed.c", "gcc", &["-O1"]);
    let (mut packed, mut written) = (0, 0);
    for seed in sampled(6, 200) {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("counts-of-killed");
        std::fs::write(&file, [0; 4096]).expect("a file");
        let path = file.to_str().expect("a path");
        let run = recorded_by(&program, &[path], &[], |command| {
            command.stdout(std::process::Stdio::piped());
            let mut child = command.spawn().expect("the program runs");
            std::thread::sleep(Duration::from_micros(20_000 + seed * 7919 % 60_000));
            child.kill().expect("it can be killed");
            child.wait_with_output().expect("it has ended")
        });
        assert_eq!(run.status, -9);
        let counts = std::fs::read(&file).expect("the counts");
        let recording = &run.recordings[0];
        packed += recording.packed;
        for (thread, line) in run.output.lines().enumerate() {
            let table = u64::from_str_radix(&line[2..], 16).expect("an address");
            let count = &counts[thread * 64..thread * 64 + 8];
            let count = u64::from_le_bytes(count.try_into().expect("8 bytes"));
            let events = recording.events.get(&(thread as u32 + 1)).map_or(&[][..], Vec::as_slice);
            let is_write = |event: &&Event| {
                event.kind == kind::WRITE && (table..table + 8 * 100_003).contains(&event.address)
            };
            let mut seen = 0;
            for event in events.iter().filter(is_write) {
                assert_eq!(event.address, table + 8 * (seen % 100_003), "seed {seed}: {seen}");
                seen += 1;
            }
            assert!((count..=count + 1).contains(&seen), "seed {seed}: {seen} of {count}");
            written += seen;
        }
    }
    println!("{written} writes, {packed} packed chunks");
    assert!(packed > 100 && written > 100_000);
}
