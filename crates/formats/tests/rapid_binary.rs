//! RAPID's binary traces: against a writer of their own and against STD, damaged in every way, and
//! seven recorded ones.

use crate::common::{self, Choices};
use anyorder_formats::detect::{Format, detect};
use anyorder_formats::rapid_binary::RapidBinaryReader;
use anyorder_formats::std::{StdReader, StdWriter};
use anyorder_trace::{Block, EventKind, Problems, ReadError, Trace, TraceSource, wellformed};
use proptest::prelude::*;

/// An event as the format has it: thread, operation, target, site.
type Row = (u64, u64, u64, u64);

/// The operations in the order of their numbers, as STD writes them, with the letter of the target.
const WORDS: [(&str, &str); 10] = [
    ("acq", "L"),
    ("rel", "L"),
    ("r", "V"),
    ("w", "V"),
    ("fork", "T"),
    ("join", "T"),
    ("begin", ""),
    ("end", ""),
    ("req", "L"),
    ("branch", ""),
];

fn encode(rows: &[Row], total: i64) -> Vec<u8> {
    let mut out = Vec::new();
    let count =
        |of: &dyn Fn(&Row) -> Option<u64>| rows.iter().filter_map(of).max().map_or(0, |n| n + 1);
    let threads = count(&|row| Some(row.0));
    let locks = count(&|row| matches!(row.1, 0 | 1 | 8).then_some(row.2));
    let variables = count(&|row| matches!(row.1, 2 | 3).then_some(row.2));
    out.extend((threads.max(1) as i16).to_be_bytes());
    out.extend((locks as i32).to_be_bytes());
    out.extend((variables as i32).to_be_bytes());
    out.extend(total.to_be_bytes());
    for (thread, op, target, site) in rows {
        let event = thread + op * 1024 + target * 16 * 1024 + site * (1 << 48);
        out.extend((event as i64).to_be_bytes());
    }
    out
}

fn as_std(rows: &[Row]) -> String {
    let line = |(thread, op, target, site): &Row| {
        let (word, letter) = WORDS[*op as usize];
        match letter {
            "" => format!("T{thread}|{word}|{site}\n"),
            _ => format!("T{thread}|{word}({letter}{target})|{site}\n"),
        }
    };
    rows.iter().map(line).collect()
}

fn rows(choices: &mut Choices) -> Vec<Row> {
    let length = 1 + choices.below(60);
    let row = |choices: &mut Choices| {
        let op = choices.below(10) as u64;
        let thread = if choices.chance(9) { 1023 } else { choices.below(5) as u64 };
        let target = match op {
            6 | 7 | 9 => 0,
            4 | 5 => choices.below(6) as u64,
            _ if choices.chance(9) => (1 << 34) - 1,
            _ => choices.below(5) as u64,
        };
        (thread, op, target, choices.of(&[0, 1, 7, 32_767]))
    };
    (0..length).map(|_| row(choices)).collect()
}

fn read(bytes: &[u8]) -> Result<Trace, ReadError> {
    Trace::read(&mut RapidBinaryReader::new(bytes))
}

fn right(bytes: &[u8]) -> Trace {
    read(bytes).unwrap_or_else(|error| panic!("{error:?}"))
}

fn problems(bytes: &[u8]) -> Problems {
    match read(bytes) {
        Err(ReadError::Malformed { format: "rapid-binary", problems }) => problems,
        other => panic!("expected an error: {other:?}"),
    }
}

fn first(bytes: &[u8]) -> String {
    let problem = &problems(bytes).list[0];
    format!("{}: {}", problem.place, problem.message)
}

/// The text of a trace. Neither labels nor where it came from are in it.
fn text(trace: &Trace) -> String {
    let mut out = Vec::new();
    trace.write(&mut StdWriter::new(&mut out)).expect("STD has words for it");
    String::from_utf8(out).expect("text")
}

