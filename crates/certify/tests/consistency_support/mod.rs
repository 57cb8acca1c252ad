//! Shared by the tests of consistency: traces from text, events and messages by name.
#![allow(dead_code, reason = "each test binary uses its own part")]

use anyorder_certify::consistency::{ConsistencyProof, Fact, read_proof};
use anyorder_formats::detect::Format;
use anyorder_formats::open::{OpenOptions, open};
use anyorder_trace::{EventId, TaskId, Trace};

/// Worked example 6: inconsistent under FIFO, although no single path decides the order of two
/// messages.
pub(crate) const EXAMPLE_6: &str = "\
e1 A - post a1
e2 A - w x
e3 B - r x e2
e4 B - post b1
e5 h a1 get
e6 h a1 r y e8
e7 h b1 get
e8 h b1 w y
";

/// A proof for it.
pub(crate) const PROOF_6: &str = "\
consistency-proof 1
cycle 2
  e6 e8 runs a1 b1
  e8 e6 reads-from
cycle 4
  e1 e2 program
  e2 e3 reads-from
  e3 e4 program
  e4 e1 runs b1 a1
derived
";

/// Reads `edtrace` without its first line; coherence orders may be missing.
pub(crate) fn edtrace(lines: &str) -> Trace {
    let text = format!("edtrace 1\n{lines}");
    let options = OpenOptions { infer_coherence: true, ..OpenOptions::default() };
    read(Format::Edtrace, &text, &options)
}

/// Reads the native text format without its first line.
pub(crate) fn native(lines: &str) -> Trace {
    let text = format!("anyorder-trace 1\n{lines}");
    read(Format::NativeText, &text, &OpenOptions::default())
}

fn read(format: Format, text: &str, options: &OpenOptions) -> Trace {
    let mut source = open(format, Box::new(text.as_bytes()), options).expect("a trace");
    Trace::read(source.as_mut()).unwrap_or_else(|error| panic!("{error}: {error:?}\n{text}"))
}

pub(crate) fn event(trace: &Trace, name: &str) -> EventId {
    trace.find(name).unwrap_or_else(|| panic!("no event {name}"))
}

pub(crate) fn events(trace: &Trace, names: &str) -> Vec<EventId> {
    names.split_whitespace().map(|name| event(trace, name)).collect()
}

pub(crate) fn task(trace: &Trace, name: &str) -> TaskId {
    let named = |&task: &TaskId| trace.task_name(task) == name;
    trace.task_ids().find(named).unwrap_or_else(|| panic!("no task {name}"))
}

pub(crate) fn runs(trace: &Trace, first: &str, second: &str) -> Fact {
    Fact::Runs { first: task(trace, first), second: task(trace, second) }
}

/// Reads a proof without its first line.
pub(crate) fn proof(trace: &Trace, lines: &str) -> ConsistencyProof {
    let text = format!("consistency-proof 1\n{lines}");
    read_proof(text.as_bytes(), trace).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
