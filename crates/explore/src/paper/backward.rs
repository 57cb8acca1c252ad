//! Algorithms 3 and 5: the search backwards that fills backtrack sets.

use super::accesses::{Accesses, NONE};
use super::engine::Engine;
use super::graph::{Kind, Mark, OBSERVER, TASKS_MAX, Transition};
use super::outcome::Cause;
use anyorder_search::Limit;
use anyorder_system::Reducible;

/// The data of a backward search at a state: the event that leads to the conflicting transition,
/// and its accesses.
type CarriedAccesses = (u32, u32, Accesses);

/// One open call of UPDATEBACKTRACKSETDFS.
struct Open {
    state: u32,
    event: u32,
    accesses: Accesses,
    /// The next of the state's incoming transitions.
    next: usize,
    /// The transition that the call arrived by.
    came_by: Option<u32>,
}

impl<S: Reducible> Engine<'_, S> {
    /// Adds a new transition. With summaries, runs Algorithm 5 for it and Algorithm 3 at once,
    /// since the summary of the state after it is carried over it.
    pub(crate) fn take_in(&mut self, transition: Transition) -> u32 {
        let number = self.graph.add(transition);
        if self.options.summaries {
            let mut carried: Vec<_> =
                self.graph.node(transition.dst).carried.iter().copied().collect();
            carried.sort_unstable();
            for (event, accesses) in carried {
                self.cross(number, event, accesses);
            }
            self.carry(transition.src, transition.event, transition.accesses);
            self.drain();
        }
        number
    }

    /// Adds an entry to the summary of a state.
    pub(crate) fn carry(&mut self, state: u32, event: u32, accesses: Accesses) {
        if accesses != NONE && self.graph.node_mut(state).carried.insert((event, accesses)) {
            self.work.push((state, event, accesses));
            self.carried += 1;
        }
    }

    /// Carries all pending entries back as far as they go, including those of new observers.
    pub(crate) fn drain(&mut self) {
        if self.draining {
            return;
        }
        self.draining = true;
        loop {
            while let Some((state, event, accesses)) = self.work.pop() {
                if self.limit.is_some() {
                    self.work.clear();
                    break;
                }
                let count = self.graph.node(state).incoming.len();
                for index in 0..count {
                    let number = self.graph.node(state).incoming[index];
                    self.cross(number, event, accesses);
                }
            }
            let Some(observed) = self.observed.pop() else { break };
            self.take_in(observed);
        }
        self.draining = false;
    }

    /// Carries an entry back over one transition. [Algorithm 5, lines 6-17]
    fn cross(&mut self, number: u32, event: u32, accesses: Accesses) {
        self.counts.backward_steps += 1;
        if self.counts.backward_steps.is_multiple_of(4096) {
            self.is_cut();
        }
        let (src, event, left) = self.step_back(number, event, accesses);
        self.carry(src, event, left);
    }

    fn step_back(&mut self, number: u32, event: u32, accesses: Accesses) -> CarriedAccesses {
        let over = self.graph.transition(number);
        let (left, conflict) = self.accesses.pass(accesses, over.accesses);
        if !conflict {
            return (over.src, event, left);
        }
        if self.options.keep_trail {
            self.note_conflict(over, event, accesses);
        }
        if event >= TASKS_MAX || self.graph.node(over.src).place_of(event).is_some() {
            self.plan(over.src, event); // [Algorithm 5, line 10]
        } else {
            for event in self.graph.node(over.src).events() {
                self.plan(over.src, event); // [Algorithm 5, line 12]
            }
        }
        (over.src, over.event, left)
    }

    fn note_conflict(&mut self, over: Transition, event: u32, accesses: Accesses) {
        let Some(with) = self.graph.tasks.get(over.event as usize).copied() else { return };
        let node = self.graph.node(over.src);
        if event < TASKS_MAX && node.place_of(event).is_none() {
            for event in node.events() {
                self.note(over.src, event, Cause::All { with });
            }
            return;
        }
        for place in self.accesses.conflicts(accesses, over.accesses) {
            self.note(over.src, event, Cause::Conflict { with, place });
        }
    }

    /// Puts an event into a backtrack set.
    pub(crate) fn plan(&mut self, state: u32, event: u32) {
        let node = self.graph.node_mut(state);
        if event >= TASKS_MAX {
            let (accesses, there) = &mut node.watched[(OBSERVER - event) as usize];
            if !std::mem::replace(there, true) {
                let accesses = *accesses;
                let kind = Kind::Observed;
                let (src, dst, alternative) = (state, state, 0);
                self.observed.push(Transition { src, dst, event, alternative, accesses, kind });
            }
            return;
        }
        let place = node.place_of(event).expect("only enabled events are planned");
        if node.enabled[place].mark == Mark::Out {
            node.enabled[place].mark = Mark::Planned;
            node.planned += 1;
            self.counts.backtracking_points += 1;
            if !std::mem::replace(&mut node.queued, true) {
                self.open.push(state);
            }
        }
    }

    /// UPDATEBACKTRACKSET as printed: along every simple path. [Algorithm 5]
    pub(crate) fn search_back(
        &mut self,
        state: u32,
        event: u32,
        accesses: Accesses,
        from: Option<u32>,
    ) {
        let mut on_path = vec![false; self.graph.transitions.len()];
        if let Some(from) = from {
            on_path[from as usize] = true;
        }
        let mut calls = vec![Open { state, event, accesses, next: 0, came_by: None }];
        while let Some(call) = calls.last_mut() {
            let incoming = &self.graph.node(call.state).incoming;
            let Some(number) = incoming.get(call.next).copied() else {
                if let Some(number) = call.came_by {
                    on_path[number as usize] = false;
                }
                calls.pop();
                continue;
            };
            call.next += 1;
            if on_path[number as usize] || call.accesses == NONE {
                continue;
            }
            let (event, accesses) = (call.event, call.accesses);
            self.counts.backward_steps += 1;
            if self.counts.backward_steps.is_multiple_of(4096) && self.is_cut() {
                return;
            }
            let (state, event, accesses) = self.step_back(number, event, accesses);
            on_path[number as usize] = true;
            calls.push(Open { state, event, accesses, next: 0, came_by: Some(number) });
        }
    }

    /// UPDATEBACKTRACKSETSFROMGRAPH as printed, for the transitions that follow a state. [Algorithm
    /// 3]
    pub(crate) fn search_back_from_graph(&mut self, state: u32) {
        let mut reached = vec![false; self.graph.nodes.len()];
        let mut queue = vec![state];
        reached[state as usize] = true;
        while let Some(state) = queue.pop() {
            self.search_back_from_observers(state);
            for number in self.graph.node(state).outgoing.clone() {
                let next = self.graph.transition(number);
                self.search_back(state, next.event, next.accesses, Some(number));
                if !std::mem::replace(&mut reached[next.dst as usize], true) {
                    queue.push(next.dst);
                }
            }
            if self.limit.is_some() {
                return;
            }
        }
    }

    /// Searches back from the places that invariants watch in a state.
    pub(crate) fn search_back_from_observers(&mut self, state: u32) {
        for invariant in 0..self.graph.node(state).watched.len() {
            let accesses = self.graph.node(state).watched[invariant].0;
            let event = OBSERVER - invariant as u32;
            if self.options.summaries {
                self.carry(state, event, accesses);
            } else {
                self.search_back(state, event, accesses, None);
            }
        }
        if self.options.summaries {
            self.drain();
        }
    }

    /// Without summaries: searches back from the accesses of new observers, until none is left.
    pub(crate) fn settle_observers(&mut self) {
        while let Some(observed) = self.observed.pop() {
            self.graph.add(observed);
            self.search_back_from_graph(observed.src);
            if self.limit.is_some() {
                return;
            }
        }
    }

    /// Returns whether the search must end, and records the limit.
    pub(crate) fn is_cut(&mut self) -> bool {
        if self.limit.is_none() {
            let steps = self.counts.backward_steps;
            if self.options.backward_max.is_some_and(|most| steps > most) {
                self.limit = Some(Limit::Transitions);
            } else if let Err(stopped) = self.control.step(self.stats.executions, None) {
                self.limit = Some(stopped.0.into());
            } else if let Err(stopped) = self.control.check_memory(self.bytes(), 0) {
                self.limit = Some(stopped.0.into());
            }
        }
        self.limit.is_some()
    }
}
