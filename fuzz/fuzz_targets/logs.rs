//! The readers of RAPID's binary traces and of logs of other tools. What they read can be written
//! as STD, and read again.
#![no_main]

use anyorder_formats::detect::Format;
use anyorder_formats::open::{OpenOptions, open};
use anyorder_formats::std::{StdReader, StdWriter};
use anyorder_fuzz::{check, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((which, data)) = data.split_first() else { return };
    let formats = [
        Format::RapidBinary,
        Format::RapidCsv,
        Format::SpeedyGo,
        Format::TsanLog,
        Format::RoadRunner,
    ];
    let format = formats[usize::from(*which) % formats.len()];
    let Ok(mut source) = open(format, Box::new(data), &OpenOptions::default()) else { return };
    let Some(trace) = check(&mut *source) else { return };
    if let Some(text) = write(&trace, |out| Box::new(StdWriter::new(out))) {
        let again = check(&mut StdReader::new(&text[..]));
        assert!(again.is_some(), "{}", String::from_utf8_lossy(&text));
    }
});
