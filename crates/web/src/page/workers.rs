//! The workers of a page: each gets the runtime before its script, and its timers and requests are
//! events like those of the page.

use super::driver::PageDriver;
use super::handle::{Held, State, path, text};
use super::opened::auto_attach;
use super::runtime::{HOME, SYNCHRONOUS};
use crate::devtools::Event;
use serde_json::{Value, json};

/// A worker.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Worker {
    pub(crate) session: String,
    /// The address of its script.
    pub(super) url: String,
    /// What its log is called.
    name: String,
    /// Its number in the place of a context: less than 0.
    pub(crate) context: i64,
    /// Whether it has its runtime: its script runs.
    pub(super) has_runtime: bool,
    /// Whether its script has come.
    pub(crate) is_loaded: bool,
    /// How many scripts had come when its own one was released; `None` before. A blob's is released
    /// from the start. What comes later may be scripts that it imports.
    released_at: Option<usize>,
    /// Whether it did not begin in time.
    pub(super) is_given_up: bool,
}

/// A script that was asked for, and may be that of a worker. What a worker imports has no network
/// id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AskedScript {
    fetch_id: String,
    network_id: String,
    url: String,
    is_released: bool,
}

impl AskedScript {
    pub(super) fn of(held: &Held) -> AskedScript {
        let (fetch_id, network_id) = (held.fetch_id.clone(), held.network_id.clone());
        AskedScript { fetch_id, network_id, url: held.request.url.clone(), is_released: false }
    }
}

impl PageDriver {
    /// Takes in a worker or a frame that the browser has attached us to. It waits for us to go on.
    pub(super) fn attached(&mut self, params: &Value) {
        let session = text(params, "sessionId");
        let info = &params["targetInfo"];
        let kind = text(info, "type");
        match kind.as_str() {
            "worker" | "shared_worker" => {
                let all = json!([{"urlPattern": "*", "requestStage": "Request"}]);
                let mut commands = vec![("Target.setAutoAttach", auto_attach())];
                commands.push(("Network.enable", json!({})));
                // The page holds the requests of its own workers.
                if kind == "shared_worker" {
                    commands.push(("Fetch.enable", json!({"patterns": all})));
                }
                // A worker that has not begun lacks most of its globals, and asking for some of
                // them ends the page. So it is stopped at its first statement.
                commands.push(("Debugger.enable", json!({"maxScriptsCacheSize": 0})));
                commands.push(("Debugger.setBreakpointsActive", json!({"active": false})));
                commands.push(("Debugger.pause", json!({})));
                for (method, params) in commands {
                    self.client.send(&session, method, params);
                }
                self.state.workers_made += 1;
                let context = -i64::from(self.state.workers_made);
                let url = text(info, "url");
                let is_blob = !url.starts_with("http");
                let session = session.clone();
                let name = self.state.name_of_worker(&url);
                let is_released = is_blob || self.state.releasing == url;
                let released_at = is_released.then_some(self.state.asked_scripts.len());
                let worker =
                    Worker { session, url, name, context, released_at, ..Worker::default() };
                self.state.blobs_attached += usize::from(is_blob && kind == "worker");
                self.state.workers.push(worker);
            }
            _ => {
                let url = text(info, "url");
                self.store.note_gap(format!(
                    "the {kind} `{url}` has a process of its own: its events are not under control"
                ));
            }
        }
        self.client.send(&session, "Runtime.runIfWaitingForDebugger", json!({}));
    }

    /// Returns whether the page has made a worker.
    pub(crate) fn has_workers(&self) -> bool {
        self.state.workers_made > 0
    }

    pub(super) fn detached(&mut self, session: &str) {
        self.state.workers.retain(|worker| worker.session != session);
    }

