//! The properties of conflicts, by their definitions, in every run: determinism of each event
//! (Definition 5), serializability (Definition 4), and the same with the order of starts.

use crate::ast::Order;
use crate::code::Program;
use crate::machine::{
    Access, Actor, EVENT, INIT, Id, Location, Log, Posted, State, actors, initial, steps,
};
use crate::mutants::Mutant;
use crate::rename::renamed;
use crate::states::{is_quiet, is_too_large};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The maximum number of accesses of an expanded run.
const ACCESSES: usize = 80;

/// Whether something holds; `None` if that is too much to find out.
pub(crate) type Answer = Option<bool>;

/// Which accesses there were, and who came before whom in a conflict.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Conflicts {
    accesses: BTreeSet<(Location, bool, Id)>,
    edges: BTreeSet<(Id, Id)>,
}

impl Conflicts {
    /// Adds an access by someone.
    fn add(&mut self, (location, write): &Access, who: &Id) {
        for (other, written, earlier) in &self.accesses {
            if earlier != who && other.overlaps(location) && (*write || *written) {
                self.edges.insert((earlier.clone(), who.clone()));
            }
        }
        self.accesses.insert((location.clone(), *write, who.clone()));
    }
}

/// The occurrence of an event that an invocation belongs to.
fn occurrence(id: &Id) -> Id {
    Id::from(if id[0] == INIT { &id[..1] } else { &id[..3] })
}

/// Whether a graph has a cycle: whether something is left when all that nothing leads to is
/// removed, again and again.
fn has_cycle(edges: &BTreeSet<(Id, Id)>) -> bool {
    let mut left: Vec<&(Id, Id)> = edges.iter().collect();
    loop {
        let count = left.len();
        let led_to: HashSet<&Id> = left.iter().map(|(_, to)| to).collect();
        left.retain(|(from, _)| led_to.contains(from));
        if left.len() == count {
            return count > 0;
        }
    }
}

/// The answers about whole runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Orders {
    pub(crate) serializable: Answer,
    pub(crate) start_order: Answer,
}

/// Visits all runs, with the conflicts of each, and looks for cycles.
pub(crate) fn orders(program: &Program, repeat: u8, most: usize) -> Orders {
    let mut found = Orders { serializable: Some(true), start_order: Some(true) };
    let mut seen: HashSet<(State, Conflicts)> = HashSet::new();
    let mut open = Vec::new();
    let judge = |conflicts: &Conflicts, state: Option<&State>, found: &mut Orders| {
        if has_cycle(&conflicts.edges) {
            *found = Orders { serializable: Some(false), start_order: Some(false) };
        }
        let mut edges = conflicts.edges.clone();
        if let Some(state) = state {
            edges.extend(starts(program, state));
        }
        if has_cycle(&edges) {
            found.start_order = Some(false);
        }
    };
    for step in initial(program) {
        let mut conflicts = Conflicts::default();
        note(&mut conflicts, &step.log, &occurrence(&step.id));
        if let Ok(state) = step.next {
            open.push((state, conflicts));
        }
    }
    while let Some((state, conflicts)) = open.pop() {
        if seen.len() > most || is_too_large(&state) || conflicts.accesses.len() > ACCESSES {
            let unknown = |answer: Answer| answer.filter(|holds| !holds);
            return Orders {
                serializable: unknown(found.serializable),
                start_order: unknown(found.start_order),
            };
        }
        for actor in actors(program, &state, repeat) {
            for step in steps(program, &state, &actor) {
                let mut conflicts = conflicts.clone();
                if step.next.is_err() && forgets_failing(program) {
                    continue;
                }
                note(&mut conflicts, &step.log, &occurrence(&step.id));
                // A step that fails is the last one of its run.
                let started = match &step.next {
                    Ok(next) => next.clone(),
                    Err(_) => counted(&state, &actor),
                };
                judge(&conflicts, Some(&started), &mut found);
                if found.serializable == Some(false) {
                    return found;
                }
                if let Ok(next) = step.next
                    && seen.insert((next.clone(), conflicts.clone()))
                {
                    open.push((next, conflicts));
                }
            }
        }
    }
    found
}

