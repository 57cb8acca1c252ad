//! What of a refutation its conclusion rests on.
//!
//! **Problem.** A search leaves thousands of steps; a person wants the few that matter. **Method.** First, unit propagation over the
//! cycles alone: when it ends in a conflict, no choice was needed, and the facts behind it in their order are the explanation.
//! Otherwise the derived clauses are checked backwards from the empty one, each against those before it, and only those are
//! checked that something later rests on (as DRAT-trim does; Wetzler, Heule, Hunt, SAT 2014, section 3). **Guarantee.** The cycles
//! kept are contradictory together; they need not be the fewest.

use super::clauses::{ClauseId, Facts, Literal, Propagation};
use crate::answer::{Fact, Refutation, Step, Why};
use crate::partial::PartialTrace;
use std::collections::HashMap;

/// The most watches visited; a refutation that takes more is not cut down.
const BUDGET: u64 = 50_000_000;

/// What a conclusion rests on. Steps are positions in the refutation.
#[derive(Default, Debug)]
pub(super) struct Core {
    /// Facts that must hold, each with the step that forces it when those before it hold.
    pub(super) forced: Vec<(Fact, usize)>,
    /// The step that contradicts them, where no choice is left.
    pub(super) conflict: Option<usize>,
    /// Otherwise: steps that contradict one another, each with the facts of which one must hold.
    pub(super) choices: Vec<(Vec<Fact>, usize)>,
    /// The number of pairs that the choices are about.
    pub(super) pairs: usize,
}

/// Returns the core of a refutation; `None` where it is not one, or where finding the core takes too long.
pub(super) fn core(trace: &PartialTrace, refutation: &Refutation) -> Option<Core> {
    let mut facts = Facts::default();
    let inputs = inputs(trace, refutation, &mut facts);
    let mut all = Propagation::new(facts.len(), BUDGET);
    for (_, literals) in &inputs {
        all.add(literals.clone());
    }
    let step_of = |id: ClauseId| inputs[id as usize].0;
    if let Some(conflict) = all.propagate(inputs.len() as ClauseId) {
        let mut needed = vec![false; inputs.len()];
        all.behind(conflict, |id| needed[id as usize] = true);
        needed[conflict as usize] = false;
        let forced = forced(&all, &facts, |id| needed[id as usize].then(|| step_of(id)));
        return Some(Core { forced, conflict: Some(step_of(conflict)), ..Core::default() });
    }
    let kept = trimmed(refutation, &inputs, &mut facts)?;
    let mut some = Propagation::new(facts.len(), BUDGET);
    for at in &kept {
        some.add(inputs[*at].1.clone());
    }
    // What holds whatever is chosen; no conflict, as all cycles together gave none.
    let _ = some.propagate(kept.len() as ClauseId);
    let choices: Vec<(Vec<Literal>, usize)> = kept
        .iter()
        .map(|at| &inputs[*at])
        .filter(|(_, literals)| !literals.iter().any(|literal| some.holds(*literal)))
        .map(|(step, literals)| (literals.clone(), *step))
        .collect();
    let mut needed = vec![false; kept.len()];
    for (literals, _) in &choices {
        for literal in literals {
            let reason = some.reasons[*literal as usize / 2];
            if reason != ClauseId::MAX {
                some.behind(reason, |id| needed[id as usize] = true);
            }
        }
    }
    let step_kept = |id: ClauseId| inputs[kept[id as usize]].0;
    let forced = forced(&some, &facts, |id| needed[id as usize].then(|| step_kept(id)));
    let mut pairs: Vec<u32> = Vec::new();
    let mut list: Vec<(Vec<Fact>, usize)> = Vec::new();
    for (literals, step) in choices {
        let open = literals.into_iter().filter(|literal| !some.holds(*literal ^ 1));
        let open: Vec<Literal> = open.collect();
        pairs.extend(open.iter().map(|literal| literal / 2));
        list.push((open.into_iter().map(|literal| facts.fact(literal)).collect(), step));
    }
    list.sort_by_key(|(facts, step)| (facts.len(), *step));
    pairs.sort_unstable();
    pairs.dedup();
    Some(Core { forced, conflict: None, choices: list, pairs: pairs.len() })
}

