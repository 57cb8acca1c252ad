//! Terminal strongly connected components of the explored graph: those that no step leaves.

use super::space::{Edge, Space};

/// Returns the states of each terminal component, both in the order of the lowest number. Linear.
///
/// This is Tarjan's algorithm ("Depth-first search and linear graph algorithms", SIAM J. Comput., 1972) with the call stack made explicit: an entry is a
/// state and how many of its edges were looked at. A component is terminal when no edge leads from it to one that was closed before.
///
/// The state with the greatest number in a terminal component has no edge to a greater number. Only what such states reach is looked at: in a
/// graph without cycles, whose states are numbered as they are found, almost nothing.
pub(crate) fn terminal<T>(space: &Space<T>) -> Vec<Vec<u32>> {
    const DONE: u32 = u32::MAX;
    let states = space.nodes.len();
    // 0: not met; then its place in the order of meeting, from 1; at last `DONE`.
    let (mut met, mut low) = (vec![0u32; states], vec![0u32; states]);
    let mut leaves = vec![false; states];
    let (mut open, mut calls, mut count) = (Vec::new(), Vec::new(), 0);
    let mut found: Vec<Vec<u32>> = Vec::new();
    for root in 0..states as u32 {
        let goes_up = |edge: &Edge| edge.state().is_some_and(|target| target > root);
        if met[root as usize] != 0 || space.edges(root).iter().any(goes_up) {
            continue;
        }
        calls.push((root, 0));
        while let Some((state, next)) = calls.pop() {
            let at = state as usize;
            if met[at] == 0 {
                count += 1;
                (met[at], low[at]) = (count, count);
                open.push(state);
            }
            let targets = space.edges(state).iter().enumerate().skip(next);
            let mut called = false;
            for (place, target) in
                targets.filter_map(|(place, edge)| edge.state().map(|state| (place, state)))
            {
                match met[target as usize] {
                    0 => {
                        calls.extend([(state, place), (target, 0)]);
                        called = true;
                        break;
                    }
                    DONE => leaves[at] = true,
                    _ => low[at] = low[at].min(low[target as usize]),
                }
            }
            if called || low[at] != met[at] {
                if !called && let Some((caller, _)) = calls.last() {
                    let caller = *caller as usize;
                    low[caller] = low[caller].min(low[at]);
                }
                continue;
            }
            let from = open.iter().rposition(|one| *one == state).unwrap_or(0);
            let mut members = open.split_off(from);
            members.iter().for_each(|member| met[*member as usize] = DONE);
            if !members.iter().any(|member| leaves[*member as usize]) {
                members.sort_unstable();
                found.push(members);
            }
        }
    }
    found.sort_unstable_by_key(|members| members[0]);
    found
}
