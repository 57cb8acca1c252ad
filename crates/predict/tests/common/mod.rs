//! What the tests share: random traces, and the relations computed from their definitions.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod calls;
pub(crate) mod generate;
pub(crate) mod naive;
pub(crate) mod script;
pub(crate) mod specified;

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

/// A small generator of random numbers (xorshift64*).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
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
