//! A partial trace as messages and relations, straight from the definitions.

use anyorder_trace::{
    Action, Columns, EventId, EventKind, InputFamily, Position, TaskId, TaskKind, Trace, TraceOrder,
};

/// The order in which mailboxes deliver messages. One rule holds for all handlers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mailbox {
    /// In post order; delays and positions have no effect.
    Fifo,
    /// In any order.
    Bag,
    /// In post order, except where delays, positions and idle handlers change it; see
    /// [`Problem::keeps_order`].
    Delayed,
}

/// When a message is due, for [`Mailbox::Delayed`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Due {
    /// After this delay, in units of the trace.
    After(u64),
    /// At once: it was posted to the front.
    Front,
    /// When the mailbox is empty: it is the task of an idle handler.
    Idle,
}

/// A message: a posted task that has begun, or the initial code of a handler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The task. If several bursts form an initial message, this is the first of them.
    pub task: TaskId,
    /// The position of its handler in the table of handlers.
    pub handler: usize,
    /// Whether it is the handler's initial message, which runs before all others.
    pub initial: bool,
    /// Its due time.
    pub due: Due,
    /// Its events in program order; at least one.
    pub events: Vec<usize>,
    /// The event that posts it. Initial messages have none.
    pub post: Option<usize>,
}

/// The source of a read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The initial value.
    Initial,
    /// This write.
    Write(usize),
    /// Not given by the trace: any write.
    Unknown,
}

/// The relevant effect of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Reads, writes, or both atomically.
    Access {
        /// The position of the location in the table of locations.
        location: usize,
        /// Its source, if it reads.
        from: Option<Source>,
        /// Whether it writes.
        writes: bool,
    },
    /// Posts the message of this number; posts of tasks that never begin do nothing.
    Post(usize),
    /// Begins its message.
    Get,
    /// Anything else.
    Nothing,
}

/// A partial trace: the given relations, and with them the question which orders fit. Events have
/// the numbers of the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The rule of the mailboxes.
    pub mailbox: Mailbox,
    /// The number of handlers.
    pub handlers: usize,
    /// All messages that have events.
    pub messages: Vec<Message>,
    /// By event: its effect.
    pub effects: Vec<Effect>,
    /// By event: its message and its place in it.
    pub places: Vec<(usize, usize)>,
    /// By location: its writes, first to last where their order is given, else in trace order.
    pub writes: Vec<Vec<usize>>,
    /// By location: whether the order of its writes is given. This holds for at most one write.
    pub coherent: Vec<bool>,
}

impl Problem {
    /// Makes a problem from a trace. In an observed trace, reads without a source read from the
    /// last write before them, and writes without a given order have the recorded order.
    #[must_use]
    pub fn of(trace: &Trace, mailbox: Mailbox) -> Problem {
        let mut problem = Problem {
            mailbox,
            handlers: trace.tables().handlers.len(),
            messages: Vec::new(),
            effects: Vec::with_capacity(trace.len()),
            places: Vec::with_capacity(trace.len()),
            writes: vec![Vec::new(); trace.tables().locations.len()],
            coherent: vec![true; trace.tables().locations.len()],
        };
        let message_of_task = problem.add_messages(trace);
        problem.add_effects(trace, &message_of_task);
        problem.order_writes(trace);
        problem
    }

    /// Finds messages and program order, and returns the message of each task.
    fn add_messages(&mut self, trace: &Trace) -> Vec<Option<usize>> {
        let mut of_task = vec![None; trace.tasks_count()];
        let mut initial_of_handler = vec![None; self.handlers];
        for event in trace.events() {
            let task = trace.tables().tasks[event.task.index()];
            let handler = trace.handler_of(event.id).index();
            let initial = task.kind != TaskKind::Posted;
            let known =
                if initial { initial_of_handler[handler] } else { of_task[event.task.index()] };
            let message = known.unwrap_or_else(|| {
                let due = match task.position {
                    Position::Front => Due::Front,
                    Position::Back => Due::After(task.delay),
                };
                let (events, post) = (Vec::new(), None);
                self.messages.push(Message {
                    task: event.task,
                    handler,
                    initial,
                    due,
                    events,
                    post,
                });
                self.messages.len() - 1
            });
            if initial {
                initial_of_handler[handler] = Some(message);
            }
            of_task[event.task.index()] = Some(message);
            if let Action::Trigger(input) = event.action()
                && trace.tables().inputs[input.index()].family == InputFamily::Idle
            {
                self.messages[message].due = Due::Idle;
            }
            self.places.push((message, self.messages[message].events.len()));
            self.messages[message].events.push(event.id.index());
        }
        of_task
    }

