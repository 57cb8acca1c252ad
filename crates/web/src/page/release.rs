//! Releasing a request: it gets its response, and the page takes it in.

use super::driver::PageDriver;
use super::handle::{Held, State};
use super::refresh::hold_refreshes;
use crate::error::WebError;
use crate::source::{ANY_ORIGIN, Answer, Response};
use anyorder_common::hash::Hash128;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::Encoding;
use serde_json::{Value, json};
use std::borrow::Cow;
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
        if fault.is_none() && self.store.is_silent(&held.request) {
            return Ok(());
        }
        self.state.script_released(held);
        let mut is_refused = false;
        match fault {
            Some(Fault::Failed) => self.fail(held, "ConnectionFailed"),
            Some(Fault::TimedOut) => self.fail(held, "TimedOut"),
            None if held.is_hold_point() => {
                let body = b"document.currentScript.remove()";
                self.fulfil(held.fetch(), &Response::new(200, "text/javascript", body));
            }
            None => match self.store.answer(event, &held.request) {
                Answer::Fail | Answer::Missing => {
                    is_refused = true;
                    self.fail(held, "ConnectionRefused");
                }
                Answer::Response(response) => self.respond(held, &response),
                Answer::Server => match self.ask_server(held)? {
                    Some(response) => {
                        self.store.record(event, &held.request, response.clone());
                        self.respond(held, &response);
                    }
                    None if self.store.is_silent(&held.request) => return Ok(()),
                    None => {
                        is_refused = true;
                        self.store.record_failure(event, &held.request);
                        self.fail(held, "ConnectionFailed");
                    }
                },
            },
        }
        let within = self.limits.finish;
        if is_document && is_refused {
            // The browser shows a page of its own then.
            let why = "no document came".to_owned();
            return Err(WebError::Load { url: held.request.url.clone(), why });
        }
        if is_document {
            // Nothing can be evaluated before the new document is there. A new process of the
            // browser may have to start for it, which a loaded machine takes seconds for.
            let has_come = |state: &State| {
                state.committed && !state.contexts.is_empty() && state.observer.is_some()
            };
            let mut came = self.until(self.limits.reply, |state| {
                has_come(state)
                    || state.finished.contains(&held.network_id)
                    || state.redirected(&held.network_id).is_some()
            })?;
            // A response that makes no document is over too.
            came &= self.until(within, |state| {
                has_come(state) || state.redirected(&held.network_id).is_some()
            })?;
            // Where the document has moved is a part of its event.
            if let Some(at) = self.state.redirected(&held.network_id) {
                let next = self.state.arrived.remove(at);
                let depth = event.matches(REDIRECTED).count();
                if depth >= REDIRECTIONS_MAX {
                    let why = "it is redirected without end".to_owned();
                    return Err(WebError::Load { url: next.request.url, why });
                }
                return self.release(&next, &format!("{event}{REDIRECTED}"), None);
            }
            if !came || !self.state.committed {
                let why = "no document came".to_owned();
                return Err(WebError::Load { url: held.request.url.clone(), why });
            }
        }
        // The page is not told of the end of a worker's script, but the worker starts.
        let made = self.state.workers_made;
        let run = running(&self.state);
        let is_other = held.resource == "Other";
        // A redirection goes on as another request with the same number.
        let within = if is_other { within / 4 } else { within };
        self.until_answered(within, |state| {
            state.finished.contains(&held.network_id)
                || is_other && (state.workers_made > made || running(state) > run)
                || is_other && !state.arrived.is_empty()
                || state.redirected(&held.network_id).is_some()
        })?;
        Ok(())
    }

    /// Handles what happens until a condition holds that may never hold: the browser reports the
    /// end of nearly all requests. Returns whether it holds. The time to wait grows with the time
    /// that the page takes to answer, so that a busy machine gives the same run as an idle one. A
    /// large body comes in parts. A page that does not read it gets only the first ones.
    pub(super) fn until_answered(
        &mut self,
        within: Duration,
        holds: impl Fn(&State) -> bool,
    ) -> Result<bool, WebError> {
        const ANSWERS: u32 = 40;
        let most = within * 4;
        let (mut begun, mut progress) = (Instant::now(), self.state.progress);
        while !self.until(within, &holds)? {
            if self.state.progress != progress {
                (begun, progress) = (Instant::now(), self.state.progress);
                continue;
            }
            let asked = Instant::now();
            self.look("0")?;
            if begun.elapsed() > (asked.elapsed() * ANSWERS).min(most) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn fail(&mut self, held: &Held, reason: &str) {
        let params = json!({"requestId": held.fetch_id, "errorReason": reason});
        self.client.send(&held.session, "Fetch.failRequest", params);
    }

    /// Gives a response to the page, rewritten if it is a page or a script.
    pub(super) fn respond(&mut self, held: &Held, response: &Response) {
        let kind = response.content_type();
        let url = &held.request.url;
        let is_page = held.resource == "Document" && (kind == "text/html" || kind.is_empty());
        let mut rewritten = response.clone();
        if let Some(origin) = &held.origin {
            rewritten.allow(origin);
        }
        if is_page {
            if has_policy(response) {
                self.store.note_gap(format!(
                    "the policy of `{url}` (Content-Security-Policy) is switched off: scripts that it \
                     blocks run here"
                ));
            }
            if response.header("refresh").is_some() {
                self.store.note_gap(format!("`{url}` does not go on by itself (header Refresh)"));
                rewritten.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("refresh"));
            }
            let full = response.header("content-type").unwrap_or_default().to_owned();
            let parts = [b"page", url.as_bytes(), full.as_bytes(), &response.body];
            let rewrite = || self.rewriter.0.html(&hold_refreshes(&response.body), &full, url);
            let page = self.store.rewritten(key(&parts), rewrite);
            rewritten.body = page.bytes.into();
            if let Some(charset) = page.charset {
                rewritten.set_content_type(&format!("text/html; charset={charset}"));
            }
        } else if held.resource == "Script" || held.resource == "Other" && is_script(&kind) {
            let full = response.header("content-type").unwrap_or_default().to_owned();
            let parts = [b"script", url.as_bytes(), full.as_bytes(), &response.body];
            let rewrite = || {
                let text = decoded(&response.body, &full);
                self.rewriter.0.script(&text, url, is_module(&text)).into_bytes().into()
            };
            rewritten.body = self.store.rewritten(key(&parts), rewrite).bytes.into();
            rewritten.set_content_type(&in_utf8(&full));
        }
        self.fulfil(held.fetch(), &rewritten);
    }

    /// Answers a request by which the browser asks whether it may send another one (a preflight:
    /// Fetch standard, 4.8). That is no event of its own: nothing of the page runs at its answer.
    /// Whoever is not known to say no says yes.
    pub(super) fn permit(&mut self, held: &Held) {
        if self.store.is_silent(&held.request) {
            self.state.preflights.remove(&held.network_id);
            self.state.sent.insert(held.network_id.clone());
            return;
        }
        let asked = String::from_utf8_lossy(&held.request.body);
        let event = format!("preflight {} {asked}", held.request.url);
        match self.store.permission(&event, &held.request) {
            Answer::Response(response) => self.respond(held, &response),
            Answer::Fail => self.fail(held, "ConnectionFailed"),
            Answer::Server => self.ask_at_once(held, event),
            Answer::Missing => self.respond(held, &permission(&asked)),
        }
    }

    /// Answers a request that its event waits for.
    pub(crate) fn answer_at_once(&mut self, held: &Held) {
        let url = &held.request.url;
        let count = self.state.synchronous_counts.entry(url.clone()).or_default();
        let event = format!("synchronous {url}#{count}");
        *count += 1;
        match self.store.answer(&event, &held.request) {
            Answer::Response(response) => self.respond(held, &response),
            Answer::Fail | Answer::Missing => self.fail(held, "ConnectionRefused"),
            Answer::Server => self.ask_at_once(held, event),
        }
    }

    pub(crate) fn fulfil(&mut self, (session, fetch_id): (&str, &str), response: &Response) {
        if response.body.len() > BODY_BYTES_MAX {
            let why = format!(
                "a response of {} MB is too large for the browser's connection: it counts as one that \
                 fails",
                response.body.len() / 1_000_000
            );
            self.store.note_gap(why);
            let params = json!({"requestId": fetch_id, "errorReason": "ConnectionFailed"});
            self.client.send(session, "Fetch.failRequest", params);
            return;
        }
        self.client.send(session, "Fetch.fulfillRequest", fulfil_params(fetch_id, response));
    }
}

