//! Runs small event-driven programs under a random scheduler, and records what happens.
//!
//! A program is plain code ([`Program::body`]) that reads, writes and posts through an [`Io`].
//! Handlers run one message at a time, to its end, and take the next one from their mailbox; which
//! handler makes the next step is random, one event at a time. A body pauses only where it needs a
//! value that nobody has read yet: it is then run again from its beginning with that value known,
//! its earlier operations being skipped. So bodies must do the same things when they read the same
//! values.

use crate::draft::{Draft, Name};
use crate::recorder::Recorder;
use crate::request::RunMailbox;
use anyorder_common::random::{Random, Rng};
use std::collections::VecDeque;

/// An event-driven program.
pub(crate) trait Program {
    /// What a message carries; initial messages are messages too.
    type Message: Copy;

    /// The names of the handlers, by number.
    fn handlers(&self) -> Vec<Name>;

    /// The names of the variables, by number; all are 0 in the beginning.
    fn variables(&self) -> Vec<Name>;

    /// The initial message of a handler.
    fn initial(&self, handler: u32) -> Self::Message;

    /// The name of a posted message.
    fn name(&self, message: &Self::Message) -> Name;

    /// What a handler does for a message.
    fn body(&self, message: &Self::Message, io: &mut Io<Self::Message>) -> Body;
}

/// The end of a body, or the pause before a value is known.
pub(crate) type Body = Result<(), Paused>;

/// A body waits for the value of its last read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paused;

/// An operation that is to be done.
#[derive(Clone, Copy, Debug)]
enum Operation<M> {
    Read(u32),
    Write(u32, u64),
    Post(u32, M),
    /// A read (`false`) or write of the message's own variable.
    Work(bool),
}

/// What a body can do.
pub(crate) struct Io<M> {
    /// The values of all reads so far.
    values: Vec<u64>,
    /// The number of operations done already, to be skipped.
    done: usize,
    /// The number of operations that the body has come past.
    passed: usize,
    /// The number of reads that the body has come past.
    reads_passed: usize,
    /// What it wants done next.
    wanted: VecDeque<Operation<M>>,
}

impl<M> Io<M> {
    fn new() -> Io<M> {
        Io { values: Vec::new(), done: 0, passed: 0, reads_passed: 0, wanted: VecDeque::new() }
    }

    /// Reads a variable.
    pub(crate) fn read(&mut self, variable: u32) -> Result<u64, Paused> {
        let value = self.values.get(self.reads_passed).copied();
        self.reads_passed += 1;
        self.want(Operation::Read(variable));
        value.ok_or(Paused)
    }

    /// Writes a variable.
    pub(crate) fn write(&mut self, variable: u32, value: u64) {
        self.want(Operation::Write(variable, value));
    }

    /// Posts a message to a handler.
    pub(crate) fn post(&mut self, handler: u32, message: M) {
        self.want(Operation::Post(handler, message));
    }

    /// Works on a variable of this message alone: writes and reads it in turn, `accesses` times.
    pub(crate) fn work(&mut self, accesses: u32) {
        for access in 0..accesses {
            self.want(Operation::Work(access % 2 == 0));
        }
    }

    fn want(&mut self, operation: Operation<M>) {
        if self.passed >= self.done {
            self.wanted.push_back(operation);
        }
        self.passed += 1;
    }
}

/// A message that a handler is working on.
struct Running<M> {
    message: u32,
    data: M,
    io: Io<M>,
    /// Its own variable, once it has one.
    own: Option<u32>,
    ended: bool,
}

struct HandlerState<M> {
    running: Option<Running<M>>,
    mailbox: VecDeque<(u32, M)>,
}

/// Runs a program to its end.
///
/// The time is linear in the number of events, times the number of reads of one body.
pub(crate) fn run<P: Program>(program: &P, mailbox: RunMailbox, seed: u64) -> Draft {
    let mut simulator = Simulator::new(program, mailbox, seed);
    while simulator.step() {}
    simulator.recorder.draft
}

struct Simulator<'p, P: Program> {
    program: &'p P,
    mailbox: RunMailbox,
    rng: Rng,
    recorder: Recorder,
    values: Vec<u64>,
    handlers: Vec<HandlerState<P::Message>>,
    enabled: Enabled,
}

