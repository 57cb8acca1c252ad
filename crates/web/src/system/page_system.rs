//! The task system of a page.

use super::accesses::AccessTables;
use super::factory::{Browsers, PageFactory};
use super::observation::{Traffic, observation};
use super::options::{PageOptions, PageStats};
use super::run::{Pending, Run, What, role};
use crate::actions::Actions;
use crate::devtools::Client;
use crate::error::WebError;
use crate::page::{Fault, Opening, PageDriver, PageLimits, QueueReport, Queued, Readiness, Record};
use crate::rewriter::Rewriter;
use crate::sabotage::Sabotage;
use crate::source::{Store, origin_of};
use anyorder_common::hash::Hash128;
use anyorder_system::{
    AccessDetail, Awaited, Capabilities, Choice, Divergence, EnabledDetail, EnabledTask, Failure,
    JobWatch, Observation, Posted, ProgramIdentity, RunError, Step, Stopped, SystemFactory,
    TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::Tables;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A page in a browser.
///
/// Each run is in a fresh context of one browser process: without cookies, storage and cache. After
/// an error, the browser is ended; the next [`reset`](TaskSystem::reset) starts another one.
pub struct PageSystem {
    options: PageOptions,
    store: Store,
    rewriter: Arc<dyn Rewriter>,
    driver: Option<PageDriver>,
    program: ProgramIdentity,
    tables: AccessTables,
    run: Run,
    stats: PageStats,
    picture: Option<Vec<u8>>,
    /// Where its browser goes when it is dropped.
    browsers: Browsers,
}

impl Drop for PageSystem {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            self.browsers.give_back(driver);
        }
    }
}

impl PageSystem {
    /// Starts a browser and opens the page.
    ///
    /// # Errors
    ///
    /// Fails if there is no browser, or the page cannot be loaded.
    pub fn start(
        options: PageOptions,
        store: Store,
        rewriter: Arc<dyn Rewriter>,
    ) -> Result<PageSystem, RunError> {
        PageFactory::new(options, store, rewriter).make()
    }

    /// Returns a system that has begun no run.
    pub(super) fn waiting(
        options: PageOptions,
        store: Store,
        rewriter: Arc<dyn Rewriter>,
        browsers: Browsers,
    ) -> PageSystem {
        PageSystem {
            program: options.identity(),
            options,
            store,
            rewriter,
            driver: browsers.take(),
            tables: AccessTables::default(),
            run: Run::default(),
            stats: PageStats::default(),
            picture: None,
            browsers,
        }
    }

    /// Returns numbers of all runs so far.
    #[must_use]
    pub fn stats(&self) -> PageStats {
        self.stats
    }

