//! The writer.

use super::HEADER;
use crate::consistency::names::Names;
use crate::consistency::proof::{ConsistencyProof, Fact, Link, Step, Why};
use anyorder_trace::{EventId, TaskId, Trace};
use std::io::{self, Write};

/// Writes a proof as text, with the names of events and tasks in its trace.
///
/// O(events + links), with all names of the trace in memory.
///
/// # Errors
///
/// Fails when the output fails.
pub fn write_proof(
    proof: &ConsistencyProof,
    trace: &Trace,
    mut output: impl Write,
) -> io::Result<()> {
    let text = Text { trace, names: Names::new(trace) };
    writeln!(output, "{HEADER}")?;
    for step in &proof.steps {
        match step {
            Step::Cycle(links) => {
                writeln!(output, "cycle {}", links.len())?;
                for link in links {
                    writeln!(output, "  {}", text.link(link))?;
                }
            }
            Step::ReadsOpen { read, other } => {
                writeln!(output, "reads {} {}", text.event(*read), text.event(*other))?;
            }
            Step::Derived(facts) => text.clause(&mut output, "derived", facts)?,
            Step::Forget(facts) => text.clause(&mut output, "forget", facts)?,
        }
    }
    output.flush()
}

struct Text<'t> {
    trace: &'t Trace,
    names: Names,
}

impl Text<'_> {
    fn event(&self, event: EventId) -> String {
        self.names.event(self.trace, event)
    }

    fn task(&self, task: TaskId) -> String {
        self.names.task(self.trace, task)
    }

    fn fact(&self, fact: Fact) -> String {
        match fact {
            Fact::Runs { first, second } => {
                format!("runs {} {}", self.task(first), self.task(second))
            }
            Fact::Before { first, second } => {
                format!("before {} {}", self.event(first), self.event(second))
            }
        }
    }

    fn link(&self, link: &Link) -> String {
        let why = match link.why {
            Why::Decided(fact) => self.fact(fact),
            given => given.word().to_owned(),
        };
        format!("{} {} {why}", self.event(link.from), self.event(link.to))
    }

    fn clause(&self, output: &mut impl Write, word: &str, facts: &[Fact]) -> io::Result<()> {
        write!(output, "{word}")?;
        for &fact in facts {
            write!(output, " {}", self.fact(fact))?;
        }
        writeln!(output)
    }
}
