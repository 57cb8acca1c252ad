//! What happens in the page, as the browser tells it.

use super::driver::PageDriver;
use super::failures::{failure, shown};
use super::origin::origin;
use super::runtime::{BARRIER, HOLD_PATH, NAME, REWRITE, SYNCHRONOUS, SYNCHRONOUS_HEADER};
use super::server::Waited;
use super::sockets::OpenSocket;
use super::workers::{AskedScript, Worker};
use crate::devtools::Event;
use crate::error::WebError;
use crate::source::{PageRequest, Response, origin_of};
use anyorder_system::Failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A request that the browser holds back.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Held {
    /// The session that holds it.
    pub(crate) session: String,
    /// By which the browser releases it.
    pub(crate) fetch_id: String,
    /// By which the browser reports it.
    pub(crate) network_id: String,
    pub(crate) request: PageRequest,
    /// The kind of resource, in the browser's words.
    pub(crate) resource: String,
    /// The frame that asked.
    pub(crate) frame: String,
    /// Whether it goes on after a redirection.
    pub(crate) is_redirected: bool,
    /// Its headers with those that are added for the real server; empty: they stay as they are.
    pub(crate) headers: Vec<(String, String)>,
    /// The origin that asks, where the browser names it.
    pub(crate) origin: Option<String>,
    /// The document or worker that asks, where the browser names it.
    pub(crate) referrer: Option<String>,
}

impl Held {
    /// Returns by what the browser releases it: the session, and the number.
    pub(crate) fn fetch(&self) -> (&str, &str) {
        (&self.session, &self.fetch_id)
    }

    /// Returns whether it may be a script that a worker imports.
    pub(super) fn is_of_worker(&self) -> bool {
        matches!(self.resource.as_str(), "Script" | "Other")
    }

    /// Returns whether it is a script that only stops the parser.
    pub(crate) fn is_hold_point(&self) -> bool {
        path(&self.request.url).starts_with(HOLD_PATH)
    }
}

