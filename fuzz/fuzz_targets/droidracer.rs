//! The reader of DroidRacer's logs.
#![no_main]

use anyorder_fuzz::check;
use anyorder_formats::droidracer::DroidRacerReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = check(&mut DroidRacerReader::new(data));
});
