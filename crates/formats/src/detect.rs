//! Recognises the format of an input by its content, never by its name.

use crate::droidracer::looks_like_operation;
use crate::foreign::{Foreign, foreign, foreign_binary};
use crate::logs::{
    looks_like_rapid_csv, looks_like_roadrunner, looks_like_speedygo, looks_like_tsan_log,
};
use crate::native_binary::MAGIC;
use crate::rapid_binary::looks_like_rapid_binary;
use crate::text_input::BYTE_ORDER_MARK;
use anyorder_common::coded;
use anyorder_common::text::escape;
use std::fmt;

/// The formats that can be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// The binary format of this project.
    NativeBinary,
    /// The text format of this project.
    NativeText,
    /// Partial traces, for consistency checking.
    Edtrace,
    /// The race-prediction community's text format.
    Std,
    /// Logs of the Android runtime.
    DroidRacer,
    /// RAPID's binary traces.
    RapidBinary,
    /// RAPID's tables with a column for each thread.
    RapidCsv,
    /// Logs of SpeedyGo.
    SpeedyGo,
    /// Logs of TsanLogging.
    TsanLog,
    /// Logs of RoadRunner.
    RoadRunner,
}

coded! {
    @words pub Format {
        NativeBinary "binary",
        NativeText "text",
        Edtrace "edtrace",
        Std "std",
        DroidRacer "droidracer",
        RapidBinary "rapid-binary",
        RapidCsv "rapid-csv",
        SpeedyGo "speedygo",
        TsanLog "tsan-log",
        RoadRunner "roadrunner",
    }
}

impl Format {
    /// Returns the name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Format::NativeBinary => "native binary",
            Format::NativeText => "native text",
            Format::Edtrace => "edtrace",
            Format::Std => "STD",
            Format::DroidRacer => "DroidRacer log",
            Format::RapidBinary => "RAPID binary",
            Format::RapidCsv => "RAPID table",
            Format::SpeedyGo => "SpeedyGo log",
            Format::TsanLog => "TsanLogging log",
            Format::RoadRunner => "RoadRunner log",
        }
    }
}

impl Format {
    /// Returns whether traces can be written in it.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        use Format::{Edtrace, NativeBinary, NativeText, Std};
        matches!(self, NativeBinary | NativeText | Edtrace | Std)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// This many bytes from the start of an input are enough to recognise it.
pub const HEAD_BYTES: usize = 1 << 16;

/// Only this many lines are inspected: real traces start with their format.
const LINES_MAX: usize = 64;

/// Why a format was not recognised.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DetectError {
    /// The input is empty.
    #[error("the input is empty, expected a trace")]
    Empty,
    /// It is not text, and not the native binary format.
    #[error("{what}, expected a trace: text, or a native binary file beginning with `\\x89AOT`")]
    Binary {
        /// A description of the input, as far as it is known.
        what: &'static str,
    },
    /// It is text, but fits no format.
    #[error(
        "line {line}: `{text}` fits no format, expected `anyorder-trace 1`, `edtrace 1`, \
         STD (`T1|acq(L1)|12`), a log of DroidRacer, SpeedyGo, TsanLogging or RoadRunner, or a table \
         of RAPID"
    )]
    Unknown {
        /// The first line with content, from 1.
        line: u64,
        /// Its beginning, with hostile characters escaped.
        text: String,
    },
    /// It is the output of another tool that is not a trace, or has an unsupported form.
    #[error("{}, expected a trace", .0.what)]
    Foreign(&'static Foreign),
    /// It fits several formats.
    #[error("the format is ambiguous: {}", words(.candidates))]
    Ambiguous {
        /// The formats it fits.
        candidates: Vec<Format>,
    },
}

fn words(formats: &[Format]) -> String {
    let words: Vec<&str> = formats.iter().map(|format| format.word()).collect();
    words.join(" or ")
}

