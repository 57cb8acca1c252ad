//! Records the steps of a user: the page runs freely in a browser, and what the user does in it
//! becomes steps.
//!
//! The page is not controlled: its requests go to the same source as in a check, and nothing is
//! held back. A script in a world of its own listens for trusted events, so a click that the page's
//! own code makes is no step. The recording ends when the window is closed, when the job of the
//! thread is stopped, or when the page goes to another document, since a check ends there too.

use crate::actions::{Actions, Target, TargetKind, UserStepKind};
use crate::browser::BrowserOptions;
use crate::devtools::{Client, Event, Message};
use crate::error::WebError;
use crate::page::{SELECT, fulfil_params, key_of};
use crate::source::{Answer, PageRequest, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const RECORD: &str = include_str!("../scripts/record.js");

/// The binding by which the script tells of a step, and the name of its world.
const BINDING: &str = "__anyorder_step";
const WORLD: &str = "anyorder";

/// How long the browser may take for an answer.
const REPLY: Duration = Duration::from_secs(20);

/// The most steps of a recording.
const STEPS_MAX: usize = 10_000;

/// What was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// The steps.
    pub actions: Actions,
    /// What the user did that no step can say, each once with its number.
    pub lost: BTreeMap<String, u64>,
    /// The other document to which the page went, if the recording ended by that.
    pub left_for: Option<String>,
}

/// Opens a page in a browser, and records what its user does until the window is closed, the page
/// goes to another document, or the job of this thread is stopped.
///
/// # Errors
///
/// Fails if there is no browser, or it does not show the page.
pub fn record(url: &str, store: &Store, browser: &BrowserOptions) -> Result<Recorded, WebError> {
    let mut recorder = Recorder {
        client: Client::start(browser)?,
        store,
        session: String::new(),
        target: String::new(),
        steps: Vec::new(),
        documents: 0,
        recorded: Recorded::default(),
    };
    recorder.open(url)?;
    recorder.listen()?;
    let Recorder { steps, mut recorded, .. } = recorder;
    recorded.actions = Actions::new(steps.into_iter().map(|step| (step, true)));
    Ok(recorded)
}

struct Recorder<'a> {
    client: Client,
    store: &'a Store,
    session: String,
    target: String,
    steps: Vec<UserStepKind>,
    /// The documents of the page so far.
    documents: u32,
    recorded: Recorded,
}

