//! Random walks: simulation without storing states.

use crate::error::SearchError;
use crate::outcome::{Limit, Property, Stats, Violation};
use crate::path::replay;
use anyorder_common::order::{order_of, rearrange};
use anyorder_common::random::{Random, SplitMix64};
use anyorder_system::{Control, JobWatch, Offers, Properties, StateSystem, Stopped};
use std::collections::BTreeMap;

/// Options of a simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkOptions {
    /// The seed of the generator: equal seeds give equal walks.
    pub seed: u64,
    /// The number of walks.
    pub walks: u64,
    /// The most steps of a walk.
    pub steps_max: u32,
    /// Whether deadlocks and wrong ends are violations.
    pub deadlocks: bool,
}

/// The result of random walks.
pub struct WalkOutcome<S: StateSystem> {
    /// For each violated property, the shortest walk that shows it, and the first of these.
    pub violations: Vec<Violation<S>>,
    /// The limits that ended the simulation early.
    pub limits: Vec<Limit>,
    /// `states` counts every visit to a state.
    pub stats: Stats,
    /// The number of walks that the limit on steps cut.
    pub cut: u64,
}

/// Walks at random from initial states. A walk ends at a failure, at a state where nothing can
/// happen, and at the limit. Where only optional transitions are offered, it checks whether the
/// program may end, and goes on. Walk `n` depends only on the seed and on `n`.
///
/// # Errors
///
/// Fails if the system has no initial state, or is not deterministic.
pub fn walk<S: StateSystem>(
    system: &S,
    options: &WalkOptions,
    control: &Control<'_>,
) -> Result<WalkOutcome<S>, SearchError> {
    walk_watched(system, options, control, &mut |_| ())
}

/// Like [`walk`], and passes on the first run to each violation when it was found.
///
/// # Errors
///
/// Like [`walk`].
pub fn walk_watched<S: StateSystem>(
    system: &S,
    options: &WalkOptions,
    control: &Control<'_>,
    on_found: &mut dyn FnMut(Violation<S>),
) -> Result<WalkOutcome<S>, SearchError> {
    let mut found: BTreeMap<Property, Vec<u32>> = BTreeMap::new();
    let mut stats = Stats::default();
    let (mut limits, mut cut) = (Vec::new(), 0);
    let properties = system.properties();
    let watched = JobWatch::of(control).enter();
    for number in 0..options.walks {
        if let Err(stopped) = control.step(number, Some(options.walks)) {
            limits.push(Limit::from(stopped.0));
            break;
        }
        let mut random = SplitMix64(options.seed ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        let rest = (&mut random, control);
        let mut new = Vec::new();
        let whole =
            one_walk(system, options, rest, &properties, &mut stats, &mut |key, choices| {
                let known = found.entry(key.clone()).or_insert_with(|| {
                    new.push((key, choices.to_vec()));
                    choices.to_vec()
                });
                if choices.len() < known.len() {
                    *known = choices.to_vec();
                }
            })?;
        for (property, choices) in new {
            let unwatched = JobWatch::default().enter();
            on_found(Violation::of(system, property, replay(system, &choices)?));
            drop(unwatched);
        }
        match whole {
            Ok(whole) => cut += u64::from(!whole),
            Err(stopped) => {
                limits.push(Limit::from(stopped.0));
                break;
            }
        }
        stats.executions += 1;
    }
    drop(watched);
    // What was found is replayed, also after a stop.
    let _unwatched = JobWatch::default().enter();
    let mut violations = Vec::new();
    for (property, choices) in found {
        violations.push(Violation::of(system, property, replay(system, &choices)?));
    }
    let order = order_of(violations.iter().map(|one| one.path.steps.len()).collect());
    rearrange(&mut violations, order);
    Ok(WalkOutcome { violations, limits, stats, cut })
}

/// Walks once. Returns whether the walk came to its end, within the limit on steps. The inner error
/// is a stop: what the system returned then is not used.
fn one_walk<S: StateSystem>(
    system: &S,
    options: &WalkOptions,
    (random, control): (&mut SplitMix64, &Control<'_>),
    properties: &Properties<'_, S::State>,
    stats: &mut Stats,
    found: &mut dyn FnMut(Property, &[u32]),
) -> Result<Result<bool, Stopped>, SearchError> {
    let mut initials = system.initial();
    if let Err(stopped) = control.check() {
        return Ok(Err(stopped));
    }
    if initials.is_empty() {
        return Err(SearchError::NoInitialState);
    }
    let start = random.index(initials.len());
    let mut choices = vec![start as u32];
    let mut state = initials.swap_remove(start);
    let (mut successors, mut broken) = (Vec::new(), Vec::new());
    loop {
        stats.states += 1;
        stats.max_depth = stats.max_depth.max(choices.len() as u64 - 1);
        broken.clear();
        broken.extend(properties.broken(&state));
        successors.clear();
        let last = choices.len() as u64 > u64::from(options.steps_max);
        system.successors(&state, &mut successors);
        let offers = Offers::of(successors.iter().map(|one| system.is_optional(&one.action)));
        let end = (offers.is_end() && options.deadlocks)
            .then(|| Property::at_end(properties, &state, offers))
            .flatten();
        if let Err(stopped) = control.check() {
            return Ok(Err(stopped));
        }
        for index in broken.drain(..) {
            found(Property::Invariant(index), &choices);
        }
        if let Some(wrong) = end {
            found(wrong, &choices);
        }
        if last || successors.is_empty() {
            return Ok(Ok(successors.is_empty()));
        }
        let place = random.index(successors.len());
        let successor = successors.swap_remove(place);
        choices.push(place as u32);
        stats.transitions += 1;
        if let Some(failure) = successor.failure {
            found(Property::Failure(failure), &choices);
            return Ok(Ok(true));
        }
        state = successor.state;
    }
}
