//! The search for violations by their last access, the pivot.
//!
//! A violation that is minimal ends with an access that closes a cycle. Before it, everything is as
//! if events, and in one event its tasks, had run one after another, but some of them only in part.
//! So the search runs the program in that order, stops one invocation before an access, goes on,
//! and looks for a later access that conflicts with the one left out (the paper's sections 6 and 7,
//! in the form without `goto`). Each violation is put into an order that the multi-thread semantics
//! has.

use super::history::{Breach, history_of};
use super::linear::{Linear, linearize};
use super::mirror::{is_mirror, places};
use super::options::Options;
use super::reach::Reach;
use super::run::{RunStep, run_steps};
use super::sim::{INIT, Invocation, Next, Sim, Status, Step, conflicts};
use super::taint::{Taint, bit};
use anyorder_system::{Access, AsyncSystem, Control, HandlerOrder, InvocationStep, Lane, RunError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a violation breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// The tasks of one event have one outcome (conflict-determinism, Definition 5).
    Determinism,
    /// Overlapping events have the outcome of some order of them (conflict-serializability,
    /// Definition 4).
    Serializability,
    /// Overlapping events have the outcome of an order in which the program lets them start. Where
    /// a driver or `after` orders events, the order that conflicts ask for may be another one. The
    /// paper has events in any order, and so does not need it.
    StartOrder,
}

/// A violation: a run whose last access closes a cycle of conflicts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What it breaks.
    pub property: Property,
    /// The event that is not deterministic; of other properties, that of the last access.
    pub event: u32,
    /// The places of the pivot and of the root. Violations of one property (and one event, if it is
    /// not deterministic) with the same places are one violation, shown by several runs.
    pub places: String,
    /// The run, in an order that the program has.
    pub run: Vec<RunStep>,
    /// The position in the run of the step whose access conflicts with the last one, and came too
    /// early for any serial order.
    pub root: usize,
    /// The position of the step that closes the cycle.
    pub pivot: usize,
    /// The accesses of `init`, if the root is one of them: `init` need not be a step of a run.
    pub by_init: Option<Vec<Access>>,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The violations found, in the order of the search: a few for each pair of places.
    pub violations: Vec<Violation>,
    /// Whether the search without further stops went through everything.
    pub complete: bool,
    /// The most further stops with which the search went through everything.
    pub stops: u32,
    /// The number of simulated runs that ended.
    pub runs: u64,
    /// The number of simulated steps.
    pub steps: u64,
}

/// The most steps of a simulated run. Events need not end.
const RUN_STEPS: usize = 10_000;

/// The most runs that are kept of one violation: the first may do no harm, and the next one some.
const RUNS: usize = 4;