/// The most bytes of a response. The browser takes no message of more than 100 MiB, and the text of
/// the bytes is a third longer than they are.
const BODY_BYTES_MAX: usize = 75_000_000;

/// What is put behind the name of an event for each redirection of its document.
const REDIRECTED: &str = " (redirected)";

/// The most redirections of a document: as many as the browser follows.
const REDIRECTIONS_MAX: usize = 20;

/// Returns whether a content type is that of a script. The browser does not name the kind of a
/// worker's script.
fn is_script(content_type: &str) -> bool {
    content_type.ends_with("javascript") || content_type.ends_with("ecmascript")
}

/// Returns how many workers run their scripts.
fn running(state: &State) -> usize {
    state.workers.iter().filter(|worker| worker.has_runtime).count()
}

/// Returns a response that permits what a preflight asks for: a method, and headers.
fn permission(asked: &str) -> Response {
    let (method, headers) = asked.split_once(' ').unwrap_or((asked, ""));
    let mut response = Response::new(204, "text/plain", b"");
    for (name, value) in [("Methods", method), ("Headers", headers)] {
        response.headers.push((format!("Access-Control-Allow-{name}"), value.to_owned()));
    }
    response
}

/// Returns the parameters of `Fetch.fulfillRequest` for a response.
pub(crate) fn fulfil_params(fetch_id: &str, response: &Response) -> Value {
    let dropped = ["content-length", "content-encoding", "transfer-encoding"];
    let kept = response
        .headers
        .iter()
        .filter(|(name, _)| !dropped.iter().any(|dropped| name.eq_ignore_ascii_case(dropped)));
    let header = |(name, value): &(String, String)| {
        let value = if value == ANY_ORIGIN { "*" } else { value };
        json!({"name": name, "value": value})
    };
    let headers: Vec<Value> = kept.map(header).collect();
    json!({
        "requestId": fetch_id, "responseCode": response.status, "responseHeaders": headers,
        "body": STANDARD.encode(&response.body),
    })
}

