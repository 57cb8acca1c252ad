//! Threads: running code, as saved between two steps.

use crate::value::{Value, mix};

/// The origin of a thread. The threads of a state are in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Origin {
    /// Declared: the number among all members of all families.
    Declared(u32),
    /// A task or event on a handler or in a slot of its own: the slot.
    Slot(u32),
    /// Forked, or posted to `any`.
    Dynamic,
}

/// What a thread runs. Names use it, and it shows which events have not ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum ThreadBody {
    /// A declared thread.
    Thread,
    /// A member of an event: the number among all members of all events.
    Event(u32),
    /// A task.
    Task(u16),
    /// A forked function.
    Func(u16),
}

impl Origin {
    /// Returns its kind and its number.
    pub(crate) fn code(self) -> (u64, u32) {
        match self {
            Origin::Declared(member) => (0, member),
            Origin::Slot(slot) => (1, slot),
            Origin::Dynamic => (2, 0),
        }
    }
}

impl ThreadBody {
    /// Returns its kind and its number.
    pub(crate) fn code(self) -> (u64, u32) {
        match self {
            ThreadBody::Thread => (0, 0),
            ThreadBody::Event(member) => (1, member),
            ThreadBody::Task(task) => (2, u32::from(task)),
            ThreadBody::Func(func) => (3, u32::from(func)),
        }
    }
}

/// Returns a kind and a number as one word, for hashes.
pub(crate) fn word((kind, number): (u64, u32)) -> u64 {
    (kind << 40) | u64::from(number)
}

/// Whether a thread can continue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Status {
    /// At its next instruction.
    Ready,
    /// At a `Wait`, not notified: condition and lock.
    Waiting { cond: u32, lock: u32 },
    /// At a `Wait`, notified: it needs the lock.
    Woken { lock: u32 },
}

/// A call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Frame {
    /// The function.
    pub(crate) func: u16,
    /// The next instruction.
    pub(crate) pc: u32,
    /// The register of this function that gets the result of the call above it.
    pub(crate) dst: u16,
}

/// A thread between steps.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) origin: Origin,
    pub(crate) body: ThreadBody,
    pub(crate) status: Status,
    /// Its handle: never 0 for dynamic threads; for others 0 if nothing refers to it.
    pub(crate) handle: u32,
    /// The calls, innermost last.
    pub(crate) frames: Vec<Frame>,
    /// The registers of all calls, outermost first; dead ones are null.
    pub(crate) regs: Vec<Value>,
    /// Its creation, for names; not part of the state.
    pub(crate) uid: u64,
    pub(crate) hash: u128,
}

impl PartialEq for Thread {
    fn eq(&self, other: &Thread) -> bool {
        (self.origin, self.body, self.status, self.handle)
            == (other.origin, other.body, other.status, other.handle)
            && self.frames == other.frames
            && self.regs == other.regs
    }
}

impl Thread {
    /// Computes the hash. Linear in the registers.
    pub(crate) fn rehash(&mut self) {
        let (origin, body) = (word(self.origin.code()), word(self.body.code()));
        let status = match self.status {
            Status::Ready => 0,
            Status::Waiting { cond, lock } => (1 << 63) | (u64::from(cond) << 31) | u64::from(lock),
            Status::Woken { lock } => (1 << 62) | u64::from(lock),
        };
        let mut hash = mix::mix(origin, mix::number(body, status));
        hash = mix::mix(u64::from(self.handle), hash);
        for frame in &self.frames {
            let word =
                (u64::from(frame.func) << 48) | (u64::from(frame.dst) << 32) | u64::from(frame.pc);
            hash = mix::mix(word, hash);
        }
        for (i, value) in (0..).zip(&self.regs) {
            if !matches!(value, Value::Null) {
                hash = hash.wrapping_add(mix::mix(i, value.hash()));
            }
        }
        self.hash = hash;
    }

    /// Returns a hash of its code and position, without handle and registers.
    pub(crate) fn position_hash(&self) -> u128 {
        let frames = self.frames.clone();
        let mut bare = Thread { frames, handle: 0, regs: Vec::new(), uid: 0, hash: 0, ..*self };
        bare.rehash();
        bare.hash
    }
}