    /// Returns the process id of the browser, if one runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.driver.as_ref().map(|driver| driver.client.process_id())
    }

    /// Returns whether the browser's sandbox is on, if one runs. It does not work for root, nor in
    /// containers that forbid user namespaces.
    #[must_use]
    pub fn is_sandboxed(&self) -> Option<bool> {
        self.driver.as_ref().map(|driver| driver.client.browser().is_sandboxed())
    }

    /// Returns the picture of the last observation, as PNG.
    #[must_use]
    pub fn picture(&self) -> Option<&[u8]> {
        self.picture.as_deref()
    }

    /// Returns the steps of the user.
    #[must_use]
    pub fn actions(&self) -> &Actions {
        &self.options.actions
    }

    /// Puts other steps in the place of the user's. A run that goes on must have taken none that
    /// differ; else [`reset`](TaskSystem::reset) comes next.
    pub fn set_actions(&mut self, actions: Actions) {
        self.options.actions = actions;
        self.program = self.options.identity();
    }

    /// Lists again what is enabled, after a change of the steps.
    pub(crate) fn refreshed(&mut self) -> Result<(), RunError> {
        let refreshed = self.refresh();
        self.end_with(refreshed)
    }

    /// Returns whether the page went to another document.
    pub(crate) fn has_left(&self) -> bool {
        self.run.left.is_some()
    }

    /// Returns how many steps of the user were not taken yet.
    pub(crate) fn steps_left(&self) -> usize {
        self.options.actions.steps().len().saturating_sub(self.run.steps_taken)
    }

    /// Asks the page something between two events.
    pub(crate) fn with_driver<T>(
        &mut self,
        ask: impl FnOnce(&mut PageDriver) -> Result<T, WebError>,
    ) -> Result<T, RunError> {
        let asked = ask(self.driver()?);
        self.end_with(asked)
    }

    fn driver(&mut self) -> Result<&mut PageDriver, RunError> {
        let ended = || RunError::Crashed("the browser ended; reset starts another".to_owned());
        self.driver.as_mut().ok_or_else(ended)
    }

    /// Ends the browser after an error: its state is not known.
    fn end_with<T>(&mut self, result: Result<T, WebError>) -> Result<T, RunError> {
        result.map_err(|error| {
            self.driver = None;
            error.into()
        })
    }

    fn open(&mut self) -> Result<(), WebError> {
        let driver = match &mut self.driver {
            Some(driver) => driver,
            none => {
                let client = Client::start(&self.options.browser)?;
                self.stats.browsers += 1;
                let limits = PageLimits {
                    reply: self.options.reply_timeout,
                    finish: self.options.finish_timeout,
                };
                let (width, height) = self.options.size;
                let opening = Opening {
                    url: self.options.url.clone(),
                    width,
                    height,
                    seed: self.options.seed,
                    epoch_ms: self.options.epoch_ms,
                    accept_dialogs: self.options.accept_dialogs,
                    stored: self.options.stored.clone(),
                    headers: self.options.headers.clone(),
                    reuse: self.options.reuse_tabs,
                };
                let (store, rewriter) = (self.store.clone(), self.rewriter.clone());
                none.insert(PageDriver::new(client, limits, store, rewriter, opening))
            }
        };
        let tabs = driver.tabs;
        driver.open()?;
        self.stats.tabs += driver.tabs - tabs;
        let mut arrived = std::mem::take(&mut driver.state.arrived).into_iter();
        self.run = Run::default();
        self.run.sabotage = self.options.sabotage();
        if let Some(held) = arrived.next() {
            self.run.push_load(held);
        }
        Ok(())
    }

    /// Executes an enabled event, and returns what came of it.
    fn perform(&mut self, task: &TaskName, fault: Option<Fault>) -> Result<Performed, WebError> {
        let name = task.to_string();
        let Some(driver) = &mut self.driver else { return Err(WebError::Closed) };
        if self.run.loaded {
            driver.begin(&name, seed_of(&name), self.run.now)?;
        }
        let at = self.run.pending.iter().position(|one| one.name == *task);
        let pending = at.map(|at| self.run.pending.remove(at));
        match pending.map(|Pending { what, waiting, .. }| (what, waiting.context)) {
            Some((What::Request(held), _)) => {
                driver.release(&held, &name, fault)?;
                self.run.loaded = true;
            }
            Some((What::Queued(id), context)) => {
                driver.fire(context, id)?;
            }
            Some((What::Navigation(url), _)) => {
                driver.leave()?;
                self.run.left = Some(url);
            }
            None => {
                let step = self.options.actions.steps().get(self.run.steps_taken);
                if let Some(step) = step {
                    driver.take_step(step)?;
                }
                self.run.steps_taken += 1;
            }
        }
        let reports = driver.settle(&name)?;
        Ok(self.absorb(task, reports))
    }

    /// Takes in what an event created, cancelled and accessed.
    fn absorb(&mut self, task: &TaskName, reports: Vec<(i64, QueueReport)>) -> Performed {
        let origin = origin_of(&self.options.url).to_owned();
        let mut performed = Performed::default();
        let first_new = self.run.pending.len();
        let Some(driver) = &mut self.driver else { return performed };
        for held in driver.take_arrived() {
            let asked = driver.state.origins.remove(&held.network_id);
            let name = self.run.push_request(task, held, &origin).to_string();
            asked.into_iter().for_each(|asked| self.store.note_origin(name.clone(), asked));
        }
        for url in std::mem::take(&mut driver.state.navigations) {
            self.run.push_navigation(task, url, &origin);
        }
        let mut cancelled: Vec<(i64, u64)> = Vec::new();
        let mut created: Vec<(i64, Queued)> = Vec::new();
        for (context, report) in reports {
            self.run.now = self.run.now.max(report.now);
            cancelled.extend(report.cancelled.iter().map(|id| (context, *id)));
            created.extend(report.created.into_iter().map(|queued| (context, queued)));
            self.run.sent.extend(report.sent);
            report.gaps.into_iter().for_each(|gap| self.store.note_gap(gap));
            performed.records.extend(report.log.into_iter().flatten());
        }
        let has_workers = driver.has_workers();
        created.sort_by_key(|(context, queued)| place_of(*context, queued, has_workers));
        for (context, queued) in created {
            self.run.push_queued(task, context, queued);
        }
        let contexts = self.run.pending.iter().map(|one| one.waiting.context);
        let alive: BTreeSet<i64> = contexts.filter(|context| driver.is_alive(*context)).collect();
        let state = &mut driver.state;
        let is_gone = |one: &Pending| match &one.what {
            What::Request(held) => state.failed.contains(&held.network_id),
            What::Queued(id) => {
                cancelled.contains(&(one.waiting.context, *id))
                    || !alive.contains(&one.waiting.context)
            }
            What::Navigation(url) => state.downloads.contains(url),
        };
        let fault = self.options.sabotage();
        let all_gone = fault == Sabotage::CancelsMore && !cancelled.is_empty();
        let mut index = 0;
        let new_or_kept = |one: &Pending| {
            let is_new = index >= first_new;
            index += 1;
            if fault != Sabotage::KeepsCancelled && (is_gone(one) || all_gone) {
                if !is_new {
                    performed.cancelled.push(one.name.clone());
                }
                return false;
            }
            if is_new {
                let (task, handler) = (one.name.clone(), "page".to_owned());
                let queue = matches!(one.what, What::Queued(_)).then(|| {
                    let frame = state.frame_number(one.waiting.context);
                    queue_of(frame, &one.waiting.channel)
                });
                performed.posted.push(Posted { task, handler, delay: one.delay, queue });
            }
            true
        };
        self.run.pending.retain(new_or_kept);
        performed.failures = std::mem::take(&mut state.failures);
        self.run.errors.extend(performed.failures.iter().map(ToString::to_string));
        performed
    }

    /// Lists what is enabled now.
    fn refresh(&mut self) -> Result<(), WebError> {
        let Some(driver) = &mut self.driver else { return Err(WebError::Closed) };
        let alternatives = if self.options.faults { 3 } else { 1 };
        let goes_on = self.run.loaded && self.run.left.is_none();
        loop {
            let step = self.options.actions.steps().get(self.run.steps_taken);
            let readiness = match step {
                Some(step) if goes_on => driver.can_take(step)?,
                _ => Readiness::Missing,
            };
            let at_once = self.options.sabotage() == Sabotage::StepsAtOnce && goes_on;
            self.run.step_ready = readiness == Readiness::Ready || at_once;
            let name = step.map(|step| &step.name);
            self.run.list_enabled(name, (alternatives, self.options.repeats_max));
            // The user waits for a control that is disabled, but not for ever.
            if readiness != Readiness::Refused || !self.run.enabled.is_empty() {
                return Ok(());
            }
            self.run.steps_taken += 1;
        }
    }

    /// Takes in requests that came after their event was over.
    fn absorb_late(&mut self) {
        let Some(driver) = &mut self.driver else { return };
        let late = driver.take_arrived();
        if late.is_empty() {
            return;
        }
        let origin = origin_of(&self.options.url).to_owned();
        let creator = self.run.last.clone().unwrap_or_else(super::run::load);
        for held in late {
            self.stats.late_requests += 1;
            self.run.push_request(&creator, held, &origin);
        }
    }
}

