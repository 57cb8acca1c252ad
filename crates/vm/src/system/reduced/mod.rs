//! Reduction for the machine: tasks and places that mean the same in every state.
//!
//! An event is one task. A message is a task by its mailbox, its task and its arguments. A thread
//! is one task for each position in its code. The numbers of objects, handles and dynamic threads
//! are left out: tasks and places that differ only in them are one. This is sound, but reduces
//! less.

use self::keys::{KeyKind, each_message, each_ready, each_thread};
use self::touched::{Touches, awaits};
use super::words;
use crate::machine::{INIT_FLAG, Kind, Machine, Places, Tables};
#[cfg(test)]
use crate::state::{Message, Thread};
use crate::state::{State, StepId};
use crate::step::memo::{Leaf, StepResult};
#[cfg(test)]
use crate::tests::access::PlaceSpec;
use crate::transitions::{Action, StepExecutor, initial, look_up_known};
use anyorder_system::{Effects, Place, Reducible, Successor, TaskKey, Touched};
use std::sync::Arc;

mod keys;

mod remembered;

mod touched;

mod updates;

pub use self::updates::{Transition, Write};

impl Machine {
    fn tables(&self) -> &Tables {
        let init_is_step = || initial(self).flag(INIT_FLAG);
        self.reduced.get_or_init(|| Box::new(Tables::of(self, init_is_step())))
    }
}

#[cfg(test)]
impl Machine {
    pub(crate) fn message_key(&self, message: &Message) -> TaskKey {
        keys::message(self, message)
    }

    pub(crate) fn thread_key(&self, thread: &Thread) -> TaskKey {
        keys::thread(thread)
    }

    pub(crate) fn spot(&self, spot: &PlaceSpec) -> Place {
        let places = &self.tables().places;
        let number = |kind, index: usize| places.at(kind, index as u64);
        // A task without handles has no such place: the place of a key that no task has.
        let lifecycle = |number: Option<u64>| match number {
            Some(number) => places.at(Kind::Lifecycle, number),
            None => Places::standing(TaskKey(u64::MAX)),
        };
        match spot {
            PlaceSpec::Now => Places::NOW,
            PlaceSpec::Global(global) => number(Kind::Global, *global),
            PlaceSpec::Element(global, index) => {
                Places::element(number(Kind::Global, *global), index)
            }
            PlaceSpec::Field(class, field) => Places::field(*class, *field),
            PlaceSpec::FieldElement(class, field, index) => {
                Places::element(Places::field(*class, *field), index)
            }
            PlaceSpec::Lock(lock) => number(Kind::Lock, *lock as usize),
            PlaceSpec::Cond(cond) => number(Kind::Cond, *cond as usize),
            PlaceSpec::Started(member) => number(Kind::Started, *member as usize),
            PlaceSpec::Toggled(member) => number(Kind::Toggled, *member as usize),
            PlaceSpec::Busy(slot) => number(Kind::Busy, *slot as usize),
            PlaceSpec::Head(queue) => number(Kind::Head, *queue),
            PlaceSpec::Tail(queue) => number(Kind::Tail, *queue),
            PlaceSpec::Standing(key) => Places::standing(*key),
            PlaceSpec::Posted(queue, task) => {
                lifecycle(self.tables().lifecycles.of_post(*queue, *task))
            }
            PlaceSpec::Forked(func) => lifecycle(self.tables().lifecycles.of_fork(*func)),
        }
    }
}

impl Machine {
    /// Looks a step up in the memo and adds what it touches. Returns false if the caller must
    /// execute the step.
    fn found(
        &self,
        state: &State,
        step: StepId,
        Effects { successors, touched, updates }: &mut Effects<State, Action>,
    ) -> bool {
        let tables = self.tables();
        let (first, reported) = (successors.len(), touched.len());
        let mut delayed = false;
        let mut delta = None;
        let mut report = |leaf: &mut Leaf, touched: &mut Vec<Touched>| {
            if let StepResult::Effects(effects) = &leaf.result
                && self.reports_updates()
            {
                delta = Some(Arc::clone(effects));
            }
            remembered::report(self, tables, state, leaf, touched)
        };
        let action = Action { step, alternative: 0 };
        let known = look_up_known(
            self,
            state,
            step,
            |state| successors.push(Successor { action, state, failure: None }),
            |leaf| delayed |= report(leaf, touched),
        );
        if !known {
            touched.truncate(reported);
            delayed = false;
            let known = StepExecutor::new(self, state).look_up_or_run(
                step,
                |state| successors.push(Successor { action, state, failure: None }),
                |leaf| delayed |= report(leaf, touched),
            );
            if !known {
                successors.truncate(first);
                touched.truncate(reported);
                return false;
            }
        }
        // Reduction counts what a task awaits as read, so these reads are not reported.
        if let Some(successor) = successors.get(first) {
            let mut touches = Touches::new(self, state, touched);
            touches.taken(step);
            if delayed {
                touches.delayed(&successor.state);
            }
        }
        if let Some(delta) = delta
            && successors.len() > first
        {
            self.report_delta(state, &delta, updates);
        }
        true
    }
}

