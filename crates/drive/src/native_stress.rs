//! Runs of native programs in random orders: what each of them shows, and the findings of those
//! that fail.
//!
//! The front end runs the program ([`watch`]) and says what it printed. [`shown`] says what a run
//! came to, and [`Failures`] makes one finding of all runs that fail in the same way at the same
//! places.

use crate::native_run::{RecordedRun, describe};
use crate::result::{JobResult, Reported};
use crate::words::site;
use anyorder_common::numbers::plural;
use anyorder_finding::{
    ExplanationStep, Finding, Frame, Harm, Kind, Reproduced, Reproduction, Severity, Site,
    assign_ids,
};
pub use anyorder_native::schedule::{
    Counts, ScheduleFile, Scheduled, Setting, Strategy, prepare, watch,
};
use anyorder_trace::{EventId, EventKind, HandlerId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The most seeds that a finding lists.
const SEEDS_MAX: usize = 20;

/// What a run in a random order shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shown {
    /// A block was given back twice.
    FreedTwice,
    /// This signal ended the program.
    Signal(i32),
    /// All threads wait for each other.
    Hang,
    /// A block was written after it was given back.
    WrittenAfterFree,
    /// The exit status is another one than usual.
    Status(i32),
    /// The program printed something else than in most runs.
    Output,
}

/// Returns what a run shows by itself; `None` if nothing was to be seen, or the run was ended from
/// outside. `usual` is the usual exit status; `None` if there is none.
#[must_use]
pub fn shown(run: &Scheduled, usual: Option<i32>) -> Option<Shown> {
    let signal = run.ended.signal.filter(|_| !run.hangs && !run.is_killed);
    let status = run.ended.status.filter(|status| usual.is_some_and(|usual| usual != *status));
    if run.counts.freed_twice {
        Some(Shown::FreedTwice)
    } else if let Some(signal) = signal {
        Some(Shown::Signal(signal))
    } else if run.hangs {
        Some(Shown::Hang)
    } else if run.counts.written_after_free {
        Some(Shown::WrittenAfterFree)
    } else {
        status.map(Shown::Status)
    }
}

/// A run that failed.
#[derive(Debug)]
pub struct Failure {
    /// What it shows.
    pub shown: Shown,
    /// Its seed.
    pub seed: u64,
    /// The command that runs the program so again.
    pub replay: String,
    /// Its places, as [`failing_sites`] gives them.
    pub sites: Vec<Site>,
    /// The last line that the program printed as an error; empty if there is none.
    pub said: String,
}

/// What runs that fail in one way have in common: what they show, their places, or what they said.
type Key = (Shown, Vec<Option<String>>, String);

/// The runs that failed so far, those that fail in one way at the same places together.
#[derive(Debug, Default)]
pub struct Failures {
    all: BTreeMap<Key, (Finding, Vec<u64>)>,
}

impl Failures {
    /// Adds a run that failed.
    pub fn add(&mut self, failure: Failure) {
        let Failure { shown, seed, replay, sites, said } = failure;
        let places: Vec<Option<String>> = sites.iter().map(Site::position).collect();
        let is_placed = places.iter().any(Option::is_some);
        let key = (shown, places, if is_placed { String::new() } else { said.clone() });
        let new = || (finding(shown, sites, replay, &said), Vec::new());
        self.all.entry(key).or_insert_with(new).1.push(seed);
    }

    /// Leaves out what shows this.
    pub fn forget(&mut self, shown: Shown) {
        self.all.retain(|key, _| key.0 != shown);
    }

    /// Returns the seeds of all runs that failed, in ascending order.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = self.all.values().flat_map(|(_, seeds)| seeds).copied().collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// Adds the findings to a result: to what was predicted of the same mistake, or by themselves.
    /// `runs` is the number of all runs.
    pub fn report(self, runs: u64, result: &mut JobResult) {
        let mut findings = Vec::new();
        for ((shown, ..), (mut finding, seeds)) in self.all {
            let listed: Vec<String> = seeds.iter().take(SEEDS_MAX).map(u64::to_string).collect();
            let more = if seeds.len() > SEEDS_MAX { ", ..." } else { "" };
            let word = if seeds.len() == 1 { "seed" } else { "seeds" };
            let text = format!(
                "in {} of {} in random orders: {word} {}{more}",
                seeds.len(),
                plural(runs, "run"),
                listed.join(", ")
            );
            let rule = Some("stress".to_owned());
            let step = ExplanationStep { rule, ..ExplanationStep::new(text.clone()) };
            finding.explanation.insert(0, step);
            finding.reproduced =
                Some(Reproduction { class: Reproduced::Reproduced, text, plan: None });
            let is_same = |one: &&mut Reported| is_shown(&one.finding, shown, &finding);
            match result.findings.iter_mut().find(is_same) {
                Some(predicted) => confirm(&mut predicted.finding, finding),
                None => findings.push(finding),
            }
        }
        assign_ids(&mut findings);
        findings.into_iter().for_each(|finding| result.push(finding, None));
    }
}

