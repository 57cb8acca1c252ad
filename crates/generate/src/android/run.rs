//! Runs a plan under a random scheduler and records the run.

use super::plan::{Plan, START, UI};
use crate::draft::{Draft, NONE, Name};
use crate::recorder::Recorder;
use crate::request::RunMailbox;
use crate::simulator::Enabled;
use anyorder_common::random::{Random, Rng};
use std::collections::VecDeque;

/// The most events of a handler before another one is chosen.
const SLICE_MAX: u64 = 32;

/// A message has one variable of its own per this many accesses, up to [`OWN_MAX`], and at least
/// one.
const ACCESSES_PER_VARIABLE: u32 = 32;
const OWN_MAX: u32 = 8;

/// Runs a plan to its end, in time linear in the number of events.
pub(super) fn record(plan: &Plan, mailbox: RunMailbox, seed: u64) -> Draft {
    let mut run = Run::new(plan, mailbox, seed);
    // The looper starts before anything else happens.
    while run.running[UI as usize].is_some() {
        run.event(UI);
    }
    while let Some(handler) = run.enabled.choose(&mut run.rng) {
        for _ in 0..run.rng.within(1, SLICE_MAX) {
            if !run.event(handler) {
                run.enabled.set(handler, false);
                break;
            }
        }
    }
    run.recorder.draft
}

/// A message that a handler is running.
struct Running {
    message: u32,
    planned: u32,
    accesses_left: u32,
    posted: u32,
    /// Its own variables: the first one, and their number.
    own: (u32, u32),
}

struct Run<'p> {
    plan: &'p Plan,
    mailbox: RunMailbox,
    rng: Rng,
    recorder: Recorder,
    /// By group: the first of its shared variables. All groups have equally many.
    shared: Vec<u32>,
    shared_count: u32,
    running: Vec<Option<Running>>,
    /// By handler: numbers of messages in the draft and in the plan.
    mailboxes: Vec<VecDeque<(u32, u32)>>,
    enabled: Enabled,
}

impl<'p> Run<'p> {
    fn new(plan: &'p Plan, mailbox: RunMailbox, seed: u64) -> Run<'p> {
        let shape = plan.shape;
        let mut recorder = Recorder::default();
        let shared_count = ((shape.posted + shape.handlers) / (4 * shape.groups)).max(2);
        let mut shared = Vec::new();
        for _ in 0..shape.groups {
            shared.push(recorder.draft.variables.len() as u32);
            for _ in 0..shared_count {
                recorder.variable(Name::AUTO);
            }
        }
        let handlers = shape.handlers as usize;
        let mut run = Run {
            plan,
            mailbox,
            rng: Rng::for_purpose(seed, *b"run2"),
            recorder,
            shared,
            shared_count,
            running: Vec::with_capacity(handlers),
            mailboxes: vec![VecDeque::new(); handlers],
            enabled: Enabled::new(handlers),
        };
        for number in 0..shape.handlers {
            let name = if number == UI { Name::plain("ui") } else { Name::one("worker", number) };
            let handler = run.recorder.draft.handler(name);
            let message = run.recorder.draft.initial(handler);
            let running = run.begin(message, number);
            run.running.push(Some(running));
            run.enabled.set(number, true);
        }
        run
    }

    fn begin(&mut self, message: u32, planned: u32) -> Running {
        let accesses = self.plan.messages[planned as usize].accesses;
        let first = self.recorder.draft.variables.len() as u32;
        let count =
            if accesses == 0 { 0 } else { (1 + accesses / ACCESSES_PER_VARIABLE).min(OWN_MAX) };
        for _ in 0..count {
            self.recorder.variable(Name::AUTO);
        }
        Running { message, planned, accesses_left: accesses, posted: 0, own: (first, count) }
    }

    /// Executes the next event of a handler; returns `false` when it has none.
    fn event(&mut self, handler: u32) -> bool {
        let Some(mut running) = self.running[handler as usize].take() else {
            return self.take_message(handler);
        };
        let posts_left = self.plan.children(running.planned).len() as u32 - running.posted;
        let left = u64::from(running.accesses_left) + u64::from(posts_left);
        // Posts come in bursts: after a post, another one is likely.
        let burst = posts_left > 0 && running.posted > 0 && self.rng.chance(0.3);
        if burst || self.rng.below(left) >= u64::from(running.accesses_left) {
            self.post(&mut running);
        } else {
            self.access(&mut running);
        }
        if left > 1 {
            self.running[handler as usize] = Some(running);
        }
        true
    }

    fn take_message(&mut self, handler: u32) -> bool {
        let waiting = &mut self.mailboxes[handler as usize];
        let taken = self.mailbox.take(waiting, &mut self.rng);
        let Some((message, planned)) = taken else { return false };
        self.recorder.draft.get(message);
        let running = self.begin(message, planned);
        let empty = running.accesses_left == 0 && self.plan.children(planned).is_empty();
        self.running[handler as usize] = (!empty).then_some(running);
        true
    }

    fn post(&mut self, running: &mut Running) {
        let planned = self.plan.children(running.planned)[running.posted as usize];
        running.posted += 1;
        let to = self.plan.messages[planned as usize].handler;
        let message = self.recorder.draft.message(Name::AUTO, to);
        self.recorder.draft.post(running.message, message);
        self.mailboxes[to as usize].push_back((message, planned));
        self.enabled.set(to, true);
    }

    fn access(&mut self, running: &mut Running) {
        running.accesses_left -= 1;
        let group = self.plan.messages[running.planned as usize].group;
        let variable = if group != START && self.rng.chance(self.plan.shape.share) {
            self.shared[group as usize] + self.rng.below(u64::from(self.shared_count)) as u32
        } else {
            running.own.0 + self.rng.below(u64::from(running.own.1)) as u32
        };
        debug_assert_ne!(variable, NONE);
        self.recorder.access(running.message, variable, &mut self.rng);
    }
}
