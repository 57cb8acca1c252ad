//! Reading by block number equals streaming.

use crate::native_binary::random::{sample, write};
use anyorder_formats::native_binary::{BinaryFile, BinaryReader};
use anyorder_trace::{Block, Columns, Tables, TraceSource};
use std::io::Cursor;

fn long() -> (Tables, Columns) {
    let (tables, part) = sample();
    let mut columns = Columns::default();
    while columns.len() < 3 * Block::EVENTS {
        columns.append(&part);
    }
    (tables, columns)
}

#[test]
fn blocks_by_number_are_those_of_the_stream() {
    let (tables, columns) = long();
    let bytes = write(&tables, &columns);
    let mut streamed = Vec::new();
    let mut reader = BinaryReader::new(&bytes[..]);
    let mut block = Block::default();
    while reader.next_block(&mut block).expect("it was just written") {
        streamed.push(block.clone());
    }
    assert!(streamed.len() > 3);
    let opened = BinaryFile::open(Cursor::new(&bytes)).expect("it has an index");
    let recovered = BinaryFile::recover(Cursor::new(&bytes)).expect("it is whole");
    for mut file in [opened, recovered] {
        assert_eq!(file.tables(), &tables);
        assert_eq!(file.blocks().len(), streamed.len());
        // Backwards, as a stream cannot.
        for (position, expected) in streamed.iter().enumerate().rev() {
            assert!(file.read_block(position, &mut block).expect("it was just written"));
            assert!(&block == expected);
            let info = file.blocks()[position];
            assert_eq!(
                (info.first, info.events_count as usize),
                (block.first, block.columns.len())
            );
            assert_eq!(file.block_of(info.first), Some(position));
            assert_eq!(
                file.block_of(info.first + u64::from(info.events_count) - 1),
                Some(position)
            );
        }
        assert!(!file.read_block(streamed.len(), &mut block).expect("there is none"));
        assert_eq!(file.block_of(columns.len() as u64), None);
    }
}

#[test]
fn a_file_cut_off_is_recovered_block_by_block() {
    let (tables, columns) = long();
    let bytes = write(&tables, &columns);
    let whole = BinaryFile::open(Cursor::new(&bytes)).expect("it has an index");
    let last = *whole.blocks().last().expect("four blocks");
    let cut = &bytes[..last.offset as usize + 40];
    let error = BinaryFile::open(Cursor::new(cut)).expect_err("the index is gone");
    assert!(format!("{error:?}").contains("ends without an index"));
    let mut file = BinaryFile::recover(Cursor::new(cut)).expect("the head is whole");
    assert_eq!(file.blocks(), &whole.blocks()[..whole.blocks().len() - 1]);
    let mut block = Block::default();
    assert!(file.read_block(1, &mut block).expect("it is whole"));
    assert_eq!(block.first, Block::EVENTS as u64);
}

#[test]
fn a_damaged_block_is_named_and_the_others_are_read() {
    let (tables, columns) = long();
    let mut bytes = write(&tables, &columns);
    let place = BinaryFile::open(Cursor::new(&bytes)).expect("it has an index").blocks()[1];
    bytes[place.offset as usize + 60] ^= 1;
    let mut file = BinaryFile::open(Cursor::new(&bytes)).expect("index and tables are whole");
    let mut block = Block::default();
    let error = format!("{:?}", file.read_block(1, &mut block).expect_err("it is damaged"));
    assert!(
        error.contains("checksum") && error.contains(&format!("offset: Some({})", place.offset)),
        "{error}"
    );
    assert!(block.columns.is_empty());
    assert!(file.read_block(2, &mut block).expect("it is whole"));
}
