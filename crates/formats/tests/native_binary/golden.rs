//! The format is stable: a checked-in file reads as it always has.
//!
//! To change the *writer*, keep the file and add a second one. After a change of the *version*,
//! this file remains the test of version 1. `ANYORDER_BLESS=1` writes the file if it is missing.

use crate::native_binary::random::{sample, write};
use anyorder_formats::native_binary::BinaryReader;
use anyorder_trace::Trace;
use std::path::Path;

#[test]
fn version_1_reads_as_it_always_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1.aot");
    let (tables, columns) = sample();
    if std::env::var_os("ANYORDER_BLESS").is_some() && !path.exists() {
        std::fs::write(&path, write(&tables, &columns)).expect("the checkout can be written");
    }
    let bytes = std::fs::read(&path).expect("the golden file is checked in");
    assert!(bytes.len() < 1_200, "small enough to look at");
    let trace =
        Trace::read(&mut BinaryReader::new(&bytes[..])).expect("version 1 is read for ever");
    assert_eq!(trace, Trace::new(tables, columns));
}
