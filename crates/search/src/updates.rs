//! Update conflicts: two components have updated one attribute, one right after the other.
//!
//! **Problem.** Given the graph of all states, with the updates of each transition in order: which
//! pairs of components have an [update conflict](anyorder_system::Update) on which attribute, and
//! by which path?
//!
//! **Method.** Directly by the definition, for one attribute at a time: a breadth-first search over
//! pairs of a state and the component that updated the attribute last. The first path found to a
//! conflict is a shortest one.
//!
//! **Cost.** For each attribute that two components update: linear in transitions, times the
//! components that update it. It polls the job inside the search.

use crate::graph::Graph;
use anyorder_system::{JobWatch, Place, Update, tidy_updates};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The lists of updates of transitions, each stored once, in the form of [`tidy_updates`]. The
/// first is empty.
#[derive(Clone, Debug)]
pub struct UpdateLists {
    lists: Vec<Box<[Update]>>,
    known: FxHashMap<Box<[Update]>, u32>,
    tidied: Vec<Update>,
}

impl Default for UpdateLists {
    fn default() -> UpdateLists {
        let none: Box<[Update]> = Box::default();
        let known = FxHashMap::from_iter([(none.clone(), 0)]);
        UpdateLists { lists: vec![none], known, tidied: Vec::new() }
    }
}

impl UpdateLists {
    /// Returns the number of a list.
    pub fn intern(&mut self, list: &[Update]) -> u32 {
        if list.is_empty() {
            return 0;
        }
        self.tidied.clear();
        self.tidied.extend_from_slice(list);
        tidy_updates(&mut self.tidied);
        if let Some(known) = self.known.get(&self.tidied[..]) {
            return *known;
        }
        let number = self.lists.len() as u32;
        self.lists.push(self.tidied[..].into());
        self.known.insert(self.tidied[..].into(), number);
        number
    }

    /// Returns all lists, by number.
    #[must_use]
    pub fn all(&self) -> &[Box<[Update]>] {
        &self.lists
    }

    /// Returns for each list the components that update an attribute, in order.
    #[must_use]
    pub fn writers(&self, place: Place) -> Vec<Vec<Writer>> {
        let of = |list: &[Update]| {
            list.iter().filter(|update| update.place == place).map(|update| update.by).collect()
        };
        self.lists.iter().map(|list| of(list)).collect()
    }
}

/// The component that updated an attribute last. `None`: no update yet, or an update for no
/// component.
pub type Writer = Option<u32>;

/// The attributes that at least two components update, with these components.
pub fn contested<'l>(
    lists: impl IntoIterator<Item = &'l [Update]>,
) -> impl Iterator<Item = (Place, BTreeSet<u32>)> {
    let mut writers: BTreeMap<Place, BTreeSet<u32>> = BTreeMap::new();
    for Update { place, by } in lists.into_iter().flatten() {
        writers.entry(*place).or_default().extend(*by);
    }
    writers.into_iter().filter(|(_, components)| components.len() > 1)
}

/// How much of a graph is searched for conflicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All of it. Ends once the job of this thread is stopped.
    Whole,
    /// So many transitions, those near the initial states first. A job that is stopped may do so.
    Visits(usize),
}

impl Extent {
    /// Returns what may be searched after a stop for each of some attributes: all of them take a
    /// fraction of a second.
    #[must_use]
    pub fn after_stop(attributes: usize) -> Extent {
        Extent::Visits((1 << 21) / attributes.max(1))
    }
}

/// The last writers with which each state was visited.
enum Visited {
    /// By the number of the state.
    All(Vec<Vec<Writer>>),
    /// Of a few states.
    Few(FxHashSet<(u32, Writer)>),
}

impl Visited {
    /// Adds a visit. Returns whether it is the first one.
    fn insert(&mut self, state: u32, writer: Writer) -> bool {
        match self {
            Visited::Few(all) => all.insert((state, writer)),
            Visited::All(all) => {
                let known = &mut all[state as usize];
                let is_new = !known.contains(&writer);
                if is_new {
                    known.push(writer);
                }
                is_new
            }
        }
    }
}

