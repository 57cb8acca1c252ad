//! All runs of the handlers: a search over states, each visited once.
//!
//! A handler runs its initial message, then one message after another from its mailbox. A read can
//! execute only when the last write of its location is the one it reads from; a write only when it
//! is next in coherence.
//!
//! [`search_plain`] tries every enabled event. [`search_runs`] executes some events at once,
//! without trying others. This is sound: a run that executes them later can always be changed into
//! one that executes them now:
//!
//! - enabled reads, and events without effect: they change nothing for others;
//! - writes that are next in a given coherence order, when all reads of the overwritten value are
//!   done: the run executes everything else on this location later. (If some such read is not done,
//!   the write is not tried: it would make that read impossible.)
//! - a get, if the mailbox is FIFO or it is the handler's last message: nothing else can be next in
//!   this handler;
//! - a post, if all other remaining posts to that handler belong to this post's own handler: they
//!   come after it in any case, since messages run to completion. So the order in the mailbox is
//!   determined. With bags, every post.

use super::axioms::axiomatic;
use super::problem::{Effect, Mailbox, Problem, Source};
use anyorder_trace::EventId;
use std::collections::HashSet;

/// Returns a witness if one exists: by a search over all runs or, if that visits too many states,
/// by [`axiomatic`].
///
/// Runs with many independent handlers have many states, above all with bags; orders of messages
/// are fewer then.
#[must_use]
pub fn brute_force(problem: &Problem) -> Option<Vec<EventId>> {
    search_runs(problem, 400).unwrap_or_else(|_| axiomatic(problem))
}

/// The search reached its limit of states without an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyStates;

/// Returns a witness if one exists, by a search over all runs, up to commuting steps.
///
/// # Errors
///
/// Gives up after `states_max` states.
pub fn search_runs(
    problem: &Problem,
    states_max: usize,
) -> Result<Option<Vec<EventId>>, TooManyStates> {
    Search::new(problem, true, states_max).witness()
}

/// Returns a witness if one exists, by a search over all runs, step by step. Suitable for one or
/// two dozen events.
///
/// # Errors
///
/// Gives up after `states_max` states.
pub fn search_plain(
    problem: &Problem,
    states_max: usize,
) -> Result<Option<Vec<EventId>>, TooManyStates> {
    Search::new(problem, false, states_max).witness()
}

/// No message, no write.
const NONE: u32 = u32::MAX;

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// By message: how many of its events are done.
    done: Vec<u16>,
    /// By handler: the message that runs, or `NONE`.
    running: Vec<u32>,
    /// All messages posted and not begun: by handler, and then as posted; in bags by number.
    pending: Vec<u32>,
    /// By location: the last write, or `NONE`.
    last: Vec<u32>,
}

