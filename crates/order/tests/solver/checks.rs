//! Checks of answers.

use crate::tests::solver::oracle::{self, Atom, Condition};
use crate::tests::solver::proof::{self, Allowed};
use crate::tests::solver::session::{FREES, Session};
use anyorder_order::sat::Lit;
use anyorder_order::solver::{Answer, Claim, Refutation, RefutationStep};

impl Session<'_> {
    pub(crate) fn check(
        &mut self,
        answer: &Answer,
        assumed: &[(Atom, bool)],
        lits: &[Lit],
    ) -> Result<(), String> {
        let truth = self.truth(assumed);
        match answer {
            Answer::Ordered(_) if !truth => Err("an order where there is none".into()),
            Answer::Impossible { .. } if truth => Err("impossible, yet there is an order".into()),
            Answer::Unknown(_) if self.plan.most_conflicts.is_none() => {
                Err("unknown without a limit".into())
            }
            Answer::Unknown(_) => Ok(()),
            Answer::Ordered(order) => self.check_order(order, assumed),
            Answer::Impossible { core } => self.check_core(core, assumed, lits),
        }
    }

    fn check_order(&mut self, order: &[u32], assumed: &[(Atom, bool)]) -> Result<(), String> {
        self.counters.add("ordered", 1);
        let places = oracle::places(order);
        if let Some(wrong) = oracle::violation(&self.spec, &places) {
            return Err(format!("{order:?}: {wrong}"));
        }
        let mut conditions: Vec<Condition> = self.required.iter().flatten().cloned().collect();
        self.counters.note("ordered under conditions", !conditions.is_empty());
        conditions.extend(assumed.iter().map(|&(atom, value)| Condition::Is(atom, value)));
        if !oracle::all_hold(&self.spec, &conditions, &places, FREES) {
            return Err(format!("{order:?}: a condition does not hold"));
        }
        let closest = self.closest(&places);
        if closest != order {
            return Err(format!("{order:?} is not the closest order: {closest:?}"));
        }
        if let Some(preferred) = &self.spec.preferred
            && oracle::violation(&self.spec, preferred).is_none()
            && oracle::all_hold(&self.spec, &conditions, preferred, FREES)
        {
            self.counters.add("preferred order possible", 1);
            self.counters.note("preferred order returned", places == *preferred);
        }
        Ok(())
    }

    /// Returns the order closest to the preferred one that agrees with all decided orders.
    fn closest(&self, places: &[u32]) -> Vec<u32> {
        let at = |node: u32| places[node as usize];
        let mut edges = self.spec.edges.clone();
        // Two blocks that enter at one node are unordered.
        let mut ordered = |a: u32, b: u32| {
            if a != b {
                edges.push(if at(a) < at(b) { (a, b) } else { (b, a) })
            }
        };
        for (i, a) in self.spec.blocks.iter().enumerate() {
            for b in &self.spec.blocks[..i] {
                if a.resource == b.resource {
                    ordered(
                        if at(a.first) < at(b.first) { a.last } else { a.first },
                        if at(a.first) < at(b.first) { b.first } else { b.last },
                    );
                    if let (Some(a), Some(b)) = (a.entry, b.entry) {
                        ordered(a.0, b.0);
                    }
                }
            }
        }
        for atom in self.atoms.keys() {
            if let Atom::Nodes(a, b) = *atom {
                ordered(a, b);
            }
        }
        edges.extend(
            self.spec.blocks.iter().filter_map(|block| Some((block.entry?.0, block.first))),
        );
        let nodes = self.spec.nodes();
        let wish =
            |node: u32| self.spec.preferred.as_ref().map_or(node, |wish| wish[node as usize]);
        let mut order: Vec<u32> = Vec::new();
        let mut placed = vec![false; nodes as usize];
        while order.len() < nodes as usize {
            let mut best: Option<u32> = None;
            for node in 0..nodes {
                let along = node == 0
                    || placed[node as usize - 1]
                    || self.spec.chain_of(node - 1) != self.spec.chain_of(node);
                let free =
                    along && edges.iter().all(|&(from, to)| to != node || placed[from as usize]);
                if !placed[node as usize] && free && best.is_none_or(|best| wish(node) < wish(best))
                {
                    best = Some(node);
                }
            }
            let node = best.expect("what an order decides has no cycle");
            placed[node as usize] = true;
            order.push(node);
        }
        order
    }

    fn check_core(
        &mut self,
        core: &[Lit],
        assumed: &[(Atom, bool)],
        lits: &[Lit],
    ) -> Result<(), String> {
        self.counters.add("impossible", 1);
        self.counters.note("impossible by assumptions", !core.is_empty());
        if let Some(other) = core.iter().find(|lit| !lits.contains(lit)) {
            return Err(format!("{other:?} of the core was not assumed"));
        }
        let named: Vec<(Atom, bool)> =
            (0..lits.len()).filter(|&i| core.contains(&lits[i])).map(|i| assumed[i]).collect();
        self.counters.note("core smaller than the assumptions", named.len() < assumed.len());
        if self.truth(&named) {
            return Err(format!("the core {named:?} can hold"));
        }
        let refutation = self.solver.refutation();
        if refutation.is_some() != self.proof && !self.by_saturation(refutation.as_ref()) {
            return Err("a proof where none was kept, or the other way round".into());
        }
        let Some(refutation) = refutation else { return Ok(()) };
        self.counters.add("refutations checked", 1);
        let claim = |lit: Lit| proof::claim(self.solver.fact(lit), lit);
        let inputs: Vec<Vec<Claim>> =
            self.inputs.iter().map(|input| input.iter().map(|&lit| claim(lit)).collect()).collect();
        let assumed: Vec<Claim> = core.iter().chain(&self.scopes).map(|&lit| claim(lit)).collect();
        let inputs = (!self.formulas).then_some(&inputs[..]);
        self.counters.note("refutations with all inputs known", inputs.is_some());
        let allowed = Allowed { inputs, assumed: &assumed };
        match proof::mistake(&self.spec, &refutation, &allowed, &mut self.seen) {
            Some(wrong) => Err(format!("refutation: {wrong}")),
            None => Ok(()),
        }
    }

    /// The problem alone is refuted without a search: such a proof always exists.
    fn by_saturation(&self, refutation: Option<&Refutation>) -> bool {
        refutation.is_some_and(|refutation| {
            refutation.steps.iter().all(|step| {
                matches!(step, RefutationStep::Cycle(_))
                    || *step == RefutationStep::Derived(Vec::new())
            })
        })
    }
}