/// What is known of the page that runs.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) session: String,
    pub(crate) browser_context: String,
    pub(crate) target: String,
    pub(crate) main_frame: String,
    /// The contexts of all frames, with their frames.
    pub(crate) contexts: BTreeMap<i64, String>,
    /// The numbers of frames inside of the main one, in the order in which they were made.
    pub(crate) frames: BTreeMap<String, usize>,
    /// The isolated world of the main frame.
    pub(crate) observer: Option<i64>,
    /// Whether the page's own document has come.
    pub(crate) committed: bool,
    /// The requests that came since they were last taken.
    pub(crate) arrived: Vec<Held>,
    /// The requests that ended, by their network ids.
    pub(crate) finished: BTreeSet<String>,
    pub(crate) failed: BTreeSet<String>,
    /// Responses of the real server that wait, by network id.
    pub(crate) responses: BTreeMap<String, Value>,
    /// Where scripts made requests, by network id: the address, and the line from 1.
    pub(crate) origins: BTreeMap<String, (String, u32)>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) console: Vec<String>,
    pub(crate) dialogs: Vec<String>,
    /// The addresses of other documents that the page wanted to go to.
    pub(crate) navigations: Vec<String>,
    /// What was sent, in order.
    pub(crate) requests: Vec<String>,
    /// Addresses of synchronous requests of the running event.
    pub(crate) synchronous: BTreeSet<String>,
    /// How often each address was asked for by a synchronous request.
    pub(crate) synchronous_counts: BTreeMap<String, u32>,
    /// What the browser asked other origins before it sends requests, by network id: the request
    /// that it wants to send, once that is known.
    pub(super) preflights: BTreeMap<String, Option<String>>,
    /// Whether another origin was asked: the browser keeps its answer for a time, and does not ask
    /// again then.
    pub(super) has_preflight: bool,
    /// The requests that came, and preflights that nobody answers, by network id.
    pub(super) sent: BTreeSet<String>,
    /// The workers that have not ended.
    pub(crate) workers: Vec<Worker>,
    pub(crate) workers_made: u32,
    /// The scripts that were asked for, and may be those of workers.
    pub(super) asked_scripts: Vec<AskedScript>,
    /// The address of the script that is being released.
    pub(super) releasing: String,
    /// How many workers have each name.
    pub(super) worker_names: BTreeMap<String, u32>,
    /// What the browser drags.
    pub(super) dragged: Option<Value>,
    /// The name of the event that runs.
    pub(super) event: String,
    /// How many workers of each script the page says it has made; an empty one stands for all blobs
    /// and data.
    pub(super) workers_told: BTreeMap<String, usize>,
    pub(super) blobs_attached: usize,
    /// Synchronous requests that the real server answers.
    pub(super) waiting: BTreeMap<String, Waited>,
    /// The sockets that the driver is asked about, by their contexts and numbers.
    pub(super) sockets: BTreeMap<(i64, u64), OpenSocket>,
    /// How many sockets have each name.
    pub(super) socket_counts: BTreeMap<String, u32>,
    /// Addresses that turned out to be downloads.
    pub(crate) downloads: BTreeSet<String>,
    /// Popups that were closed, and downloads that were refused.
    pub(crate) refused: Vec<String>,
    pub(crate) crashed: bool,
    /// How much came of the bodies of responses, in messages of the browser.
    pub(crate) progress: u64,
    /// The addresses of scripts, by their sessions and numbers.
    pub(crate) scripts: BTreeMap<(String, String), String>,
    /// Whether a script that runs is about to be stopped, and where it was.
    pub(crate) pausing: bool,
    pub(crate) paused_at: Option<String>,
    /// Whether code was stopped whose place is not known, such as that of the runtime.
    pub(super) paused_elsewhere: bool,
    /// What a dialog is answered.
    pub(crate) accept_dialogs: bool,
    /// Whether it asked another origin whether it may ask: the browser keeps the answer for a time.
    /// Whether the pointer may be inside of the page.
    pub(super) has_pointer: bool,
    /// How many runs have used the tab, with this one.
    pub(super) uses: u32,
    /// How long the user has paused between steps of typing, in seconds.
    pub(super) pauses: f64,
}

impl State {
    /// Returns the number of a frame by its context: 0 for the page's own, less for a worker.
    pub(crate) fn frame_number(&self, context: i64) -> i64 {
        let frame = self.contexts.get(&context).and_then(|frame| self.frames.get(frame));
        let inner = |number: &usize| i64::try_from(*number).unwrap_or(i64::MAX).saturating_add(1);
        frame.map_or(context.min(0), inner)
    }

    /// Returns whether all requests came, or failed, that other origins were asked about.
    pub(super) fn are_permitted(&self) -> bool {
        let is_over = |id: &String| self.sent.contains(id) || self.finished.contains(id);
        self.preflights.values().all(|wanted| wanted.as_ref().is_some_and(is_over))
    }

    /// Returns which of the requests that came goes on after a redirection of this one.
    pub(crate) fn redirected(&self, network_id: &str) -> Option<usize> {
        self.arrived.iter().position(|one| one.network_id == network_id)
    }
}

/// Returns the path of an address.
pub(super) fn path(url: &str) -> &str {
    crate::source::path_of(url)
}

pub(super) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

impl PageDriver {
    /// Takes the requests that came, in an order without chance. Those of one frame come in the
    /// order in which it made them, but documents, beacons, the scripts of workers and what workers
    /// ask for go other ways: they are put last, by their addresses.
    pub(crate) fn take_arrived(&mut self) -> Vec<Held> {
        let mut arrived = std::mem::take(&mut self.state.arrived);
        let frames: Vec<&String> = self.state.contexts.values().collect();
        let place = |held: &Held| {
            let other_way = matches!(held.resource.as_str(), "Document" | "Ping" | "Other")
                || self.state.is_from_worker(held);
            let frame = frames.iter().position(|frame| **frame == held.frame);
            let main = held.frame == self.state.main_frame;
            let url = if other_way { held.request.url.clone() } else { String::new() };
            let method = if other_way { held.request.method.clone() } else { String::new() };
            (other_way, !main, frame.unwrap_or(usize::MAX), url, method)
        };
        arrived.sort_by_cached_key(place);
        arrived
    }

