//! The definitions of consistency as clauses over the order of events, for whole traces: a
//! handler's own code between its tasks, forks and joins, and what has ended.
//!
//! Every rule of `docs/consistency.md` says "this event comes before that one", or that one of two
//! such orders holds. [`OrderRules`] lists them, for every pair, and tries both sides of a clause
//! that the others leave open.

use super::problem::{Due, Mailbox};
use anyorder_trace::{
    Action, Columns, EventId, EventKind, InputFamily, InputId, Position, TaskId, TaskKind, Trace,
    TraceOrder,
};

/// The rules that give clauses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OrderRule {
    /// Program order, and the initial message before the others.
    Program,
    /// A read sees its write, and no other.
    Reads,
    /// The order of the writes of a location.
    Coherence,
    /// A post before the begin of its task.
    PostedBy,
    /// Messages of one handler come one after another.
    Runs,
    /// Mailboxes keep an order.
    Mailbox,
    /// A fork before what it starts.
    Fork,
    /// What has ended before a join.
    Join,
    /// A post before the cancels of its task.
    Cancel,
    /// An enable before the triggers that it enables.
    Enable,
    /// A cancelled task does not begin.
    Cancelled,
    /// What is disabled does not begin.
    Disabled,
    /// Nothing of a handler comes behind its exit.
    Exited,
}

/// One event before another, by number.
type Before = (usize, usize);

/// All rules of one trace.
#[derive(Clone, Debug)]
pub struct OrderRules {
    events: usize,
    /// One of the orders of each holds.
    clauses: Vec<(OrderRule, Vec<Before>)>,
}

/// What is run without interruption.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sequence {
    handler: usize,
    /// The posted task, if it is a message of a mailbox.
    posted: Option<TaskId>,
    initial: bool,
    events: Vec<usize>,
}

impl OrderRules {
    /// Lists the clauses of a trace in which each read has a source and each location an order of
    /// its writes.
    #[must_use]
    pub fn of(trace: &Trace, mailbox: Mailbox) -> OrderRules {
        let view = View { trace, observed: trace.tables().meta.order == TraceOrder::Observed };
        let mut rules = OrderRules { events: trace.len(), clauses: Vec::new() };
        let sequences = view.sequences();
        rules.sequences(&sequences);
        rules.mailboxes(view, mailbox, &sequences);
        rules.memory(view);
        rules.forks(view);
        rules.cancels(view);
        if view.observed {
            rules.inputs(view);
        }
        rules.exits(view);
        rules
    }

    /// The same without some rules: mutants.
    #[must_use]
    pub fn without(&self, dropped: &[OrderRule]) -> OrderRules {
        let mut kept = self.clone();
        kept.clauses.retain(|(rule, _)| !dropped.contains(rule));
        kept
    }

    /// Returns how many clauses of a rule leave two ways.
    #[must_use]
    pub fn open(&self, rule: OrderRule) -> usize {
        self.clauses.iter().filter(|(of, ways)| *of == rule && ways.len() > 1).count()
    }

    /// Returns how many clauses a rule has.
    #[must_use]
    pub fn count(&self, rule: OrderRule) -> usize {
        self.clauses.iter().filter(|(of, _)| *of == rule).count()
    }

    /// Checks that an order has all events, each once, and keeps all rules.
    ///
    /// # Errors
    ///
    /// Fails with the first rule that it breaks.
    pub fn check(&self, order: &[EventId]) -> Result<(), String> {
        let mut at = vec![None; self.events];
        for (place, event) in order.iter().enumerate() {
            if at[event.index()].replace(place).is_some() {
                return Err(format!("event {event:?} comes twice"));
            }
        }
        if at.contains(&None) {
            return Err("an event is missing".to_owned());
        }
        let broken =
            |(_, ways): &&(OrderRule, Vec<Before>)| !ways.iter().any(|w| at[w.0] < at[w.1]);
        match self.clauses.iter().find(broken) {
            Some((rule, ways)) => Err(format!("{rule:?} {ways:?}")),
            None => Ok(()),
        }
    }

    /// Returns an order that keeps all rules, if there is one. Exponential in the clauses that
    /// leave two ways.
    #[must_use]
    pub fn find(&self) -> Option<Vec<EventId>> {
        let mut reach = Reach::new(self.events);
        let (sure, open): (Vec<_>, Vec<_>) = self.clauses.iter().partition(|(_, w)| w.len() == 1);
        for (_, ways) in sure {
            if !reach.add(ways[0]) {
                return None;
            }
        }
        let open: Vec<&[Before]> = open.iter().map(|(_, ways)| ways.as_slice()).collect();
        let found = search(reach, open)?;
        let mut order: Vec<usize> = (0..self.events).collect();
        let before = |event: usize| (0..self.events).filter(|e| found.has(*e, event)).count();
        order.sort_by_cached_key(|event| before(*event));
        Some(order.into_iter().map(EventId::from_index).collect())
    }

