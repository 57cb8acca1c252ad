//! The search: adds one event after another, and remembers what else could have been added.
//!
//! One graph at a time is extended, and shortened again; a revisit begins a graph of its own, on
//! top of the ones that it came from. So memory is the graphs of the revisits that led here, each
//! linear in the events of an execution, and the choices that are open.

use super::behaviour::{Behaviours, NodeId};
use super::consistency::{bound, bound_after, has_sc_order, is_free};
use super::cores::{Shared, first_help};
use super::graph::{Clock, Event, Graph, Id, NOBODY};
use super::linear::{extend, revise};
use super::outcome::{Model, WeakExecution, WeakExplored, WeakFound, WeakOptions, events};
use super::reading::{Reading, Want};
use super::reads_from::in_order;
use super::revisit::{restrict, revisitable};
use super::sabotage::Sabotage;
use super::states::States;
use super::{ending, races, spinning};
use crate::learn::{Blocked, Fault, Incomplete};
use crate::op::Act;
use crate::program::ThreadProgram;
use crate::races::races_of;
use crate::spinning::LongLoop;
use std::sync::atomic::Ordering;

/// Something that can be added.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// A read from a write, in one of several ways.
    Read(Id, u32),
    /// A write at a place in the order of its object.
    Write(u32),
    /// A write that revisits a read.
    Revisit(Id),
    /// The write at a place, and the read that it revisits, in one of several ways.
    Land(Id, u32, u32),
    /// One of several ways.
    Way(u32),
    /// The only event that there is.
    Only,
}

/// An event that was added, with what else could have been.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The graphs below the one to which it was added.
    pub(super) depth: usize,
    /// The events before it.
    pub(super) length: usize,
    pub(super) thread: u32,
    /// The event, as far as it is fixed.
    pub(super) want: Want,
    /// Where its choices begin.
    pub(super) choices: usize,
}

pub(super) struct Search<'p, 'v, P: ThreadProgram + ?Sized> {
    pub(super) known: Behaviours<'p, P>,
    pub(super) states: States,
    pub(super) graphs: Vec<Graph>,
    /// Graphs to be used again.
    spare: Vec<Graph>,
    pub(super) frames: Vec<Frame>,
    pub(super) choices: Vec<Choice>,
    pub(super) options: WeakOptions,
    pub(super) model: Model,
    visit: &'v mut dyn FnMut(&WeakExecution<'_>),
    pub(super) explored: WeakExplored,
    pub(super) sabotage: Sabotage,
    /// How many graphs there are when other cores help next.
    pub(super) help_at: u64,
    /// Of a search that helps: the others. It gives up where the first search has to look.
    pub(super) others: Option<&'v Shared>,
    /// Whether it came to such a thing.
    pub(super) is_stumped: bool,
    /// To be used again.
    reads: Vec<Id>,
    turns: u32,
    /// A loop that gave up after turns in vain.
    given_up: Option<LongLoop>,
}