/// Returns where an event is placed among those that one event creates. Some come by way of other
/// processes or threads, before or after the others and each other: these are placed by what they
/// come through.
fn place_of(context: i64, queued: &Queued, has_workers: bool) -> (u8, i64, u64) {
    let kind = match queued.kind.as_str() {
        "message" if has_workers && queued.label == "port" => 1,
        "broadcast" => 2,
        "worker" => 3,
        "database" => 4,
        _ => 0,
    };
    let number = queued.channel.rsplit_once(' ').and_then(|(_, number)| number.parse().ok());
    match kind {
        1 | 3 => (kind, context, number.unwrap_or(0)),
        _ => (kind, 0, 0),
    }
}

/// Returns the number of a queue of a frame or worker.
fn queue_of(frame: i64, channel: &str) -> u64 {
    let hash = Hash128::new().part(&frame.to_le_bytes()).part(channel.as_bytes());
    hash.0 as u64
}

/// What came of an event.
#[derive(Debug, Default)]
struct Performed {
    posted: Vec<Posted>,
    cancelled: Vec<TaskName>,
    failures: Vec<Failure>,
    records: Vec<Record>,
}

/// The location that stands for whether the page was left.
const LEFT: &str = "page.left";

/// An access without a site.
const NO_RECORD: Record = Record { location: String::new(), flags: 0, site: u64::MAX };