fn forgets_failing(program: &Program) -> bool {
    program.mutant == Some(Mutant::FailingStepsHaveNoConflicts)
}

fn note(conflicts: &mut Conflicts, log: &Log, who: &Id) {
    log.accesses.iter().for_each(|access| conflicts.add(access, who));
}

/// A state with the event counted that fails when it starts.
fn counted(state: &State, actor: &Actor) -> State {
    let mut state = state.clone();
    if let Actor::Start(member) = actor {
        state.count[*member] += 1;
    }
    state
}

/// The order in which the program lets the events of a run begin.
fn starts(program: &Program, state: &State) -> BTreeSet<(Id, Id)> {
    let of = |member: usize, nth: u8| Id::from([EVENT, member as u16, u16::from(nth)]);
    let mut edges = BTreeSet::new();
    for (later, info) in program.members.iter().enumerate() {
        for nth in 0..state.count[later] {
            edges.insert((Id::from([INIT]), of(later, nth)));
            for earlier in info.after.iter().chain(&info.started) {
                // Only the first occurrence has to come before.
                let firsts = match program.mutant {
                    Some(Mutant::EveryOccurrenceIsOrdered) => state.count[*earlier],
                    _ => 1,
                };
                edges.extend((0..firsts).map(|first| (of(*earlier, first), of(later, nth))));
            }
        }
    }
    edges
}

/// A run of one event that began when nothing was left to run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Alone {
    state: State,
    /// What was posted and not taken back, the first one being the event itself.
    tasks: BTreeSet<Posted>,
    conflicts: Conflicts,
}

/// Which events are deterministic, by the numbers of their members; `None` is `init`.
pub(crate) fn deterministic(
    program: &Program,
    repeat: u8,
    most: usize,
) -> BTreeMap<Option<usize>, Answer> {
    let mut answers: BTreeMap<Option<usize>, Answer> = BTreeMap::new();
    answers.insert(None, Some(true));
    answers.extend((0..program.members.len()).map(|member| (Some(member), Some(true))));
    let mut search =
        Search { program, most, visited: 0, answers, quiet: HashSet::new(), open: vec![] };
    let begun: Vec<Alone> = initial(program).into_iter().filter_map(begin).collect();
    search.alone(None, begun);
    while let Some(state) = search.open.pop() {
        for actor in actors(program, &state, repeat) {
            let Actor::Start(member) = actor else { unreachable!("nothing else is left") };
            if member > 0 && program.mutant == Some(Mutant::FirstEventOnly) {
                continue;
            }
            let begun = steps(program, &state, &actor).into_iter().filter_map(begin).collect();
            search.alone(Some(member), begun);
        }
    }
    if search.visited > most {
        for answer in search.answers.values_mut() {
            *answer = answer.filter(|holds| !holds);
        }
    }
    search.answers
}

/// Starts a run of one event by its first step, which has no conflict within the event.
fn begin(step: crate::machine::Step) -> Option<Alone> {
    let mut conflicts = Conflicts::default();
    note(&mut conflicts, &step.log, &step.id);
    let own = Posted { id: step.id.clone(), code: 0, mailbox: None, delay: 0, front: false };
    let tasks = [own].into_iter().chain(step.log.posted).collect();
    step.next.ok().map(|state| Alone { state, tasks, conflicts })
}

struct Search<'a> {
    program: &'a Program,
    most: usize,
    visited: usize,
    answers: BTreeMap<Option<usize>, Answer>,
    /// The states in which nothing is left to run.
    quiet: HashSet<State>,
    open: Vec<State>,
}

