//! Removes tasks as long as the run still shows the symptom.

use super::runner::{NoRun, Ran, Runner};

/// Removes tasks from a run that shows the symptom, in ever smaller parts, until no single task can
/// be removed. Returns whether it reached that point. O(n²) runs in the worst case, O(n log n) if
/// few tasks are needed.
pub(super) fn minimize(runner: &mut Runner<'_>, best: &mut Ran) -> Result<bool, NoRun> {
    let mut part = (best.choices.len() / 2).max(1);
    loop {
        let taken = pass(runner, best, part)?;
        if part > 1 {
            part /= 2;
        } else if !taken {
            return Ok(true);
        }
    }
}

/// Tries to remove each part of that many tasks, the last part first, because late tasks are needed
/// least often. Returns whether any part was removed.
fn pass(runner: &mut Runner<'_>, best: &mut Ran, part: usize) -> Result<bool, NoRun> {
    let mut taken = false;
    let mut end = best.choices.len();
    while end > 0 {
        let start = end.saturating_sub(part);
        let mut plan = best.choices.clone();
        plan.drain(start..end);
        let ran = runner.attempt(&plan)?;
        let better = |ran: &Ran| ran.shows && ran.choices.len() < best.choices.len();
        if let Some(ran) = ran.filter(better) {
            *best = ran;
            runner.improved(best);
            taken = true;
        }
        end = start.min(best.choices.len());
    }
    Ok(taken)
}
