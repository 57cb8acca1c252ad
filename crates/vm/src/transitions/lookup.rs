//! Looks steps up in the memo instead of executing them.

use super::executor::{Outcome, StepExecutor};
use super::messages::take_message;
use crate::machine::{DEPTH_MAX, Machine};
use crate::program::FuncId;
use crate::sabotage::Sabotage;
use crate::state::{Effect, State, StepDelta, StepId};
use crate::step::Fault;
use crate::step::memo::{self, Found, Leaf, Memo, ReadPlace, Root, StepResult, replay};
use crate::value::Value;
use std::sync::Arc;

/// The result of the lookup of a step.
pub(crate) enum Lookup {
    /// There is no such transition.
    NoTransition,
    /// The caller has received the successor.
    Done,
    /// The caller should execute and record the step.
    Record(Root),
    /// The caller must execute the step.
    Execute,
}

/// Returns where the memo keeps a step, if the step can be memoized.
#[inline]
fn root_of(machine: &Machine, step: StepId) -> Option<Root> {
    match step {
        StepId::Event(member) => {
            let (event, _) = machine.layout.members[member as usize];
            machine.memoizable.events[usize::from(event)].then_some(Root::Event(member))
        }
        StepId::Message { task, .. } => {
            machine.memoizable.tasks[usize::from(task)].then_some(Root::Task(task))
        }
        StepId::Init | StepId::Thread { .. } => None,
    }
}

/// Looks a step up at a root. `on_state` receives the successor, `on_leaf` the leaf of the step.
#[inline(always)]
fn look_up_in(
    (machine, state): (&Machine, &State),
    memo: &mut Memo,
    (root, step): (Root, StepId),
    on_state: impl FnOnce(State),
    mut on_leaf: impl FnMut(&mut Leaf),
) -> Lookup {
    let taken = match step {
        StepId::Message { queue, position, .. } => {
            Some(state.first_of(queue as usize) + position as usize)
        }
        _ => None,
    };
    let message = taken.and_then(|taken| state.messages().get(taken));
    let args = message.map_or(&Value::Null, |message| &message.args);
    let leaf = match memo.find(root, state, args) {
        Found::Known(leaf) => leaf,
        Found::Closed => return Lookup::Execute,
        Found::New => return Lookup::Record(root),
    };
    on_leaf(leaf);
    let delta = match &leaf.result {
        StepResult::NoTransition => return Lookup::NoTransition,
        StepResult::Effects(delta) => delta,
        StepResult::Answer(_) => return Lookup::Execute,
    };
    let late = message.is_some_and(|message| message.due > 0);
    let limits = (machine.program.settings.size, DEPTH_MAX);
    if !late && let Some(state) = state.after(taken, delta, limits) {
        on_state(state);
        return Lookup::Done;
    }
    let mut after = state.clone();
    if let (Some(message), StepId::Message { queue, position, .. }) = (message, step) {
        take_message(machine, &mut after, queue, position, message);
    }
    if !replay(machine, &mut after, &delta.effects) {
        return Lookup::Execute;
    }
    on_state(after);
    Lookup::Done
}

/// Looks a step up without preparing an execution. `on_state` receives the successor. `on_leaf`
/// receives the leaf of the step, and of its guard if that is memoized separately. Returns false if
/// the step is not known. The leaves received until then are then of no use.
#[inline]
pub(crate) fn look_up_known(
    machine: &Machine,
    state: &State,
    step: StepId,
    on_state: impl FnOnce(State),
    mut on_leaf: impl FnMut(&mut Leaf),
) -> bool {
    if !machine.memoizable.any || machine.sabotage == Sabotage::NoMemory {
        return false;
    }
    let Some(root) = root_of(machine, step) else { return false };
    let guard = shared_guard(machine, step);
    let looked_up = memo::with(machine.id, |memo| {
        if let Some(guard) = guard {
            let Found::Known(leaf) = memo.find(Root::Function(guard.0), state, &Value::Null) else {
                return Lookup::Execute;
            };
            on_leaf(leaf);
            match leaf.result {
                StepResult::Answer(true) => {}
                StepResult::Answer(false) => return Lookup::NoTransition,
                _ => return Lookup::Execute,
            }
        }
        look_up_in((machine, state), memo, (root, step), on_state, on_leaf)
    });
    matches!(looked_up, Some(Lookup::NoTransition | Lookup::Done))
}

/// Returns the guard of an event if it is memoized separately.
#[inline]
fn shared_guard(machine: &Machine, step: StepId) -> Option<FuncId> {
    let StepId::Event(member) = step else { return None };
    let (event, _) = machine.layout.members[member as usize];
    let event = usize::from(event);
    if machine.memoizable.shared[event] { machine.program.events[event].guard } else { None }
}

