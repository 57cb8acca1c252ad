//! The search for witnesses. The crate `certify` checks each witness independently.

use anyorder_certify::{
    Calls, ClaimedDeadlock, ClaimedWitness, Lanes, ReorderingChecker, WitnessForm,
};
use anyorder_predict::check::{Confirms, PairResult};
use anyorder_predict::{Answer, Confirmer, DeadlockOptions, Deadlocks, Form, Reorders, Witness};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{EventId, Trace};

/// A search and its check.
pub(super) struct Search<'t> {
    confirmer: Confirmer<'t>,
    checker: ReorderingChecker<'t>,
}

impl<'t> Search<'t> {
    pub(super) fn new(
        trace: &'t Trace,
        confirmer: Confirmer<'t>,
        calls: &'t dyn Calls,
        reorders: Reorders,
    ) -> Search<'t> {
        let checker = ReorderingChecker::new(trace, calls, lanes(reorders));
        Search { confirmer, checker }
    }
}

/// Converts the kind of reordering for the checker.
pub(crate) const fn lanes(reorders: Reorders) -> Lanes {
    match reorders {
        Reorders::Threads => Lanes::Handlers,
        Reorders::Tasks => Lanes::Tasks,
        Reorders::Components => Lanes::Components,
    }
}

/// Converts a form of witness for the checker.
pub(crate) const fn form(form: Form) -> WitnessForm {
    match form {
        Form::Reversed => WitnessForm::Reversed,
        Form::Last => WitnessForm::Last,
        Form::CoEnabled => WitnessForm::CoEnabled,
        Form::Overtakes => WitnessForm::Overtakes,
        // Checked by itself.
        Form::Deadlock => WitnessForm::Reversed,
    }
}

impl Search<'_> {
    /// Searches for deadlocks; each witness is checked.
    pub(super) fn deadlocks(
        &mut self,
        options: &DeadlockOptions,
        control: &Control<'_>,
    ) -> Deadlocks {
        let Search { confirmer, checker } = self;
        let mut check = |requests: &[EventId], witness: &Witness| {
            let (prefix, order) = (witness.prefix, witness.order.as_slice());
            let claimed = ClaimedDeadlock { requests, prefix, order };
            checker.check_deadlock(claimed, &control.cancel).map_err(|error| error.to_string())
        };
        confirmer.deadlocks(options, &mut check, control)
    }
}

impl Confirms for Search<'_> {
    fn confirm(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> PairResult {
        let witness = match self.confirmer.confirm(first, second, cancel) {
            Answer::Confirmed(witness) => witness,
            Answer::Impossible => return PairResult::Impossible,
            Answer::Unconfirmed(why) => return PairResult::GaveUp(why),
        };
        let claimed = ClaimedWitness {
            form: form(witness.form),
            first,
            second,
            prefix: witness.prefix,
            order: &witness.order,
        };
        match self.checker.check(claimed) {
            Ok(()) => PairResult::Confirmed(witness),
            Err(error) => PairResult::Rejected(error.to_string()),
        }
    }

    fn work(&self) -> u64 {
        self.confirmer.stats().events
    }
}
