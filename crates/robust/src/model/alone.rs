//! All interleavings of the tasks of each event that runs alone.
//!
//! **Problem.** Which events have a run alone in which a task has a conflict with one that is
//! before it in the reference order? **Source.** Definition 5 of Bouajjani et al., ESOP 2017, and
//! `docs/robustness.md`. **Guarantee.** Exact for each event, if the search is not cut: what it
//! found before is true in any case. **Naive version.** All runs: `tests/interleavings`. **How.**
//! Events run one after another, each in all orders of its tasks. A state between two events is
//! searched once; within an event, a state with its tasks and with what they accessed. **Cost.**
//! The states of each event times what differs in the past of its tasks.

use super::history::Taken;
use super::options::Options;
use super::overlap::{Arena, mix};
use super::sim::{INIT, SHORT};
use super::tree::Tree;
use anyorder_system::{
    AccessKind, Control, HandlerOrder, Hash128, InterleavedStep, InterleavedSystem, InvocationId,
    RunError,
};
use anyorder_trace::LocationId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What was found of each event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alone {
    /// For events that fail: a run, by its beginning and its steps.
    pub(crate) failing: BTreeMap<u32, (u32, Vec<Taken>)>,
    /// Whether the others do not fail.
    pub(crate) complete: bool,
}

/// Which invocations accessed a location, and whether they wrote.
type Accessed = FxHashMap<LocationId, Vec<(u32, bool)>>;

/// A point in the run of an event.
#[derive(Clone, Debug)]
struct Point<S> {
    state: S,
    tree: Tree,
    accessed: Accessed,
    /// The conflicts so far, from the earlier access to the later one.
    conflicts: BTreeSet<(u32, u32)>,
    at: u32,
}

/// A state in which nothing is left to run.
struct Quiet<S> {
    state: S,
    happened: Vec<u8>,
    at: u32,
}

struct Search<'a, 'c, A: InterleavedSystem> {
    system: &'a mut A,
    options: &'a Options,
    control: &'a Control<'c>,
    arena: Arena,
    quiet: VecDeque<Quiet<A::State>>,
    known: FxHashSet<(Hash128, Vec<u8>)>,
    found: Alone,
    /// What was searched, in the work of points with few tasks.
    work: usize,
    /// Whether a later post may change the reference order of earlier tasks.
    unstable: bool,
}

/// Searches all runs in which events follow one another.
///
/// # Errors
///
/// Fails if the program cannot begin, and if the job is stopped.
pub(crate) fn alone<A: InterleavedSystem>(
    system: &mut A,
    options: &Options,
    control: &Control<'_>,
) -> Result<Alone, RunError> {
    let unstable = system.handlers().iter().any(|one| one.order != HandlerOrder::Bag);
    let mut search = Search {
        options,
        control,
        arena: Arena::default(),
        quiet: VecDeque::new(),
        known: FxHashSet::default(),
        found: Alone::default(),
        work: 0,
        unstable: unstable || system.posts_to_the_front(),
        system,
    };
    let complete = search.all()?;
    search.found.complete = complete;
    Ok(search.found)
}