/// Recognises a format by the first [`HEAD_BYTES`] bytes of an input, or by all of a shorter one.
///
/// # Errors
///
/// Fails when the input fits no format, or more than one.
pub fn detect(head: &[u8]) -> Result<Format, DetectError> {
    let head = &head[..head.len().min(HEAD_BYTES)];
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    if head.starts_with(&MAGIC) {
        return Ok(Format::NativeBinary);
    }
    if looks_like_rapid_binary(head) {
        return Ok(Format::RapidBinary);
    }
    if let Some(foreign) = foreign_binary(head) {
        return Err(DetectError::Foreign(foreign));
    }
    if let Some(what) = binary(head) {
        return Err(DetectError::Binary { what });
    }
    let mut candidates: Vec<Format> = Vec::new();
    let mut first: Option<(u64, &[u8])> = None;
    for (line, number) in head.split(|byte| *byte == b'\n').zip(1..).take(LINES_MAX) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        if let Some(format) = header(line).filter(|_| first.is_none()) {
            return Ok(format);
        }
        if line.starts_with(b"#") {
            continue;
        }
        first = first.or(Some((number, line)));
        let fits = [
            (Format::Std, looks_like_std(line)),
            (Format::DroidRacer, looks_like_operation(line)),
            (Format::SpeedyGo, looks_like_speedygo(line)),
            (Format::TsanLog, looks_like_tsan_log(line)),
            (Format::RoadRunner, looks_like_roadrunner(line)),
        ];
        for (format, fits) in fits {
            if fits && !candidates.contains(&format) {
                candidates.push(format);
            }
        }
    }
    if candidates.is_empty() && looks_like_rapid_csv(whole_lines(head)) {
        return Ok(Format::RapidCsv);
    }
    if candidates.is_empty()
        && let Some(foreign) = foreign(head)
    {
        return Err(DetectError::Foreign(foreign));
    }
    match (candidates.as_slice(), first) {
        ([format], _) => Ok(*format),
        ([], Some((line, text))) => Err(DetectError::Unknown { line, text: shown(text) }),
        ([], None) => Err(DetectError::Empty),
        _ => Err(DetectError::Ambiguous { candidates }),
    }
}

/// Returns the first lines with content of an input. The last one is left out where it may go on
/// behind the head.
fn whole_lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = match head.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if head.len() == HEAD_BYTES => &head[..end],
        _ => head,
    };
    let lines = whole.split(|byte| *byte == b'\n').take(LINES_MAX);
    lines.map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty())
}

/// Returns the format whose first line this is, whatever its version. The reader checks the
/// version.
fn header(line: &[u8]) -> Option<Format> {
    match line.split(|byte| byte.is_ascii_whitespace()).next()? {
        b"anyorder-trace" => Some(Format::NativeText),
        b"edtrace" => Some(Format::Edtrace),
        _ => None,
    }
}

/// Returns whether a line has the three parts of STD: thread, operation, site.
fn looks_like_std(line: &[u8]) -> bool {
    let mut parts = line.split(|byte| *byte == b'|');
    let (Some(thread), Some(operation), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let word = operation.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let rest = operation[word..].trim_ascii();
    !thread.is_empty() && word > 0 && (rest.is_empty() || rest.starts_with(b"("))
}

/// Describes an input that is not text; `None` for text.
fn binary(head: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 8] = [
        (b"\x1f\x8b", "the input is compressed with gzip; decompress it first"),
        (b"\x28\xb5\x2f\xfd", "the input is compressed with zstd; decompress it first"),
        (b"\xfd7zXZ\0", "the input is compressed with xz; decompress it first"),
        (b"BZh", "the input is compressed with bzip2; decompress it first"),
        (b"PK\x03\x04", "the input is a zip archive; unpack it first"),
        (b"\xff\xfe", "the input is text in UTF-16; convert it to UTF-8 first"),
        (b"\xfe\xff", "the input is text in UTF-16; convert it to UTF-8 first"),
        (
            b"\x89AOT",
            "the input begins like a native binary trace, but was damaged by a conversion",
        ),
    ];
    if let Some((_, what)) = known.iter().find(|(start, _)| head.starts_with(start)) {
        return Some(what);
    }
    if head.len() < MAGIC.len() && !head.is_empty() && MAGIC.starts_with(head) {
        return Some("the input ends within the first bytes of a native binary trace");
    }
    // Hostile names may contain a few control characters. No text contains zero bytes.
    let odd = |byte: &&u8| (**byte < b' ' && !b"\t\n\r\x1b\x0c".contains(byte)) || **byte == 0x7f;
    let odd_bytes = head.iter().filter(odd).count();
    (head.contains(&0) || odd_bytes * 10 > head.len()).then_some("the input is no text")
}

/// Makes the start of a line safe to display.
fn shown(line: &[u8]) -> String {
    const SHOWN_CHARS: usize = 80;
    let text = String::from_utf8_lossy(line);
    let start: String = text.chars().take(SHOWN_CHARS).collect();
    let dots = if text.chars().nth(SHOWN_CHARS).is_some() { "…" } else { "" };
    format!("{}{dots}", escape(&start))
}
