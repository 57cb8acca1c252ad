//! Trims two long runs: omits their common prefix and irrelevant last steps.

use anyorder_common::numbers::more;
use anyorder_finding::run::{Run, RunStep};

/// Shorter runs are not trimmed.
const WHOLE_MAX: usize = 40;

/// The number of steps kept around each difference.
const AROUND: usize = 5;

/// Trims two runs that begin with `common` equal steps.
pub(super) fn trim(before: &mut Run, after: &mut Run, common: usize) {
    if before.steps.len().max(after.steps.len()) <= WHOLE_MAX {
        return;
    }
    let start = common.saturating_sub(AROUND);
    for run in [before, after] {
        let matters = |step: &RunStep| step.mark.is_some() || step.failure.is_some();
        let last = run.steps.iter().rposition(matters).unwrap_or(0).max(common);
        let end = last.saturating_add(AROUND + 1).min(run.steps.len());
        let left_out = run.steps.len() - end;
        run.steps.truncate(end);
        run.steps.drain(..start.min(end));
        run.first += start.min(end);
        if left_out > 0 && run.end.is_empty() {
            let steps = more(left_out as u64, "step");
            run.end = format!("{steps}, alike in both runs or without importance");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::Mark;

    fn run(steps: usize, marked: &[usize]) -> Run {
        let step = |number: usize| RunStep {
            what: number.to_string(),
            mark: marked.contains(&number).then_some(Mark::Only),
            ..RunStep::default()
        };
        Run { steps: (0..steps).map(step).collect(), ..Run::default() }
    }

    #[test]
    fn what_differs_is_left_with_a_little_around_it() {
        let (mut before, mut after) = (run(100, &[50]), run(100, &[60]));
        trim(&mut before, &mut after, 50);
        assert_eq!((before.first, before.steps.len(), after.steps.len()), (45, 11, 21));
        assert_eq!(before.steps[0].what, "45");
        assert!(before.end.starts_with("44 more steps"), "{}", before.end);
        let (mut before, mut after) = (run(40, &[1]), run(3, &[]));
        trim(&mut before, &mut after, 1);
        assert_eq!((before.steps.len(), after.steps.len()), (40, 3));
        let (mut before, mut after) = (run(0, &[]), run(90, &[89]));
        trim(&mut before, &mut after, 0);
        assert_eq!((before.steps.len(), after.steps.len()), (0, 90));
    }
}
