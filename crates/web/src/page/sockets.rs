//! Sockets of a real server: they are recorded at their first use, and repeated from then on.
//!
//! What comes over a socket counts as the answer to what the page sent last, so it is known by the
//! text that was sent, and by the number of that text among equal ones. A recorded socket is known
//! by the event that opens it, else by its path. This is how responses are known, too.
//!
//! At the first use, the page opens a real socket behind the one that its scripts have. After each
//! message, the driver waits until the server is silent. What comes later is not recorded before
//! the page sends something again: the store notes that.

use super::driver::PageDriver;
use super::runtime::{AskVerb, QueueReport, SocketAsk};
use crate::error::WebError;
use crate::source::{SocketCause, SocketData, SocketMessage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A socket of the page.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OpenSocket {
    name: String,
    path: String,
    /// Whether it is being recorded.
    is_live: bool,
    /// What is known of it.
    known: Vec<SocketMessage>,
    /// How often each text was sent.
    sent: BTreeMap<String, u32>,
}

impl OpenSocket {
    /// Returns what comes for a reason, with the reason that it is known by; `None` if that is not
    /// known. A text that was sent more often than before gets its last answer again.
    fn answers(&self, text: &str, nth: u32) -> Option<Vec<&SocketMessage>> {
        let numbers = self.known.iter().filter_map(|one| match &one.cause {
            SocketCause::Sent(known, number) if known == text && *number <= nth => Some(*number),
            _ => None,
        });
        let cause = SocketCause::Sent(text.to_owned(), numbers.max()?);
        Some(self.known.iter().filter(|one| one.cause == cause).collect())
    }
}

/// The longest part of a text that a gap shows, in characters.
const SHOWN_MAX: usize = 60;

impl PageDriver {
    /// Answers what frames and workers asked about sockets. Returns whether one did.
    pub(super) fn answer_sockets(
        &mut self,
        event: &str,
        reports: &[(i64, QueueReport)],
    ) -> Result<bool, WebError> {
        let mut have_asked = false;
        for (context, report) in reports {
            for SocketAsk { number, verb } in &report.asks {
                have_asked = true;
                match verb {
                    AskVerb::Open(path) => self.open_socket(event, (*context, *number), path)?,
                    AskVerb::Send(text) => self.sent_to_socket((*context, *number), text)?,
                }
            }
        }
        Ok(have_asked)
    }

    fn open_socket(&mut self, event: &str, at: (i64, u64), path: &str) -> Result<(), WebError> {
        let base = format!("{event}/socket {path}");
        let count = self.state.socket_counts.entry(base.clone()).or_default();
        let name = format!("{base}#{count}");
        *count += 1;
        let mut is_live = false;
        let (mut known, mut protocol) = (self.store.socket(&name, path), Value::Null);
        if known.is_none() && self.store.has_server() {
            let (most, opening) = (self.limits.finish, self.limits.reply / 2);
            let (most, opening) = (most.as_millis(), opening.as_millis());
            let answer = self.ask_socket(at, &format!("connect({},{most},{opening})", at.1))?;
            is_live = answer["opens"] == true;
            protocol = answer["protocol"].clone();
            let opened = is_live.then(|| messages(&answer, &SocketCause::After(0)));
            self.store.record_socket(&name, path, opened.clone());
            known = Some(opened);
        }
        let known = known.flatten();
        let opens = known.is_some();
        let known = known.unwrap_or_default();
        let first = known.iter().filter(|one| matches!(one.cause, SocketCause::After(_)));
        self.tell_socket(at, &json!(opens), &protocol, first.collect())?;
        let (path, sent) = (path.to_owned(), BTreeMap::new());
        self.state.sockets.insert(at, OpenSocket { name, path, is_live, known, sent });
        Ok(())
    }

    fn sent_to_socket(&mut self, at: (i64, u64), text: &str) -> Result<(), WebError> {
        let Some(mut socket) = self.state.sockets.remove(&at) else { return Ok(()) };
        let count = socket.sent.entry(text.to_owned()).or_default();
        let nth = *count;
        *count += 1;
        if socket.is_live {
            let most = self.limits.finish.as_millis();
            let answer = self.ask_socket(at, &format!("exchange({},{most})", at.1))?;
            let cause = SocketCause::Sent(text.to_owned(), nth);
            let mut came = messages(&answer, &cause);
            if came.is_empty() {
                came.push(SocketMessage { cause, data: SocketData::Nothing });
            }
            socket.known.extend(came);
            self.store.record_socket(&socket.name, &socket.path, Some(socket.known.clone()));
        }
        match socket.answers(text, nth) {
            Some(answers) => self.tell_socket(at, &Value::Null, &Value::Null, answers)?,
            None => {
                let (shown, path) =
                    (text.chars().take(SHOWN_MAX).collect::<String>(), &socket.path);
                self.store.note_gap(format!(
                    "`{shown}` is sent over the socket `{path}`, but was not when the socket was \
                     recorded: no answer comes"
                ));
            }
        }
        self.state.sockets.insert(at, socket);
        Ok(())
    }

    /// Calls a function of the runtime that returns JSON.
    fn ask_socket(&mut self, (context, _): (i64, u64), call: &str) -> Result<Value, WebError> {
        let answer = match self.in_context(Some(context), call) {
            // A frame or a worker that goes away meanwhile answers nothing.
            Err(WebError::Refused { .. }) => Value::Null,
            other => other?,
        };
        Ok(serde_json::from_str(answer.as_str().unwrap_or("null")).unwrap_or_default())
    }

    fn tell_socket(
        &mut self,
        (context, number): (i64, u64),
        opens: &Value,
        protocol: &Value,
        messages: Vec<&SocketMessage>,
    ) -> Result<(), WebError> {
        // What is waited for has come.
        let plain = |one: &SocketMessage| match one.cause {
            SocketCause::After(_) => one.to_json(),
            SocketCause::Sent(..) => {
                SocketMessage { cause: SocketCause::After(0), data: one.data.clone() }.to_json()
            }
        };
        let messages = messages.into_iter().filter(|one| one.data != SocketData::Nothing);
        let messages: Value = messages.map(plain).collect();
        let or_none = |value: &Value| match value {
            Value::Null => "undefined".to_owned(),
            other => other.to_string(),
        };
        let (opens, protocol) = (or_none(opens), or_none(protocol));
        let call = format!("socket({number},{opens},{protocol},{messages})");
        match self.in_context(Some(context), &call) {
            Err(WebError::Refused { .. }) => Ok(()),
            other => other.map(drop),
        }
    }
}

/// Returns what came over a real socket.
fn messages(answer: &Value, cause: &SocketCause) -> Vec<SocketMessage> {
    let list = answer["messages"].as_array().into_iter().flatten();
    let data = |one| SocketMessage::parse(one).map_or(SocketData::Nothing, |one| one.data);
    let message = |one| SocketMessage { cause: cause.clone(), data: data(one) };
    list.map(message).collect()
}