    /// Handles an event. Commands that it needs are sent without waiting for their replies.
    pub(crate) fn handle(&mut self, event: &Event) -> Result<(), WebError> {
        let params = &event.params;
        if event.session.is_empty() {
            self.handle_of_browser(&event.method, params);
            return Ok(());
        }
        if event.session != self.state.session {
            self.handle_of_worker(event);
            return Ok(());
        }
        match event.method.as_str() {
            "Fetch.requestPaused" => self.paused(&event.session, params),
            "Network.requestWillBeSent" => {
                let initiator = &params["initiator"];
                let origin = origin(initiator, &self.opening.url);
                let id = text(params, "requestId");
                if initiator["type"] == "preflight" && !self.state.sent.contains(&id) {
                    let wanted = Some(text(initiator, "requestId"));
                    self.state.preflights.insert(id.clone(), wanted);
                }
                self.state.origins.extend(origin.map(|origin| (id, origin)));
            }
            "Network.dataReceived" => self.state.progress += 1,
            "Input.dragIntercepted" => self.state.dragged = Some(params["data"].clone()),
            "Debugger.scriptParsed" => self.script_parsed(&event.session, params),
            "Debugger.paused" => self.paused_script(&event.session, &params["callFrames"]),
            "Network.loadingFinished" => {
                self.state.finished.insert(text(params, "requestId"));
            }
            "Network.loadingFailed" => {
                let id = text(params, "requestId");
                self.state.failed.insert(id.clone());
                self.state.finished.insert(id);
            }
            "Runtime.executionContextCreated" => self.context_created(&params["context"]),
            "Runtime.executionContextDestroyed" => {
                let id = params["executionContextId"].as_i64().unwrap_or(-1);
                self.state.contexts.remove(&id);
                self.state.observer.take_if(|observer| *observer == id);
            }
            "Runtime.executionContextsCleared" => self.state.contexts.clear(),
            "Runtime.exceptionThrown" => {
                let failure = failure(&params["exceptionDetails"], &*self.rewriter.0);
                self.state.failures.push(failure);
            }
            "Runtime.consoleAPICalled"
                if params["type"] == "error" || params["type"] == "assert" =>
            {
                let rewriter = &*self.rewriter.0;
                let words = params["args"].as_array().into_iter().flatten();
                let words: Vec<String> = words.map(|word| shown(word, rewriter)).collect();
                self.state.console.push(words.join(" "));
            }
            "Runtime.bindingCalled" if params["name"] == SYNCHRONOUS => {
                self.synchronous_request(text(params, "payload"));
            }
            "Target.attachedToTarget" => self.attached(params),
            "Target.detachedFromTarget" => self.detached(&text(params, "sessionId")),
            "Page.frameAttached" => {
                let number = self.state.frames.len();
                self.state.frames.entry(text(params, "frameId")).or_insert(number);
            }
            "Page.frameNavigated" => {
                let frame = &params["frame"];
                let is_own = frame["url"] != "about:blank" && frame["unreachableUrl"].is_null();
                if text(frame, "id") == self.state.main_frame && is_own {
                    self.state.committed = true;
                }
            }
            "Page.javascriptDialogOpening" => {
                let said = format!("{}: {}", text(params, "type"), text(params, "message"));
                self.state.dialogs.push(said);
                // Leaving a page is never refused by its dialog.
                let accept = self.state.accept_dialogs || params["type"] == "beforeunload";
                let typed = text(params, "defaultPrompt");
                let answer = json!({"accept": accept, "promptText": typed});
                self.send("Page.handleJavaScriptDialog", answer);
            }
            "Inspector.targetCrashed" => self.state.crashed = true,
            _ => {}
        }
        Ok(())
    }

