//! Images of small Boolean formulas in conjunctive normal form.
//!
//! A variable is a handler with two messages, `yes` and `no`, posted by the initial messages of two
//! other handlers. It is true if `yes` comes first. For each literal of the variable, both post a
//! copy of themselves to a separate handler. The mailbox is FIFO, so each pair of copies has the
//! order of the originals. A clause connects the copies of its literals to a ring, which closes to
//! a cycle exactly if all literals are false. So a run exists if and only if the formula is
//! satisfiable.

use super::sketch::Sketch;
use anyorder_common::random::{Random, Rng};

/// Makes the image of a random formula with two to four variables.
pub(super) fn formula(rng: &mut Rng) -> Sketch {
    let (variables, count) = match rng.below(8) {
        0..4 => (2, rng.within(3, 4)),
        4..7 => (3, rng.within(4, 7)),
        _ => (4, rng.within(6, 9)),
    };
    let mut clauses: Vec<Clause> = Vec::new();
    while clauses.len() < count as usize {
        let clause = random_clause(rng, variables);
        // Small formulas with duplicate clauses are rarely contradictory.
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    image(variables, &clauses)
}

/// Variables, each with the value that makes its literal true.
pub(super) type Clause = Vec<(usize, bool)>;

/// Draws a clause of two or three different variables, ascending.
fn random_clause(rng: &mut Rng, variables: usize) -> Clause {
    let width = if variables > 2 && rng.percent(15) { 3 } else { 2 };
    let mut left: Vec<usize> = (0..variables).collect();
    while left.len() > width {
        left.remove(rng.index(left.len()));
    }
    left.into_iter().map(|variable| (variable, rng.percent(50))).collect()
}

/// Makes the image of a formula.
pub(super) fn image(variables: usize, clauses: &[Clause]) -> Sketch {
    let literals: usize = clauses.iter().map(Vec::len).sum();
    let mut sketch = Sketch::new(2 + variables + literals, 0);
    let mut originals = Vec::new();
    for variable in 0..variables {
        let (yes, no) = (sketch.add_message(2 + variable), sketch.add_message(2 + variable));
        sketch.post(0, yes);
        sketch.post(1, no);
        originals.push((yes, no));
    }
    let mut handler = 2 + variables;
    for clause in clauses {
        let mut pairs = Vec::new();
        for (variable, value) in clause {
            let (yes, no) = (sketch.add_message(handler), sketch.add_message(handler));
            sketch.post(originals[*variable].0, yes);
            sketch.post(originals[*variable].1, no);
            // The copies in the order in which they come when the literal is false.
            pairs.push(if *value { (no, yes) } else { (yes, no) });
            handler += 1;
        }
        for at in 0..pairs.len() {
            let (from, to) = (pairs[at].1, pairs[(at + 1) % pairs.len()].0);
            let tie = sketch.add_variable();
            let write = sketch.write(from, tie);
            sketch.read(to, tie, Some(write));
        }
    }
    sketch
}
