//! Reversals in programs whose tasks wait in queues.
//!
//! **Problem.** As in [`reversal`](super::reversal), but a task may have to wait for tasks of its
//! queue that were posted before it. The order of two posts can be changed if the tasks that posted
//! have none. So a conflict (i, j) is reversed in one of two ways: what has to run before j in its
//! queue runs before j; or, if i itself has to, or something that i leads to, then j is posted
//! earlier than that. **Guarantee.** If only these orders matter to the queue, j comes before i.
//! **Naive version**: the random systems of `tests/r4/queues` have all orders.
//! **Cost.** n/64 words for each task that is moved.

use super::ancestors::Ancestors;
use super::dependence::{Graph, Queued};
use super::outcome::ReversalKind;
use super::reversal::{Pair, Plan, place};
use super::step::Steps;

/// The plan for a relevant conflict (i, j).
pub(super) fn reversal(
    steps: &Steps,
    graph: &Graph,
    ancestors: &Ancestors,
    (i, j): (usize, usize),
) -> Plan {
    // Which tasks have to come before which; posts that change their order add more of them.
    let (mut start, mut posters, mut wanted) = (i, Vec::new(), vec![(i, j)]);
    while let Some((before, task)) = wanted.pop() {
        for m in (before + 1..=task).filter(|m| *m == task || ancestors.has(*m, task)) {
            let Some((a, b)) = swapped_posts(graph, ancestors, (before, m)) else { continue };
            start = start.min(a);
            if !posters.contains(&b) {
                posters.push(b);
                wanted.push((a, b));
            }
        }
    }
    let comes_first = |k: usize| posters.iter().any(|b| k == *b || k < *b && ancestors.has(k, *b));
    let needed = needed(graph, ancestors, (i, j), start, &comes_first);
    let rest = |k: &usize| !comes_first(*k);
    let first = (start..j).filter(|k| comes_first(*k));
    let with_j = (start..j).filter(rest).filter(|k| needed[*k - start]);
    let others = (start..j).filter(rest).filter(|k| !needed[*k - start]);
    let window = first.chain(with_j).chain([j]).chain(others).map(|k| steps[k].task).collect();
    let pair = Pair { first: steps[i].task, second: steps[j].task, kind: ReversalKind::Conflict };
    let leader = posters.iter().min().map_or(pair.second, |b| steps[*b].task);
    Plan { pair, at: place(start), window, resume: place(j + 1), leader }
}

/// Returns the posts whose order has to change so that m can come before i: the first task a that
/// posted i to the queue of m, or something that i leads to, and the task b that posted m.
fn swapped_posts(
    graph: &Graph,
    ancestors: &Ancestors,
    (i, m): (usize, usize),
) -> Option<(usize, usize)> {
    let of_m = graph.queued(m)?;
    let b = of_m.poster as usize;
    if ancestors.has(i, b) {
        return None;
    }
    let waits = |k: &usize| *k == i || ancestors.has(i, *k);
    let places = (i..m).filter(waits).filter_map(|k| graph.queued(k));
    let posts = places.filter(|place| of_m.waits_for(place)).map(|place| place.poster as usize);
    Some((posts.filter(|a| *a < b && !ancestors.has(*a, b)).min()?, b))
}

/// Returns, for each task from `start` to j, whether it has to come before j.
fn needed(
    graph: &Graph,
    ancestors: &Ancestors,
    (i, j): (usize, usize),
    start: usize,
    comes_first: &dyn Fn(usize) -> bool,
) -> Vec<bool> {
    // The posts in their new order.
    let order = |poster: usize| match poster < start {
        true => (0, poster),
        false => (if comes_first(poster) { 1 } else { 2 }, poster),
    };
    let mut needed = vec![false; j - start];
    let mut leads = vec![0u64; graph.len().div_ceil(64)];
    ancestors.add_to(&mut leads, j);
    let mut moved: Vec<Queued> = graph.queued(j).into_iter().collect();
    for k in (start..j).rev().filter(|k| *k != i && !ancestors.has(i, *k)) {
        let leads_to = leads[k / 64] >> (k % 64) & 1 == 1;
        let own = graph.queued(k);
        let is_before = |own: Queued| {
            let post = order(own.poster as usize);
            moved.iter().any(|one| one.waits_for(&own) && post < order(one.poster as usize))
        };
        if leads_to || own.is_some_and(is_before) {
            needed[k - start] = true;
            ancestors.add_to(&mut leads, k);
            moved.extend(own);
        }
    }
    needed
}
