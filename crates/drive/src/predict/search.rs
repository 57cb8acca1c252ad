//! The search for witnesses. The crate `certify` checks each witness independently.

use crate::words::{self, DeadlockFinding};
use anyorder_certify::{
    Calls, ClaimedDeadlock, ClaimedWitness, Lanes, ReorderingChecker, WitnessForm,
};
use anyorder_predict::check::{Confirms, PairResult};
use anyorder_predict::{
    Answer, Confirmer, DeadlockOptions, Deadlocks, Form, GaveUp, InOrderAnswer, Reorders, Together,
    Witness,
};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{EventId, Trace};
use std::cell::RefCell;
use std::mem;

/// The deadlocks of a trace in words, and what else the search for them says.
#[derive(Default)]
pub(crate) struct FoundDeadlocks {
    pub(crate) findings: Vec<DeadlockFinding>,
    /// What the search says, without the deadlocks themselves.
    pub(crate) outcome: Deadlocks,
}

/// A search and its check.
pub(super) struct Search<'t> {
    trace: &'t Trace,
    confirmer: Confirmer<'t>,
    checker: Checker<'t>,
    /// The options of the search for deadlocks, until it begins.
    pending: Option<DeadlockOptions>,
    deadlocks: &'t RefCell<FoundDeadlocks>,
}

impl<'t> Search<'t> {
    /// Makes a search for witnesses of pairs, which also looks for deadlocks once each group has
    /// had a try.
    pub(super) fn new(
        trace: &'t Trace,
        confirmer: Confirmer<'t>,
        (calls, reorders): (&'t dyn Calls, Reorders),
        (options, deadlocks): (DeadlockOptions, &'t RefCell<FoundDeadlocks>),
    ) -> Search<'t> {
        let checker = Checker { trace, calls, lanes: lanes(reorders), made: None };
        Search { trace, confirmer, checker, pending: Some(options), deadlocks }
    }
}

/// The checker of witnesses. Its index takes some passes over the trace, so it is made for the
/// first witness.
struct Checker<'t> {
    trace: &'t Trace,
    calls: &'t dyn Calls,
    lanes: Lanes,
    made: Option<ReorderingChecker<'t>>,
}

impl<'t> Checker<'t> {
    /// Returns the checker; `None` if the job was stopped before it was made.
    fn get(&mut self, cancel: &Cancel) -> Option<&mut ReorderingChecker<'t>> {
        if self.made.is_none() {
            self.made = ReorderingChecker::new_until(self.trace, self.calls, self.lanes, cancel);
        }
        self.made.as_mut()
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
    fn deadlocks(&mut self, options: &DeadlockOptions, control: &Control<'_>) -> Deadlocks {
        let Search { confirmer, checker, .. } = self;
        let mut check = |requests: &[EventId], witness: &Witness| {
            let (prefix, order) = (witness.prefix, witness.order.as_slice());
            let claimed = ClaimedDeadlock { requests, prefix, order };
            let checker = checker.get(&control.cancel).ok_or("the check was stopped")?;
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
        let Some(checker) = self.checker.get(cancel) else {
            return PairResult::GaveUp(GaveUp::Stopped);
        };
        match checker.check(claimed) {
            Ok(()) => PairResult::Confirmed(witness),
            Err(error) => PairResult::Rejected(error.to_string()),
        }
    }

    fn work(&self) -> u64 {
        self.confirmer.stats().events
    }

    fn decide(&mut self, first: EventId, second: EventId, cancel: &Cancel) -> Option<PairResult> {
        match self.confirmer.decide_in_order(first, second, cancel) {
            InOrderAnswer::Confirmed(form) => Some(PairResult::Shown(form, Together::Yes)),
            InOrderAnswer::Impossible => Some(PairResult::Impossible),
            InOrderAnswer::Open => None,
        }
    }

    fn begin_group(&mut self) {
        self.confirmer.begin_in_order();
    }

    fn between_turns(&mut self, control: &Control<'_>) {
        let Some(options) = self.pending.take() else { return };
        control.progress.phase("looking for deadlocks");
        let mut outcome = self.deadlocks(&options, control);
        let findings = words::deadlocks(self.trace, mem::take(&mut outcome.found));
        *self.deadlocks.borrow_mut() = FoundDeadlocks { findings, outcome };
        control.progress.phase("confirming");
    }
}
