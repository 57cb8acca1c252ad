//! Representatives of orbits: of the states that permutations of instances make of one state.
//!
//! **Problem.** Find the same state of an orbit from each of its states. **Source.** C. N. Ip and
//! D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9, 1996, for
//! the orbits. The search refines colours and tries the remaining orders, a simple form of B. D.
//! McKay, "Practical graph isomorphism", Congressus Numerantium 30, 1981. **Guarantee.** The result
//! is a state of the orbit. It is the same for all states of the orbit if at most [`ORDERS_MAX`]
//! orders remain: colours do not depend on the numbers of instances, the search tries all remaining
//! orders but those that give equal states, and it takes the least encoding. With more orders, it
//! takes the least of the first ones. This is the same at any number of threads, but an orbit may
//! then have several representatives. **Naive version.** The least encoding over all permutations.
//! **Cost.** Instances times the state for colours, pairs of instances of one colour times the
//! state for twins, orders times the state.

use super::encode::encode;
use super::group::{Group, groups};
use super::parts::State;
use super::permute::permute;
use super::tint::{Colors, tinted};
use crate::machine::Machine;
use crate::poll::{Poll, START_WORK};
use crate::value::mix;

/// Most orders of instances that the search tries.
pub(crate) const ORDERS_MAX: usize = 5_040;

/// Most refinements of the colours.
const ROUNDS_MAX: usize = 3;

/// Returns the representative of a state. Returns any state once the job is stopped.
pub(crate) fn representative(machine: &Machine, state: &State) -> State {
    let (groups, mut poll) = (groups(machine), Poll::default());
    let mut colors: Colors = groups.iter().map(|group| vec![0; group.size()]).collect();
    let mut before = cells(&colors);
    refine(&groups, state, &mut colors, &mut poll);
    let twins = twins(machine, (&groups, &colors), state, &mut poll);
    for _ in 1..ROUNDS_MAX {
        let after = cells(&colors);
        if is_settled(&twins, &colors) || after == before {
            break;
        }
        before = after;
        refine(&groups, state, &mut colors, &mut poll);
    }
    let starts: Vec<Vec<usize>> = colors.iter().map(|colors| by_color(colors)).collect();
    let mut search = Search {
        machine,
        groups: &groups,
        colors: &colors,
        twins: &twins,
        state,
        best: None,
        tried: 0,
        poll,
    };
    if is_settled(&twins, &colors) {
        return search.apply(&starts);
    }
    search.orders(&mut starts.clone(), 0, 0);
    search.best.map_or_else(|| state.clone(), |(_, state)| state)
}

/// Returns the state with the instances of a symmetry in another order: instance `order[p]` in the
/// place of p. `None` when there is no such symmetry or `order` is no order of its instances.
pub(crate) fn exchanged(
    machine: &Machine,
    state: &State,
    symmetry: usize,
    order: &[usize],
) -> Option<State> {
    let groups = groups(machine);
    let group = groups.get(symmetry)?;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let is_order = sorted.iter().copied().eq(0..group.size());
    is_order.then(|| permute(group, state, order))
}

/// The number of different colours.
fn cells(colors: &Colors) -> usize {
    let count = |colors: &Vec<u64>| {
        let mut colors = colors.clone();
        colors.sort_unstable();
        colors.dedup();
        colors.len()
    };
    colors.iter().map(count).sum()
}

fn by_color(colors: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..colors.len()).collect();
    order.sort_by_key(|i| colors[*i]);
    order
}

/// Refines colours. The new colour of an instance is the hash of the state in which only this
/// instance has a mark.
fn refine(groups: &[Group<'_>], state: &State, colors: &mut Colors, poll: &mut Poll) {
    let old = colors.clone();
    let mut marked = old.clone();
    for (g, colors) in colors.iter_mut().enumerate() {
        for (i, color) in colors.iter_mut().enumerate() {
            if poll.work(START_WORK).is_err() {
                return;
            }
            let own = old[g][i];
            marked[g][i] = mix::number(0x5e1f, own) as u64;
            *color = mix::mix(own, tinted(groups, state, &marked)) as u64;
            marked[g][i] = own;
        }
    }
}

/// For each instance the first of its twins: two are twins if their exchange gives the same state.
///
/// This is an equivalence: the exchange of a and c is made of those of a and b, and of b and c.
type Twins = Vec<Vec<usize>>;

/// Finds the twins of one colour.
fn twins(
    machine: &Machine,
    (groups, colors): (&[Group<'_>], &Colors),
    state: &State,
    poll: &mut Poll,
) -> Twins {
    let bytes = |state: &State| {
        let mut bytes = Vec::new();
        encode(machine, state, &mut bytes);
        bytes
    };
    let own = bytes(state);
    let mut twins: Twins = Vec::with_capacity(groups.len());
    for (group, colors) in groups.iter().zip(colors) {
        let mut of: Vec<usize> = (0..group.size()).collect();
        for b in 1..group.size() {
            let mut earlier = (0..b).filter(|a| of[*a] == *a && colors[*a] == colors[b]);
            let twin = earlier.find(|a| {
                if poll.work(START_WORK).is_err() {
                    return true;
                }
                let mut order: Vec<usize> = (0..group.size()).collect();
                order.swap(*a, b);
                bytes(&permute(group, state, &order)) == own
            });
            of[b] = twin.unwrap_or(b);
        }
        twins.push(of);
    }
    twins
}

/// Returns whether all instances of one colour are twins. Then the order by colours is the only
/// one.
fn is_settled(twins: &Twins, colors: &Colors) -> bool {
    twins.iter().zip(colors).all(|(of, colors)| {
        (0..of.len()).all(|a| (a + 1..of.len()).all(|b| colors[a] != colors[b] || of[a] == of[b]))
    })
}

struct Search<'a> {
    machine: &'a Machine,
    groups: &'a [Group<'a>],
    colors: &'a Colors,
    twins: &'a Twins,
    state: &'a State,
    best: Option<(Vec<u8>, State)>,
    tried: usize,
    poll: Poll,
}

impl Search<'_> {
    fn apply(&self, orders: &[Vec<usize>]) -> State {
        let mut state = self.state.clone();
        for (group, order) in self.groups.iter().zip(orders) {
            if order.iter().enumerate().any(|(place, instance)| place != *instance) {
                state = permute(group, &state, order);
            }
        }
        state
    }

    /// Tries all orders of the instances of one colour, from a place on. Tries twins in one order
    /// only.
    fn orders(&mut self, orders: &mut Vec<Vec<usize>>, group: usize, place: usize) {
        if self.tried >= ORDERS_MAX || self.poll.work(START_WORK).is_err() {
            return;
        }
        let Some(order) = orders.get(group) else {
            self.tried += 1;
            let state = self.apply(orders);
            let mut bytes = Vec::new();
            encode(self.machine, &state, &mut bytes);
            if self.best.as_ref().is_none_or(|(least, _)| bytes < *least) {
                self.best = Some((bytes, state));
            }
            return;
        };
        if place == order.len() {
            return self.orders(orders, group + 1, 0);
        }
        let color = self.colors[group][order[place]];
        let mut seen: Vec<usize> = Vec::new();
        for other in place..order.len() {
            let instance = orders[group][other];
            if self.colors[group][instance] != color {
                continue;
            }
            let twin = self.twins[group][instance];
            if seen.contains(&twin) {
                continue;
            }
            seen.push(twin);
            orders[group].swap(place, other);
            self.orders(orders, group, place + 1);
            orders[group].swap(place, other);
        }
    }
}
