//! Strongly connected components, without recursion.

use crate::graph::Graph;

/// No component: the state is not among those asked about.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// Returns the component of each state of a subgraph, and their number. Components are numbered from the sinks up. Linear.
///
/// This is Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM J. Comput., 1972) with the call stack
/// made explicit: an entry is a state and how many of its transitions were looked at.
pub(crate) fn components(graph: &Graph, inside: &[bool]) -> (Vec<u32>, u32) {
    let states = graph.len();
    let mut component = vec![OUTSIDE; states];
    // 0: not met; otherwise its place in the order of meeting, plus one. `low` is the least place reachable.
    let (mut met, mut low) = (vec![0u32; states], vec![0u32; states]);
    let (mut count, mut components) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    for root in 0..states as u32 {
        if !inside[root as usize] || met[root as usize] != 0 {
            continue;
        }
        calls.push((root, 0));
        while let Some((state, next)) = calls.pop() {
            let at = state as usize;
            if met[at] == 0 {
                count += 1;
                met[at] = count;
                low[at] = count;
                open.push(state);
            }
            let mut called = false;
            for (place, target) in graph.successors(state).enumerate().skip(next) {
                let Some(target) = target.filter(|target| inside[*target as usize]) else {
                    continue;
                };
                let to = target as usize;
                if met[to] == 0 {
                    calls.push((state, place + 1));
                    calls.push((target, 0));
                    called = true;
                    break;
                }
                if component[to] == OUTSIDE {
                    low[at] = low[at].min(low[to].min(met[to]));
                }
            }
            if called {
                continue;
            }
            if low[at] == met[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = components;
                    if member == state {
                        break;
                    }
                }
                components += 1;
            }
            if let Some((caller, _)) = calls.last()
                && component[at] == OUTSIDE
            {
                let caller = *caller as usize;
                low[caller] = low[caller].min(low[at]);
            }
        }
    }
    (component, components)
}
