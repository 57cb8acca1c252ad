//! Asking the real server: the browser sends the request, and the response is taken from it.
//!
//! A server may answer slowly, or never end its answer. What came in the time that is allowed
//! counts as all of it then, and the store notes that. An answer that is shorter than it says is a
//! connection that failed.
//!
//! The browser gives a part of a body only when it has as many bytes as were asked for. So an
//! answer that may have no end is read byte by byte, many commands ahead.

use super::driver::PageDriver;
use super::handle::Held;
use crate::devtools::{Message, Reply};
use crate::error::WebError;
use crate::source::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Instant;

/// How much of a body is asked for at once, in bytes.
const PART_BYTES: u64 = 1 << 20;

/// The largest body that is recorded, 256 MiB.
const BODY_BYTES_MAX: usize = 256 << 20;

/// How much of a stream is recorded, in bytes, and how often the time without a new byte.
const STREAM_BYTES_MAX: usize = 64 << 10;
const STREAM_TIMES_MAX: u32 = 4;

/// How much of an answer to a script is read byte by byte, if its length is not known.
const SLOW_BYTES_MAX: usize = 2 << 10;

/// Returns the parameters of the command that asks the real server.
fn asking(held: &Held) -> Value {
    let mut params = json!({"requestId": held.fetch_id, "interceptResponse": true});
    if !held.headers.is_empty() {
        let headers =
            held.headers.iter().map(|(name, value)| json!({"name": name, "value": value}));
        params["headers"] = headers.collect();
    }
    params
}

/// How many bytes are asked for ahead.
const AHEAD: usize = 64;

impl PageDriver {
    /// Lets the browser ask the real server, and returns what it says; `None` if nobody answers.
    pub(super) fn ask_server(&mut self, held: &Held) -> Result<Option<Response>, WebError> {
        self.client.send(&held.session, "Fetch.continueRequest", asking(held));
        let id = &held.network_id;
        let within = self.limits.reply;
        let came = self
            .until(within, |state| state.responses.contains_key(id) || state.failed.contains(id))?;
        if !came {
            let (url, what) = (&held.request.url, "the page waits for it");
            self.store.note_gap(format!("`{url}` did not respond within {within:?}: {what}"));
            // The browser cannot take the request back, so it waits in all runs.
            self.store.record_silence(&held.request);
            return Ok(None);
        }
        let Some(paused) = self.state.responses.remove(id) else { return Ok(None) };
        let Some(mut response) = head_of(&paused) else { return Ok(None) };
        if has_body(response.status) {
            let Some(body) = self.body_of(held, &response, &paused["requestId"])? else {
                return Ok(None);
            };
            response.body = body.into();
        }
        Ok(Some(response))
    }

    /// Reads the body of a response, as far as it comes in time; `None` if it breaks off.
    fn body_of(
        &mut self,
        held: &Held,
        response: &Response,
        fetch_id: &Value,
    ) -> Result<Option<Vec<u8>>, WebError> {
        let is_stream = is_stream(&response.content_type());
        let length = length_of(held, response);
        let is_for_script = matches!(held.resource.as_str(), "XHR" | "Fetch" | "EventSource");
        let slow_max = match (is_stream, length) {
            (true, _) => STREAM_BYTES_MAX,
            (false, None) if is_for_script => SLOW_BYTES_MAX,
            _ => 0,
        };
        let (bytes_max, within) = match is_stream {
            true => (STREAM_BYTES_MAX, self.limits.finish * STREAM_TIMES_MAX),
            false => (BODY_BYTES_MAX, self.limits.reply),
        };
        let params = json!({"requestId": fetch_id});
        let id = self.client.send(&held.session, "Fetch.takeResponseBodyAsStream", params);
        let reply = self.reply(id, "Fetch.takeResponseBodyAsStream")?;
        let stream = reply["stream"].clone();
        let mut body = Vec::new();
        let end = Instant::now() + within;
        let mut asked = VecDeque::new();
        let is_whole = loop {
            let is_slow = body.len() + asked.len() < slow_max;
            while asked.len() < if is_slow { AHEAD } else { 1 } {
                let size = if is_slow { 1 } else { PART_BYTES };
                let params = json!({"handle": stream, "size": size});
                asked.push_back(self.client.send(&held.session, "IO.read", params));
            }
            let silence = if is_stream { self.limits.finish } else { within };
            let deadline = end.min(Instant::now() + silence);
            let Some(id) = asked.pop_front() else { break false };
            let Some(part) = self.part(id, deadline)? else { break false };
            let data = part["data"].as_str().unwrap_or_default();
            if part["base64Encoded"] == true {
                let decoded = STANDARD.decode(data);
                body.extend(decoded.map_err(|_| WebError::Answer("IO.read".to_owned()))?);
            } else {
                body.extend_from_slice(data.as_bytes());
            }
            if part["eof"] == true {
                break true;
            }
            if body.len() >= bytes_max {
                break false;
            }
        };
        self.client.send(&held.session, "IO.close", json!({"handle": stream}));
        if !is_whole {
            let (url, bytes) = (&held.request.url, body.len());
            self.store.note_gap(format!(
                "the response of `{url}` did not end within {within:?}: \
                 its first {bytes} bytes count as all of it"
            ));
        }
        let is_broken = is_whole && length.is_some_and(|length| body.len() < length);
        Ok((!is_broken).then_some(body))
    }

