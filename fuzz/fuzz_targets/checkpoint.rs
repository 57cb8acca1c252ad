//! Checkpoints with right checksums around any contents.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| anyorder_fuzz::stored::checkpoint(data));
