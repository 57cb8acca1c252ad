//! The threads of a log: the current handler of a thread number, and its current task.

use anyorder_trace::{Handler, HandlerId, Interner, NameId, TableFull, TaskDef, TaskId, TaskKind};
use hashbrown::HashMap;

/// The current thread of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// Its handler.
    pub(super) handler: HandlerId,
    /// The handler's initial task.
    pub(super) initial: TaskId,
    /// The task it runs: its initial one, a posted one, or a burst.
    pub(super) current: TaskId,
    /// Whether `current` is a burst.
    pub(super) in_burst: bool,
    /// The number of its bursts so far.
    bursts: u32,
    /// Whether it has exited. Another thread may then reuse its number.
    exited: bool,
    /// How many threads had this number, including this one.
    generation: u32,
    /// Whether its handler is named after the thread.
    named: bool,
}

/// All threads by number, and the queues that they serve.
#[derive(Debug, Default)]
pub(super) struct Threads {
    by_number: HashMap<u32, Thread>,
    by_queue: HashMap<u64, u32>,
}

impl Threads {
    /// Returns the thread of this number if there was one.
    pub(super) fn find(&self, tid: u32) -> Option<Thread> {
        self.by_number.get(&tid).copied()
    }

    /// Returns the thread of this number, creating it if it is new.
    pub(super) fn get(
        &mut self,
        interner: &mut Interner,
        tid: u32,
    ) -> Result<&mut Thread, TableFull> {
        if !self.by_number.contains_key(&tid) {
            self.make(interner, tid, 1, None)?;
        }
        Ok(self.by_number.get_mut(&tid).expect("it was made above"))
    }

    /// Returns the thread that a fork or a thread's first operation starts. If the thread of this
    /// number has exited, this is a new one.
    pub(super) fn begin(
        &mut self,
        interner: &mut Interner,
        tid: u32,
    ) -> Result<&mut Thread, TableFull> {
        if let Some(old) = self.by_number.get(&tid).filter(|old| old.exited) {
            let generation = old.generation.saturating_add(1);
            self.make(interner, tid, generation, None)?;
        }
        self.get(interner, tid)
    }

    /// Records that the thread of this number has exited.
    pub(super) fn exit(&mut self, tid: u32) {
        if let Some(thread) = self.by_number.get_mut(&tid) {
            thread.exited = true;
            thread.current = thread.initial;
        }
    }

    /// Starts a burst of an untracked thread, and returns its task.
    pub(super) fn begin_burst(
        &mut self,
        interner: &mut Interner,
        tid: u32,
        name: &str,
    ) -> Result<TaskId, TableFull> {
        if !self.by_number.contains_key(&tid) {
            self.make(interner, tid, 1, Some(name))?;
        }
        let thread = self.by_number.get_mut(&tid).expect("it was made above");
        if !thread.named && !name.is_empty() {
            thread.named = true;
            let full = interner.name(&handler_name(tid, thread.generation, Some(name)))?;
            interner.tables.handlers[thread.handler.index()].name = full;
        }
        interner.tables.handlers[thread.handler.index()].untracked = true;
        thread.bursts = thread.bursts.saturating_add(1);
        let name = interner.name(&format!("native {tid}#{}", thread.bursts))?;
        let burst = push_task(interner, name, TaskKind::Burst, thread.handler)?;
        thread.current = burst;
        thread.in_burst = true;
        Ok(burst)
    }

    /// Records that a thread has a queue.
    pub(super) fn attach(&mut self, queue: u64, tid: u32) {
        self.by_queue.insert(queue, tid);
    }

    /// Returns the number of the thread that serves a queue.
    pub(super) fn of_queue(&self, queue: u64) -> Option<u32> {
        self.by_queue.get(&queue).copied()
    }

    fn make(
        &mut self,
        interner: &mut Interner,
        tid: u32,
        generation: u32,
        own_name: Option<&str>,
    ) -> Result<(), TableFull> {
        let own_name = own_name.filter(|name| !name.is_empty());
        let name = interner.name(&handler_name(tid, generation, own_name))?;
        let handler = interner.push_handler(Handler { name, ..Handler::default() })?;
        let initial = push_task(interner, name, TaskKind::Initial, handler)?;
        let thread = Thread {
            handler,
            initial,
            current: initial,
            in_burst: false,
            bursts: 0,
            exited: false,
            generation,
            named: own_name.is_some(),
        };
        self.by_number.insert(tid, thread);
        Ok(())
    }
}

fn handler_name(tid: u32, generation: u32, own_name: Option<&str>) -> String {
    let mut name = format!("thread {tid}");
    if generation > 1 {
        name.push_str(&format!("'{generation}"));
    }
    if let Some(own_name) = own_name {
        name.push_str(&format!(" ({own_name})"));
    }
    name
}

fn push_task(
    interner: &mut Interner,
    name: NameId,
    kind: TaskKind,
    handler: HandlerId,
) -> Result<TaskId, TableFull> {
    interner.push_task(TaskDef { name, kind, handler, ..TaskDef::default() })
}
