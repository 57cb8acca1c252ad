//! Threads that cannot go on: what each waits for, who has it, and in which circle they wait.

use super::run::Run;
use super::trace::{Trace, place};
use crate::runtime::{Position, Program};
use anyorder_threads::{
    Act, Event, LockMode, Next, Object, ObjectId, Op, Patience, ThreadId, Watched, World,
};
use rustc_hash::FxHashMap;

/// A thread that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// What it waits to do.
    pub act: Act,
    /// To which object.
    pub object: ObjectId,
    /// Where.
    pub position: Option<Position>,
    /// What it waits for, in words: `waits for a, held by main since step 3`.
    pub words: String,
    /// The threads for which it waits, if they are known: those that hold the lock, the one that it
    /// joins.
    pub needs: Vec<ThreadId>,
    /// Why that does not come, if something is known of it.
    pub reason: Option<String>,
    /// For a thread that spins, what it reads again and again: the operation in words, and where.
    pub reads: Vec<(String, Option<Position>)>,
}

/// Who holds a lock: the thread, the mode, and the operation that took it.
type Holder = (ThreadId, LockMode, usize);

/// Returns the threads that cannot go on.
pub(super) fn waiting(program: &Program, run: &Run, trace: &Trace) -> Vec<Waiting> {
    let holders = holders(&run.events);
    let of = |(thread, next): &(ThreadId, Next)| {
        let Op { object, act } = next.op.clone();
        let held = holders.get(&object).map_or(&[][..], Vec::as_slice);
        let needs = match act {
            Act::Lock(..) | Act::Convert { .. } => held.iter().map(|holder| holder.0).collect(),
            Act::Join => trace.joined_at(object).into_iter().collect(),
            _ => Vec::new(),
        };
        Waiting {
            thread: *thread,
            position: place(program, next.site),
            words: words(trace, *thread, &next.op, held),
            reason: reason(trace, run, *thread, &next.op),
            reads: reads(program, run, trace, *thread, &act),
            act,
            object,
            needs,
        }
    };
    run.pending.iter().map(of).collect()
}

/// Replays who holds which lock.
fn holders(events: &[Event]) -> FxHashMap<ObjectId, Vec<Holder>> {
    let mut held: FxHashMap<ObjectId, Vec<Holder>> = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        let thread = event.step.thread;
        match &event.op.act {
            Act::Lock(mode, _) if event.result & 1 == 1 => {
                held.entry(event.op.object).or_default().push((thread, *mode, at));
            }
            Act::Convert { from, to, .. } if event.result & 1 == 1 => {
                give_back(&mut held, event.op.object, (thread, *from));
                held.entry(event.op.object).or_default().push((thread, *to, at));
            }
            Act::Unlock(mode) => give_back(&mut held, event.op.object, (thread, *mode)),
            Act::Wait { lock, mode } => give_back(&mut held, *lock, (thread, *mode)),
            _ => {}
        }
    }
    held
}

fn give_back(
    held: &mut FxHashMap<ObjectId, Vec<Holder>>,
    lock: ObjectId,
    (thread, mode): (ThreadId, LockMode),
) {
    let Some(holders) = held.get_mut(&lock) else { return };
    let own = holders.iter().rposition(|holder| (holder.0, holder.1) == (thread, mode));
    // A guard may be dropped by another thread than took the lock.
    if let Some(at) = own.or_else(|| holders.iter().rposition(|holder| holder.1 == mode)) {
        holders.remove(at);
    }
}

/// What a thread waits for.
fn words(trace: &Trace, thread: ThreadId, op: &Op, held: &[Holder]) -> String {
    let name = trace.object_name(op.object);
    match &op.act {
        Act::Lock(mode, _) => {
            let how = match trace.lock_verb(op.object, *mode, Patience::Wait).as_str() {
                "lock" => String::new(),
                verb => format!(" ({verb})"),
            };
            let holders: Vec<String> =
                held.iter().map(|held| holder(trace, thread, *held)).collect();
            match holders.is_empty() {
                true => format!("waits for {name}{how}"),
                false => format!("waits for {name}{how}, held by {}", holders.join(" and ")),
            }
        }
        Act::Convert { .. } => format!("waits to be the only holder of {name}"),
        Act::Join => {
            let joined = trace.joined_at(op.object);
            format!(
                "waits for the end of {}",
                joined.map_or("a thread", |id| trace.thread_name(id))
            )
        }
        Act::Wake(_) => format!("waits to be notified by {name}"),
        Act::Park(_) if trace.is_waker(op.object) => "waits to be woken".to_owned(),
        Act::Park(_) => "waits to be unparked".to_owned(),
        Act::Send(..) => format!("waits for room in {name}"),
        Act::Receive(_) => format!("waits for a message of {name}"),
        Act::Pass(_) => format!("waits for others at {name}"),
        Act::Acquire(1, _) => format!("waits for a permit of {name}"),
        Act::Acquire(count, _) => format!("waits for {count} permits of {name}"),
        Act::Await(_) | Act::Yield => "spins".to_owned(),
        act => format!("waits: {act:?}"),
    }
}