    fn add_effects(&mut self, trace: &Trace, message_of_task: &[Option<usize>]) {
        let observed = trace.tables().meta.order == TraceOrder::Observed;
        for event in trace.events() {
            let at = event.id.index();
            let effect = match event.action() {
                Action::Access { kind, location, .. } => {
                    let location = location.index();
                    let given = trace.columns().refers.get(event.id.0);
                    let source = match given {
                        Some(Columns::INITIAL) => Source::Initial,
                        Some(write) => Source::Write(write as usize),
                        None if observed => self.writes[location]
                            .last()
                            .map_or(Source::Initial, |w| Source::Write(*w)),
                        None => Source::Unknown,
                    };
                    let writes = kind != EventKind::Read;
                    if writes {
                        self.writes[location].push(at);
                    }
                    Effect::Access { location, from: kind.reads().then_some(source), writes }
                }
                Action::Post(task) => match message_of_task[task.index()] {
                    Some(message) if !self.messages[message].initial => {
                        self.messages[message].post = Some(at);
                        Effect::Post(message)
                    }
                    _ => Effect::Nothing,
                },
                Action::Get(_) => Effect::Get,
                _ => Effect::Nothing,
            };
            self.effects.push(effect);
        }
    }

    fn order_writes(&mut self, trace: &Trace) {
        if trace.tables().meta.order == TraceOrder::Partial {
            for (coherent, writes) in self.coherent.iter_mut().zip(&self.writes) {
                *coherent = writes.len() <= 1;
            }
        }
        for order in &trace.tables().coherence {
            let location = order.location.index();
            self.writes[location] = order.writes.iter().map(|write| *write as usize).collect();
            self.coherent[location] = true;
        }
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.effects.len()
    }

    /// Returns whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Returns whether `first`, posted before `second` to the same handler, must run before it.
    #[must_use]
    pub fn keeps_order(&self, first: usize, second: usize) -> bool {
        match self.mailbox {
            Mailbox::Fifo => true,
            Mailbox::Bag => false,
            Mailbox::Delayed => match (self.messages[first].due, self.messages[second].due) {
                (Due::Idle, _) | (_, Due::Idle | Due::Front) => false,
                (Due::Front, Due::After(_)) => true,
                (Due::After(first), Due::After(second)) => first <= second,
            },
        }
    }

    /// Returns the posted messages of a handler.
    #[must_use]
    pub fn posted_to(&self, handler: usize) -> Vec<usize> {
        let all = 0..self.messages.len();
        all.filter(|m| self.messages[*m].handler == handler && !self.messages[*m].initial).collect()
    }

    /// Returns the reads that read what `write` wrote, or with `None` the initial value of
    /// `location`.
    #[must_use]
    pub fn readers(&self, location: usize, write: Option<usize>) -> Vec<usize> {
        let wanted = write.map_or(Source::Initial, Source::Write);
        let reads = |event: &usize| matches!(self.effects[*event], Effect::Access { location: l, from: Some(from), .. } if l == location && from == wanted);
        (0..self.len()).filter(reads).collect()
    }

    /// po inside messages: each event and its next.
    #[must_use]
    pub fn po(&self) -> Vec<(usize, usize)> {
        let pairs = self.messages.iter().flat_map(|m| m.events.windows(2));
        pairs.map(|pair| (pair[0], pair[1])).collect()
    }

    /// po between messages: every event of an initial message and every event of another message of
    /// its handler.
    #[must_use]
    pub fn initial_first(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for first in self.messages.iter().filter(|m| m.initial) {
            for other in self.messages.iter().filter(|m| !m.initial && m.handler == first.handler) {
                edges.extend(pairs(&first.events, &other.events));
            }
        }
        edges
    }

    /// rf: a write and each read that reads from it.
    #[must_use]
    pub fn rf(&self) -> Vec<(usize, usize)> {
        let source = |(read, effect): (usize, &Effect)| match effect {
            Effect::Access { from: Some(Source::Write(write)), .. } => Some((*write, read)),
            _ => None,
        };
        self.effects.iter().enumerate().filter_map(source).collect()
    }

    /// pb: a post and the first event of the posted message.
    #[must_use]
    pub fn pb(&self) -> Vec<(usize, usize)> {
        self.messages.iter().filter_map(|m| Some((m.post?, m.events[0]))).collect()
    }

    /// Events as ids.
    #[must_use]
    pub fn ids(order: &[usize]) -> Vec<EventId> {
        order.iter().map(|event| EventId::from_index(*event)).collect()
    }
}

/// Returns all pairs of one of `before` and one of `after`.
pub(super) fn pairs(before: &[usize], after: &[usize]) -> Vec<(usize, usize)> {
    before.iter().flat_map(|b| after.iter().map(|a| (*b, *a))).collect()
}
