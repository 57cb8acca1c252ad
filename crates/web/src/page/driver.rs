//! Messages to and from one page, in order.

use super::handle::State;
use super::opened::{Opening, Spare};
use super::runtime::{BARRIER, NAME, QueueReport};
use crate::devtools::{Client, Message};
use crate::error::WebError;
use crate::rewriter::Rewriter;
use crate::source::Store;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest waits for a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageLimits {
    /// For an answer, and for an event to end.
    pub(crate) reply: Duration,
    /// For a response to be taken in.
    pub(crate) finish: Duration,
}

/// Drives one page of one browser.
#[derive(Debug)]
pub(crate) struct PageDriver {
    pub(crate) client: Client,
    pub(crate) limits: PageLimits,
    pub(crate) store: Store,
    pub(crate) rewriter: Shared,
    pub(crate) state: State,
    pub(super) opening: Opening,
    pub(super) spare: Option<Spare>,
}

/// The reply to one of several commands.
type Answered = Result<Value, WebError>;

/// A rewriter, shared by all pages.
#[derive(Clone)]
pub(crate) struct Shared(pub(crate) Arc<dyn Rewriter>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rewriter")
    }
}

impl PageDriver {
    pub(crate) fn new(
        client: Client,
        limits: PageLimits,
        store: Store,
        rewriter: Arc<dyn Rewriter>,
        opening: Opening,
    ) -> PageDriver {
        let (rewriter, state, spare) = (Shared(rewriter), State::default(), None);
        PageDriver { client, limits, store, rewriter, state, opening, spare }
    }

