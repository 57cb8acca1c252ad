//! Files with correct checksums and invalid contents: the reader must not panic, take unbounded
//! memory, or return an id that is not in its table.

use crate::native_binary::random::{sample, write};
use anyorder_formats::native_binary::{BinaryFile, BinaryReader, RAW_BYTES_MAX};
use anyorder_trace::{
    Block, EventKind, LabelScheme, Mailbox, OperandKind, ReadError, Tables, TraceBuilder,
    TraceSource,
};
use std::io::Cursor;

const HEAD: usize = 32;

/// A block taken apart.
#[derive(Clone)]
struct Part {
    kind: u8,
    events: u32,
    first: u64,
    contents: Vec<u8>,
}

/// Takes the blocks of a good file apart, without its trailer.
fn disassemble(bytes: &[u8]) -> Vec<Part> {
    let mut at = 16;
    let mut parts = Vec::new();
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    while at + HEAD < bytes.len() {
        let (packed, raw) = (u32_at(at + 4) as usize, u32_at(at + 8) as usize);
        let first = u64::from_le_bytes(bytes[at + 16..at + 24].try_into().expect("eight bytes"));
        let contents =
            zstd::bulk::decompress(&bytes[at + HEAD..at + HEAD + packed], raw).expect("good");
        parts.push(Part { kind: bytes[at], events: u32_at(at + 12), first, contents });
        at += HEAD + packed;
    }
    parts
}

fn head(part: &Part, packed: &[u8], raw: u32) -> Vec<u8> {
    let mut head = vec![part.kind, 0, 0, 0];
    head.extend((packed.len() as u32).to_le_bytes());
    head.extend(raw.to_le_bytes());
    head.extend(part.events.to_le_bytes());
    head.extend(part.first.to_le_bytes());
    head.extend(crc32fast::hash(packed).to_le_bytes());
    head.extend(crc32fast::hash(&head).to_le_bytes());
    head
}

/// Puts blocks together again with right checksums and a right trailer.
fn assemble(file_head: &[u8], parts: &[Part]) -> Vec<u8> {
    let mut out = file_head[..16].to_vec();
    let mut last = 0;
    for part in parts {
        last = out.len() as u64;
        let packed = zstd::bulk::compress(&part.contents, 1).expect("memory takes it");
        out.extend(head(part, &packed, part.contents.len() as u32));
        out.extend(packed);
    }
    out.extend(last.to_le_bytes());
    out.extend(crc32fast::hash(&last.to_le_bytes()).to_le_bytes());
    out.extend(b"AOTE");
    out
}

/// The same, with an index that fits the blocks, as their packed lengths change with their
/// contents.
fn put_together_with_index(file_head: &[u8], parts: &[Part]) -> Vec<u8> {
    let mut parts = parts.to_vec();
    let mut index = parts.pop().expect("a good file has an index");
    let events: u32 = parts.iter().map(|part| part.events).sum();
    assert!(parts.len() < 128 && events < 128, "numbers of one byte");
    index.contents = vec![parts.len() as u8, events as u8];
    index.contents.extend(parts.iter().map(|part| part.kind));
    let offsets = (0..parts.len()).map(|end| assemble(file_head, &parts[..end]).len() - 16);
    let mut last = 0;
    let deltas: Vec<u64> =
        offsets.map(|offset| 2 * (offset - std::mem::replace(&mut last, offset)) as u64).collect();
    index.contents.push(8);
    for plane in 0..8 {
        index.contents.extend(deltas.iter().map(|delta| (delta >> (8 * plane)) as u8));
    }
    index.contents.push(1);
    index.contents.extend(parts.iter().map(|part| part.events as u8));
    parts.push(index);
    assemble(file_head, &parts)
}