    fn add(&mut self, rule: OrderRule, ways: impl Into<Vec<Before>>) {
        let ways: Vec<Before> = ways.into();
        self.clauses.push((rule, ways));
    }

    fn sequences(&mut self, sequences: &[Sequence]) {
        for one in sequences {
            for pair in one.events.windows(2) {
                self.add(OrderRule::Program, [(pair[0], pair[1])]);
            }
            let of_handler = |other: &&Sequence| other.handler == one.handler;
            let posted = sequences.iter().filter(of_handler).filter(|s| s.posted.is_some());
            for other in posted.filter(|_| one.initial) {
                self.add(OrderRule::Program, [(last(one), other.events[0])]);
            }
        }
    }

    fn mailboxes(&mut self, view: View<'_>, mailbox: Mailbox, sequences: &[Sequence]) {
        for x in sequences {
            let Some(one) = x.posted else { continue };
            let post = view.post(one);
            self.clauses.extend(post.map(|p| (OrderRule::PostedBy, vec![(p, x.events[0])])));
            for y in sequences.iter().filter(|y| y.handler == x.handler) {
                let Some(two) = y.posted.filter(|two| *two != one) else { continue };
                let first = (last(x), y.events[0]);
                self.add(OrderRule::Runs, [first, (last(y), x.events[0])]);
                if let (Some(p), Some(q)) = (post, view.post(two))
                    && keeps(mailbox, view.due(one), view.due(two))
                {
                    self.add(OrderRule::Mailbox, [(q, p), first]);
                }
            }
        }
    }

    fn memory(&mut self, view: View<'_>) {
        let trace = view.trace;
        for location in 0..trace.tables().locations.len() {
            let of = |e: &usize| view.kind(*e).is_access() && view.operand(*e) == location;
            let accesses: Vec<usize> = (0..trace.len()).filter(of).collect();
            let of_location = |c: &&anyorder_trace::Coherence| c.location.index() == location;
            let writes: Vec<usize> = match trace.tables().coherence.iter().find(of_location) {
                Some(order) => order.writes.iter().map(|write| *write as usize).collect(),
                None => accesses.iter().copied().filter(|e| view.kind(*e).writes()).collect(),
            };
            for pair in writes.windows(2) {
                self.add(OrderRule::Coherence, [(pair[0], pair[1])]);
            }
            for read in accesses.into_iter().filter(|e| view.kind(*e).reads()) {
                let before = writes.iter().rev().find(|write| **write < read).copied();
                let source = match trace.columns().refers.get(read as u32) {
                    Some(Columns::INITIAL) => None,
                    Some(write) => Some(write as usize),
                    None => before,
                };
                self.clauses.extend(source.map(|s| (OrderRule::Reads, vec![(s, read)])));
                for write in writes.iter().copied().filter(|w| *w != read && Some(*w) != source) {
                    let later = (read, write);
                    let ways = source.map_or(vec![later], |s| vec![(write, s), later]);
                    self.add(OrderRule::Reads, ways);
                }
            }
        }
    }

    fn forks(&mut self, view: View<'_>) {
        for at in 0..self.events {
            let other = |of: usize| (0..self.events).filter(move |e| view.handler(*e) == of);
            let is_other = |of: usize| view.handler(at) != of;
            match view.action(at) {
                Action::Fork(of) if is_other(of.index()) => {
                    let behind = other(of.index()).filter(|e| !view.observed || at < *e);
                    let all = behind.map(|e| (OrderRule::Fork, vec![(at, e)]));
                    self.clauses.extend(all.collect::<Vec<_>>());
                }
                Action::Join(of) if is_other(of.index()) => {
                    let before = other(of.index()).filter(|e| !view.observed || *e < at);
                    let all = before.map(|e| (OrderRule::Join, vec![(e, at)]));
                    self.clauses.extend(all.collect::<Vec<_>>());
                }
                _ => {}
            }
        }
    }

    fn cancels(&mut self, view: View<'_>) {
        for cancel in 0..self.events {
            let Action::Cancel(task) = view.action(cancel) else { continue };
            if view.trace.tables().tasks[task.index()].kind != TaskKind::Posted {
                continue;
            }
            let post = view.post(task);
            if let Some(post) = post.filter(|post| !view.observed || *post < cancel) {
                self.add(OrderRule::Cancel, [(post, cancel)]);
            }
            if let Some(first) = view.first(task) {
                self.ends(view, OrderRule::Cancelled, (first, post, cancel));
            }
        }
    }

