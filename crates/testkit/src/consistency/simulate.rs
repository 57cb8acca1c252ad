//! A simulator of handlers that executes events in a given order and reports an impossible one.

use super::problem::{Effect, Mailbox, Problem, Source};
use anyorder_trace::{EventId, Trace};

/// Executes the events in `order`. Accepts exactly the witnesses of the trace.
///
/// # Errors
///
/// Fails at the first impossible event, with the reason.
pub fn simulate(trace: &Trace, mailbox: Mailbox, order: &[EventId]) -> Result<(), String> {
    let problem = Problem::of(trace, mailbox);
    let mut machine = Machine {
        handlers: vec![Handler { running: None, mailbox: Vec::new() }; problem.handlers],
        done: vec![0; problem.messages.len()],
        history: vec![Vec::new(); problem.writes.len()],
        problem: &problem,
    };
    for (at, event) in order.iter().enumerate() {
        if event.index() >= trace.len() {
            return Err(format!("line {}: there is no event {event:?}", at + 1));
        }
        let step = machine.step(event.index());
        step.map_err(|reason| format!("line {}: event {}: {reason}", at + 1, trace.label(*event)))?;
    }
    machine.end()
}

#[derive(Clone)]
struct Handler {
    running: Option<usize>,
    /// Pending messages, first to last.
    mailbox: Vec<usize>,
}

struct Machine<'a> {
    problem: &'a Problem,
    handlers: Vec<Handler>,
    /// By message: how many of its events are done.
    done: Vec<usize>,
    /// By location: its writes so far.
    history: Vec<Vec<usize>>,
}

impl Machine<'_> {
    fn step(&mut self, event: usize) -> Result<(), String> {
        let (number, place) = self.problem.places[event];
        let message = &self.problem.messages[number];
        if place < self.done[number] {
            return Err("it has happened already".into());
        }
        if place > self.done[number] {
            return Err("an earlier event of its message has not happened yet".into());
        }
        if place == 0 {
            self.begin(number)?;
        }
        assert_eq!(self.handlers[message.handler].running, Some(number), "begun and not ended");
        match self.problem.effects[event] {
            Effect::Access { location, from, writes } => {
                self.read(location, from)?;
                if writes {
                    self.history[location].push(event);
                }
            }
            Effect::Post(posted) => {
                self.handlers[self.problem.messages[posted].handler].mailbox.push(posted);
            }
            Effect::Get | Effect::Nothing => {}
        }
        self.done[number] += 1;
        if self.done[number] == message.events.len() {
            self.handlers[message.handler].running = None;
        }
        Ok(())
    }

    fn begin(&mut self, number: usize) -> Result<(), String> {
        let message = &self.problem.messages[number];
        let handler = &mut self.handlers[message.handler];
        if handler.running.is_some() {
            return Err("its handler is running another message".into());
        }
        if !message.initial {
            let all = &self.problem.messages;
            let waits = |m: usize| all[m].initial && all[m].handler == message.handler;
            if (0..all.len()).any(|m| waits(m) && self.done[m] < all[m].events.len()) {
                return Err("the initial message of its handler has not ended".into());
            }
            if message.post.is_some() {
                let place = handler.mailbox.iter().position(|pending| *pending == number);
                let place = place.ok_or("its message has not been posted")?;
                let before = &handler.mailbox[..place];
                if before.iter().any(|first| self.problem.keeps_order(*first, number)) {
                    return Err("another message is before it in the mailbox".into());
                }
                handler.mailbox.remove(place);
            }
        }
        handler.running = Some(number);
        Ok(())
    }

    fn read(&self, location: usize, from: Option<Source>) -> Result<(), String> {
        let last = self.history[location].last().copied();
        match from {
            None | Some(Source::Unknown) => Ok(()),
            Some(Source::Initial) if last.is_none() => Ok(()),
            Some(Source::Write(write)) if last == Some(write) => Ok(()),
            Some(_) => Err("it would read another value".into()),
        }
    }

    /// Checks that nothing is missing, and that writes had the given order.
    fn end(&self) -> Result<(), String> {
        for (message, done) in self.problem.messages.iter().zip(&self.done) {
            if *done < message.events.len() {
                return Err(format!("event {} never happens", message.events[*done] + 1));
            }
        }
        for (location, history) in self.history.iter().enumerate() {
            if self.problem.coherent[location] && *history != self.problem.writes[location] {
                return Err(format!("the writes of location {location} come in another order"));
            }
        }
        Ok(())
    }
}