/// Returns how an event accesses the end of the page: leaving writes it. What follows from a step
/// of the user reads it, if it sends or stores something that would be lost if the page were left
/// before.
fn end_access(task: &TaskName, posted: &[Posted], records: &[Record]) -> Option<u64> {
    const READ: u64 = 1;
    const WRITE: u64 = 2;
    if task.segment().kind == "leave" {
        return Some(WRITE);
    }
    let stores = |record: &Record| {
        let places = ["localStorage.", "sessionStorage.", "document.cookie"];
        record.flags & WRITE != 0 && places.iter().any(|start| record.location.starts_with(start))
    };
    // The label of a request begins with its method, unless that is GET.
    let sends = |posted: &Posted| {
        let segment = posted.task.segment();
        let methods = ["POST ", "PUT ", "PATCH ", "DELETE "];
        methods.iter().any(|method| segment.label.starts_with(method))
    };
    let loses = posted.iter().any(sends) || records.iter().any(stores);
    (loses && follows_from_user(task)).then_some(READ)
}

/// Returns whether an event is a step of the user or was created by one, directly or not.
fn follows_from_user(task: &TaskName) -> bool {
    let mut first = task;
    while let Some(creator) = first.creator() {
        first = creator;
    }
    role(first) == TaskRole::Input
}

/// Returns the seed of the random numbers of an event.
fn seed_of(name: &str) -> u32 {
    // The low bits of a hash are as good as any.
    Hash128::of(name.as_bytes()).0 as u32
}

