//! A recorded execution with names: of its threads, of what they share, and of places.

use super::names::{name_in, name_used, short_type};
use super::rows::number;
use super::run::Run;
use super::source::{Sources, is_inner};
use crate::runtime::{About, Position, Program};
use anyorder_threads::{
    Act, Event, Object, ObjectId, SiteId, ThreadId, ThreadProgram as _, received, sent,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// A recorded execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The threads, in the order in which they were spawned. The first one is the main thread.
    pub threads: Vec<TraceThread>,
    /// What they share, in the order in which it was used first.
    pub objects: Vec<TraceObject>,
    /// The operations, in their order.
    pub lines: Vec<Line>,
    /// The calls of objects with specifications, by number.
    pub calls: Vec<(u64, String)>,
    /// Counts of owners that the failure is about.
    pub(super) watched: Vec<ObjectId>,
}

/// A thread of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceThread {
    /// Its number. Another execution of the same check has the same number for the same thread.
    pub id: ThreadId,
    /// `main`, its own name, or `thread 1` for the first one that was spawned.
    pub name: String,
    /// Where it was spawned.
    pub spawned: Option<Position>,
}

/// Something that threads share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceObject {
    /// Its number. Another execution of the same check has the same number for the same object.
    pub id: ObjectId,
    /// The variable or field that it was given to, or what it is and a number: `mutex 1`.
    pub name: String,
    /// What it is, in a word: `atomic`, `mutex`, `condvar`, `channel`, `cell`.
    pub kind: &'static str,
    /// Its type, without paths; for data behind a lock or in a cell, the type of the data.
    pub type_name: Option<String>,
    /// Where it was made.
    pub made: Option<Position>,
}

/// An operation of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The thread.
    pub thread: ThreadId,
    /// What it did.
    pub act: Act,
    /// To which object.
    pub object: ObjectId,
    /// The result.
    pub result: u64,
    /// Where.
    pub position: Option<Position>,
    /// Whether it was a notification that nobody waited for.
    pub in_vain: bool,
    /// The operation that left what this one found: the write that a read returns, the release of a
    /// lock before it was taken, the message's sending.
    pub reads_from: Option<usize>,
    /// Its number for readers, from 1. None for what tells them nothing, as a clone of an `Arc`.
    pub step: Option<usize>,
}

impl Trace {
    /// Gives names to a run.
    pub(super) fn new(program: &Program, run: &Run, sources: &mut Sources) -> Trace {
        let threads = threads(program, run);
        let objects = objects(program, run, sources);
        let from = reads_from(&run.events);
        let line = |(at, event): (usize, &Event)| Line {
            thread: event.step.thread,
            act: event.op.act.clone(),
            object: event.op.object,
            result: event.result,
            position: match event.op.act {
                Act::Fail(number) => program.panic(number).and_then(|panic| panic.position),
                _ => place(program, event.site),
            },
            in_vain: run.in_vain[at],
            reads_from: from[at],
            step: None,
        };
        let lines = run.events.iter().enumerate().map(line).collect();
        let mut trace =
            Trace { threads, objects, lines, calls: calls(program, run), watched: Vec::new() };
        number(&mut trace);
        trace
    }

    /// Shows the clones and drops of the owners of values that were made at some places.
    pub(super) fn watch(&mut self, made: &[Position]) {
        let is_watched = |object: &&TraceObject| {
            let is_there = object.made.as_ref().is_some_and(|at| made.contains(at));
            let is_arc = object.type_name.as_deref().is_some_and(|name| name.starts_with("Arc<"));
            is_there && is_arc
        };
        self.watched = self.objects.iter().filter(is_watched).map(|object| object.id).collect();
        number(self);
    }

    /// ` in step 3`; nothing for what has no number.
    pub(super) fn in_step(&self, at: usize) -> String {
        let step = self.lines.get(at).and_then(|line| line.step);
        step.map(|step| format!(" in step {step}")).unwrap_or_default()
    }

