//! Recognising a format by content, then reading it.
#![no_main]

use anyorder_fuzz::check;
use anyorder_formats::detect::detect;
use anyorder_formats::open::{OpenOptions, open};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    match detect(data) {
        Ok(format) => {
            if let Ok(mut source) = open(format, Box::new(data), &OpenOptions::default()) {
                let _ = check(&mut *source);
            }
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
});
