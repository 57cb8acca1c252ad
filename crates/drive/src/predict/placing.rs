//! Witnesses become part of a result: few of their steps, and a run to look at.
//!
//! A witness of a race may be as long as the trace, and each race may have one. The result has a
//! bounded number of steps in all. A job that was stopped only has time for a few.

use super::stored::Reordering;
use anyorder_certify::WrittenNames;
use anyorder_finding::Finding;
use anyorder_finding::run::Run;
use anyorder_system::Control;
use anyorder_trace::Trace;

/// The maximum number of steps of a witness in a result.
const STEPS_OF_ONE_MAX: usize = 1_000;

/// The maximum number of steps of all witnesses in a result: a step takes a kilobyte. One finding
/// gets this part of what is left at most, so that many findings have the ends of their runs.
const STEPS_MAX: usize = 100_000;
const STEPS_SHARE: usize = 50;

/// The maximum number of steps of the witnesses that are read once the job is stopped.
const STEPS_AFTER_STOP_MAX: usize = 20_000;

/// Places witnesses, the most important first.
pub(crate) struct Placing<'a> {
    trace: &'a Trace,
    names: WrittenNames<'a>,
    control: &'a Control<'a>,
    steps_left: usize,
    after_stop_left: usize,
}

impl<'a> Placing<'a> {
    pub(crate) fn new(trace: &'a Trace, control: &'a Control<'a>) -> Placing<'a> {
        Placing {
            trace,
            names: WrittenNames::new(trace),
            control,
            steps_left: STEPS_MAX,
            after_stop_left: STEPS_AFTER_STOP_MAX,
        }
    }

    /// Puts a witness into its finding, and returns its run. Steps beyond the maximum are counted.
    /// Once the job is stopped and no time is left, the finding has neither.
    pub(crate) fn place(&mut self, witness: &Reordering, finding: &mut Finding) -> Option<Run> {
        let length = witness.witness.order.len();
        if self.control.check().is_err() {
            self.after_stop_left = self.after_stop_left.checked_sub(length)?;
        }
        let shown = length.min(STEPS_OF_ONE_MAX).min(self.steps_left.div_ceil(STEPS_SHARE));
        self.steps_left -= shown;
        witness.place(self.trace, &self.names, shown, finding);
        Some(witness.run(self.trace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::{Kind, WitnessPlace};
    use anyorder_formats::std::StdReader;
    use anyorder_predict::{Form, Reorders, Together, Witness};
    use anyorder_system::StopReason;
    use anyorder_trace::EventId;

    /// Returns the numbers of steps that findings with a witness of four events got; `None` for a
    /// finding without a run.
    fn steps(placing: &mut Placing<'_>, findings: usize) -> Vec<Option<usize>> {
        let witness = Witness {
            form: Form::Reversed,
            prefix: 0,
            order: [0, 1, 3, 2].map(EventId).into(),
            shortest: false,
            waits: false,
            together: Together::Yes,
        };
        let witness = Reordering::new((EventId(2), EventId(3), witness), Reorders::Threads);
        let mut place = |_| {
            let mut finding = Finding::new(Kind::Race);
            placing.place(&witness, &mut finding)?;
            let WitnessPlace::Inline(value) = finding.witness?.place else { return None };
            let steps = value["steps"].as_array()?.len();
            assert_eq!(value["left_out"].as_u64().unwrap_or(0), 4 - steps as u64);
            Some(steps)
        };
        (0..findings).map(&mut place).collect()
    }

    #[test]
    fn steps_are_bounded_in_all_and_once_the_job_is_stopped() {
        let text = "T1|r(a)|1\nT2|r(b)|2\nT1|w(x)|3\nT2|w(x)|4\n";
        let trace = Trace::read(&mut StdReader::new(text.as_bytes())).expect("a trace");
        let control = Control::default();
        let mut placing = Placing { steps_left: 155, ..Placing::new(&trace, &control) };
        let shown: Vec<usize> = steps(&mut placing, 200).into_iter().flatten().collect();
        assert_eq!((shown.len(), shown.iter().sum()), (200, 155));
        assert_eq!((&shown[..4], &shown[198..]), (&[4, 4, 3, 3][..], &[0, 0][..]));
        control.cancel.stop(StopReason::TimeLimit);
        let mut placing = Placing { after_stop_left: 9, ..Placing::new(&trace, &control) };
        assert_eq!(steps(&mut placing, 3), [Some(4), Some(4), None]);
    }
}
