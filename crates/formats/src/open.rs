//! Opens a reader or a writer of any format.

use crate::detect::Format;
use crate::droidracer::DroidRacerReader;
use crate::edtrace::{EdtraceOptions, EdtraceReader, EdtraceWriter};
use crate::logs::{LogReader, RapidCsv, RoadRunner, SpeedyGo, TsanLog};
use crate::native_binary::{BinaryReader, BinaryWriter};
use crate::native_text::{NativeTextReader, NativeTextWriter};
use crate::rapid_binary::RapidBinaryReader;
use crate::std::{StdReader, StdWriter};
use anyorder_trace::{ReadError, TraceSink, TraceSource};
use std::io::{self, BufRead, Write};

/// Options of the readers; each option concerns one format.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpenOptions {
    /// For `edtrace`: accepts variables with several writes and no `co` line.
    pub infer_coherence: bool,
    /// For the native binary format: keeps the complete blocks before damage, with a warning.
    pub salvage: bool,
    /// For STD: the table of sites, lines of `label<TAB>function<TAB>file:line`.
    pub sites: Option<String>,
}

/// Opens a reader of the given format.
///
/// # Errors
///
/// Fails when the input cannot be read, or when the part that is read immediately (a file head, a
/// table of sites) breaks its format.
pub fn open<'a>(
    format: Format,
    input: Box<dyn BufRead + 'a>,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource + 'a>, ReadError> {
    Ok(match format {
        Format::NativeBinary => Box::new(BinaryReader::new(input).salvage(options.salvage)),
        Format::NativeText => Box::new(NativeTextReader::new(input)),
        Format::Edtrace => {
            let options = EdtraceOptions { infer_coherence: options.infer_coherence };
            Box::new(EdtraceReader::with_options(input, options))
        }
        Format::Std => {
            let reader = StdReader::new(input);
            match &options.sites {
                Some(sites) => Box::new(reader.with_sites(sites)?),
                None => Box::new(reader),
            }
        }
        Format::DroidRacer => Box::new(DroidRacerReader::new(input)),
        Format::RapidBinary => Box::new(RapidBinaryReader::new(input)),
        Format::RapidCsv => Box::new(LogReader::<_, RapidCsv>::new(input)),
        Format::SpeedyGo => Box::new(LogReader::<_, SpeedyGo>::new(input)),
        Format::TsanLog => Box::new(LogReader::<_, TsanLog>::new(input)),
        Format::RoadRunner => Box::new(LogReader::<_, RoadRunner>::new(input)),
    })
}

/// Opens a writer of the given format.
///
/// Writers keep at most a block of the trace in memory. The writer of `edtrace` keeps all of it.
///
/// # Errors
///
/// Fails when the output cannot be written, and for formats that are not
/// [writable](Format::is_writable).
pub fn create<'a>(
    format: Format,
    output: Box<dyn Write + 'a>,
) -> io::Result<Box<dyn TraceSink + 'a>> {
    Ok(match format {
        Format::NativeBinary => Box::new(BinaryWriter::new(output)?),
        Format::NativeText => Box::new(NativeTextWriter::new(output)),
        Format::Edtrace => Box::new(EdtraceWriter::new(output)),
        Format::Std => Box::new(StdWriter::new(output)),
        Format::DroidRacer
        | Format::RapidBinary
        | Format::RapidCsv
        | Format::SpeedyGo
        | Format::TsanLog
        | Format::RoadRunner => {
            let message = format!("{} is only read, not written", format.title());
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
    })
}
