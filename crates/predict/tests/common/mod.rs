//! Shared by the tests: random traces, and the relations computed from their definitions.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod calls;
pub(crate) mod generate;
pub(crate) mod naive;
pub(crate) mod nested;
pub(crate) mod specified;

/// Traces written as text.
pub(crate) mod script {
    pub(crate) fn script(text: &str) -> anyorder_trace::Trace {
        anyorder_testkit::threads(text)
    }
}

use anyorder_predict::{Analysis, Counts, Engine, Relation, Report, Specification, run};
use anyorder_trace::{Trace, TraceBlocks};

/// Runs one analysis over a trace.
pub(crate) fn analyse<R: Relation, S: Specification>(
    trace: &Trace,
    engine: &mut Engine<R, S>,
) -> Report {
    run(&mut TraceBlocks::new(trace), &mut [engine], |_| {}).expect("the trace is right");
    engine.finish()
}

pub(crate) fn show(trace: &Trace) -> String {
    let mut text = String::new();
    for event in trace.events() {
        let handler = trace.tables().tasks[event.task.index()].handler.0;
        text.push_str(&format!("{:3} h{handler} {:?}\n", event.id.0, event.action()));
    }
    text
}

pub(crate) fn is_empty(counts: &Counts) -> bool {
    counts.racy == 0 && counts.non_racy == 0
}
