//! The states and steps of one path as data for reports. Objects and tasks keep their numbers along
//! the path.
//!
//! The canonical form of a state numbers objects and tasks by the way to reach them, so a step may
//! give an object another number. A reader of a counterexample follows objects. So each object
//! keeps its first number here. This works because a state also stores the allocation of each
//! object.

use super::changes::{NewTask, PlaceChange, changes, is_value, posts, waits};
use super::parts::{Part, parts};
use super::words::{self, Runs, StepPlace};
use crate::machine::Machine;
use crate::program::FuncId;
use crate::state::rename::{
    Renaming, rename, rename_globals, rename_message, rename_object, rename_owners, rename_thread,
};
use crate::state::{State, StepId};
use crate::step::{Chosen, Log, LoggedAccess, LoggedPlace};
use crate::transitions::{Action, StepExecutor};
use crate::value::show::short;
use anyorder_system::AccessKind;
use rustc_hash::FxHashMap;

/// Follows one path, step by step. The states must come from each other: those of
/// [`StateSystem::decode`](anyorder_system::StateSystem::decode) do not know which objects they
/// have in common with others.
#[derive(Debug)]
pub struct PathWords<'m> {
    machine: &'m Machine,
    /// The stable numbers of objects, and of messages and threads, by their creation.
    objects: FxHashMap<u64, u32>,
    tasks: FxHashMap<u64, u32>,
    /// The last state of the path: as it is, with stable numbers, and by its parts.
    state: State,
    renamed: State,
    parts: Vec<Part>,
}

/// What a step of a path did, with values in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StepFacts {
    /// The handler or thread that takes it, or the event if it has no handler. Numbers distinguish
    /// tasks that run on threads of their own.
    pub lane: String,
    /// What it runs: a task with its arguments, an event, a thread.
    pub what: String,
    /// The source position of a thread.
    pub place: Option<StepPlace>,
    /// The values that it changed, or single elements of them if that is clearer.
    pub changes: Vec<PlaceChange>,
    /// The threads that began to wait, with the conditions.
    pub waits: Vec<(String, String)>,
    /// The writes that changed nothing, by name and value.
    pub same_writes: Vec<(String, String)>,
    /// The tasks that it posted, and the threads that it began.
    pub posts: Vec<NewTask>,
    /// The reads, by name and the first value read; only if it did nothing else.
    pub reads: Vec<(String, String)>,
    /// The choices that it made: labels in quotes, and elements. Empty if an alternative that it
    /// chose has no label.
    pub chosen: Vec<String>,
}

/// Returns the stable number of a creation. A new creation gets the next number.
fn number(known: &mut FxHashMap<u64, u32>, uid: u64) -> u32 {
    let next = known.len() as u32 + 1;
    *known.entry(uid).or_insert(next)
}

/// Maps the numbers in one state to stable ones.
struct StableNumbers {
    objects: Vec<u32>,
    handles: FxHashMap<u32, u32>,
}

impl Renaming for StableNumbers {
    fn object(&self, number: u32) -> u32 {
        self.objects.get((number as usize).wrapping_sub(1)).copied().unwrap_or(0)
    }

    fn handle(&self, number: u32) -> u32 {
        self.handles.get(&number).copied().unwrap_or(0)
    }
}

