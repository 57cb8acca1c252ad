//! Names of pending tasks and threads. Unlike their numbers in a state, names survive re-execution
//! and reordering.

use super::name::{Detail, Name};
use super::words;
use crate::machine::Machine;
use crate::state::{Origin, State, StepId, ThreadBody};
use crate::step::Log;
use anyorder_system::TaskName;
use rustc_hash::FxHashMap;

/// A task or thread, and how many steps it has taken.
#[derive(Clone, Debug)]
struct Named {
    name: TaskName,
    steps: u32,
    /// Whether it was posted with a delay: taking it may advance the time.
    delayed: bool,
}

/// The names in one state. Cloned with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateNames {
    /// Messages and threads by the number of their creation.
    pending: FxHashMap<u64, Named>,
    /// Names of tasks and threads that had a handle and have ended, by the number of their
    /// creation.
    ended: FxHashMap<u64, TaskName>,
    /// How often each event member has happened.
    happened: FxHashMap<u32, u32>,
    /// How many steps each declared thread has taken.
    steps: FxHashMap<u32, u32>,
    /// Objects by the number of their allocation: the number that all runs of one instance share.
    pub(crate) objects: FxHashMap<u64, u64>,
}

/// Makes a task name. The number of a member becomes the label: `rm[2]` is `rm@2`.
pub(super) fn task_of(name: &Name) -> TaskName {
    let task = TaskName::root(kind_or_unknown(&name.declared));
    match name.detail {
        Detail::Member(index) => task.with_label(&index.to_string()),
        _ => task,
    }
}

/// Makes the name of an event or thread. One that is called `init` is `init@declared`, because
/// `init` is the first step.
fn declared(name: &Name) -> TaskName {
    match (name.declared.as_str(), &name.detail) {
        (init @ "init", Detail::None) => TaskName::root(init).with_label("declared"),
        _ => task_of(name),
    }
}

fn kind_or_unknown(name: &str) -> &str {
    if name.is_empty() { "?" } else { name }
}

impl StateNames {
    /// Returns the name of the next step of a candidate.
    pub(crate) fn next(&self, machine: &Machine, state: &State, step: StepId) -> TaskName {
        match step {
            StepId::Init => TaskName::root("init"),
            StepId::Event(member) => {
                let count = self.happened.get(&member).copied().unwrap_or(0);
                declared(&words::event_name(machine, member)).with_ordinal(count + 1)
            }
            StepId::Message { .. } => {
                let named = step.message(state).and_then(|message| self.pending.get(&message.uid));
                named.map_or_else(|| TaskName::root("?"), |named| named.name.clone())
            }
            StepId::Thread { origin: Origin::Declared(member), .. } => {
                let count = self.steps.get(&member).copied().unwrap_or(0);
                declared(&words::thread_name(machine, member)).with_ordinal(count + 1)
            }
            StepId::Thread { .. } => {
                let uid = step.thread(state).map_or(0, |thread| thread.uid);
                match self.pending.get(&uid) {
                    Some(named) => named.name.child("step").with_ordinal(named.steps + 1),
                    None => TaskName::root("?"),
                }
            }
        }
    }

    /// Updates the names after a step. Returns the names of the tasks and threads that it created.
    pub(crate) fn advance(
        &mut self,
        machine: &Machine,
        (before, step, after): (&State, StepId, &State),
        name: &TaskName,
        log: &Log,
        objects: &mut FxHashMap<(TaskName, u32), u64>,
    ) -> Vec<TaskName> {
        match step {
            StepId::Event(member) => *self.happened.entry(member).or_insert(0) += 1,
            StepId::Thread { origin: Origin::Declared(member), .. } => {
                *self.steps.entry(member).or_insert(0) += 1;
            }
            StepId::Thread { .. } => {
                let thread = step.thread(before);
                if let Some(named) = thread.and_then(|thread| self.pending.get_mut(&thread.uid)) {
                    named.steps += 1;
                }
            }
            StepId::Init | StepId::Message { .. } => {}
        }
        if let StepId::Event(member) = step {
            self.began(machine, after, member, name);
        }
        let created = self.created(machine, name, log);
        for (ordinal, uid) in (0..).zip(&log.allocated) {
            let next = objects.len() as u64 + 1;
            let number = *objects.entry((name.clone(), ordinal)).or_insert(next);
            self.objects.insert(*uid, number);
        }
        let cancelled = log.cancelled.iter().map(|(uid, handle)| (*handle, *uid));
        for (handle, uid) in before.handles().chain(cancelled) {
            if handle != 0
                && let Some(named) = self.pending.get(&uid)
            {
                self.ended.insert(uid, named.name.clone());
            }
        }
        self.forget(after);
        created
    }

    /// Names the thread of an event that did not end at once.
    fn began(&mut self, machine: &Machine, after: &State, member: u32, name: &TaskName) {
        let slot = machine.layout.member_slot[member as usize];
        let thread = after.threads().iter().find(|t| t.origin == Origin::Slot(slot));
        if let Some(thread) = thread.filter(|thread| thread.body == ThreadBody::Event(member)) {
            self.pending.insert(thread.uid, Named { name: name.clone(), steps: 0, delayed: false });
        }
    }

    fn created(&mut self, machine: &Machine, name: &TaskName, log: &Log) -> Vec<TaskName> {
        let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
        let mut names = Vec::new();
        for created in &log.created {
            let kind = if created.fork {
                &machine.program.functions[usize::from(created.number)].name
            } else {
                &machine.program.tasks[usize::from(created.number)].name
            };
            let kind = kind_or_unknown(kind);
            let count = counts.entry(kind).or_insert(0);
            let child = name.child(kind).with_ordinal(*count);
            *count += 1;
            let delayed = created.delay > 0;
            self.pending.insert(created.uid, Named { name: child.clone(), steps: 0, delayed });
            names.push(child);
        }
        names
    }

    /// Returns the name of a message or thread that exists, or that had a handle and has ended.
    pub(crate) fn of(&self, uid: u64) -> Option<&TaskName> {
        self.pending.get(&uid).map(|named| &named.name).or_else(|| self.ended.get(&uid))
    }

    /// Returns whether a message was posted with a delay.
    pub(crate) fn is_delayed(&self, uid: u64) -> bool {
        self.pending.get(&uid).is_some_and(|named| named.delayed)
    }

    /// Returns forked threads and running tasks in the order of their names, which does not depend
    /// on the order of steps.
    pub(crate) fn in_order(&self, state: &State) -> Vec<u64> {
        let threads = state.threads().iter().filter(|thread| thread.uid != 0);
        let mut named: Vec<(Option<&TaskName>, u64)> =
            threads.map(|thread| (self.of(thread.uid), thread.uid)).collect();
        named.sort();
        named.into_iter().map(|(_, uid)| uid).collect()
    }

    /// Forgets messages, threads and objects that no longer exist.
    fn forget(&mut self, state: &State) {
        let live: rustc_hash::FxHashSet<u64> = state.handles().map(|(_, uid)| uid).collect();
        self.pending.retain(|uid, _| live.contains(uid));
        if !self.objects.is_empty() {
            let live: rustc_hash::FxHashSet<u64> = state.heap().iter().map(|o| o.uid).collect();
            self.objects.retain(|uid, _| live.contains(uid));
        }
    }
}