/// Reads to the end or the first error, and checks every id given out on the way.
fn read_checked(bytes: &[u8]) -> Result<u64, ReadError> {
    let mut reader = BinaryReader::new(bytes).tables_limit(64 << 20);
    let mut block = Block::default();
    let mut events = 0;
    while reader.next_block(&mut block)? {
        check_ids(reader.tables(), &block);
        events += block.columns.len() as u64;
    }
    Ok(events)
}

fn check_ids(tables: &Tables, block: &Block) {
    let columns = &block.columns;
    let count = columns.ops.len();
    assert_eq!(columns.tasks.len(), count);
    assert_eq!(columns.operands.len(), count);
    assert_eq!(columns.sites.len(), count);
    assert!(columns.numbers.is_empty() || columns.numbers.len() == count);
    for row in 0..count {
        assert!(columns.tasks[row].index() < tables.tasks.len());
        assert!(columns.sites[row].index() < tables.sites.len());
        let size = match columns.ops[row].kind().operand() {
            OperandKind::Nothing | OperandKind::Number => usize::MAX,
            OperandKind::Location => tables.locations.len(),
            OperandKind::Task => tables.tasks.len(),
            OperandKind::Handler => tables.handlers.len(),
            OperandKind::Lock => tables.locks.len(),
            OperandKind::Condition => tables.conditions.len(),
            OperandKind::Invocation => tables.invocations.len(),
            OperandKind::Input => tables.inputs.len(),
            OperandKind::Name => tables.names.len(),
        };
        assert!((columns.operands[row] as usize) < size);
        if tables.meta.labels == LabelScheme::Name && !columns.numbers.is_empty() {
            assert!((columns.numbers[row] as usize) < tables.names.len());
        }
    }
    let rows = [
        columns.values.iter().map(|(row, _)| row).max(),
        columns.refers.iter().map(|(row, _)| row).max(),
    ];
    assert!(rows.into_iter().flatten().all(|row| (row as usize) < count));
    assert!(
        columns
            .stacks
            .iter()
            .all(|(row, id)| (row as usize) < count && id.index() < tables.stacks.len())
    );
    let names = tables.names.len();
    assert!(tables.tasks.iter().all(|task| task.name.index() < names
        && (task.handler.is_none() || task.handler.index() < tables.handlers.len())));
    assert!(tables.locks.iter().chain(&tables.conditions).all(|name| name.index() < names));
    assert!(tables.stacks.iter().flatten().all(|site| site.index() < tables.sites.len()));
    assert!(tables.coherence.iter().all(|order| order.location.index() < tables.locations.len()));
}

#[test]
fn every_byte_of_the_contents_may_be_anything() {
    let (mut tables, columns) = sample();
    let (mut refused, mut accepted) = (0, 0);
    for labels in [LabelScheme::Line, LabelScheme::Name] {
        tables.meta.labels = labels;
        let mut columns = columns.clone();
        columns.numbers.iter_mut().for_each(|number| *number %= 5);
        let bytes = write(&tables, &columns);
        let parts = disassemble(&bytes);
        assert!(read_checked(&assemble(&bytes, &parts)).is_ok(), "taking apart loses nothing");
        let mut sought = 0;
        for block in 0..parts.len() {
            for at in 0..parts[block].contents.len() {
                for change in [1, 2, 0x10, 0x7f, 0x80, 0xff] {
                    let mut changed = parts.clone();
                    changed[block].contents[at] ^= change;
                    match read_checked(&assemble(&bytes, &changed)) {
                        Ok(_) => accepted += 1,
                        Err(ReadError::Malformed { problems, .. }) => {
                            assert!(
                                problems.list[0]
                                    .place
                                    .block
                                    .is_some_and(|found| found >= block as u64)
                            );
                            refused += 1;
                        }
                        Err(error) => unreachable!("{error}"),
                    }
                    let damaged = put_together_with_index(&bytes, &changed);
                    if let Ok(mut file) = BinaryFile::open(Cursor::new(&damaged)) {
                        let mut block = Block::default();
                        if matches!(file.read_block(0, &mut block), Ok(true)) {
                            check_ids(file.tables(), &block);
                            sought += 1;
                        }
                    }
                }
            }
        }
        assert!(sought > 100, "files were read by block");
    }
    println!("{refused} changed files refused, {accepted} read as other traces");
    assert!(refused > 1_000 && accepted > 100, "both must be met");
}

