//! Opening a page in an empty tab: the one of the run before, or one in a fresh context of the
//! browser.
//!
//! To make a context takes the browser longer than to run a small page. So where the last tab could
//! not be used again, the next one is prepared while a page runs: step by step, whenever the reply
//! to the last step comes.

use super::driver::PageDriver;
use super::handle::{Held, State};
use super::runtime::{NAME, SYNCHRONOUS};
use crate::devtools::{Message, Reply};
use crate::error::WebError;
use crate::source::StorageState;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long the browser may take to make a page, at least: a machine may be busy.
const OPEN: Duration = Duration::from_secs(60);

/// What a page is opened with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    pub(crate) url: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) seed: u32,
    pub(crate) epoch_ms: u64,
    pub(crate) accept_dialogs: bool,
    /// What the browser has before the page is loaded.
    pub(crate) stored: StorageState,
    /// Headers of the requests that the page's own server gets.
    pub(crate) headers: Vec<(String, String)>,
    /// Whether a tab may be used for more than one run.
    pub(crate) reuse: bool,
}

/// An empty page in a context of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Spare {
    context: String,
    target: String,
    session: String,
    frame: String,
    /// The command whose reply is the next step.
    waits_for: u64,
    /// How many runs have used it.
    uses: u32,
}

impl Spare {
    /// Returns the tab of a page that was ended.
    pub(super) fn of(state: &State) -> Spare {
        Spare {
            context: state.browser_context.clone(),
            target: state.target.clone(),
            session: state.session.clone(),
            frame: state.main_frame.clone(),
            waits_for: 0,
            uses: state.uses,
        }
    }
}

impl PageDriver {
    /// Opens the page in a tab without cookies, storage and cache, up to the request for its
    /// document.
    pub(crate) fn open(&mut self) -> Result<(), WebError> {
        let was_open = !self.state.session.is_empty();
        let emptied = self.emptied()?;
        let is_used_again = emptied.is_some();
        let spare = match emptied {
            Some(spare) => spare,
            None => {
                self.close();
                self.fresh()?
            }
        };
        self.tabs += u64::from(!is_used_again);
        self.state = State {
            session: spare.session,
            browser_context: spare.context,
            target: spare.target,
            main_frame: spare.frame,
            uses: spare.uses + 1,
            accept_dialogs: self.opening.accept_dialogs,
            ..State::default()
        };
        if !self.opening.stored.cookies.is_empty() {
            let context = &self.state.browser_context;
            let params = json!({
                "cookies": self.opening.stored.cookies, "browserContextId": context,
            });
            let id = self.client.send("", "Storage.setCookies", params);
            self.reply(id, "Storage.setCookies")?;
        }
        // Its reply comes when the document does. A typed address would load a page again that is
        // there already.
        self.send("Page.navigate", json!({"url": self.opening.url, "transitionType": "link"}));
        let is_document = |held: &Held| held.resource == "Document";
        let within = self.limits.reply.max(OPEN);
        if !self.until(within, |state| state.arrived.iter().any(is_document))? {
            let why = "the browser makes no request for it".to_owned();
            return Err(WebError::Load { url: self.opening.url.clone(), why });
        }
        self.state.arrived.retain(is_document);
        self.state.contexts.clear();
        if was_open && !is_used_again {
            self.prepare();
        }
        Ok(())
    }

    /// Returns an empty tab in a context of its own.
    fn fresh(&mut self) -> Result<Spare, WebError> {
        self.prepare();
        let within = self.limits.reply.max(OPEN);
        let deadline = Instant::now() + within;
        loop {
            match self.spare.take() {
                Some(spare) if !spare.frame.is_empty() => return Ok(spare),
                spare => self.spare = spare,
            }
            let message: Option<Message> = self.take(deadline)?;
            if message.is_none() {
                let what = "the browser makes no new page".to_owned();
                return Err(WebError::TimedOut { what, within });
            }
        }
    }

    /// Closes the page, without waiting.
    pub(crate) fn close(&mut self) {
        let State { browser_context, .. } = std::mem::take(&mut self.state);
        if !browser_context.is_empty() {
            let context = json!({"browserContextId": browser_context});
            self.client.send("", "Target.disposeBrowserContext", context);
        }
    }

