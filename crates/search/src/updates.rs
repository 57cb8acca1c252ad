//! Update conflicts: two components have updated one attribute, one right after the other.
//!
//! **Problem.** Given the graph of all states, with the updates of each transition in order, which pairs of components have an [update
//! conflict](anyorder_system::Update) on which attribute, and how is it reached?
//!
//! **Method.** The definition as it stands, for one attribute at a time: a breadth-first search over pairs of a state and the component that updated the
//! attribute last. The first way found to a conflict is a shortest one.
//!
//! **Cost.** For each attribute that two components update: linear in transitions, times the components that update it.

use crate::graph::Graph;
use anyorder_system::{Place, Update, tidy_updates};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The lists of updates of a search, each once, tidy. The first is empty.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    lists: Vec<Box<[Update]>>,
    known: BTreeMap<Box<[Update]>, u32>,
}

impl Default for Lists {
    fn default() -> Lists {
        let none: Box<[Update]> = Box::default();
        Lists { lists: vec![none.clone()], known: BTreeMap::from([(none, 0)]) }
    }
}

impl Lists {
    /// Returns the number of a list.
    pub(crate) fn intern(&mut self, list: &[Update]) -> u32 {
        if list.is_empty() {
            return 0;
        }
        let mut tidy = list.to_vec();
        tidy_updates(&mut tidy);
        if let Some(known) = self.known.get(&tidy[..]) {
            return *known;
        }
        let number = self.lists.len() as u32;
        self.lists.push(tidy.clone().into());
        self.known.insert(tidy.into(), number);
        number
    }
}

/// An attribute, two components, the lower first, and the number of the initial state and the place of each transition on the way.
pub(crate) type Found = (Place, (u32, u32), Vec<u32>);

/// Returns all update conflicts of a graph with a shortest way to each, by attribute and components.
pub(crate) fn conflicts(graph: &Graph, lists: &Lists) -> Vec<Found> {
    let mut writers: BTreeMap<Place, BTreeSet<u32>> = BTreeMap::new();
    for Update { place, by } in lists.lists.iter().flatten() {
        writers.entry(*place).or_default().extend(*by);
    }
    let several = writers.into_iter().filter(|(_, components)| components.len() > 1);
    several.flat_map(|(place, components)| of_attribute(graph, lists, place, &components)).collect()
}

/// A state with who updated the attribute last (0: nobody), and how it was reached.
struct Seen {
    state: u32,
    writer: u32,
    before: u32,
    place: u32,
}

const NONE: u32 = u32::MAX;

fn of_attribute(
    graph: &Graph,
    lists: &Lists,
    place: Place,
    components: &BTreeSet<u32>,
) -> Vec<Found> {
    // Components as numbers from 1.
    let components: Vec<u32> = components.iter().copied().collect();
    let number = |by: Option<u32>| {
        let found = by.and_then(|by| components.binary_search(&by).ok());
        found.map_or(0, |at| at as u32 + 1)
    };
    let of_list = |list: &[Update]| -> Vec<u32> {
        list.iter().filter(|one| one.place == place).map(|one| number(one.by)).collect()
    };
    let writes: Vec<Vec<u32>> = lists.lists.iter().map(|list| of_list(list)).collect();
    let width = components.len() + 1;
    let mut known = vec![false; graph.len() * width];
    let mut found: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let (mut seen, mut queue): (Vec<Seen>, VecDeque<u32>) = (Vec::new(), VecDeque::new());
    let mut meet = |seen: &mut Vec<Seen>, queue: &mut VecDeque<u32>, one: Seen| {
        if !std::mem::replace(&mut known[one.state as usize * width + one.writer as usize], true) {
            queue.push_back(seen.len() as u32);
            seen.push(one);
        }
    };
    for state in 0..graph.initial() {
        meet(&mut seen, &mut queue, Seen { state, writer: 0, before: NONE, place: state });
    }
    while let Some(index) = queue.pop_front() {
        let Seen { state, writer, .. } = seen[index as usize];
        let labels = graph.updates(state);
        for (at, target) in graph.successors(state).enumerate() {
            let mut last = writer;
            for next in &writes[labels.get(at).map_or(0, |list| *list as usize)] {
                if last != 0 && *next != 0 && last != *next {
                    let name = |number: u32| components[number as usize - 1];
                    let pair = (name(last.min(*next)), name(last.max(*next)));
                    found.entry(pair).or_insert_with(|| way(&seen, index, at as u32));
                }
                last = *next;
            }
            if let Some(state) = target {
                let one = Seen { state, writer: last, before: index, place: at as u32 };
                meet(&mut seen, &mut queue, one);
            }
        }
    }
    found.into_iter().map(|(pair, choices)| (place, pair, choices)).collect()
}

/// The choices up to a state, and one more.
fn way(seen: &[Seen], mut index: u32, last: u32) -> Vec<u32> {
    let mut choices = vec![last];
    while index != NONE {
        let here = &seen[index as usize];
        choices.push(here.place);
        index = here.before;
    }
    choices.reverse();
    choices
}
