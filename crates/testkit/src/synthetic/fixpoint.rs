//! A large trace in which fifo is read backwards in many rounds.
//!
//! It is a sequence of ladders. On a ladder of `n` rungs, a chain of tasks `a(n-1) .. a(0)`, each
//! posted by the one before, runs through the handlers `h(n-1) .. h(0)`. Then unordered bursts
//! `q(n-1) .. q(0)` post `b(i)` to `h(i)` and enable the trigger of `b(i+1)`. Then `a(0)`, which
//! waited in its mailbox, enables the trigger of `b(0)`.
//!
//! At first, only `a(0)` and `b(0)` are ordered. Read backwards, this orders their posts,
//! `post(a(0))` in `a(1)` and `post(b(0))` in `q(0)`. So `a(1)` begins before the input that `q(0)`
//! enables, which triggers `b(1)`, and `a(1)` ends before `b(1)` begins. This repeats on each rung:
//! `n` rounds, each of which adds an edge earlier in the trace.
//!
//! Ladders of one lane are ordered by a thread that waits for all `b(i)` of one ladder and enables
//! the next.

use super::stream::Stream;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    ConditionId, EventKind, HandlerId, InputId, LocationId, Mailbox, NameId, SiteId, TableFull,
    TaskId, TaskKind, TraceSink,
};
use std::collections::VecDeque;
use std::io;

/// How large the trace is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixpoint {
    /// The number of events at least; the last ladders are completed.
    pub events: u64,
    /// The number of rungs, and of handlers with mailboxes; at least 2.
    pub rungs: u32,
    /// The number of ladders at a time.
    pub lanes: u32,
    /// The number of accesses of each task.
    pub accesses: u32,
    /// The seed.
    pub seed: u64,
}

impl Default for Fixpoint {
    fn default() -> Fixpoint {
        Fixpoint { events: 1_000_000, rungs: 16, lanes: 4, accesses: 8, seed: 1 }
    }
}

/// Streams the trace into a sink; returns the number of events.
///
/// # Errors
///
/// Fails when the sink fails, and when a table would pass what ids can address.
pub fn fixpoint(config: &Fixpoint, sink: &mut dyn TraceSink) -> io::Result<u64> {
    let mut ladders = Ladders::new(config, sink).map_err(io::Error::other)?;
    ladders.run().map_err(io::Error::other)?;
    ladders.stream.finish()
}

/// A task in a mailbox: of the chain, or of a burst.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    task: TaskId,
    lane: usize,
    of_chain: bool,
}

struct Lane {
    /// Enabled when the ladder before is complete; nothing for the first.
    link: InputId,
    linked: bool,
    /// What triggers each `b(i)`.
    triggers: Vec<InputId>,
    enabled: Vec<bool>,
    /// The last rung that the chain has reached, and the bursts still to come.
    reached: Option<usize>,
    bursts_left: usize,
    /// The numbers of the signals that the collecting thread has not answered.
    signals: VecDeque<u64>,
    answered: usize,
    done: ConditionId,
    location: LocationId,
}

struct Ladders<'s> {
    config: Fixpoint,
    rng: Rng,
    stream: Stream<'s>,
    rungs: Vec<(HandlerId, VecDeque<Waiting>)>,
    lanes: Vec<Lane>,
    environment: HandlerId,
    collector: TaskId,
    names: [NameId; 3],
}

