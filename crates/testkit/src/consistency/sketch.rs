//! A partial trace under construction: messages with their bodies, easy to change.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    Coherence, EventKind, HandlerId, Input, InputFamily, LocationId, Mailbox, Op, Position,
    TaskDef, TaskKind, Trace, TraceBuilder, TraceOrder,
};

const FITS: &str = "small traces fit into their tables";

/// An act of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// Reads a variable, from the write of this number or the initial value.
    Read(usize, Option<usize>),
    /// Writes a variable; the write has this number.
    Write(usize, usize),
    /// Posts the message of this number.
    Post(usize),
}

/// A message. The first ones are the initial messages of the handlers.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) handler: usize,
    pub(super) initial: bool,
    pub(super) delay: u64,
    pub(super) front: bool,
    pub(super) idle: bool,
    pub(super) acts: Vec<Act>,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sketch {
    pub(super) bodies: Vec<Body>,
    /// By variable: its writes, first to last.
    pub(super) writes: Vec<Vec<usize>>,
    /// The number of writes so far.
    pub(super) writes_count: usize,
    /// By variable: whether to omit its coherence order.
    pub(super) unordered: Vec<bool>,
}

impl Sketch {
    /// Starts with handlers whose initial messages do nothing, and variables that nobody writes.
    pub(super) fn new(handlers: usize, variables: usize) -> Sketch {
        let mut sketch = Sketch::default();
        (0..handlers).for_each(|_| {
            sketch.add_handler();
        });
        (0..variables).for_each(|_| {
            sketch.add_variable();
        });
        sketch
    }

    /// Adds a handler and returns the number of its initial message, which is the handler's too if
    /// handlers come first.
    pub(super) fn add_handler(&mut self) -> usize {
        let handler = self.bodies.iter().filter(|body| body.initial).count();
        assert_eq!(handler, self.bodies.len(), "handlers are added before messages");
        self.bodies.push(Body { handler, initial: true, ..Body::default() });
        handler
    }

    pub(super) fn add_variable(&mut self) -> usize {
        self.writes.push(Vec::new());
        self.unordered.push(false);
        self.writes.len() - 1
    }

    /// Adds a message to a handler, still without a post.
    pub(super) fn add_message(&mut self, handler: usize) -> usize {
        self.bodies.push(Body { handler, ..Body::default() });
        self.bodies.len() - 1
    }

    /// Appends a post of `message` to the body of `poster`.
    pub(super) fn post(&mut self, poster: usize, message: usize) {
        self.bodies[poster].acts.push(Act::Post(message));
    }

    /// Appends a write, last in coherence, and returns its number.
    pub(super) fn write(&mut self, message: usize, variable: usize) -> usize {
        let write = self.new_write(variable);
        self.bodies[message].acts.push(Act::Write(variable, write));
        write
    }

    /// Makes a write that is last in coherence, to be put into a body.
    pub(super) fn new_write(&mut self, variable: usize) -> usize {
        self.writes[variable].push(self.writes_count);
        self.writes_count += 1;
        self.writes_count - 1
    }

    /// Appends a read.
    pub(super) fn read(&mut self, message: usize, variable: usize, from: Option<usize>) {
        self.bodies[message].acts.push(Act::Read(variable, from));
    }

    /// Returns the numbers of all posted messages.
    pub(super) fn posted(&self) -> Vec<usize> {
        (0..self.bodies.len()).filter(|body| !self.bodies[*body].initial).collect()
    }