impl<'p, P: Program> Simulator<'p, P> {
    fn new(program: &'p P, mailbox: RunMailbox, seed: u64) -> Simulator<'p, P> {
        let mut recorder = Recorder::default();
        let names = program.handlers();
        let variables = program.variables();
        let values = vec![0; variables.len()];
        for name in variables {
            recorder.variable(name);
        }
        let mut simulator = Simulator {
            program,
            mailbox,
            rng: Rng::for_purpose(seed, *b"run1"),
            recorder,
            values,
            handlers: Vec::with_capacity(names.len()),
            enabled: Enabled::new(names.len()),
        };
        for name in names {
            let handler = simulator.recorder.draft.handler(name);
            simulator.handlers.push(HandlerState { running: None, mailbox: VecDeque::new() });
            let message = simulator.recorder.draft.initial(handler);
            simulator.begin(handler, message, program.initial(handler));
        }
        simulator
    }

    /// Lets a random handler do one event; returns `false` when none can.
    fn step(&mut self) -> bool {
        let Some(handler) = self.enabled.choose(&mut self.rng) else { return false };
        match self.handlers[handler as usize].running.take() {
            Some(mut running) => {
                self.operation(&mut running);
                self.go_on(handler, running);
            }
            None => {
                let waiting = &mut self.handlers[handler as usize].mailbox;
                let taken = match self.mailbox {
                    RunMailbox::Fifo => waiting.pop_front(),
                    RunMailbox::Bag => waiting.swap_remove_back(self.rng.index(waiting.len())),
                };
                if let Some((message, data)) = taken {
                    self.recorder.draft.get(message);
                    self.begin(handler, message, data);
                }
            }
        }
        true
    }

    fn begin(&mut self, handler: u32, message: u32, data: P::Message) {
        self.go_on(handler, Running { message, data, io: Io::new(), own: None, ended: false });
    }

    /// Finds out what the body wants next, and whether it has ended.
    fn go_on(&mut self, handler: u32, mut running: Running<P::Message>) {
        if running.io.wanted.is_empty() && !running.ended {
            let io = &mut running.io;
            (io.passed, io.reads_passed) = (0, 0);
            running.ended = self.program.body(&running.data, io).is_ok();
        }
        let state = &mut self.handlers[handler as usize];
        if !running.io.wanted.is_empty() {
            state.running = Some(running);
        }
        self.enabled.set(handler, state.running.is_some() || !state.mailbox.is_empty());
    }

    fn operation(&mut self, running: &mut Running<P::Message>) {
        let message = running.message;
        let Some(operation) = running.io.wanted.pop_front() else { return };
        running.io.done += 1;
        match operation {
            Operation::Read(variable) => {
                running.io.values.push(self.values[variable as usize]);
                self.recorder.read(message, variable);
            }
            Operation::Write(variable, value) => {
                self.values[variable as usize] = value;
                self.recorder.write(message, variable);
            }
            Operation::Work(writes) => {
                let own = *running.own.get_or_insert_with(|| self.recorder.variable(Name::AUTO));
                if writes {
                    self.recorder.write(message, own);
                } else {
                    self.recorder.read(message, own);
                }
            }
            Operation::Post(to, data) => {
                let posted = self.recorder.draft.message(self.program.name(&data), to);
                self.recorder.draft.post(message, posted);
                self.handlers[to as usize].mailbox.push_back((posted, data));
                self.enabled.set(to, true);
            }
        }
    }
}

/// The handlers that can go on, to choose one at random in constant time.
struct Enabled {
    list: Vec<u32>,
    /// By handler: its place in the list.
    place: Vec<Option<usize>>,
}

impl Enabled {
    fn new(handlers: usize) -> Enabled {
        Enabled { list: Vec::with_capacity(handlers), place: vec![None; handlers] }
    }

    fn choose(&self, rng: &mut Rng) -> Option<u32> {
        if self.list.is_empty() { None } else { Some(self.list[rng.index(self.list.len())]) }
    }

    fn set(&mut self, handler: u32, enabled: bool) {
        match (self.place[handler as usize], enabled) {
            (None, true) => {
                self.place[handler as usize] = Some(self.list.len());
                self.list.push(handler);
            }
            (Some(place), false) => {
                self.list.swap_remove(place);
                if let Some(moved) = self.list.get(place) {
                    self.place[*moved as usize] = Some(place);
                }
                self.place[handler as usize] = None;
            }
            _ => {}
        }
    }
}
