//! Few loopers, to which threads and tasks post: each poster's tasks begin in the order of its
//! posts, those of different posters in any order.

use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    EventKind, HandlerId, Location, LocationId, Mailbox, Mode, Op, TableFull, TaskId, Trace,
    TraceBuilder,
};
use std::collections::{BTreeMap, VecDeque};

/// A looper, the tasks that wait for it by the handlers that posted them, and the one that it runs.
struct Looper {
    handler: HandlerId,
    is_bag: bool,
    waiting: BTreeMap<HandlerId, VecDeque<TaskId>>,
    runs: Option<TaskId>,
}

struct Made {
    b: TraceBuilder,
    rng: Rng,
    threads: Vec<(HandlerId, TaskId)>,
    loopers: Vec<Looper>,
    locations: Vec<LocationId>,
    /// How often each thing is done.
    weights: [usize; 6],
    made: u32,
}

/// Makes a trace in whose second half no plain location is written.
pub(super) fn trace_of(seed: u64) -> Result<Trace, TableFull> {
    let mut rng = Rng::new(8_300_000 + seed);
    let mut b = TraceBuilder::new();
    let mut loopers = Vec::new();
    for at in 0..1 + rng.index(3).min(1) {
        let mailbox = match seed % 3 {
            0 => Mailbox::Bag,
            1 => Mailbox::Fifo,
            _ => rng.pick(&[Mailbox::Fifo, Mailbox::Bag]),
        };
        loopers.push(Looper {
            handler: b.handler(&format!("looper {at}"), mailbox)?,
            is_bag: mailbox == Mailbox::Bag,
            waiting: BTreeMap::new(),
            runs: None,
        });
    }
    let mut threads = Vec::new();
    for at in 0..2 + rng.index(3) {
        let handler = b.handler(&format!("thread {at}"), Mailbox::None)?;
        threads.push((handler, b.initial(handler)));
    }
    let mut locations = vec![b.variable("x")?, b.variable("y")?];
    if rng.chance(0.3) {
        for (address, size) in [(64, 8), (68, 4)] {
            let range = Location::Range { address, size, generation: 0 };
            locations.push(b.interner.location(range)?);
        }
    }
    let steps = 20 + rng.index(50);
    // A trace in which one thing is done seldom, and another one often, comes to what a mixture of
    // all does not.
    let weights = [(2, 8), (2, 8), (0, 6), (0, 8), (0, 4), (0, 4)]
        .map(|(from, to)| rng.within(from, to) as usize);
    let mut made = Made { weights, b, rng, threads, loopers, locations, made: 0 };
    for step in 0..steps {
        made.step(2 * step < steps)?;
    }
    Ok(made.b.finish())
}

impl Made {
    /// Returns the handler and the task of a thread, or of a task that runs.
    fn actor(&mut self) -> (HandlerId, TaskId) {
        let tasks = self.loopers.iter().filter_map(|looper| Some((looper.handler, looper.runs?)));
        let all: Vec<_> = self.threads.iter().copied().chain(tasks).collect();
        self.rng.pick(&all)
    }

    fn step(&mut self, writes: bool) -> Result<(), TableFull> {
        let (by, task) = self.actor();
        let mut at = self.rng.index(self.weights.iter().sum());
        let act = self.weights.iter().position(|weight| {
            let is_it = at < *weight;
            at = at.saturating_sub(*weight);
            is_it
        });
        match act.expect("below the sum") {
            0 => self.post((by, task))?,
            1 => self.begin()?,
            2 => {
                self.b.acquire(task, "m", Mode::EXCLUSIVE)?;
                self.access(task, writes)?;
                self.b.release(task, "m", Mode::EXCLUSIVE)?;
            }
            3 => self.tell((by, task))?,
            4 => {
                let at = self.rng.index(self.loopers.len());
                self.b.on_handler(task, EventKind::Fork, self.loopers[at].handler);
            }
            _ => self.access(task, writes)?,
        }
        Ok(())
    }

    fn post(&mut self, (handler, by): (HandlerId, TaskId)) -> Result<(), TableFull> {
        let at = self.rng.index(self.loopers.len());
        let posted = self.b.task(&format!("task {}", self.made), self.loopers[at].handler)?;
        self.made += 1;
        self.b.post(by, posted)?;
        self.loopers[at].waiting.entry(handler).or_default().push_back(posted);
        Ok(())
    }

    /// Lets an actor know what another one knows; it may pass that on, or post.
    fn tell(&mut self, (by, task): (HandlerId, TaskId)) -> Result<(), TableFull> {
        let (other, told) = self.actor();
        if other == by {
            return Ok(());
        }
        let name = format!("told {}", self.made);
        self.made += 1;
        self.b.on_condition(task, EventKind::Signal, &name)?;
        self.b.on_condition(told, EventKind::Wake, &name)?;
        match self.rng.index(4) {
            0 => Ok(()),
            1 => self.tell((other, told)),
            _ => self.post((other, told)),
        }
    }

    /// Ends the task of a looper, and begins the next one of some poster; in a bag, any.
    fn begin(&mut self) -> Result<(), TableFull> {
        let at = self.rng.index(self.loopers.len());
        let Looper { is_bag, waiting, runs, .. } = &mut self.loopers[at];
        if let Some(task) = runs.take() {
            self.b.end(task)?;
        }
        let posters: Vec<HandlerId> = waiting.keys().copied().collect();
        if posters.is_empty() {
            return Ok(());
        }
        let poster = self.rng.pick(&posters);
        let of_poster = waiting.get_mut(&poster).expect("one of the keys");
        let next = if *is_bag { self.rng.index(of_poster.len()) } else { 0 };
        let task = of_poster.remove(next).expect("not empty");
        if of_poster.is_empty() {
            waiting.remove(&poster);
        }
        self.b.get(task)?;
        self.loopers[at].runs = Some(task);
        Ok(())
    }

    fn access(&mut self, task: TaskId, writes: bool) -> Result<(), TableFull> {
        let location = self.rng.pick(&self.locations);
        let mode = if self.rng.index(6) == 0 { Mode::RELAXED } else { Mode::PLAIN };
        let kind =
            if writes && self.rng.index(2) == 0 { EventKind::Write } else { EventKind::Read };
        self.b.push(task, Op::new(kind, mode), location.0);
        Ok(())
    }
}