    /// Notes where a script was stopped, or lets it run again if nobody asked for that.
    pub(super) fn paused_script(&mut self, session: &str, frames: &Value) {
        if !self.state.pausing {
            self.client.send(session, "Debugger.resume", json!({}));
            return;
        }
        let frames = frames.as_array().map(Vec::as_slice).unwrap_or_default();
        let place = |frame: &Value| {
            let script = text(&frame["location"], "scriptId");
            let url = self.state.scripts.get(&(session.to_owned(), script))?;
            let line = frame["location"]["lineNumber"].as_u64().unwrap_or(0).saturating_add(1);
            Some(format!("{url}:{line}"))
        };
        match frames.iter().find_map(place) {
            Some(place) => self.state.paused_at = Some(place),
            None => self.state.paused_elsewhere = true,
        }
    }

    /// Keeps the address of a script of the page's own.
    pub(super) fn script_parsed(&mut self, session: &str, params: &Value) {
        let (id, url) = (text(params, "scriptId"), text(params, "url"));
        if !url.is_empty() && !url.starts_with("anyorder:") {
            self.state.scripts.insert((session.to_owned(), id), url);
        }
    }

    fn handle_of_browser(&mut self, method: &str, params: &Value) {
        let info = &params["targetInfo"];
        match method {
            "Target.targetCreated" if info["type"] == "page" => {
                let opener = text(info, "openerId");
                if !opener.is_empty() && opener == self.state.target {
                    let target = text(info, "targetId");
                    self.client.send("", "Target.closeTarget", json!({"targetId": target}));
                    self.state.refused.push("a window".to_owned());
                }
            }
            "Browser.downloadWillBegin" => {
                let url = text(params, "url");
                self.state.refused.push(format!("a download of {}", path(&url)));
                self.state.navigations.retain(|known| *known != url);
                self.state.downloads.insert(url);
            }
            "Target.attachedToTarget"
                if info["type"] == "shared_worker"
                    && text(info, "browserContextId") == self.state.browser_context =>
            {
                self.attached(params);
            }
            "Target.detachedFromTarget" | "Target.targetCrashed" => {
                self.detached(&text(params, "sessionId"));
                let ours = text(params, "sessionId") == self.state.session
                    || text(params, "targetId") == self.state.target;
                self.state.crashed |= ours && !self.state.session.is_empty();
            }
            _ => {}
        }
    }

    fn context_created(&mut self, context: &Value) {
        let data = &context["auxData"];
        let Some(id) = context["id"].as_i64() else { return };
        let frame = text(data, "frameId");
        if context["name"] == NAME && frame == self.state.main_frame {
            self.state.observer = Some(id);
        }
        if data["isDefault"] == true {
            // A new document of a frame takes the place of the old one.
            self.state.contexts.retain(|_, known| *known != frame);
            self.state.contexts.insert(id, frame);
        }
    }

