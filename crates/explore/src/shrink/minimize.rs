//! Removes tasks as long as the run still shows the symptom.

use super::runner::{NoRun, Ran, Runner};
use anyorder_system::{Choice, TaskSystem};

/// Removes tasks from a run that shows the symptom, in ever smaller parts, until no single task can
/// be removed. Returns whether it reached that point. O(n²) runs in the worst case, O(n log n) if
/// few tasks are needed.
pub(super) fn minimize<S: TaskSystem>(
    runner: &mut Runner<'_, S>,
    best: &mut Ran,
) -> Result<bool, NoRun> {
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
fn pass<S: TaskSystem>(
    runner: &mut Runner<'_, S>,
    best: &mut Ran,
    part: usize,
) -> Result<bool, NoRun> {
    let mut taken = false;
    let mut end = best.choices.len();
    while end > 0 {
        let start = end.saturating_sub(part);
        if accept(runner, best, &without(&best.choices, start, end))? {
            taken = true;
        }
        end = start.min(best.choices.len());
    }
    Ok(taken)
}

fn without(choices: &[Choice], start: usize, end: usize) -> Vec<Choice> {
    choices[..start].iter().chain(&choices[end..]).cloned().collect()
}

/// Runs a plan. Keeps the result if it shows the symptom with fewer tasks.
fn accept<S: TaskSystem>(
    runner: &mut Runner<'_, S>,
    best: &mut Ran,
    plan: &[Choice],
) -> Result<bool, NoRun> {
    let ran = match runner.run(plan, false) {
        Ok(ran) => ran,
        // A run that the system loses shows nothing.
        Err(NoRun::Lost(_)) => return Ok(false),
        Err(stopped) => return Err(stopped),
    };
    let better = ran.shows && ran.choices.len() < best.choices.len();
    if better {
        *best = ran;
    }
    Ok(better)
}
