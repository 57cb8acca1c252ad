//! The state transition graph: the paper's R, with the data of each state.

use super::accesses::Accesses;
use anyorder_search::Property;
use anyorder_system::{Hash128, TaskKey};
use rustc_hash::{FxHashMap, FxHashSet};

/// The observer of invariant 0; that of invariant `i` is `OBSERVER - i`. All other events have much
/// smaller numbers.
pub(crate) const OBSERVER: u32 = u32::MAX;

/// Events that are tasks have smaller numbers.
pub(crate) const TASKS_MAX: u32 = 1 << 31;

/// The status of an event in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// Not in the backtrack set.
    Out,
    /// In the backtrack set, not done.
    Planned,
    /// In both sets.
    Done,
}

/// An event that is enabled in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enabled {
    pub(crate) event: u32,
    pub(crate) mark: Mark,
    /// The event is not ready: it counts as enabled everywhere because it awaits several places,
    /// and is blocked here.
    pub(crate) idle: bool,
    /// Its transitions, once it is done.
    pub(crate) edges: (u32, u32),
}

/// The kind of a transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A step.
    Step,
    /// An attempt that fails.
    Fails,
    /// A blocked attempt.
    Blocked,
    /// A check of an invariant.
    Observed,
}

/// A transition. All kinds but steps lead back to their source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) event: u32,
    pub(crate) alternative: u32,
    pub(crate) accesses: Accesses,
    pub(crate) kind: Kind,
}

/// A state.
pub(crate) struct Node<T> {
    pub(crate) fingerprint: Hash128,
    /// Dropped once all events are done.
    pub(crate) state: Option<T>,
    /// In the order of event numbers.
    pub(crate) enabled: Box<[Enabled]>,
    /// The places that each invariant watches, and whether its observer is in the backtrack set.
    pub(crate) watched: Box<[(Accesses, bool)]>,
    /// The number of events that are planned.
    pub(crate) planned: u32,
    /// If nothing can happen here: the violation, if there is one.
    pub(crate) end: Option<Option<Property>>,
    /// In the paper's H.
    pub(crate) in_history: bool,
    /// Waits to be expanded by EXPLOREALL.
    pub(crate) queued: bool,
    /// The event to execute again next.
    pub(crate) turn: u32,
    /// The transitions that lead here.
    pub(crate) incoming: Vec<u32>,
    /// The transitions from here.
    pub(crate) outgoing: Vec<u32>,
    /// The summary: each (event, accesses) that a backward search carried here.
    pub(crate) carried: FxHashSet<(u32, Accesses)>,
}

impl<T> Node<T> {
    /// Returns the index of an event among the enabled ones.
    pub(crate) fn place_of(&self, event: u32) -> Option<usize> {
        self.enabled.binary_search_by_key(&event, |one| one.event).ok()
    }

    /// Returns the numbers of the enabled events.
    pub(crate) fn events(&self) -> Vec<u32> {
        self.enabled.iter().map(|one| one.event).collect()
    }
}

/// The graph, and the numbers of events and states.
pub(crate) struct StateGraph<T> {
    pub(crate) nodes: Vec<Node<T>>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) numbers: FxHashMap<Hash128, u32>,
    pub(crate) tasks: Vec<TaskKey>,
    pub(crate) events: FxHashMap<TaskKey, u32>,
}

impl<T> StateGraph<T> {
    pub(crate) fn new() -> StateGraph<T> {
        StateGraph {
            nodes: Vec::new(),
            transitions: Vec::new(),
            numbers: FxHashMap::default(),
            tasks: Vec::new(),
            events: FxHashMap::default(),
        }
    }

    /// Returns the number of a task.
    pub(crate) fn event(&mut self, task: TaskKey) -> u32 {
        let next = self.tasks.len() as u32;
        let number = *self.events.entry(task).or_insert(next);
        if number == next {
            assert!(next < TASKS_MAX, "2^31 tasks");
            self.tasks.push(task);
        }
        number
    }

    pub(crate) fn node(&self, state: u32) -> &Node<T> {
        &self.nodes[state as usize]
    }

    pub(crate) fn node_mut(&mut self, state: u32) -> &mut Node<T> {
        &mut self.nodes[state as usize]
    }

    pub(crate) fn transition(&self, number: u32) -> Transition {
        self.transitions[number as usize]
    }

    /// Adds a transition.
    pub(crate) fn add(&mut self, transition: Transition) -> u32 {
        let number = self.transitions.len() as u32;
        self.node_mut(transition.dst).incoming.push(number);
        self.node_mut(transition.src).outgoing.push(number);
        self.transitions.push(transition);
        number
    }
}