/// Returns whether a run that failed shows what was predicted: it fails in the way in which that
/// shows, at its places.
fn is_shown(predicted: &Finding, shown: Shown, failure: &Finding) -> bool {
    // A signal has the column of its statement, and an access its own.
    let place = |site: &Site| Some((site.file.clone()?, site.line?));
    let places: BTreeSet<(String, u32)> = failure.sites.iter().filter_map(place).collect();
    let is_there = |site: &Site| place(site).is_some_and(|place| places.contains(&place));
    let mut sites = predicted.sites.iter();
    match (shown, predicted.kind, predicted.category.as_deref()) {
        (Shown::Hang, Kind::Deadlock, _) => !predicted.sites.is_empty() && sites.all(is_there),
        (Shown::Hang, _, Some("lost_signal" | "lost_wakeup")) => {
            sites.any(|site| site.access.as_deref() == Some("wait") && is_there(site))
        }
        (Shown::FreedTwice, _, Some("double_free")) => sites.any(is_there),
        (Shown::Signal(_), _, Some("use_after_free" | "destroyed_lock")) => {
            sites.any(|site| site.access.as_deref() != Some("free") && is_there(site))
        }
        _ => false,
    }
}

/// Says of a prediction that a run has shown it.
fn confirm(predicted: &mut Finding, failure: Finding) {
    let is_known = |of: &Reproduction| of.class == Reproduced::Reproduced;
    if !predicted.reproduced.as_ref().is_some_and(is_known) {
        predicted.reproduced = failure.reproduced;
        predicted.replay = failure.replay;
    }
    predicted.severity = Severity::Error;
    (predicted.harm, predicted.harm_class) = (Harm::Harmful, None);
    predicted.confirmed = Some(true);
    let text = format!("{}: {}", failure.title, failure.explanation[0].text);
    let rule = Some("stress".to_owned());
    predicted.explanation.push(ExplanationStep { rule, ..ExplanationStep::new(text) });
}

fn finding(shown: Shown, sites: Vec<Site>, replay: String, said: &str) -> Finding {
    let mut finding = Finding::new(match shown {
        Shown::FreedTwice | Shown::WrittenAfterFree => Kind::OrderViolation,
        Shown::Signal(_) => Kind::Assertion,
        Shown::Hang => Kind::Deadlock,
        Shown::Status(_) | Shown::Output => Kind::Nondeterminism,
    });
    finding.category = match shown {
        Shown::FreedTwice => Some("double_free".to_owned()),
        Shown::WrittenAfterFree => Some("use_after_free".to_owned()),
        _ => None,
    };
    finding.severity = if shown == Shown::Output { Severity::Warning } else { Severity::Error };
    finding.harm = if shown == Shown::Output { Harm::Undecided } else { Harm::Harmful };
    finding.confirmed = Some(true);
    finding.title = title(shown);
    finding.sites = sites;
    finding.replay = Some(replay);
    if !said.is_empty() {
        finding.explanation.push(ExplanationStep::new(format!("the program said: {said}")));
    }
    finding
}

fn title(shown: Shown) -> String {
    match shown {
        Shown::FreedTwice => "a block of memory is given back twice in some orders".to_owned(),
        Shown::WrittenAfterFree => {
            "memory is written after it was given back in some orders".to_owned()
        }
        Shown::Signal(signal) => match name_of(signal) {
            "" => format!("signal {signal} ends the program in some orders"),
            name => format!("signal {signal} ({name}) ends the program in some orders"),
        },
        Shown::Hang => "all threads wait for each other in some orders".to_owned(),
        Shown::Status(status) => {
            format!("the program exits with status {status} in some orders")
        }
        Shown::Output => "the program prints something else in some orders".to_owned(),
    }
}

