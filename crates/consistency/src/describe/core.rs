//! The part of a refutation that its conclusion depends on.
//!
//! **Problem.** A search leaves thousands of steps; a person wants the few that matter. **Method.**
//! First, unit propagation over the cycles alone. If it ends in a conflict, no choice was needed,
//! and the facts behind the conflict, in order, are the explanation. Otherwise the derived clauses
//! are checked backwards from the empty one, each against the clauses before it. Only clauses that
//! a later one depends on are checked (as DRAT-trim does; Wetzler, Heule, Hunt, SAT 2014, section
//! 3). **Guarantee.** The cycles kept are contradictory together; they need not be the fewest.

use super::clauses::{ClauseId, Facts, Literal, Propagation};
use crate::answer::{Fact, Refutation, RefutationStep, Why};
use crate::partial::PartialTrace;
use std::collections::HashMap;

/// The most watches visited; a refutation that takes more is not reduced.
const BUDGET: u64 = 50_000_000;

/// The core of a refutation. Steps are positions in the refutation.
#[derive(Default, Debug)]
pub(super) struct Core {
    /// Facts that must hold, each with the step that forces it once the earlier facts hold.
    pub(super) forced: Vec<(Fact, usize)>,
    /// The step that contradicts them, if no choice is left.
    pub(super) conflict: Option<usize>,
    /// Otherwise: contradictory steps, each with its clause of facts.
    pub(super) choices: Vec<(Vec<Fact>, usize)>,
    /// The number of pairs in the choices.
    pub(super) pairs: usize,
}

/// Returns the core of a refutation; `None` if it is not a refutation, or if finding the core takes
/// too long.
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
    // The facts that hold in any case. There is no conflict, as all cycles together gave none.
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

/// Returns the propagated facts whose clause has a step in `step`, in their order.
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