impl<A: InterleavedSystem> Search<'_, '_, A> {
    /// Returns whether nothing was cut.
    fn all(&mut self) -> Result<bool, RunError> {
        let none = vec![0; self.system.events().len()];
        for (number, init) in (0..).zip(self.system.begin()?) {
            if init.failure.is_some() {
                continue;
            }
            let at = self.arena.push(None, number);
            let tree = Tree::of_init(&*self.system, &init.posted, &init.cancelled);
            let point = Point::new(init.state, tree, at);
            if !self.event(point, INIT, &none)? {
                return Ok(false);
            }
        }
        while let Some(Quiet { state, happened, at }) = self.quiet.pop_front() {
            for (place, next) in (0..).zip(self.system.steps(&state)?) {
                let Some(event) = next.event else { continue };
                let mut happened = happened.clone();
                let info = &self.system.events()[event as usize];
                let most = if info.once { 1 } else { self.options.repeat };
                let count = &mut happened[event as usize];
                if u32::from(*count) >= most || next.step.failure.is_some() {
                    continue;
                }
                *count += 1;
                let at = self.arena.push(Some(at), place);
                let mut point = Point::new(next.step.state.clone(), Tree::default(), at);
                point.add(&*self.system, &next);
                if !self.event(point, event, &happened)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Runs an event in all orders of its tasks. Returns whether nothing was cut.
    fn event(
        &mut self,
        first: Point<A::State>,
        event: u32,
        happened: &[u8],
    ) -> Result<bool, RunError> {
        let mut seen = FxHashSet::default();
        seen.insert(first.key(&*self.system, self.unstable));
        let mut open = VecDeque::from([first]);
        while let Some(point) = open.pop_front() {
            if self.control.check().is_err()
                || self.work.max(self.arena.len()) > self.options.max_states
            {
                return Ok(false);
            }
            self.work += point.work();
            if point.tree.is_over() {
                let memory = self.system.fingerprint(&point.state);
                if self.known.insert((memory, happened.to_vec())) {
                    let (state, happened) = (point.state, happened.to_vec());
                    self.quiet.push_back(Quiet { state, happened, at: point.at });
                }
                continue;
            }
            for (place, next) in (0..).zip(self.system.steps(&point.state)?) {
                if next.event.is_some() {
                    continue;
                }
                let mut after = Point { state: next.step.state.clone(), ..point.clone() };
                after.add(&*self.system, &next);
                let breaks = !self.found.failing.contains_key(&event) && after.breaks();
                if !breaks && next.step.failure.is_some() {
                    continue;
                }
                if breaks {
                    let at = self.arena.push(Some(point.at), place);
                    self.found.failing.insert(event, self.arena.path(at));
                }
                if next.step.failure.is_none()
                    && seen.insert(after.key(&*self.system, self.unstable))
                {
                    after.at = self.arena.push(Some(point.at), place);
                    open.push_back(after);
                }
            }
        }
        Ok(true)
    }
}

impl<S> Point<S> {
    fn new(state: S, tree: Tree, at: u32) -> Point<S> {
        let (accessed, conflicts) = (Accessed::default(), BTreeSet::new());
        Point { state, tree, accessed, conflicts, at }
    }

    /// Adds the accesses of a step.
    fn add<A: InterleavedSystem<State = S>>(&mut self, system: &A, next: &InterleavedStep<S>) {
        let member = self.tree.add(system, next);
        for access in &next.step.accesses {
            let writes = access.kind != AccessKind::Read;
            let known = self.accessed.entry(access.location).or_default();
            for (other, wrote) in known.iter() {
                if *other != member && (*wrote || writes) {
                    self.conflicts.insert((*other, member));
                }
            }
            match known.iter_mut().find(|(other, _)| *other == member) {
                Some((_, wrote)) => *wrote |= writes,
                None => known.push((member, writes)),
            }
        }
    }

    /// Returns whether some conflict goes from a later to an earlier invocation.
    fn breaks(&self) -> bool {
        if self.conflicts.is_empty() {
            return false;
        }
        let ranks = self.tree.ranks(0);
        self.conflicts.iter().any(|(a, b)| ranks[*a as usize] > ranks[*b as usize])
    }

    /// Returns what a point costs. Its tasks are compared with one another for the reference order.
    fn work(&self) -> usize {
        let tasks = self.tree.members.len();
        1 + (tasks * tasks + self.conflicts.len()) / (SHORT * SHORT / 4)
    }

    fn key<A: InterleavedSystem<State = S>>(&self, system: &A, unstable: bool) -> Hash128 {
        let mut hash = system.fingerprint(&self.state).0;
        let mut add = |number: u128| hash = mix(hash, number);
        add(system.objects(&self.state).0);
        let live = system.live(&self.state).into_iter();
        let content: FxHashMap<InvocationId, Hash128> = live.collect();
        // Numbers that do not depend on the order of the run.
        let members = &self.tree.members;
        let mut order: Vec<u32> = (0..members.len() as u32).collect();
        order.sort_by(|a, b| members[*a as usize].path.cmp(&members[*b as usize].path));
        let mut number = vec![0_u32; members.len()];
        for (place, member) in (0..).zip(&order) {
            number[*member as usize] = place;
            let one = &members[*member as usize];
            let id = if one.over { u128::MAX } else { u128::from(one.id.0) };
            add(content.get(&one.id).filter(|_| !one.over).map_or(id, |content| content.0));
            add(one.shape());
            one.path.iter().for_each(|place| add(u128::from(*place)));
        }
        let fate = |location: LocationId| {
            let id = system.fate(location)?;
            members.iter().position(|one| one.id == id)
        };
        let mut accessed: Vec<(u64, u32, bool)> = Vec::new();
        self.accessed.iter().for_each(|(location, by)| {
            let name = match fate(*location) {
                Some(member) => (1 << 40) | u64::from(number[member]),
                None => u64::from(location.0),
            };
            accessed.extend(by.iter().map(|(one, wrote)| (name, number[*one as usize], *wrote)));
        });
        accessed.sort_unstable();
        for (name, member, wrote) in accessed {
            add((u128::from(name) << 64) | (u128::from(member) << 1) | u128::from(wrote));
        }
        if unstable {
            let of = |one: &u32| u128::from(number[*one as usize]);
            let mut all: Vec<u128> =
                self.conflicts.iter().map(|(a, b)| (of(a) << 32) | of(b)).collect();
            all.sort_unstable();
            all.into_iter().for_each(&mut add);
        }
        Hash128(hash)
    }
}