impl<'s> Ladders<'s> {
    fn new(config: &Fixpoint, sink: &'s mut dyn TraceSink) -> Result<Ladders<'s>, TableFull> {
        let config = Fixpoint { rungs: config.rungs.max(2), lanes: config.lanes.max(1), ..*config };
        let mut stream = Stream::new(sink);
        let rungs = (0..config.rungs)
            .map(|i| {
                Ok((stream.handler(&format!("h{i}"), Mailbox::Fifo, false)?.0, VecDeque::new()))
            })
            .collect::<Result<_, TableFull>>()?;
        let lanes = (0..config.lanes)
            .map(|lane| {
                let name = stream.interner.name(&format!("done{lane}"))?;
                let location = stream.interner.name(&format!("x{lane}"))?;
                let triggers = (0..config.rungs)
                    .map(|i| stream.input(&format!("rung {i} of lane {lane}")))
                    .collect::<Result<_, _>>()?;
                Ok(Lane {
                    link: stream.input(&format!("ladder of lane {lane}"))?,
                    linked: false,
                    triggers,
                    enabled: vec![false; config.rungs as usize],
                    reached: None,
                    bursts_left: 0,
                    signals: VecDeque::new(),
                    answered: 0,
                    done: stream.interner.condition(name)?,
                    location: stream
                        .interner
                        .location(anyorder_trace::Location::Named(location))?,
                })
            })
            .collect::<Result<_, TableFull>>()?;
        let (environment, _) = stream.handler("environment", Mailbox::None, true)?;
        let (_, collector) = stream.handler("collector", Mailbox::None, false)?;
        let mut names = [NameId::EMPTY; 3];
        for (name, text) in names.iter_mut().zip(["a", "b", "q"]) {
            *name = stream.interner.name(text)?;
        }
        let rng = Rng::new(config.seed);
        Ok(Ladders { config, rng, stream, rungs, lanes, environment, collector, names })
    }

    /// Runs random lanes and handlers until enough ladders are complete.
    fn run(&mut self) -> Result<(), TableFull> {
        for lane in 0..self.lanes.len() {
            self.begin(lane)?;
        }
        let mut open = self.lanes.len();
        let choices = self.rungs.len() + 2 * self.lanes.len();
        while open > 0 {
            let choice = self.rng.index(choices);
            match choice.checked_sub(self.rungs.len()) {
                None => self.take(choice)?,
                Some(lane) if lane < self.lanes.len() => self.burst(lane)?,
                Some(lane) => {
                    if self.collect(lane - self.lanes.len()) {
                        if self.stream.events < self.config.events {
                            self.begin(lane - self.lanes.len())?;
                        } else {
                            open -= 1;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins a ladder: a burst posts the first task of the chain.
    fn begin(&mut self, lane: usize) -> Result<(), TableFull> {
        let top = self.rungs.len() - 1;
        self.lanes[lane].enabled.fill(false);
        self.lanes[lane].answered = 0;
        self.lanes[lane].reached = Some(top);
        self.lanes[lane].bursts_left = self.rungs.len();
        let burst = self.stream.task(self.names[2], self.environment, TaskKind::Burst, 0)?;
        self.stream.plain(burst, EventKind::Begin, 0);
        self.post(burst, top, lane, true)?;
        self.stream.plain(burst, EventKind::Exit, 0);
        Ok(())
    }

    fn post(
        &mut self,
        from: TaskId,
        rung: usize,
        lane: usize,
        of_chain: bool,
    ) -> Result<(), TableFull> {
        let name = self.names[usize::from(!of_chain)];
        let task = self.stream.task(name, self.rungs[rung].0, TaskKind::Posted, 0)?;
        self.stream.plain(from, EventKind::Post, task.0);
        self.rungs[rung].1.push_back(Waiting { task, lane, of_chain });
        Ok(())
    }

    /// Runs the next burst of a lane, once the chain waits on the lowest rung.
    fn burst(&mut self, lane: usize) -> Result<(), TableFull> {
        if self.lanes[lane].reached != Some(0) || self.lanes[lane].bursts_left == 0 {
            return Ok(());
        }
        self.lanes[lane].bursts_left -= 1;
        let rung = self.lanes[lane].bursts_left;
        let burst = self.stream.task(self.names[2], self.environment, TaskKind::Burst, 0)?;
        self.stream.plain(burst, EventKind::Begin, 0);
        self.post(burst, rung, lane, false)?;
        if let Some(input) = self.lanes[lane].triggers.get(rung + 1).copied() {
            self.stream.plain(burst, EventKind::Enable, input.0);
            self.lanes[lane].enabled[rung + 1] = true;
        }
        self.stream.plain(burst, EventKind::Exit, 0);
        Ok(())
    }

    /// Lets a handler run its next task, if that can run.
    fn take(&mut self, rung: usize) -> Result<(), TableFull> {
        let Some(&Waiting { task, lane, of_chain }) = self.rungs[rung].1.front() else {
            return Ok(());
        };
        let lowest_too_early = of_chain && rung == 0 && self.lanes[lane].bursts_left > 0;
        if lowest_too_early || (!of_chain && !self.lanes[lane].enabled[rung]) {
            return Ok(());
        }
        self.rungs[rung].1.pop_front();
        self.stream.plain(task, EventKind::Get, self.rungs[rung].0.0);
        let begins_ladder = of_chain && rung + 1 == self.rungs.len();
        if self.lanes[lane].linked && (begins_ladder || !of_chain) {
            self.stream.plain(task, EventKind::Trigger, self.lanes[lane].link.0);
        }
        if !of_chain {
            self.stream.plain(task, EventKind::Trigger, self.lanes[lane].triggers[rung].0);
        }
        for _ in 0..self.config.accesses {
            let kind = if self.rng.percent(2) { EventKind::Write } else { EventKind::Read };
            self.stream.emit(task, kind, self.lanes[lane].location.0, SiteId::UNKNOWN);
        }
        if !of_chain {
            self.lanes[lane].signals.push_back(self.stream.events);
            self.stream.plain(task, EventKind::Signal, self.lanes[lane].done.0);
        } else if rung == 0 {
            self.stream.plain(task, EventKind::Enable, self.lanes[lane].triggers[0].0);
            self.lanes[lane].enabled[0] = true;
        } else {
            self.post(task, rung - 1, lane, true)?;
            self.lanes[lane].reached = Some(rung - 1);
        }
        self.stream.plain(task, EventKind::End, 0);
        Ok(())
    }

    /// Lets the collecting thread answer a signal. Returns true after the last one of a ladder.
    fn collect(&mut self, lane: usize) -> bool {
        let Some(signal) = self.lanes[lane].signals.pop_front() else { return false };
        let done = self.lanes[lane].done;
        self.stream.emit_referring(self.collector, EventKind::Wake, done.0, signal);
        self.lanes[lane].answered += 1;
        let complete = self.lanes[lane].answered == self.rungs.len();
        if complete {
            self.stream.plain(self.collector, EventKind::Enable, self.lanes[lane].link.0);
            self.lanes[lane].linked = true;
        }
        complete
    }
}
