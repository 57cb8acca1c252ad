//! A run of the multi-thread semantics with its conflicts, judged by the definitions
//! (`docs/robustness.md`, "Conflicts").

use super::ids::StepId;
use super::pivot::Property;
use super::run::RunStep;
use super::sim::{INIT, Sim, conflicts, order_of};
use super::tree::Tree;
use anyorder_system::{
    Access, AsyncSystem, InterleavedStep, InterleavedSystem, InvocationId, InvocationStep, Lane,
    PostedInvocation, RunError, TaskName,
};
use rustc_hash::FxHashMap;

/// A pair of steps that breaks a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Breach {
    pub(crate) property: Property,
    /// The event of the pivot.
    pub(crate) event: u32,
    /// None if it is `init`.
    pub(crate) root: Option<usize>,
    pub(crate) pivot: usize,
}

/// A step of a run.
#[derive(Clone, Debug)]
struct Record {
    member: u32,
    occurrence: u32,
    accesses: Vec<Access>,
}

/// A run with its conflicts.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) tree: Tree,
    records: Vec<Record>,
    /// Whether each event began when nothing was left to run.
    one_by_one: bool,
    /// What `init` accessed.
    by_init: Vec<Access>,
}

impl History {
    pub(crate) fn new(tree: Tree) -> History {
        History { tree, records: Vec::new(), one_by_one: true, by_init: Vec::new() }
    }

    /// Returns what `init` accessed.
    pub(crate) fn by_init(&self) -> &[Access] {
        &self.by_init
    }

    /// Notes that an event begins now.
    pub(crate) fn before_start(&mut self) {
        self.one_by_one &= self.tree.is_over();
    }

    /// Notes the accesses of a step, which the tree has already.
    pub(crate) fn record(&mut self, member: u32, accesses: Vec<Access>) {
        let occurrence = self.tree.members[member as usize].occurrence;
        self.records.push(Record { member, occurrence, accesses });
    }

    /// Returns all pairs that break a property, in the order of their pivots: of determinism those
    /// of the last event, if it is alone; of the other properties those that close a cycle first.
    pub(crate) fn breaches<A: AsyncSystem>(&self, system: &A) -> Vec<Breach> {
        let mut found = Vec::new();
        self.nondeterminism(&mut found);
        self.cycles(system, &mut found);
        found.sort_by_key(|one| (one.pivot, one.property));
        found
    }

    fn nondeterminism(&self, found: &mut Vec<Breach>) {
        let Some(last) = self.tree.events.len().checked_sub(1) else { return };
        if !self.one_by_one {
            return;
        }
        let ranks = self.tree.ranks(last as u32);
        let event = self.tree.events[last];
        let mine = || (0..).zip(&self.records).filter(|(_, one)| one.occurrence as usize == last);
        for (pivot, b) in mine() {
            for (root, a) in mine().take_while(|(root, _)| *root < pivot) {
                let late = ranks[a.member as usize] > ranks[b.member as usize];
                if late && conflicts(&a.accesses, &b.accesses) {
                    let (property, root) = (Property::Determinism, Some(root));
                    found.push(Breach { property, event, root, pivot });
                }
            }
        }
    }

    fn cycles<A: AsyncSystem>(&self, system: &A, found: &mut Vec<Breach>) {
        let count = self.tree.events.len();
        let mut plain = Reach::new(count);
        let mut ordered = Reach::new(count);
        let mut begun = vec![false; count];
        if self.tree.events.first() == Some(&INIT) {
            begun[0] = true;
        }
        for (pivot, b) in self.records.iter().enumerate() {
            let mine = b.occurrence as usize;
            if !begun[mine] {
                begun[mine] = true;
                let others = (0..count).filter(|other| begun[*other] && *other != mine);
                let event = self.tree.events[mine];
                let events = &self.tree.events;
                // An event that comes again need not come before.
                let first = |other: usize| !events[..other].contains(&events[other]);
                let others = others.filter(|other| first(*other));
                for other in others.filter(|o| starts_before(system, events[*o], event)) {
                    ordered.edge(other, mine);
                }
            }
            let earlier = (0..).zip(&self.records[..pivot]);
            let earlier = earlier
                .filter(|(_, a)| a.occurrence != b.occurrence)
                .filter(|(_, a)| conflicts(&a.accesses, &b.accesses));
            let init = self.tree.events.first() == Some(&INIT) && mine != 0;
            let init = (init && conflicts(&self.by_init, &b.accesses)).then_some((None, 0));
            let earlier: Vec<(Option<usize>, usize)> =
                earlier.map(|(root, a)| (Some(root), a.occurrence as usize)).chain(init).collect();
            for (root, other) in &earlier {
                let property = if plain.has(mine, *other) {
                    Property::Serializability
                } else if ordered.has(mine, *other) {
                    Property::StartOrder
                } else {
                    continue;
                };
                let event = self.tree.events[mine];
                found.push(Breach { property, event, root: *root, pivot });
            }
            for (_, other) in earlier {
                plain.edge(other, mine);
                ordered.edge(other, mine);
            }
        }
    }
}

