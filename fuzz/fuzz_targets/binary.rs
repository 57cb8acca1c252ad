//! The native binary reader: files as they are, and files with right checksums around any contents.
#![no_main]

use anyorder_fuzz::{check, frames, read};
use anyorder_trace::Block;
use anyorder_formats::native_binary::{BinaryFile, BinaryReader, MAGIC};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// The bytes that tables may take, well below what the fuzzer may.
const TABLE_BYTES_MAX: usize = 64 << 20;

fuzz_target!(|data: &[u8]| {
    let made = if data.starts_with(&MAGIC) { data.to_vec() } else { frames::file(data) };
    let reader = || BinaryReader::new(&made[..]).tables_limit(TABLE_BYTES_MAX);
    let whole = check(&mut reader());
    let salvaged = read(&mut reader().salvage(true));
    if let Some(whole) = whole {
        assert!(
            salvaged.is_some_and(|salvaged| salvaged == whole),
            "salvaging a whole file loses nothing"
        );
    }
    let mut block = Block::default();
    for open in [BinaryFile::open, BinaryFile::recover] {
        if let Ok(mut file) = open(Cursor::new(&made[..])) {
            for position in 0..file.blocks().len() {
                let _ = file.read_block(position, &mut block);
            }
        }
    }
});
