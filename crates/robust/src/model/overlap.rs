//! All interleavings of events, each state with the conflicts of the events that are not over.
//!
//! **Problem.** Given a program, has some run a cycle in the graph of the conflicts between the
//! occurrences of its events, with or without edges for the order in which they start?
//! **Source.** Definition 4 of Bouajjani et al., ESOP 2017. **Guarantee.** Exact, if it is not cut.
//! **Naive version.** All runs, each with its graph: `tests/interleavings`. **How.** A state and
//! what may still matter of the past are searched once: for each location the occurrences that
//! accessed it, and which occurrence follows which. An occurrence that is over gets no more edges
//! to it. If none leads to it, it is on no cycle, and is forgotten. **Cost.** The states times the
//! pasts that differ, at most `most`.

use super::history::{Taken, starts_before};
use super::options::Options;
use super::sim::{INIT, SHORT};
use anyorder_system::{
    Access, AccessKind, Control, Hash128, InterleavedStep, InterleavedSystem, InvocationId,
    RunError,
};
use anyorder_trace::LocationId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The answer of an exhaustive search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Exhaustive {
    /// A run that ends with a violation: the beginning, and the steps.
    Violated(u32, Vec<Taken>),
    /// There is none.
    Never,
    /// The search was cut.
    Cut,
}

/// The steps that led to each state, and the states seen.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    from: Vec<(u32, u32)>,
    seen: FxHashSet<Hash128>,
}

impl Arena {
    const BEGIN: u32 = u32::MAX;

    /// Adds a state that is new. Returns its number.
    pub(crate) fn add(&mut self, key: Hash128, from: Option<u32>, place: u32) -> Option<u32> {
        self.seen.insert(key).then(|| self.push(from, place))
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, from: Option<u32>, place: u32) -> u32 {
        self.from.push((from.unwrap_or(Arena::BEGIN), place));
        self.from.len() as u32 - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.from.len()
    }

    /// Returns the beginning and the steps that led to a state.
    pub(crate) fn path(&self, at: u32) -> (u32, Vec<Taken>) {
        let (mut at, mut path) = (at, Vec::new());
        loop {
            let (from, place) = self.from[at as usize];
            if from == Arena::BEGIN {
                path.reverse();
                return (place, path);
            }
            path.push(Taken { place });
            at = from;
        }
    }
}

/// The places of occurrences in bit sets: those of an event one after another, and `init` last.
struct Slots {
    first: Vec<u32>,
    /// How often each event may happen.
    most: Vec<u32>,
    count: u32,
}

impl Slots {
    /// Returns `None` if there are too many.
    fn new<A: InterleavedSystem>(system: &A, options: &Options) -> Option<Slots> {
        let (mut first, mut most, mut count) = (Vec::new(), Vec::new(), 0_u32);
        for event in system.events() {
            let times = if event.once { 1 } else { options.repeat };
            first.push(count);
            most.push(times);
            count = count.checked_add(times)?;
        }
        (count < 64).then(|| Slots { first, most, count: count + 1 })
    }

    fn init(&self) -> u32 {
        self.count - 1
    }

    /// Returns the event of a slot.
    fn event(&self, slot: u32) -> u32 {
        if slot == self.init() {
            return INIT;
        }
        self.first.partition_point(|first| *first <= slot) as u32 - 1
    }
}

fn bit(slot: u32) -> u64 {
    1 << slot
}

/// What may still matter of the past of a state.
#[derive(Clone, Debug)]
struct Past {
    /// The occurrence of each invocation that is not over.
    owners: Vec<(InvocationId, u32)>,
    /// The occurrences that are not forgotten.
    live: u64,
    /// How often each event has happened.
    happened: Vec<u8>,
    /// For each location: the occurrences that wrote it, and those that read it.
    accessed: FxHashMap<LocationId, (u64, u64)>,
    /// For each occurrence: those that follow it.
    follows: Vec<u64>,
}

impl Past {
    /// Adds an edge. Returns whether it closes a cycle.
    fn edge(&mut self, a: u32, b: u32) -> bool {
        if a == b || self.follows[b as usize] & bit(a) != 0 {
            return true;
        }
        let new = bit(b) | self.follows[b as usize];
        for (slot, follows) in (0..).zip(&mut self.follows) {
            if slot == a || *follows & bit(a) != 0 {
                *follows |= new;
            }
        }
        false
    }

    /// Adds the accesses of a step. Returns whether they close a cycle.
    fn access(&mut self, slot: u32, accesses: &[Access]) -> bool {
        for access in accesses {
            let (writers, readers) = self.accessed.entry(access.location).or_default();
            let read = access.kind == AccessKind::Read;
            let mut others = if read { *writers } else { *writers | *readers } & !bit(slot);
            *(if read { readers } else { writers }) |= bit(slot);
            while others != 0 {
                let other = others.trailing_zeros();
                others &= others - 1;
                if self.edge(other, slot) {
                    return true;
                }
            }
        }
        false
    }

    /// Forgets the occurrences that are over and that nothing leads to.
    fn forget(&mut self) {
        loop {
            let led_to = self.follows.iter().fold(0, |all, follows| all | follows);
            let open = self.owners.iter().fold(0, |all, (_, slot)| all | bit(*slot));
            let gone = self.live & !led_to & !open;
            if gone == 0 {
                return;
            }
            self.live &= !gone;
            for (slot, follows) in (0..).zip(&mut self.follows) {
                if gone & bit(slot) != 0 {
                    *follows = 0;
                }
            }
            self.accessed.retain(|_, (writers, readers)| {
                *writers &= !gone;
                *readers &= !gone;
                *writers | *readers != 0
            });
        }
    }

