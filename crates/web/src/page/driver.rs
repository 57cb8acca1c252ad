//! Messages to and from one page, in order.

use super::handle::State;
use super::opened::{Opening, Spare};
use super::runtime::{Config, NAME, QueueReport, Scripts, call_of, scripts};
use super::workers::Worker;
use crate::devtools::{Client, Message};
use crate::error::WebError;
use crate::rewriter::Rewriter;
use crate::source::Store;
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
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
    /// How many tabs were made.
    pub(crate) tabs: u64,
    pub(super) scripts: Scripts,
    /// By which the runtime knows who calls it.
    key: String,
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
        let (key, tabs) = (secret(), 0);
        let Opening { seed, epoch_ms, .. } = opening;
        let (url, local) = (opening.url.clone(), opening.stored.local.clone());
        let has_server = store.has_server();
        let config = Config { seed, epoch_ms, key: key.clone(), url, local, has_server };
        let scripts = scripts(&*rewriter.0, &store.sockets(), &config);
        PageDriver { client, limits, store, rewriter, state, opening, spare, tabs, scripts, key }
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
                    return Err(self.timed_out(what, within));
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
            Some(Message::Reply(reply)) => {
                self.take_waited_body(reply);
                self.prepare_further(reply)?;
            }
            None => {}
        }
        if self.state.crashed {
            return Err(WebError::PageCrashed);
        }
        Ok(message)
    }

    /// Evaluates an expression in the isolated world of the main frame: it has the tree of the
    /// page, and not its scripts.
    pub(crate) fn look(&mut self, expression: &str) -> Result<Value, WebError> {
        let id = self.send_evaluation(self.state.observer, expression);
        let reply = match self.reply(id, "Runtime.evaluate") {
            Err(WebError::Refused { message, .. }) if message.contains("find context") => {
                self.make_observer()?;
                let id = self.send_evaluation(self.state.observer, expression);
                self.reply(id, "Runtime.evaluate")?
            }
            other => other?,
        };
        value_of(&reply)
    }

    /// Makes the isolated world again: a document that takes the place of another one without a
    /// request, such as the text of a `javascript:` link, has none.
    fn make_observer(&mut self) -> Result<(), WebError> {
        let params = json!({"frameId": self.state.main_frame, "worldName": NAME});
        let made = self.call("Page.createIsolatedWorld", params)?;
        self.state.observer = made["executionContextId"].as_i64();
        let script = self.scripts.observer.clone();
        let id = self.send_evaluation(self.state.observer, &script);
        self.reply(id, "Runtime.evaluate").map(drop)
    }

    /// Runs a queued event of a frame or a worker.
    pub(crate) fn fire(&mut self, context: i64, number: u64) -> Result<(), WebError> {
        self.in_context(Some(context), &format!("fire({number})")).map(drop)
    }

    /// Tells the page that it is left.
    pub(crate) fn leave(&mut self) -> Result<(), WebError> {
        self.in_context(None, "leave()").map(drop)
    }

    /// Calls a function of the runtime in one frame or worker, or in the page's own frame.
    pub(super) fn in_context(
        &mut self,
        context: Option<i64>,
        call: &str,
    ) -> Result<Value, WebError> {
        let call = call_of(&self.key, call);
        let id = self.send_evaluation(context, &call);
        let reply = self.reply(id, "Runtime.evaluate")?;
        value_of(&reply)
    }

    /// Sends an expression to a context, to a worker by its number, or to the page's own context.
    fn send_evaluation(&mut self, context: Option<i64>, expression: &str) -> u64 {
        let mut params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let workers = &self.state.workers;
        let worker = context.and_then(|at| workers.iter().find(|worker| worker.context == at));
        if let Some(worker) = worker {
            return self.client.send(&worker.session, "Runtime.evaluate", params);
        }
        if let Some(context) = context {
            params["contextId"] = json!(context);
        }
        self.send("Runtime.evaluate", params)
    }

    /// Calls a function of the runtime in frames and workers, and returns what they answer. A frame
    /// or worker that goes away meanwhile answers nothing.
    fn in_contexts(
        &mut self,
        contexts: Vec<i64>,
        call: &str,
    ) -> Result<Vec<(i64, Value)>, WebError> {
        let expression = call_of(&self.key, call);
        let sent: Vec<(i64, u64)> = contexts
            .into_iter()
            .map(|context| (context, self.send_evaluation(Some(context), &expression)))
            .collect();
        let mut answers = Vec::with_capacity(sent.len());
        for (context, reply) in self.replies(sent)? {
            match reply.and_then(|reply| value_of(&reply)) {
                Ok(value) => answers.push((context, value)),
                Err(error) if self.is_alive(context) => {
                    self.store.note_gap(format!("a frame does not report its events: {error}"));
                }
                Err(_) => {}
            }
        }
        Ok(answers)
    }

    /// Returns whether a frame or a worker is still there.
    pub(crate) fn is_alive(&self, context: i64) -> bool {
        self.state.contexts.contains_key(&context)
            || self.state.workers.iter().any(|worker| worker.context == context)
    }

    /// The contexts of all frames, in the order in which these were made. The order of their
    /// documents, and so of their contexts, has chance in it.
    fn frames(&self) -> Vec<i64> {
        let mut all: Vec<(i64, &String)> =
            self.state.contexts.iter().map(|(context, frame)| (*context, frame)).collect();
        all.sort_by_key(|(context, frame)| (self.state.frames.get(*frame).copied(), *context));
        all.into_iter().map(|(context, _)| context).collect()
    }

    /// The workers whose scripts have come.
    fn workers(&self) -> Vec<i64> {
        let loaded = self.state.workers.iter().filter(|worker| worker.is_loaded);
        loaded.map(|worker| worker.context).collect()
    }

    /// Collects the replies of contexts, which come in any order.
    pub(super) fn replies(
        &mut self,
        sent: Vec<(i64, u64)>,
    ) -> Result<Vec<(i64, Answered)>, WebError> {
        let within = self.limits.reply;
        let deadline = Instant::now() + within;
        let mut answers: Vec<Option<Result<Value, String>>> = vec![None; sent.len()];
        let waits = |driver: &PageDriver, answers: &[Option<Result<Value, String>>]| {
            let mut pairs = sent.iter().zip(answers);
            // A worker that has ended does not answer.
            pairs.any(|((at, _), one)| one.is_none() && (*at >= 0 || driver.is_alive(*at)))
        };
        while waits(self, &answers) {
            match self.take(deadline)? {
                None => {
                    let what = "the page does not end its event".to_owned();
                    return Err(self.timed_out(what, within));
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

    /// Returns the error of a wait that was too long: with the place of the script that runs, if
    /// one does.
    fn timed_out(&mut self, what: String, within: Duration) -> WebError {
        let what = match self.running_place() {
            Some(place) => format!("{what}, since a script runs without end at {place}"),
            None => what,
        };
        WebError::TimedOut { what, within }
    }

    /// Stops the script that runs, and returns where it is: its address and its line.
    fn running_place(&mut self) -> Option<String> {
        /// How long a script that runs may take to stop.
        const STOP: Duration = Duration::from_secs(3);
        self.state.pausing = true;
        self.send("Debugger.pause", json!({}));
        for worker in &self.state.workers {
            self.client.send(&worker.session, "Debugger.pause", json!({}));
        }
        let deadline = Instant::now() + STOP;
        while self.state.paused_at.is_none() && self.take(deadline).ok()?.is_some() {}
        let elsewhere = std::mem::take(&mut self.state.paused_elsewhere);
        let unknown = elsewhere.then(|| "code that the page makes".to_owned());
        self.state.paused_at.take().or(unknown)
    }

    /// Begins an event in all frames and workers: the clock, the random numbers and the log.
    pub(crate) fn begin(&mut self, event: &str, seed: u32, now: u64) -> Result<(), WebError> {
        event.clone_into(&mut self.state.event);
        self.state.releasing.clear();
        let mut contexts = self.frames();
        contexts.extend(self.workers());
        self.in_contexts(contexts, &format!("begin({seed},{now},{})", json!(event))).map(drop)
    }

    /// Waits until the page has nothing left to do, and returns what each frame and worker reports.
    ///
    /// A frame or worker may be new since the last look, or get a message of another one: then all
    /// are asked again. `event` is the name of the event that ends.
    pub(crate) fn settle(&mut self, event: &str) -> Result<Vec<(i64, QueueReport)>, WebError> {
        const ROUNDS_MAX: u32 = 20;
        let mut reports: Vec<(i64, QueueReport)> = Vec::new();
        let mut had_workers = false;
        for _ in 0..ROUNDS_MAX {
            let before = self.frames();
            let first = reports.len();
            self.settled(before.clone(), &mut reports)?;
            self.until_workers_are_loaded()?;
            let workers = self.workers();
            let some = !workers.is_empty();
            // What a worker answers is a message to the page, and the other way round.
            let are_busy = some && (self.settled(workers, &mut reports)? || !had_workers);
            had_workers |= some;
            let have_asked =
                self.answer_sockets(event, reports.get(first..).unwrap_or_default())?;
            let have_asked = have_asked | self.until_permitted()?;
            if self.frames() == before && !are_busy && !have_asked {
                break;
            }
        }
        self.state.synchronous.clear();
        Ok(reports)
    }

    /// Asks contexts to settle. Returns whether one of them did something since the last time.
    fn settled(
        &mut self,
        contexts: Vec<i64>,
        reports: &mut Vec<(i64, QueueReport)>,
    ) -> Result<bool, WebError> {
        let mut are_busy = false;
        for (context, value) in self.in_contexts(contexts, "settle()")? {
            if let Some(report) = value.as_str().and_then(QueueReport::parse) {
                are_busy |= report.busy;
                for script in &report.workers {
                    let script = script.split('#').next().unwrap_or_default();
                    *self.state.workers_told.entry(script.to_owned()).or_default() += 1;
                }
                reports.push((context, report));
            }
        }
        Ok(are_busy)
    }

    /// Waits for the requests that another origin is asked about. Returns whether there were some.
    fn until_permitted(&mut self) -> Result<bool, WebError> {
        if self.state.preflights.is_empty() {
            return Ok(false);
        }
        let within = self.limits.reply;
        if !self.until(within, State::are_permitted)? {
            self.note_silent_preflights();
        }
        self.state.preflights.clear();
        Ok(true)
    }

    /// Waits for the scripts of new workers, unless these wait for a response themselves.
    fn until_workers_are_loaded(&mut self) -> Result<(), WebError> {
        if !self.until(self.limits.finish, State::has_all_workers)? {
            // A worker that is ended at once asks for nothing.
            self.state.take_workers_as_they_are();
        }
        let is_awaited = |state: &State, worker: &Worker| {
            !worker.is_loaded && !worker.has_runtime && !worker.is_given_up && !state.waits(worker)
        };
        let is_any = |state: &State| state.workers.iter().any(|worker| is_awaited(state, worker));
        if is_any(&self.state) {
            let within = self.limits.finish;
            if !self.until_answered(within, |state| !is_any(state))? {
                let state = &self.state;
                let late: Vec<bool> =
                    state.workers.iter().map(|one| is_awaited(state, one)).collect();
                for (worker, _) in self.state.workers.iter_mut().zip(late).filter(|(_, late)| *late)
                {
                    worker.is_given_up = true;
                    self.store.note_gap(format!(
                        "the worker of `{}` did not begin within {within:?}: its script never lets \
                         the browser stop it",
                        worker.url
                    ));
                }
            }
        }
        let within = self.limits.reply;
        let runs = |worker: &Worker| worker.has_runtime && !worker.is_loaded;
        let are_over = self.until(within, |state| !state.workers.iter().any(runs))?;
        if !are_over {
            return Err(self.timed_out("a worker does not end its script".to_owned(), within));
        }
        Ok(())
    }
}

/// Returns a text that nobody guesses.
fn secret() -> String {
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
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
