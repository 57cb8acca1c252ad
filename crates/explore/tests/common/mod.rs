//! Toy systems for the explorers: tasks as small decision trees over a few places, interpreted.

#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

pub mod generate;
#[path = "../../../search/tests/random/livelocks.rs"]
pub mod livelocks;
pub mod oracle;

use anyorder_system::{
    Actor, Actors, Effects, End, Failure, FailureSite, Hash128, Place, PlaceOfStep, Properties,
    Reducible, Role, StateHash, StateSystem, Successor, TaskKey, TouchKind, Touched, Update,
    Updates,
};
use livelocks::Who;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The body of a task.
#[derive(Clone, Debug)]
pub enum Tree {
    /// Reads a place and branches on its value; values beyond the last branch take the last.
    Read(usize, Vec<Tree>),
    /// Writes a value.
    Write(usize, Value, Box<Tree>),
    /// The following statements are done for this component.
    By(Option<u32>, Box<Tree>),
    /// Has several alternatives.
    Choice(Vec<Tree>),
    /// Fails, with a message that names the task and this number.
    Fail(u8),
    /// Blocks.
    Block,
    Done,
}

#[derive(Clone, Copy, Debug)]
pub enum Value {
    Constant(u8),
    /// The value read last, plus this.
    LastPlus(u8),
}

#[derive(Clone, Debug)]
pub struct Task {
    /// The places that it awaits, and for each the values that it may run at.
    pub awaits: Vec<(usize, Vec<u8>)>,
    pub body: Tree,
    pub component: Option<u32>,
}

/// Claims that the first place never has this value while the second has that one.
#[derive(Clone, Copy, Debug)]
pub struct Never(pub (usize, u8), pub (usize, u8));

/// The reads of tasks, in order: a reduced search must find all of them.
pub type Local = (usize, Vec<(usize, u8)>);

#[derive(Debug, Default)]
pub struct Toy {
    pub initial: Vec<Vec<u8>>,
    /// The values of each place are below this.
    pub domain: u8,
    pub tasks: Vec<Task>,
    pub invariants: Vec<Never>,
    pub components: usize,
    pub attributes: BTreeSet<usize>,
    /// Keys are hashes.
    pub hashed: bool,
    /// Tasks that await several places are not listed in advance, but while the first of these
    /// places allows them to run.
    pub dynamic: bool,
    /// Tasks that need not run.
    pub optional: BTreeSet<usize>,
    /// In states where the place holds the value, nothing needs to happen.
    pub finals: Option<(usize, u8)>,
    /// Who each task is, and whether the program says where it may end. Empty: livelocks are no
    /// faults.
    pub who: Vec<Who>,
    pub must_end: bool,
    /// The reads of all attempts so far; invariants count as tasks after the last.
    pub log: Mutex<BTreeSet<Local>>,
}

/// One run of a tree.
struct Run<'a> {
    toy: &'a Toy,
    task: usize,
    touched: Vec<Touched>,
    local: Vec<(usize, u8)>,
    ends: Vec<Outcome>,
}

/// State after, failure, the places written, and which places were changed for which component, in
/// order.
pub type Outcome = (Vec<u8>, Option<String>, BTreeSet<usize>, Vec<(usize, Option<u32>)>);

/// The position of a run of a tree.
#[derive(Clone)]
struct Point {
    state: Vec<u8>,
    written: BTreeSet<usize>,
    updates: Vec<(usize, Option<u32>)>,
    by: Option<u32>,
    last: u8,
}

impl Run<'_> {
    fn go(&mut self, tree: &Tree, mut at: Point) {
        match tree {
            Tree::Read(place, branches) => {
                let value = at.state[*place];
                if !at.written.contains(place) {
                    self.local.push((*place, value));
                    self.touch(*place, TouchKind::Read);
                }
                let branch = &branches[usize::from(value).min(branches.len() - 1)];
                self.go(branch, Point { last: value, ..at });
            }
            Tree::Write(place, value, next) => {
                let value = match value {
                    Value::Constant(value) => *value,
                    Value::LastPlus(more) => at.last + more,
                } % self.toy.domain;
                let same = at.state[*place] == value;
                self.touch(*place, if same { TouchKind::SilentWrite } else { TouchKind::Write });
                if !same {
                    at.updates.push((*place, at.by));
                }
                at.state[*place] = value;
                at.written.insert(*place);
                self.go(next, at);
            }
            Tree::By(component, next) => self.go(next, Point { by: *component, ..at }),
            Tree::Choice(trees) => {
                for tree in trees {
                    self.go(tree, at.clone());
                }
            }
            Tree::Fail(number) => {
                let message = format!("task {} fails at {number}", self.task);
                self.ends.push((at.state, Some(message), at.written, at.updates));
            }
            Tree::Block => {}
            Tree::Done => self.ends.push((at.state, None, at.written, at.updates)),
        }
    }

    fn touch(&mut self, place: usize, kind: TouchKind) {
        self.touched.push(Touched { place: self.toy.place(place), kind });
    }
}

