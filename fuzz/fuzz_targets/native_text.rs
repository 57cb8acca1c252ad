//! The native text reader.
#![no_main]

use anyorder_fuzz::check;
use anyorder_formats::native_text::NativeTextReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = check(&mut NativeTextReader::new(data));
});
