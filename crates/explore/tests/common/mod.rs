//! Toy systems for the explorers: tasks as small decision trees over a few places, interpreted.

#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

pub mod generate;
pub mod oracle;

use anyorder_system::{
    Effects, Hash128, Place, Reducible, StateHash, StateSystem, Successor, TaskKey, TouchKind,
    Touched,
};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// What a task does.
#[derive(Clone, Debug)]
pub enum Tree {
    /// Reads a place and goes on by its value; values beyond the last branch take the last.
    Read(usize, Vec<Tree>),
    /// Writes a value.
    Write(usize, Value, Box<Tree>),
    /// Has several alternatives.
    Choice(Vec<Tree>),
    /// Fails, with a message that names the task and this number.
    Fail(u8),
    /// Cannot go on.
    Block,
    Done,
}

#[derive(Clone, Copy, Debug)]
pub enum Value {
    Constant(u8),
    /// What was read last, plus this.
    LastPlus(u8),
}

#[derive(Clone, Debug)]
pub struct Task {
    /// The places that it awaits, and for each the values that it may run at.
    pub awaits: Vec<(usize, Vec<u8>)>,
    pub body: Tree,
    pub component: Option<u32>,
}

/// Never is the first place at this value while the second is at that.
#[derive(Clone, Copy, Debug)]
pub struct Never(pub (usize, u8), pub (usize, u8));

/// What tasks read, in order: what a reduced search has to see all of.
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
    /// Tasks that await several places are not told in advance, but while the first of these places allows them to run.
    pub dynamic: bool,
    /// In states where the place holds the value, nothing needs to happen.
    pub finals: Option<(usize, u8)>,
    /// What was read in all attempts so far; invariants count as tasks after the last.
    pub log: Mutex<BTreeSet<Local>>,
}

/// One run of a tree.
struct Run<'a> {
    toy: &'a Toy,
    task: usize,
    touched: Vec<Touched>,
    local: Vec<(usize, u8)>,
    /// State after, failure, and the places written.
    ends: Vec<(Vec<u8>, Option<String>, BTreeSet<usize>)>,
}

impl Run<'_> {
    fn go(&mut self, tree: &Tree, mut state: Vec<u8>, mut written: BTreeSet<usize>, last: u8) {
        match tree {
            Tree::Read(place, branches) => {
                let value = state[*place];
                if !written.contains(place) {
                    self.local.push((*place, value));
                    self.touch(*place, TouchKind::Read);
                }
                let branch = &branches[usize::from(value).min(branches.len() - 1)];
                self.go(branch, state, written, value);
            }
            Tree::Write(place, value, next) => {
                let value = match value {
                    Value::Constant(value) => *value,
                    Value::LastPlus(more) => last + more,
                } % self.toy.domain;
                let same = state[*place] == value;
                self.touch(*place, if same { TouchKind::SilentWrite } else { TouchKind::Write });
                state[*place] = value;
                written.insert(*place);
                self.go(next, state, written, last);
            }
            Tree::Choice(trees) => {
                for tree in trees {
                    self.go(tree, state.clone(), written.clone(), last);
                }
            }
            Tree::Fail(number) => {
                let message = format!("task {} fails at {number}", self.task);
                self.ends.push((state, Some(message), written));
            }
            Tree::Block => {}
            Tree::Done => self.ends.push((state, None, written)),
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
        run.go(&self.tasks[task].body, state.to_vec(), BTreeSet::new(), 0);
        run
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

    pub fn forget(&self) {
        self.log.lock().unwrap().clear();
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
            for (index, (state, failure, _)) in run.ends.into_iter().enumerate() {
                out.push(Successor { action: (task, index), state, failure });
            }
        }
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

    fn is_final(&self, state: &Vec<u8>) -> bool {
        self.finals.is_none_or(|(place, value)| state[place] == value)
    }

    fn is_stuck(&self, state: &Vec<u8>) -> bool {
        state[0] == 0
    }

    fn invariants(&self) -> Vec<String> {
        self.invariants.iter().map(|one| format!("{one:?}")).collect()
    }

    fn holds(&self, invariant: usize, state: &Vec<u8>) -> bool {
        self.log.lock().unwrap().insert(self.watched(invariant, state));
        let Never((a, x), (b, y)) = self.invariants[invariant];
        !(state[a] == x && state[b] == y)
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
        for (index, (state, failure, _)) in run.ends.into_iter().enumerate() {
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

    fn watches(&self, invariant: usize, state: &Vec<u8>, out: &mut Vec<Place>) {
        let (_, local) = self.watched(invariant, state);
        out.extend(local.into_iter().map(|(place, _)| self.place(place)));
    }

    fn task_name(&self, _state: &Vec<u8>, task: TaskKey) -> String {
        format!("task {}", self.task(task))
    }

    fn place_name(&self, place: Place) -> String {
        format!("{place:?}")
    }

    fn components(&self) -> Vec<String> {
        (0..self.components).map(|index| format!("component {index}")).collect()
    }

    fn component(&self, task: TaskKey) -> Option<u32> {
        self.tasks[self.task(task)].component
    }

    fn is_attribute(&self, place: Place) -> bool {
        self.attributes.iter().any(|one| self.place(*one) == place)
    }

    fn updates(
        &self,
        before: &Vec<u8>,
        task: TaskKey,
        after: &Vec<u8>,
        out: &mut Vec<(Place, u64)>,
    ) {
        let run = self.run_tree(before, self.task(task));
        let Some((_, _, written)) = run.ends.iter().find(|(state, _, _)| state == after) else {
            return;
        };
        let attributes = written.iter().filter(|place| self.attributes.contains(place));
        out.extend(attributes.map(|place| (self.place(*place), u64::from(after[*place]))));
    }
}
