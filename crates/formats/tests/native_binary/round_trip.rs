//! Written traces are read back unchanged.

use crate::native_binary::random::{Step, blocks, meta, sample, step, write};
use anyorder_formats::native_binary::{BinaryReader, BinaryWriter, MAGIC};
use anyorder_trace::{
    Block, Columns, EventKind, Handler, Mailbox, NameId, Op, SiteId, Tables, TaskDef, TaskId,
    TaskKind, Trace, TraceSink, TraceSource,
};
use proptest::prelude::*;

/// Reads all blocks, with the tables at the end.
fn read(bytes: &[u8]) -> (Tables, Columns) {
    let mut reader = BinaryReader::new(bytes);
    let mut block = Block::default();
    let mut columns = Columns::default();
    while reader.next_block(&mut block).expect("what was written is read") {
        assert_eq!(block.first, columns.len() as u64);
        assert!(!block.columns.is_empty() && block.columns.len() <= Block::EVENTS);
        columns.append(&block.columns);
    }
    assert!(reader.problems().is_empty());
    assert!(!reader.next_block(&mut block).expect("the end stays the end"));
    (reader.take_tables(), columns)
}

/// Writes each step as its own block, like a source that learns as it reads.
fn write_steps(tables: &mut Tables, steps: &[Step]) -> (Vec<u8>, Columns) {
    let mut out = Vec::new();
    let mut writer = BinaryWriter::new(&mut out).expect("memory takes it");
    let mut all = Columns::default();
    for step in steps {
        step.grow(tables);
        let mut block = Block { first: all.len() as u64, columns: Columns::default() };
        step.append(tables, &mut block.columns);
        writer.block(tables, &block).expect("all ids are in their tables");
        all.append(&block.columns);
    }
    writer.finish(tables).expect("memory takes it");
    (out, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_steps_round_trip(mut tables in meta(), steps in prop::collection::vec(step(12), 0..5)) {
        let (bytes, columns) = write_steps(&mut tables, &steps);
        let (tables_read, columns_read) = read(&bytes);
        prop_assert_eq!(&tables_read, &tables);
        prop_assert_eq!(&columns_read, &columns);
        // And the same trace written in another division into blocks is the same.
        let (tables_again, columns_again) = read(&write(&tables, &columns));
        prop_assert_eq!(tables_again, tables);
        prop_assert_eq!(columns_again, columns);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn traces_of_many_blocks_round_trip(
        mut tables in meta(),
        steps in prop::collection::vec(step(40), 1..5),
        tail in 0..3usize,
    ) {
        steps.iter().for_each(|step| step.grow(&mut tables));
        let mut columns = Columns::default();
        let mut turn = 0;
        let wanted = Block::EVENTS + [0, 1, Block::EVENTS][tail];
        while columns.len() < wanted && turn < wanted {
            steps[turn % steps.len()].append(&tables, &mut columns);
            turn += 1;
        }
        let (tables_read, columns_read) = read(&write(&tables, &columns));
        prop_assert_eq!(tables_read, tables);
        prop_assert!(columns_read == columns);
    }
}

#[test]
fn every_table_and_column_of_the_sample_round_trips() {
    let (tables, columns) = sample();
    let bytes = write(&tables, &columns);
    assert_eq!(bytes[..8], MAGIC);
    let (tables_read, columns_read) = read(&bytes);
    assert_eq!(tables_read, tables);
    assert_eq!(columns_read, columns);
}

#[test]
fn an_empty_trace_round_trips() {
    let (tables, columns) = read(&write(&Tables::default(), &Columns::default()));
    assert_eq!(tables, Tables::default());
    assert!(columns.is_empty());
}

/// One handler and one task a step, more handlers than lanes, in blocks of full length. Each block
/// is read with the handlers that it was written with.
#[test]
fn handlers_are_known_as_they_were_at_each_block() {
    let mut tables = Tables::default();
    let mut out = Vec::new();
    let mut writer = BinaryWriter::new(&mut out).expect("memory takes it");
    let mut written: Vec<(Vec<Handler>, Block)> = Vec::new();
    for step in 0..3u32 {
        if let Some(first) = tables.handlers.first_mut() {
            first.mailbox = Mailbox::from_number(step as u8).expect("there are four");
            first.untracked = step == 2;
        }
        for _ in 0..300 {
            tables.handlers.push(Handler::default());
            let handler = anyorder_trace::HandlerId::from_index(tables.handlers.len() - 1);
            let name = NameId::EMPTY;
            tables.tasks.push(TaskDef {
                name,
                kind: TaskKind::Initial,
                handler,
                delay: 0,
                position: Default::default(),
            });
        }
        let mut columns = Columns::default();
        for row in 0..Block::EVENTS as u32 {
            let task = TaskId((row * row) % tables.tasks.len() as u32);
            columns.push(Op::from(EventKind::Choice), task, row / 3, SiteId::UNKNOWN);
        }
        let block = Block { first: u64::from(step) << 16, columns };
        writer.block(&tables, &block).expect("all ids are in their tables");
        written.push((tables.handlers.clone(), block));
    }
    writer.finish(&tables).expect("memory takes it");
    let mut reader = BinaryReader::new(&out[..]);
    let mut block = Block::default();
    for (handlers, expected) in written {
        assert!(reader.next_block(&mut block).expect("it was just written"));
        assert!(block == expected);
        assert_eq!(reader.tables().handlers, handlers);
    }
    assert!(!reader.next_block(&mut block).expect("it was just written"));
}

#[test]
fn small_blocks_are_joined() {
    let (tables, columns) = sample();
    let mut out = Vec::new();
    let mut writer = BinaryWriter::new(&mut out).expect("memory takes it");
    let mut first = 0;
    for _ in 0..50 {
        let block = Block { first, columns: columns.clone() };
        first += columns.len() as u64;
        writer.block(&tables, &block).expect("all ids are in their tables");
    }
    writer.finish(&tables).expect("memory takes it");
    let mut reader = BinaryReader::new(&out[..]);
    let mut block = Block::default();
    assert!(reader.next_block(&mut block).expect("it was just written"));
    assert_eq!(block.columns.len() as u64, first);
}

/// Blocks with and without numbers follow each other: their columns cannot be joined.
#[test]
fn numbers_may_come_and_go() {
    let (tables, columns) = sample();
    let mut bare = columns.clone();
    bare.numbers.clear();
    let mut out = Vec::new();
    let mut writer = BinaryWriter::new(&mut out).expect("memory takes it");
    let mut first = 0;
    for columns in [&columns, &bare, &columns] {
        writer.block(&tables, &Block { first, columns: columns.clone() }).expect("ids are good");
        first += columns.len() as u64;
    }
    writer.finish(&tables).expect("memory takes it");
    let mut reader = BinaryReader::new(&out[..]);
    let mut block = Block::default();
    for expected in [&columns, &bare, &columns] {
        assert!(reader.next_block(&mut block).expect("it was just written"));
        assert_eq!(&block.columns, expected);
    }
}

/// Longer than a section and than a block of tables.
#[test]
fn large_tables_round_trip() {
    let mut tables = Tables::default();
    tables.names.push(&"x".repeat(3 << 20)).expect("three mebibytes");
    for i in 0..70_000 {
        tables.names.push(&format!("name {i}")).expect("few bytes");
        tables.locks.push(NameId(i));
        tables.stacks.push(vec![SiteId(0); (i % 5) as usize]);
    }
    tables.stacks.push(vec![SiteId(0); 200_000]);
    tables.locations.push(anyorder_trace::Location::Named(NameId(1)));
    let location = anyorder_trace::LocationId(0);
    let writes: Vec<u64> = (0..200_000).map(|i| i * i).collect();
    tables.coherence.push(anyorder_trace::Coherence { location, writes });
    tables.coherence.push(anyorder_trace::Coherence { location, writes: Vec::new() });
    let (read, _) = read(&write(&tables, &Columns::default()));
    assert!(read == tables);
}

/// The writer refuses everything that the reader would refuse, with the reason.
#[test]
fn the_writer_refuses_invalid_traces() {
    let (tables, columns) = sample();
    let refused = |change: &dyn Fn(&mut Columns), wanted: &str| {
        let mut columns = columns.clone();
        change(&mut columns);
        let mut writer = BinaryWriter::new(Vec::new()).expect("memory takes it");
        let result = writer
            .block(&tables, &Block { first: 0, columns })
            .and_then(|()| writer.finish(&tables));
        let error = result.expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}, expected {wanted}");
    };
    refused(&|columns| columns.tasks[3] = TaskId(4), "task 4, expected one of the 4 known");
    refused(
        &|columns| columns.operands[0] = 4,
        "`read` of location 4, expected one of the 4 known",
    );
    refused(&|columns| columns.sites[0] = SiteId(2), "site 2");
    refused(&|columns| columns.stacks.push(50, anyorder_trace::StackId(1)), "stack 1");
    refused(&|columns| columns.values.push(66, 1), "property of row 66");
    refused(&|columns| columns.tasks.truncate(3), "different lengths");
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory takes it");
    let late = Block { first: 1, columns: columns.clone() };
    assert!(writer.block(&tables, &late).is_err());
    writer.finish(&tables).expect("memory takes it");
    assert!(writer.finish(&tables).is_err());
    assert!(blocks(&columns).iter().all(|block| writer.block(&tables, block).is_err()));
}

/// The whole way through a `Trace`, as `convert` does it.
#[test]
fn a_trace_round_trips_through_trace_read() {
    let (tables, columns) = sample();
    let trace = Trace::new(tables, columns);
    let mut out = Vec::new();
    trace
        .write(&mut BinaryWriter::new(&mut out).expect("memory takes it"))
        .expect("memory takes it");
    assert_eq!(Trace::read(&mut BinaryReader::new(&out[..])).expect("it was just written"), trace);
}
