//! Copies of tasks and forked functions, one for each component that they may work for.
//!
//! A task that is a member of no component works for the component that posts it, and a forked
//! function for the one that forks it. A copy differs from its original in its component alone. So
//! for whom a message was created is part of its task: whatever holds for messages of different
//! tasks (equality, fingerprints, encodings, keys, the memo) holds for messages for different
//! components, too.
//!
//! Only tasks that a component may post get a copy. Calls, posts and forks pass components on; a
//! call of an unknown function may reach every closure and every method. **Cost**: instructions
//! times components, and the copied code.

use super::ready::NO_COMPONENT;
use crate::program::{FuncId, Op, Program, ProgramError, TaskId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Most instructions in all copies together, each counted once more for each 64 registers.
const INSTRUCTIONS_MAX: usize = 1 << 22;
/// Most entries of a table of a program.
const TABLE_MAX: usize = u16::MAX as usize - 1;

/// Which copies a program has. They stand behind all that it declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// The copy of a task or function for a component.
    tasks: FxHashMap<(u16, u16), u16>,
    functions: FxHashMap<(u16, u16), u16>,
    /// For each copy of a task, from `first_task` on, the original.
    originals: Vec<u16>,
    first_task: usize,
    first_function: usize,
}

impl Copies {
    /// Adds the copies to a program that is valid.
    ///
    /// # Errors
    ///
    /// Fails if they are too many or too long.
    pub(crate) fn add_to(program: &mut Program) -> Result<Copies, ProgramError> {
        let mut copies = Copies {
            first_task: program.tasks.len(),
            first_function: program.functions.len(),
            ..Copies::default()
        };
        if program.components.is_empty() {
            return Ok(copies);
        }
        let Created { tasks, functions } = Created::of(program);
        let bodies = tasks.iter().map(|(task, by)| (program.tasks[usize::from(*task)].body.0, *by));
        let all: BTreeSet<(u16, u16)> = bodies.chain(functions.iter().copied()).collect();
        check_size(program, &all, tasks.len())?;
        for (function, by) in all {
            let copy = FuncId(program.functions.len() as u16);
            program.functions.push(program.functions[usize::from(function)].clone());
            program.components[usize::from(by)].functions.push(copy);
            if program.daemons.functions.contains(&FuncId(function)) {
                program.daemons.functions.push(copy);
            }
            copies.functions.insert((function, by), copy.0);
        }
        for (task, by) in tasks {
            let copy = TaskId(program.tasks.len() as u16);
            let mut declared = program.tasks[usize::from(task)].clone();
            declared.body = FuncId(copies.functions[&(declared.body.0, by)]);
            program.tasks.push(declared);
            if program.daemons.tasks.contains(&TaskId(task)) {
                program.daemons.tasks.push(copy);
            }
            copies.tasks.insert((task, by), copy.0);
            copies.originals.push(task);
        }
        Ok(copies)
    }

    /// Removes the copies from a program.
    pub(crate) fn remove_from(&self, program: &mut Program) {
        program.tasks.truncate(self.first_task);
        program.functions.truncate(self.first_function);
        program.daemons.tasks.retain(|task| task.index() < self.first_task);
        program.daemons.functions.retain(|func| func.index() < self.first_function);
        for component in &mut program.components {
            component.functions.retain(|func| func.index() < self.first_function);
        }
    }

    /// Returns the task of a message that code of a component posts.
    #[inline]
    pub(crate) fn task_for(&self, task: u16, component: u16) -> u16 {
        if self.tasks.is_empty() {
            return task;
        }
        self.tasks.get(&(task, component)).copied().unwrap_or(task)
    }

    /// Returns the function of a thread that code of a component forks.
    #[inline]
    pub(crate) fn function_for(&self, function: u16, component: u16) -> u16 {
        if self.functions.is_empty() {
            return function;
        }
        self.functions.get(&(function, component)).copied().unwrap_or(function)
    }

    /// Returns the declared task that a task is, or is a copy of.
    pub(crate) fn original(&self, task: u16) -> u16 {
        let copy = usize::from(task).checked_sub(self.first_task);
        copy.and_then(|copy| self.originals.get(copy)).copied().unwrap_or(task)
    }

    /// Returns a task and its copies.
    pub(crate) fn of_task(&self, task: u16) -> impl Iterator<Item = u16> {
        let copies = (0..).zip(&self.originals).filter(move |(_, original)| **original == task);
        std::iter::once(task).chain(copies.map(|(at, _)| self.first_task as u16 + at))
    }

    /// Returns a function and its copies.
    pub(crate) fn of_function(&self, function: u16) -> impl Iterator<Item = u16> {
        let copies = self.functions.iter().filter(move |((original, _), _)| *original == function);
        let copies: BTreeSet<u16> = copies.map(|(_, copy)| *copy).collect();
        std::iter::once(function).chain(copies)
    }

