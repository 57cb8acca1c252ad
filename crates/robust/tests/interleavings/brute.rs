//! Enumerates every interleaving that the multi-thread semantics has, and judges each by the
//! definitions. It shares nothing with the searches but the program.

use std::collections::BTreeSet;

use anyorder_system::{
    Access, AccessKind, AsyncSystem, HandlerOrder, InvocationId, InvocationStep, Lane,
    PostedInvocation, WaitPlace,
};

/// The number of `init` among events.
pub(crate) const INIT: u32 = u32::MAX;

/// An invocation of a run.
#[derive(Clone, Debug)]
struct Task {
    id: InvocationId,
    event: usize,
    /// Its path in the call tree: the place of each post among the posts of its parent.
    path: Vec<usize>,
    lane: Lane,
    posts: usize,
    begun: bool,
    ended: bool,
    cancelled: bool,
    front: bool,
    delay: u64,
    due: u64,
}

/// A run so far.
#[derive(Clone, Debug)]
struct Run<S> {
    state: S,
    tasks: Vec<Task>,
    /// Occurrences: the event of each.
    events: Vec<u32>,
    /// Whether each event began when nothing else was left to run.
    one_by_one: bool,
    trace: Vec<(usize, Access)>,
    /// The tasks of all steps.
    steps: Vec<usize>,
    clock: u64,
}

/// The outcome of a run that ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum End {
    /// The memory, and how often each event has happened.
    State(u128, Vec<u32>),
    Failure(String),
    Deadlock(Vec<WaitPlace>),
}

/// What all runs together have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Truth {
    /// The events that some run alone shows to be not deterministic.
    pub(crate) not_deterministic: BTreeSet<u32>,
    /// Some run has a cycle of events.
    pub(crate) not_serializable: bool,
    /// Some run has a cycle of events, with the order in which they must start.
    pub(crate) not_in_order: bool,
    pub(crate) ends: BTreeSet<End>,
    pub(crate) serial_ends: BTreeSet<End>,
    /// Where serial runs get stuck.
    pub(crate) stuck: BTreeSet<WaitPlace>,
    /// Whether some event could have happened more often.
    pub(crate) more: bool,
    /// Whether some run, and some serial run, ends that is not only a beginning.
    pub(crate) some_end: bool,
    pub(crate) some_serial_end: bool,
    /// The number of runs.
    pub(crate) runs: u64,
    /// Whether all were seen.
    pub(crate) complete: bool,
}

impl Truth {
    /// Returns whether all outcomes are serial ones.
    pub(crate) fn is_robust(&self) -> bool {
        !self.adds(|_| true)
    }

    /// Returns whether some outcome of a kind is no serial one.
    pub(crate) fn adds(&self, kind: impl Fn(&End) -> bool) -> bool {
        self.ends.iter().filter(|end| kind(end)).any(|end| match end {
            End::Deadlock(places) => !places.iter().any(|place| self.stuck.contains(place)),
            other => !self.serial_ends.contains(other),
        })
    }
}

/// Enumerates the runs, at most `most` of them.
pub(crate) fn truth<A: AsyncSystem>(system: &mut A, repeat: u32, most: u64) -> Truth {
    let mut truth = Truth { complete: true, ..Truth::default() };
    for init in system.initial().expect("a beginning") {
        let mut run = Run {
            state: init.state,
            tasks: Vec::new(),
            events: Vec::new(),
            one_by_one: true,
            trace: Vec::new(),
            steps: Vec::new(),
            clock: 0,
        };
        if !init.posted.is_empty() {
            run.events.push(INIT);
            let mut root = task(InvocationId(0), 0, Lane::Own);
            (root.begun, root.ended) = (true, true);
            run.tasks.push(root);
            run.trace.extend(init.accesses.iter().map(|access| (0, *access)));
            post(system, &mut run, 0, &init.posted);
            cancel(&mut run, &init.cancelled);
        }
        extend(system, &run, (repeat, most), &mut truth);
    }
    truth
}

fn task(id: InvocationId, event: usize, lane: Lane) -> Task {
    Task {
        id,
        event,
        path: Vec::new(),
        lane,
        posts: 0,
        begun: false,
        ended: false,
        cancelled: false,
        front: false,
        delay: 0,
        due: 0,
    }
}