/// Searches a program for violations of both properties.
///
/// # Errors
///
/// Fails if the program cannot begin. A job that is stopped is no error: the result is then not
/// complete.
pub fn check<A: AsyncSystem>(
    system: &mut A,
    options: &Options,
    control: &Control<'_>,
) -> Result<Checked, RunError> {
    let mut search = Search {
        system,
        options,
        control,
        checked: Checked::default(),
        known: BTreeMap::new(),
        cut: false,
        work: 0,
    };
    let mut ended = Ok(());
    for stops in 0..=options.stops {
        let all = options.max_states as u64;
        let most = if stops == 0 { u64::MAX } else { options.steps_with_stops };
        let most = search.work.saturating_add(most).min(all.saturating_mul(10));
        match search.run(stops, most) {
            Ok(true) if !search.cut => {
                (search.checked.complete, search.checked.stops) = (true, stops);
            }
            Ok(true) => break,
            Ok(false) => break,
            Err(RunError::Stopped(_)) => break,
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
    }
    let checked = search.checked;
    ended?;
    Ok(checked)
}

/// The invocation that stopped before the access that may become the last one.
#[derive(Clone, Debug)]
struct Pivot {
    invocation: u32,
    /// What the step left out accesses; none as long as it cannot be taken.
    accesses: Option<Arc<[Access]>>,
    /// The number of steps before the stop.
    since: usize,
    /// The events that follow that of the pivot by conflicts.
    reached: Reach,
    /// Those that follow it by conflicts and by the order in which events start.
    ordered: Reach,
    /// A step that may be the root, and the property.
    roots: Vec<(u32, Property)>,
}

/// A point of the search.
#[derive(Clone, Debug)]
struct Node<S> {
    sim: Sim<S>,
    taint: Taint,
    pivot: Option<Pivot>,
    /// How many more invocations may stop.
    stops: u32,
    /// Handlers with an unfinished task, as bits.
    held: u64,
    /// Whether an invocation stopped or was skipped because it could not go on.
    forced: bool,
    /// Where to go on if the running task turns out to depend on an unfinished one.
    otherwise: Option<Box<Node<S>>>,
}

/// Where a task stands in an ordered mailbox.
enum Place {
    /// The mailbox has no order.
    Any,
    /// Behind the unfinished task.
    Behind,
    /// Before or behind it.
    Unknown,
}

struct Search<'a, 'c, A: AsyncSystem> {
    system: &'a mut A,
    options: &'a Options,
    control: &'a Control<'c>,
    checked: Checked,
    /// Pairs of places that were reported, of each event where that matters, with how often.
    known: BTreeMap<(Property, u32, String), usize>,
    /// Whether a run was dropped because the search for its order was cut.
    cut: bool,
    /// What was searched, in the work of short runs.
    work: u64,
}

impl<A: AsyncSystem> Search<'_, '_, A> {
    /// Goes through all nodes, depth-first, with at most this much work in all. Returns whether
    /// nothing was left.
    fn run(&mut self, stops: u32, most: u64) -> Result<bool, RunError> {
        let mut open = Vec::new();
        let beginnings = self.system.initial()?;
        for sim in Sim::all(&*self.system, beginnings).into_iter().rev() {
            open.push(Node {
                sim,
                taint: Taint::default(),
                pivot: None,
                stops,
                held: 0,
                forced: false,
                otherwise: None,
            });
        }
        while let Some(node) = open.pop() {
            if self.control.check().is_err() || self.work >= most {
                return Ok(false);
            }
            self.work += node.sim.work();
            if node.sim.steps.len() > RUN_STEPS {
                self.cut = true;
                continue;
            }
            match node.sim.next(&*self.system) {
                Next::Continue(invocation) => self.go_on(node, invocation, &mut open)?,
                Next::Begin(invocation) => self.begin(node, invocation, &mut open)?,
                Next::Over => self.next_event(node, &mut open)?,
            }
        }
        Ok(true)
    }

    /// Starts every event that may come next.
    fn next_event(
        &mut self,
        mut node: Node<A::State>,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        self.checked.runs += 1;
        self.try_pivot(&mut node)?;
        if is_mirror(&node.sim, node.forced, left_out(&node)) {
            return Ok(());
        }
        let at = open.len();
        for event in 0..self.system.events().len() as u32 {
            let happened = node.sim.events.iter().filter(|one| one.event == event).count() as u32;
            let info = &self.system.events()[event as usize];
            let most = if info.once { 1 } else { self.options.repeat };
            if happened >= most {
                continue;
            }
            let steps = self.system.start(&node.sim.state, event)?;
            for (alternative, step) in (0..).zip(&steps) {
                if step.failure.is_some() {
                    continue;
                }
                self.checked.steps += 1;
                let mut next = Node { otherwise: None, ..node.clone() };
                next.sim = next.sim.start(&*self.system, event, (alternative, step));
                if self.took(&mut next)? {
                    open.push(next);
                }
            }
        }
        open[at..].reverse();
        Ok(())
    }

    /// Lets an invocation begin, or skips it.
    fn begin(
        &mut self,
        node: Node<A::State>,
        invocation: u32,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        let lane = node.sim.invocations[invocation as usize].lane;
        let skip = |node: &Node<A::State>| {
            let mut skipped = node.clone();
            skipped.sim.skip(invocation);
            skipped
        };
        let mut node = node;
        if bit(lane) & node.held == 0 {
            if node.stops > 0 {
                let mut skipped = skip(&node);
                skipped.stops -= 1;
                open.push(skipped);
            }
            return self.steps(node, invocation, open);
        }
        let mut skipped = skip(&node);
        skipped.forced = true;
        // It ran before the unfinished task of its handler, if it can have come first and does not
        // depend on it.
        match self.place(&node.sim, invocation) {
            Place::Any => node.otherwise = Some(Box::new(skipped)),
            Place::Behind => {
                open.push(skipped);
                return Ok(());
            }
            // Both are searched, so there is nothing else to go on with.
            Place::Unknown => open.push(skipped),
        }
        self.steps(node, invocation, open)
    }

    /// Returns where a task stands in the mailbox of its handler, compared to the unfinished task.
    fn place(&self, sim: &Sim<A::State>, invocation: u32) -> Place {
        let lane = sim.invocations[invocation as usize].lane;
        let ordered =
            |handler: u32| self.system.handlers()[handler as usize].order == HandlerOrder::Fifo;
        if !matches!(lane, Lane::Handler(handler) if ordered(handler)) {
            return Place::Any;
        }
        let mut all = sim.invocations.iter().zip(&sim.status);
        let stopped = |(one, status): &(&Arc<Invocation>, &Status)| {
            one.lane == lane && **status == Status::Stopped
        };
        let Some(post) = all.find(stopped).and_then(|(one, _)| one.posted_by) else {
            return Place::Unknown;
        };
        let first = &sim.steps[post as usize];
        let mut child = invocation;
        while let Some(by) = sim.invocations[child as usize].posted_by {
            let step = &sim.steps[by as usize];
            if step.invocation == first.invocation && step.number >= first.number {
                return Place::Behind;
            }
            child = step.invocation;
        }
        Place::Unknown
    }

    /// Lets the running invocation go on, or stop.
    fn go_on(
        &mut self,
        node: Node<A::State>,
        invocation: u32,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        let lane = node.sim.invocations[invocation as usize].lane;
        if bit(lane) & node.held == 0 {
            if node.stops > 0 {
                let mut stopped = node.clone();
                stopped.stops -= 1;
                stop(&mut stopped, invocation);
                open.push(stopped);
            }
            if node.pivot.is_none() {
                self.stop_at_pivot(&node, invocation, open)?;
            }
        }
        self.steps(node, invocation, open)
    }

    /// Stops the running invocation before each access that it may make next.
    fn stop_at_pivot(
        &mut self,
        node: &Node<A::State>,
        invocation: u32,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        let id = node.sim.invocations[invocation as usize].id;
        let steps = self.system.advance(&node.sim.state, id)?;
        if let Some(step) = steps.first().filter(|step| !step.accesses.is_empty()) {
            open.push(pivot_at(node, invocation, Some(step.accesses.clone().into())));
        }
        Ok(())
    }

    /// Takes the next step of an invocation, in each alternative.
    fn steps(
        &mut self,
        node: Node<A::State>,
        invocation: u32,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        let lane = node.sim.invocations[invocation as usize].lane;
        let id = node.sim.invocations[invocation as usize].id;
        let steps = self.system.advance(&node.sim.state, id)?;
        let possible = |(_, step): &(u32, &InvocationStep<A::State>)| step.failure.is_none();
        let possible: Vec<(u32, &InvocationStep<A::State>)> =
            (0..).zip(&steps).filter(possible).collect();
        let at = open.len();
        let mut left = Some(node);
        for (nth, (alternative, step)) in possible.iter().enumerate() {
            self.checked.steps += 1;
            // The last alternative needs no copy.
            let last = nth + 1 == possible.len();
            let taken = if last { left.take() } else { left.clone() };
            let Some(mut next) = taken else { break };
            next.sim = next.sim.take(&*self.system, invocation, *alternative, step);
            if self.took(&mut next)? {
                open.push(next);
            } else if let Some(otherwise) = next.otherwise {
                open.push(*otherwise);
            }
        }
        open[at..].reverse();
        let Some(node) = left else { return Ok(()) };
        // It cannot go on in this state.
        let running = node.sim.current == Some(invocation);
        match node.otherwise {
            Some(otherwise) => open.push(*otherwise),
            None if running && bit(lane) & node.held == 0 => {
                // It may go on after other events, and its next access may then close a cycle.
                if node.pivot.is_none() {
                    let mut waits = pivot_at(&node, invocation, None);
                    waits.forced = true;
                    open.push(waits);
                }
                let mut stuck = node;
                stuck.forced = true;
                stop(&mut stuck, invocation);
                open.push(stuck);
            }
            None if running => {}
            None => {
                let mut skipped = node;
                skipped.forced = true;
                skipped.sim.skip(invocation);
                open.push(skipped);
            }
        }
        Ok(())
    }

    /// Looks at the step that a node has just taken. Returns false if it cannot stand there.
    fn took(&mut self, node: &mut Node<A::State>) -> Result<bool, RunError> {
        let Some(step) = node.sim.steps.last().cloned() else { return Ok(true) };
        let mask = node.taint.add(&step);
        let lane = node.sim.invocations[step.invocation as usize].lane;
        if mask & bit(lane) & node.held != 0 {
            return Ok(false);
        }
        self.find_roots(node)?;
        if step.ended {
            node.otherwise = None;
        }
        Ok(true)
    }

    /// Notes whether the last step may be the root, and tries it.
    fn find_roots(&mut self, node: &mut Node<A::State>) -> Result<(), RunError> {
        let at = node.sim.steps.len() as u32 - 1;
        let Some(pivot) = &mut node.pivot else { return Ok(()) };
        let own = node.sim.invocations[pivot.invocation as usize].event as usize;
        pivot.reached.extend(&node.sim, |_, _| false);
        let events = self.system.events();
        pivot.ordered.extend(&node.sim, |a, b| {
            let (a, b) = (node.sim.events[a].event, &events[node.sim.events[b].event as usize]);
            b.started.contains(&a) || b.after.contains(&a)
        });
        let mut news = at as usize..at as usize + 1;
        if pivot.accesses.is_none() {
            // It waited. What happened meanwhile counts once it can go on.
            let id = node.sim.invocations[pivot.invocation as usize].id;
            let steps = self.system.advance(&node.sim.state, id)?;
            let Some(step) = steps.first() else { return Ok(()) };
            pivot.accesses = Some(step.accesses.clone().into());
            news.start = pivot.since;
        }
        // Determinism is about an event that begins when nothing else runs.
        let before = node.sim.invocations.iter().zip(&node.sim.status);
        let mut before = before.take_while(|(one, _)| (one.event as usize) < own);
        let alone = before.all(|(_, status)| matches!(status, Status::Ended | Status::Cancelled));
        let known = pivot.roots.len();
        for at in news {
            let step = &node.sim.steps[at];
            let accesses = pivot.accesses.as_deref().unwrap_or_default();
            if !conflicts(&step.accesses, accesses) {
                continue;
            }
            let at = at as u32;
            if node.sim.invocations[step.invocation as usize].event as usize != own {
                // An event that is not reached yet may be later.
                pivot.roots.push((at, Property::StartOrder));
                pivot.roots.push((at, Property::Serializability));
            } else if alone {
                pivot.roots.push((at, Property::Determinism));
            }
        }
        if pivot.roots.len() > known { self.try_pivot(node) } else { Ok(()) }
    }

    /// Takes the step of the pivot after all that has happened, and reports the violations.
    fn try_pivot(&mut self, node: &mut Node<A::State>) -> Result<(), RunError> {
        let Some(pivot) = &node.pivot else { return Ok(()) };
        if pivot.roots.is_empty() {
            return Ok(());
        }
        let id = node.sim.invocations[pivot.invocation as usize].id;
        let steps = self.system.advance(&node.sim.state, id)?;
        for (alternative, step) in (0..).zip(&steps) {
            let mut sim = node.sim.clone();
            if let Some(running) = sim.current
                && sim.status[running as usize] == Status::Running
            {
                sim.leave(Status::Stopped);
            }
            let number = sim.steps.iter().filter(|s| s.invocation == pivot.invocation).count();
            let (accesses, ended) = (step.accesses.clone(), step.ended);
            let last = Step {
                invocation: pivot.invocation,
                number: number as u32,
                alternative,
                accesses,
                posted: Vec::new(),
                cancelled: Vec::new(),
                ended,
            };
            let is_root = |(at, property): &(u32, Property)| {
                let event = sim.invocations[sim.steps[*at as usize].invocation as usize].event;
                conflicts(&sim.steps[*at as usize].accesses, &last.accesses)
                    && match property {
                        // About one event, with nothing after it.
                        Property::Determinism => event as usize + 1 == sim.events.len(),
                        Property::Serializability => pivot.reached.has(event),
                        Property::StartOrder => pivot.ordered.has(event),
                    }
            };
            let mut roots: Vec<(u32, Property)> =
                pivot.roots.iter().rev().filter(|root| is_root(root)).copied().collect();
            roots.sort_by_key(|(_, property)| *property);
            roots.dedup_by_key(|(_, property)| *property);
            sim.steps.push(Arc::new(last));
            self.report(&sim, &roots);
        }
        Ok(())
    }

    /// Reports the violations that a run shows by the definitions.
    fn report(&mut self, sim: &Sim<A::State>, roots: &[(u32, Property)]) {
        let event = |step: &Step| sim.invocations[step.invocation as usize].event as usize;
        let pivot = sim.steps.last().map_or(INIT, |step| sim.events[event(step)].event);
        let known = |property: Property, root: u32| {
            let event = if property == Property::Determinism { pivot } else { INIT };
            (property, event, self.name(sim, root))
        };
        let new = |known: &BTreeMap<_, usize>, key: &_| known.get(key).is_none_or(|n| *n < RUNS);
        let all: Vec<_> = roots.iter().map(|(at, property)| known(*property, *at)).collect();
        if !all.iter().any(|key| new(&self.known, key)) {
            return;
        }
        let linear = match linearize(&*self.system, sim, self.control) {
            Linear::Order(order) => order,
            Linear::None => return,
            Linear::Cut => {
                self.cut = true;
                return;
            }
        };
        let history = history_of(&*self.system, sim, &linear);
        let breaches = history.breaches(&*self.system);
        for ((at, property), key) in roots.iter().zip(all) {
            let Some(root) = linear.iter().position(|step| step == at) else { continue };
            let is_it = |one: &&Breach| {
                one.property == *property && one.root == Some(root) && one.pivot + 1 == linear.len()
            };
            if !new(&self.known, &key) || !breaches.iter().any(|one| is_it(&one)) {
                continue;
            }
            let places = key.2.clone();
            let run = run_steps(&*self.system, sim, &linear);
            if self
                .checked
                .violations
                .iter()
                .any(|one| (one.property, &one.places, &one.run) == (*property, &places, &run))
            {
                continue;
            }
            *self.known.entry(key).or_insert(0) += 1;
            let root = root + run.len() - linear.len();
            let (property, event, pivot, by_init) = (*property, pivot, run.len() - 1, None);
            self.checked.violations.push(Violation {
                property,
                event,
                places,
                run,
                root,
                pivot,
                by_init,
            });
        }
    }

    /// Names a violation by the places of its pivot and its root.
    fn name(&self, sim: &Sim<A::State>, root: u32) -> String {
        let place = |at: usize| {
            let step = &sim.steps[at];
            (&*sim.invocations[step.invocation as usize].task, &*step.accesses)
        };
        places(place(sim.steps.len() - 1), place(root as usize))
    }
}

/// Stops the running invocation before the access that may become the last one.
fn pivot_at<S: Clone>(node: &Node<S>, invocation: u32, accesses: Option<Arc<[Access]>>) -> Node<S> {
    let reached = Reach::new(node.sim.invocations[invocation as usize].event);
    let (ordered, roots, since) = (reached.clone(), Vec::new(), node.sim.steps.len());
    let mut stopped = node.clone();
    stop(&mut stopped, invocation);
    stopped.pivot = Some(Pivot { invocation, accesses, since, reached, ordered, roots });
    stopped
}

/// Stops the running invocation.
fn stop<S: Clone>(node: &mut Node<S>, invocation: u32) {
    let record = node.sim.invocations[invocation as usize].clone();
    let steps = node.sim.steps.iter().filter(|step| step.invocation == invocation);
    node.taint.stop(&record, steps.map(|step| &**step));
    node.held |= bit(record.lane);
    node.sim.leave(Status::Stopped);
}

/// The event of the pivot, and the accesses of the step left out.
fn left_out<S>(node: &Node<S>) -> Option<(usize, &[Access])> {
    let pivot = node.pivot.as_ref()?;
    let event = node.sim.invocations[pivot.invocation as usize].event as usize;
    Some((event, pivot.accesses.as_deref().unwrap_or_default()))
}