    /// Waits for a part of a body; `None` if it does not come in time.
    fn part(&mut self, id: u64, deadline: Instant) -> Result<Option<Value>, WebError> {
        loop {
            match self.take(deadline)? {
                None => return Ok(None),
                Some(Message::Reply(reply)) if reply.id == id => {
                    // A connection that breaks ends its body.
                    let broken = |_| json!({"data": "", "eof": true});
                    return Ok(Some(reply.result.unwrap_or_else(broken)));
                }
                Some(_) => {}
            }
        }
    }
}

/// A synchronous request that the real server answers. Its page waits, and so nobody else may.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Waited {
    held: Held,
    event: String,
    /// The response without its body, and the number of the command that asks for the body.
    head: Option<(Response, u64)>,
}

impl PageDriver {
    /// Lets the browser ask the real server for what a script waits for.
    pub(super) fn ask_at_once(&mut self, held: &Held, event: String) {
        self.client.send(&held.session, "Fetch.continueRequest", asking(held));
        let waited = Waited { held: held.clone(), event, head: None };
        self.state.waiting.insert(held.network_id.clone(), waited);
    }

    /// Notes that the real server says nothing to what the browser asks before it sends a request:
    /// in later runs nothing waits for it.
    pub(super) fn note_silent_preflights(&mut self) {
        let within = self.limits.reply;
        let asked = self.state.preflights.keys().filter_map(|id| self.state.waiting.get(id));
        for Waited { held, .. } in asked {
            let url = &held.request.url;
            self.store.note_gap(format!(
                "`{url}` did not say within {within:?} whether the page may ask it (OPTIONS): the \
                 page waits for it"
            ));
            self.store.record_silence(&held.request);
        }
    }

    /// Takes the response to a synchronous request. Returns whether it is one.
    pub(super) fn take_waited(&mut self, network_id: &str, paused: &Value) -> bool {
        let Some(mut waited) = self.state.waiting.remove(network_id) else { return false };
        match head_of(paused) {
            None => {
                self.store.record_failure(&waited.event, &waited.held.request);
                self.fail(&waited.held, "ConnectionFailed");
            }
            Some(response) if !has_body(response.status) => self.answer_waited(waited, response),
            Some(response) => {
                let params = json!({"requestId": paused["requestId"]});
                let session = &waited.held.session;
                let id = self.client.send(session, "Fetch.getResponseBody", params);
                waited.head = Some((response, id));
                self.state.waiting.insert(network_id.to_owned(), waited);
            }
        }
        true
    }

    /// Takes the body of the response to a synchronous request, if this is one.
    pub(super) fn take_waited_body(&mut self, reply: &Reply) {
        let has_asked =
            |waited: &Waited| waited.head.as_ref().is_some_and(|(_, id)| *id == reply.id);
        let found = self.state.waiting.iter().find(|(_, waited)| has_asked(waited));
        let Some(network_id) = found.map(|(id, _)| id.clone()) else { return };
        let Some(mut waited) = self.state.waiting.remove(&network_id) else { return };
        let Some((mut response, _)) = waited.head.take() else { return };
        let body = reply.result.as_ref().ok().and_then(decoded_body);
        let length = length_of(&waited.held, &response);
        let is_whole = |body: &Vec<u8>| length.is_none_or(|length| body.len() >= length);
        match body.filter(is_whole) {
            Some(body) => {
                response.body = body.into();
                self.answer_waited(waited, response);
            }
            None => {
                self.store.record_failure(&waited.event, &waited.held.request);
                self.fail(&waited.held, "ConnectionFailed");
            }
        }
    }

    fn answer_waited(&mut self, waited: Waited, response: Response) {
        self.store.record(&waited.event, &waited.held.request, response.clone());
        self.respond(&waited.held, &response);
    }
}

/// Returns a body from the answer of the browser.
fn decoded_body(reply: &Value) -> Option<Vec<u8>> {
    let body = reply["body"].as_str()?;
    match reply["base64Encoded"] == true {
        true => STANDARD.decode(body).ok(),
        false => Some(body.as_bytes().to_vec()),
    }
}

/// Returns the status and the headers of a response that the browser holds back.
pub(super) fn head_of(paused: &Value) -> Option<Response> {
    let status = paused["responseStatusCode"].as_u64().unwrap_or(0);
    let status = u16::try_from(status).ok().filter(|status| *status >= 100)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let headers = paused["responseHeaders"].as_array().into_iter().flatten();
    let headers = headers.map(|one| (text(&one["name"]), text(&one["value"]))).collect();
    Some(Response { status, headers, body: Vec::new().into() })
}

/// Returns whether a content type is that of messages which come one after another.
fn is_stream(kind: &str) -> bool {
    let (_, kind) = kind.split_once('/').unwrap_or_default();
    let streams = ["event-stream", "x-ndjson", "ndjson", "jsonl", "json-seq", "stream+json"];
    streams.contains(&kind)
}

/// Returns how long a body says that it is. The length of a compressed one is another one.
fn length_of(held: &Held, response: &Response) -> Option<usize> {
    let is_plain = response.header("content-encoding").is_none() && held.request.method != "HEAD";
    response.header("content-length").filter(|_| is_plain)?.trim().parse().ok()
}

/// Returns whether a response of a status has a body that can be read.
pub(super) fn has_body(status: u16) -> bool {
    !matches!(status, 204 | 300..=399)
}