impl Toy {
    pub fn key(&self, task: usize) -> TaskKey {
        TaskKey(if self.hashed { (task as u64 + 1) << 40 | 7 } else { task as u64 })
    }

    pub fn task(&self, key: TaskKey) -> usize {
        (if self.hashed { (key.0 >> 40) - 1 } else { key.0 }) as usize
    }

    pub fn place(&self, place: usize) -> Place {
        Place(if self.hashed { (place as u64 + 1) << 50 | 3 } else { place as u64 })
    }

    pub fn is_ready(&self, state: &[u8], task: usize) -> bool {
        self.tasks[task].awaits.iter().all(|(place, values)| values.contains(&state[*place]))
    }

    fn run_tree(&self, state: &[u8], task: usize) -> Run<'_> {
        let awaits = self.tasks[task].awaits.iter().map(|(place, _)| (*place, state[*place]));
        let local = awaits.collect();
        let mut run = Run { toy: self, task, touched: Vec::new(), local, ends: Vec::new() };
        let (written, updates, by) = (BTreeSet::new(), Vec::new(), self.tasks[task].component);
        run.go(
            &self.tasks[task].body,
            Point { state: state.to_vec(), written, updates, by, last: 0 },
        );
        run
    }

    /// The updates of attributes of an end.
    fn tell(&self, end: &Outcome, out: &mut Updates) {
        for (place, by) in end.3.iter().filter(|(place, _)| self.attributes.contains(place)) {
            out.push(Update { place: self.place(*place), by: *by });
        }
        out.end();
    }

    /// The end that a step leads to.
    pub fn end(&self, state: &[u8], (task, alternative): (usize, usize)) -> Outcome {
        self.run_tree(state, task).ends.swap_remove(alternative)
    }

    /// Returns whether an attempt may fail.
    pub fn fails(&self, state: &[u8], task: usize) -> bool {
        self.run_tree(state, task).ends.iter().any(|end| end.1.is_some())
    }

    /// Returns what an attempt reads.
    pub fn local(&self, state: &[u8], task: usize) -> Local {
        (task, self.run_tree(state, task).local)
    }

    pub fn watched(&self, invariant: usize, state: &[u8]) -> Local {
        let Never((a, value), (b, _)) = self.invariants[invariant];
        let mut local = vec![(a, state[a])];
        if state[a] == value {
            local.push((b, state[b]));
        }
        (self.tasks.len() + invariant, local)
    }

    /// Where a step of a task stands. Two tasks are one part.
    pub fn step_place(&self, task: usize) -> PlaceOfStep {
        let site = FailureSite { file: "f".to_owned(), line: task as u32 + 1, column: 1 };
        PlaceOfStep { kind: "part", part: format!("{}", task / 2), site: Some(site) }
    }

    pub fn forget(&self) {
        self.log.lock().unwrap().clear();
    }
}

impl Toy {
    pub fn is_final(&self, state: &[u8]) -> bool {
        self.finals.is_none_or(|(place, value)| state[place] == value)
    }

    pub fn is_stuck(&self, state: &[u8]) -> bool {
        state[0] == 0
    }

    /// What waits in a deadlock.
    pub fn waits(&self, state: &[u8]) -> String {
        format!("{:?}", &state[1..state.len().min(3)])
    }

    pub fn holds(&self, invariant: usize, state: &[u8]) -> bool {
        self.log.lock().unwrap().insert(self.watched(invariant, state));
        let Never((a, x), (b, y)) = self.invariants[invariant];
        !(state[a] == x && state[b] == y)
    }

    pub fn watches(&self, invariant: usize, state: &[u8], out: &mut Vec<Place>) {
        let (_, local) = self.watched(invariant, state);
        out.extend(local.into_iter().map(|(place, _)| self.place(place)));
    }
}

impl StateSystem for Toy {
    type State = Vec<u8>;
    type Action = (usize, usize);

    fn initial(&self) -> Vec<Vec<u8>> {
        self.initial.clone()
    }

    fn successors(&self, state: &Vec<u8>, out: &mut Vec<Successor<Vec<u8>, (usize, usize)>>) {
        for task in (0..self.tasks.len()).filter(|task| self.is_ready(state, *task)) {
            let run = self.run_tree(state, task);
            self.log.lock().unwrap().insert((task, run.local));
            for (index, (state, failure, ..)) in run.ends.into_iter().enumerate() {
                let failure = failure.map(Failure::from);
                out.push(Successor { action: (task, index), state, failure });
            }
        }
    }