    /// Returns the name of a thread.
    #[must_use]
    pub fn thread_name(&self, thread: ThreadId) -> &str {
        let known = self.threads.iter().find(|known| known.id == thread);
        known.map_or("a thread", |known| &known.name)
    }

    /// Returns what threads share under a number.
    #[must_use]
    pub fn object(&self, object: ObjectId) -> Option<&TraceObject> {
        self.objects.iter().find(|known| known.id == object)
    }

    /// Returns the name of what threads share.
    #[must_use]
    pub fn object_name(&self, object: ObjectId) -> &str {
        self.object(object).map_or("something", |known| &known.name)
    }

    /// Returns the thread that is joined at an object.
    pub(super) fn joined_at(&self, end: ObjectId) -> Option<ThreadId> {
        self.lines.iter().find_map(|line| match line.act {
            Act::Spawn(child) if line.object == end => Some(child),
            _ => None,
        })
    }

    /// Whether it is what tasks wait at.
    pub(super) fn is_waker(&self, object: ObjectId) -> bool {
        self.object(object).is_some_and(|known| known.kind == "waker")
    }

    /// Returns the column of a thread.
    pub(super) fn column(&self, thread: ThreadId) -> usize {
        self.threads.iter().position(|known| known.id == thread).unwrap_or(0)
    }
}

/// Returns where something is, if that tells a user something.
pub(super) fn place(program: &Program, site: SiteId) -> Option<Position> {
    program.position(site).filter(|place| !is_inner(&place.file))
}

fn threads(program: &Program, run: &Run) -> Vec<TraceThread> {
    let mut threads =
        vec![TraceThread { id: ThreadId::MAIN, name: "main".to_owned(), spawned: None }];
    for event in &run.events {
        let Act::Spawn(child) = event.op.act else { continue };
        let own = program.thread_name(child).map(|name| name.to_string());
        let mut name = match own.as_deref() {
            None => format!("thread {}", threads.len()),
            Some(kind @ ("task" | "timer")) => format!("{kind} {}", threads.len()),
            Some(name) => name.to_owned(),
        };
        if threads.iter().any(|other| other.name == name) {
            name = format!("{name} ({})", threads.len());
        }
        threads.push(TraceThread { id: child, name, spawned: place(program, event.site) });
    }
    threads
}

/// The calls in words, by number.
fn calls(program: &Program, run: &Run) -> Vec<(u64, String)> {
    let ops = run.events.iter().map(|event| &event.op);
    let numbers: BTreeSet<u64> = ops
        .filter_map(|op| match op.act {
            Act::Invoke(call) => Some(call),
            _ => None,
        })
        .collect();
    numbers.into_iter().map(|call| (call, program.call(call))).collect()
}

/// What an object is, in a word.
fn kind(program: &Program, object: ObjectId, about: Option<About>) -> Option<&'static str> {
    let type_name = about.and_then(|about| about.type_name).map_or("", |name| name());
    let type_name = short_type(type_name);
    let is = |prefix: &str| type_name.starts_with(prefix);
    Some(match program.initial(object) {
        _ if is("OnceLock") => "OnceLock",
        _ if is("LazyLock") => "LazyLock",
        _ if type_name == "Once" => "Once",
        Object::Register(_) => "atomic",
        Object::Lock { .. } if is("RwLock") => "rwlock",
        Object::Lock { .. } if is("Mutex") => "mutex",
        Object::Lock { .. } => "lock",
        Object::Condition { .. } => "condvar",
        Object::Queue { .. } => "channel",
        Object::Barrier { .. } => "barrier",
        Object::Semaphore { .. } => "semaphore",
        Object::Count(_) if is("Weak") => "weak",
        Object::Count(_) => "arc",
        Object::Data(_) if is("Object<") => "object",
        Object::Data(_) if about.is_some() => "cell",
        // That of a task; the token of a thread is the thread's.
        Object::Token(_) if about.is_some() => "waker",
        Object::Data(_) | Object::Token(_) | Object::End(_) => return None,
    })
}

