//! Runs random programs and records them: consistent by construction.

use super::problem::Mailbox;
use super::sketch::{Act, Sketch};
use anyorder_common::random::{Random, Rng};

/// Bounds of a random program, and how its mailboxes work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Program {
    pub(super) handlers_max: u64,
    pub(super) messages_max: u64,
    pub(super) variables: usize,
    /// Whether posted messages post.
    pub(super) nested: bool,
    /// Whether there are delays, posts to the front, and idle handlers.
    pub(super) timed: bool,
    pub(super) mailbox: Mailbox,
}

struct Machine {
    sketch: Sketch,
    /// By handler: the running message and its number of remaining acts.
    running: Vec<Option<(usize, u64)>>,
    /// By handler: the pending messages, in order.
    pending: Vec<Vec<usize>>,
    messages_left: u64,
}

/// Runs a random program to its end.
pub(super) fn record(rng: &mut Rng, program: &Program) -> Sketch {
    let handlers = rng.within(1, program.handlers_max) as usize;
    let mut machine = Machine {
        sketch: Sketch::new(handlers, program.variables),
        running: (0..handlers).map(|handler| Some((handler, rng.below(6)))).collect(),
        pending: vec![Vec::new(); handlers],
        messages_left: rng.within(1, program.messages_max),
    };
    loop {
        let busy = |h: &usize| machine.running[*h].is_some() || !machine.pending[*h].is_empty();
        let able: Vec<usize> = (0..handlers).filter(busy).collect();
        if able.is_empty() {
            return machine.sketch;
        }
        let handler = rng.pick(&able);
        match machine.running[handler] {
            Some((_, 0)) => machine.running[handler] = None,
            Some((message, left)) => {
                machine.running[handler] = Some((message, left - 1));
                machine.act(rng, program, message);
            }
            None => {
                let message = machine.take(rng, program, handler);
                machine.running[handler] = Some((message, rng.below(4)));
            }
        }
    }
}

impl Machine {
    fn act(&mut self, rng: &mut Rng, program: &Program, message: usize) {
        let initial = self.sketch.bodies[message].initial;
        let posts = self.messages_left > 0 && (program.nested || initial);
        if posts && rng.percent(if initial { 55 } else { 35 }) {
            self.messages_left -= 1;
            let to = rng.index(self.running.len());
            let posted = self.sketch.add_message(to);
            if program.timed {
                self.time(rng, posted);
            }
            self.sketch.post(message, posted);
            self.pending[to].push(posted);
            return;
        }
        let variable = rng.index(program.variables);
        if rng.percent(45) {
            self.sketch.write(message, variable);
        } else {
            let last = self.sketch.writes[variable].last().copied();
            self.sketch.read(message, variable, last);
        }
    }

    fn time(&mut self, rng: &mut Rng, posted: usize) {
        let body = &mut self.sketch.bodies[posted];
        match rng.below(10) {
            0..2 => body.front = true,
            2 => body.idle = true,
            3..7 => body.delay = rng.below(3),
            _ => {}
        }
    }

    /// Takes a message from a non-empty mailbox.
    fn take(&mut self, rng: &mut Rng, program: &Program, handler: usize) -> usize {
        let pending = &self.pending[handler];
        let free = |at: &usize| match program.mailbox {
            Mailbox::Fifo => *at == 0,
            Mailbox::Bag => true,
            Mailbox::Delayed => pending[..*at].iter().all(|x| !self.must_wait(*x, pending[*at])),
        };
        let free: Vec<usize> = (0..pending.len()).filter(free).collect();
        let at = rng.pick(&free);
        self.pending[handler].remove(at)
    }

    /// Returns whether `second` must wait for `first`, which was posted before it.
    fn must_wait(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.sketch.bodies[first], &self.sketch.bodies[second]);
        let idle = first.idle || second.idle;
        !idle && !second.front && (first.front || first.delay <= second.delay)
    }
}

/// Returns the places of all acts that fit.
pub(super) fn acts_where(sketch: &Sketch, fits: impl Fn(&Act) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (number, body) in sketch.bodies.iter().enumerate() {
        found
            .extend((0..body.acts.len()).filter(|at| fits(&body.acts[*at])).map(|at| (number, at)));
    }
    found
}
