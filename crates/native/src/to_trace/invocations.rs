//! Invocations of objects that the program announces: which are open, and what objects are called.

use crate::recording::{Event, kind};
use anyorder_trace::{Interner, Invocation, InvocationId, TableFull};
use rustc_hash::FxHashMap;

/// The most arguments of one thread that wait for their invocation.
const WAITING_MAX: usize = 256;

/// The most invocations of one thread that are open; the oldest are taken to be ended.
const OPEN_MAX: usize = 4096;

/// A method, as a place of the program names it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Method {
    /// The type of the object.
    pub(super) of: String,
    pub(super) name: String,
}

/// The methods of a recording, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Methods {
    known: FxHashMap<u64, Method>,
    /// By thread: the definition whose texts are awaited.
    awaited: FxHashMap<usize, Definition>,
}

/// A definition, and its bytes so far.
#[derive(Debug)]
struct Definition {
    number: u64,
    of_type: usize,
    total: usize,
    bytes: Vec<u8>,
}

impl Methods {
    /// Takes the next definition or text of a thread.
    pub(super) fn add(&mut self, lane: usize, event: &Event) {
        const LENGTH_MAX: u64 = 255;
        if event.kind == kind::METHOD {
            let of_type = (event.third & 0xffff_ffff).min(LENGTH_MAX) as usize;
            let total = of_type + (event.third >> 32).min(LENGTH_MAX) as usize;
            let bytes = Vec::with_capacity(total);
            self.awaited.insert(lane, Definition { number: event.address, of_type, total, bytes });
        } else if let Some(awaited) = self.awaited.get_mut(&lane) {
            let bytes = event.address.to_le_bytes();
            awaited.bytes.extend(bytes.iter().take(event.arg.min(6).into()));
        }
        if self.awaited.get(&lane).is_some_and(|awaited| awaited.bytes.len() >= awaited.total)
            && let Some(done) = self.awaited.remove(&lane)
        {
            let (of, name) = done.bytes[..done.total].split_at(done.of_type);
            let [of, name] = [of, name].map(|text| String::from_utf8_lossy(text).into_owned());
            self.known.entry(done.number).or_insert(Method { of, name });
        }
    }

    /// Returns a method.
    pub(super) fn get(&self, number: u64) -> Option<&Method> {
        self.known.get(&number)
    }
}

/// An invocation that has not returned.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    /// Its event of the trace.
    pub(super) row: usize,
    /// Without a result.
    pub(super) call: Invocation,
    object: u64,
}

/// What a thread is in.
#[derive(Clone, Debug, Default)]
struct OfThread {
    /// Arguments of invocations that begin next.
    waiting: Vec<u64>,
    /// The innermost last.
    open: Vec<OpenCall>,
    /// How many were open where a part ended: their returns belong to nothing.
    left_open: usize,
}

/// Which object is at an address.
#[derive(Clone, Debug, Default)]
struct AtAddress {
    /// How often the program has said that a new one begins.
    begun: u32,
    /// By type: the generation of the memory, that number, and how many objects there were.
    objects: FxHashMap<String, (u32, u32, u32)>,
}

/// The invocations of all threads.
#[derive(Debug)]
pub(super) struct Invocations {
    threads: Vec<OfThread>,
    /// Calls that are open no longer, as their thread has too many.
    dropped: Vec<OpenCall>,
    objects: FxHashMap<u64, AtAddress>,
    definitions: FxHashMap<Invocation, InvocationId>,
}

impl Invocations {
    pub(super) fn new(threads: usize) -> Invocations {
        Invocations {
            threads: vec![OfThread::default(); threads],
            dropped: Vec::new(),
            objects: FxHashMap::default(),
            definitions: FxHashMap::default(),
        }
    }

    /// Forgets the ids of tables, for others.
    pub(super) fn forget_ids(&mut self) {
        self.definitions.clear();
    }

    /// A new object begins at an address.
    pub(super) fn new_object(&mut self, address: u64) {
        let at = self.objects.entry(address).or_default();
        at.begun = at.begun.saturating_add(1);
    }

    /// Takes an argument of the thread's next invocation.
    pub(super) fn argument(&mut self, lane: usize, value: u64) {
        let waiting = &mut self.threads[lane].waiting;
        if waiting.len() < WAITING_MAX {
            waiting.push(value);
        }
    }

    /// Returns the last arguments of a thread. Those of an invocation that a signal handler
    /// interrupts stay.
    pub(super) fn take_arguments(&mut self, lane: usize, count: usize) -> Vec<u64> {
        let waiting = &mut self.threads[lane].waiting;
        waiting.split_off(waiting.len().saturating_sub(count))
    }

    /// Returns the name of an object: its type, and its variable or address. `generation` is that
    /// of the memory. A later object of the same memory has its number behind that.
    pub(super) fn object_name(
        &mut self,
        address: u64,
        generation: u32,
        method: &Method,
        variable: Option<String>,
    ) -> String {
        let at = self.objects.entry(address).or_default();
        let begun = at.begun;
        let known = at.objects.entry(method.of.clone()).or_insert((generation, begun, 1));
        if (known.0, known.1) != (generation, begun) {
            *known = (generation, begun, known.2.saturating_add(1));
        }
        let name = variable.unwrap_or_else(|| format!("{address:#x}"));
        match known.2 {
            1 => format!("{}:{name}", method.of),
            number => format!("{}:{name} ({number})", method.of),
        }
    }

    /// An invocation of an object begins.
    pub(super) fn begin(&mut self, lane: usize, row: usize, object: u64, call: Invocation) {
        let open = &mut self.threads[lane].open;
        if open.len() >= OPEN_MAX {
            self.dropped.push(open.remove(0));
        }
        open.push(OpenCall { row, call, object });
    }

    /// Ends the last open invocation of an object in a thread. Returns it and those inside; nothing
    /// if there is none.
    pub(super) fn end(&mut self, lane: usize, object: u64) -> Vec<OpenCall> {
        let open = &mut self.threads[lane].open;
        match open.iter().rposition(|call| call.object == object) {
            Some(at) => open.split_off(at),
            None => Vec::new(),
        }
    }

    /// Returns whether a thread has a call left that was open where a part ended, and ends it.
    pub(super) fn end_left_open(&mut self, lane: usize) -> bool {
        let left = &mut self.threads[lane].left_open;
        let had_one = *left > 0;
        *left -= usize::from(had_one);
        had_one
    }

    /// Ends all.
    pub(super) fn all_open(&mut self) -> Vec<OpenCall> {
        let mut all = std::mem::take(&mut self.dropped);
        for thread in &mut self.threads {
            thread.left_open += thread.open.len();
            all.append(&mut thread.open);
        }
        all
    }

    /// Returns the definition of an invocation: equal ones have one.
    pub(super) fn definition(
        &mut self,
        call: Invocation,
        interner: &mut Interner,
    ) -> Result<InvocationId, TableFull> {
        if let Some(known) = self.definitions.get(&call) {
            return Ok(*known);
        }
        let id = interner.push_invocation(call.clone())?;
        self.definitions.insert(call, id);
        Ok(id)
    }
}