impl StepExecutor<'_> {
    /// Looks a step up. `on_state` receives the successor, `on_leaf` the leaf of the step.
    #[inline(always)]
    pub(crate) fn look_up(
        &mut self,
        step: StepId,
        on_state: impl FnOnce(State),
        on_leaf: impl FnMut(&mut Leaf),
    ) -> Lookup {
        if self.memo.is_none() {
            return Lookup::Execute;
        }
        let Some(root) = root_of(self.machine, step) else { return Lookup::Execute };
        if let Some(guard) = shared_guard(self.machine, step) {
            match self.shared_answer(guard) {
                Some(true) => {}
                Some(false) => return Lookup::NoTransition,
                None => return Lookup::Execute,
            }
        }
        self.look_up_at(root, step, on_state, on_leaf)
    }

    /// Looks a step up like [`look_up`](Self::look_up), and executes it if it is not known.
    /// `on_leaf` receives the leaf of the step, and of its guard if that is memoized separately.
    /// Returns false if the caller must execute the step with a log. The leaves received until then
    /// are then of no use.
    pub(crate) fn look_up_or_run(
        &mut self,
        step: StepId,
        mut on_state: impl FnMut(State),
        mut on_leaf: impl FnMut(&mut Leaf),
    ) -> bool {
        if self.memo.is_none() {
            return false;
        }
        let Some(root) = root_of(self.machine, step) else { return false };
        if let Some(guard) = shared_guard(self.machine, step) {
            match self.evaluate_with_leaf(guard, &mut on_leaf) {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        }
        match self.look_up_at(root, step, &mut on_state, &mut on_leaf) {
            Lookup::NoTransition | Lookup::Done => true,
            Lookup::Execute => false,
            Lookup::Record(root) => {
                self.run_anew(step, Some(root), |_, _, _| {});
                let looked_up = self.look_up_at(root, step, &mut on_state, &mut on_leaf);
                matches!(looked_up, Lookup::NoTransition | Lookup::Done)
            }
        }
    }

    /// Returns the answer of a guard or property, whose leaf `on_leaf` receives; `None` if it
    /// cannot be memoized.
    pub(crate) fn evaluate_with_leaf(
        &mut self,
        func: FuncId,
        mut on_leaf: impl FnMut(&mut Leaf),
    ) -> Option<bool> {
        if !self.machine.memoizable.functions[func.index()] {
            return None;
        }
        for _ in 0..2 {
            match self.memo.as_mut()?.find(Root::Function(func.0), self.state, &Value::Null) {
                Found::Known(leaf) => {
                    let StepResult::Answer(answer) = leaf.result else { return None };
                    on_leaf(leaf);
                    return Some(answer);
                }
                Found::New => _ = self.evaluate(func).ok()?,
                Found::Closed => return None,
            }
        }
        None
    }

    #[inline(always)]
    fn look_up_at(
        &mut self,
        root: Root,
        step: StepId,
        on_state: impl FnOnce(State),
        on_leaf: impl FnMut(&mut Leaf),
    ) -> Lookup {
        let Some(memo) = &mut self.memo else { return Lookup::Execute };
        look_up_in((self.machine, self.state), memo, (root, step), on_state, on_leaf)
    }

    /// Returns the answer of a guard that is memoized separately; `None` if it fails.
    #[inline]
    fn shared_answer(&mut self, guard: FuncId) -> Option<bool> {
        if let Some((answered, answer)) = self.answered
            && answered == guard
        {
            return Some(answer);
        }
        let answer = self.evaluate(guard).ok()?;
        self.answered = Some((guard, answer));
        Some(answer)
    }

    /// Starts to record a step.
    pub(super) fn start_record(&mut self, step: StepId) {
        let mut record = self.recorder.take().unwrap_or_default();
        record.clear();
        if let Some(message) = step.message(self.state) {
            record.read(ReadPlace::Args, &message.args);
        }
        self.interpreter.record = Some(record);
    }

    /// Remembers the recorded step, unless it cannot be memoized.
    pub(super) fn keep_record(&mut self, root: Root, outcome: Option<&Outcome>) {
        let Some(mut record) = self.interpreter.record.take() else { return };
        let failed = outcome.is_some_and(|outcome| outcome.fault.is_some());
        let light = self.interpreter.is_far_from_limits(record.reads.len() + record.effects.len());
        if !failed && light && !record.abandoned && !self.interpreter.choices.any() {
            let sabotage = self.machine.sabotage;
            let (mut reads, mut effects) = (&record.reads[..], std::mem::take(&mut record.effects));
            if sabotage == Sabotage::ForgetReads && reads.len() > 1 {
                reads = &reads[..reads.len() - 1];
            }
            if sabotage == Sabotage::ForgetEffects {
                effects.pop();
            }
            // In another state, an effect could fail before the step is dropped. Such a step must
            // be executed.
            let sure = outcome.is_some() || !effects.iter().any(Effect::can_fail);
            let result = match outcome {
                None => StepResult::NoTransition,
                // With these faults, mailboxes have other orders.
                Some(_) => {
                    let usual =
                        sabotage != Sabotage::KeepBagOrder && sabotage != Sabotage::SortFifo;
                    StepResult::Effects(Arc::new(StepDelta::new(
                        effects,
                        usual,
                        self.machine.reports_updates(),
                    )))
                }
            };
            if let Some(memo) = &mut self.memo
                && sure
            {
                memo.keep(root, reads, result);
            }
        }
        self.recorder = Some(record);
    }

    /// Evaluates a function without parameters in the state, from the memo if possible. Returns its
    /// result or its failure.
    pub(crate) fn evaluate(&mut self, func: FuncId) -> Result<bool, Box<Fault>> {
        let root = Root::Function(func.0);
        let memo = self.memo.as_mut().filter(|_| self.machine.memoizable.functions[func.index()]);
        match memo.map(|memo| memo.find(root, self.state, &Value::Null)) {
            Some(Found::Known(Leaf { result: StepResult::Answer(answer), .. })) => {
                return Ok(*answer);
            }
            Some(Found::New) => {}
            _ => return self.execute(func),
        }
        self.start_record(StepId::Init);
        let answer = self.execute(func);
        let Some(record) = self.interpreter.record.take() else { return answer };
        if let Ok(answer) = answer
            && self.interpreter.is_far_from_limits(record.reads.len())
            && !self.interpreter.poll.is_stopped()
            && !record.abandoned
            && let Some(memo) = &mut self.memo
        {
            memo.keep(root, &record.reads, StepResult::Answer(answer));
        }
        self.recorder = Some(record);
        answer
    }
}