    /// Handles a request or a response that the browser holds back.
    pub(super) fn paused(&mut self, session: &str, params: &Value) {
        let network_id = text(params, "networkId");
        let fetch_id = (session, text(params, "requestId"));
        let is_response = !params["responseStatusCode"].is_null();
        if is_response || !params["responseErrorReason"].is_null() {
            if !self.take_waited(&network_id, params) {
                self.state.responses.insert(network_id, params.clone());
            }
            return;
        }
        let asked = &params["request"];
        let full = text(asked, "url") + asked["urlFragment"].as_str().unwrap_or_default();
        let url = full.split('#').next().unwrap_or_default().to_owned();
        let method = text(asked, "method");
        let resource = text(params, "resourceType");
        let frame = text(params, "frameId");
        let is_main = frame == self.state.main_frame && resource == "Document";
        let way = path(&url);
        if way == BARRIER || way == "/favicon.ico" && resource != "Fetch" {
            return self.fulfil((fetch_id.0, &fetch_id.1), &Response::new(204, "text/plain", b""));
        }
        if way == REWRITE {
            let sent = String::from_utf8_lossy(&body(asked)).into_owned();
            let (kind, code) = sent.split_once('\n').unwrap_or_default();
            let parts = [b"code", kind.as_bytes(), code.as_bytes()];
            let rewrite = || self.rewriter.0.dynamic(code, kind).into_bytes().into();
            let rewritten = self.store.rewritten(super::release::key(&parts), rewrite).bytes;
            let response = Response::new(200, "text/plain; charset=utf-8", &rewritten);
            return self.fulfil((fetch_id.0, &fetch_id.1), &response);
        }
        if is_main && self.state.committed {
            // A form that is sent reaches the server, whatever the page does afterwards.
            if method != "GET" {
                self.state.requests.push(sent_line(&method, &url, &body(asked)));
            }
            self.state.navigations.push(url);
            let aborted = json!({"requestId": fetch_id.1, "errorReason": "Aborted"});
            self.client.send(session, "Fetch.failRequest", aborted);
            return;
        }
        if !url.starts_with("http:") && !url.starts_with("https:") {
            let params = json!({"requestId": fetch_id.1});
            self.client.send(session, "Fetch.continueRequest", params);
            return;
        }
        let permission = (method == "OPTIONS").then(|| asked_for(asked)).flatten();
        let is_preflight = permission.is_some();
        if is_preflight {
            self.state.has_preflight = true;
            self.state.preflights.entry(network_id.clone()).or_default();
        } else {
            self.state.sent.insert(network_id.clone());
        }
        let body = permission.unwrap_or_else(|| body(asked));
        if !way.starts_with(HOLD_PATH) && !is_preflight {
            self.state.requests.push(sent_line(&method, &url, &body));
        }
        let request = PageRequest { method, url, body, ordinal: 0 };
        let (session, fetch_id) = (session.to_owned(), fetch_id.1);
        let headers = self.headers_of(&request.url, asked);
        let is_redirected = !params["redirectedRequestId"].is_null();
        let held = Held {
            session,
            fetch_id,
            network_id,
            request,
            resource,
            frame,
            is_redirected,
            headers,
            origin: header(asked, "origin"),
            referrer: header(asked, "referer"),
        };
        let by_url = can_wait(&held) && self.state.synchronous.contains(&held.request.url);
        if is_preflight {
            self.permit(&held);
        } else if by_url || has_header(asked, SYNCHRONOUS_HEADER) {
            self.answer_at_once(&held);
        } else {
            if held.is_of_worker() {
                self.state.asked_scripts.push(AskedScript::of(&held));
            }
            self.state.arrived.push(held);
        }
    }

    /// Returns the headers of a request to the page's own origin with those that are added.
    fn headers_of(&self, url: &str, asked: &Value) -> Vec<(String, String)> {
        let added = &self.opening.headers;
        if added.is_empty() || origin_of(url) != origin_of(&self.opening.url) {
            return Vec::new();
        }
        let is_added = |name: &str| added.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let own = asked["headers"].as_object().into_iter().flatten();
        let own = own.filter(|(name, _)| !is_added(name));
        let own =
            own.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
        own.chain(added.iter().cloned()).collect()
    }

    /// Notes a synchronous request of the running event, whether the browser has told of it already
    /// or not. Its page does nothing before it is answered. Another request of this event to the
    /// same address may be answered with it, since the browser does not say which is which.
    pub(super) fn synchronous_request(&mut self, url: String) {
        let arrived = std::mem::take(&mut self.state.arrived);
        let waits = |one: &Held| can_wait(one) && one.request.url == url;
        let (now, later) = arrived.into_iter().partition(waits);
        self.state.arrived = later;
        let now: Vec<Held> = now;
        now.iter().for_each(|held| self.answer_at_once(held));
        self.state.synchronous.insert(url);
    }
}

/// Returns whether a script can wait for a request: by `XMLHttpRequest`, or `importScripts`.
fn can_wait(held: &Held) -> bool {
    matches!(held.resource.as_str(), "XHR" | "Script" | "Other")
}

/// Returns a request as a line of the outcome.
fn sent_line(method: &str, url: &str, body: &[u8]) -> String {
    let sent = by_value(String::from_utf8_lossy(body).into_owned());
    let space = if sent.is_empty() { "" } else { " " };
    format!("{method} {url}{space}{sent}")
}

