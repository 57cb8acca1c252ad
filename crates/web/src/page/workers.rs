//! The workers of a page: each gets the runtime before its script, and its timers and requests are
//! events like those of the page.

use super::driver::PageDriver;
use super::handle::text;
use super::opened::auto_attach;
use super::runtime::SYNCHRONOUS;
use crate::devtools::Event;
use serde_json::{Value, json};

/// A worker.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Worker {
    pub(crate) session: String,
    /// The address of its script.
    pub(super) url: String,
    /// Its number in the place of a context: less than 0.
    pub(crate) context: i64,
    /// Whether it has its runtime: its script runs.
    pub(super) has_runtime: bool,
    /// Whether its script has come.
    pub(crate) is_loaded: bool,
    /// Whether its script is a blob: no request brings it.
    pub(super) is_blob: bool,
    /// Whether its script waits for others that it imports.
    pub(crate) waits: bool,
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
                // The page holds the requests of its own workers.
                if kind == "shared_worker" {
                    commands.push(("Network.enable", json!({})));
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
                let worker = Worker { session, url, context, is_blob, ..Worker::default() };
                self.state.blobs_attached += u32::from(is_blob && kind == "worker");
                self.state.workers.push(worker);
                if is_blob {
                    self.store.note_gap(
                        "a worker whose script is a blob or data reports no accesses: its script is \
                         not rewritten",
                    );
                }
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
                let evaluate = json!({"expression": self.scripts.worker});
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
