//! Commutativity specifications.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| anyorder_fuzz::settings::specification(data));
