//! Witnesses as JSON, about traces that stay the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| anyorder_fuzz::stored::witness(data));