    /// The end does not come between what opened a beginning and that.
    fn ends(
        &mut self,
        view: View<'_>,
        rule: OrderRule,
        (begins, opened, end): (usize, Option<usize>, usize),
    ) {
        let in_trace = opened.is_none_or(|opened| opened < end) && end < begins;
        if !(view.observed && in_trace) {
            let later = (begins, end);
            self.add(rule, opened.map_or(vec![later], |opened| vec![(end, opened), later]));
        }
    }

    fn inputs(&mut self, view: View<'_>) {
        for trigger in 0..self.events {
            let Action::Trigger(input) = view.action(trigger) else { continue };
            let mut switches = (0..trigger).filter(|e| {
                [Action::Enable(input), Action::Disable(input)].contains(&view.action(*e))
            });
            let Some(enable) = switches.next_back().filter(|e| view.kind(*e) == EventKind::Enable)
            else {
                continue;
            };
            self.add(OrderRule::Enable, [(enable, trigger)]);
            self.disables(view, input, (trigger, enable));
            let task = view.task(trigger);
            let get = view.first(task).filter(|get| view.kind(*get) == EventKind::Get);
            if let Some(get) = get.filter(|get| enable < *get && *get < trigger)
                && view.task(enable) != task
            {
                self.disables(view, input, (get, enable));
            }
        }
    }

    fn disables(&mut self, view: View<'_>, input: InputId, (begins, enable): (usize, usize)) {
        for end in (0..self.events).filter(|e| view.action(*e) == Action::Disable(input)) {
            self.ends(view, OrderRule::Disabled, (begins, Some(enable), end));
        }
    }

    fn exits(&mut self, view: View<'_>) {
        for exit in (0..self.events).filter(|e| view.is_exit(*e)) {
            for event in 0..self.events {
                if event != exit && view.handler(event) == view.handler(exit) {
                    self.add(OrderRule::Exited, [(event, exit)]);
                }
            }
        }
    }
}

fn last(sequence: &Sequence) -> usize {
    sequence.events[sequence.events.len() - 1]
}

fn keeps(mailbox: Mailbox, first: Due, second: Due) -> bool {
    match mailbox {
        Mailbox::Fifo => true,
        Mailbox::Bag => false,
        Mailbox::Delayed => match (first, second) {
            (Due::Idle, _) | (_, Due::Idle | Due::Front) => false,
            (Due::Front, Due::After(_)) => true,
            (Due::After(one), Due::After(two)) => one <= two,
        },
    }
}

#[derive(Clone, Copy)]
struct View<'t> {
    trace: &'t Trace,
    observed: bool,
}

