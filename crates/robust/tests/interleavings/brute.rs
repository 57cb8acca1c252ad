//! Enumerates every interleaving that the multi-thread semantics has, and looks for cycles in the
//! graphs of the definitions. It shares nothing with the search but the program.

use std::collections::BTreeSet;

use anyorder_system::{
    Access, AccessKind, AsyncSystem, HandlerOrder, InvocationId, InvocationStep, Lane,
};

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
}

/// A run so far.
#[derive(Clone, Debug)]
struct Run<S> {
    state: S,
    tasks: Vec<Task>,
    /// Occurrences: the event of each.
    events: Vec<u32>,
    /// Whether each event began when nothing else was left to run.
    serial: bool,
    trace: Vec<(usize, Access)>,
}

/// What all runs together have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Truth {
    /// Some run of one event that begins alone has a cycle of invocations.
    pub(crate) not_deterministic: bool,
    /// Some run has a cycle of events.
    pub(crate) not_serializable: bool,
    /// Some run has a cycle of events, with the order in which they must start.
    pub(crate) not_in_order: bool,
    /// The memory of all states in which nothing is left to run.
    pub(crate) memories: BTreeSet<u128>,
    /// The number of runs.
    pub(crate) runs: u64,
    /// Whether all were seen.
    pub(crate) complete: bool,
}

/// Enumerates the runs, at most `most` of them.
pub(crate) fn truth<A: AsyncSystem>(system: &mut A, repeat: u32, most: u64) -> Truth {
    let mut truth = Truth { complete: true, ..Truth::default() };
    for state in system.initial().expect("a beginning") {
        let tasks = Vec::new();
        let run = Run { state, tasks, events: Vec::new(), serial: true, trace: Vec::new() };
        extend(system, &run, (repeat, most), &mut truth);
    }
    truth
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
    let idle = run.tasks.iter().all(|task| task.ended);
    if idle {
        truth.memories.insert(system.memory(&run.state).0);
    }
    for event in 0..system.events().len() as u32 {
        let info = system.events()[event as usize].clone();
        let happened = run.events.iter().filter(|one| **one == event).count() as u32;
        let code = |event: u32| {
            run.tasks.iter().find(|task| task.path.is_empty() && run.events[task.event] == event)
        };
        let open = happened < if info.once { 1 } else { repeat }
            && free(run, info.lane)
            && info.started.iter().all(|other| code(*other).is_some())
            && info.after.iter().all(|other| code(*other).is_some_and(|task| task.ended));
        if !open {
            continue;
        }
        for step in system.start(&run.state, event).expect("a step") {
            if step.failure.is_some() {
                continue;
            }
            any = true;
            let mut next = run.clone();
            next.events.push(event);
            next.serial &= idle;
            next.tasks.push(Task {
                id: step.invocation,
                event: run.events.len(),
                path: Vec::new(),
                lane: info.lane,
                posts: 0,
                begun: true,
                ended: false,
            });
            note(&mut next, run.tasks.len(), &step);
            judge(system, &next, truth);
            extend(system, &next, (repeat, most), truth);
        }
    }
    for at in 0..run.tasks.len() {
        let task = &run.tasks[at];
        if task.ended || (!task.begun && !may_begin(system, run, at)) {
            continue;
        }
        for step in system.advance(&run.state, task.id).expect("a step") {
            if step.failure.is_some() {
                continue;
            }
            any = true;
            let mut next = run.clone();
            next.tasks[at].begun = true;
            note(&mut next, at, &step);
            judge(system, &next, truth);
            extend(system, &next, (repeat, most), truth);
        }
    }
    truth.runs += u64::from(!any);
}

/// Whether a handler runs nothing.
fn free<S>(run: &Run<S>, lane: Lane) -> bool {
    let holds = |task: &Task| task.lane == lane && task.begun && !task.ended;
    lane == Lane::Own || !run.tasks.iter().any(holds)
}

fn may_begin<A: AsyncSystem>(system: &A, run: &Run<A::State>, at: usize) -> bool {
    let lane = run.tasks[at].lane;
    let Lane::Handler(handler) = lane else { return true };
    let ordered = system.handlers()[handler as usize].order == HandlerOrder::Fifo;
    // Tasks are in the order of their posts.
    let earlier = run.tasks[..at].iter().any(|task| task.lane == lane && !task.begun);
    free(run, lane) && !(ordered && earlier)
}

fn note<S: Clone>(run: &mut Run<S>, at: usize, step: &InvocationStep<S>) {
    run.state = step.state.clone();
    run.trace.extend(step.accesses.iter().map(|access| (at, *access)));
    for posted in &step.posted {
        let mut path = run.tasks[at].path.clone();
        path.push(run.tasks[at].posts);
        run.tasks[at].posts += 1;
        let event = run.tasks[at].event;
        let (id, lane) = (posted.invocation, posted.lane);
        let (begun, ended) = (false, false);
        run.tasks.push(Task { id, event, path, lane, posts: 0, begun, ended });
    }
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
    for (row, a) in follows.iter_mut().zip(&run.events) {
        for (follows, b) in row.iter_mut().zip(&run.events) {
            let b = &system.events()[*b as usize];
            *follows |= b.started.contains(a) || b.after.contains(a);
        }
    }
    close(&mut follows);
    truth.not_in_order |= (0..count).any(|i| follows[i][i]);
    // Determinism is about one event that begins when nothing else is left.
    let last = count - 1;
    if run.serial {
        let ranks = reference(system, run, last);
        let wrong = conflicts().any(|(a, b)| {
            let of = |one: usize| (run.tasks[one].event == last).then(|| ranks[one]);
            matches!((of(a), of(b)), (Some(a), Some(b)) if a > b)
        });
        truth.not_deterministic |= wrong;
    }
}

/// The places of the tasks of an event in the order of the single-thread semantics.
fn reference<A: AsyncSystem>(system: &A, run: &Run<A::State>, event: usize) -> Vec<usize> {
    let mut ranks = vec![usize::MAX; run.tasks.len()];
    let mut left: Vec<usize> =
        (0..run.tasks.len()).filter(|one| run.tasks[*one].event == event).collect();
    left.sort_by(|a, b| run.tasks[*a].path.cmp(&run.tasks[*b].path));
    let mut queues: Vec<Vec<usize>> = vec![Vec::new(); system.handlers().len()];
    let mut posted: Vec<usize> = Vec::new();
    for rank in 0..left.len() {
        let root = |one: &usize| run.tasks[*one].path.is_empty();
        let may = |one: &usize| {
            let lane = run.tasks[*one].lane;
            match lane {
                Lane::Handler(handler)
                    if system.handlers()[handler as usize].order == HandlerOrder::Fifo =>
                {
                    queues[handler as usize].first() == Some(one)
                }
                _ => posted.contains(one),
            }
        };
        let next = left.iter().copied().find(|one| root(one) || may(one)).expect("one to run");
        ranks[next] = rank;
        left.retain(|one| *one != next);
        queues.iter_mut().for_each(|queue| queue.retain(|one| *one != next));
        let path = &run.tasks[next].path;
        let mut children: Vec<usize> = left
            .iter()
            .copied()
            .filter(|one| {
                let child = &run.tasks[*one].path;
                child.len() == path.len() + 1 && child.starts_with(path)
            })
            .collect();
        children.sort_by_key(|one| run.tasks[*one].path.last().copied());
        for child in children {
            posted.push(child);
            if let Lane::Handler(handler) = run.tasks[child].lane {
                queues[handler as usize].push(child);
            }
        }
    }
    ranks
}
