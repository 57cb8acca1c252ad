//! A proof checker that shares nothing with the solver.

use std::collections::HashMap;

use anyorder_order::sat::{ClauseStep, Lit, ProofLog};

/// Checks a proof with occurrence lists only; returns the last learned clause.
pub(crate) struct Checker {
    pub(crate) clauses: Vec<Option<Vec<Lit>>>,
    pub(crate) occurrences: HashMap<Lit, Vec<usize>>,
    pub(crate) by_content: HashMap<Vec<Lit>, Vec<usize>>,
}

pub(crate) fn sorted(lits: &[Lit]) -> Vec<Lit> {
    let mut lits = lits.to_vec();
    lits.sort();
    lits
}

impl Checker {
    pub(crate) fn check(
        log: &ProofLog,
        mut valid: impl FnMut(&[Lit], u32) -> bool,
    ) -> Option<Vec<Lit>> {
        let mut checker =
            Checker { clauses: vec![], occurrences: HashMap::new(), by_content: HashMap::new() };
        let mut last = None;
        for step in log.steps() {
            match step {
                ClauseStep::Input(lits) => checker.add(lits),
                ClauseStep::Lemma(lits, tag) => {
                    assert!(valid(lits, tag), "lemma {lits:?} is not valid");
                    checker.add(lits);
                }
                ClauseStep::Learned(lits) => {
                    assert!(checker.implies(lits), "{lits:?} does not follow");
                    checker.add(lits);
                    last = Some(lits.to_vec());
                }
                ClauseStep::Deleted(lits) => {
                    let copies = checker.by_content.get_mut(&sorted(lits));
                    let copy = copies.and_then(Vec::pop).expect("deletes what there is");
                    checker.clauses[copy] = None;
                }
            }
        }
        last
    }

    pub(crate) fn add(&mut self, lits: &[Lit]) {
        for &lit in lits {
            self.occurrences.entry(lit).or_default().push(self.clauses.len());
        }
        self.by_content.entry(sorted(lits)).or_default().push(self.clauses.len());
        self.clauses.push(Some(lits.to_vec()));
    }

    /// Reverse unit propagation.
    pub(crate) fn implies(&self, lits: &[Lit]) -> bool {
        let mut truths = std::collections::HashSet::new();
        let mut queue: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
        for clause in self.clauses.iter().flatten() {
            match clause[..] {
                [] => return true,
                [first, ref rest @ ..] if rest.iter().all(|&lit| lit == first) => queue.push(first),
                _ => {}
            }
        }
        while let Some(lit) = queue.pop() {
            if truths.contains(&!lit) {
                return true;
            }
            if !truths.insert(lit) {
                continue;
            }
            for &at in self.occurrences.get(&!lit).into_iter().flatten() {
                let Some(clause) = &self.clauses[at] else { continue };
                if clause.iter().any(|lit| truths.contains(lit)) {
                    continue;
                }
                let mut open = clause.iter().filter(|&&lit| !truths.contains(&!lit));
                match (open.next(), open.next()) {
                    (None, _) => return true,
                    (Some(&unit), None) => queue.push(unit),
                    (Some(&a), Some(&b)) if a == b => queue.push(a),
                    _ => {}
                }
            }
        }
        false
    }
}
