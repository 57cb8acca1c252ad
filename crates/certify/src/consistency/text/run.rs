//! The text of a run, a witness of consistency: `docs/formats/consistency-witness.md`.

use crate::names::Names;
use crate::text::{Lines, Mistake, ReadProofError, quoted};
use anyorder_trace::{EventId, Trace};
use std::io::BufRead;

/// Reads a run: the name of an event on each line. Returns the events and their lines, from 1. It
/// does not check the run.
///
/// # Errors
///
/// Fails when the input fails, and at the first line that names no event of the trace. If this is
/// the first line of the run, the text is not taken for a run.
pub fn read_run(
    input: impl BufRead,
    trace: &Trace,
) -> Result<(Vec<EventId>, Vec<u64>), ReadProofError> {
    let names = Names::new(trace);
    let (mut order, mut numbers) = (Vec::new(), Vec::new());
    let mut lines = Lines::new(input);
    while let Some(text) = lines.next()? {
        let name = text.trim_ascii();
        let Some(event) = names.find_event(name) else {
            let wrong = format!("expected an event of the trace, found {}", quoted(Some(name)));
            let mistake = match order.is_empty() {
                true => Mistake::Form(format!("no certificate: {wrong}")),
                false => Mistake::Name(wrong),
            };
            return Err(lines.wrong(mistake));
        };
        order.push(event);
        numbers.push(lines.number);
    }
    Ok((order, numbers))
}