/// Returns whether a page has a policy that may block scripts, in its header or in a `meta`.
fn has_policy(page: &Response) -> bool {
    let blocks = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["script-src", "default-src", "sandbox"].iter().any(|word| text.contains(word))
    };
    let named =
        |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-security-policy");
    if page.headers.iter().filter(named).any(|(_, value)| blocks(value)) {
        return true;
    }
    let text = String::from_utf8_lossy(&page.body).to_ascii_lowercase();
    let metas = text.split("<meta").skip(1).filter_map(|rest| rest.split_once('>'));
    let is_policy =
        |tag: &str| tag.contains("content-security-policy") && !tag.contains("policy-report-only");
    metas.into_iter().any(|(tag, _)| is_policy(tag) && blocks(tag))
}

/// Returns the key of a rewritten text.
pub(super) fn key(parts: &[&[u8]]) -> Hash128 {
    parts.iter().fold(Hash128::new(), |hash, part| hash.part(part))
}

/// Decodes a script: by its byte order mark, else as UTF-8, else in the encoding of its content
/// type. What is none of these is the encoding of most old pages, windows-1252.
fn decoded<'a>(bytes: &'a [u8], content_type: &str) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text.trim_start_matches('\u{feff}'));
    }
    let (_, named) = content_type.split_once("charset=").unwrap_or_default();
    let label = named.split(';').next().unwrap_or_default().trim().trim_matches('"');
    let named = Encoding::for_label(label.as_bytes()).filter(|one| *one != encoding_rs::UTF_8);
    named.unwrap_or(encoding_rs::WINDOWS_1252).decode(bytes).0
}

/// Returns a content type with UTF-8 as its encoding.
fn in_utf8(content_type: &str) -> String {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let kind = if kind.is_empty() { "text/javascript" } else { kind };
    format!("{kind}; charset=utf-8")
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
    use super::{decoded, has_policy, in_utf8, is_module};
    use crate::source::Response;

    #[test]
    fn policies_that_may_block_scripts_are_seen() {
        let page = |body: &str| Response::new(200, "text/html", body.as_bytes());
        let meta = "<META http-equiv=Content-Security-Policy content=\"script-src 'self'\">";
        assert!(has_policy(&page(meta)));
        assert!(!has_policy(&page("<p>a content-security-policy has a script-src")));
        assert!(!has_policy(&page(&meta.replace("script-src", "img-src"))));
        let mut headed = page("");
        headed.headers.push(("content-security-policy".into(), "default-src 'self'".into()));
        assert!(has_policy(&headed));
    }

    #[test]
    fn scripts_have_encodings() {
        assert_eq!(decoded("\u{feff}é".as_bytes(), ""), "é");
        assert_eq!(decoded(b"\xff\xfea\0", "text/javascript"), "a", "UTF-16");
        assert_eq!(decoded(b"\xe9", "text/javascript"), "é");
        assert_eq!(decoded(b"\x83e", "text/javascript; charset=shift_jis"), "テ");
        assert_eq!(in_utf8("text/javascript; charset=x"), "text/javascript; charset=utf-8");
        assert_eq!(in_utf8(""), "text/javascript; charset=utf-8");
    }

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