fn objects(program: &Program, run: &Run, sources: &mut Sources) -> Vec<TraceObject> {
    let mut used: Vec<ObjectId> = Vec::new();
    let ops = run.events.iter().map(|event| &event.op);
    for op in ops.chain(run.pending.iter().map(|(_, next)| &next.op)) {
        if matches!(op.act, Act::Invoke(_)) {
            used.push(op.object);
        }
        op.objects(|object| used.push(object));
    }
    let mut objects = Vec::<TraceObject>::new();
    // By name. Owners and what they own may have one.
    let mut counts: FxHashMap<(String, bool), usize> = FxHashMap::default();
    for id in used {
        if objects.iter().any(|known| known.id == id) {
            continue;
        }
        let about = program.about(id);
        let Some(kind) = kind(program, id, about) else { continue };
        let made = about.map(|about| Position::from(about.made));
        let made = made.filter(|made| !is_inner(&made.file));
        let name = match lock_of(program, (id, kind, &made), &objects) {
            Some(lock) => lock.name.clone(),
            None => {
                let is_use = about.is_some_and(|about| about.is_use);
                let read = if is_use { name_used } else { name_in };
                let variable =
                    made.as_ref().and_then(|made| read(sources.line(made)?, made.column));
                let base = variable.clone().unwrap_or_else(|| kind.to_owned());
                let count =
                    counts.entry((base.clone(), matches!(kind, "arc" | "weak"))).or_default();
                *count += 1;
                match (variable.is_some(), *count) {
                    (true, 1) => base,
                    (true, count) => format!("{base}#{count}"),
                    (false, count) => format!("{base} {count}"),
                }
            }
        };
        let type_name = about.and_then(|about| about.type_name).map(|name| short_type(name()));
        let made = made.filter(|_| about.is_some_and(|about| !about.is_use));
        objects.push(TraceObject { id, name, kind, type_name, made });
    }
    objects
}

/// The lock of some data: it lies beside it. The two are one thing for the reader.
fn lock_of<'o>(
    program: &Program,
    (id, kind, made): (ObjectId, &str, &Option<Position>),
    objects: &'o [TraceObject],
) -> Option<&'o TraceObject> {
    let is_lock = |other: &&TraceObject| {
        matches!(other.kind, "mutex" | "rwlock") && other.made == *made && made.is_some()
    };
    let locks = objects.iter().filter(is_lock).filter(|_| kind == "cell");
    locks
        .filter_map(|lock| Some((program.distance(lock.id, id)?, lock)))
        .min_by_key(|one| one.0)
        .map(|one| one.1)
}

/// For each event, the one that left what it found.
fn reads_from(events: &[Event]) -> Vec<Option<usize>> {
    let mut last: FxHashMap<ObjectId, usize> = FxHashMap::default();
    let mut queues: FxHashMap<ObjectId, VecDeque<usize>> = FxHashMap::default();
    let mut from = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        let (object, act) = (event.op.object, &event.op.act);
        let queue = queues.entry(object).or_default();
        from.push(match act {
            Act::Receive(_) if event.result >= received::FIRST => queue.pop_front(),
            _ if reads(act) => last.get(&object).copied(),
            _ => None,
        });
        match act {
            Act::Send(..) if event.result == sent::DONE => queue.push_back(at),
            Act::Wait { lock, .. } => {
                last.insert(*lock, at);
            }
            act if leaves(act) && act.changes(event.result) => {
                last.insert(object, at);
            }
            _ => {}
        }
    }
    from
}

/// Whether an operation finds what another one left.
fn reads(act: &Act) -> bool {
    matches!(
        act,
        Act::Load(_)
            | Act::Update { .. }
            | Act::Lock(..)
            | Act::Use
            | Act::Access { .. }
            | Act::Wake(_)
            | Act::Park(_)
            | Act::Acquire(..)
            | Act::Join
            | Act::Upgrade
            | Act::Owners
    )
}

/// Whether an operation leaves something that others find.
fn leaves(act: &Act) -> bool {
    !matches!(
        act,
        Act::Lock(..) | Act::Access { .. } | Act::Wake(_) | Act::Park(_) | Act::Acquire(..)
    )
}