    /// Sends a command to the page without waiting for its reply.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        let session = std::mem::take(&mut self.state.session);
        let id = self.client.send(&session, method, params);
        self.state.session = session;
        id
    }

    /// Sends a command to the page and handles what happens until its reply.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, WebError> {
        let id = self.send(method, params);
        self.reply(id, method)
    }

    /// Handles what happens until the reply to a command.
    pub(crate) fn reply(&mut self, id: u64, method: &str) -> Result<Value, WebError> {
        let within = self.limits.reply;
        let deadline = Instant::now() + within;
        loop {
            match self.take(deadline)? {
                None => {
                    let what = format!("the page does not answer `{method}`");
                    return Err(WebError::TimedOut { what, within });
                }
                Some(Message::Reply(reply)) if reply.id == id => {
                    let refused =
                        |message| WebError::Refused { method: method.to_owned(), message };
                    return reply.result.map_err(refused);
                }
                Some(_) => {}
            }
        }
    }

    /// Handles what happens until a condition holds. Returns whether it does, within a time.
    pub(crate) fn until(
        &mut self,
        within: Duration,
        holds: impl Fn(&State) -> bool,
    ) -> Result<bool, WebError> {
        let deadline = Instant::now() + within;
        loop {
            if holds(&self.state) {
                return Ok(true);
            }
            if self.take(deadline)?.is_none() {
                return Ok(holds(&self.state));
            }
        }
    }

    /// Takes one message; handles it if it is an event of the page.
    pub(super) fn take(&mut self, deadline: Instant) -> Result<Option<Message>, WebError> {
        let message = self.client.next(deadline)?;
        match &message {
            Some(Message::Event(event)) => self.handle(event)?,
            Some(Message::Reply(reply)) => self.prepare_further(reply)?,
            None => {}
        }
        if self.state.crashed {
            return Err(WebError::PageCrashed);
        }
        Ok(message)
    }

    /// Evaluates an expression in a context, or in the page's own, and returns its value. A promise
    /// is waited for.
    pub(crate) fn evaluate(
        &mut self,
        context: Option<i64>,
        expression: &str,
    ) -> Result<Value, WebError> {
        let id = self.send_evaluation(context, expression);
        let reply = self.reply(id, "Runtime.evaluate")?;
        value_of(&reply)
    }

    pub(crate) fn send_evaluation(&mut self, context: Option<i64>, expression: &str) -> u64 {
        let mut params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        if let Some(context) = context {
            params["contextId"] = json!(context);
        }
        self.send("Runtime.evaluate", params)
    }

    /// Calls a function of the runtime in all frames, and returns what they answer, by context. A
    /// frame that goes away meanwhile answers nothing.
    pub(crate) fn in_all_frames(&mut self, call: &str) -> Result<Vec<(i64, Value)>, WebError> {
        let expression = format!("{NAME}.{call}");
        let contexts: Vec<i64> = self.state.contexts.keys().copied().collect();
        let sent: Vec<(i64, u64)> = contexts
            .into_iter()
            .map(|context| (context, self.send_evaluation(Some(context), &expression)))
            .collect();
        let mut answers = Vec::with_capacity(sent.len());
        for (context, reply) in self.replies(sent)? {
            if let Ok(value) = reply.and_then(|reply| value_of(&reply)) {
                answers.push((context, value));
            }
        }
        Ok(answers)
    }

    /// Collects the replies to several commands, which come in any order.
    fn replies<K: Copy>(&mut self, sent: Vec<(K, u64)>) -> Result<Vec<(K, Answered)>, WebError> {
        let within = self.limits.reply;
        let deadline = Instant::now() + within;
        let mut answers: Vec<Option<Result<Value, String>>> = vec![None; sent.len()];
        while answers.iter().any(Option::is_none) {
            match self.take(deadline)? {
                None => {
                    let what = "the page does not end its event".to_owned();
                    return Err(WebError::TimedOut { what, within });
                }
                Some(Message::Reply(reply)) => {
                    if let Some(at) = sent.iter().position(|(_, id)| *id == reply.id) {
                        answers[at] = Some(reply.result);
                    }
                }
                Some(Message::Event(_)) => {}
            }
        }
        let method = || "Runtime.evaluate".to_owned();
        let result = |result: Result<Value, String>| {
            result.map_err(|message| WebError::Refused { method: method(), message })
        };
        let pairs = sent.into_iter().zip(answers);
        Ok(pairs.filter_map(|((key, _), one)| Some((key, result(one?)))).collect())
    }

    /// Begins an event in all frames: the clock, the random numbers and the log.
    pub(crate) fn begin(&mut self, event: &str, seed: u32, now: u64) -> Result<(), WebError> {
        self.in_all_frames(&format!("begin({seed},{now},{})", json!(event))).map(drop)
    }

    /// Waits until the page has nothing left to do, and returns what each frame reports.
    ///
    /// A frame may be new since the last look: then all are asked again.
    pub(crate) fn settle(&mut self) -> Result<Vec<(i64, QueueReport)>, WebError> {
        const ROUNDS_MAX: u32 = 20;
        let mut reports: Vec<(i64, QueueReport)> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let before: Vec<i64> = self.state.contexts.keys().copied().collect();
            for (context, value) in self.in_all_frames("settle()")? {
                let report = value.as_str().and_then(QueueReport::parse);
                reports.extend(report.map(|report| (context, report)));
            }
            // What a worker answers is a message to the page.
            let works = self.settle_workers()?;
            if self.state.contexts.keys().copied().eq(before) && !works {
                break;
            }
        }
        self.state.synchronous.clear();
        Ok(reports)
    }

    /// Waits until the workers of the page have run all earlier commands. Returns whether the page
    /// has to be asked again.
    fn settle_workers(&mut self) -> Result<bool, WebError> {
        if self.state.workers.is_empty() || self.state.workers_settled {
            self.state.workers_settled = false;
            return Ok(false);
        }
        let expression = format!(
            "new Promise(r => setTimeout(() => setTimeout(r))).then(() => \
             fetch(location.origin + '{BARRIER}')).then(() => 0, () => 0)"
        );
        let sessions = self.state.workers.clone();
        let params = json!({"expression": expression, "awaitPromise": true});
        let mut ask = |session: String| {
            let id = self.client.send(&session, "Runtime.evaluate", params.clone());
            ((), id)
        };
        let sent = sessions.into_iter().map(&mut ask).collect();
        self.replies(sent)?;
        self.state.workers_settled = true;
        Ok(true)
    }
}

/// Returns the value of an evaluation.
fn value_of(reply: &Value) -> Result<Value, WebError> {
    let exception = &reply["exceptionDetails"];
    if exception.is_null() {
        return Ok(reply["result"]["value"].clone());
    }
    let text = exception["exception"]["description"].as_str().or(exception["text"].as_str());
    let message = text.unwrap_or_default().to_owned();
    Err(WebError::Refused { method: "Runtime.evaluate".to_owned(), message })
}
