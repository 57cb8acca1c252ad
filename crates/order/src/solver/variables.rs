//! The meaning of the search's variables.

use super::fact::Fact;
use super::problem::Node;
use crate::sat::{Core, Lit, Var};
use std::collections::HashMap;

/// The meaning of each variable, and the inverse map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    /// The fact of the positive literal; `None` for free variables.
    facts: Vec<Option<Fact>>,
    blocks: HashMap<(u32, u32), Var>,
    nodes: HashMap<(Node, Node), Var>,
}

impl Variables {
    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    /// Returns how many variables are pairs of blocks.
    pub(crate) fn pairs(&self) -> usize {
        self.blocks.len()
    }

    /// Makes a free variable; returns its literal.
    pub(crate) fn add_free(&mut self, core: &mut Core) -> Lit {
        let var = core.new_var(false);
        self.push(var, None);
        Lit::new(var, true)
    }

    /// Adds a variable that says that the first block comes before the second.
    pub(crate) fn add_blocks(&mut self, var: Var, first: u32, second: u32) {
        self.blocks.insert((first, second), var);
        self.push(var, Some(Fact::of_blocks(first, second)));
    }

    /// Adds a variable that says that the first node comes before the second.
    pub(crate) fn add_nodes(&mut self, var: Var, first: Node, second: Node) {
        self.nodes.insert((first, second), var);
        self.push(var, Some(Fact::Nodes { first, second }));
    }

    fn push(&mut self, var: Var, fact: Option<Fact>) {
        debug_assert_eq!(var.index(), self.facts.len());
        self.facts.push(fact);
    }

    /// Returns the literal for the order of two blocks, if they have a variable.
    pub(crate) fn blocks(&self, first: u32, second: u32) -> Option<Lit> {
        let var = self.blocks.get(&(first.min(second), first.max(second)))?;
        Some(Lit::new(*var, first < second))
    }

    /// Returns the literal for the order of two nodes, if they have a variable.
    pub(crate) fn nodes(&self, first: Node, second: Node) -> Option<Lit> {
        let var = self.nodes.get(&(first.min(second), first.max(second)))?;
        Some(Lit::new(*var, first < second))
    }

    /// Returns the fact that a literal states.
    pub(crate) fn fact(&self, lit: Lit) -> Option<Fact> {
        let fact = self.facts[lit.var().index()]?;
        Some(if lit.is_positive() { fact } else { fact.opposite() })
    }

    /// Iterates over all nodes that atoms name.
    pub(crate) fn atom_nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.facts
            .iter()
            .flat_map(|fact| match fact {
                Some(Fact::Nodes { first, second }) => [Some(*first), Some(*second)],
                _ => [None, None],
            })
            .flatten()
    }
}