/// Returns the clauses of the steps that depend on the trace alone, with their steps.
fn inputs(
    trace: &PartialTrace,
    refutation: &Refutation,
    facts: &mut Facts,
) -> Vec<(usize, Vec<Literal>)> {
    let mut sources: HashMap<u32, Option<u32>> = HashMap::new();
    for location in &trace.open {
        sources.extend(location.reads.iter().copied());
    }
    // By beginning and end, what opened the beginning.
    let mut opened: HashMap<(u32, u32), u32> = HashMap::new();
    for step in &refutation.steps {
        let RefutationStep::Ended { begins, end } = *step else { continue };
        let of = trace.ends.iter().filter(|open| open.ends.contains(&end));
        let mut found = of.flat_map(|open| open.begins.iter().filter(|one| one.0 == begins));
        opened.extend(found.next().map(|&(begins, opened)| ((begins, end), opened)));
    }
    let mut inputs = Vec::new();
    for (number, step) in refutation.steps.iter().enumerate() {
        let clause: Vec<Fact> = match step {
            RefutationStep::Cycle(links) => links
                .iter()
                .filter_map(|link| match link.why {
                    Why::Decided(fact) => Some(fact.opposite()),
                    Why::Given(_) => None,
                })
                .collect(),
            RefutationStep::ReadsOpen { read, other } => {
                let Some(source) = sources.get(read) else { continue };
                let before = source.map(|source| Fact::Before { first: *other, second: source });
                before.into_iter().chain([Fact::Before { first: *read, second: *other }]).collect()
            }
            RefutationStep::Ended { begins, end } => {
                let Some(&opened) = opened.get(&(*begins, *end)) else { continue };
                let before = Fact::Before { first: *end, second: opened };
                vec![before, Fact::Before { first: *begins, second: *end }]
            }
            RefutationStep::Derived(_) | RefutationStep::Forget(_) => continue,
        };
        let literals = literals(&clause, facts);
        // A clause with a fact and its opposite is a tautology.
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

/// Returns the positions among `inputs` of the clauses that the empty clause depends on.
fn trimmed(
    refutation: &Refutation,
    inputs: &[(usize, Vec<Literal>)],
    facts: &mut Facts,
) -> Option<Vec<usize>> {
    // Cycles and the other inputs hold from the beginning; derived clauses in the order of their
    // steps.
    let mut derived: Vec<Vec<Literal>> = Vec::new();
    let mut until: Vec<u32> = Vec::new();
    let mut alive: HashMap<Vec<Literal>, Vec<usize>> = HashMap::new();
    for step in &refutation.steps {
        match step {
            RefutationStep::Derived(clause) => {
                let clause = literals(clause, facts);
                let last = clause.is_empty();
                alive.entry(clause.clone()).or_default().push(derived.len());
                derived.push(clause);
                until.push(u32::MAX);
                if last {
                    break;
                }
            }
            RefutationStep::Forget(clause) => {
                let clause = literals(clause, facts);
                if let Some(at) = alive.get_mut(&clause).and_then(Vec::pop) {
                    until[at] = (inputs.len() + derived.len()) as u32;
                }
            }
            RefutationStep::Cycle(_)
            | RefutationStep::ReadsOpen { .. }
            | RefutationStep::Ended { .. } => {}
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
        // A clause with a fact and its opposite depends on nothing.
        if !clause.iter().all(|literal| all.assume(literal ^ 1)) {
            continue;
        }
        let conflict = all.propagate(at as ClauseId)?;
        all.behind(conflict, |id| needed[id as usize] = true);
    }
    Some((0..inputs.len()).filter(|at| needed[*at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Link;
    use crate::mailbox::MailboxRule;

    fn no_trace() -> PartialTrace {
        PartialTrace {
            mailboxes: MailboxRule::Fifo,
            handlers: 0,
            messages: Vec::new(),
            events: Vec::new(),
            given: Vec::new(),
            backward: Vec::new(),
            ends: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The fact of a variable, counted from 1; negative ones are opposites.
    fn fact(literal: i32) -> Fact {
        let variable = literal.unsigned_abs();
        let fact = Fact::Runs { first: 2 * variable, second: 2 * variable + 1 };
        if literal > 0 { fact } else { fact.opposite() }
    }

    fn facts(clause: &[i32]) -> Vec<Fact> {
        clause.iter().map(|literal| fact(*literal)).collect()
    }

    /// A cycle that says that one of these holds.
    fn cycle(clause: &[i32]) -> RefutationStep {
        let link = |literal: &i32| Link { from: 0, to: 0, why: Why::Decided(fact(-literal)) };
        RefutationStep::Cycle(clause.iter().map(link).collect())
    }

    fn refutation(steps: Vec<RefutationStep>) -> Refutation {
        Refutation { steps }
    }

    #[test]
    fn units_alone_are_told_in_their_order() {
        let steps = vec![
            cycle(&[5, 6]),
            cycle(&[-1, 2]),
            cycle(&[7]),
            cycle(&[1]),
            cycle(&[-2, -1]),
            RefutationStep::Derived(Vec::new()),
        ];
        let core = core(&no_trace(), &refutation(steps)).unwrap();
        assert_eq!(core.forced, [(fact(1), 3), (fact(2), 1)]);
        assert_eq!((core.conflict, core.choices.len()), (Some(4), 0));
    }

    #[test]
    fn choices_leave_out_what_does_not_matter() {
        let steps = vec![
            cycle(&[-4, 1, 2]),
            cycle(&[1, -2]),
            cycle(&[8, 9]),
            cycle(&[4]),
            RefutationStep::Derived(vec![fact(8), fact(9), fact(1)]),
            RefutationStep::Derived(vec![fact(1)]),
            RefutationStep::Forget(vec![fact(8), fact(9), fact(1)]),
            cycle(&[-1, 3]),
            cycle(&[-1, -3]),
            RefutationStep::Derived(Vec::new()),
        ];
        let core = core(&no_trace(), &refutation(steps)).unwrap();
        assert_eq!(core.forced, [(fact(4), 3)]);
        let choices: Vec<usize> = core.choices.iter().map(|(_, step)| *step).collect();
        assert_eq!(choices, [0, 1, 7, 8]);
        assert_eq!(core.choices[0].0, facts(&[1, 2]), "what is forced is left out");
        assert_eq!((core.conflict, core.pairs), (None, 3));
    }

    #[test]
    fn what_is_no_refutation_has_no_core() {
        assert!(core(&no_trace(), &refutation(vec![])).is_none());
        let open = vec![cycle(&[1, 2]), cycle(&[-1, 2]), RefutationStep::Derived(vec![fact(2)])];
        assert!(core(&no_trace(), &refutation(open)).is_none());
        let wrong = vec![cycle(&[1, 2]), cycle(&[-1, 2]), RefutationStep::Derived(Vec::new())];
        assert!(core(&no_trace(), &refutation(wrong)).is_none());
    }

    /// Derives a clause for each node of a tree of decisions, children first.
    fn derive(
        path: &mut Vec<i32>,
        clauses: &[[i32; 3]],
        variables: i32,
        steps: &mut Vec<RefutationStep>,
    ) {
        let failed = |clause: &[i32; 3]| clause.iter().all(|literal| path.contains(&-literal));
        if !clauses.iter().any(failed) {
            let next = path.len() as i32 + 1;
            assert!(next <= variables, "the clauses have no model");
            for literal in [next, -next] {
                path.push(literal);
                derive(path, clauses, variables, steps);
                path.pop();
            }
        }
        let negated: Vec<i32> = path.iter().map(|literal| -literal).collect();
        steps.push(RefutationStep::Derived(facts(&negated)));
    }

    fn satisfiable(clauses: &[Vec<i32>], variables: i32) -> bool {
        (0..1_u32 << variables).any(|model| {
            let holds = |literal: &i32| {
                let bit = model >> (literal.unsigned_abs() - 1) & 1;
                (bit == 1) == (*literal > 0)
            };
            clauses.iter().all(|clause| clause.iter().any(holds))
        })
    }

    #[test]
    fn cores_of_random_refutations_contradict_themselves() {
        const VARIABLES: i32 = 7;
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut units, mut choices, mut smaller) = (0, 0, 0);
        for _ in 0..300 {
            let count = 30 + random(40);
            let mut literal = || {
                let variable = random(VARIABLES as u64) as i32 + 1;
                if random(2) == 0 { variable } else { -variable }
            };
            let clauses: Vec<[i32; 3]> =
                (0..count).map(|_| [literal(), literal(), literal()]).collect();
            let lists: Vec<Vec<i32>> = clauses.iter().map(|clause| clause.to_vec()).collect();
            if satisfiable(&lists, VARIABLES) {
                continue;
            }
            let mut steps: Vec<RefutationStep> =
                clauses.iter().map(|clause| cycle(clause)).collect();
            derive(&mut Vec::new(), &clauses, VARIABLES, &mut steps);
            let core = core(&no_trace(), &refutation(steps)).expect("a core");
            let kept: Vec<Vec<i32>> = core
                .forced
                .iter()
                .map(|(_, step)| *step)
                .chain(core.choices.iter().map(|(_, step)| *step))
                .chain(core.conflict)
                .map(|step| lists[step].clone())
                .collect();
            assert!(!satisfiable(&kept, VARIABLES), "{kept:?}");
            units += u32::from(core.conflict.is_some());
            choices += u32::from(core.conflict.is_none());
            smaller += u32::from(kept.len() < lists.len());
        }
        assert!(units > 5 && choices > 100 && smaller > 100, "{units} {choices} {smaller}");
    }
}