/// Two components, the lower first.
#[must_use]
pub fn pair(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// A transition of a graph: its number, its target (`None` if it fails), and its list of updates.
pub type Transition = (u32, Option<u32>, u32);

/// The initial state of a path, and its transitions: the previous state and the number of each.
pub type NumberedPath = (u32, Vec<(u32, u32)>);

/// A state with the component that updated the attribute last, and the step that reached it.
struct Seen {
    state: u32,
    writer: Writer,
    before: u32,
    transition: u32,
}

const NONE: u32 = u32::MAX;

/// So many states are taken between two polls.
const POLLED: u32 = 1 << 12;

/// Finds the pairs of components that have a conflict on one attribute, each with a shortest path
/// to it, given for each list of updates the [`writers`](UpdateLists::writers) of the attribute.
/// Ends once `enough` returns true for the pairs found.
pub fn conflicts_of<I: Iterator<Item = Transition>>(
    (states, initial, extent): (usize, impl IntoIterator<Item = u32>, Extent),
    mut transitions: impl FnMut(u32) -> I,
    writers: &[Vec<Writer>],
    enough: impl Fn(&BTreeMap<(u32, u32), NumberedPath>) -> bool,
) -> BTreeMap<(u32, u32), NumberedPath> {
    let (mut visited, mut left) = match extent {
        Extent::Whole => (Visited::All(vec![Vec::new(); states]), usize::MAX),
        Extent::Visits(visits) => (Visited::Few(FxHashSet::default()), visits),
    };
    let mut found = BTreeMap::new();
    let (mut seen, mut queue): (Vec<Seen>, VecDeque<u32>) = (Vec::new(), VecDeque::new());
    let mut meet = |seen: &mut Vec<Seen>, queue: &mut VecDeque<u32>, one: Seen| {
        if visited.insert(one.state, one.writer) {
            queue.push_back(seen.len() as u32);
            seen.push(one);
        }
    };
    for state in initial {
        let one = Seen { state, writer: None, before: NONE, transition: NONE };
        meet(&mut seen, &mut queue, one);
    }
    let watch = JobWatch::current();
    while let Some(index) = queue.pop_front() {
        let is_due = extent == Extent::Whole && index % POLLED == 0;
        if left == 0 || (is_due && watch.check().is_err()) {
            return found;
        }
        let Seen { state, writer, .. } = seen[index as usize];
        for (transition, target, list) in transitions(state) {
            left = left.saturating_sub(1);
            let mut last = writer;
            for next in &writers[list as usize] {
                if let (Some(a), Some(b)) = (last, *next)
                    && a != b
                    && !found.contains_key(&pair(a, b))
                {
                    found.insert(pair(a, b), path(&seen, index, transition));
                    if enough(&found) {
                        return found;
                    }
                }
                last = *next;
            }
            if let Some(state) = target {
                let one = Seen { state, writer: last, before: index, transition };
                meet(&mut seen, &mut queue, one);
            }
        }
    }
    found
}

/// The path to a state, plus one transition.
fn path(seen: &[Seen], mut index: u32, last: u32) -> NumberedPath {
    let mut path = vec![(seen[index as usize].state, last)];
    loop {
        let here = &seen[index as usize];
        if here.before == NONE {
            path.reverse();
            return (here.state, path);
        }
        index = here.before;
        path.push((seen[index as usize].state, here.transition));
    }
}

/// By attribute and two components (the lower first), a path: the number of the initial state and
/// the position of each transition.
pub(crate) type Conflicts = BTreeMap<(Place, (u32, u32)), Vec<u32>>;

/// Returns the update conflicts of a graph with a shortest path to each, by attribute and
/// components.
pub(crate) fn conflicts(graph: &Graph, lists: &UpdateLists, is_stopped: bool) -> Conflicts {
    let transitions = |state: u32| {
        let labels = graph.updates(state);
        let numbered = graph.successors(state).zip(0u32..);
        numbered
            .map(move |(target, at)| (at, target, labels.get(at as usize).copied().unwrap_or(0)))
    };
    let mut all = Conflicts::new();
    let attributes: Vec<Place> =
        contested(lists.all().iter().map(|list| &**list)).map(|(place, _)| place).collect();
    let after_stop = Extent::after_stop(attributes.len());
    let extent = if is_stopped { after_stop } else { Extent::Whole };
    for place in attributes {
        let states = (graph.len(), 0..graph.initial(), extent);
        let found = conflicts_of(states, transitions, &lists.writers(place), |_| false);
        all.extend(found.into_iter().map(|(pair, (start, path))| {
            let places = path.into_iter().map(|(_, place)| place);
            ((place, pair), std::iter::once(start).chain(places).collect())
        }));
    }
    all
}
