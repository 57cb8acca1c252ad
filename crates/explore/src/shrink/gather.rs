//! Brings the tasks of one runner together, so that a run switches less often.

use super::order::conflict;
use super::runner::{NoRun, Ran, Runner};
use anyorder_system::Choice;
use std::ops::Range;

/// Moves blocks of neighbouring tasks of one handler to an earlier or a later block of that
/// handler, past tasks that they do not conflict with, as long as the run still shows the symptom
/// and has the same tasks. So the number of reversals stays. O(n²) runs in the number of blocks.
pub(super) fn gather(runner: &mut Runner<'_>, best: &mut Ran) -> Result<(), NoRun> {
    while once(runner, best)? {}
    Ok(())
}

/// Returns whether a block was moved. Each move makes at least one switch less.
fn once(runner: &mut Runner<'_>, best: &mut Ran) -> Result<bool, NoRun> {
    let blocks = blocks(&best.choices);
    for (at, later) in blocks.iter().enumerate() {
        let handler = &best.choices[later.start].handler;
        let same = |one: &&Range<usize>| best.choices[one.start].handler == *handler;
        let Some(earlier) = blocks[..at].iter().rev().find(same) else { continue };
        if handler.is_empty() || earlier.end == later.start {
            continue;
        }
        let between = earlier.end..later.start;
        for moved in [later, earlier] {
            if moved.clone().any(|one| between.clone().any(|other| meet(best, one, other))) {
                continue;
            }
            let plan = moved_past(&best.choices, moved, &between);
            let ran = runner.attempt(&plan)?;
            let better = |ran: &Ran| {
                ran.shows && (ran.choices == plan || ran.choices.len() < best.choices.len())
            };
            if let Some(ran) = ran.filter(better) {
                *best = ran;
                runner.improved(best);
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether two tasks of a run conflict.
fn meet(ran: &Ran, one: usize, other: usize) -> bool {
    let footprint = |at: usize| ran.footprints.get(at).and_then(Option::as_ref);
    conflict(footprint(one), footprint(other))
}

/// The choices with a block on the other side of those next to it.
fn moved_past(choices: &[Choice], block: &Range<usize>, others: &Range<usize>) -> Vec<Choice> {
    let (first, last) = (block.start.min(others.start), block.end.max(others.end));
    let (left, right) = if block.start < others.start { (others, block) } else { (block, others) };
    let parts = [&choices[..first], &choices[left.clone()], &choices[right.clone()]];
    parts.into_iter().chain([&choices[last..]]).flatten().cloned().collect()
}

/// The neighbouring tasks of one handler. A task whose handler is not known is a block alone.
fn blocks(choices: &[Choice]) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (at, choice) in choices.iter().enumerate() {
        match blocks.last_mut() {
            Some(last)
                if !choice.handler.is_empty() && choices[last.start].handler == choice.handler =>
            {
                last.end = at + 1;
            }
            _ => blocks.push(at..at + 1),
        }
    }
    blocks
}