    fn key<A: InterleavedSystem>(&self, system: &A, state: &A::State) -> Hash128 {
        let mut hash = system.fingerprint(state).0;
        let mut add = |number: u128| hash = mix(hash, number);
        add(system.objects(state).0);
        self.happened.iter().for_each(|count| add(u128::from(*count)));
        let content: FxHashMap<InvocationId, Hash128> = system.live(state).into_iter().collect();
        let content = |id: &InvocationId| content.get(id).map_or(u128::from(id.0), |one| one.0);
        let mut owners: Vec<(u128, u32)> =
            self.owners.iter().map(|(id, slot)| (content(id), *slot)).collect();
        owners.sort_unstable();
        for (content, slot) in owners {
            add(content);
            add(u128::from(slot));
        }
        let mut accessed: Vec<(u128, u64, u64)> = self
            .accessed
            .iter()
            .map(|(location, (writers, readers))| {
                let fate = system.fate(*location).map(|id| content(&id));
                (fate.unwrap_or(u128::from(location.0)), *writers, *readers)
            })
            .collect();
        accessed.sort_unstable();
        for (location, writers, readers) in accessed {
            add(location);
            add((u128::from(writers) << 64) | u128::from(readers));
        }
        self.follows.iter().for_each(|follows| add(u128::from(*follows)));
        Hash128(hash)
    }
}

/// Mixes a number into a hash.
pub(crate) fn mix(hash: u128, number: u128) -> u128 {
    const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mixed = (hash ^ number).wrapping_mul(FACTOR);
    (mixed ^ (mixed >> 61)).wrapping_mul(FACTOR).rotate_left(43)
}

/// Searches all runs for a cycle of events; with `ordered`, of conflicts and the order of starts.
///
/// # Errors
///
/// Fails if the program cannot begin, and if the job is stopped.
pub(crate) fn cycle<A: InterleavedSystem>(
    system: &mut A,
    options: &Options,
    ordered: bool,
    control: &Control<'_>,
) -> Result<Exhaustive, RunError> {
    let Some(slots) = Slots::new(&*system, options) else { return Ok(Exhaustive::Cut) };
    let mut arena = Arena::default();
    let mut open: VecDeque<(A::State, Past, u32)> = VecDeque::new();
    for (number, init) in (0..).zip(system.begin()?) {
        if init.failure.is_some() {
            continue;
        }
        let cancelled = |id: &InvocationId| init.cancelled.contains(id);
        let posted = init.posted.iter().map(|one| one.invocation).filter(|id| !cancelled(id));
        let mut past = Past {
            owners: posted.map(|id| (id, slots.init())).collect(),
            live: bit(slots.init()),
            happened: vec![0; slots.first.len()],
            accessed: FxHashMap::default(),
            follows: vec![0; slots.count as usize],
        };
        past.access(slots.init(), &init.accesses);
        past.forget();
        let key = past.key(&*system, &init.state);
        if let Some(at) = arena.add(key, None, number) {
            open.push_back((init.state, past, at));
        }
    }
    let mut work = 0;
    while let Some((state, past, at)) = open.pop_front() {
        work += 1 + past.owners.len() / SHORT;
        if control.check().is_err() || work.max(arena.len()) > options.max_states {
            return Ok(Exhaustive::Cut);
        }
        for (place, next) in (0..).zip(system.steps(&state)?) {
            let Some((after, closes)) = after(&*system, &slots, &past, &next, ordered) else {
                continue;
            };
            if closes {
                let at = arena.push(Some(at), place);
                let (beginning, path) = arena.path(at);
                return Ok(Exhaustive::Violated(beginning, path));
            }
            if next.step.failure.is_some() {
                continue;
            }
            let key = after.key(&*system, &next.step.state);
            if let Some(number) = arena.add(key, Some(at), place) {
                open.push_back((next.step.state, after, number));
            }
        }
    }
    Ok(Exhaustive::Never)
}

/// Returns what matters after a step, and whether the step closes a cycle; `None` if the event may
/// not happen again.
fn after<A: InterleavedSystem>(
    system: &A,
    slots: &Slots,
    past: &Past,
    next: &InterleavedStep<A::State>,
    ordered: bool,
) -> Option<(Past, bool)> {
    let mut past = past.clone();
    let step = &next.step;
    let slot = match next.event {
        Some(event) => {
            let at = event as usize;
            if u32::from(past.happened[at]) >= slots.most[at] {
                return None;
            }
            let slot = slots.first[at] + u32::from(past.happened[at]);
            past.happened[at] += 1;
            // An event that comes again need not come before.
            let first = |other: u32| other == slots.init() || slots.first.contains(&other);
            let others = (0..slots.count).filter(|other| past.live & bit(*other) != 0);
            let others = others.filter(|other| first(*other));
            let others: Vec<u32> = others
                .filter(|other| ordered && starts_before(system, slots.event(*other), event))
                .collect();
            past.live |= bit(slot);
            others.into_iter().for_each(|other| _ = past.edge(other, slot));
            slot
        }
        None => past.owners.iter().find(|(id, _)| *id == step.invocation)?.1,
    };
    past.owners.retain(|(id, _)| *id != step.invocation);
    if !step.ended {
        past.owners.push((step.invocation, slot));
    }
    past.owners.extend(step.posted.iter().map(|one| (one.invocation, slot)));
    past.owners.retain(|(id, _)| !step.cancelled.contains(id));
    let closes = past.access(slot, &step.accesses);
    if !closes {
        past.forget();
    }
    Some((past, closes))
}
