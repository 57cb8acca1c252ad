//! Runs small event-driven programs under a random scheduler, and records the run.
//!
//! A program is plain code ([`Program::body`]) that reads, writes and posts through an [`Io`].
//! Handlers run one message at a time, to its end, and take the next one from their mailbox. The
//! handler of each next event is random. A body pauses only at a read whose value is not known yet.
//! It then restarts from its beginning with that value known, and skips its earlier operations. So
//! bodies must be deterministic in the values they read.

use crate::draft::{Draft, Name};
use crate::error::GenerateError;
use crate::generate::checked_size;
use crate::recorder::Recorder;
use crate::request::{Request, RunMailbox};
use crate::setup::Setup;
use anyorder_common::random::{Random, Rng};
use std::collections::VecDeque;

/// An event-driven program.
pub(crate) trait Program {
    /// The content of a message; initial messages are messages too.
    type Message: Copy;

    /// Returns the number of events of a program of this size.
    fn events(size: u64) -> u64;

    /// Makes a program of this size, with its handlers and variables.
    fn new(size: u32, setup: &mut Setup<Self::Message>) -> Self;

    /// The code that a handler runs for a message.
    fn body(&self, message: Self::Message, io: &mut Io<Self::Message>) -> Body;
}

/// The end of a body, or the pause before a value is known.
pub(crate) type Body = Result<(), Paused>;

/// A body waits for the value of its last read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paused;

/// A pending operation.
#[derive(Clone, Copy, Debug)]
enum Operation<M> {
    Read(u32),
    Write(u32, u64),
    Post(Name, u32, M),
    /// A read (`false`) or write of the message's own variable.
    Work(bool),
}

/// The operations available to a body.
pub(crate) struct Io<M> {
    /// The values of all reads so far.
    values: Vec<u64>,
    /// The number of operations already executed, to be skipped.
    done: usize,
    /// The number of operations that the body has passed.
    passed: usize,
    /// The number of reads that the body has passed.
    reads_passed: usize,
    /// The next operations of the body.
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
    pub(crate) fn post(&mut self, name: Name, handler: u32, message: M) {
        self.want(Operation::Post(name, handler, message));
    }

    /// Accesses a variable of this message alone: writes and reads it in turn, `accesses` times.
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

/// A message that a handler is running.
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

/// Runs the program of a request to its end.
///
/// The time is linear in the number of events, times the number of reads of one body.
pub(crate) fn run<P: Program>(request: &Request) -> Result<Draft, GenerateError> {
    let size = checked_size(request, 1, P::events)?;
    let mut setup = Setup { recorder: Recorder::default(), initial: Vec::new() };
    let program = P::new(size, &mut setup);
    let mut simulator = Simulator::new(program, setup, request);
    while simulator.step() {}
    Ok(simulator.recorder.draft)
}

struct Simulator<P: Program> {
    program: P,
    mailbox: RunMailbox,
    rng: Rng,
    recorder: Recorder,
    values: Vec<u64>,
    handlers: Vec<HandlerState<P::Message>>,
    enabled: Enabled,
}

impl<P: Program> Simulator<P> {
    fn new(program: P, setup: Setup<P::Message>, request: &Request) -> Simulator<P> {
        let Setup { recorder, initial } = setup;
        let idle = || HandlerState { running: None, mailbox: VecDeque::new() };
        let mut simulator = Simulator {
            program,
            mailbox: request.mailbox,
            rng: Rng::for_purpose(request.seed, *b"run1"),
            values: vec![0; recorder.draft.variables.len()],
            recorder,
            handlers: initial.iter().map(|_| idle()).collect(),
            enabled: Enabled::new(initial.len()),
        };
        for (handler, data) in (0..).zip(initial) {
            let message = simulator.recorder.draft.initial(handler);
            simulator.begin(handler, message, data);
        }
        simulator
    }

    /// Executes one event of a random handler; returns `false` when none is enabled.
    fn step(&mut self) -> bool {
        let Some(handler) = self.enabled.choose(&mut self.rng) else { return false };
        match self.handlers[handler as usize].running.take() {
            Some(mut running) => {
                self.operation(&mut running);
                self.advance(handler, running);
            }
            None => {
                let waiting = &mut self.handlers[handler as usize].mailbox;
                if let Some((message, data)) = self.mailbox.take(waiting, &mut self.rng) {
                    self.recorder.draft.get(message);
                    self.begin(handler, message, data);
                }
            }
        }
        true
    }

    fn begin(&mut self, handler: u32, message: u32, data: P::Message) {
        self.advance(handler, Running { message, data, io: Io::new(), own: None, ended: false });
    }

    /// Runs the body to its next operations, or to its end.
    fn advance(&mut self, handler: u32, mut running: Running<P::Message>) {
        if running.io.wanted.is_empty() && !running.ended {
            let io = &mut running.io;
            (io.passed, io.reads_passed) = (0, 0);
            running.ended = self.program.body(running.data, io).is_ok();
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
            Operation::Post(name, to, data) => {
                let posted = self.recorder.draft.message(name, to);
                self.recorder.draft.post(message, posted);
                self.handlers[to as usize].mailbox.push_back((posted, data));
                self.enabled.set(to, true);
            }
        }
    }
}

/// The enabled handlers, for a random choice in constant time.
pub(crate) struct Enabled {
    list: Vec<u32>,
    /// By handler: its place in the list.
    place: Vec<Option<usize>>,
}

impl Enabled {
    pub(crate) fn new(handlers: usize) -> Enabled {
        Enabled { list: Vec::with_capacity(handlers), place: vec![None; handlers] }
    }

    pub(crate) fn choose(&self, rng: &mut Rng) -> Option<u32> {
        if self.list.is_empty() { None } else { Some(self.list[rng.index(self.list.len())]) }
    }

    pub(crate) fn set(&mut self, handler: u32, enabled: bool) {
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
