//! Litmus programs behind the door of a multithreaded program.

use anyorder_testkit::litmus::{Code, Litmus, LitmusRun, Modify, Strength, Written};
use anyorder_threads::{
    Act, Change, MemoryOrder, Next, Object, ObjectId, Op, SiteId, ThreadId, ThreadProgram,
    WeakExecution,
};
use std::collections::BTreeMap;

/// A litmus program that runs.
pub(crate) struct LitmusProgram {
    program: Litmus,
    places: BTreeMap<u32, Place>,
}

struct Place {
    /// What is left to do, the next one last.
    left: Vec<Code>,
    last: u64,
    /// What is about to be written, and where.
    content: Option<(usize, u64)>,
}

impl LitmusProgram {
    pub(crate) fn new(program: Litmus) -> LitmusProgram {
        LitmusProgram { program, places: BTreeMap::new() }
    }
}

/// The results of all threads.
pub(crate) fn run_of(execution: &WeakExecution<'_>) -> LitmusRun {
    let results = |thread: ThreadId| (thread.index(), execution.results(thread).collect());
    execution.threads().map(results).collect()
}

/// By thread, the results of its operations, the ways that they took and where each read from; and
/// the order of the writes.
pub(crate) type GraphKey = (BTreeMap<u32, Vec<Seen>>, Vec<Vec<(u32, usize)>>);
pub(crate) type Seen = (u64, u32, Option<(u32, usize)>);

/// What makes an execution's graph.
pub(crate) fn key_of(execution: &WeakExecution<'_>) -> GraphKey {
    let mut threads: BTreeMap<u32, Vec<Seen>> = BTreeMap::new();
    let mut names = Vec::new();
    for event in execution.events() {
        let thread = threads.entry(event.thread.0).or_default();
        names.push((event.thread.0, thread.len()));
        thread.push((event.result, event.alternative, event.reads_from.map(|at| names[at])));
    }
    let order = |order: Vec<(ThreadId, usize)>| -> Vec<(u32, usize)> {
        order.into_iter().map(|(thread, at)| (thread.0, at)).collect()
    };
    (threads, execution.orders().into_iter().map(|(_, writes)| order(writes)).collect())
}

pub(crate) const fn order(strength: Strength) -> MemoryOrder {
    match strength {
        Strength::Relaxed => MemoryOrder::Relaxed,
        Strength::Acquire => MemoryOrder::Acquire,
        Strength::Release => MemoryOrder::Release,
        Strength::AcqRel => MemoryOrder::AcqRel,
        Strength::SeqCst => MemoryOrder::SeqCst,
    }
}

impl ThreadProgram for LitmusProgram {
    fn start(&mut self) {
        self.places.clear();
    }

    fn resume(&mut self, thread: ThreadId, result: u64) -> Next {
        let body = &self.program.threads[thread.index()];
        let begin = || Place { left: body.iter().rev().cloned().collect(), last: 0, content: None };
        let Place { left, last, content } = self.places.entry(thread.0).or_insert_with(begin);
        *last = result;
        let location = |at: usize, act| Op::new(ObjectId(at as u32), act);
        let end = |thread: usize| ObjectId(100 + thread as u32);
        // What is written comes right after the access that writes.
        if let Some((at, value)) = content.take() {
            return Next { op: location(at, Act::Alter(value)), site: SiteId::NONE };
        }
        let op = loop {
            match left.pop() {
                None => break Op::new(end(thread.index()), Act::Exit(0)),
                Some(Code::Load(at, strength)) => break location(at, Act::Load(order(strength))),
                Some(Code::Store(at, written, strength)) => {
                    let value = match written {
                        Written::Is(value) => value,
                        Written::LastAnd(by) => *last + by,
                    };
                    break location(at, Act::Store(value, order(strength)));
                }
                Some(Code::Modify(at, modify, success, failure)) => {
                    let change = match modify {
                        Modify::Add(by) => Change::Add(by),
                        Modify::Swap(new) => Change::Swap(new),
                        Modify::Exchange(current, new) => Change::CompareExchange { current, new },
                    };
                    let (success, failure) = (order(success), order(failure));
                    break location(at, Act::Update { change, bits: 64, success, failure });
                }
                Some(Code::Plain(at, written)) => {
                    if let Some(value) = written {
                        *content = Some((at, value));
                    }
                    break location(at, Act::Access { write: written.is_some() });
                }
                Some(Code::Fence(strength)) => {
                    break Op::new(ObjectId::NONE, Act::Fence(order(strength)));
                }
                Some(Code::If(value, then, otherwise)) => {
                    let branch = if *last == value { then } else { otherwise };
                    left.extend(branch.into_iter().rev());
                }
                Some(Code::Spawn(child)) => {
                    break Op::new(end(child), Act::Spawn(ThreadId(child as u32)));
                }
                Some(Code::Join(child)) => break Op::new(end(child), Act::Join),
            }
        };
        Next { op, site: SiteId::NONE }
    }

    fn stop(&mut self) {}

    fn initial(&self, object: ObjectId) -> Object {
        match object.0 {
            0..10 => Object::Register(0),
            10..100 => Object::Data(0),
            _ => Object::End(None),
        }
    }
}
