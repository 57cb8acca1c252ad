//! Releasing a request: it gets its response, and the page takes it in.

use super::driver::PageDriver;
use super::handle::{Held, State};
use crate::error::WebError;
use crate::source::{Answer, Response};
use anyorder_common::hash::Hash128;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What happens to a request instead of its response.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Fault {
    /// The connection fails.
    Failed,
    /// Nothing comes for a long time.
    TimedOut,
}

impl PageDriver {
    /// Releases a request: with its response, or with a fault. `event` is the name of its event.
    /// Returns after the page has received all of it.
    pub(crate) fn release(
        &mut self,
        held: &Held,
        event: &str,
        fault: Option<Fault>,
    ) -> Result<(), WebError> {
        let is_document = held.resource == "Document" && held.frame == self.state.main_frame;
        match fault {
            Some(Fault::Failed) => self.fail(held, "ConnectionFailed"),
            Some(Fault::TimedOut) => self.fail(held, "TimedOut"),
            None if held.is_hold_point() => {
                let body = b"document.currentScript.remove()";
                self.fulfil(&held.fetch_id, &Response::new(200, "text/javascript", body));
            }
            None => match self.store.answer(event, &held.request) {
                Answer::Fail => self.fail(held, "ConnectionRefused"),
                Answer::Response(response) => self.respond(held, &response),
                Answer::Server => match self.ask_server(held)? {
                    Some(response) => {
                        self.store.record(event, &held.request, response.clone());
                        self.respond(held, &response);
                    }
                    None => self.fail(held, "ConnectionFailed"),
                },
            },
        }
        let within = self.limits.finish;
        if is_document {
            // Nothing can be evaluated before the new document is there. A new process of the browser
            // may have to start for it, which a loaded machine takes seconds for.
            let came = self.until(self.limits.reply, |state| {
                state.committed && !state.contexts.is_empty()
                    || state.failed.contains(&held.network_id)
            })?;
            if !came || !self.state.committed {
                let why = "no document came".to_owned();
                return Err(WebError::Load { url: held.request.url.clone(), why });
            }
        }
        // The page is not told of the end of a worker's script, but the worker starts.
        let workers = self.state.workers_started;
        let is_other = held.resource == "Other";
        // A redirection goes on as another request with the same number.
        let within = if is_other { within / 4 } else { within };
        self.until_answered(within, |state| {
            state.finished.contains(&held.network_id)
                || is_other && state.workers_started > workers
                || state.arrived.iter().any(|one| one.network_id == held.network_id)
        })
    }

    /// Handles what happens until a condition holds that may never hold: the browser reports the
    /// end of nearly all requests. The time to wait grows with the time that the page takes to answer,
    /// so that a busy machine gives the same run as an idle one.
    fn until_answered(
        &mut self,
        within: Duration,
        holds: impl Fn(&State) -> bool,
    ) -> Result<(), WebError> {
        const ANSWERS: u32 = 40;
        let (begun, most) = (Instant::now(), within * 4);
        while !self.until(within, &holds)? {
            let asked = Instant::now();
            self.evaluate(None, "0")?;
            if begun.elapsed() > (asked.elapsed() * ANSWERS).min(most) {
                break;
            }
        }
        Ok(())
    }

    fn fail(&mut self, held: &Held, reason: &str) {
        let params = json!({"requestId": held.fetch_id, "errorReason": reason});
        self.send("Fetch.failRequest", params);
    }

    /// Gives a response to the page, rewritten if it is a page or a script.
    fn respond(&mut self, held: &Held, response: &Response) {
        let kind = response.content_type();
        let url = &held.request.url;
        let is_page = held.resource == "Document" && (kind == "text/html" || kind.is_empty());
        let mut rewritten = response.clone();
        if is_page {
            let full = response.header("content-type").unwrap_or_default().to_owned();
            let parts = [b"page", url.as_bytes(), full.as_bytes(), &response.body];
            let rewrite = || self.rewriter.0.html(&response.body, &full, url);
            let page = self.store.rewritten(key(&parts), rewrite);
            rewritten.body = page.bytes.into();
            if let Some(charset) = page.charset {
                rewritten.set_content_type(&format!("text/html; charset={charset}"));
            }
        } else if held.resource == "Script"
            && let Ok(text) = std::str::from_utf8(&response.body)
        {
            let parts = [b"script", url.as_bytes(), &response.body];
            let rewrite = || self.rewriter.0.script(text, url, is_module(text)).into_bytes().into();
            rewritten.body = self.store.rewritten(key(&parts), rewrite).bytes.into();
        }
        self.fulfil(&held.fetch_id, &rewritten);
    }

