//! The STD reader; what it reads it can write, and that reads again.
#![no_main]

use anyorder_fuzz::{check, write};
use anyorder_formats::std::{StdReader, StdWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(trace) = check(&mut StdReader::new(data)) else { return };
    if let Some(text) = write(&trace, |out| Box::new(StdWriter::new(out))) {
        let again = check(&mut StdReader::new(&text[..]));
        assert!(again.is_some(), "{}", String::from_utf8_lossy(&text));
    }
});
