//! The edtrace reader, with and without inferred coherence; what it reads it can write, and that reads again.
#![no_main]

use anyorder_fuzz::{check, write};
use anyorder_formats::edtrace::{EdtraceOptions, EdtraceReader, EdtraceWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for infer_coherence in [false, true] {
        let options = || EdtraceOptions { infer_coherence };
        let Some(trace) = check(&mut EdtraceReader::with_options(data, options())) else {
            continue;
        };
        if let Some(text) = write(&trace, |out| Box::new(EdtraceWriter::new(out))) {
            let again = check(&mut EdtraceReader::with_options(&text[..], options()));
            let again = again.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&text)));
            assert_eq!(again.len(), trace.len());
        }
    }
});