/// Returns the history of a simulated run in an order.
pub(crate) fn history_of<A: AsyncSystem>(
    system: &A,
    sim: &Sim<A::State>,
    order: &[StepId],
) -> History {
    let mut history = History::new(Tree::default());
    let mut member: Vec<Option<u32>> = vec![None; sim.invocations.len()];
    for id in order {
        let step = sim.step(*id);
        let invocation = sim.invocation(step.invocation);
        let who = match member[step.invocation.index()] {
            Some(who) => who,
            None => {
                history.before_start();
                let event = sim.event_of(invocation.event);
                let lane = (invocation.lane, order_of(system, invocation.lane));
                history.tree.start(event, invocation.id, lane)
            }
        };
        member[step.invocation.index()] = Some(who);
        for posted in &step.posted {
            let child = sim.invocation(*posted);
            member[posted.index()] = Some(history.tree.members.len() as u32);
            history.tree.post(
                system,
                who,
                &PostedInvocation {
                    invocation: child.id,
                    task: child.task.to_string(),
                    lane: child.lane,
                    front: child.front,
                    delay: child.delay,
                },
            );
        }
        history.tree.cancel(&step.cancelled);
        history.tree.members[who as usize].over = step.ended;
        history.record(who, step.accesses.clone());
    }
    history
}

/// Returns whether the program lets one event begin only after another: the first one of a run.
pub(crate) fn starts_before<A: AsyncSystem>(system: &A, first: u32, then: u32) -> bool {
    if first == INIT {
        return true;
    }
    let Some(then) = system.events().get(then as usize) else { return false };
    then.started.contains(&first) || then.after.contains(&first)
}

/// Which occurrences follow which.
struct Reach {
    follows: Vec<Vec<bool>>,
}

impl Reach {
    fn new(count: usize) -> Reach {
        Reach { follows: vec![vec![false; count]; count] }
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.follows[a][b]
    }

    fn edge(&mut self, a: usize, b: usize) {
        let mut new = self.follows[b].clone();
        new[b] = true;
        for (at, row) in self.follows.iter_mut().enumerate() {
            if at == a || row[a] {
                row.iter_mut().zip(&new).for_each(|(old, new)| *old |= *new);
            }
        }
    }
}

/// The names of the invocations of a run.
#[derive(Clone, Debug, Default)]
struct Names {
    of: FxHashMap<InvocationId, (TaskName, u32)>,
    happened: FxHashMap<u32, u32>,
}

impl Names {
    fn posted<S>(&mut self, by: &TaskName, step: &InvocationStep<S>) {
        let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
        for one in &step.posted {
            let count = counts.entry(&one.task).or_insert(0);
            let name = by.child(&one.task).with_ordinal(*count);
            *count += 1;
            self.of.insert(one.invocation, (name, 0));
        }
    }
}

/// A run, from its choices.
#[derive(Clone, Debug)]
pub(crate) struct Rerun {
    pub(crate) history: History,
    pub(crate) run: Vec<RunStep>,
    /// The number of steps of `run` before those of the history.
    pub(crate) offset: usize,
}

/// A choice among the possible steps of a state: its event or its invocation, and the alternative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taken {
    /// The position among the possible steps.
    pub(crate) place: u32,
}

/// Repeats a run: the number of the beginning, then positions among the possible steps.
pub(crate) fn rerun<A: InterleavedSystem>(
    system: &mut A,
    beginning: u32,
    taken: &[Taken],
) -> Result<Option<Rerun>, RunError> {
    let mut places = taken.iter();
    rerun_by(system, beginning, |_, steps| {
        let place = places.next()?.place as usize;
        (place < steps.len()).then_some(place)
    })
}

/// Repeats a run: `choose` gets the possible steps, and returns the position of the
/// one to take, or `None` at the end. A failing step is the last one.
pub(crate) fn rerun_by<A: InterleavedSystem>(
    system: &mut A,
    beginning: u32,
    mut choose: impl FnMut(&A, &[InterleavedStep<A::State>]) -> Option<usize>,
) -> Result<Option<Rerun>, RunError> {
    let Some(init) = system.begin()?.into_iter().nth(beginning as usize) else { return Ok(None) };
    let mut names = Names::default();
    let name = TaskName::root("init");
    names.posted(&name, &init);
    let mut run = Vec::new();
    if system.init_is_step() {
        let (task, accesses) = (name.clone(), init.accesses.clone());
        let (lane, alternative) = (Lane::Own, beginning);
        run.push(RunStep { task, invocation: name, lane, alternative, accesses });
    }
    let offset = run.len();
    let tree = Tree::of_init(&*system, &init.posted, &init.cancelled);
    let mut history = History::new(tree);
    history.by_init = init.accesses;
    let mut state = init.state;
    loop {
        let steps = system.steps(&state)?;
        let Some(place) = choose(&*system, &steps) else { break };
        let Some(next) = steps.into_iter().nth(place) else { return Ok(None) };
        if next.event.is_some() {
            history.before_start();
        }
        let member = history.tree.add(&*system, &next);
        let id = next.step.invocation;
        let (invocation, number) = match next.event {
            Some(event) => {
                let count = names.happened.entry(event).or_insert(0);
                *count += 1;
                let name = system.events()[event as usize].task.clone().with_ordinal(*count);
                (name, 0)
            }
            None => names.of.get(&id).cloned().unwrap_or((TaskName::root("?"), 0)),
        };
        let task = match number {
            0 => invocation.clone(),
            number => invocation.child("step").with_ordinal(number),
        };
        names.posted(&task, &next.step);
        names.of.insert(id, (invocation.clone(), number + 1));
        let lane = history.tree.members[member as usize].lane;
        let (alternative, accesses) = (next.alternative, next.step.accesses.clone());
        run.push(RunStep { task, invocation, lane, alternative, accesses });
        history.record(member, next.step.accesses);
        state = next.step.state;
        if next.step.failure.is_some() {
            break;
        }
    }
    Ok(Some(Rerun { history, run, offset }))
}
