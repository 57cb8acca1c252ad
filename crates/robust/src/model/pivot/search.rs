//! The moves of the search: an event starts, an invocation begins, goes on or stops.

use super::Checked;
use super::node::Node;
use super::report::ViolationKey;
use crate::model::ids::InvocationNumber;
use crate::model::mirror::is_mirror;
use crate::model::options::Options;
use crate::model::sim::{Invocation, Next, Sim, Status};
use anyorder_system::{AsyncSystem, Control, HandlerOrder, InvocationStep, Lane, RunError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most steps of a simulated run. Events need not end.
const RUN_STEPS: usize = 10_000;

/// Where a task stands in an ordered mailbox.
enum Place {
    /// The mailbox has no order.
    Any,
    /// Behind the unfinished task.
    Behind,
    /// Before or behind it.
    Unknown,
}

/// A search, with all that it has found.
pub(super) struct Search<'a, 'c, A: AsyncSystem> {
    pub(super) system: &'a mut A,
    pub(super) options: &'a Options,
    pub(super) control: &'a Control<'c>,
    pub(super) checked: Checked,
    /// What was reported, with how often.
    pub(super) reported: BTreeMap<ViolationKey, usize>,
    /// Whether a run was dropped because the search for its order was cut.
    pub(super) was_cut: bool,
    /// What was searched, in the work of short runs.
    pub(super) work: u64,
}

impl<'a, 'c, A: AsyncSystem> Search<'a, 'c, A> {
    pub(super) fn new(
        system: &'a mut A,
        options: &'a Options,
        control: &'a Control<'c>,
    ) -> Search<'a, 'c, A> {
        Search {
            system,
            options,
            control,
            checked: Checked::default(),
            reported: BTreeMap::new(),
            was_cut: false,
            work: 0,
        }
    }

    /// Goes through all nodes, depth-first, until there was this much work in all. Returns whether
    /// nothing was left.
    pub(super) fn run(&mut self, stops: u32, work_max: u64) -> Result<bool, RunError> {
        let mut open = Vec::new();
        let beginnings = self.system.initial()?;
        for sim in Sim::all(&*self.system, beginnings).into_iter().rev() {
            open.push(Node::new(sim, stops));
        }
        while let Some(node) = open.pop() {
            if self.control.check().is_err() || self.work >= work_max {
                return Ok(false);
            }
            self.work += node.sim.work();
            if node.sim.steps.len() > RUN_STEPS {
                self.was_cut = true;
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
        if is_mirror(&node.sim, node.forced, node.left_out()) {
            return Ok(());
        }
        let first_new = open.len();
        for event in 0..self.system.events().len() as u32 {
            let occurrences = node.sim.events.iter().filter(|other| other.event == event);
            let info = &self.system.events()[event as usize];
            let most = if info.once { 1 } else { self.options.repeat };
            if occurrences.count() as u32 >= most {
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
        open[first_new..].reverse();
        Ok(())
    }

    /// Lets an invocation begin, or skips it.
    fn begin(
        &mut self,
        mut node: Node<A::State>,
        invocation: InvocationNumber,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        if !node.is_held(invocation) {
            if node.stops > 0 {
                let mut skipped = node.without(invocation);
                skipped.stops -= 1;
                open.push(skipped);
            }
            return self.steps(node, invocation, open);
        }
        let mut skipped = node.without(invocation);
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
    fn place(&self, sim: &Sim<A::State>, invocation: InvocationNumber) -> Place {
        let lane = sim.invocation(invocation).lane;
        let ordered =
            |handler: u32| self.system.handlers()[handler as usize].order == HandlerOrder::Fifo;
        if !matches!(lane, Lane::Handler(handler) if ordered(handler)) {
            return Place::Any;
        }
        let is_unfinished = |(invocation, status): &(&Arc<Invocation>, &Status)| {
            invocation.lane == lane && **status == Status::Stopped
        };
        let unfinished = sim.invocations.iter().zip(&sim.status).find(is_unfinished);
        let Some(post) = unfinished.and_then(|(invocation, _)| invocation.posted_by) else {
            return Place::Unknown;
        };
        let post = sim.step(post);
        let mut child = invocation;
        while let Some(posted_by) = sim.invocation(child).posted_by {
            let step = sim.step(posted_by);
            if step.invocation == post.invocation && step.number >= post.number {
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
        invocation: InvocationNumber,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        if !node.is_held(invocation) {
            if node.stops > 0 {
                let mut stopped = node.clone();
                stopped.stops -= 1;
                stopped.stop(invocation);
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
        invocation: InvocationNumber,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        let id = node.sim.invocation(invocation).id;
        let steps = self.system.advance(&node.sim.state, id)?;
        if let Some(step) = steps.first().filter(|step| !step.accesses.is_empty()) {
            open.push(node.with_pivot(invocation, Some(step.accesses.clone().into())));
        }
        Ok(())
    }

    /// Takes the next step of an invocation, in each alternative.
    fn steps(
        &mut self,
        node: Node<A::State>,
        invocation: InvocationNumber,
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        let id = node.sim.invocation(invocation).id;
        let steps = self.system.advance(&node.sim.state, id)?;
        let possible: Vec<(u32, &InvocationStep<A::State>)> =
            (0..).zip(&steps).filter(|(_, step)| step.failure.is_none()).collect();
        let Some(((alternative, step), others)) = possible.split_last() else {
            Self::cannot_go_on(node, invocation, open);
            return Ok(());
        };
        let first_new = open.len();
        for (alternative, step) in others {
            self.take(node.clone(), invocation, (*alternative, step), open)?;
        }
        // The last alternative needs no copy.
        self.take(node, invocation, (*alternative, step), open)?;
        open[first_new..].reverse();
        Ok(())
    }

    /// Takes one alternative of a step, or goes on otherwise if the step cannot stand there.
    fn take(
        &mut self,
        mut node: Node<A::State>,
        invocation: InvocationNumber,
        (alternative, step): (u32, &InvocationStep<A::State>),
        open: &mut Vec<Node<A::State>>,
    ) -> Result<(), RunError> {
        self.checked.steps += 1;
        node.sim = node.sim.take(&*self.system, invocation, alternative, step);
        if self.took(&mut node)? {
            open.push(node);
        } else if let Some(otherwise) = node.otherwise {
            open.push(*otherwise);
        }
        Ok(())
    }

    /// Goes on without an invocation that has no step in this state.
    fn cannot_go_on(
        mut node: Node<A::State>,
        invocation: InvocationNumber,
        open: &mut Vec<Node<A::State>>,
    ) {
        if let Some(otherwise) = node.otherwise {
            open.push(*otherwise);
        } else if node.sim.current != Some(invocation) {
            node.forced = true;
            node.sim.skip(invocation);
            open.push(node);
        } else if !node.is_held(invocation) {
            // It may go on after other events, and its next access may then close a cycle.
            if node.pivot.is_none() {
                let mut waits = node.with_pivot(invocation, None);
                waits.forced = true;
                open.push(waits);
            }
            node.forced = true;
            node.stop(invocation);
            open.push(node);
        }
    }
}
