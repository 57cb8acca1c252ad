//! Output of other tools that users mistake for traces: its description, and advice.

use std::borrow::Cow;

/// A kind of file that the readers do not support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Foreign {
    /// A description of the file.
    pub what: &'static str,
    /// Advice in one sentence.
    pub advice: &'static str,
}

const RECORD: &str = "record the events of a run instead, one a line, such as `T1|acq(m)|main.c:10` \
    (docs/formats/std.md); a report tells only which races were seen";

const REPORT_OF_TSAN: Foreign = Foreign {
    what: "this is a report of ThreadSanitizer, not the events of a run",
    advice: RECORD,
};

const REPORT_OF_GO: Foreign = Foreign {
    what: "this is a report of Go's race detector, not the events of a run",
    advice: RECORD,
};

const REPORT_OF_VALGRIND: Foreign =
    Foreign { what: "this is a report of Valgrind, not the events of a run", advice: RECORD };

const CHROME: Foreign = Foreign {
    what: "this is a trace in Chrome's format, which tells how long things took and not what they accessed",
    advice: "record posts, begins and ends of tasks and their accesses in the native text format \
        (docs/formats/native-text.md)",
};

const OURS: Foreign = Foreign {
    what: "this is a result or a schedule of anyorder",
    advice: "`anyorder replay TRACE FILE` or `anyorder replay MODEL FILE` checks again what it shows",
};

const CSV: Foreign = Foreign {
    what: "this is a trace as comma-separated values, such as RAPID writes",
    advice: "rewrite each line `T1,acq,m,7` as `T1|acq(m)|7`, for example with \
        `awk -F, '{print $1 \"|\" $2 \"(\" $3 \")|\" $4}'`; docs/formats/std.md lists the operations",
};

const ROADRUNNER: Foreign = Foreign {
    what: "this is a log of RoadRunner",
    advice: "RAPID turns it into STD, which is read; docs/formats/std.md lists the operations",
};

/// Recognises the start of a text that is not a trace; `None` where it is unknown.
#[must_use]
pub fn foreign(head: &[u8]) -> Option<&'static Foreign> {
    let text = String::from_utf8_lossy(head);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let has = |part: &str| text.contains(part);
    let starts = |parts: &[&str]| parts.iter().any(|part| start.starts_with(part));
    match () {
        () if has("WARNING: ThreadSanitizer:") || has("FATAL: ThreadSanitizer") => {
            Some(&REPORT_OF_TSAN)
        }
        () if has("WARNING: DATA RACE") => Some(&REPORT_OF_GO),
        () if has("== Helgrind") || has("== DRD,") || has("== Memcheck,") => {
            Some(&REPORT_OF_VALGRIND)
        }
        () if starts(&["{"]) && (has("\"tool\":\"anyorder\"") || has("\"schedule\":")) => {
            Some(&OURS)
        }
        () if starts(&["{", "["]) && (has("\"traceEvents\"") || has("\"ph\":")) => Some(&CHROME),
        () if start.lines().take(64).any(is_roadrunner) => Some(&ROADRUNNER),
        () if start.lines().take(64).any(is_csv) => Some(&CSV),
        () => None,
    }
}

/// Returns whether a line is an operation of RoadRunner: `@  Acquire(0,l,...)`.
fn is_roadrunner(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('@') else { return false };
    let name: String =
        rest.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
    ["Acquire", "Release", "Rd", "Wr", "Enter", "Exit", "Start", "Join", "Fork"]
        .contains(&name.as_str())
}

/// Returns whether a line has at least three comma-separated fields, and an operation on memory, a
/// lock or a thread as the second or third: `T1,acq(L1),12`, `0,RD,5`.
fn is_csv(line: &str) -> bool {
    const OPERATIONS: [&str; 25] = [
        "r", "w", "rd", "wr", "read", "write", "acq", "rel", "acquire", "release", "lk", "uk",
        "lock", "unlock", "fork", "join", "sig", "wt", "nt", "ntwt", "begin", "end", "start",
        "signal", "wait",
    ];
    let fields: Vec<&str> = line.split(',').take(4).collect();
    let is_operation = |field: &&str| {
        let word = field.trim().split('(').next().unwrap_or_default();
        let word: Cow<'_, str> = word.trim_matches('"').to_ascii_lowercase().into();
        OPERATIONS.contains(&word.as_ref())
    };
    fields.len() >= 3 && fields[1..3].iter().any(is_operation)
}