impl<'m> PathWords<'m> {
    /// Starts a path in its initial state.
    #[must_use]
    pub fn new(machine: &'m Machine, initial: &State) -> PathWords<'m> {
        let mut path = PathWords {
            machine,
            objects: FxHashMap::default(),
            tasks: FxHashMap::default(),
            state: initial.clone(),
            renamed: initial.clone(),
            parts: Vec::new(),
        };
        path.enter(initial);
        path
    }

    /// Moves to a state. Returns the parts of the state before it.
    fn enter(&mut self, state: &State) -> Vec<Part> {
        let lasting = self.lasting(state);
        self.state = state.clone();
        self.renamed = self.renamed(state, &lasting);
        let parts = parts(self.machine, &self.renamed, |object| lasting.object(object));
        std::mem::replace(&mut self.parts, parts)
    }

    /// Returns the values of the last state of the path, by name.
    #[must_use]
    pub fn values(&self) -> Vec<(String, String)> {
        let values = self.parts.iter().filter(|part| is_value(part));
        values.map(|part| (part.label(), part.text(&self.machine.program))).collect()
    }

    /// Takes a step to a state, and returns what it did. The writes that changed nothing are left
    /// out if the step fails.
    pub fn step(&mut self, action: &Action, after: &State, fails: bool) -> StepFacts {
        let before = self.state.clone();
        let Runs { what, place, .. } = words::runs(self.machine, &self.renamed, action.step);
        let lane = match self.lane(&before, action) {
            lane if lane.is_empty() => what.clone(),
            lane => lane,
        };
        let old = self.enter(after);
        let (program, new) = (&self.machine.program, &self.parts);
        let changes = changes(program, &old, new);
        let waits = waits(&old, new);
        let posts = posts(&lane, &what, &old, new);
        let ran = StepExecutor::logging(self.machine, &before).run_one(action);
        let mut log = ran.map(|ran| ran.log).unwrap_or_default();
        let chosen = self.chosen(&std::mem::take(&mut log.chosen));
        if fails {
            log = Log::default();
        }
        let same_writes = self.same_writes(&before, &log.accesses);
        let nothing = [changes.len(), waits.len(), same_writes.len(), posts.len()] == [0; 4];
        let reads = if nothing { self.named_reads(&before, &log) } else { Vec::new() };
        StepFacts { lane, what, place, changes, waits, same_writes, posts, reads, chosen }
    }

    /// Returns the choices of a step in words.
    fn chosen(&self, chosen: &[Chosen]) -> Vec<String> {
        let program = &self.machine.program;
        let words = chosen.iter().map(|one| match one {
            Chosen::Alternative(choice, taken) => {
                let label = program.choices[choice.index()].labels.get(*taken as usize)?;
                (!label.is_empty()).then(|| format!("\"{label}\""))
            }
            Chosen::Value(value) => Some(short(program, value)),
        });
        words.collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    fn lasting(&mut self, state: &State) -> StableNumbers {
        let objects = state.heap().iter().map(|object| number(&mut self.objects, object.uid));
        let objects = objects.collect();
        let mut handles = FxHashMap::default();
        for (handle, uid) in state.handles().filter(|(handle, _)| *handle != 0) {
            handles.insert(handle, number(&mut self.tasks, uid));
        }
        StableNumbers { objects, handles }
    }

    /// Returns a state with stable numbers, for reports only: it is not in canonical form, and its
    /// objects keep their places.
    fn renamed(&self, state: &State, by: &StableNumbers) -> State {
        let mut renamed = state.clone();
        rename_globals(self.machine, &mut renamed, by);
        renamed.replace_heap(state.heap().iter().map(|o| rename_object(o, by)).collect());
        renamed.replace_threads(state.threads().iter().map(|t| rename_thread(t, by)).collect());
        renamed.replace_locks(rename_owners(self.machine, state, by));
        renamed.replace_messages(state.messages().iter().map(|m| rename_message(m, by)).collect());
        renamed
    }

    /// Returns the name of the handler or thread that takes a step.
    fn lane(&mut self, before: &State, action: &Action) -> String {
        let machine = self.machine;
        match action.step {
            StepId::Message { queue, task, .. } if queue as usize == machine.layout.pool() => {
                let message = action.step.message(before);
                let number = message.map_or(0, |message| number(&mut self.tasks, message.uid));
                format!("{}#{number}", machine.program.tasks[usize::from(task)].name)
            }
            step => words::lane(machine, step).unwrap_or_else(|| {
                step.thread(before).map_or_else(String::new, |thread| {
                    let number = number(&mut self.tasks, thread.uid);
                    format!("{}#{number}", words::body_name(machine, thread))
                })
            }),
        }
    }

    /// Returns the globals that a step wrote without a change, each once, with the value.
    fn same_writes(&mut self, before: &State, found: &[LoggedAccess]) -> Vec<(String, String)> {
        let lasting = self.lasting(before);
        let mut same: Vec<(String, String)> = Vec::new();
        for (at, touch) in found.iter().enumerate() {
            let LoggedPlace::Global(global) = touch.place else { continue };
            let later = found[at + 1..]
                .iter()
                .any(|other| other.place == touch.place && other.kind != AccessKind::Read);
            if touch.kind == AccessKind::Read || later {
                continue;
            }
            let held = before.global(usize::from(global));
            let held = match &touch.element {
                None => Some(held),
                Some(index) => held.element(index),
            };
            let Some(value) = touch.value.as_ref().filter(|value| Some(*value) == held) else {
                continue;
            };
            if let Some(name) = self.name(touch, &lasting) {
                same.push((name, short(&self.machine.program, &rename(value, &lasting))));
            }
        }
        same
    }

    /// Returns what an invariant, a guard or another function that changes nothing reads in the
    /// last state of the path: names and the first values read.
    pub fn reads_of(&mut self, function: FuncId) -> Vec<(String, String)> {
        let state = self.state.clone();
        let mut executor = StepExecutor::logging(self.machine, &state);
        // The caller knows the answer. Only the log is of interest.
        let _ = executor.evaluate(function);
        let log = executor.take_log();
        self.named_reads(&state, &log)
    }

    /// Returns the globals and fields in a log of reads, each once, in order, with the first values
    /// read.
    fn named_reads(&mut self, state: &State, log: &Log) -> Vec<(String, String)> {
        let mut lasting = self.lasting(state);
        let allocated = log.allocated.iter().map(|uid| number(&mut self.objects, *uid));
        lasting.objects.extend(allocated);
        let mut reads: Vec<(String, String)> = Vec::new();
        for touch in log.accesses.iter().filter(|touch| touch.kind == AccessKind::Read) {
            let (Some(name), Some(value)) = (self.name(touch, &lasting), &touch.value) else {
                continue;
            };
            if !reads.iter().any(|(known, _)| *known == name) {
                reads.push((name, short(&self.machine.program, &rename(value, &lasting))));
            }
        }
        reads
    }

    /// Returns the name of a global or a field, or of an element in it.
    fn name(&mut self, touch: &LoggedAccess, lasting: &StableNumbers) -> Option<String> {
        let program = &self.machine.program;
        let mut name = match &touch.place {
            LoggedPlace::Global(global) => program.globals[usize::from(*global)].name.clone(),
            LoggedPlace::Field { uid, class, field } => {
                let object = number(&mut self.objects, *uid);
                format!("obj#{object}.{}", words::field_name(self.machine, *class, *field))
            }
            _ => return None,
        };
        if let Some(element) = &touch.element {
            let key = short(program, &rename(element, lasting));
            name.push_str(&format!("[{key}]"));
        }
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Literal, Op, ProgramBuilder};
    use crate::value::Value;
    use anyorder_system::StateSystem;

    /// Two events: one makes an object and moves the one before to `old`; the other reads what
    /// `new` holds.
    fn machine() -> Machine {
        let mut b = ProgramBuilder::new("objects");
        let (new, old) = (b.global("new", Literal::Null), b.global("old", Literal::Null));
        let class = b.class("Box", &["n"]);
        let mut f = b.function("make", 0);
        let r = f.reg();
        f.emit(Op::GetGlobal { dst: r, global: new });
        f.emit(Op::SetGlobal { global: old, src: r });
        f.emit(Op::Int { dst: r, value: 7 });
        f.emit(Op::New { dst: r, class, args: r });
        f.emit(Op::SetGlobal { global: new, src: r });
        let make = b.add(f);
        b.event("make", make);
        let mut f = b.function("look", 0);
        let r = f.reg();
        f.emit(Op::GetGlobal { dst: r, global: new });
        let look = b.add(f);
        b.event("look", look);
        Machine::new(b.finish().expect("a program")).expect("a machine")
    }

    #[test]
    fn objects_keep_their_numbers() {
        let machine = machine();
        let mut state = machine.initial().remove(0);
        let mut words = PathWords::new(&machine, &state);
        let (mut lasting, mut canonical) = (Vec::new(), Vec::new());
        let text = |shown: Vec<(String, String)>| format!("{} {}", shown[0].1, shown[1].1);
        for _ in 0..3 {
            let mut next = Vec::new();
            machine.successors(&state, &mut next);
            let made = next.remove(0);
            let facts = words.step(&made.action, &made.state, false);
            assert_eq!((facts.lane.as_str(), facts.what.as_str()), ("make", "make"));
            state = made.state;
            lasting.push(text(words.values()));
            canonical.push(text(machine.show(&state)));
        }
        assert_eq!(lasting, ["obj#1 null", "obj#2 obj#1", "obj#3 obj#2"]);
        assert_eq!(canonical, ["obj#1 null", "obj#1 obj#2", "obj#1 obj#2"]);
        let mut next = Vec::new();
        machine.successors(&state, &mut next);
        let look = next.pop().expect("the second event").action;
        let facts = words.step(&look, &state, false);
        assert_eq!(facts.reads, [("new".to_owned(), "obj#3".to_owned())]);
        assert_eq!(facts.lane, "look");
        assert!(matches!(state.global(0), Value::Obj(1)));
    }
}