const fn name_of(signal: i32) -> &'static str {
    match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        11 => "SIGSEGV",
        _ => "",
    }
}

/// Returns the places of a run that failed, if they are in this part of it: where the signal came,
/// or where each thread waits. Linear in the part.
#[must_use]
pub fn failing_sites(shown: Shown, run: &RecordedRun<'_>) -> Vec<Site> {
    let trace = &run.input.trace;
    let mut last: BTreeMap<HandlerId, EventId> = BTreeMap::new();
    let mut failed = Vec::new();
    for event in trace.events() {
        let lane = trace.handler_of(event.id);
        if event.kind() == EventKind::Failure {
            failed = std::iter::once(event.id).chain(last.get(&lane).copied()).collect();
        }
        // Who waits on a condition gives the lock back.
        let waits = last.get(&lane).is_some_and(|id| trace.event(*id).kind() == EventKind::Wait);
        if !(waits && event.kind() == EventKind::Release) {
            last.insert(lane, event.id);
        }
    }
    let events: Vec<EventId> = match shown {
        Shown::FreedTwice | Shown::Signal(_) => failed,
        Shown::Hang => {
            let waits = |id: &EventId| {
                matches!(
                    trace.event(*id).kind(),
                    EventKind::Request | EventKind::Wait | EventKind::Barrier | EventKind::Join
                )
            };
            hung(trace, last.into_values().filter(waits).collect())
        }
        Shown::WrittenAfterFree | Shown::Status(_) | Shown::Output => Vec::new(),
    };
    let mut described = JobResult::default();
    let mut finding = Finding::new(Kind::Assertion);
    finding.sites = events.into_iter().map(|event| waiting(trace, event)).collect();
    described.push(finding, None);
    describe(run, &mut described);
    let mut sites = described.findings.pop().map(|one| one.finding.sites).unwrap_or_default();
    sites.iter_mut().for_each(place_by_stack);
    match shown {
        Shown::FreedTwice | Shown::Signal(_) => failing_site(sites).into_iter().collect(),
        _ => sites,
    }
}

/// Returns the site of a failure: its own, or, where that is in a library without lines, that of
/// the thread's last event before it.
fn failing_site(sites: Vec<Site>) -> Option<Site> {
    let mut sites = sites.into_iter();
    let (failed, before) = (sites.next()?, sites.next());
    match before {
        Some(before) if failed.line.is_none() && before.line.is_some() => {
            Some(Site { event: failed.event, access: failed.access, ..before })
        }
        _ => Some(failed),
    }
}

/// Returns what the threads of a deadlock wait for: where several want locks, the others wait for
/// them.
fn hung(trace: &Trace, waits: Vec<EventId>) -> Vec<EventId> {
    let asks = |event: &EventId| trace.event(*event).kind() == EventKind::Request;
    let requests: Vec<EventId> = waits.iter().copied().filter(asks).collect();
    if requests.len() > 1 { requests } else { waits }
}

/// Returns the site of an event. A request for a lock is what a predicted deadlock calls its
/// acquisition: the two have one id.
fn waiting(trace: &Trace, event: EventId) -> Site {
    let mut site = site(trace, event);
    let it = trace.event(event);
    if it.kind() == EventKind::Request {
        site.access = Some(EventKind::Acquire.word().to_owned());
        let lock = trace.tables().locks.get(it.operand as usize);
        site.location = lock.map(|name| trace.tables().name(*name).to_owned());
    }
    site
}

/// A place in a library without names is that of the innermost call that has one.
fn place_by_stack(site: &mut Site) {
    if site.file.is_some() {
        return;
    }
    let known = site.stack.iter().find_map(|text| {
        let frame = Frame::of_text(text);
        let numbers = text.strip_prefix(&frame.file)?.split(" in ").next()?;
        let mut numbers = numbers.split(':').filter_map(|number| number.parse().ok());
        Some((frame, numbers.next()?, numbers.next()))
    });
    if let Some((frame, line, column)) = known {
        site.file = Some(frame.file);
        site.line = Some(line);
        site.column = column;
        site.function = Some(frame.function);
    }
}