/// Returns a JSON text with the members of its objects in alphabetical order: a server takes them
/// in any order, and a page adds them in that of its events. Another text stays, and one of which
/// the parser would change more, such as a number that it cannot keep.
pub(crate) fn by_value(text: String) -> String {
    let is_json = text.starts_with(['{', '[']);
    let parsed = is_json.then(|| serde_json::from_str::<Value>(&text).ok()).flatten();
    let Some(sorted) = parsed.map(|value| value.to_string()) else { return text };
    let bytes = |text: &str| {
        let mut counts = [0_usize; 256];
        text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
        counts
    };
    if bytes(&sorted) == bytes(&text) { sorted } else { text }
}

/// Returns whether a request has a header.
fn has_header(request: &Value, name: &str) -> bool {
    header(request, name).is_some()
}

/// Returns a header of a request.
fn header(request: &Value, name: &str) -> Option<String> {
    let mut headers = request["headers"].as_object().into_iter().flatten();
    let (_, value) = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some(value.as_str()?.to_owned())
}

/// Returns what a preflight asks for: the method of the request that is to be sent, and its
/// headers. `None`: it is none, but a page's own request.
fn asked_for(request: &Value) -> Option<Vec<u8>> {
    let method = header(request, "access-control-request-method")?;
    let headers = header(request, "access-control-request-headers").unwrap_or_default();
    Some(format!("{method} {headers}").into_bytes())
}

/// Returns what a request sends.
fn body(request: &Value) -> Vec<u8> {
    let entries = request["postDataEntries"].as_array().into_iter().flatten();
    let decoded = || entries.filter_map(|entry| STANDARD.decode(entry["bytes"].as_str()?).ok());
    let text = request["postData"].as_str().map(|text| text.as_bytes().to_vec());
    without_chance(text.unwrap_or_else(|| decoded().flatten().collect()))
}

/// The browser puts this before the 16 random characters that separate the parts of a form.
const BOUNDARY: &[u8] = b"----WebKitFormBoundary";

/// Replaces the random separators of a form.
fn without_chance(mut body: Vec<u8>) -> Vec<u8> {
    const RANDOM_BYTES: usize = 16;
    let (mut at, length) = (0, BOUNDARY.len());
    while at + length + RANDOM_BYTES <= body.len() {
        if !body[at..].starts_with(BOUNDARY) {
            at += 1;
            continue;
        }
        let random = &mut body[at + length..at + length + RANDOM_BYTES];
        if random.iter().all(u8::is_ascii_alphanumeric) {
            random.fill(b'0');
        }
        at += length + RANDOM_BYTES;
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_sent_with_equal_separators() {
        let form = |random: &str| {
            let line = format!("------WebKitFormBoundary{random}");
            format!("{line}\r\nname=\"a\"\r\n\r\nx\r\n{line}--\r\n").into_bytes()
        };
        let (one, other) = (form("AbCdEfGh12345678"), form("zzzzzzzz00000000"));
        assert_ne!(one, other);
        assert_eq!(without_chance(one), without_chance(other));
        for kept in ["", "----WebKitFormBoundary", "----WebKitFormBoundary: not a separator", "a=b"]
        {
            assert_eq!(without_chance(kept.as_bytes().to_vec()), kept.as_bytes());
        }
    }

    #[test]
    fn json_is_sent_by_its_value() {
        let value = |text: &str| by_value(text.to_owned());
        assert_eq!(value(r#"{"b":[{"d":1,"c":2}],"a":"x"}"#), r#"{"a":"x","b":[{"c":2,"d":1}]}"#);
        assert_ne!(value(r#"[{"a":1},{"b":2}]"#), value(r#"[{"b":2},{"a":1}]"#));
        // Its meaning would change, or it is none.
        for kept in [r#"{"b":12345678901234567890123,"a":1}"#, r#"{"b":1,"b":2}"#, "{b", "b=1&a=2"]
        {
            assert_eq!(value(kept), kept);
        }
    }
}
