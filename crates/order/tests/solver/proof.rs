//! A naive checker of refutations: it takes the problem from the test alone.

use crate::tests::solver::oracle::keeps;
use crate::tests::solver::random::Spec;
use anyorder_order::sat::Lit;
use anyorder_order::solver::{Claim, Fact, Link, Node, Refutation, RefutationStep, Why};
use std::collections::BTreeSet;

/// A clause: a set of claims.
type Clause = BTreeSet<Claim>;

fn not(claim: Claim) -> Claim {
    match claim {
        Claim::Fact(fact) => Claim::Fact(fact.opposite()),
        Claim::Free(lit) => Claim::Free(!lit),
    }
}

/// Counters over proofs.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) chain_links: u64,
    pub(crate) given_links: u64,
    pub(crate) block_links: u64,
    pub(crate) entry_links: u64,
    pub(crate) node_links: u64,
    pub(crate) derived: u64,
    pub(crate) forgotten: u64,
}

/// What a proof may use, and what it has to derive.
pub(crate) struct Allowed<'a> {
    /// The required clauses, or `None` where formulas added clauses unknown to the test.
    pub(crate) inputs: Option<&'a [Vec<Claim>]>,
    /// The assumptions of the last answer, scopes included.
    pub(crate) assumed: &'a [Claim],
}

/// Returns the mistake in a refutation, if any.
pub(crate) fn mistake(
    spec: &Spec,
    proof: &Refutation,
    allowed: &Allowed<'_>,
    seen: &mut Seen,
) -> Option<String> {
    let inputs: Option<BTreeSet<Clause>> = allowed
        .inputs
        .map(|inputs| inputs.iter().map(|input| input.iter().copied().collect()).collect());
    let mut held: Vec<Clause> = Vec::new();
    let mut last: Option<Clause> = None;
    for (number, step) in proof.steps.iter().enumerate() {
        match step {
            RefutationStep::Input(claims) => {
                let clause: Clause = claims.iter().copied().collect();
                if inputs.as_ref().is_some_and(|inputs| !inputs.contains(&clause)) {
                    return Some(format!("step {number}: nobody required {claims:?}"));
                }
                held.push(clause);
            }
            RefutationStep::Cycle(links) => match cycle(spec, links, seen) {
                Ok(clause) if clause.is_empty() => return None,
                Ok(clause) => held.push(clause),
                Err(wrong) => return Some(format!("step {number}: {wrong}")),
            },
            RefutationStep::Derived(claims) => {
                let clause: Clause = claims.iter().copied().collect();
                if !follows(&held, &clause) {
                    return Some(format!("step {number}: {claims:?} does not follow"));
                }
                seen.derived += 1;
                held.push(clause.clone());
                last = Some(clause);
            }
            RefutationStep::Forget(claims) => {
                let clause: Clause = claims.iter().copied().collect();
                let Some(at) = held.iter().position(|held| *held == clause) else {
                    return Some(format!("step {number}: {claims:?} was not held"));
                };
                seen.forgotten += 1;
                held.swap_remove(at);
            }
        }
    }
    match last {
        None => Some("nothing was derived".into()),
        Some(last) => {
            last.iter().find(|&&claim| !allowed.assumed.contains(&not(claim))).map(|claim| {
                format!("the last clause has {claim:?}, which nobody assumed the opposite of")
            })
        }
    }
}

/// Checks a cycle link by link, and returns the clause "not all of its facts".
fn cycle(spec: &Spec, links: &[Link], seen: &mut Seen) -> Result<Clause, String> {
    let mut clause = Clause::new();
    let Some(last) = links.last() else { return Err("an empty cycle".into()) };
    let mut at = last.to;
    for link in links {
        if link.from != at {
            return Err(format!("{link:?} does not go on from node {at}"));
        }
        at = link.to;
        let fine = match link.why {
            Why::Chain => {
                seen.chain_links += 1;
                spec.chain_of(link.from) == spec.chain_of(link.to) && link.from < link.to
            }
            Why::Given(tag) if tag.0 >= 1000 => {
                seen.given_links += 1;
                let block = spec.blocks.get(tag.0 as usize - 1000);
                block.is_some_and(|block| {
                    block.entry.is_some_and(|entry| entry.0 == link.from) && block.first == link.to
                })
            }
            Why::Given(tag) => {
                seen.given_links += 1;
                spec.edges.get(tag.0 as usize) == Some(&(link.from, link.to))
            }
            Why::Decided(fact) => {
                clause.insert(Claim::Fact(fact.opposite()));
                decided(spec, fact, link.from, link.to, seen)
            }
        };
        if !fine {
            return Err(format!("{link:?} does not hold"));
        }
    }
    Ok(clause)
}

fn decided(spec: &Spec, fact: Fact, from: Node, to: Node, seen: &mut Seen) -> bool {
    match fact {
        Fact::Nodes { first, second } => {
            seen.node_links += 1;
            (first, second) == (from, to)
        }
        Fact::Blocks { first, second } => {
            let (Some(a), Some(b)) =
                (spec.blocks.get(first.index()), spec.blocks.get(second.index()))
            else {
                return false;
            };
            if first == second || a.resource != b.resource {
                return false;
            }
            if (a.first..=a.last).contains(&from) && (b.first..=b.last).contains(&to) {
                seen.block_links += 1;
                return true;
            }
            seen.entry_links += 1;
            match (a.entry, b.entry) {
                (Some((enters_a, rank_a)), Some((enters_b, rank_b))) => {
                    (enters_a, enters_b) == (from, to) && keeps(rank_b, rank_a)
                }
                _ => false,
            }
        }
    }
}

/// Whether making a clause false and propagating units gives a contradiction. Quadratic and simple.
fn follows(held: &[Clause], clause: &Clause) -> bool {
    let mut is: BTreeSet<Claim> = clause.iter().map(|&claim| not(claim)).collect();
    if is.iter().any(|&claim| is.contains(&not(claim))) {
        return true;
    }
    loop {
        let mut changed = false;
        for clause in held {
            if clause.iter().any(|claim| is.contains(claim)) {
                continue;
            }
            let mut open = clause.iter().filter(|&&claim| !is.contains(&not(claim)));
            match (open.next(), open.next()) {
                (None, _) => return true,
                (Some(&unit), None) => changed |= is.insert(unit),
                _ => {}
            }
        }
        if !changed {
            return false;
        }
    }
}

/// Returns the claim that a literal states.
pub(crate) fn claim(fact: Option<Fact>, lit: Lit) -> Claim {
    fact.map_or(Claim::Free(lit), Claim::Fact)
}