impl Search<'_> {
    /// Visits all runs of an event that begins alone. No other event begins in them.
    fn alone(&mut self, event: Option<usize>, begun: Vec<Alone>) {
        let mut seen: HashSet<Alone> = HashSet::new();
        let mut open = begun;
        while let Some(run) = open.pop() {
            self.visited += 1;
            if is_too_large(&run.state) || run.tasks.len() > 14 {
                self.visited = self.most + 1;
            }
            if self.visited > self.most {
                return self.open.clear();
            }
            if is_quiet(&run.state) {
                let state = renamed(self.program, run.state.clone());
                if self.quiet.insert(state.clone()) {
                    self.open.push(state);
                }
            }
            for actor in actors(self.program, &run.state, 0) {
                if matches!(actor, Actor::Start(_)) {
                    continue;
                }
                for step in steps(self.program, &run.state, &actor) {
                    if step.next.is_err() && forgets_failing(self.program) {
                        continue;
                    }
                    let mut next = run.clone();
                    note(&mut next.conflicts, &step.log, &step.id);
                    next.tasks.extend(step.log.posted);
                    next.tasks.retain(|one| !step.log.cancelled.contains(&one.id));
                    self.judge(event, &next);
                    if let Ok(state) = step.next {
                        next.state = state;
                        if seen.insert(next.clone()) {
                            open.push(next);
                        }
                    }
                }
            }
        }
    }

    fn judge(&mut self, event: Option<usize>, run: &Alone) {
        if self.answers[&event] == Some(false) || run.conflicts.edges.is_empty() {
            return;
        }
        let order = reference(self.program, &run.tasks);
        let rank = |id: &Id| order.iter().position(|other| other == id).expect("a task");
        if run.conflicts.edges.iter().any(|(a, b)| rank(a) > rank(b)) {
            self.answers.insert(event, Some(false));
        }
    }
}

/// The reference order of the tasks of an event.
fn reference(program: &Program, tasks: &BTreeSet<Posted>) -> Vec<Id> {
    struct Waiting<'a> {
        task: &'a Posted,
        due: i64,
    }
    let root = tasks.iter().find(|one| one.id.len() == if one.id[0] == INIT { 1 } else { 3 });
    let mut order = Vec::new();
    // What is pending, in the order of the posts.
    let mut pending: Vec<Waiting<'_>> =
        root.into_iter().map(|task| Waiting { task, due: 0 }).collect();
    let mut clock = 0;
    while !pending.is_empty() {
        let kind = |one: &Waiting<'_>| one.task.mailbox.map(|at| program.mailboxes[at].order);
        let delivers = |one: &&Waiting<'_>| {
            let mut all = pending.iter().filter(|other| other.task.mailbox == one.task.mailbox);
            let is = |other: &Waiting<'_>| other.task.id == one.task.id;
            if one.task.mailbox.is_none() {
                return true;
            }
            if let Some(latest) = all.clone().rfind(|other| other.task.front) {
                return is(latest);
            }
            match kind(one) {
                Some(Order::Fifo) => all.next().is_some_and(is),
                Some(Order::Delayed) => all.min_by_key(|other| other.due).is_some_and(is),
                _ => true,
            }
        };
        let due = |one: &&Waiting<'_>| kind(one) != Some(Order::Delayed) || one.due <= clock;
        let able = || pending.iter().filter(delivers);
        let Some(next) = able().filter(due).map(|one| one.task).min_by_key(|one| &one.id) else {
            clock = able().map(|one| one.due).min().expect("one that is due later");
            continue;
        };
        pending.retain(|one| one.task.id != next.id);
        order.push(next.id.clone());
        let is_child =
            |one: &&Posted| one.id.len() == next.id.len() + 1 && one.id.starts_with(&next.id);
        let mut children: Vec<&Posted> = tasks.iter().filter(is_child).collect();
        children.sort_by_key(|one| one.id.last().copied());
        let waiting = children.into_iter().map(|task| {
            let due = clock + if task.front { 0 } else { task.delay };
            Waiting { task, due }
        });
        pending.extend(waiting);
    }
    order
}