impl<'p, 'v, P: ThreadProgram + ?Sized> Search<'p, 'v, P> {
    pub(super) fn new(
        program: &'p mut P,
        options: &WeakOptions,
        visit: &'v mut dyn FnMut(&WeakExecution<'_>),
        sabotage: Sabotage,
    ) -> Self {
        Search {
            known: Behaviours::new(program),
            states: States::default(),
            graphs: vec![Graph::start(sabotage)],
            spare: Vec::new(),
            frames: Vec::new(),
            choices: Vec::new(),
            options: options.clone(),
            model: Model::Rc11,
            visit,
            explored: WeakExplored::default(),
            sabotage,
            help_at: first_help(options),
            others: None,
            is_stumped: false,
            reads: Vec::new(),
            turns: 0,
            given_up: None,
        }
    }

    pub(super) fn run(&mut self) -> Result<(), Incomplete> {
        loop {
            self.turns = self.turns.wrapping_add(1);
            if self.turns & 63 == 1 {
                let check = self.options.cancel.check();
                check.map_err(|stopped| Incomplete::Stopped(stopped.0))?;
            }
            match self.next_thread()? {
                Some((thread, want)) => self.offer(thread, want)?,
                None => self.complete()?,
            }
            if self.explored.graphs >= self.help_at {
                self.get_help()?;
            }
            loop {
                match self.take()? {
                    None => {
                        let longest = self.known.loops.long.iter().max_by_key(|long| long.turns);
                        let given_up = self.given_up.take().or(longest.copied());
                        return given_up.map_or(Ok(()), |long| Err(Incomplete::GivesUp(long)));
                    }
                    Some(true) => break,
                    Some(false) => {}
                }
            }
        }
    }

    fn graph(&self) -> &Graph {
        &self.graphs[self.graphs.len() - 1]
    }

    fn graph_mut(&mut self) -> &mut Graph {
        let last = self.graphs.len() - 1;
        &mut self.graphs[last]
    }

    /// Explores what is left of a search that helps. Returns whether it came to the end: otherwise
    /// there is something to learn or to note, or a limit.
    pub(super) fn run_part(&mut self, others: &Shared) -> bool {
        loop {
            loop {
                match self.take() {
                    Ok(Some(true)) => break,
                    Ok(Some(false)) => {}
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
            self.turns = self.turns.wrapping_add(1);
            if self.turns & 15 == 1 && !self.share(others) {
                return false;
            }
            let next = self.next_thread().and_then(|next| match next {
                Some((thread, want)) => self.offer(thread, want),
                None => self.complete(),
            });
            if next.is_err() || self.is_stumped {
                return false;
            }
        }
    }

    /// The thread whose event comes next, and the event: of a thread within an operation, if there
    /// is one, otherwise of the first one that does not wait.
    fn next_thread(&mut self) -> Result<Option<(u32, Want)>, Incomplete> {
        let Search { graphs, known, states, options, model, .. } = self;
        let Some(graph) = graphs.last() else { return Ok(None) };
        // It is the thread of the last event, or that of a read that was revisited.
        let is_within = |log: &Vec<Id>| {
            let last = log.last().map(|id| graph.event(*id));
            last.is_some_and(|last| !last.is_done && !last.is_blocked)
        };
        if let Some(thread) = graph.logs.iter().position(is_within)
            && let Some(last) = graph.logs[thread].last().map(|id| graph.event(*id))
        {
            return Ok(Some((thread as u32, Want::next_phase(last, known.act(last.node)))));
        }
        for thread in 0..graph.logs.len() as u32 {
            let Some(place) = place(graph, thread, known, states)? else { continue };
            if matches!(known.act(place), Act::Await(_)) && options.turns_max > 0 {
                if known.waits(thread, place).is_none() {
                    if known.is_frozen {
                        self.is_stumped = true;
                        return Ok(None);
                    }
                    let limits = (options.turns_max, options.spins_max);
                    spinning::try_loop(graph, thread, known, states, limits)?;
                }
                if known.waits(thread, place) == Some(false) {
                    return Ok(Some((thread, Want::Event(Event::local(thread, place)))));
                }
            }
            if matches!(known.act(place), Act::Await(_)) && *model == Model::ReadsFrom {
                return Err(Incomplete::Unsupported(Box::new(known.next(place).op.clone())));
            }
            if let Some(want) = Want::of(graph, place, known.next(place), states)? {
                return Ok(Some((thread, want)));
            }
        }
        Ok(None)
    }

    /// Lists what the next event of a thread can be.
    fn offer(&mut self, thread: u32, want: Want) -> Result<(), Incomplete> {
        let length = self.graph().events.len();
        if length >= self.options.events_max {
            return Err(Incomplete::Steps);
        }
        let (depth, choices) = (self.graphs.len() - 1, self.choices.len());
        self.frames.push(Frame { depth, length, thread, want, choices });
        match want {
            Want::Read { node, phase, object } => self.offer_reads(thread, (node, phase), object),
            Want::Write(event) => self.offer_writes(thread, &event),
            Want::Way { count, .. } => self.choices.extend((0..count).rev().map(Choice::Way)),
            Want::Event(_) => self.choices.push(Choice::Only),
        }
        Ok(())
    }

    /// Whether the writes of an object have no order.
    fn is_open(&self, object: u32) -> bool {
        self.model == Model::ReadsFrom && self.states.is_loose(object)
    }

    fn offer_reads(&mut self, thread: u32, at: (NodeId, u8), object: u32) {
        let is_open = self.is_open(object);
        let Search { graphs, known, states, choices, sabotage, .. } = self;
        let Some(graph) = graphs.last() else { return };
        let last = graph.order(object).len();
        let mut first = bound(graph, object, thread);
        if *sabotage == Sabotage::ReadsIncoherent || is_open {
            first = 0;
        }
        for rank in first..=last {
            let source = graph.of_rank(object, rank);
            let value = graph.written(source).unwrap_or_else(|| states.initial(object));
            let mut reading = Reading { thread, act: known.act(at.0), at, object };
            // Nobody who waits for something else is revisited there, or stuck in the end.
            if rank < last && reading.waits(value, states) {
                continue;
            }
            // If another one has changed what this one wants to change, it must be revisited.
            if !is_open
                && !is_free(graph, object, rank)
                && reading.changes(value, states)
                && *sabotage != Sabotage::AtomicityForgotten
            {
                let taker = graph.order(object)[rank];
                let before = graph.last(thread);
                if before.is_some_and(|id| graph.precedes(taker, id, Clock::Prefix)) {
                    continue;
                }
            }
            let ways = reading.ways(value, states);
            choices.extend((0..ways).rev().map(|way| Choice::Read(source, way)));
        }
    }

    fn offer_writes(&mut self, thread: u32, event: &Event) {
        let is_open = self.is_open(event.object);
        if self.model == Model::ReadsFrom {
            let last = self.graph().last(thread);
            let prefix = last.map(|last| self.graph().clock(last, Clock::Prefix).to_vec());
            self.reads = self.revisitable_by_class(event.object, &prefix.unwrap_or_default());
        }
        let Search { graphs, choices, reads, sabotage, model, .. } = self;
        let Some(graph) = graphs.last() else { return };
        if *model == Model::Rc11 {
            let none = [];
            let last = graph.last(thread);
            let prefix = last.map_or(&none[..], |last| graph.clock(last, Clock::Prefix));
            revisitable(graph, event.object, prefix, *sabotage, reads);
        }
        choices.extend(reads.iter().rev().map(|read| Choice::Revisit(*read)));
        let places = places(graph, thread, event, is_open, *sabotage);
        choices.extend(places.map(|place| Choice::Write(place as u32)));
    }

    /// Takes the next choice. Returns whether the graph is consistent; `None` if none is left.
    fn take(&mut self) -> Result<Option<bool>, Incomplete> {
        let frame = loop {
            let Some(frame) = self.frames.last().copied() else { return Ok(None) };
            if self.choices.len() > frame.choices {
                break frame;
            }
            self.frames.pop();
        };
        let Some(choice) = self.choices.pop() else { return Ok(None) };
        while self.graphs.len() > frame.depth + 1 {
            self.spare.extend(self.graphs.pop());
        }
        while self.graph().events.len() > frame.length {
            self.graph_mut().pop();
        }
        self.explored.graphs += 1;
        Ok(Some(self.apply(choice, &frame)))
    }

    fn apply(&mut self, choice: Choice, frame: &Frame) -> bool {
        let thread = frame.thread;
        match (choice, frame.want) {
            (Choice::Revisit(read), Want::Write(event)) => self.revisit(read, thread, event),
            (Choice::Read(source, way), Want::Read { node, phase, object }) => {
                let event = self.reading(thread, (node, phase), object, source, way);
                let id = self.graph_mut().push(event);
                let is_last =
                    source == self.graph().order(object).last().copied().unwrap_or(source);
                self.is_consistent(is_last, &[id])
            }
            (Choice::Write(place), Want::Write(event)) => {
                let id = self.graph_mut().push(Event { thread, place, ..event });
                let is_last = place as usize + 1 == self.graph().order(event.object).len();
                self.is_consistent(is_last, &[id])
            }
            (Choice::Land(read, place, way), Want::Write(event)) => {
                let write = self.graph_mut().push(Event { thread, place, ..event });
                let old = *self.graph().event(read);
                let at = (old.node, old.phase);
                let mut new = self.reading(old.thread, at, old.object, write, way);
                new.index = old.index;
                self.graph_mut().reread(read, new);
                self.is_consistent(false, &[read, write])
            }
            (Choice::Way(way), Want::Way { node, .. }) => {
                let result = u64::from(way);
                let event = Event { result, alternative: way, ..Event::local(thread, node) };
                let id = self.graph_mut().push(event);
                self.is_consistent(true, &[id])
            }
            (Choice::Only, Want::Event(event)) => {
                let event = Event { thread, ..event };
                let id = self.graph_mut().push(event);
                // Nothing comes after it.
                let is_consistent = self.is_consistent(true, &[id]);
                self.note_failure(&event);
                is_consistent
            }
            _ => unreachable!("a choice is of the event that it was offered for"),
        }
    }

    /// Whether the graph is consistent, to which these were added; last ones of their objects are.
    fn is_consistent(&mut self, are_last: bool, added: &[Id]) -> bool {
        let (model, sabotage) = (self.model, self.sabotage);
        let graph = self.graph_mut();
        match (model, added) {
            (Model::Rc11, _) => are_last || has_sc_order(graph, added, sabotage),
            _ if sabotage == Sabotage::OrderForgotten => true,
            (Model::ReadsFrom, [id]) => extend(graph, *id, sabotage),
            (Model::ReadsFrom, _) => revise(graph, sabotage),
        }
    }

    fn reading(
        &mut self,
        thread: u32,
        at: (NodeId, u8),
        object: u32,
        source: Id,
        way: u32,
    ) -> Event {
        let Search { graphs, known, states, .. } = self;
        let value = graphs.last().and_then(|graph| graph.written(source));
        let value = value.unwrap_or_else(|| states.initial(object));
        let mut reading = Reading { thread, act: known.act(at.0), at, object };
        reading.event(source, value, way, states)
    }

    /// Begins the graph in which the next event of a thread, a write, revisits a read. Returns
    /// false: the graph is not there before the write is.
    fn revisit(&mut self, read: Id, thread: u32, event: Event) -> bool {
        let mut part = self.spare.pop().unwrap_or_default();
        let none = [];
        let graph = self.graph();
        let prefix = graph.last(thread).map_or(&none[..], |last| graph.clock(last, Clock::Prefix));
        restrict(graph, read, prefix, &mut part);
        self.graphs.push(part);
        let (depth, choices) = (self.graphs.len() - 1, self.choices.len());
        let length = self.graph().events.len();
        let old = *self.graph().event(read);
        let least = match self.graph().last_before(&old) {
            Some(last) if self.sabotage != Sabotage::ReadsIncoherent => {
                bound_after(self.graph(), old.object, last)
            }
            _ => 0,
        };
        let act = self.known.act(old.node);
        let at = (old.node, old.phase);
        let mut reading = Reading { thread: old.thread, act, at, object: old.object };
        let ways = reading.ways(event.value, &mut self.states);
        let is_open = self.is_open(event.object);
        let graph = &self.graphs[depth];
        let mut first = least;
        if self.sabotage == Sabotage::LandingsLast || is_open {
            first = graph.order(event.object).len();
        }
        for place in
            places(graph, thread, &event, is_open, self.sabotage).filter(|place| *place >= first)
        {
            let land = |way| Choice::Land(read, place as u32, way);
            self.choices.extend((0..ways).rev().map(land));
        }
        let want = Want::Write(event);
        self.frames.push(Frame { depth, length, thread, want, choices });
        false
    }

    fn note_failure(&mut self, event: &Event) {
        if let Act::Fail(number) = *self.known.act(event.node) {
            self.note(Fault::Failure(number));
        }
    }

    /// Notes a livelock, unless the threads give up in the end.
    fn note_livelock(&mut self, stuck: Vec<Blocked>) -> Result<(), Incomplete> {
        let spins = |blocked: &&Blocked| matches!(blocked.op.act, Act::Await(_));
        let threads: Vec<u32> =
            stuck.iter().filter(spins).map(|blocked| blocked.thread.0).collect();
        let first = stuck.iter().find(spins).map(|blocked| (blocked.thread, blocked.site));
        let fault = Fault::Livelock(stuck);
        if self.explored.faults.iter().any(|found| found.fault == fault) {
            return Ok(());
        }
        if self.known.is_frozen {
            self.is_stumped = true;
            return Ok(());
        }
        let Search { graphs, known, states, options, .. } = self;
        let Some(graph) = graphs.last() else { return Ok(()) };
        match spinning::gives_up(graph, &threads, known, states, options.spins_max)? {
            true => {
                let long = |(thread, site)| LongLoop {
                    thread,
                    site,
                    before: site,
                    turns: options.spins_max,
                };
                self.given_up = first.map(long);
            }
            false => self.note(fault),
        }
        Ok(())
    }

    fn note(&mut self, fault: Fault) {
        if self.explored.faults.iter().all(|found| found.fault != fault) {
            if self.known.is_frozen {
                self.is_stumped = true;
                return;
            }
            let order = self.order_of(&fault);
            let events = events(self.graph(), &order, &|node| self.known.op_of(node));
            self.explored.faults.push(WeakFound { fault, events });
        }
    }

    /// The events in the order in which they show a fault.
    fn order_of(&self, fault: &Fault) -> Vec<Id> {
        let graph = self.graph();
        if self.model == Model::Rc11 {
            return graph.linear();
        }
        let mut order = graph.witness.clone();
        if matches!(fault, Fault::Failure(_)) {
            // It was added last, and nothing depends on it.
            let last = graph.events.len() as Id - 1;
            order.retain(|id| *id != last);
            order.push(last);
        }
        order
    }

    /// Notes an execution in which no thread can go on.
    fn complete(&mut self) -> Result<(), Incomplete> {
        if self.is_stumped {
            return Ok(());
        }
        let before = match self.others {
            Some(others) => others.ended.fetch_add(1, Ordering::Relaxed),
            None => self.explored.executions + self.explored.blocked,
        };
        if before >= self.options.executions_max {
            return Err(Incomplete::Executions);
        }
        let Search { graphs, known, states, .. } = self;
        let Some(graph) = graphs.last() else { return Ok(()) };
        let mut ending = ending::Ending::default();
        for thread in 0..graph.logs.len() as u32 {
            if let Some(place) = last_place(graph, thread, known, states)? {
                let mut next = known.next(place).clone();
                if let Some(wide) = known.awaits(thread, place) {
                    next.op = wide.clone();
                }
                ending.note(graph, thread, place, &next, states);
            }
        }
        if ending.is_stale && self.sabotage != Sabotage::StaleWaits {
            self.explored.blocked += 1;
            return Ok(());
        }
        self.explored.executions += 1;
        let op_of = |node| known.op_of(node);
        let order = match self.model {
            Model::Rc11 => None,
            Model::ReadsFrom => Some(graph.witness.as_slice()),
        };
        let execution = WeakExecution {
            stuck: &ending.stuck,
            spins: ending.spins,
            graph,
            order,
            op_of: &op_of,
        };
        (self.visit)(&execution);
        if known.has_accesses && self.model == Model::ReadsFrom {
            let races = races_of(&in_order(&execution.events()));
            races.into_iter().for_each(|race| self.note(Fault::Race(race)));
        } else if known.has_accesses {
            let races = races::races(graph, &|node| known.op_of(node), self.sabotage);
            races.into_iter().for_each(|race| self.note(Fault::Race(race)));
        }
        match (ending.spins, ending.stuck.is_empty()) {
            (true, _) => self.note_livelock(ending.stuck)?,
            (false, false) => self.note(Fault::Deadlock(ending.stuck)),
            (false, true) => {}
        }
        Ok(())
    }
}

/// Where a thread is that is not within an operation, and has not ended.
pub(super) fn place<P: ThreadProgram + ?Sized>(
    graph: &Graph,
    thread: u32,
    known: &mut Behaviours<'_, P>,
    states: &mut States,
) -> Result<Option<NodeId>, Incomplete> {
    match graph.logs[thread as usize].last().map(|id| graph.event(*id)) {
        Some(last) if !last.is_done => return Ok(None),
        Some(last) if last.is_end => return Ok(None),
        None if graph.spawns[thread as usize] == NOBODY => return Ok(None),
        _ => {}
    }
    known.place(graph, thread, states).map(Some).map_err(|how| Incomplete::Diverged(Some(how)))
}

/// Where a thread is that has not ended.
fn last_place<P: ThreadProgram + ?Sized>(
    graph: &Graph,
    thread: u32,
    known: &mut Behaviours<'_, P>,
    states: &mut States,
) -> Result<Option<NodeId>, Incomplete> {
    match graph.logs[thread as usize].last().map(|id| graph.event(*id)) {
        Some(last) if !last.is_done => Ok(Some(last.node)),
        _ => place(graph, thread, known, states),
    }
}

/// The places that a thread's next event, a write, can have in the order of its object.
fn places<'g>(
    graph: &'g Graph,
    thread: u32,
    event: &Event,
    is_open: bool,
    sabotage: Sabotage,
) -> impl Iterator<Item = usize> + use<'g> {
    let last = graph.order(event.object).len();
    let mut range = bound(graph, event.object, thread)..last + 1;
    if sabotage == Sabotage::WritesIncoherent {
        range.start = 0;
    }
    if is_open {
        range = last..last + 1;
    } else if event.is_exclusive
        && let Some(read) = graph.last(thread)
    {
        let place = graph.rank(graph.event(read).source);
        range = place..place + 1;
    }
    let (is_exclusive, object) = (event.is_exclusive, event.object);
    let ignores = if is_exclusive { Sabotage::AtomicityForgotten } else { Sabotage::WritesIntrude };
    range.filter(move |place| is_open || sabotage == ignores || is_free(graph, object, *place))
}