    /// Answers a request that its event waits for.
    pub(crate) fn answer_at_once(&mut self, held: &Held) {
        match self.store.answer(&format!("synchronous {}", held.request.url), &held.request) {
            Answer::Response(response) => self.respond(held, &response),
            Answer::Fail => self.fail(held, "ConnectionRefused"),
            // Not recorded: nobody can wait for it here.
            Answer::Server => {
                self.send("Fetch.continueRequest", json!({"requestId": held.fetch_id}));
            }
        }
    }

    pub(crate) fn fulfil(&mut self, fetch_id: &str, response: &Response) {
        self.send("Fetch.fulfillRequest", fulfil_params(fetch_id, response));
    }

    /// Lets the browser ask the real server, and returns what it says; `None` if nobody answers.
    fn ask_server(&mut self, held: &Held) -> Result<Option<Response>, WebError> {
        let params = json!({"requestId": held.fetch_id, "interceptResponse": true});
        self.send("Fetch.continueRequest", params);
        let id = &held.network_id;
        let within = self.limits.reply;
        if !self
            .until(within, |state| state.responses.contains_key(id) || state.failed.contains(id))?
        {
            let what = format!("no response from the server to {}", held.request.url);
            return Err(WebError::TimedOut { what, within });
        }
        let Some(paused) = self.state.responses.remove(id) else { return Ok(None) };
        let status = paused["responseStatusCode"].as_u64().unwrap_or(0);
        let Some(status) = u16::try_from(status).ok().filter(|status| *status >= 100) else {
            return Ok(None);
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let headers = paused["responseHeaders"].as_array().into_iter().flatten();
        let headers = headers.map(|one| (text(&one["name"]), text(&one["value"]))).collect();
        let is_redirection = (300..400).contains(&status) && status != 304;
        let body = if is_redirection || status == 204 || status == 304 {
            Vec::new()
        } else {
            let params = json!({"requestId": paused["requestId"]});
            let reply = self.call("Fetch.getResponseBody", params)?;
            let body = reply["body"].as_str().unwrap_or_default();
            match reply["base64Encoded"].as_bool() {
                Some(true) => STANDARD
                    .decode(body)
                    .map_err(|_| WebError::Answer("Fetch.getResponseBody".to_owned()))?,
                _ => body.as_bytes().to_vec(),
            }
        };
        Ok(Some(Response { status, headers, body: body.into() }))
    }
}

/// Returns what the browser is told to give a response to a request.
pub(crate) fn fulfil_params(fetch_id: &str, response: &Response) -> Value {
    let dropped = ["content-length", "content-encoding", "transfer-encoding"];
    let kept = response
        .headers
        .iter()
        .filter(|(name, _)| !dropped.iter().any(|dropped| name.eq_ignore_ascii_case(dropped)));
    let header = |(name, value): &(String, String)| json!({"name": name, "value": value});
    let headers: Vec<Value> = kept.map(header).collect();
    json!({
        "requestId": fetch_id, "responseCode": response.status, "responseHeaders": headers,
        "body": STANDARD.encode(&response.body),
    })
}

/// Returns the key of a rewritten text.
pub(super) fn key(parts: &[&[u8]]) -> Hash128 {
    parts.iter().fold(Hash128::new(), |hash, part| hash.part(part))
}

/// Returns whether a script is a module, by its first word in a line: the browser does not tell.
fn is_module(text: &str) -> bool {
    let begins = |line: &str| {
        let line = line.trim_start();
        ["import", "export"].iter().any(|word| {
            line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '{', '*', '"', '\'']))
        })
    };
    text.lines().any(begins)
}

#[cfg(test)]
mod tests {
    use super::is_module;

    #[test]
    fn modules_begin_lines_with_their_words() {
        for text in ["import a from './a.js'", "x\nexport default 3", "import{a}from'b'"] {
            assert!(is_module(text), "{text}");
        }
        for text in ["", "import('./a.js')", "exports.a = 1", "important()"] {
            assert!(!is_module(text), "{text}");
        }
    }
}
