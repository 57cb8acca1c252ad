//! One execution of a program, step by step, with what reports need of it.

use crate::runtime::Program;
use anyorder_threads::{
    Act, Ending, Event, Execution, Next, Object, Step, ThreadId, World, races_of,
};

/// An execution that was run for a report.
pub(super) struct Run {
    pub(super) events: Vec<Event>,
    /// By event: whether it was a notification that nobody waited for.
    pub(super) in_vain: Vec<bool>,
    /// The threads that have not ended.
    pub(super) pending: Vec<(ThreadId, Next)>,
    pub(super) world: World,
    /// How it ended, if no step is possible.
    pub(super) ending: Option<Ending>,
}

impl Run {
    /// Returns whether a thread failed.
    pub(super) fn has_failed(&self) -> bool {
        self.events.iter().any(|event| matches!(event.op.act, Act::Fail(_)))
    }

    /// Returns whether all threads ended, and nothing went wrong that the engine sees.
    pub(super) fn is_right(&self) -> bool {
        self.ending == Some(Ending::Completed)
            && !self.has_failed()
            && races_of(&self.events).is_empty()
    }
}

/// Runs a program by hand.
pub(super) struct Driver<'p> {
    execution: Execution<'p, Program>,
    in_vain: Vec<bool>,
    ready: Vec<Step>,
}

impl<'p> Driver<'p> {
    /// Begins an execution.
    pub(super) fn new(program: &'p mut Program) -> Driver<'p> {
        Driver::of(Execution::new(program))
    }

    /// As [`new`](Self::new), but threads may spin in vain as long as they like.
    pub(super) fn patient(program: &'p mut Program) -> Driver<'p> {
        let mut execution = Execution::new(program);
        execution.set_spins_max(u32::MAX);
        Driver::of(execution)
    }

    fn of(mut execution: Execution<'p, Program>) -> Driver<'p> {
        // Which loops give up does not matter to whoever knows the steps.
        execution.set_turns_max(0);
        execution.restart();
        let mut driver = Driver { execution, in_vain: Vec::new(), ready: Vec::new() };
        driver.refresh();
        driver
    }

    fn refresh(&mut self) {
        self.execution.ready(&mut self.ready);
    }

    /// The steps that are possible now.
    pub(super) fn ready(&self) -> &[Step] {
        &self.ready
    }

    /// What a thread is about to do.
    pub(super) fn next(&self, thread: ThreadId) -> Option<&Next> {
        self.execution.next(thread)
    }

    pub(super) fn events(&self) -> &[Event] {
        self.execution.events()
    }

    pub(super) fn world(&self) -> &World {
        self.execution.world()
    }

    /// Performs a step, if it is possible.
    pub(super) fn step(&mut self, step: Step) -> bool {
        self.ready.contains(&step) && self.perform(step)
    }

    /// Performs a step, if it is possible, also one in which a thread gives way in vain while
    /// others could go on.
    pub(super) fn go(&mut self, step: Step) -> bool {
        let next = self.next(step.thread);
        let gives_way = next.is_some_and(|next| matches!(next.op.act, Act::Await(_)));
        (gives_way || self.ready.contains(&step)) && self.perform(step)
    }

    fn perform(&mut self, step: Step) -> bool {
        let in_vain = self.next(step.thread).is_some_and(|next| self.is_in_vain(next));
        if self.execution.step(step).is_none() {
            return false;
        }
        self.in_vain.push(in_vain);
        self.refresh();
        true
    }

    /// Whether nobody waits for a notification.
    fn is_in_vain(&self, next: &Next) -> bool {
        match (&next.op.act, self.world().get(next.op.object)) {
            (Act::Notify { .. }, Some(Object::Condition { waiting, .. })) => waiting.is_empty(),
            (Act::Unpark, Some(Object::Token(is_set))) => *is_set,
            _ => false,
        }
    }

    /// Runs on without a switch that is not needed, until nothing is possible, a thread has failed,
    /// or there are as many steps as allowed. Begins with a thread, if it can go on.
    pub(super) fn run_on(&mut self, mut first: Option<ThreadId>, steps_max: usize) {
        while self.events().len() < steps_max {
            let last = self.events().last();
            if last.is_some_and(|event| matches!(event.op.act, Act::Fail(_))) {
                return;
            }
            let last = first.take().or(last.map(|event| event.step.thread));
            let same = self.ready.iter().find(|step| Some(step.thread) == last);
            let Some(step) = same.or(self.ready.first()).copied() else { return };
            if !self.step(step) {
                return;
            }
        }
    }

    /// Ends the execution.
    pub(super) fn finish(self) -> Run {
        let ending = self.ready.is_empty().then(|| self.execution.ending());
        Run {
            events: self.execution.events().to_vec(),
            pending: self.execution.pending().map(|(id, next)| (id, next.clone())).collect(),
            world: self.execution.world().clone(),
            in_vain: self.in_vain,
            ending,
        }
    }
}

/// Runs a program along some steps, as far as they are possible. Returns whether all were.
pub(super) fn along(program: &mut Program, steps: &[Step]) -> (Run, bool) {
    let mut driver = Driver::new(program);
    let is_whole = steps.iter().all(|step| driver.go(*step));
    (driver.finish(), is_whole)
}
