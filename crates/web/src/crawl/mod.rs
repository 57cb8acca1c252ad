//! Uses a page by itself: clicks what can be clicked, types into fields, moves over what waits for
//! it. The steps are a user's, for a check without a file of steps.
//!
//! **Problem.** A page, and a number of steps. Wanted: steps that visit as many of its elements as
//! the number allows. **Source.** The automatic exploration of the event-racing tools for web
//! pages: each element with a handler gets its events, and each field a text. **Method.** The page
//! runs in its default order until only the user is left. Then the first element in the order of
//! the document that was not used yet is used, and so on: an element that a step brings is used as
//! soon as it comes first. When all were used, they are clicked a second time, since the second
//! click is where many pages go wrong: a step that the page does not allow in its default order,
//! such as one on a button that the first click disables, may be allowed in another. A step by
//! which the page goes to another document is undone: the page is loaded again, and does the steps
//! before it. **Guarantee.** The same page gives the same steps. Elements in frames and in shadow
//! trees are not used. **Cost.** One run, and one more for each step that leaves the page or fails.

use crate::actions::{Actions, Target, TargetKind, UserStepKind};
use crate::error::WebError;
use crate::page::NAME;
use crate::system::PageSystem;
use anyorder_system::{Choice, RunError, TaskSystem};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The most events of a run.
const EVENTS_MAX: usize = 2_000;

/// The most elements whose listeners are read.
const LISTENING_MAX: usize = 2_000;

/// The steps of a crawl.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Crawled {
    /// The steps, those that were given before it first.
    pub actions: Actions,
    /// The number of entries that the crawl added. A text that is typed is one.
    pub used: usize,
    /// The elements that were left out, since using them leaves the page or ends its process.
    pub left_out: Vec<String>,
    /// Whether there was more to use.
    pub more: bool,
}

/// One thing that a user could do.
struct Candidate {
    steps: Vec<UserStepKind>,
    label: String,
    /// Only clicks come a second time.
    is_click: bool,
}

impl PageSystem {
    /// Uses the page by itself, in at most so many steps after its own, and has all these steps as
    /// its own then.
    ///
    /// # Errors
    ///
    /// Fails if the page cannot be loaded, or the job is stopped.
    pub fn crawl(&mut self, steps_max: usize) -> Result<Crawled, RunError> {
        let mut crawled = Crawled::default();
        let own = self.actions().steps().iter();
        let mut steps: Vec<(UserStepKind, bool)> =
            own.map(|step| (step.kind.clone(), step.visible)).collect();
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut again: VecDeque<Candidate> = VecDeque::new();
        self.reset()?;
        self.run_to_end()?;
        while !self.has_left() {
            let unused = |one: &Candidate| !used.contains(&one.label);
            let first = self.candidates()?.into_iter().find(unused);
            let Some(next) = first.or_else(|| again.pop_front()) else { break };
            if crawled.used >= steps_max {
                crawled.more = true;
                break;
            }
            let before = steps.len();
            let Candidate { steps: kinds, label, is_click } = next;
            steps.extend(kinds.iter().map(|kind| (kind.clone(), true)));
            self.set_actions(Actions::new(steps.iter().cloned()));
            if is_click && used.insert(label.clone()) {
                again.push_back(Candidate { steps: kinds, label: label.clone(), is_click });
            }
            used.insert(label.clone());
            crawled.used += 1;
            let ran = self.refreshed().and_then(|()| self.run_to_end());
            let leaves = match ran {
                Err(RunError::Stopped(reason)) => return Err(RunError::Stopped(reason)),
                Err(_) => true,
                Ok(()) => self.has_left(),
            };
            if leaves || self.steps_left() > 0 {
                steps.truncate(before);
                crawled.used -= 1;
                again.retain(|one| one.label != label);
                if leaves {
                    crawled.left_out.push(label);
                }
                self.set_actions(Actions::new(steps.iter().cloned()));
                self.reset()?;
                self.run_to_end()?;
            }
        }
        crawled.actions = Actions::new(steps);
        Ok(crawled)
    }