/// Returns the facts of a propagation for whose clauses `step` has a step, in their order.
fn forced(
    propagation: &Propagation,
    facts: &Facts,
    step: impl Fn(ClauseId) -> Option<usize>,
) -> Vec<(Fact, usize)> {
    let of = |literal: &Literal| {
        let reason = propagation.reasons[*literal as usize / 2];
        Some((facts.fact(*literal), step(reason)?))
    };
    propagation.trail.iter().filter_map(of).collect()
}

/// Returns the clauses of the steps that rest on nothing but the trace, with their steps.
fn inputs(
    trace: &PartialTrace,
    refutation: &Refutation,
    facts: &mut Facts,
) -> Vec<(usize, Vec<Literal>)> {
    let mut sources: HashMap<u32, Option<u32>> = HashMap::new();
    for location in &trace.open {
        sources.extend(location.reads.iter().copied());
    }
    let mut inputs = Vec::new();
    for (number, step) in refutation.steps.iter().enumerate() {
        let clause: Vec<Fact> = match step {
            Step::Cycle(links) => links
                .iter()
                .filter_map(|link| match link.why {
                    Why::Decided(fact) => Some(fact.opposite()),
                    Why::Given(_) => None,
                })
                .collect(),
            Step::ReadsOpen { read, other } => {
                let Some(source) = sources.get(read) else { continue };
                let before = source.map(|source| Fact::Before { first: *other, second: source });
                before.into_iter().chain([Fact::Before { first: *read, second: *other }]).collect()
            }
            Step::Derived(_) | Step::Forget(_) => continue,
        };
        let literals = literals(&clause, facts);
        // A clause with a fact and its opposite says nothing.
        if !literals.windows(2).any(|pair| pair[0] ^ 1 == pair[1]) {
            inputs.push((number, literals));
        }
    }
    inputs
}

/// Returns the literals of facts, sorted, each once; opposites are neighbours.
fn literals(clause: &[Fact], facts: &mut Facts) -> Vec<Literal> {
    let mut literals: Vec<Literal> = clause.iter().map(|fact| facts.literal(*fact)).collect();
    literals.sort_unstable();
    literals.dedup();
    literals
}

/// Returns the positions among `inputs` of those that the empty clause rests on.
fn trimmed(
    refutation: &Refutation,
    inputs: &[(usize, Vec<Literal>)],
    facts: &mut Facts,
) -> Option<Vec<usize>> {
    // Cycles and the like hold from the beginning; derived clauses in the order of their steps.
    let mut derived: Vec<Vec<Literal>> = Vec::new();
    let mut until: Vec<u32> = Vec::new();
    let mut alive: HashMap<Vec<Literal>, Vec<usize>> = HashMap::new();
    for step in &refutation.steps {
        match step {
            Step::Derived(clause) => {
                let clause = literals(clause, facts);
                let last = clause.is_empty();
                alive.entry(clause.clone()).or_default().push(derived.len());
                derived.push(clause);
                until.push(u32::MAX);
                if last {
                    break;
                }
            }
            Step::Forget(clause) => {
                let clause = literals(clause, facts);
                if let Some(at) = alive.get_mut(&clause).and_then(Vec::pop) {
                    until[at] = (inputs.len() + derived.len()) as u32;
                }
            }
            Step::Cycle(_) | Step::ReadsOpen { .. } => {}
        }
    }
    if derived.last().is_none_or(|clause| !clause.is_empty()) {
        return None;
    }
    let mut all = Propagation::new(facts.len(), BUDGET);
    for (_, literals) in inputs {
        all.add(literals.clone());
    }
    for (clause, until) in derived.iter().zip(until) {
        all.add(clause.clone());
        if let Some(last) = all.clauses.last_mut() {
            last.until = until;
        }
    }
    let mut needed = vec![false; all.clauses.len()];
    if let Some(last) = needed.last_mut() {
        *last = true;
    }
    for at in (inputs.len()..all.clauses.len()).rev() {
        if !needed[at] {
            continue;
        }
        all.reset();
        let clause = &derived[at - inputs.len()];
        // A clause with a fact and its opposite rests on nothing.
        if !clause.iter().all(|literal| all.assume(literal ^ 1)) {
            continue;
        }
        let conflict = all.propagate(at as ClauseId)?;
        all.behind(conflict, |id| needed[id as usize] = true);
    }
    Some((0..inputs.len()).filter(|at| needed[*at]).collect())
}
