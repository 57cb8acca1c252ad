//! Requests and their replies, one after another, with a time limit for each.

use crate::bounded::is_at_most_deep;
use crate::options::{DEPTH_MAX, PipeOptions};
use crate::protocol::{ErrorReply, Header, Operation, Reply, Request};
use crate::transport::{Received, Transport};
use anyorder_system::{JobWatch, RunError};
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The child refused: the conversation continues.
    Refused(ErrorReply),
    /// The conversation cannot continue.
    Broken(RunError),
}

/// One conversation with one child. After [`NoAnswer::Broken`] only [`end`](Self::end) may be
/// called.
pub(crate) struct Conversation {
    transport: Box<dyn Transport>,
    last_id: u64,
    /// Unanswered pings. Their answers may come at any time, or never.
    pings: VecDeque<u64>,
}

/// The most pings remembered; older ones must have been lost.
const PINGS_MAX: usize = 64;

/// The least time between two pings.
const PROBE_PAUSE_MIN: Duration = Duration::from_millis(1);

/// The most bytes of a bad line that a message quotes.
const QUOTED_MAX: usize = 120;

impl Conversation {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Conversation {
        Conversation { transport, last_id: 0, pings: VecDeque::new() }
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.transport.process_id()
    }

    /// Sends a request, and waits for the answer.
    pub(crate) fn request<T: DeserializeOwned>(
        &mut self,
        operation: Operation<'_>,
        timeout: Duration,
        options: &PipeOptions,
    ) -> Result<T, NoAnswer> {
        let id = self.send(operation)?;
        let asked = Instant::now();
        let mut probe_at = options.probe_after.unwrap_or(timeout);
        let first_probe = self.last_id + 1;
        loop {
            let passed = asked.elapsed();
            if passed >= timeout {
                return Err(broken(RunError::TimedOut(format!(
                    "no reply to `{}` within {timeout:?}",
                    operation.word()
                ))));
            }
            if passed >= probe_at {
                // The interval doubles: a ping may be lost as well.
                probe_at = probe_at.saturating_mul(2).max(PROBE_PAUSE_MIN);
                let ping = self.send(Operation::Ping)?;
                self.remember(ping);
            }
            let line = match self.transport.receive(probe_at.min(timeout).saturating_sub(passed)) {
                Received::Nothing => continue,
                Received::Line(line) => line,
                Received::Stopped(reason) => return Err(broken(RunError::Stopped(reason))),
                Received::TooLong => {
                    let most = options.line_bytes_max;
                    let text =
                        format!("the reply to `{}` is longer than {most} bytes", operation.word());
                    return Err(broken(RunError::Crashed(text)));
                }
                Received::Closed => {
                    let text =
                        format!("the program ended before its reply to `{}`", operation.word());
                    return Err(broken(RunError::Crashed(text)));
                }
            };
            let header: Header = parse(&line)?;
            if header.id == id {
                return answer(&line);
            }
            let is_ping = self.pings.contains(&header.id);
            if is_ping && header.id >= first_probe {
                let text = format!(
                    "the reply to `{}` was lost: a later request has been answered",
                    operation.word()
                );
                return Err(broken(RunError::Unstable(text)));
            }
            if !is_ping {
                let text = format!(
                    "reply {} came where the one to `{}`, {id}, was due",
                    header.id,
                    operation.word()
                );
                return Err(broken(RunError::Unstable(text)));
            }
            // The late answer to a ping of an earlier request.
            self.pings.retain(|ping| *ping != header.id);
        }
    }

    /// Ends the child; returns a description of its end. With `send_quit`, it first asks the child
    /// to quit.
    pub(crate) fn end(mut self, patience: Duration, send_quit: bool) -> String {
        if send_quit {
            let _ = self.send(Operation::Quit);
        }
        // A stopped job waits for nothing.
        let stopped = JobWatch::current().check().is_err();
        self.transport.end(if stopped { Duration::ZERO } else { patience })
    }

    fn send(&mut self, operation: Operation<'_>) -> Result<u64, NoAnswer> {
        self.last_id += 1;
        let line = serde_json::to_vec(&Request { id: self.last_id, operation });
        // Requests consist of texts and numbers, which can always be serialised.
        let line = line.map_err(|error| broken(RunError::Crashed(error.to_string())))?;
        self.transport.send(line);
        Ok(self.last_id)
    }

    fn remember(&mut self, ping: u64) {
        self.pings.push_back(ping);
        if self.pings.len() > PINGS_MAX {
            self.pings.pop_front();
        }
    }
}

fn broken(error: RunError) -> NoAnswer {
    NoAnswer::Broken(error)
}

fn answer<T: DeserializeOwned>(line: &[u8]) -> Result<T, NoAnswer> {
    match parse::<Reply<T>>(line)? {
        Reply { ok: Some(answer), error: None } => Ok(answer),
        Reply { ok: None, error: Some(error) } => Err(NoAnswer::Refused(error)),
        _ => Err(garbage(line, "exactly one of `ok` and `error` was expected")),
    }
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, NoAnswer> {
    if !is_at_most_deep(line, DEPTH_MAX) {
        return Err(garbage(line, &format!("nested more than {DEPTH_MAX} deep")));
    }
    serde_json::from_slice(line).map_err(|error| garbage(line, &error.to_string()))
}

fn garbage(line: &[u8], why: &str) -> NoAnswer {
    let shown = String::from_utf8_lossy(&line[..line.len().min(QUOTED_MAX)]);
    let dots = if line.len() > QUOTED_MAX { "..." } else { "" };
    let text =
        format!("the program sent what is no reply: {why}: `{}{dots}`", shown.escape_debug());
    broken(RunError::Crashed(text))
}
