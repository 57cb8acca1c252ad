//! The text of a schedule of a trace: `docs/formats/trace-schedule.md`.

use crate::names::Names;
use crate::text::{Lines, Mistake, ReadProofError, end, event, header, quoted};
use anyorder_trace::{EventId, Trace};
use std::io::{self, BufRead, Write};

/// The first line.
const HEADER: &str = "trace-schedule 1";

/// An order of events of a trace, and what it claims: the program can run in this order, and the
/// pair, if there is one, stands together in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClaimedSchedule {
    /// The two events that stand together.
    pub adjacent: Option<(EventId, EventId)>,
    /// The events, in order.
    pub order: Vec<EventId>,
    /// The line of each event, from 1.
    pub lines: Vec<u64>,
}

/// Writes a schedule as text, with the names of events in its trace.
///
/// # Errors
///
/// Fails when the output fails.
pub fn write_schedule(
    claimed: &ClaimedSchedule,
    trace: &Trace,
    mut output: impl Write,
) -> io::Result<()> {
    let names = Names::new(trace);
    writeln!(output, "{HEADER}")?;
    if let Some((a, b)) = claimed.adjacent {
        writeln!(output, "adjacent {} {}", names.event(a), names.event(b))?;
    }
    claimed.order.iter().try_for_each(|event| writeln!(output, "run {}", names.event(*event)))?;
    output.flush()
}

/// Reads the text of a schedule. It does not check the schedule.
///
/// # Errors
///
/// Fails when the input fails, and at the first line that breaks the format or names something that
/// the trace does not have.
pub fn read_schedule(
    input: impl BufRead,
    trace: &Trace,
) -> Result<ClaimedSchedule, ReadProofError> {
    let names = Names::new(trace);
    let mut claimed = ClaimedSchedule::default();
    let mut headed = false;
    let mut lines = Lines::new(input);
    while let Some(text) = lines.next()? {
        let mut read = || -> Result<Option<EventId>, Mistake> {
            if !headed {
                headed = true;
                header(text, HEADER)?;
                return Ok(None);
            }
            let mut parts = text.split_ascii_whitespace();
            let event = match parts.next() {
                Some("run") => Some(event(&names, &mut parts)?),
                Some("adjacent") if claimed.order.is_empty() && claimed.adjacent.is_none() => {
                    claimed.adjacent =
                        Some((event(&names, &mut parts)?, event(&names, &mut parts)?));
                    None
                }
                found => {
                    return Err(format!("expected `run EVENT`, found {}", quoted(found)).into());
                }
            };
            end(&mut parts)?;
            Ok(event)
        };
        let result = read();
        if let Some(event) = result.map_err(|mistake| lines.wrong(mistake))? {
            claimed.order.push(event);
            claimed.lines.push(lines.number);
        }
    }
    if !headed {
        return Err(lines.wrong(format!("expected `{HEADER}`, found the end").into()));
    }
    Ok(claimed)
}