impl Machine {
    /// Appends the places that an invariant may read in a state.
    pub fn watches(&self, invariant: usize, state: &State, out: &mut Vec<Place>) {
        let Some(invariant) = self.program.invariants.get(invariant) else { return };
        let tables = self.tables();
        let mut touched = Vec::new();
        let report =
            |leaf: &mut Leaf| _ = remembered::report(self, tables, state, leaf, &mut touched);
        if StepExecutor::new(self, state).evaluate_with_leaf(invariant.holds, report).is_none() {
            let mut executor = StepExecutor::logging(self, state);
            // Another function reports the answer.
            let _ = executor.evaluate(invariant.holds);
            let log = executor.take_log();
            Touches::new(self, state, &mut touched).reads(&log.accesses);
        }
        out.extend(touched.into_iter().map(|touched| touched.place));
        if tables.places.init && !self.reports.drops() {
            out.push(Places::INIT);
        }
    }
}

impl Reducible for Machine {
    fn ready(&self, state: &State, out: &mut Vec<TaskKey>) {
        self.note_growth(state);
        let start = out.len();
        each_ready(self, state, |key, _| out.push(key));
        // Events come in order; the rest need not.
        let tail =
            start + out[start..].partition_point(|key| key.0 <= self.layout.members.len() as u64);
        out[tail..].sort_unstable();
        out.dedup();
    }

    fn run(&self, state: &State, task: TaskKey, out: &mut Effects<State, Action>) {
        let mut one = |step: StepId| {
            if self.found(state, step, out) {
                return;
            }
            let Effects { successors, touched, updates } = &mut *out;
            let mut executor = StepExecutor::logging(self, state);
            let mut touches = Touches::new(self, state, touched);
            executor.run(step, |executor, alternative, outcome| {
                let log = executor.take_log();
                let after = outcome.fault.is_none().then_some(&outcome.state);
                if self.reports_updates() {
                    let updated = executor.take_updates();
                    self.report_updates(&updated, updates);
                    touches.updated = updated.iter().map(|update| update.global).collect();
                }
                touches.log(&log.accesses, after);
                touches.step(step, &outcome.state, &log, outcome.fault.is_some());
                successors.push(outcome.successor(self, Action { step, alternative }));
            });
            touches.reads(&executor.deciding);
        };
        match keys::kind(task) {
            KeyKind::Init => one(StepId::Init),
            KeyKind::Event(member) => one(StepId::Event(member)),
            KeyKind::Message(queue, _) => each_message(self, state, queue, |key, step| {
                if key == task {
                    one(step);
                }
            }),
            KeyKind::Thread => each_thread(state, |key, step| {
                if key == task {
                    one(step);
                }
            }),
        }
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        awaits(self, self.tables(), task, out);
    }

    fn tasks(&self, out: &mut Vec<TaskKey>) {
        if !self.reports.drops() {
            out.extend((0..self.layout.members.len() as u32).map(keys::event));
        }
    }

    fn pending(&self, state: &State, out: &mut Vec<TaskKey>) {
        for (_, queue) in state.queues() {
            if !self.reports.drops() {
                out.extend(queue.iter().map(|message| keys::message(self, message)));
            }
        }
        // Elsewhere they await one place.
        if self.tables().places.init && !self.reports.drops() {
            each_thread(state, |key, _| out.push(key));
        }
    }

    fn task_of(&self, state: &State, action: &Action) -> Option<TaskKey> {
        keys::of_step(self, state, action.step)
    }

    fn task_name(&self, state: &State, task: TaskKey) -> String {
        let mut name = None;
        each_ready(self, state, |key, step| {
            if key == task && name.is_none() {
                name = Some(words::describe(self, state, &Action { step, alternative: 0 }));
            }
        });
        name.unwrap_or_else(|| match keys::kind(task) {
            KeyKind::Init => "init".to_owned(),
            KeyKind::Event(member) => words::event_name(self, member).to_string(),
            KeyKind::Message(queue, task) => {
                let name = self.program.tasks.get(usize::from(task)).map_or("?", |t| &t.name);
                format!("{name} of {}", words::queue_name(self, queue as usize))
            }
            KeyKind::Thread => "a step of a thread".to_owned(),
        })
    }

    fn place_name(&self, place: Place) -> String {
        let Some((kind, index)) = self.tables().places.meaning(place) else {
            return match place {
                Places::INIT => "init".to_owned(),
                Places::NOW => "virtual time".to_owned(),
                _ => "an element, a field, or where something stands".to_owned(),
            };
        };
        let queue = || words::queue_name(self, index);
        match kind {
            Kind::Global => self.program.globals[index].name.clone(),
            Kind::Lock => format!("lock {}", words::lock_name(self, index as u32)),
            Kind::Cond => format!("cond {}", words::cond_name(self, index as u32)),
            Kind::Started => format!("started({})", words::event_name(self, index as u32)),
            Kind::Toggled => format!("enabled({})", words::event_name(self, index as u32)),
            Kind::Busy => format!("busy({})", words::slot_name(self, index as u32)),
            Kind::Head => format!("first({})", queue()),
            Kind::Tail => format!("last({})", queue()),
            Kind::Lifecycle => "what has begun or ended".to_owned(),
        }
    }
}