impl View<'_> {
    fn action(self, event: usize) -> Action {
        self.trace.event(EventId::from_index(event)).action()
    }

    fn kind(self, event: usize) -> EventKind {
        self.trace.event(EventId::from_index(event)).kind()
    }

    fn operand(self, event: usize) -> usize {
        self.trace.event(EventId::from_index(event)).operand as usize
    }

    fn task(self, event: usize) -> TaskId {
        self.trace.event(EventId::from_index(event)).task
    }

    fn handler(self, event: usize) -> usize {
        self.trace.handler_of(EventId::from_index(event)).index()
    }

    fn task_kind(self, event: usize) -> TaskKind {
        self.trace.tables().tasks[self.task(event).index()].kind
    }

    fn first(self, task: TaskId) -> Option<usize> {
        (0..self.trace.len()).find(|event| self.task(*event) == task)
    }

    fn post(self, task: TaskId) -> Option<usize> {
        (0..self.trace.len()).find(|event| self.action(*event) == Action::Post(task))
    }

    fn due(self, task: TaskId) -> Due {
        let is_idle = |event: usize| match self.action(event) {
            Action::Trigger(input) => {
                let family = self.trace.tables().inputs[input.index()].family;
                self.task(event) == task && family == InputFamily::Idle
            }
            _ => false,
        };
        let def = self.trace.tables().tasks[task.index()];
        match def.position {
            _ if (0..self.trace.len()).any(is_idle) => Due::Idle,
            Position::Front => Due::Front,
            Position::Back => Due::After(def.delay),
        }
    }

    /// Whether the event takes a posted task from a mailbox.
    fn takes(self, event: usize) -> bool {
        self.kind(event) == EventKind::Get
            && self.task_kind(event) == TaskKind::Posted
            && self.first(self.task(event)) == Some(event)
    }

    fn runs_tasks(self, handler: usize) -> bool {
        (0..self.trace.len())
            .any(|e| self.handler(e) == handler && self.task_kind(e) == TaskKind::Posted)
    }

    /// Whether it is the exit of a handler that runs posted tasks.
    fn is_exit(self, event: usize) -> bool {
        let handler = self.handler(event);
        let later = event + 1..self.trace.len();
        let own = self.task_kind(event) == TaskKind::Initial;
        let counts = |e: &usize| self.observed || self.task_kind(*e) == TaskKind::Initial;
        self.kind(event) == EventKind::Exit
            && self.runs_tasks(handler)
            && own
            && !later.filter(counts).any(|e| self.handler(e) == handler)
    }

    fn sequences(self) -> Vec<Sequence> {
        let mut all = Vec::new();
        for task in self.trace.task_ids() {
            let events: Vec<usize> =
                (0..self.trace.len()).filter(|e| self.task(*e) == task).collect();
            let Some(first) = events.first().copied() else { continue };
            if self.task_kind(first) != TaskKind::Initial {
                let posted = self.takes(first).then_some(task);
                all.push(Sequence { handler: self.handler(first), posted, initial: false, events });
            }
        }
        for handler in 0..self.trace.tables().handlers.len() {
            all.extend(self.own_code(handler));
        }
        all
    }

    /// The initial message of a handler, and the pieces of its own code behind it.
    fn own_code(self, handler: usize) -> Vec<Sequence> {
        let of_handler = |e: &usize| self.handler(*e) == handler;
        let is_own = |e: &usize| self.task_kind(*e) == TaskKind::Initial;
        let own: Vec<usize> =
            (0..self.trace.len()).filter(of_handler).filter(|e| is_own(e)).collect();
        let cuts = |from: usize, to: usize| {
            let takes = (from..to).any(|e| self.handler(e) == handler && self.takes(e));
            let loops = self.kind(from) == EventKind::Loop && self.runs_tasks(handler);
            self.observed && (takes || loops)
        };
        let begins = (0..self.trace.len()).find(|e| of_handler(e) && self.takes(*e));
        let loops = own.iter().copied().find(|e| self.kind(*e) == EventKind::Loop);
        let is_initial = |event: usize| {
            let behind = |end: Option<usize>| end.is_some_and(|end| end < event);
            let loops = loops.filter(|_| self.runs_tasks(handler));
            !(self.observed && (behind(begins) || behind(loops)))
        };
        let mut all: Vec<Sequence> = Vec::new();
        for (at, event) in own.iter().copied().enumerate() {
            let before = at.checked_sub(1).map(|before| own[before]);
            let new = before.is_none_or(|before| cuts(before, event));
            let exits = self.is_exit(event) && !(self.observed && is_initial(event));
            if new || exits || before.map(is_initial) != Some(is_initial(event)) {
                let initial = is_initial(event) && !exits;
                all.push(Sequence { handler, posted: None, initial, events: Vec::new() });
            }
            all.last_mut().expect("one was begun").events.push(event);
        }
        all
    }
}

/// What is before what, transitively.
#[derive(Clone)]
struct Reach {
    /// By event: those that come before it.
    before: Vec<Vec<bool>>,
}

impl Reach {
    fn new(events: usize) -> Reach {
        Reach { before: vec![vec![false; events]; events] }
    }

    fn has(&self, first: usize, second: usize) -> bool {
        self.before[second][first]
    }

    /// Adds an order; false when it closes a cycle.
    fn add(&mut self, (first, second): Before) -> bool {
        if first == second || self.has(second, first) {
            return false;
        }
        if self.has(first, second) {
            return true;
        }
        let mut new = self.before[first].clone();
        new[first] = true;
        for event in 0..self.before.len() {
            if event == second || self.has(second, event) {
                for (to, from) in self.before[event].iter_mut().zip(&new) {
                    *to |= from;
                }
            }
        }
        true
    }
}

/// Decides the clauses that leave two ways, those with one way left first.
fn search(mut reach: Reach, mut open: Vec<&[Before]>) -> Option<Reach> {
    loop {
        let before = open.len();
        let mut fails = false;
        open.retain(|ways| {
            if ways.iter().any(|way| reach.has(way.0, way.1)) {
                return false;
            }
            let left: Vec<&Before> = ways.iter().filter(|way| !reach.has(way.1, way.0)).collect();
            match left[..] {
                [] => fails = true,
                [one] => fails |= !reach.add(*one),
                _ => return true,
            }
            false
        });
        if fails {
            return None;
        }
        if open.len() == before {
            break;
        }
    }
    let Some(ways) = open.first() else { return Some(reach) };
    ways.iter().find_map(|way| {
        let mut next = reach.clone();
        if next.add(*way) { search(next, open[1..].to_vec()) } else { None }
    })
}
