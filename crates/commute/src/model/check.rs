//! Searches for counterexamples to a specification, and for missing commuting pairs.
//!
//! **Problem.** Given a specification and a model: is there a state with two invocations that
//! commute by the specification, but whose two orders differ? And which pairs commute in all
//! states, but not by the specification?
//!
//! **Guarantee.** The search visits all states that the model's calls reach within the limits, with
//! all pairs of its calls. A counterexample is real. Its absence holds up to the limits, and for
//! the values of the model.
//!
//! **Commuting.** For a state s, u;v is the set of states that u and then v, with their results,
//! can lead to from s. The two commute in s if u;v and v;u are equal and not empty. If both are
//! empty, neither order can happen from s, and a specification may decide either way.
//!
//! **Cost.** The number of states times the square of the outcomes in a state.

use super::{Call, Model};
use crate::expr::StateFunctions;
use crate::spec::{Invocation, MethodId, Spec};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How far to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckLimits {
    /// The most calls that lead to a state.
    pub depth_max: usize,
    /// The most states.
    pub states_max: usize,
}

impl Default for CheckLimits {
    fn default() -> CheckLimits {
        CheckLimits { depth_max: 4, states_max: 10_000 }
    }
}

/// The difference between two orders.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Difference {
    /// The other order cannot happen: a result would differ, or a call would block.
    Results,
    /// The final states differ.
    States,
}

/// A state and two invocations that commute by the specification but not in that state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The state, as its `Debug` shows it.
    pub state: String,
    /// The first invocation.
    pub first: Invocation,
    /// The invocation directly after it.
    pub second: Invocation,
    /// The difference if they happen in the other order.
    pub difference: Difference,
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The first counterexample in the order of the search, if the specification is not sound.
    pub counterexample: Option<Counterexample>,
    /// Pairs that commute in every state where they are adjacent, but not by the specification in
    /// some state: a condition of logic L2 could cover them.
    pub imprecise: BTreeSet<(Invocation, Invocation)>,
    /// Pairs that commute in some state, but not by the specification there: a condition of logic
    /// L1 could cover them.
    pub imprecise_in_states: BTreeSet<(Invocation, Invocation)>,
    /// The states visited.
    pub states: usize,
    /// Pairs of invocations that are adjacent in some state.
    pub pairs: usize,
    /// Of these, those that commute in all states.
    pub commuting: usize,
    /// Whether the limits excluded no state.
    pub complete: bool,
}

struct InState<'a, M: Model>(&'a M, &'a M::State);

impl<M: Model> StateFunctions for InState<'_, M> {
    fn value(&self, function: &str, arguments: &[Value]) -> Option<Value> {
        self.0.function(self.1, function, arguments)
    }
}

/// For two invocations in order, each state between them with the final states.
type PairRuns<S> = BTreeMap<(Invocation, Invocation), BTreeSet<(S, S)>>;

#[derive(Clone, Copy, Default)]
struct PairSummary {
    commutes: bool,
    differs: bool,
    /// Commutes in some state in which the specification does not say so.
    missed: bool,
}

/// Searches for a counterexample to a specification and for missing commuting pairs.
#[must_use]
pub fn check<M: Model>(spec: &Spec, model: &M, limits: CheckLimits) -> Verdict {
    let calls = model.calls();
    let (states, complete) = states(model, &calls, limits);
    let mut counterexample = None;
    let mut seen: BTreeMap<(Invocation, Invocation), PairSummary> = BTreeMap::new();
    for state in &states {
        let pair_runs = pair_runs(spec, model, &calls, state);
        let ends = |pair: &(Invocation, Invocation)| -> BTreeSet<&M::State> {
            pair_runs.get(pair).into_iter().flatten().map(|(_, end)| end).collect()
        };
        let says = |pair: &(Invocation, Invocation)| {
            pair_runs.get(pair).into_iter().flatten().any(|(between, _)| {
                let (before, between) = (InState(model, state), InState(model, between));
                spec.commute_in((&pair.0, Some(&before)), (&pair.1, Some(&between)))
            })
        };
        for one in pair_runs.keys() {
            let (first, second) = one;
            let swapped = (second.clone(), first.clone());
            let commutes = ends(one) == ends(&swapped);
            let is_declared = says(one);
            let entry =
                seen.entry(if first <= second { one } else { &swapped }.clone()).or_default();
            entry.commutes |= commutes;
            entry.differs |= !commutes;
            // With states, the other order may say so.
            entry.missed |= commutes && !is_declared && !says(&swapped);
            if is_declared && !commutes && counterexample.is_none() {
                let difference = match pair_runs.contains_key(&swapped) {
                    true => Difference::States,
                    false => Difference::Results,
                };
                counterexample = Some(Counterexample {
                    state: format!("{state:?}"),
                    first: first.clone(),
                    second: second.clone(),
                    difference,
                });
            }
        }
    }
    let missed = |also_in_states: bool| {
        let is = |seen: &PairSummary| seen.missed && (also_in_states || !seen.differs);
        seen.iter().filter(|(_, seen)| is(seen)).map(|(pair, _)| pair.clone()).collect()
    };
    Verdict {
        counterexample,
        imprecise: missed(false),
        imprecise_in_states: missed(true),
        states: states.len(),
        pairs: seen.len(),
        commuting: seen.values().filter(|seen| !seen.differs).count(),
        complete,
    }
}

/// All states within the limits, and whether there are no others.
fn states<M: Model>(model: &M, calls: &[Call], limits: CheckLimits) -> (BTreeSet<M::State>, bool) {
    let mut found: BTreeSet<M::State> = BTreeSet::new();
    let mut edge = model.initial();
    for depth in 0..=limits.depth_max {
        let mut next = Vec::new();
        for state in edge {
            if found.contains(&state) {
                continue;
            }
            if found.len() >= limits.states_max {
                return (found, false);
            }
            for call in calls {
                next.extend(model.apply(&state, call).into_iter().map(|(state, _)| state));
            }
            found.insert(state);
        }
        next.retain(|state| !found.contains(state));
        if next.is_empty() {
            return (found, true);
        }
        if depth == limits.depth_max {
            break;
        }
        edge = next;
    }
    (found, false)
}

fn pair_runs<M: Model>(
    spec: &Spec,
    model: &M,
    calls: &[Call],
    state: &M::State,
) -> PairRuns<M::State> {
    let steps = |state: &M::State| -> Vec<(Invocation, M::State)> {
        let mut steps = Vec::new();
        for call in calls {
            for (next, result) in model.apply(state, call) {
                let arguments = call.arguments.clone();
                let invocation = spec.invocation(&call.method, arguments, result);
                // A specification has no condition for unspecified methods, so none can be wrong.
                if invocation.method != MethodId::UNSPECIFIED {
                    steps.push((invocation, next));
                }
            }
        }
        steps
    };
    let mut pair_runs: PairRuns<M::State> = BTreeMap::new();
    for (first, between) in steps(state) {
        for (second, end) in steps(&between) {
            pair_runs.entry((first.clone(), second)).or_default().insert((between.clone(), end));
        }
    }
    pair_runs
}