    /// Returns how many tasks the program declares.
    pub(crate) fn declared_tasks(&self) -> usize {
        self.first_task
    }
}

/// Fails if the copies do not fit.
fn check_size(
    program: &Program,
    functions: &BTreeSet<(u16, u16)>,
    tasks: usize,
) -> Result<(), ProgramError> {
    let size = |(function, _): &(u16, u16)| {
        let function = &program.functions[usize::from(*function)];
        function.code.len() * (1 + usize::from(function.registers) / 64)
    };
    let instructions: usize = functions.iter().map(size).sum();
    let counts = [
        ("functions", program.functions.len() + functions.len(), TABLE_MAX),
        ("tasks", program.tasks.len() + tasks, TABLE_MAX),
        ("instructions", instructions, INSTRUCTIONS_MAX),
    ];
    match counts.into_iter().find(|(_, count, limit)| count > limit) {
        Some((what, count, limit)) => Err(ProgramError {
            place: "components".to_owned(),
            what: format!(
                "{count} {what} once each task counts for each component that may post it, more \
                 than {limit}"
            ),
        }),
        None => Ok(()),
    }
}

/// The tasks and functions that are members of no component, with the components whose code may
/// post or fork them.
struct Created {
    tasks: BTreeSet<(u16, u16)>,
    functions: BTreeSet<(u16, u16)>,
}

impl Created {
    fn of(program: &Program) -> Created {
        let own = super::ready::components(program);
        let member = |function: u16| own[usize::from(function)] != NO_COMPONENT;
        let starts = Starts::of(program);
        let works_for = starts.works_for(&own);
        let (mut tasks, mut functions) = (BTreeSet::new(), BTreeSet::new());
        for (function, by) in works_for {
            let at = usize::from(function);
            let posts = starts.posts[at].iter().filter(|task| {
                let body = program.tasks[usize::from(**task)].body;
                !member(body.0)
            });
            tasks.extend(posts.map(|task| (*task, by)));
            let forks = starts.forks[at].iter().filter(|forked| !member(**forked));
            functions.extend(forks.map(|forked| (*forked, by)));
        }
        Created { tasks, functions }
    }
}

/// For each function the code that it may start: by calls, posts and forks.
struct Starts {
    /// Functions.
    all: Vec<Vec<u16>>,
    posts: Vec<Vec<u16>>,
    forks: Vec<Vec<u16>>,
    /// What a call of an unknown function may reach. The functions that make one start the number
    /// behind the last function, which starts these.
    unknown: Vec<u16>,
}

impl Starts {
    fn of(program: &Program) -> Starts {
        let count = program.functions.len();
        let mut starts = Starts {
            all: Vec::with_capacity(count + 1),
            posts: Vec::with_capacity(count),
            forks: Vec::with_capacity(count),
            unknown: Vec::new(),
        };
        let methods = program.classes.iter().flat_map(|class| &class.methods);
        let mut unknown: BTreeSet<u16> = methods.map(|(_, func)| func.0).collect();
        for function in &program.functions {
            let (mut all, mut posts, mut forks) =
                (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            for op in &function.code {
                match *op {
                    Op::Call { func, .. } => _ = all.insert(func.0),
                    Op::CallValue { .. } | Op::CallMember { .. } => _ = all.insert(count as u16),
                    Op::Closure { func, .. } => _ = unknown.insert(func.0),
                    Op::Fork { func, .. } => {
                        all.insert(func.0);
                        forks.insert(func.0);
                    }
                    Op::Post { post, .. } => {
                        let task = program.posts[post.index()].task;
                        all.insert(program.tasks[task.index()].body.0);
                        posts.insert(task.0);
                    }
                    _ => {}
                }
            }
            starts.all.push(all.into_iter().collect());
            starts.posts.push(posts.into_iter().collect());
            starts.forks.push(forks.into_iter().collect());
        }
        starts.unknown = unknown.into_iter().collect();
        starts
    }

    /// Returns for which components the code of each function may work.
    fn works_for(&self, own: &[u16]) -> BTreeSet<(u16, u16)> {
        let count = self.all.len();
        let members = (0..).zip(own).filter(|(_, by)| **by != NO_COMPONENT);
        let mut open: Vec<(u16, u16)> = members.map(|(function, by)| (function, *by)).collect();
        let mut seen: FxHashSet<(u16, u16)> = open.iter().copied().collect();
        while let Some((function, by)) = open.pop() {
            let next = self.all.get(usize::from(function)).unwrap_or(&self.unknown);
            for started in next {
                let is_member = own.get(usize::from(*started)).is_some_and(|o| *o != NO_COMPONENT);
                if !is_member && seen.insert((*started, by)) {
                    open.push((*started, by));
                }
            }
        }
        seen.into_iter().filter(|(function, _)| usize::from(*function) < count).collect()
    }
}