fn holder(trace: &Trace, thread: ThreadId, (by, _, since): Holder) -> String {
    let ended =
        trace.lines.iter().any(|line| line.thread == by && matches!(line.act, Act::Exit(_)));
    let name = if by == thread { "itself" } else { trace.thread_name(by) };
    let ended = if ended { ", which has ended," } else { "" };
    let since = trace.lines[since].step.map(|step| format!(" since step {step}"));
    format!("{name}{ended}{}", since.unwrap_or_default())
}

/// Why what a thread waits for does not come.
fn reason(trace: &Trace, run: &Run, thread: ThreadId, op: &Op) -> Option<String> {
    let name = trace.object_name(op.object);
    let last = |is: fn(&Act) -> bool| {
        run.events.iter().rposition(|event| event.op.object == op.object && is(&event.op.act))
    };
    let who = |at: usize| trace.thread_name(run.events[at].step.thread).to_owned();
    match &op.act {
        Act::Wake(_) => {
            let notify = last(|act| matches!(act, Act::Notify { .. }));
            let begun = run.events.iter().rposition(|event| {
                event.step.thread == thread && matches!(event.op.act, Act::Wait { .. })
            });
            match notify {
                None => Some(format!("nobody notifies {name} in this execution")),
                Some(at) if run.in_vain[at] && Some(at) < begun => Some(format!(
                    "{} notified {name}{}, before the wait",
                    who(at),
                    trace.in_step(at)
                )),
                Some(at) => Some(format!(
                    "the last notification,{}, woke another thread",
                    trace.in_step(at)
                )),
            }
        }
        Act::Park(_) => match last(|act| matches!(act, Act::Unpark)) {
            None if trace.is_waker(op.object) => {
                Some(format!("nobody wakes it in this execution{}", last_used(trace, thread)))
            }
            None => Some("nobody unparks it in this execution".to_owned()),
            Some(at) => {
                Some(format!("the last one, by {}{}, is used up", who(at), trace.in_step(at)))
            }
        },
        _ => state_words(&run.world, op),
    }
}

/// What a task used last, before it was pending.
fn last_used(trace: &Trace, thread: ThreadId) -> String {
    let uses = |line: &&super::trace::Line| {
        line.thread == thread && line.position.is_none() && matches!(line.act, Act::Lock(..))
    };
    let last = trace.lines.iter().rfind(uses);
    let words = last.and_then(|line| {
        Some(format!("; it used {} last, in step {}", trace.object_name(line.object), line.step?))
    });
    words.unwrap_or_default()
}

/// What an object lacks.
fn state_words(world: &World, op: &Op) -> Option<String> {
    match (world.get(op.object)?, &op.act) {
        (Object::Queue { items, senders, .. }, Act::Receive(_)) if items.is_empty() => {
            let plural = if *senders == 1 { "" } else { "s" };
            Some(format!("it is empty, and has {senders} sender{plural} left"))
        }
        (Object::Queue { items, .. }, Act::Send(..)) => {
            Some(format!("it is full, with {}", items.len()))
        }
        (Object::Barrier { size, arrived, .. }, Act::Pass(_)) => {
            Some(format!("{arrived} of {size} have arrived"))
        }
        (Object::Semaphore { permits, .. }, Act::Acquire(..)) => {
            Some(format!("it has {permits} left"))
        }
        _ => None,
    }
}

/// What a spinning thread reads.
fn reads(
    program: &Program,
    run: &Run,
    trace: &Trace,
    thread: ThreadId,
    act: &Act,
) -> Vec<(String, Option<Position>)> {
    let Act::Await(watched) = act else { return Vec::new() };
    let of = |one: &Watched| {
        let own = |event: &&Event| event.step.thread == thread && event.op == one.op;
        let event = run.events.iter().rfind(own)?;
        let at = run.events.iter().rposition(|other| std::ptr::eq(other, event))?;
        Some((trace.words(&trace.lines[at]), place(program, event.site)))
    };
    watched.iter().filter_map(of).collect()
}

/// Returns threads of which each waits for the next one, and the last one for the first.
pub(super) fn cycle(waiting: &[Waiting]) -> Vec<ThreadId> {
    let needs = |thread: ThreadId| {
        let found = waiting.iter().find(|waiting| waiting.thread == thread);
        found.map_or(&[][..], |found| found.needs.as_slice())
    };
    for start in waiting.iter().map(|waiting| waiting.thread) {
        // The shortest way back to the start.
        let mut before: FxHashMap<ThreadId, ThreadId> = FxHashMap::default();
        let mut todo = std::collections::VecDeque::from([start]);
        while let Some(at) = todo.pop_front() {
            for next in needs(at) {
                if *next == start {
                    let mut cycle = vec![at];
                    while let Some(from) = before.get(cycle.last().unwrap_or(&start)) {
                        cycle.push(*from);
                    }
                    cycle.reverse();
                    return cycle;
                }
                if !before.contains_key(next) {
                    before.insert(*next, at);
                    todo.push_back(*next);
                }
            }
        }
    }
    Vec::new()
}
