//! The pairs of blocks with one possible order, computed by a slow closure.

use crate::tests::solver::oracle::keeps;
use crate::tests::solver::random::Spec;

/// Returns, for each ordered pair of blocks, whether the first must come first; `None` when some
/// pair has no possible order.
pub(crate) fn forced(spec: &Spec) -> Option<Vec<Vec<bool>>> {
    let nodes = spec.nodes() as usize;
    let mut reaches = vec![vec![false; nodes]; nodes];
    let mut start = 0;
    for &len in &spec.lens {
        for node in start + 1..start + len {
            reaches[node as usize - 1][node as usize] = true;
        }
        start += len;
    }
    for &(from, to) in &spec.edges {
        reaches[from as usize][to as usize] = true;
    }
    for block in &spec.blocks {
        if let Some((entry, _)) = block.entry {
            reaches[entry as usize][block.first as usize] = true;
        }
    }
    let count = spec.blocks.len();
    let mut before = vec![vec![false; count]; count];
    loop {
        close(&mut reaches);
        if (0..nodes).any(|node| reaches[node][node]) {
            return None;
        }
        let mut changed = false;
        for (i, a) in spec.blocks.iter().enumerate() {
            for (j, b) in spec.blocks.iter().enumerate() {
                if i == j || a.resource != b.resource || before[i][j] {
                    continue;
                }
                let path = |from: u32, to: u32| from == to || reaches[from as usize][to as usize];
                let mut must = path(a.first, b.last);
                if let (Some((enters_a, rank_a)), Some((enters_b, rank_b))) = (a.entry, b.entry) {
                    must |= reaches[enters_a as usize][enters_b as usize] && keeps(rank_a, rank_b);
                    if must && keeps(rank_b, rank_a) && enters_a != enters_b {
                        reaches[enters_a as usize][enters_b as usize] = true;
                    }
                }
                if must {
                    before[i][j] = true;
                    changed = true;
                    reaches[a.last as usize][b.first as usize] = true;
                }
            }
        }
        if !changed {
            return Some(before);
        }
    }
}

fn close(reaches: &mut [Vec<bool>]) {
    let nodes = reaches.len();
    for through in 0..nodes {
        let further = reaches[through].clone();
        for row in reaches.iter_mut().filter(|row| row[through]) {
            row.iter_mut().zip(&further).for_each(|(to, &more)| *to |= more);
        }
    }
}