    fn successors_with_updates(
        &self,
        state: &Vec<u8>,
        out: &mut Vec<Successor<Vec<u8>, (usize, usize)>>,
        updates: &mut Updates,
    ) {
        self.successors(state, out);
        for task in (0..self.tasks.len()).filter(|task| self.is_ready(state, *task)) {
            self.run_tree(state, task).ends.iter().for_each(|end| self.tell(end, updates));
        }
    }

    fn components(&self) -> Vec<String> {
        (0..self.components).map(|index| format!("component {index}")).collect()
    }

    fn fingerprint(&self, state: &Vec<u8>) -> Hash128 {
        StateHash::of_bytes(state)
    }

    fn encode(&self, state: &Vec<u8>, out: &mut Vec<u8>) {
        out.extend_from_slice(state);
    }

    fn decode(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }

    fn properties(&self) -> Properties<'_, Vec<u8>> {
        let end = |state: &Vec<u8>| match (self.is_final(state), self.is_stuck(state)) {
            (true, _) => End::Fine,
            (false, true) => End::Deadlock,
            (false, false) => End::Wrong,
        };
        let invariants = self.invariants.iter().enumerate();
        let properties = Properties::new().end(end).rest(|state: &Vec<u8>| self.is_final(state));
        let properties = properties.waits(|state: &Vec<u8>| self.waits(state));
        invariants.fold(properties, |properties, (index, one)| {
            let watches =
                move |state: &Vec<u8>, out: &mut Vec<Place>| self.watches(index, state, out);
            let holds = move |state: &Vec<u8>| self.holds(index, state);
            properties.invariant_of(format!("{one:?}"), holds, watches)
        })
    }

    fn actors(&self) -> Option<Actors<'_, Vec<u8>, (usize, usize)>> {
        (!self.who.is_empty()).then(|| {
            Actors::new(self.must_end, |_, (task, _)| {
                let role = match self.who[*task] {
                    Who::Input => Role::Input,
                    Who::Daemon => Role::Daemon,
                    Who::Worker => Role::Worker,
                };
                Actor { place: self.step_place(*task), role }
            })
        })
    }

    fn is_optional(&self, action: &(usize, usize)) -> bool {
        self.optional.contains(&action.0)
    }

    fn describe(&self, _state: &Vec<u8>, action: &(usize, usize)) -> String {
        format!("task {} alternative {}", action.0, action.1)
    }

    fn show(&self, state: &Vec<u8>) -> Vec<(String, String)> {
        vec![("places".to_owned(), format!("{state:?}"))]
    }
}

impl Reducible for Toy {
    fn ready(&self, state: &Vec<u8>, out: &mut Vec<TaskKey>) {
        let tasks = 0..self.tasks.len();
        out.extend(tasks.filter(|task| self.is_ready(state, *task)).map(|task| self.key(task)));
    }

    fn run(&self, state: &Vec<u8>, task: TaskKey, out: &mut Effects<Vec<u8>, (usize, usize)>) {
        let task = self.task(task);
        let run = self.run_tree(state, task);
        self.log.lock().unwrap().insert((task, run.local));
        out.touched.extend(run.touched);
        for (index, end) in run.ends.into_iter().enumerate() {
            if self.components > 0 {
                self.tell(&end, &mut out.updates);
            }
            let (state, failure, ..) = end;
            let failure = failure.map(Failure::from);
            out.successors.push(Successor { action: (task, index), state, failure });
        }
    }

    fn task_of(&self, _state: &Vec<u8>, action: &(usize, usize)) -> Option<TaskKey> {
        Some(self.key(action.0))
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        let awaits = &self.tasks[self.task(task)].awaits;
        out.extend(awaits.iter().map(|(place, _)| self.place(*place)));
    }

    fn tasks(&self, out: &mut Vec<TaskKey>) {
        let several = |task: &usize| !self.dynamic && self.tasks[*task].awaits.len() > 1;
        out.extend((0..self.tasks.len()).filter(several).map(|task| self.key(task)));
    }

    fn pending(&self, state: &Vec<u8>, out: &mut Vec<TaskKey>) {
        let there = |task: &usize| {
            let first = self.tasks[*task].awaits.first();
            self.dynamic && first.is_some_and(|(place, values)| values.contains(&state[*place]))
        };
        out.extend((0..self.tasks.len()).filter(there).map(|task| self.key(task)));
    }

    fn task_name(&self, _state: &Vec<u8>, task: TaskKey) -> String {
        format!("task {}", self.task(task))
    }

    fn place_name(&self, place: Place) -> String {
        format!("{place:?}")
    }
}