fn order_of<A: AsyncSystem>(system: &A, lane: Lane) -> Option<HandlerOrder> {
    match lane {
        Lane::Handler(handler) => Some(system.handlers()[handler as usize].order),
        Lane::Own => None,
    }
}

fn extend<A: AsyncSystem>(
    system: &mut A,
    run: &Run<A::State>,
    (repeat, most): (u32, u64),
    truth: &mut Truth,
) {
    if truth.runs >= most {
        truth.complete = false;
        return;
    }
    let mut any = false;
    let serial = is_serial(system, run);
    let idle = run.tasks.iter().all(|task| task.ended);
    if idle {
        let mut counts = vec![0; system.events().len()];
        run.events.iter().filter(|e| **e != INIT).for_each(|e| counts[*e as usize] += 1);
        ended(
            truth,
            End::State(system.memory(&run.state).0, counts),
            serial,
            !run.steps.is_empty(),
        );
    } else if serial {
        let next = next_of_thread(system, run).expect("something to run");
        let id = run.tasks[next].id;
        if system.advance(&run.state, id).expect("a step").is_empty() {
            truth.stuck.extend(system.waits_at(&run.state, id));
            truth.some_serial_end = true;
        }
    }
    let mut waits = true;
    for event in 0..system.events().len() as u32 {
        let info = system.events()[event as usize].clone();
        let happened = run.events.iter().filter(|one| **one == event).count() as u32;
        let began = |event: u32| {
            let mine = |task: &&Task| task.path.is_empty() && run.events[task.event] == event;
            run.tasks.iter().filter(mine).collect::<Vec<_>>()
        };
        let own = |task: &&Task| info.lane == Lane::Own && !task.ended;
        let open = free(run, info.lane)
            && !began(event).iter().any(own)
            && info.started.iter().all(|other| !began(*other).is_empty())
            && info.after.iter().all(|other| {
                let all = began(*other);
                !all.is_empty() && all.iter().all(|task| task.ended)
            });
        if !open || (info.once && happened > 0) {
            continue;
        }
        let steps = system.start(&run.state, event).expect("a step");
        waits &= steps.is_empty();
        if happened >= if info.once { 1 } else { repeat } {
            truth.more |= !steps.is_empty();
            continue;
        }
        for step in steps {
            any = true;
            let mut next = run.clone();
            next.events.push(event);
            next.one_by_one &= idle;
            next.tasks
                .push(Task { begun: true, ..task(step.invocation, run.events.len(), info.lane) });
            go_on(system, &mut next, run.tasks.len(), &step, (repeat, most), truth);
        }
    }
    for at in 0..run.tasks.len() {
        let task = &run.tasks[at];
        if task.ended || (!task.begun && !may_begin(system, run, at)) {
            continue;
        }
        for step in system.advance(&run.state, task.id).expect("a step") {
            (any, waits) = (true, false);
            let mut next = run.clone();
            if !next.tasks[at].begun {
                next.tasks[at].begun = true;
                next.clock = next.clock.max(next.tasks[at].due);
            }
            go_on(system, &mut next, at, &step, (repeat, most), truth);
        }
    }
    if !idle && waits {
        let stopped = |at: &usize| {
            let task = &run.tasks[*at];
            !task.ended && (task.begun || may_begin(system, run, *at))
        };
        let all: Vec<InvocationId> =
            (0..run.tasks.len()).filter(stopped).map(|at| run.tasks[at].id).collect();
        let places: BTreeSet<WaitPlace> =
            all.into_iter().filter_map(|id| system.waits_at(&run.state, id)).collect();
        truth.ends.insert(End::Deadlock(places.into_iter().collect()));
        truth.some_end = true;
    }
    truth.runs += u64::from(!any);
}

fn ended(truth: &mut Truth, end: End, serial: bool, counts: bool) {
    truth.some_end |= counts;
    if serial {
        truth.some_serial_end |= counts;
        truth.serial_ends.insert(end.clone());
    }
    truth.ends.insert(end);
}