#[test]
fn contents_may_end_early_or_late() {
    let (tables, columns) = sample();
    let bytes = write(&tables, &columns);
    let parts = disassemble(&bytes);
    for block in 0..2 {
        for length in 0..parts[block].contents.len() {
            let mut parts = parts.clone();
            parts[block].contents.truncate(length);
            // Tables may end after any section that nothing refers to.
            let result = read_checked(&assemble(&bytes, &parts));
            assert!(block == 0 || result.is_err(), "block {block} of {length} bytes");
        }
        let mut parts = parts.clone();
        parts[block].contents.push(0);
        assert!(read_checked(&assemble(&bytes, &parts)).is_err());
    }
}

#[test]
fn unknown_kinds_are_kept_by_name() {
    let (tables, columns) = sample();
    let bytes = write(&tables, &columns);
    let mut parts = disassemble(&bytes);
    // The kinds of the pairs follow their number, which fits into a byte.
    let events = &mut parts[1].contents;
    let pairs = usize::from(events[0]);
    let failure = events[1..=pairs].iter().position(|kind| *kind == EventKind::Signal as u8);
    events[1 + failure.expect("the sample has every kind")] = 42;
    // A later block of tables: names of the file after the inserted one.
    parts.insert(
        2,
        Part {
            kind: 1,
            events: 0,
            first: columns.len() as u64,
            contents: b"\x02\x01\x01\x04late\x07\x01\x01\x0c".to_vec(),
        },
    );
    let index = parts.last_mut().expect("an index");
    index.contents[0] += 1;
    let changed = assemble(&bytes, &parts);
    let mut reader = BinaryReader::new(&changed[..]);
    let mut block = Block::default();
    assert!(reader.next_block(&mut block).expect("kinds may be unknown"));
    check_ids(reader.tables(), &block);
    let others: Vec<&str> = (0..block.columns.len())
        .filter(|row| block.columns.ops[*row].kind() == EventKind::Other)
        .map(|row| reader.tables().name(anyorder_trace::NameId(block.columns.operands[row])))
        .collect();
    assert!(others.contains(&"kind-42"), "{others:?}");
    assert!(!reader.next_block(&mut block).expect("the index was adapted"));
    let lock = *reader.tables().locks.last().expect("the lock that came late");
    assert_eq!(reader.tables().name(lock), "late", "names of the file keep their meaning");
}

/// A file with one block that claims to unpack to `raw` bytes, and unpacks to `real`.
fn bomb(raw: u32, real: usize) -> Vec<u8> {
    let bytes = write(&Tables::default(), &anyorder_trace::Columns::default());
    let packed = zstd::bulk::compress(&vec![0; real], 19).expect("memory takes it");
    let mut out = bytes[..16].to_vec();
    let part = Part { kind: 2, events: 1, first: 0, contents: Vec::new() };
    out.extend(head(&part, &packed, raw));
    out.extend(&packed);
    out
}

