//! Looks steps up in the memo instead of executing them.

use super::action::Move;
use super::walker::{Outcome, Walker};
use crate::machine::Machine;
use crate::program::FuncId;
use crate::state::{Deed, Effect, State};
use crate::step::DEPTH_MAX;
use crate::step::Fault;
use crate::step::memo::{self, Ending, Found, Leaf, Memo, Root, replay};
use crate::value::Value;
use std::sync::Arc;

/// The result of the lookup of a step.
pub(crate) enum Recalled {
    /// There is no such transition.
    Dropped,
    /// The caller has received the successor.
    Done,
    /// The caller should execute and record the step.
    New(Root),
    /// The caller must execute the step.
    Unknown,
}

/// Returns where the memo keeps a step, if the step can be memoized.
#[inline]
fn root_of(machine: &Machine, step: Move) -> Option<Root> {
    match step {
        Move::Event(member) => {
            let (event, _) = machine.layout.members[member as usize];
            machine.memorable.events[usize::from(event)].then_some(Root::Event(member))
        }
        Move::Message { task, .. } => {
            machine.memorable.tasks[usize::from(task)].then_some(Root::Task(task))
        }
        Move::Init | Move::Thread { .. } => None,
    }
}

/// Looks a step up at a root. `on_state` receives the successor, `on_leaf` the leaf of the step.
#[inline(always)]
fn look_up(
    (machine, state): (&Machine, &State),
    memo: &mut Memo,
    (root, step): (Root, Move),
    place: impl FnOnce(State),
    mut tell: impl FnMut(&mut Leaf),
) -> Recalled {
    let taken = match step {
        Move::Message { queue, position, .. } => {
            Some(state.first_of(queue as usize) + position as usize)
        }
        _ => None,
    };
    let message = taken.and_then(|taken| state.messages().get(taken));
    let args = message.map_or(&Value::Null, |message| &message.args);
    let leaf = match memo.find(root, state, args) {
        Found::Known(leaf) => leaf,
        Found::Closed => return Recalled::Unknown,
        Found::New => return Recalled::New(root),
    };
    tell(leaf);
    let deed = match &leaf.ending {
        Ending::Dropped => return Recalled::Dropped,
        Ending::Effects(deed) => deed,
        Ending::Answer(_) => return Recalled::Unknown,
    };
    let late = message.is_some_and(|message| message.due > 0);
    let limits = (machine.program.settings.size, DEPTH_MAX);
    if !late && let Some(state) = state.after(taken, deed, limits) {
        place(state);
        return Recalled::Done;
    }
    let mut after = state.clone();
    if let (Some(message), Move::Message { queue, position, .. }) = (message, step) {
        super::walker::take_message(machine, &mut after, queue, position, message);
    }
    if !replay(machine, &mut after, &deed.effects) {
        return Recalled::Unknown;
    }
    place(after);
    Recalled::Done
}

/// Looks a step up without preparing an execution. `on_state` receives the successor. `on_leaf`
/// receives the leaf of the step, and of its guard if that is memoized separately. Returns false if
/// the step is not known. The leaves received until then are then of no use.
#[inline]
pub(crate) fn recall_known(
    machine: &Machine,
    state: &State,
    step: Move,
    place: impl FnOnce(State),
    mut tell: impl FnMut(&mut Leaf),
) -> bool {
    if !machine.memorable.any || machine.switches.no_memory {
        return false;
    }
    let Some(root) = root_of(machine, step) else { return false };
    let guard = shared_guard(machine, step);
    let recalled = memo::with(machine.number, |memo| {
        if let Some(guard) = guard {
            let Found::Known(leaf) = memo.find(Root::Function(guard.0), state, &Value::Null) else {
                return Recalled::Unknown;
            };
            tell(leaf);
            match leaf.ending {
                Ending::Answer(true) => {}
                Ending::Answer(false) => return Recalled::Dropped,
                _ => return Recalled::Unknown,
            }
        }
        look_up((machine, state), memo, (root, step), place, tell)
    });
    matches!(recalled, Some(Recalled::Dropped | Recalled::Done))
}

/// Returns the guard of an event if it is memoized separately.
#[inline]
fn shared_guard(machine: &Machine, step: Move) -> Option<FuncId> {
    let Move::Event(member) = step else { return None };
    let (event, _) = machine.layout.members[member as usize];
    let event = usize::from(event);
    if machine.memorable.shared[event] { machine.program.events[event].guard } else { None }
}