/// Takes a step, judges the run, and goes on.
fn go_on<A: AsyncSystem>(
    system: &mut A,
    next: &mut Run<A::State>,
    at: usize,
    step: &InvocationStep<A::State>,
    limits: (u32, u64),
    truth: &mut Truth,
) {
    note(system, next, at, step);
    judge(system, next, truth);
    match &step.failure {
        Some(failure) => {
            let serial = is_serial(system, next);
            ended(truth, End::Failure(failure.to_string()), serial, true);
            truth.runs += 1;
        }
        None => extend(system, next, limits, truth),
    }
}

/// Whether a handler runs nothing.
fn free<S>(run: &Run<S>, lane: Lane) -> bool {
    let holds = |task: &Task| task.lane == lane && task.begun && !task.ended;
    lane == Lane::Own || !run.tasks.iter().any(holds)
}

/// Whether a mailbox delivers a task, of those that are pending. Tasks are in the order of posts.
fn delivers(order: Option<HandlerOrder>, task: &Task, at: usize, mates: &[(usize, Task)]) -> bool {
    let Some(order) = order else { return true };
    if let Some((latest, _)) = mates.iter().rev().find(|(_, mate)| mate.front) {
        return *latest == at;
    }
    match order {
        HandlerOrder::Bag => true,
        HandlerOrder::Fifo => mates.iter().all(|(other, _)| *other >= at),
        HandlerOrder::Delayed => {
            mates.iter().all(|(other, mate)| (task.due, at) <= (mate.due, *other))
        }
    }
}

fn may_begin<A: AsyncSystem>(system: &A, run: &Run<A::State>, at: usize) -> bool {
    let task = &run.tasks[at];
    let mates: Vec<(usize, Task)> = (0..)
        .zip(run.tasks.iter().cloned())
        .filter(|(_, mate)| mate.lane == task.lane && !mate.begun && !mate.ended)
        .collect();
    free(run, task.lane) && delivers(order_of(system, task.lane), task, at, &mates)
}

fn post<A: AsyncSystem, S>(system: &A, run: &mut Run<S>, at: usize, posted: &[PostedInvocation]) {
    for posted in posted {
        let mut path = run.tasks[at].path.clone();
        path.push(run.tasks[at].posts);
        run.tasks[at].posts += 1;
        let order = order_of(system, posted.lane);
        let delayed = order == Some(HandlerOrder::Delayed) && !posted.front;
        let delay = if delayed { posted.delay } else { 0 };
        run.tasks.push(Task {
            path,
            front: posted.front && order.is_some(),
            delay,
            due: run.clock + delay,
            ..task(posted.invocation, run.tasks[at].event, posted.lane)
        });
    }
}

fn cancel<S>(run: &mut Run<S>, cancelled: &[InvocationId]) {
    for task in &mut run.tasks {
        if !task.begun && !task.ended && cancelled.contains(&task.id) {
            (task.ended, task.cancelled) = (true, true);
        }
    }
}

fn note<A: AsyncSystem>(
    system: &A,
    run: &mut Run<A::State>,
    at: usize,
    step: &InvocationStep<A::State>,
) {
    run.state = step.state.clone();
    run.steps.push(at);
    run.trace.extend(step.accesses.iter().map(|access| (at, *access)));
    post(system, run, at, &step.posted);
    cancel(run, &step.cancelled);
    run.tasks[at].ended = step.ended;
}

fn conflict(a: &Access, b: &Access) -> bool {
    a.location == b.location && !(a.kind == AccessKind::Read && b.kind == AccessKind::Read)
}

/// Warshall's transitive closure.
fn close(follows: &mut [Vec<bool>]) {
    let count = follows.len();
    for k in 0..count {
        for i in 0..count {
            for j in 0..count {
                follows[i][j] |= follows[i][k] && follows[k][j];
            }
        }
    }
}

