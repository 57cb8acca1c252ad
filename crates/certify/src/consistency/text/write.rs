//! The writer.

use super::HEADER;
use crate::consistency::names::Naming;
use crate::consistency::proof::{ConsistencyProof, Fact, RefutationStep};
use crate::names::Names;
use anyorder_trace::Trace;
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
    let names = Names::new(trace);
    writeln!(output, "{HEADER}")?;
    for step in &proof.steps {
        match step {
            RefutationStep::Cycle(links) => {
                writeln!(output, "cycle {}", links.len())?;
                for link in links {
                    writeln!(output, "  {}", names.link(link))?;
                }
            }
            RefutationStep::ReadsOpen { read, other } => {
                writeln!(output, "reads {} {}", names.event_text(*read), names.event_text(*other))?;
            }
            RefutationStep::Ended { begins, end } => {
                let (begins, end) = (names.event_text(*begins), names.event_text(*end));
                writeln!(output, "ended {begins} {end}")?;
            }
            RefutationStep::Derived(facts) => clause(&mut output, &names, "derived", facts)?,
            RefutationStep::Forget(facts) => clause(&mut output, &names, "forget", facts)?,
        }
    }
    output.flush()
}

fn clause(
    output: &mut impl Write,
    names: &Names<'_>,
    word: &str,
    facts: &[Fact],
) -> io::Result<()> {
    write!(output, "{word}")?;
    for &fact in facts {
        write!(output, " {}", names.fact(fact))?;
    }
    writeln!(output)
}