impl Recorder<'_> {
    /// Opens the page in the window that the browser has.
    fn open(&mut self, url: &str) -> Result<(), WebError> {
        let answer = |method: &str| WebError::Answer(method.to_owned());
        let found = self.client.call("", "Target.getTargets", json!({}), REPLY)?;
        let mut targets = found["targetInfos"].as_array().into_iter().flatten();
        let page = targets.find(|target| target["type"] == "page");
        let target = match page.and_then(|page| page["targetId"].as_str()) {
            Some(target) => target.to_owned(),
            None => {
                let params = json!({"url": "about:blank"});
                let made = self.client.call("", "Target.createTarget", params, REPLY)?;
                let id = made["targetId"].as_str();
                id.ok_or_else(|| answer("Target.createTarget"))?.to_owned()
            }
        };
        let discover = json!({"discover": true, "filter": [{"type": "page"}]});
        self.client.send("", "Target.setDiscoverTargets", discover);
        let params = json!({"targetId": target, "flatten": true});
        let attached = self.client.call("", "Target.attachToTarget", params, REPLY)?;
        let session = attached["sessionId"].as_str();
        self.session = session.ok_or_else(|| answer("Target.attachToTarget"))?.to_owned();
        self.target = target;
        let natives = "const W = window, N = { Array, Object, String, stringify: JSON.stringify };";
        let source = format!("(() => {{ 'use strict'; {natives}\n{SELECT}\n{RECORD}\n}})();");
        let script = json!({"source": source, "worldName": WORLD});
        let all = json!({"patterns": [{"urlPattern": "*"}]});
        let commands = [
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Runtime.addBinding", json!({"name": BINDING, "executionContextName": WORLD})),
            ("Page.addScriptToEvaluateOnNewDocument", script),
            ("Fetch.enable", all),
        ];
        for (method, params) in commands {
            self.client.call(&self.session, method, params, REPLY)?;
        }
        // Its reply comes when the document does, and that is answered in the loop.
        self.client.send(&self.session, "Page.navigate", json!({"url": url}));
        Ok(())
    }

    /// Handles what happens until the recording ends.
    fn listen(&mut self) -> Result<(), WebError> {
        while self.recorded.left_for.is_none() && self.steps.len() < STEPS_MAX {
            match self.client.next(Instant::now() + REPLY) {
                Ok(Some(Message::Event(event))) => {
                    if self.is_over(&event) {
                        return Ok(());
                    }
                    self.handle(&event);
                }
                Ok(_) => {}
                Err(WebError::Closed | WebError::Stopped(_)) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns whether the window is gone.
    fn is_over(&self, event: &Event) -> bool {
        let gone = ["Target.targetDestroyed", "Target.detachedFromTarget", "Target.targetCrashed"];
        gone.contains(&event.method.as_str())
            && (event.params["targetId"] == self.target.as_str()
                || event.params["sessionId"] == self.session.as_str())
    }

    fn handle(&mut self, event: &Event) {
        if event.session != self.session {
            return;
        }
        match event.method.as_str() {
            "Fetch.requestPaused" => self.answer(&event.params),
            "Runtime.bindingCalled" if event.params["name"] == BINDING => {
                let text = event.params["payload"].as_str().unwrap_or_default();
                if let Ok(told) = serde_json::from_str(text) {
                    self.told(&told);
                }
            }
            _ => {}
        }
    }

    /// Answers a request as the source does.
    fn answer(&mut self, paused: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let asked = &paused["request"];
        let url = text(&asked["url"]);
        let (id, body) = (&paused["requestId"], text(&asked["postData"]).into_bytes());
        let request = PageRequest { method: text(&asked["method"]), url, body, ordinal: 0 };
        let is_http = request.url.starts_with("http");
        let answer = if is_http { self.store.answer("", &request) } else { Answer::Server };
        let (method, params) = match answer {
            Answer::Response(response) => {
                ("Fetch.fulfillRequest", fulfil_params(&text(id), &response))
            }
            Answer::Fail | Answer::Missing => {
                ("Fetch.failRequest", json!({"requestId": id, "errorReason": "ConnectionRefused"}))
            }
            Answer::Server => ("Fetch.continueRequest", json!({"requestId": id})),
        };
        self.client.send(&self.session, method, params);
    }

    /// Takes in what the script tells.
    fn told(&mut self, told: &Value) {
        if let Some(url) = told["document"].as_str() {
            self.documents += 1;
            if self.documents > 1 {
                self.recorded.left_for = Some(url.to_owned());
            }
        } else if let Some(what) = told["lost"].as_str() {
            self.lose(what);
        } else if let Some(steps) = steps_of(told) {
            self.steps.extend(steps);
        } else {
            self.lose("a step");
        }
    }

    fn lose(&mut self, what: &str) {
        *self.recorded.lost.entry(what.to_owned()).or_default() += 1;
    }
}

/// Returns the steps of what the user did.
fn steps_of(told: &Value) -> Option<Vec<UserStepKind>> {
    let target = |key: &str| {
        let kinds = [TargetKind::Css, TargetKind::Role];
        let found = |kind: &TargetKind| {
            let text = told[key][kind.word()].as_str()?.to_owned();
            Some(Target { kind: *kind, text, nth: 0 })
        };
        kinds.iter().find_map(found)
    };
    let text = || told["text"].as_str().map(str::to_owned);
    if let Some(target) = target("click") {
        return Some(vec![UserStepKind::Click(target)]);
    }
    if let Some(into) = target("type") {
        let one = |character: char| UserStepKind::Type {
            into: into.clone(),
            text: character.to_string(),
        };
        return Some(text()?.chars().map(one).collect());
    }
    if let Some(into) = target("fill") {
        let all = UserStepKind::Press("Control+a".to_owned());
        let focused = UserStepKind::Click(into.clone());
        return Some(vec![focused, all, UserStepKind::Type { into, text: text()? }]);
    }
    if let Some(into) = target("choose") {
        return Some(vec![UserStepKind::Type { into, text: text()? }]);
    }
    if let Some(key) = told["press"].as_str() {
        key_of(key)?;
        return Some(vec![UserStepKind::Press(key.to_owned())]);
    }
    let by = told["scroll"].as_array()?;
    let number = |at: usize| by.get(at)?.as_i64().and_then(|by| i32::try_from(by).ok());
    Some(vec![UserStepKind::Scroll { target: None, by: (number(0)?, number(1)?) }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_becomes_steps() {
        let steps = |text: &str| steps_of(&serde_json::from_str(text).unwrap());
        let target = Target::css("#a");
        let click = vec![UserStepKind::Click(target.clone())];
        assert_eq!(steps(r##"{"click": {"css": "#a"}}"##), Some(click));
        let typed = steps(r##"{"type": {"css": "#a"}, "text": "xy"}"##).unwrap();
        assert_eq!(typed.len(), 2);
        let press = vec![UserStepKind::Press("Control+a".to_owned())];
        assert_eq!(steps(r#"{"press": "Control+a"}"#), Some(press));
        let scroll = vec![UserStepKind::Scroll { target: None, by: (0, 120) }];
        assert_eq!(steps(r#"{"scroll": [0, 120]}"#), Some(scroll));
        for wrong in ["{}", r#"{"press": "Nothing"}"#, r#"{"click": {}}"#, r#"{"scroll": [1]}"#] {
            assert_eq!(steps(wrong), None, "{wrong}");
        }
    }
}
