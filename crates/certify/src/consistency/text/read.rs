//! The reader.

use super::HEADER;
use crate::consistency::proof::{ConsistencyProof, Fact, Link, RefutationStep, Why};
use crate::names::Names;
use crate::text::{
    Lines, Mistake, ReadProofError, Words, end, event, header, number, quoted, task,
};
use anyorder_trace::Trace;
use std::io::BufRead;

/// Reads the text of a proof about a trace. It does not check the proof.
///
/// O(events + bytes). Memory is allocated for the names of the trace and for the data read, not for
/// announced sizes.
///
/// # Errors
///
/// Fails when the input fails, and at the first line that breaks the format or names something that
/// the trace does not have.
pub fn read_proof(input: impl BufRead, trace: &Trace) -> Result<ConsistencyProof, ReadProofError> {
    read_proof_with_lines(input, trace).map(|(proof, _)| proof)
}

/// The same, and the line of each step, from 1.
///
/// # Errors
///
/// As [`read_proof`].
pub fn read_proof_with_lines(
    input: impl BufRead,
    trace: &Trace,
) -> Result<(ConsistencyProof, Vec<u64>), ReadProofError> {
    let mut numbers = Vec::new();
    let mut reader = Reader {
        names: Names::new(trace),
        proof: ConsistencyProof::default(),
        headed: false,
        links_missing: 0,
    };
    let mut lines = Lines::new(input);
    while let Some(text) = lines.next()? {
        let result = reader.line(text);
        result.map_err(|mistake| lines.wrong(mistake))?;
        numbers.resize(reader.proof.steps.len(), lines.number);
    }
    if !reader.headed {
        return Err(lines.wrong(format!("expected `{HEADER}`, found the end").into()));
    }
    if reader.links_missing > 0 {
        let message = format!("expected {} more links, found the end", reader.links_missing);
        return Err(lines.wrong(message.into()));
    }
    Ok((reader.proof, numbers))
}

/// The steps read so far. Errors are the messages of the current line.
struct Reader<'t> {
    names: Names<'t>,
    proof: ConsistencyProof,
    headed: bool,
    /// The links that the last step, a cycle, still needs.
    links_missing: u64,
}

impl Reader<'_> {
    fn line(&mut self, text: &str) -> Result<(), Mistake> {
        if !self.headed {
            self.headed = true;
            return Ok(header(text, HEADER)?);
        }
        let mut parts = text.split_ascii_whitespace();
        if self.links_missing > 0 {
            let link = self.link(&mut parts)?;
            end(&mut parts)?;
            if let Some(RefutationStep::Cycle(links)) = self.proof.steps.last_mut() {
                links.push(link);
            }
            self.links_missing -= 1;
            return Ok(());
        }
        let step = self.step(&mut parts)?;
        end(&mut parts)?;
        self.proof.steps.push(step);
        Ok(())
    }

    fn step(&mut self, parts: &mut Words<'_>) -> Result<RefutationStep, Mistake> {
        match parts.next() {
            Some("cycle") => {
                self.links_missing = number(parts.next(), "a number of links")?;
                Ok(RefutationStep::Cycle(Vec::new()))
            }
            Some("reads") => Ok(RefutationStep::ReadsOpen {
                read: event(&self.names, parts)?,
                other: event(&self.names, parts)?,
            }),
            Some("ended") => Ok(RefutationStep::Ended {
                begins: event(&self.names, parts)?,
                end: event(&self.names, parts)?,
            }),
            Some("derived") => Ok(RefutationStep::Derived(self.clause(parts)?)),
            Some("forget") => Ok(RefutationStep::Forget(self.clause(parts)?)),
            other => Err(format!(
                "expected `cycle`, `reads`, `ended`, `derived` or `forget`, found {}",
                quoted(other)
            )
            .into()),
        }
    }

    fn link(&self, parts: &mut Words<'_>) -> Result<Link, Mistake> {
        let (from, to) = (event(&self.names, parts)?, event(&self.names, parts)?);
        let why = match parts.next() {
            Some("program") => Why::Program,
            Some("reads-from") => Why::ReadsFrom,
            Some("coherence") => Why::Coherence,
            Some("from-reads") => Why::FromReads,
            Some("posted-by") => Why::PostedBy,
            Some("fork") => Why::Fork,
            Some("join") => Why::Join,
            Some("cancel") => Why::Cancel,
            Some("enable") => Why::Enable,
            Some("ended") => Why::Ended,
            word => match self.fact(word, parts)? {
                Some(fact) => Why::Decided(fact),
                None => {
                    let found = quoted(word);
                    return Err(format!("expected a relation or a fact, found {found}").into());
                }
            },
        };
        Ok(Link { from, to, why })
    }

    fn clause(&self, parts: &mut Words<'_>) -> Result<Vec<Fact>, Mistake> {
        let mut facts = Vec::new();
        while let Some(word) = parts.next() {
            let fact = self.fact(Some(word), parts)?;
            let wrong = || format!("expected `runs` or `before`, found {}", quoted(Some(word)));
            facts.push(fact.ok_or_else(wrong)?);
        }
        Ok(facts)
    }

    /// Reads the rest of a fact that begins with a word; `None` when no fact begins so.
    fn fact(&self, word: Option<&str>, parts: &mut Words<'_>) -> Result<Option<Fact>, Mistake> {
        Ok(match word {
            Some("runs") => {
                let (first, second) = (task(&self.names, parts)?, task(&self.names, parts)?);
                Some(Fact::Runs { first, second })
            }
            Some("before") => {
                let (first, second) = (event(&self.names, parts)?, event(&self.names, parts)?);
                Some(Fact::Before { first, second })
            }
            _ => None,
        })
    }
}
