//! Schedules as JSON, over a model that stays the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| anyorder_fuzz::stored::schedule(data));