/// Looks for cycles in both graphs of a run.
fn judge<A: AsyncSystem>(system: &A, run: &Run<A::State>, truth: &mut Truth) {
    let conflicts = || {
        let later = run.trace.iter().enumerate();
        later.flat_map(|(at, (b, y))| {
            let earlier = run.trace[..at].iter();
            earlier.filter(move |(a, x)| a != b && conflict(x, y)).map(move |(a, _)| (*a, *b))
        })
    };
    // Events.
    let count = run.events.len();
    let mut follows = vec![vec![false; count]; count];
    for (a, b) in conflicts() {
        let (a, b) = (run.tasks[a].event, run.tasks[b].event);
        if a != b {
            follows[a][b] = true;
        }
    }
    close(&mut follows);
    truth.not_serializable |= (0..count).any(|i| follows[i][i]);
    for (i, a) in run.events.iter().enumerate() {
        if run.events[..i].contains(a) {
            continue;
        }
        for (j, b) in run.events.iter().enumerate().filter(|(j, _)| *j > i) {
            follows[i][j] |= *a == INIT || {
                let b = &system.events()[*b as usize];
                b.started.contains(a) || b.after.contains(a)
            };
        }
    }
    close(&mut follows);
    truth.not_in_order |= (0..count).any(|i| follows[i][i]);
    // Determinism is about one event that begins when nothing else is left.
    if run.one_by_one {
        let last = count - 1;
        let order = reference(system, run, last);
        let rank = |one: usize| order.iter().position(|at| *at == one);
        let wrong = conflicts().any(|(a, b)| {
            run.tasks[a].event == last
                && run.tasks[b].event == last
                && matches!((rank(a), rank(b)), (Some(a), Some(b)) if a > b)
        });
        if wrong {
            truth.not_deterministic.insert(run.events[last]);
        }
    }
}

/// The tasks of an event in the order of one thread.
fn reference<A: AsyncSystem, S>(system: &A, run: &Run<S>, event: usize) -> Vec<usize> {
    let mine = |at: &usize| run.tasks[*at].event == event && !run.tasks[*at].cancelled;
    let all: Vec<usize> = (0..run.tasks.len()).filter(mine).collect();
    let mut order = Vec::new();
    // What is pending, in the order of the posts, with its due time.
    let mut pending: Vec<Task> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    let mut clock = 0;
    let mut next = all.iter().copied().find(|at| run.tasks[*at].path.is_empty());
    while let Some(at) = next {
        order.push(at);
        let path = &run.tasks[at].path;
        let mut children: Vec<usize> = all
            .iter()
            .copied()
            .filter(|one| {
                let child = &run.tasks[*one].path;
                child.len() == path.len() + 1 && child.starts_with(path)
            })
            .collect();
        children.sort_by_key(|one| run.tasks[*one].path.last().copied());
        for child in children {
            let due = clock + run.tasks[child].delay;
            pending.push(Task { due, ..run.tasks[child].clone() });
            numbers.push(child);
        }
        let could: Vec<usize> = (0..pending.len())
            .filter(|place| {
                let task = &pending[*place];
                let mates: Vec<(usize, Task)> = (0..)
                    .zip(pending.iter().cloned())
                    .filter(|(_, mate)| mate.lane == task.lane)
                    .collect();
                delivers(order_of(system, task.lane), task, *place, &mates)
            })
            .collect();
        if could.iter().all(|place| pending[*place].due > clock) {
            clock = could.iter().map(|place| pending[*place].due).min().unwrap_or(clock);
        }
        let due = could.into_iter().filter(|place| pending[*place].due <= clock);
        let found = due.min_by_key(|place| pending[*place].path.clone());
        next = found.map(|place| {
            pending.remove(place);
            numbers.remove(place)
        });
    }
    order
}

/// Whether a run is the beginning of one of the single-thread semantics.
fn is_serial<A: AsyncSystem, S>(system: &A, run: &Run<S>) -> bool {
    if !run.one_by_one {
        return false;
    }
    let mut blocks = run.steps.clone();
    blocks.dedup();
    let orders = (0..run.events.len()).flat_map(|event| {
        let order = reference(system, run, event);
        // What `init` does is no step.
        let first = usize::from(run.events[event] == INIT);
        order.into_iter().skip(first).collect::<Vec<_>>()
    });
    let order: Vec<usize> = orders.collect();
    blocks.len() <= order.len()
        && order.starts_with(&blocks)
        && blocks.iter().rev().skip(1).all(|at| run.tasks[*at].ended)
}

/// What one thread runs next.
fn next_of_thread<A: AsyncSystem, S>(system: &A, run: &Run<S>) -> Option<usize> {
    let last = run.events.len().checked_sub(1)?;
    reference(system, run, last).into_iter().find(|at| !run.tasks[*at].ended)
}