impl TaskSystem for PageSystem {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            snapshot: false,
            enabled: EnabledDetail::Exact,
            deterministic: true,
            values: false,
            accesses: AccessDetail::Set,
            awaits: true,
        }
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn tables(&self) -> &Tables {
        self.tables.tables()
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        role(task)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        // A stop ends the browser, and to start another one may take long.
        JobWatch::current().check().map_err(|Stopped(why)| RunError::Stopped(why))?;
        self.stats.runs += 1;
        // Nothing has happened yet.
        if self.driver.is_some() && !self.run.loaded && !self.run.pending.is_empty() {
            return Ok(());
        }
        self.picture = None;
        let had_browser = self.driver.is_some();
        let mut opened = self.open();
        // A browser that ended meanwhile is replaced once.
        if had_browser && matches!(opened, Err(WebError::Closed | WebError::PageCrashed)) {
            self.driver = None;
            opened = self.open();
        }
        let refreshed = opened.and_then(|()| self.refresh());
        self.end_with(refreshed)
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        self.driver()?;
        Ok(self.run.enabled.clone())
    }

    /// Each event waits for its own status only: an event that changes what is enabled writes the
    /// status of what it enables and disables.
    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        Ok(Vec::new())
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        self.driver()?;
        let task = &choice.task;
        let before: Vec<TaskName> = self.run.enabled.iter().map(|one| one.task.clone()).collect();
        let alternatives = self.run.is_enabled(task).map_or(0, |one| one.alternatives);
        if choice.alternative >= alternatives {
            let divergence = Divergence { choice: 0, wanted: task.clone(), enabled: before };
            return Err(RunError::Diverged(divergence));
        }
        let fault = match choice.alternative {
            0 => None,
            1 => Some(Fault::Failed),
            _ => Some(Fault::TimedOut),
        };
        self.stats.events += 1;
        let performed = self.perform(task, fault);
        let performed = self.end_with(performed)?;
        self.run.last = Some(task.clone());
        if !self.options.pause.is_zero() {
            std::thread::sleep(self.options.pause);
        }
        let refreshed = self.refresh();
        self.end_with(refreshed)?;
        let arrived_late = self.driver.as_ref().is_some_and(|one| !one.state.arrived.is_empty());
        if arrived_late {
            self.absorb_late();
            let refreshed = self.refresh();
            self.end_with(refreshed)?;
        }
        if self.run.pending.len() > self.options.pending_max {
            let most = self.options.pending_max;
            self.driver = None;
            return Err(RunError::Crashed(format!("more than {most} events wait at once")));
        }
        let Performed { posted, cancelled, failures, mut records } = performed;
        let end = end_access(task, &posted, &records);
        records.extend(end.map(|flags| Record { location: LEFT.to_owned(), flags, ..NO_RECORD }));
        let mut changed: Vec<TaskName> = posted.iter().map(|posted| posted.task.clone()).collect();
        changed.extend(cancelled.iter().cloned());
        let is_known = |task: &TaskName| before.contains(task);
        let enabled = self.run.enabled.iter().map(|one| &one.task);
        changed.extend(enabled.filter(|task| !is_known(task)).cloned());
        let disabled = before.iter().filter(|one| *one != task);
        changed.extend(disabled.filter(|one| self.run.is_enabled(one).is_none()).cloned());
        let accesses = self.tables.accesses(task, &changed, &records, &*self.rewriter)?;
        Ok(Step { task: task.clone(), accesses, posted, cancelled, failures })
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        let spent = self.options.repeats_max;
        for one in self.run.pending.iter().filter(|one| Run::is_spent(one, spent)) {
            self.stats.timers_left += 1;
            let own = one.name.segment();
            let label =
                if own.label.is_empty() { String::new() } else { format!(" `{}`", own.label) };
            self.store.note_gap(format!(
                "{}{label} repeats itself without end: its later repetitions did not run",
                own.kind
            ));
        }
        let is_style = |one: &Pending| one.name.segment().kind == "style";
        let can_draw = self.options.pixels && !self.run.pending.iter().any(is_style);
        if !self.run.loaded {
            return Ok(Observation::new());
        }
        let driver = self.driver()?;
        let seen = driver.see(can_draw);
        let mut seen = self.end_with(seen)?;
        seen.picture = seen.picture.map(|picture| self.store.picture_like(&picture).to_vec());
        let Some(driver) = &self.driver else { return Ok(Observation::new()) };
        let steps = self.options.actions.steps().len();
        let traffic = Traffic {
            requests: &driver.state.requests,
            console: &driver.state.console,
            dialogs: &driver.state.dialogs,
            refused: &driver.state.refused,
            steps_left: steps.saturating_sub(self.run.steps_taken),
            epoch_ms: self.options.epoch_ms,
        };
        let outcome = observation(&seen, &self.run, &traffic);
        self.picture = seen.picture;
        Ok(outcome)
    }
}

impl fmt::Debug for PageSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageSystem")
            .field("url", &self.options.url)
            .field("stats", &self.stats)
            .field("process_id", &self.process_id())
            .finish_non_exhaustive()
    }
}