    /// Handles an event of a worker.
    pub(super) fn handle_of_worker(&mut self, event: &Event) {
        let session = &event.session;
        let params = &event.params;
        let found = self.state.workers.iter_mut().find(|worker| worker.session == *session);
        let Some(worker) = found else { return };
        match event.method.as_str() {
            "Inspector.workerScriptLoaded" if !worker.is_loaded => {
                worker.is_loaded = true;
            }
            "Fetch.requestPaused" => self.paused(session, params),
            "Network.loadingFinished" | "Network.loadingFailed" => {
                let id = text(params, "requestId");
                if event.method == "Network.loadingFailed" {
                    self.state.failed.insert(id.clone());
                }
                self.state.finished.insert(id);
            }
            "Network.dataReceived" => self.state.progress += 1,
            "Runtime.bindingCalled" if params["name"] == SYNCHRONOUS => {
                self.synchronous_request(text(params, "payload"));
            }
            "Debugger.scriptParsed" => self.script_parsed(session, params),
            "Debugger.paused" if !worker.has_runtime => {
                worker.has_runtime = true;
                let evaluate = json!({"expression": self.scripts.of_worker(&worker.name)});
                let binding = json!({"name": SYNCHRONOUS});
                self.client.send(session, "Runtime.addBinding", binding);
                self.client.send(session, "Runtime.evaluate", evaluate);
                self.client.send(session, "Debugger.resume", json!({}));
            }
            "Debugger.paused" => self.paused_script(session, &params["callFrames"]),
            "Target.attachedToTarget" => self.attached(params),
            "Target.detachedFromTarget" => self.detached(&text(params, "sessionId")),
            _ => {}
        }
    }
}

impl State {
    /// Takes in that a script is released: if it is that of a worker, the worker can begin.
    pub(super) fn script_released(&mut self, held: &Held) {
        if !held.is_of_worker() {
            return;
        }
        let url = &held.request.url;
        let is_it = |script: &&mut AskedScript| script.fetch_id == held.fetch_id;
        if let Some(script) = self.asked_scripts.iter_mut().find(is_it) {
            script.is_released = true;
        }
        self.releasing.clone_from(url);
        let is_next = |worker: &&mut Worker| worker.url == *url && worker.released_at.is_none();
        if let Some(worker) = self.workers.iter_mut().find(is_next) {
            worker.released_at = Some(self.asked_scripts.len());
        }
    }

    /// Returns whether a worker may have made a request. One from a blob names nobody.
    pub(super) fn is_from_worker(&self, held: &Held) -> bool {
        let makes = |worker: &Worker| match &held.referrer {
            Some(url) => worker.url == *url,
            None => !worker.url.starts_with("http"),
        };
        self.workers.iter().any(makes)
    }

    /// Returns whether a worker cannot begin before a request is released: that of its script, or
    /// those of scripts that it imports.
    pub(super) fn waits(&self, worker: &Worker) -> bool {
        let is_held = |script: &AskedScript| {
            !script.is_released && !self.finished.contains(&script.network_id)
        };
        match worker.released_at {
            Some(at) => self.asked_scripts[at..].iter().any(is_held),
            None => self.asked_scripts.iter().any(|one| one.url == worker.url && is_held(one)),
        }
    }

    /// Returns whether the workers that the page says it has made are there, or have asked for
    /// their scripts.
    pub(super) fn has_all_workers(&self) -> bool {
        self.workers_told.iter().all(|(script, told)| self.workers_of(script) >= *told)
    }

    pub(super) fn take_workers_as_they_are(&mut self) {
        let mut told = std::mem::take(&mut self.workers_told);
        told.iter_mut().for_each(|(script, told)| *told = self.workers_of(script));
        self.workers_told = told;
    }

    fn workers_of(&self, script: &str) -> usize {
        match script {
            "" => self.blobs_attached,
            _ => self.asked_scripts.iter().filter(|one| one.url == script).count(),
        }
    }

    /// Returns the name of a new worker: by its script, the event that makes it, unless that is the
    /// document's own, and its number among those of the same.
    fn name_of_worker(&mut self, url: &str) -> String {
        // A copy of a script tells its address (workers.js).
        let url = url.split_once(HOME).map_or(url, |(_, home)| home);
        let script = match url.split_once(':') {
            Some((kind @ ("blob" | "data"), _)) => format!("({kind})"),
            _ => path(url).to_owned(),
        };
        // The request of its script is an event of its own, with a number among those of the same.
        let (maker, request) = match self.event.rsplit_once('/') {
            Some((maker, request)) if request.starts_with("request@") => (maker, request),
            _ => (self.event.as_str(), ""),
        };
        let number =
            request.rsplit_once('#').map_or(String::new(), |(_, number)| format!("~{number}"));
        let of = if matches!(maker, "" | "load") { String::new() } else { format!(" of {maker}") };
        let name = format!("worker {script}{number}{of}");
        let count = self.worker_names.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}~{}", *count - 1) }
    }
}