proptest! {
    #[test]
    fn it_reads_what_std_says(numbers in common::choices(300)) {
        let rows = rows(&mut Choices::new(numbers));
        let bytes = encode(&rows, rows.len() as i64);
        prop_assert_eq!(detect(&bytes), Ok(Format::RapidBinary));
        let trace = right(&bytes);
        let std = Trace::read(&mut StdReader::new(as_std(&rows).as_bytes())).unwrap();
        prop_assert_eq!(trace.columns().ops.clone(), std.columns().ops.clone());
        prop_assert_eq!(text(&trace), as_std(&rows));
        prop_assert_eq!(text(&std), as_std(&rows));
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(trace) = read(&bytes) {
            common::assert_ids_are_in_tables(trace.tables(), trace.columns());
        }
        let _ = detect(&bytes);
    }

    #[test]
    fn damaged_traces_give_errors_or_sound_traces(numbers in common::choices(300)) {
        let choices = &mut Choices::new(numbers);
        let rows = rows(choices);
        let mut bytes = encode(&rows, rows.len() as i64);
        common::damage(choices, &mut bytes);
        let _ = detect(&bytes);
        match read(&bytes) {
            Ok(trace) => common::assert_ids_are_in_tables(trace.tables(), trace.columns()),
            Err(ReadError::Malformed { problems, .. }) => prop_assert!(problems.errors_total > 0),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

#[test]
fn a_trace_cut_at_any_byte_is_an_error_there() {
    let rows: Vec<Row> = (0..10).map(|n| (n % 3, n, 0, n)).collect();
    let bytes = encode(&rows, 10);
    for cut in 0..bytes.len() {
        let expected = match cut {
            0..18 => format!("byte {cut}: expected a header of 18 bytes, found the end"),
            _ => format!(
                "byte {cut}: expected 10 events, as the header says, found the end after {}",
                (cut - 18) / 8
            ),
        };
        assert_eq!(first(&bytes[..cut]), expected);
        // What is left is still recognised, so that the message is about this format.
        assert_eq!(detect(&bytes[..cut]) == Ok(Format::RapidBinary), cut >= 26, "{cut}");
    }
    assert_eq!(right(&bytes).len(), 10);
}

#[test]
fn the_number_of_events_must_be_right() {
    let rows: Vec<Row> = (0..10).map(|n| (n % 3, 3, n, n)).collect();
    for (total, expected) in [
        (9, "byte 90: expected the end after 9 events, as the header says"),
        (0, "byte 18: expected the end after 0 events, as the header says"),
        (11, "byte 98: expected 11 events, as the header says, found the end after 10"),
        (i64::MAX, "byte 98: expected 9223372036854775807 events"),
        (-1, "byte 10: expected a count without a sign"),
        (i64::MIN, "byte 10: expected a count without a sign"),
    ] {
        assert!(first(&encode(&rows, total)).starts_with(expected), "{total}");
    }
    let empty = encode(&[], 0);
    assert_eq!(right(&empty).len(), 0);
    for at in [0, 2, 6, 10] {
        let mut bytes = encode(&rows, 10);
        bytes[at] |= 0x80;
        assert_eq!(first(&bytes), format!("byte {at}: expected a count without a sign"));
    }
}

#[test]
fn the_other_counts_of_the_header_are_not_checked() {
    let rows: Vec<Row> = (0..10).map(|n| (n % 3, 3, n, n)).collect();
    let bytes = encode(&rows, 10);
    let expected = right(&bytes);
    for counts in [[0_u8; 10], [0x7f; 10], [0, 1, 0, 0, 0, 1, 0, 0, 0, 1]] {
        let mut changed = bytes.clone();
        changed[..10].copy_from_slice(&counts);
        assert_eq!(right(&changed), expected);
    }
}

#[test]
fn every_wrong_event_is_listed_with_its_byte() {
    let mut rows: Vec<Row> = (0..200).map(|n| (0, 3, n, 0)).collect();
    rows.iter_mut().step_by(2).for_each(|row| row.1 = 10);
    let mut bytes = encode(&rows, 200);
    bytes[18 + 8] |= 0x80;
    let problems = problems(&bytes);
    assert_eq!(problems.errors_total, 101);
    let shown = |at: usize| format!("{}: {}", problems.list[at].place, problems.list[at].message);
    assert_eq!(shown(0), "byte 18, event 0: operation 10, expected 0 to 9");
    assert_eq!(shown(1), "byte 26, event 1: expected 0 as the highest bit of an event");
}

#[test]
fn blocks_are_full_and_numbered() {
    let rows: Vec<Row> =
        (0..2 * Block::EVENTS as u64 + 5).map(|n| (n % 1_024, 3, n % 7, 1)).collect();
    let bytes = encode(&rows, rows.len() as i64);
    let mut reader = RapidBinaryReader::new(&bytes[..]);
    let mut block = Block::default();
    let mut sizes = Vec::new();
    while reader.next_block(&mut block).unwrap() {
        sizes.push((block.first, block.columns.len()));
    }
    let full = Block::EVENTS;
    assert_eq!(sizes, [(0, full), (full as u64, full), (2 * full as u64, 5)]);
    assert_eq!(reader.tables().handlers.len(), 1_024);
}

#[test]
fn texts_and_other_binaries_are_not_taken_for_it() {
    let zeros = [0; 100];
    let words = b"T1|acq(L1)|12\n".repeat(20);
    let elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0\x10\x20\0\0\0\0\0\0";
    for bytes in [&zeros[..], &words, elf] {
        assert_ne!(detect(bytes), Ok(Format::RapidBinary));
    }
}

#[test]
fn recorded_traces_are_read_whole() {
    // Events, threads, locks, requests.
    for (name, expected) in [
        ("Account", [706, 6, 6, 62]),
        ("Bensalem", [68, 4, 4, 10]),
        ("Bensalem_dlf", [56, 7, 6, 13]),
        ("Deadlock", [39, 3, 2, 4]),
        ("DiningPhil", [277, 6, 5, 50]),
        ("StringBuffer", [74, 3, 3, 9]),
        ("Transfer", [72, 3, 3, 4]),
    ] {
        let bytes = common::recorded(&format!("rapid-binary/{name}.data"));
        assert_eq!(detect(&bytes), Ok(Format::RapidBinary), "{name}");
        let trace = right(&bytes);
        assert!(wellformed::check(&trace).list.is_empty(), "{name}");
        let requests = trace.events().filter(|event| event.kind() == EventKind::Request).count();
        let tables = trace.tables();
        let found = [trace.len(), tables.handlers.len(), tables.locks.len(), requests];
        assert_eq!(found, expected, "{name}");
        let text = text(&trace);
        let again = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
        assert_eq!(again.columns().ops, trace.columns().ops, "{name}");
    }
}