fn message(bytes: &[u8]) -> String {
    match read_checked(bytes) {
        Err(ReadError::Malformed { problems, .. }) => {
            let problem = &problems.list[0];
            assert_eq!(problem.place.block, Some(0));
            assert_eq!(problem.place.offset, Some(16));
            problem.message.clone()
        }
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn bombs_are_refused_before_they_unpack() {
    assert!(
        message(&bomb(RAW_BYTES_MAX + 1, 1000))
            .contains("unpacked bytes, expected 67108864 at the most")
    );
    assert!(message(&bomb(u32::MAX, 1000)).contains("unpacked bytes"));
    // More inside than declared: unpacking stops at the declared size.
    assert!(message(&bomb(100, 200 << 20)).contains("does not unpack to 100 bytes"));
    // Less inside than declared.
    assert!(message(&bomb(1000, 100)).contains("unpacks to 100 bytes, expected 1000"));
    // Zeros of the full size are no trace.
    assert!(!message(&bomb(1 << 20, 1 << 20)).is_empty());
}

#[test]
fn tables_beyond_their_limit_are_refused() {
    let bytes = write(&Tables::default(), &anyorder_trace::Columns::default());
    // A section of 32,768 empty stacks takes six bytes.
    let contents: Vec<u8> = b"\x0b\x80\x80\x02\x00\x00".repeat(10_000);
    let parts = [Part { kind: 1, events: 0, first: 0, contents }];
    let out = assemble(&bytes, &parts);
    assert!(out.len() < 1000, "a small file");
    assert!(message(&out).contains("tables of more than 67108864 bytes"));
}

/// A block of two events on two handlers, byte by byte, and the result of changing one of the
/// bytes.
#[test]
fn each_part_of_a_block_is_checked() {
    let mut b = TraceBuilder::new();
    for name in ["a", "b"] {
        let handler = b.handler(name, Mailbox::None).expect("few");
        let task = b.initial(handler);
        b.push(task, EventKind::Choice.into(), 0);
    }
    let trace = b.finish();
    let bytes = write(trace.tables(), trace.columns());
    #[rustfmt::skip]
    let contents = [
        1, 26, 0, 0, // one pair: choice, plain, site 0
        1, 0, 0, // one entry: pair 0, operand 0
        0, 0, 0, // tokens of a byte: twice entry 0
        1, 1, 1, 1, 1, 0x10, // nibbles, two lanes of one event each, lane 0 then lane 1
        2, 1, 0, 2, 1, 1, 1, // two runs: task 0 and task 0 + 1, of one event each
        0, // no numbers
        0, 0, 0, 0, // no values, times, stacks, refers
    ];
    let with = |at: usize, byte: u8| {
        let mut parts = disassemble(&bytes);
        parts[1].contents = contents.to_vec();
        parts[1].contents[at] = byte;
        read_checked(&assemble(&bytes, &parts))
    };
    assert_eq!(with(0, 1).expect("nothing changed"), 2);
    for (at, byte, wanted) in [
        (0, 3, "distinct kinds and sites: 3, expected 2 at the most"),
        (1, 0, "`read` of location 0, expected one of the 0 known"),
        (2, 8, "mode 8, expected 7 at the most"),
        (3, 5, "sites: 5 planes, expected 4 at the most"),
        (4, 3, "distinct operations: 3, expected 2 at the most"),
        (7, 4, "way 4 of writing tokens"),
        (9, 1, "token 1, expected one of 1 operations"),
        (10, 4, "way 4 of writing lanes"),
        (10, 0, "2 lanes without an order"),
        (13, 2, "lanes of 3 events, expected 2"),
        (13, 0, "lanes of 1 events, expected 2"),
        (15, 0x20, "lane 2, expected one of 2"),
        (15, 0x00, "lanes have other numbers of events"),
        (16, 3, "runs of tasks: 3, expected 2 at the most"),
        (19, 4, "task 2, expected one of the 2 known"),
        (21, 3, "run of 3 events of a task, expected 2 at the most"),
        (22, 0, "tasks end 1 events before the block"),
        (23, 3, "way 3 of writing numbers"),
        (24, 3, "values: 3, expected 2 at the most"),
    ] {
        match with(at, byte) {
            Err(ReadError::Malformed { problems, .. }) => {
                let message = &problems.list[0].message;
                assert!(
                    message.contains(wanted),
                    "byte {at} = {byte}: {message}, expected {wanted}"
                );
            }
            other => unreachable!("byte {at} = {byte}: {other:?}, expected {wanted}"),
        }
    }
}