    /// Makes the trace, the lines of different messages mixed at random.
    pub(super) fn trace(&self, rng: &mut Rng) -> Trace {
        let mut build = TraceBuilder::new();
        build.interner.tables.meta.order = TraceOrder::Partial;
        build.interner.tables.meta.origin = "edtrace".to_owned();
        let tasks = self.tables(&mut build);
        let idle = self.bodies.iter().any(|body| body.idle).then(|| {
            let input = Input { family: InputFamily::Idle, ..Input::default() };
            build.interner.input(input).expect(FITS)
        });
        let lines = self.mix(rng);
        let mut row_of = vec![0; self.writes_count];
        let mut reads = Vec::new();
        for (body, line) in lines {
            let mut push =
                |kind: EventKind, operand| build.push(tasks[body], Op::from(kind), operand);
            match line {
                Line::Get => {
                    push(EventKind::Get, self.bodies[body].handler as u32);
                }
                Line::Trigger => {
                    push(EventKind::Trigger, idle.map_or(0, |input| input.0));
                }
                Line::Act(Act::Read(variable, from)) => {
                    reads.push((push(EventKind::Read, variable as u32), from));
                }
                Line::Act(Act::Write(variable, write)) => {
                    row_of[write] = push(EventKind::Write, variable as u32).0;
                }
                Line::Act(Act::Post(message)) => {
                    push(EventKind::Post, tasks[message].0);
                }
            }
        }
        for (row, from) in reads {
            let from = from.map_or(anyorder_trace::Columns::INITIAL, |w| u64::from(row_of[w]));
            build.columns.refers.push(row.0, from);
        }
        for (variable, writes) in self.writes.iter().enumerate() {
            // An order of one write has no effect, so it is optional.
            if writes.len() > usize::from(rng.percent(50)) && !self.unordered[variable] {
                let writes = writes.iter().map(|write| u64::from(row_of[*write])).collect();
                let location = LocationId::from_index(variable);
                build.interner.tables.coherence.push(Coherence { location, writes });
            }
        }
        build.finish()
    }

    /// Fills the tables, and returns the task of each message.
    fn tables(&self, build: &mut TraceBuilder) -> Vec<anyorder_trace::TaskId> {
        for variable in 0..self.writes.len() {
            build.variable(&format!("x{variable}")).expect(FITS);
        }
        let mut tasks = Vec::with_capacity(self.bodies.len());
        for (number, body) in self.bodies.iter().enumerate() {
            tasks.push(if body.initial {
                let special = self.bodies.iter().any(|b| b.delay > 0 || b.front || b.idle);
                let mailbox = if special { Mailbox::Delayed } else { Mailbox::Fifo };
                let handler = build.handler(&format!("h{}", body.handler), mailbox).expect(FITS);
                build.initial(handler)
            } else {
                let name = build.interner.name(&format!("m{number}")).expect(FITS);
                let position = if body.front { Position::Front } else { Position::Back };
                let handler = HandlerId::from_index(body.handler);
                let (kind, delay) = (TaskKind::Posted, body.delay);
                let task = TaskDef { name, kind, handler, delay, position };
                build.interner.push_task(task).expect(FITS)
            });
        }
        tasks
    }

    /// Returns the lines of all bodies, each body's in order.
    fn mix(&self, rng: &mut Rng) -> Vec<(usize, Line)> {
        let mut left: Vec<(usize, Vec<Line>)> = Vec::new();
        for (number, body) in self.bodies.iter().enumerate() {
            let mut lines = Vec::new();
            if !body.initial {
                lines.push(Line::Get);
            }
            if body.idle {
                lines.push(Line::Trigger);
            }
            lines.extend(body.acts.iter().copied().map(Line::Act));
            lines.reverse();
            if !lines.is_empty() {
                left.push((number, lines));
            }
        }
        let mut mixed = Vec::new();
        while !left.is_empty() {
            let at = rng.index(left.len());
            let (number, lines) = &mut left[at];
            mixed.extend(lines.pop().map(|line| (*number, line)));
            if lines.is_empty() {
                left.swap_remove(at);
            }
        }
        mixed
    }
}

/// A line of the trace.
#[derive(Clone, Copy, Debug)]
enum Line {
    Get,
    /// States that the message is an idle handler's.
    Trigger,
    Act(Act),
}