struct Search<'a> {
    problem: &'a Problem,
    eager: bool,
    /// By location: those that read the initial value.
    initial_readers: Vec<Vec<usize>>,
    /// By event: those that read from it.
    readers: Vec<Vec<usize>>,
    /// By event: the write before it in coherence, or `NONE`.
    write_before: Vec<u32>,
    /// By handler: the posts to it.
    posts_to: Vec<Vec<usize>>,
    /// By handler: all its posted messages.
    posted_to: Vec<Vec<usize>>,
    /// By handler: its messages that nobody posts.
    unposted: Vec<Vec<usize>>,
    seen: HashSet<State>,
    states_max: usize,
    path: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem, eager: bool, states_max: usize) -> Search<'a> {
        let mut search = Search {
            problem,
            eager,
            initial_readers: vec![Vec::new(); problem.writes.len()],
            readers: vec![Vec::new(); problem.len()],
            write_before: vec![NONE; problem.len()],
            posts_to: vec![Vec::new(); problem.handlers],
            posted_to: vec![Vec::new(); problem.handlers],
            unposted: vec![Vec::new(); problem.handlers],
            seen: HashSet::new(),
            states_max,
            path: Vec::new(),
        };
        for (event, effect) in problem.effects.iter().enumerate() {
            match effect {
                Effect::Access { from: Some(Source::Write(write)), .. } => {
                    search.readers[*write].push(event);
                }
                Effect::Access { location, from: Some(Source::Initial), .. } => {
                    search.initial_readers[*location].push(event);
                }
                _ => {}
            }
        }
        for writes in &problem.writes {
            writes.windows(2).for_each(|pair| search.write_before[pair[1]] = pair[0] as u32);
        }
        for (number, message) in problem.messages.iter().enumerate().filter(|(_, m)| !m.initial) {
            search.posted_to[message.handler].push(number);
            match message.post {
                Some(post) => search.posts_to[message.handler].push(post),
                None => search.unposted[message.handler].push(number),
            }
        }
        search
    }

    fn witness(mut self) -> Result<Option<Vec<EventId>>, TooManyStates> {
        let mut running = vec![NONE; self.problem.handlers];
        for (number, message) in self.problem.messages.iter().enumerate() {
            if message.initial {
                running[message.handler] = number as u32;
            }
        }
        let state = State {
            done: vec![0; self.problem.messages.len()],
            running,
            pending: Vec::new(),
            last: vec![NONE; self.problem.writes.len()],
        };
        Ok(self.run(state)?.then(|| Problem::ids(&self.path)))
    }

    /// Continues from a state. Leaves the complete run in `path` if one exists.
    fn run(&mut self, mut state: State) -> Result<bool, TooManyStates> {
        let start = self.path.len();
        while let Some(event) = self.eager_step(&state) {
            self.apply(&mut state, event);
            self.path.push(event);
        }
        if self.path.len() == self.problem.len() {
            return Ok(true);
        }
        if self.seen.insert(state.clone()) {
            if self.seen.len() > self.states_max {
                return Err(TooManyStates);
            }
            for event in self.steps(&state) {
                let mut next = state.clone();
                self.apply(&mut next, event);
                self.path.push(event);
                if self.run(next)? {
                    return Ok(true);
                }
                self.path.pop();
            }
        }
        self.path.truncate(start);
        Ok(false)
    }

    /// Returns all enabled events.
    fn steps(&self, state: &State) -> Vec<usize> {
        let mut steps = Vec::new();
        for handler in 0..self.problem.handlers {
            match state.running[handler] {
                NONE => {
                    let gets = self.candidates(state, handler);
                    steps.extend(gets.into_iter().map(|m| self.problem.messages[m].events[0]));
                }
                message => {
                    let event = self.next_of(state, message as usize);
                    if self.allowed(state, event) {
                        steps.push(event);
                    }
                }
            }
        }
        steps
    }

    /// Returns an event to execute at once, if one exists.
    fn eager_step(&self, state: &State) -> Option<usize> {
        if !self.eager {
            return None;
        }
        (0..self.problem.handlers).find_map(|handler| match state.running[handler] {
            NONE => {
                let fifo =
                    self.problem.mailbox == Mailbox::Fifo && self.unposted[handler].is_empty();
                let settled = fifo || self.messages_left(state, handler) == 1;
                let first = self.candidates(state, handler).first().copied()?;
                settled.then(|| self.problem.messages[first].events[0])
            }
            message => {
                let event = self.next_of(state, message as usize);
                (self.allowed(state, event) && self.commutes(state, event)).then_some(event)
            }
        })
    }

    /// Returns how many messages of a handler have not begun.
    fn messages_left(&self, state: &State, handler: usize) -> usize {
        let posted = self.posted_to[handler].iter();
        posted.filter(|message| state.done[**message] == 0).count()
    }

    /// Returns whether an allowed event can be executed now without losing runs.
    fn commutes(&self, state: &State, event: usize) -> bool {
        match self.problem.effects[event] {
            Effect::Access { location, writes, .. } => !writes || self.problem.coherent[location],
            Effect::Post(message) => {
                let own = self.handler_of(event);
                let to = self.problem.messages[message].handler;
                self.problem.mailbox == Mailbox::Bag
                    || self.posts_to[to]
                        .iter()
                        .all(|post| self.is_done(state, *post) || self.handler_of(*post) == own)
            }
            Effect::Get | Effect::Nothing => true,
        }
    }

    /// Returns whether the next event of a running message is enabled.
    fn allowed(&self, state: &State, event: usize) -> bool {
        let Effect::Access { location, from, writes } = self.problem.effects[event] else {
            return true;
        };
        let last = state.last[location];
        let reads = match from {
            None | Some(Source::Unknown) => true,
            Some(Source::Initial) => last == NONE,
            Some(Source::Write(write)) => last == write as u32,
        };
        let turn = !writes || !self.problem.coherent[location] || self.write_before[event] == last;
        reads && turn && !(writes && self.eager && self.hides(state, location, event))
    }

    /// Returns whether a write overwrites a value that another event still has to read.
    fn hides(&self, state: &State, location: usize, write: usize) -> bool {
        let readers = match state.last[location] {
            NONE => &self.initial_readers[location],
            last => &self.readers[last as usize],
        };
        readers.iter().any(|read| *read != write && !self.is_done(state, *read))
    }

    /// Returns the messages that an idle handler can begin.
    fn candidates(&self, state: &State, handler: usize) -> Vec<usize> {
        let of_handler = |m: &&u32| self.problem.messages[**m as usize].handler == handler;
        let pending: Vec<usize> =
            state.pending.iter().filter(of_handler).map(|m| *m as usize).collect();
        let mut found = Vec::new();
        for (at, message) in pending.iter().enumerate() {
            // In a bag, no message waits for an earlier one, whatever the stored order.
            if pending[..at].iter().all(|before| !self.problem.keeps_order(*before, *message)) {
                found.push(*message);
            }
        }
        found.extend(self.unposted[handler].iter().filter(|m| state.done[**m] == 0));
        found
    }

    fn apply(&self, state: &mut State, event: usize) {
        let (message, _) = self.problem.places[event];
        let handler = self.problem.messages[message].handler;
        match self.problem.effects[event] {
            Effect::Access { location, writes: true, .. } => state.last[location] = event as u32,
            Effect::Post(posted) => {
                let bag = self.problem.mailbox == Mailbox::Bag;
                let key = |m: usize| (self.problem.messages[m].handler, if bag { m } else { 0 });
                let at = state.pending.partition_point(|m| key(*m as usize) <= key(posted));
                state.pending.insert(at, posted as u32);
            }
            _ => {}
        }
        if state.running[handler] == NONE {
            state.running[handler] = message as u32;
            state.pending.retain(|pending| *pending != message as u32);
        }
        state.done[message] += 1;
        if usize::from(state.done[message]) == self.problem.messages[message].events.len() {
            state.running[handler] = NONE;
        }
    }

    fn next_of(&self, state: &State, message: usize) -> usize {
        self.problem.messages[message].events[usize::from(state.done[message])]
    }

    fn handler_of(&self, event: usize) -> usize {
        self.problem.messages[self.problem.places[event].0].handler
    }

    fn is_done(&self, state: &State, event: usize) -> bool {
        let (message, at) = self.problem.places[event];
        usize::from(state.done[message]) > at
    }
}