    /// Begins to prepare a page, if none is.
    fn prepare(&mut self) {
        if self.spare.is_none() {
            let params = json!({"disposeOnDetach": true});
            let waits_for = self.client.send("", "Target.createBrowserContext", params);
            self.spare = Some(Spare { waits_for, ..Spare::default() });
        }
    }

    /// Takes the next step in preparing a page, if this is the reply to the last one.
    pub(super) fn prepare_further(&mut self, reply: &Reply) -> Result<(), WebError> {
        let Some(mut spare) = self.spare.take_if(|spare| spare.waits_for == reply.id) else {
            return Ok(());
        };
        let refused = |message: &String| {
            let method = "Target.createTarget".to_owned();
            WebError::Refused { method, message: message.clone() }
        };
        let result = reply.result.as_ref().map_err(refused)?;
        let text = |name: &str| {
            let found = result[name].as_str().map(str::to_owned);
            found.ok_or_else(|| WebError::Answer("Target.createTarget".to_owned()))
        };
        if spare.context.is_empty() {
            spare.context = text("browserContextId")?;
            let params = json!({
                "url": "about:blank", "browserContextId": spare.context,
                "width": self.opening.width, "height": self.opening.height,
            });
            spare.waits_for = self.client.send("", "Target.createTarget", params);
        } else if spare.target.is_empty() {
            spare.target = text("targetId")?;
            let params = json!({"targetId": spare.target, "flatten": true});
            spare.waits_for = self.client.send("", "Target.attachToTarget", params);
        } else if spare.session.is_empty() {
            spare.session = text("sessionId")?;
            spare.waits_for = self.set_up(&spare);
        } else {
            let frame = result["frameTree"]["frame"]["id"].as_str().unwrap_or_default();
            if frame.is_empty() {
                return Err(WebError::Answer("Page.getFrameTree".to_owned()));
            }
            spare.frame = frame.to_owned();
        }
        self.spare = Some(spare);
        Ok(())
    }

    /// Sends the commands that set up a new page. Returns the number of the last one.
    fn set_up(&mut self, spare: &Spare) -> u64 {
        let Opening { width, height, .. } = self.opening;
        let discover = json!({"discover": true, "filter": [{"type": "page"}]});
        self.client.send("", "Target.setDiscoverTargets", discover);
        // Shared workers belong to no page.
        let mut shared = auto_attach();
        shared["filter"] = json!([{"type": "shared_worker"}]);
        self.client.send("", "Target.setAutoAttach", shared);
        let deny = json!({
            "behavior": "deny", "browserContextId": spare.context, "eventsEnabled": true,
        });
        self.client.send("", "Browser.setDownloadBehavior", deny);
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        let all = json!([{"urlPattern": "*", "requestStage": "Request"}]);
        let frame = json!({"source": self.scripts.frame});
        let observer = json!({"source": self.scripts.observer, "worldName": NAME});
        let commands: [(&str, Value); 16] = [
            ("Page.enable", json!({})),
            ("Network.enable", json!({})),
            ("Network.setCacheDisabled", json!({"cacheDisabled": true})),
            ("Network.setBypassServiceWorker", json!({"bypass": true})),
            ("Page.setBypassCSP", json!({"enabled": true})),
            ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
            ("Emulation.setDeviceMetricsOverride", size),
            ("Target.setAutoAttach", auto_attach()),
            ("Runtime.addBinding", json!({"name": SYNCHRONOUS})),
            ("Page.addScriptToEvaluateOnNewDocument", frame),
            ("Page.addScriptToEvaluateOnNewDocument", observer),
            ("Fetch.enable", json!({"patterns": all})),
            ("Runtime.enable", json!({})),
            // A script that runs without end can be stopped only if this is on before. The page's
            // own `debugger` statements stop nothing.
            ("Debugger.enable", json!({"maxScriptsCacheSize": 0})),
            ("Debugger.setBreakpointsActive", json!({"active": false})),
            ("Page.getFrameTree", json!({})),
        ];
        let send = |_, (method, params)| self.client.send(&spare.session, method, params);
        commands.into_iter().fold(0, send)
    }
}

/// Returns how workers are attached to: they wait until they have their runtime.
pub(super) fn auto_attach() -> Value {
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
}
