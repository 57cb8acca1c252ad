//! A large event-driven program: sessions of requests over event loops, pools, timers and threads.

use super::jobs::{Job, JobKind, Run, Session};
use super::mailboxes::Pending;
use super::places::{Group, Places};
use super::stream::Stream;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    EventKind, HandlerId, InputId, Mailbox, NameId, SiteId, TableFull, TaskId, TaskKind, TraceSink,
};
use std::collections::VecDeque;
use std::io;

/// How large the program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventDriven {
    /// The number of events. It is exceeded if it is below about twelve a task.
    pub events: u64,
    /// The number of posted tasks.
    pub tasks: u32,
    /// The number of handlers: loops, pools, timers, plain threads and the environment; at least 6.
    pub handlers: u32,
    /// The number of sessions: trees of tasks that are unordered at any time.
    pub sessions: u32,
    /// The seed.
    pub seed: u64,
}

impl Default for EventDriven {
    fn default() -> EventDriven {
        EventDriven { events: 10_000_000, tasks: 100_000, handlers: 20, sessions: 256, seed: 1 }
    }
}

/// Streams the trace of a large event-driven program into a sink; returns the number of events.
///
/// Takes time linear in the events, and memory for the tables (some 150 bytes a task) and one
/// block.
///
/// # Errors
///
/// Fails when the sink fails, and when a table would pass what ids can address.
pub fn event_driven(config: &EventDriven, sink: &mut dyn TraceSink) -> io::Result<u64> {
    let mut program = Program::new(config, sink).map_err(io::Error::other)?;
    program.start();
    program.run().map_err(io::Error::other)?;
    program.stream.finish()
}

struct Agent {
    handler: HandlerId,
    initial: TaskId,
    mailbox: Mailbox,
    untracked: bool,
    pending: Pending,
    running: Option<Run>,
    /// The locations of its initial code.
    own: Group,
}

struct Program<'s> {
    config: EventDriven,
    rng: Rng,
    stream: Stream<'s>,
    places: Places,
    agents: Vec<Agent>,
    sessions: Vec<Session>,
    inputs: Vec<InputId>,
    /// Sessions that can receive their next request.
    ready: VecDeque<u32>,
    names: Vec<NameId>,
    burst: NameId,
    tasks_left: u32,
    /// Tasks posted and not begun.
    waiting: u64,
    /// Remaining accesses of running tasks.
    promised: u64,
    posts: u64,
    now: u64,
}

/// The mailbox of a handler by index: the last is the environment; some are threads, pools, timers.
fn mailbox_of(index: u32, handlers: u32) -> Mailbox {
    match index {
        _ if index + 1 == handlers => Mailbox::None,
        _ if index % 10 == 5 => Mailbox::None,
        _ if index % 6 == 1 => Mailbox::Bag,
        _ if index % 4 == 2 => Mailbox::Delayed,
        _ => Mailbox::Fifo,
    }
}

