//! The naive encoding in plain SAT: one Boolean for each pair of nodes, and transitivity for each
//! three of them.

use super::oracle::{Atom, Condition, keeps};
use super::random::Spec;

/// Clauses over variables 1, 2, ...; a negative number is a negated variable.
pub(crate) struct Encoding {
    nodes: u32,
    pub(crate) variables: u32,
    pub(crate) clauses: Vec<Vec<i32>>,
}

impl Encoding {
    pub(crate) fn of(spec: &Spec) -> Encoding {
        let nodes = spec.nodes();
        let mut encoding = Encoding { nodes, variables: 0, clauses: Vec::new() };
        encoding.variables = encoding.pairs();
        for i in 0..nodes {
            for j in i + 1..nodes {
                for k in j + 1..nodes {
                    let (ij, jk, ik) =
                        (encoding.before(i, j), encoding.before(j, k), encoding.before(i, k));
                    encoding.clauses.push(vec![-ij, -jk, ik]);
                    encoding.clauses.push(vec![ij, jk, -ik]);
                }
            }
        }
        let mut start = 0;
        for &len in &spec.lens {
            for node in start + 1..start + len {
                encoding.given(node - 1, node);
            }
            start += len;
        }
        for &(from, to) in &spec.edges {
            encoding.given(from, to);
        }
        for (i, a) in spec.blocks.iter().enumerate() {
            if let Some((entry, _)) = a.entry {
                encoding.given(entry, a.first);
            }
            for (j, b) in spec.blocks.iter().enumerate() {
                if i != j && a.resource == b.resource {
                    encoding.exclude(spec, i, j);
                }
            }
        }
        encoding
    }

    /// Returns the literal that says that one node comes before another.
    pub(crate) fn before(&self, first: u32, second: u32) -> i32 {
        let (low, high) = (first.min(second), first.max(second));
        let row = low * (2 * self.nodes - low - 1) / 2;
        let variable = (row + high - low) as i32;
        if first < second { variable } else { -variable }
    }

    fn pairs(&self) -> u32 {
        self.nodes * self.nodes.saturating_sub(1) / 2
    }

    fn given(&mut self, first: u32, second: u32) {
        let clause = if first == second { Vec::new() } else { vec![self.before(first, second)] };
        self.clauses.push(clause);
    }

    fn exclude(&mut self, spec: &Spec, i: usize, j: usize) {
        let (a, b) = (&spec.blocks[i], &spec.blocks[j]);
        if i < j {
            let either = [(a.last, b.first), (b.last, a.first)];
            let clause = either.iter().filter(|(from, to)| from != to);
            let clause: Vec<i32> = clause.map(|&(from, to)| self.before(from, to)).collect();
            self.clauses.push(clause);
        }
        if let (Some((enters_a, rank_a)), Some((enters_b, rank_b))) = (a.entry, b.entry)
            && keeps(rank_a, rank_b)
            && enters_a != enters_b
        {
            let mut clause = vec![-self.before(enters_a, enters_b)];
            if a.last != b.first {
                clause.push(self.before(a.last, b.first));
            }
            self.clauses.push(clause);
        }
    }

    /// Returns the literal of an atom that is no free variable; free ones come after the pairs.
    pub(crate) fn literal(&self, spec: &Spec, atom: Atom) -> i32 {
        match atom {
            Atom::Nodes(a, b) => self.before(a, b),
            Atom::Blocks(a, b) => {
                // Never called for blocks that share a node: such a problem has no order.
                let (from, to) = (spec.blocks[a as usize].last, spec.blocks[b as usize].first);
                if from == to {
                    self.before(spec.blocks[a as usize].first, to)
                } else {
                    self.before(from, to)
                }
            }
            Atom::Free(index) => (self.pairs() + 1 + index) as i32,
        }
    }

    /// The same with free variables, numbered after the pairs.
    pub(crate) fn with_frees(&self, frees: u32) -> Encoding {
        let Encoding { nodes, variables, .. } = *self;
        Encoding { nodes, variables: variables + frees, clauses: self.clauses.clone() }
    }

    /// Demands a condition. Variables for its parts are numbered after the free ones.
    pub(crate) fn require(&mut self, spec: &Spec, condition: &Condition) {
        let whole = self.part(spec, condition);
        self.clauses.push(vec![whole]);
    }

    /// Returns a literal that is true exactly where a condition holds.
    fn part(&mut self, spec: &Spec, condition: &Condition) -> i32 {
        let (parts, is_all) = match condition {
            Condition::Is(atom, value) => {
                let literal = self.literal(spec, *atom);
                return if *value { literal } else { -literal };
            }
            Condition::Not(part) => return -self.part(spec, part),
            Condition::All(parts) => (parts, true),
            Condition::Any(parts) => (parts, false),
        };
        let parts: Vec<i32> = parts.iter().map(|part| self.part(spec, part)).collect();
        self.variables += 1;
        let whole = self.variables as i32;
        // A disjunction holds where not all opposites hold.
        let sign = if is_all { 1 } else { -1 };
        for part in &parts {
            self.clauses.push(vec![-sign * whole, sign * part]);
        }
        self.clauses.push(parts.iter().map(|part| -sign * part).chain([sign * whole]).collect());
        whole
    }
}