    /// Runs events in the default order until there are no more.
    fn run_to_end(&mut self) -> Result<(), RunError> {
        for _ in 0..EVENTS_MAX {
            let Some(next) = self.enabled()?.into_iter().next() else { return Ok(()) };
            self.execute(&Choice::of(next.task))?;
        }
        Ok(())
    }

    /// Returns what a user could do now, in the order of the document.
    fn candidates(&mut self) -> Result<Vec<Candidate>, RunError> {
        let found = self.with_driver(|driver| {
            driver.call("DOM.enable", json!({}))?;
            let found = driver.candidates();
            driver.call("DOM.disable", json!({}))?;
            found
        })?;
        Ok(found.as_array().into_iter().flatten().filter_map(candidate).collect())
    }
}

impl crate::page::PageDriver {
    /// Asks the page for what a user could do.
    fn candidates(&mut self) -> Result<Value, WebError> {
        let object = |reply: &Value| reply["result"]["objectId"].as_str().map(str::to_owned);
        let answer = || WebError::Answer("Runtime.evaluate".to_owned());
        // The browser lists the listeners of one world only: the page's. The rest runs in the
        // isolated world.
        let document = self.call("Runtime.evaluate", json!({"expression": "document"}))?;
        let document = object(&document).ok_or_else(answer)?;
        let world = self.state.observer.ok_or_else(answer)?;
        let params = json!({"expression": "document", "contextId": world});
        let observed = self.call("Runtime.evaluate", params)?;
        let observed = object(&observed).ok_or_else(answer)?;
        let params = json!({"objectId": document, "depth": -1});
        let listeners = self.call("DOMDebugger.getEventListeners", params)?;
        let mut kinds: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
        for one in listeners["listeners"].as_array().into_iter().flatten() {
            let Some(node) = one["backendNodeId"].as_u64() else { continue };
            kinds.entry(node).or_default().push(one["type"].clone());
        }
        let (mut nodes, mut types) = (Vec::new(), Vec::new());
        for (node, kinds) in kinds.into_iter().take(LISTENING_MAX) {
            // A node that is gone meanwhile has no object.
            let params = json!({"backendNodeId": node, "executionContextId": world});
            let Ok(found) = self.call("DOM.resolveNode", params) else { continue };
            if let Some(id) = found["object"]["objectId"].as_str() {
                nodes.push(json!({"objectId": id}));
                types.push(Value::from(kinds));
            }
        }
        let mut arguments = vec![json!({"value": types})];
        arguments.extend(nodes);
        let function = format!(
            "function(types, ...nodes) {{ \
             return {NAME}.candidates(nodes.map((node, at) => [node, types[at]])); }}"
        );
        let params = json!({
            "objectId": observed, "functionDeclaration": function, "arguments": arguments,
            "returnByValue": true,
        });
        let reply = self.call("Runtime.callFunctionOn", params)?;
        let text = reply["result"]["value"].as_str().unwrap_or("[]");
        serde_json::from_str(text).map_err(|_| answer())
    }
}

/// Reads one thing that a user could do.
fn candidate(value: &Value) -> Option<Candidate> {
    let target = &value["target"];
    let kinds = [TargetKind::Css, TargetKind::Role];
    let found = kinds.iter().find_map(|kind| Some((*kind, target[kind.word()].as_str()?)));
    let (kind, text) = found?;
    let target = Target { kind, text: text.to_owned(), nth: 0 };
    let typed = value["text"].as_str().unwrap_or_default();
    let step = value["step"].as_str()?;
    let label = format!("{step} {}", target.label());
    let into = |text: String| UserStepKind::Type { into: target.clone(), text };
    let steps = match step {
        "type" => typed.chars().map(|character| into(character.to_string())).collect(),
        "choose" => vec![into(typed.to_owned())],
        "hover" => vec![UserStepKind::Hover(target)],
        _ => vec![UserStepKind::Click(target)],
    };
    Some(Candidate { steps, label, is_click: step == "click" })
}