impl<'s> Program<'s> {
    fn new(config: &EventDriven, sink: &'s mut dyn TraceSink) -> Result<Program<'s>, TableFull> {
        let config = EventDriven {
            handlers: config.handlers.max(6),
            sessions: config.sessions.max(1),
            ..*config
        };
        let mut rng = Rng::new(config.seed);
        let mut stream = Stream::new(sink);
        let places = Places::new(&mut stream, config.events, config.tasks, config.sessions)?;
        let mut agents = Vec::new();
        for index in 0..config.handlers {
            let mailbox = mailbox_of(index, config.handlers);
            let untracked = index + 1 == config.handlers;
            let name = if untracked {
                "environment".to_owned()
            } else {
                format!(
                    "{}{index}",
                    if mailbox == Mailbox::None { "thread" } else { mailbox.word() }
                )
            };
            let (handler, initial) = stream.handler(&name, mailbox, untracked)?;
            let own = places.local(&mut stream, u32::MAX - index)?;
            let pending = Pending::new(mailbox);
            agents.push(Agent {
                handler,
                initial,
                mailbox,
                untracked,
                pending,
                running: None,
                own,
            });
        }
        let of = |mailbox: Mailbox| -> Vec<usize> {
            (0..agents.len()).filter(|a| agents[*a].mailbox == mailbox).collect()
        };
        let (fifo, bag, delayed) = (of(Mailbox::Fifo), of(Mailbox::Bag), of(Mailbox::Delayed));
        let loops: Vec<usize> = fifo.iter().chain(&delayed).copied().collect();
        let sessions = (0..config.sessions)
            .map(|_| Session {
                main: rng.pick(&loops),
                pool: rng.pick(&bag),
                timers: rng.pick(&delayed),
                log: rng.pick(&fifo),
                answered: false,
            })
            .collect();
        let inputs = (0..config.sessions)
            .map(|s| stream.input(&format!("request of session {s}")))
            .collect::<Result<_, _>>()?;
        let names = JobKind::ALL
            .into_iter()
            .map(|kind| stream.interner.name(kind.word()))
            .collect::<Result<_, _>>()?;
        let burst = stream.interner.name("burst")?;
        Ok(Program {
            config,
            rng,
            stream,
            places,
            agents,
            sessions,
            inputs,
            ready: (0..config.sessions).collect(),
            names,
            burst,
            tasks_left: config.tasks,
            waiting: 0,
            promised: 0,
            posts: 0,
            now: 0,
        })
    }

    /// The first handler initialises everything and starts the others.
    fn start(&mut self) {
        let root = self.agents[0].initial;
        self.stream.plain(root, EventKind::Begin, 0);
        for location in &self.places.settings {
            self.stream.plain(root, EventKind::Write, location.0);
        }
        for agent in self.agents[1..].iter().filter(|a| !a.untracked) {
            self.stream.plain(root, EventKind::Fork, agent.handler.0);
        }
        for (index, agent) in self.agents.iter().enumerate().filter(|(_, a)| !a.untracked) {
            if index > 0 {
                self.stream.plain(agent.initial, EventKind::Begin, 0);
            }
            if agent.mailbox != Mailbox::None {
                self.stream.plain(agent.initial, EventKind::Attach, agent.handler.0);
                self.stream.plain(agent.initial, EventKind::Loop, agent.handler.0);
            }
        }
    }

    /// Runs random agents until all tasks have ended, then adds accesses of a thread.
    fn run(&mut self) -> Result<(), TableFull> {
        let mut able: Vec<usize> = Vec::new();
        loop {
            self.now = self.now.max(self.stream.events);
            able.clear();
            able.extend((0..self.agents.len()).filter(|a| self.is_able(*a)));
            let busy = able
                .iter()
                .any(|a| self.agents[*a].mailbox != Mailbox::None || self.agents[*a].untracked);
            if !busy {
                // Only timers are left, or nothing at all.
                match self.agents.iter().filter_map(|a| a.pending.due()).min() {
                    Some(due) => self.now = self.now.max(due),
                    None => break,
                }
                continue;
            }
            let agent = self.rng.pick(&able);
            self.step(agent)?;
        }
        let thread = self.agents.iter().position(|a| a.mailbox == Mailbox::None).unwrap_or(0);
        while self.stream.events < self.config.events {
            self.access(self.agents[thread].initial, self.agents[thread].own);
        }
        Ok(())
    }

    fn is_able(&self, agent: usize) -> bool {
        let agent = &self.agents[agent];
        if agent.untracked {
            return !self.ready.is_empty() && self.tasks_left > 0;
        }
        agent.mailbox == Mailbox::None
            || agent.running.is_some()
            || agent.pending.due().is_some_and(|due| due <= self.now)
    }

    fn step(&mut self, agent: usize) -> Result<(), TableFull> {
        if self.agents[agent].untracked {
            self.request(agent)
        } else if self.agents[agent].mailbox == Mailbox::None {
            self.run_thread(agent)
        } else if self.agents[agent].running.is_some() {
            self.run_for_some_events(agent)
        } else {
            self.begin(agent)
        }
    }

    /// The environment posts the next request of a session.
    fn request(&mut self, agent: usize) -> Result<(), TableFull> {
        let Some(session) = self.ready.pop_front() else { return Ok(()) };
        let handler = self.agents[agent].handler;
        let burst = self.stream.task(self.burst, handler, TaskKind::Burst, 0)?;
        self.stream.plain(burst, EventKind::Begin, 0);
        let main = self.sessions[session as usize].main;
        self.post(burst, main, JobKind::Request, session, 0)?;
        self.stream.plain(burst, EventKind::Exit, 0);
        Ok(())
    }

    /// A thread computes, and occasionally logs.
    fn run_thread(&mut self, agent: usize) -> Result<(), TableFull> {
        let (task, own) = (self.agents[agent].initial, self.agents[agent].own);
        // Threads leave most events to the tasks, even while tasks wait.
        if self.stream.events > self.config.events / 50 * 49 || self.rng.percent(40) {
            return Ok(());
        }
        for _ in 0..self.rng.below(self.per_task().max(1)).min(16) {
            self.access(task, own);
        }
        if self.tasks_left > 0 && self.rng.percent(8) {
            let session = self.rng.below(u64::from(self.config.sessions)) as u32;
            let log = self.sessions[session as usize].log;
            self.post(task, log, JobKind::Log, session, 0)?;
        }
        Ok(())
    }

    /// The average number of accesses left for each task that has not begun.
    fn per_task(&self) -> u64 {
        let left = self.config.events.saturating_sub(self.stream.events + self.promised);
        let tasks = u64::from(self.tasks_left) + self.waiting;
        // Get, end, post, the burst, the enable, the trigger: about eight events a task are not
        // accesses.
        (left / 16 * 15 / tasks.max(1)).saturating_sub(8)
    }

    fn begin(&mut self, agent: usize) -> Result<(), TableFull> {
        let Some(job) = self.agents[agent].pending.pop(&mut self.rng) else { return Ok(()) };
        let per_task = self.per_task();
        self.waiting -= 1;
        // The last tasks stay below the average, so that the total is not exceeded.
        let few = self.waiting + u64::from(self.tasks_left) < 100;
        let spread = if few { 0 } else { per_task };
        let accesses = per_task / 2 + self.rng.below(spread + 1);
        let before = self.rng.below(accesses + 1);
        self.promised += accesses;
        self.stream.plain(job.task, EventKind::Get, self.agents[agent].handler.0);
        let session = &mut self.sessions[job.session as usize];
        if job.kind == JobKind::Request && session.answered {
            self.stream.plain(job.task, EventKind::Trigger, self.inputs[job.session as usize].0);
        }
        if matches!(job.kind, JobKind::Request | JobKind::Answer) {
            let group = self.places.sessions[job.session as usize];
            self.group_accesses(job.task, group, 3);
        }
        let own = self.places.local(&mut self.stream, job.task.0)?;
        let run = Run { job, own, before, posts_due: true, behind: accesses - before };
        self.agents[agent].running = Some(run);
        Ok(())
    }

    /// Continues a task for some events.
    fn run_for_some_events(&mut self, agent: usize) -> Result<(), TableFull> {
        let Some(mut run) = self.agents[agent].running else { return Ok(()) };
        let left = if run.posts_due { &mut run.before } else { &mut run.behind };
        let now = (*left).min(self.rng.within(8, 40));
        *left -= now;
        let finished = *left == 0;
        self.promised -= now;
        for _ in 0..now {
            self.access(run.job.task, run.own);
        }
        match (finished, run.posts_due) {
            (true, true) => {
                run.posts_due = false;
                self.posts_of(run.job)?;
            }
            (true, false) => {
                self.last_words(run.job);
                self.agents[agent].running = None;
                return Ok(());
            }
            _ => {}
        }
        self.agents[agent].running = Some(run);
        Ok(())
    }

    /// The posts of a task, by kind.
    fn posts_of(&mut self, job: Job) -> Result<(), TableFull> {
        let session = self.sessions[job.session as usize];
        match job.kind {
            JobKind::Request => {
                self.post(job.task, session.pool, JobKind::Work, job.session, 0)?;
                if self.rng.percent(70) {
                    self.post(job.task, session.main, JobKind::Step, job.session, 0)?;
                }
                if self.rng.percent(50) {
                    let delay = self.rng.pick(&[100, 1_000, 4_000, 20_000]);
                    self.post(job.task, session.timers, JobKind::Timer, job.session, delay)?;
                }
            }
            JobKind::Work => {
                self.post(job.task, session.main, JobKind::Answer, job.session, 0)?;
            }
            JobKind::Step if self.rng.percent(50) => {
                self.post(job.task, session.log, JobKind::Log, job.session, 0)?;
            }
            _ => {}
        }
        if matches!(job.kind, JobKind::Work | JobKind::Step) && self.rng.percent(4) {
            let (lock, group) = self.rng.pick(&self.places.locks);
            self.stream.plain(job.task, EventKind::Acquire, lock.0);
            self.group_accesses(job.task, group, 4);
            self.stream.plain(job.task, EventKind::Release, lock.0);
        }
        Ok(())
    }

    fn last_words(&mut self, job: Job) {
        if job.kind == JobKind::Answer {
            self.stream.plain(job.task, EventKind::Enable, self.inputs[job.session as usize].0);
            self.sessions[job.session as usize].answered = true;
            self.ready.push_back(job.session);
        }
        self.stream.plain(job.task, EventKind::End, 0);
    }

    /// Posts a task, if any are left.
    fn post(
        &mut self,
        from: TaskId,
        to: usize,
        kind: JobKind,
        session: u32,
        delay: u64,
    ) -> Result<(), TableFull> {
        if self.tasks_left == 0 {
            return Ok(());
        }
        self.tasks_left -= 1;
        self.waiting += 1;
        self.posts += 1;
        let name = self.names[kind as usize];
        let handler = self.agents[to].handler;
        let task = self.stream.task(name, handler, TaskKind::Posted, delay)?;
        self.stream.plain(from, EventKind::Post, task.0);
        let due = self.now.max(self.stream.events) + delay;
        self.agents[to].pending.push(Job { task, kind, session }, due, self.posts);
        Ok(())
    }

    #[inline]
    fn access(&mut self, task: TaskId, own: Group) {
        let (kind, location, site) = self.places.draw(&mut self.rng, own);
        self.stream.emit(task, kind, location.0, site);
    }

    fn group_accesses(&mut self, task: TaskId, group: Group, count: u32) {
        for _ in 0..count {
            let (kind, location, site): (EventKind, _, SiteId) =
                self.places.in_group(&mut self.rng, group);
            self.stream.emit(task, kind, location.0, site);
        }
    }
}
