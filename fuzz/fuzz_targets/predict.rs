//! Predictions of made traces by all analyses, each witness against the checker.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| anyorder_fuzz::predictions::check(data));
