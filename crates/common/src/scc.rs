//! Strongly connected components, without recursion.
//!
//! **Source.** R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1 (2),
//! 1972, with an explicit call stack. **Cost.** Linear in the nodes and edges that the roots reach.
//! Memory: eight bytes a node, and one stack entry for each node of the longest path.

/// One component, as [`components`] passes it to its callback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Component<'c> {
    /// Its nodes, in the order of discovery.
    pub members: &'c [u32],
    /// Whether no edge leads out of it.
    pub is_terminal: bool,
}

/// Calls `found` with every component that the roots reach. A component comes after all components
/// that it has edges to.
///
/// Nodes are numbers below `nodes`. The search skips roots that it has already reached.
///
/// # Panics
///
/// Panics if a root or a successor is not below `nodes`.
pub fn components<S: Iterator<Item = u32>>(
    nodes: usize,
    roots: impl IntoIterator<Item = u32>,
    mut successors: impl FnMut(u32) -> S,
    mut found: impl FnMut(Component<'_>),
) {
    let mut tarjan = Tarjan::new(nodes);
    let mut calls: Vec<(u32, S)> = Vec::new();
    for root in roots {
        if tarjan.number[root as usize] != 0 {
            continue;
        }
        tarjan.discover(root);
        calls.push((root, successors(root)));
        while let Some((node, edges)) = calls.last_mut() {
            let node = *node;
            match edges.find(|target| tarjan.is_new(node, *target)) {
                Some(target) => {
                    tarjan.discover(target);
                    calls.push((target, successors(target)));
                }
                None => {
                    calls.pop();
                    tarjan.close(node, calls.last().map(|(caller, _)| *caller), &mut found);
                }
            }
        }
    }
}

/// Marks a node whose component is closed.
const CLOSED: u32 = u32::MAX;

struct Tarjan {
    /// 0 before discovery; then the discovery number, from 1; finally [`CLOSED`].
    number: Vec<u32>,
    /// The least discovery number that a node reaches.
    low: Vec<u32>,
    /// The number of discovered nodes.
    count: u32,
    /// Discovered nodes whose component is not closed.
    open: Vec<u32>,
    /// Whether an edge leads from a node to a closed component.
    leaves: Vec<bool>,
}

impl Tarjan {
    fn new(nodes: usize) -> Tarjan {
        let (number, low, leaves) = (vec![0; nodes], vec![0; nodes], vec![false; nodes]);
        Tarjan { number, low, count: 0, open: Vec::new(), leaves }
    }

    fn discover(&mut self, node: u32) {
        self.count += 1;
        self.number[node as usize] = self.count;
        self.low[node as usize] = self.count;
        self.open.push(node);
    }

    /// Follows an edge. Returns whether its target is newly discovered.
    fn is_new(&mut self, node: u32, target: u32) -> bool {
        let at = node as usize;
        match self.number[target as usize] {
            0 => return true,
            CLOSED => self.leaves[at] = true,
            place => self.low[at] = self.low[at].min(place),
        }
        false
    }

    /// Finishes a node after all its edges were followed.
    fn close(&mut self, node: u32, caller: Option<u32>, found: &mut impl FnMut(Component<'_>)) {
        let at = node as usize;
        if self.low[at] != self.number[at] {
            let caller = caller.expect("only a root reaches nothing before itself") as usize;
            self.low[caller] = self.low[caller].min(self.low[at]);
            return;
        }
        let from = self.open.iter().rposition(|one| *one == node).unwrap_or(0);
        let members = &self.open[from..];
        members.iter().for_each(|member| self.number[*member as usize] = CLOSED);
        let is_terminal = !members.iter().any(|member| self.leaves[*member as usize]);
        found(Component { members, is_terminal });
        self.open.truncate(from);
        if let Some(caller) = caller {
            self.leaves[caller as usize] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::Rows;

    fn all(nodes: u32, edges: &[(u32, u32)]) -> Vec<(Vec<u32>, bool)> {
        let successors =
            |node| edges.iter().filter(move |(from, _)| *from == node).map(|(_, to)| *to);
        let mut all = Vec::new();
        components(nodes as usize, 0..nodes, successors, |component| {
            let mut members = component.members.to_vec();
            members.sort_unstable();
            all.push((members, component.is_terminal));
        });
        all
    }

    #[test]
    fn components_come_from_the_sinks_up() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 5), (5, 0)];
        assert_eq!(all(6, &edges), [(vec![3, 4], true), (vec![0, 1, 2], false), (vec![5], false)]);
        assert_eq!(all(0, &[]), []);
        assert_eq!(all(2, &[]), [(vec![0], true), (vec![1], true)]);
    }

    #[test]
    fn only_what_the_roots_reach_is_shown() {
        let mut shown: Vec<u32> = Vec::new();
        let successors = |node: u32| (node == 2).then_some(1).into_iter();
        components(4, [2, 1], successors, |component| shown.extend(component.members));
        assert_eq!(shown, [1, 2]);
    }

    /// Compares all graphs of four nodes with mutual reachability.
    #[test]
    fn all_small_graphs_agree_with_reachability() {
        const NODES: u32 = 4;
        for graph in 0..1u32 << (NODES * NODES) {
            let is_edge = |from: u32, to: u32| graph >> (from * NODES + to) & 1 == 1;
            let mut reach = Rows::square(NODES as usize);
            let pairs = |f: &mut dyn FnMut(u32, u32)| {
                (0..NODES).for_each(|from| (0..NODES).for_each(|to| f(from, to)));
            };
            pairs(&mut |from, to| {
                if from == to || is_edge(from, to) {
                    reach.set(from, to);
                }
            });
            (0..NODES).for_each(|via| {
                pairs(&mut |from, _| {
                    if reach.has(from, via) {
                        reach.join(from, via);
                    }
                });
            });
            let mut component_of = [u32::MAX; NODES as usize];
            let mut count = 0;
            let successors = |node| (0..NODES).filter(move |to| is_edge(node, *to));
            components(NODES as usize, 0..NODES, successors, |component| {
                component.members.iter().for_each(|one| component_of[*one as usize] = count);
                let member = component.members[0];
                let stays = (0..NODES).all(|to| !reach.has(member, to) || reach.has(to, member));
                assert_eq!(component.is_terminal, stays, "graph {graph}");
                count += 1;
            });
            pairs(&mut |a, b| {
                let together = reach.has(a, b) && reach.has(b, a);
                let [a_component, b_component] = [a, b].map(|one| component_of[one as usize]);
                assert_eq!(a_component == b_component, together, "graph {graph}");
                assert!(!reach.has(a, b) || a_component >= b_component, "graph {graph}");
            });
        }
    }
}
