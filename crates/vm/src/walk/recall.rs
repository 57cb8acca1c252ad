//! Steps that were taken before: from memory instead of by execution.

use super::action::Move;
use super::walker::{Outcome, Walker};
use crate::program::FuncId;
use crate::state::{Deed, Effect, State};
use crate::step::Fault;
use crate::step::DEPTH_MAX;
use crate::step::memo::{Ending, Found, Root, replay};
use crate::value::Value;
use std::sync::Arc;

/// What the memory says of a step.
pub(crate) enum Recalled {
    /// There is no such transition.
    Dropped,
    /// What it leads to is where the caller wanted it.
    Done,
    /// It is to be executed and remembered.
    New(Root),
    /// It is to be executed.
    Unknown,
}

impl Walker<'_> {
    /// Where a step is remembered, if it can be.
    #[inline]
    fn root(&self, step: Move) -> Option<Root> {
        let machine = self.machine;
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

    /// Looks a step up. `place` puts what it leads to where it is wanted.
    #[inline(always)]
    pub(crate) fn recall(&mut self, step: Move, place: impl FnOnce(State)) -> Recalled {
        if self.memo.is_none() {
            return Recalled::Unknown;
        }
        let Some(root) = self.root(step) else { return Recalled::Unknown };
        if let Move::Event(member) = step {
            match self.shared_guard(member) {
                Some(true) => {}
                Some(false) => return Recalled::Dropped,
                None => return Recalled::Unknown,
            }
        }
        let Some(memo) = &mut self.memo else { return Recalled::Unknown };
        let taken = match step {
            Move::Message { queue, position, .. } => {
                Some(self.state.first_of(queue as usize) + position as usize)
            }
            _ => None,
        };
        let message = taken.and_then(|taken| self.state.messages().get(taken));
        let args = message.map_or(&Value::Null, |message| &message.args);
        let deed = match memo.find(root, self.state, args) {
            Found::Known(Ending::Dropped) => return Recalled::Dropped,
            Found::Known(Ending::Effects(deed)) => deed,
            Found::Known(Ending::Answer(_)) | Found::Closed => return Recalled::Unknown,
            Found::New => return Recalled::New(root),
        };
        let late = message.is_some_and(|message| message.due > 0);
        let limits = (self.machine.program.settings.size, DEPTH_MAX);
        if !late && let Some(state) = self.state.after(taken, deed, limits) {
            place(state);
            return Recalled::Done;
        }
        let mut state = self.state.clone();
        if let (Some(message), Move::Message { queue, position, .. }) = (message, step) {
            super::walker::take_message(self.machine, &mut state, queue, position, message);
        }
        if !replay(self.machine, &mut state, &deed.effects) {
            return Recalled::Unknown;
        }
        place(state);
        Recalled::Done
    }

    /// The answer of a guard that is looked up by itself; true for any other. `None`: it fails.
    #[inline]
    fn shared_guard(&mut self, member: u32) -> Option<bool> {
        let (event, _) = self.machine.layout.members[member as usize];
        if !self.machine.memorable.shared[usize::from(event)] {
            return Some(true);
        }
        let guard = self.machine.program.events[usize::from(event)].guard?;
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

    /// Remembers what was recorded, unless it cannot be.
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
            // What could fail elsewhere before it is dropped has to be tried.
            let sure = outcome.is_some() || !effects.iter().any(Effect::can_fail);
            let ending = match outcome {
                None => Ending::Dropped,
                // With these, mailboxes have other orders.
                Some(_) => {
                    let usual = !switches.keep_bag_order && !switches.sort_fifo;
                    Ending::Effects(Arc::new(Deed::new(effects, usual)))
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

    /// Runs a function of the state without parameters; its result, or how it fails. From memory, where it is known.
    pub(crate) fn ask(&mut self, func: FuncId) -> Result<bool, Box<Fault>> {
        let root = Root::Function(func.0);
        let memo = self.memo.as_mut().filter(|_| self.machine.memorable.functions[func.index()]);
        match memo.map(|memo| memo.find(root, self.state, &Value::Null)) {
            Some(Found::Known(Ending::Answer(answer))) => return Ok(*answer),
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
