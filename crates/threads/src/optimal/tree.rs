//! Wakeup trees: the sequences that are to be run after a prefix.

use super::label::Label;
use super::sabotage::Sabotage;

/// A step of a wakeup tree, and the trees after it, in the order in which they are run.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) label: Label,
    pub(super) after: Vec<Tree>,
}

/// Where an event stands in a sequence that it can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Begins {
    /// It is there, and nothing before it is dependent on it.
    At(usize),
    /// It is not there, and all of it is independent of it.
    Apart,
    /// It cannot begin the sequence.
    Not,
}

/// Whether an event is a *weak initial* of a sequence: whether some continuation of the sequence is
/// equivalent to one that begins with the event. Linear in the sequence.
pub(super) fn begins(event: &Label, sequence: &[Label], sabotage: Sabotage) -> Begins {
    let mut left = event.left;
    for (at, other) in sequence.iter().enumerate() {
        if other.thread == event.thread {
            let is_same = other.alternative == event.alternative;
            return if is_same { Begins::At(at) } else { Begins::Not };
        }
        if event.is_dependent(other, sabotage) && sabotage != Sabotage::BeginnersAnywhere {
            return Begins::Not;
        }
        if event.removes_with(other) && sabotage != Sabotage::LastOwnersCommute {
            left = left.saturating_sub(1);
            if left < 2 {
                return Begins::Not;
            }
        }
    }
    if sabotage == Sabotage::BeginnersWithin { Begins::Not } else { Begins::Apart }
}

/// Puts a sequence into ordered trees, unless a sequence there stands for it: goes down the first
/// branch that can begin what is left of it, and adds what is left as the last branch.
pub(super) fn insert(trees: &mut Vec<Tree>, mut sequence: Vec<Label>, sabotage: Sabotage) -> bool {
    let mut trees = trees;
    loop {
        let mut branch = None;
        for (number, tree) in trees.iter().enumerate() {
            let begins = begins(&tree.label, &sequence, sabotage);
            if begins != Begins::Not && sabotage != Sabotage::OwnBranch {
                branch = Some((number, begins));
                break;
            }
        }
        let Some((number, begins)) = branch else { break };
        if let Begins::At(at) = begins {
            sequence.remove(at);
        }
        trees = &mut trees[number].after;
        if trees.is_empty() || sabotage == Sabotage::BranchesAreLeaves {
            return false;
        }
    }
    let mut rest = sequence.into_iter().rev();
    let Some(last) = rest.next() else { return false };
    let first = rest.fold(Tree { label: last, after: Vec::new() }, |tree, label| Tree {
        label,
        after: vec![tree],
    });
    trees.push(first);
    true
}
