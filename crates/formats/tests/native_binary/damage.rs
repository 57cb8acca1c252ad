//! Damaged and truncated files: an error with its place, or the complete blocks before it.

use crate::native_binary::random::{sample, write};
use anyorder_formats::native_binary::{BinaryFile, BinaryReader};
use anyorder_trace::{Block, Columns, Problem, ReadError, Tables, Trace, TraceSource};
use std::io::Cursor;

/// Reads to the end. Returns the columns and tables, and the problem that ended the reading.
fn read(reader: &mut BinaryReader<&[u8]>) -> (Columns, Option<Problem>) {
    let mut block = Block::default();
    let mut columns = Columns::default();
    loop {
        match reader.next_block(&mut block) {
            Ok(true) => columns.append(&block.columns),
            Ok(false) => return (columns, None),
            Err(ReadError::Malformed { problems, .. }) => {
                assert!(block.columns.is_empty());
                return (columns, problems.list.into_iter().next());
            }
            Err(error) => unreachable!("{error}"),
        }
    }
}

/// A file of two blocks of events, the first of full length.
fn two_blocks() -> (Tables, Columns, Vec<u8>) {
    let (tables, part) = sample();
    let mut columns = Columns::default();
    while columns.len() <= Block::EVENTS {
        columns.append(&part);
    }
    let bytes = write(&tables, &columns);
    (tables, columns, bytes)
}

#[test]
fn every_truncation_is_an_error_with_its_place() {
    let (tables, columns) = sample();
    let bytes = write(&tables, &columns);
    for length in 0..bytes.len() {
        let (found, problem) = read(&mut BinaryReader::new(&bytes[..length]));
        let problem = problem.unwrap_or_else(|| panic!("cut to {length} of {} bytes", bytes.len()));
        assert!(problem.place.offset.is_some(), "{problem:?}");
        assert!(found.is_empty() || found == columns);
        assert!(problem.message.contains("expected"), "{problem:?}");
    }
    assert_eq!(read(&mut BinaryReader::new(&bytes)), (columns, None));
}

#[test]
fn every_truncation_can_be_salvaged() {
    let (tables, columns) = sample();
    let bytes = write(&tables, &columns);
    let mut kept = 0;
    for length in 16..bytes.len() {
        let mut reader = BinaryReader::new(&bytes[..length]).salvage(true);
        let (found, problem) = read(&mut reader);
        assert_eq!(problem, None);
        assert_eq!(reader.problems().warnings_total, 1);
        let message = &reader.problems().list[0].message;
        assert!(message.contains(&format!("kept {} events", found.len())), "{message}");
        if !found.is_empty() {
            assert_eq!((&found, reader.tables()), (&columns, &tables));
            kept += 1;
        }
    }
    assert!(kept > 10, "the index and trailer can be missing");
    let mut whole = BinaryReader::new(&bytes[..]).salvage(true);
    assert_eq!(read(&mut whole), (columns, None));
    assert!(whole.problems().is_empty());
}

#[test]
fn every_corruption_of_a_byte_is_found() {
    let (tables, columns) = sample();
    let bytes = write(&tables, &columns);
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let (found, problem) = read(&mut BinaryReader::new(&damaged));
            assert!(problem.is_some(), "byte {at} changed by {change:#x}");
            assert!(found.is_empty() || found == columns, "wrong events were given out");
        }
    }
}

#[test]
fn salvage_keeps_the_blocks_before_the_damage() {
    let (_, columns, mut bytes) = two_blocks();
    let second = BinaryFile::open(Cursor::new(&bytes)).expect("it is whole").blocks()[1];
    bytes[second.offset as usize + 40] ^= 4;
    let (found, problem) = read(&mut BinaryReader::new(&bytes));
    let problem = problem.expect("the second block is damaged");
    assert_eq!(problem.place.block, Some(2), "after the tables and the first block");
    assert_eq!(found.len(), Block::EVENTS);
    let mut reader = BinaryReader::new(&bytes[..]).salvage(true);
    let trace = Trace::read(&mut reader).expect("salvaged");
    assert_eq!(trace.len(), Block::EVENTS);
    assert_eq!(trace.columns().ops[..], columns.ops[..Block::EVENTS]);
    let message = &reader.problems().list[0].message;
    assert!(message.contains("kept 65536 events in the 1 whole block"), "{message}");
}

#[test]
fn a_damaged_head_cannot_be_salvaged() {
    let (_, _, mut bytes) = two_blocks();
    bytes[3] = b'X';
    let (_, problem) = read(&mut BinaryReader::new(&bytes[..]).salvage(true));
    assert!(problem.expect("no magic").message.contains("begin with"));
    let (_, problem) = read(&mut BinaryReader::new(&b""[..]).salvage(true));
    assert!(problem.expect("nothing").message.contains("empty"));
}

#[test]
fn a_later_version_is_named() {
    let (_, _, mut bytes) = two_blocks();
    bytes[8] = 2;
    let (_, problem) = read(&mut BinaryReader::new(&bytes));
    assert_eq!(problem.expect("version 2").message, "unknown version 2 of the format, expected 1");
}

#[test]
fn bytes_behind_the_trailer_are_an_error() {
    let (_, _, mut bytes) = two_blocks();
    bytes.push(0);
    let (_, problem) = read(&mut BinaryReader::new(&bytes));
    assert!(problem.expect("a byte too many").message.contains("behind the trailer"));
}