impl Walker<'_> {
    /// Looks a step up. `on_state` receives the successor.
    #[inline(always)]
    pub(crate) fn recall(&mut self, step: Move, place: impl FnOnce(State)) -> Recalled {
        if self.memo.is_none() {
            return Recalled::Unknown;
        }
        let Some(root) = root_of(self.machine, step) else { return Recalled::Unknown };
        if let Some(guard) = shared_guard(self.machine, step) {
            match self.shared_answer(guard) {
                Some(true) => {}
                Some(false) => return Recalled::Dropped,
                None => return Recalled::Unknown,
            }
        }
        self.recall_at(root, step, place, |_| {})
    }

    /// Looks a step up like [`recall`](Self::recall), and executes it if it is not known. `on_leaf`
    /// receives the leaf of the step, and of its guard if that is memoized separately. Returns
    /// false if the caller must execute the step with a log. The leaves received until then are
    /// then of no use.
    pub(crate) fn recall_telling(
        &mut self,
        step: Move,
        mut place: impl FnMut(State),
        mut tell: impl FnMut(&mut Leaf),
    ) -> bool {
        if self.memo.is_none() {
            return false;
        }
        let Some(root) = root_of(self.machine, step) else { return false };
        if let Some(guard) = shared_guard(self.machine, step) {
            match self.ask_telling(guard, &mut tell) {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        }
        match self.recall_at(root, step, &mut place, &mut tell) {
            Recalled::Dropped | Recalled::Done => true,
            Recalled::Unknown => false,
            Recalled::New(root) => {
                self.run_anew(step, Some(root), |_, _, _| {});
                let again = self.recall_at(root, step, &mut place, &mut tell);
                matches!(again, Recalled::Dropped | Recalled::Done)
            }
        }
    }

    /// Returns the answer of a guard or property, whose leaf `on_leaf` receives; `None` if it
    /// cannot be memoized.
    pub(crate) fn ask_telling(
        &mut self,
        func: FuncId,
        mut tell: impl FnMut(&mut Leaf),
    ) -> Option<bool> {
        if !self.machine.memorable.functions[func.index()] {
            return None;
        }
        for _ in 0..2 {
            match self.memo.as_mut()?.find(Root::Function(func.0), self.state, &Value::Null) {
                Found::Known(leaf) => {
                    let Ending::Answer(answer) = leaf.ending else { return None };
                    tell(leaf);
                    return Some(answer);
                }
                Found::New => _ = self.ask(func).ok()?,
                Found::Closed => return None,
            }
        }
        None
    }

    #[inline(always)]
    fn recall_at(
        &mut self,
        root: Root,
        step: Move,
        place: impl FnOnce(State),
        tell: impl FnMut(&mut Leaf),
    ) -> Recalled {
        let Some(memo) = &mut self.memo else { return Recalled::Unknown };
        look_up((self.machine, self.state), memo, (root, step), place, tell)
    }

    /// Returns the answer of a guard that is memoized separately; `None` if it fails.
    #[inline]
    fn shared_answer(&mut self, guard: FuncId) -> Option<bool> {
        if let Some((known, answer)) = self.answered
            && known == guard
        {
            return Some(answer);
        }
        let answer = self.ask(guard).ok()?;
        self.answered = Some((guard, answer));
        Some(answer)
    }

    /// Starts to record a step.
    pub(super) fn start_record(&mut self, step: Move) {
        let mut record = self.recorder.take().unwrap_or_default();
        record.clear();
        if let Move::Message { queue, position, .. } = step
            && let Some(message) = self.state.queue(queue as usize).get(position as usize)
        {
            record.read_args(&message.args);
        }
        self.runner.record = Some(record);
    }

    /// Remembers the recorded step, unless it cannot be memoized.
    pub(super) fn keep_record(&mut self, root: Root, outcome: Option<&Outcome>) {
        let Some(mut record) = self.runner.record.take() else { return };
        let failed = outcome.is_some_and(|outcome| outcome.fault.is_some());
        let light = self.runner.is_light(record.reads.len() + record.effects.len());
        if !failed && light && !record.lost && !self.runner.choices.any() {
            let switches = self.machine.switches;
            let (mut reads, mut effects) = record.finish();
            if switches.forget_reads && reads.len() > 1 {
                reads = &reads[..reads.len() - 1];
            }
            if switches.forget_effects {
                effects.pop();
            }
            // In another state, an effect could fail before the step is dropped. Such a step must
            // be executed.
            let sure = outcome.is_some() || !effects.iter().any(Effect::can_fail);
            let ending = match outcome {
                None => Ending::Dropped,
                // With these switches, mailboxes have other orders.
                Some(_) => {
                    let usual = !switches.keep_bag_order && !switches.sort_fifo;
                    Ending::Effects(Arc::new(Deed::new(
                        effects,
                        usual,
                        self.machine.tells_updates(),
                    )))
                }
            };
            if let Some(memo) = &mut self.memo
                && sure
            {
                memo.keep(root, reads, ending);
            }
        }
        self.recorder = Some(record);
    }

    /// Evaluates a function without parameters in the state, from the memo if possible. Returns its
    /// result or its failure.
    pub(crate) fn ask(&mut self, func: FuncId) -> Result<bool, Box<Fault>> {
        let root = Root::Function(func.0);
        let memo = self.memo.as_mut().filter(|_| self.machine.memorable.functions[func.index()]);
        match memo.map(|memo| memo.find(root, self.state, &Value::Null)) {
            Some(Found::Known(Leaf { ending: Ending::Answer(answer), .. })) => return Ok(*answer),
            Some(Found::New) => {}
            _ => return self.execute(func),
        }
        self.start_record(Move::Init);
        let answer = self.execute(func);
        let Some(mut record) = self.runner.record.take() else { return answer };
        if let Ok(answer) = answer
            && self.runner.is_light(record.reads.len())
            && !record.lost
            && let Some(memo) = &mut self.memo
        {
            memo.keep(root, record.finish().0, Ending::Answer(answer));
        }
        self.recorder = Some(record);
        answer
    }
}
