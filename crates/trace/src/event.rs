//! Events: their kind, their mode, and a typed view of their operand.

use crate::ids::{
    ConditionId, EventId, HandlerId, InputId, InvocationId, LocationId, LockId, NameId, SiteId,
    TaskId,
};
use anyorder_common::coded;

coded! {
    /// The kind of an event. The numbers are those of the native format and never change.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum EventKind {
        /// A read of a location.
        Read = 0 "read",
        /// A write of a location.
        Write = 1 "write",
        /// An atomic read-modify-write of a location.
        Rmw = 2 "rmw",
        /// Puts a task into a mailbox.
        Post = 3 "post",
        /// Takes a pending task out of a mailbox; it will not run.
        Cancel = 4 "cancel",
        /// Begins a posted task: always the task's first event.
        Get = 5 "get",
        /// Ends a posted task: its last event.
        End = 6 "end",
        /// Takes a lock, after it was granted.
        Acquire = 7 "acquire",
        /// Gives a lock back, before it is free for others.
        Release = 8 "release",
        /// Destroys a lock.
        Destroy = 9 "destroy",
        /// Wakes one waiter of a condition.
        Signal = 10 "signal",
        /// Wakes all waiters of a condition.
        Broadcast = 11 "broadcast",
        /// Begins to wait on a condition.
        Wait = 12 "wait",
        /// Continues after a wait on a condition.
        Wake = 13 "wake",
        /// Passes a barrier.
        Barrier = 14 "barrier",
        /// Starts another handler.
        Fork = 15 "fork",
        /// Continues after another handler has exited.
        Join = 16 "join",
        /// The first event of a handler's initial code.
        Begin = 17 "begin",
        /// The last event of a handler.
        Exit = 18 "exit",
        /// Calls a method of an object.
        Invoke = 19 "invoke",
        /// Returns from a method of an object.
        Return = 20 "return",
        /// Allocates an address range.
        Alloc = 21 "alloc",
        /// Frees an address range.
        Free = 22 "free",
        /// Makes an input event possible.
        Enable = 23 "enable",
        /// Makes an input event impossible.
        Disable = 24 "disable",
        /// Marks the running task as the effect of an input event.
        Trigger = 25 "trigger",
        /// A nondeterministic choice.
        Choice = 26 "choice",
        /// An assertion failure, an uncaught exception, a crash.
        Failure = 27 "failure",
        /// Creates a handler's mailbox.
        Attach = 28 "attach",
        /// A handler begins to serve its mailbox.
        Loop = 29 "loop",
        /// An event of a kind unknown to this version; its operand is the name of the kind.
        Other = 30 "other",
        /// A failed attempt to take a lock: somebody held it.
        Refused = 31 "refused",
        /// Asks for a lock, before it is granted; without effect. A thread that waits for a lock
        /// when the trace ends has it as its last event.
        Request = 32 "request",
    }
}

impl EventKind {
    /// Returns the table that the operand of such an event indexes.
    #[must_use]
    pub const fn operand(self) -> OperandKind {
        use EventKind::*;
        match self {
            Read | Write | Rmw | Alloc | Free => OperandKind::Location,
            Post | Cancel => OperandKind::Task,
            Get | Attach | Loop | Fork | Join => OperandKind::Handler,
            Acquire | Release | Destroy | Refused | Request => OperandKind::Lock,
            Signal | Broadcast | Wait | Wake | Barrier => OperandKind::Condition,
            Invoke | Return => OperandKind::Invocation,
            Enable | Disable | Trigger => OperandKind::Input,
            Failure | Other => OperandKind::Name,
            Choice => OperandKind::Number,
            End | Begin | Exit => OperandKind::Nothing,
        }
    }

    /// Returns whether the event reads its location.
    #[inline]
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, EventKind::Read | EventKind::Rmw)
    }

    /// Returns whether the event writes its location. Freeing a range counts as writing it.
    #[inline]
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, EventKind::Write | EventKind::Rmw | EventKind::Free)
    }

    /// Returns whether the event accesses memory in a way that can conflict: reads, writes, frees.
    #[inline]
    #[must_use]
    pub const fn is_access(self) -> bool {
        self.reads() || self.writes()
    }
}

/// Which table an operand points into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// No operand; the column holds 0.
    Nothing,
    /// A [`LocationId`].
    Location,
    /// A [`TaskId`].
    Task,
    /// A [`HandlerId`].
    Handler,
    /// A [`LockId`].
    Lock,
    /// A [`ConditionId`].
    Condition,
    /// An [`InvocationId`].
    Invocation,
    /// An [`InputId`].
    Input,
    /// A [`NameId`].
    Name,
    /// A plain number.
    Number,
}

/// How an access or a lock operation is done: three bits beside the kind.
///
/// For accesses: plain, or an atomic ordering. For lock operations: exclusive or shared, and
/// whether it was a (successful) attempt. For the end of a wait: whether its time ran out. Other
/// kinds have mode 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mode(u8);

impl Mode {
    /// A plain access; an exclusive lock operation.
    pub const PLAIN: Mode = Mode(0);
    /// An atomic access without ordering.
    pub const RELAXED: Mode = Mode(1);
    /// An atomic access with acquire ordering.
    pub const ACQUIRE: Mode = Mode(2);
    /// An atomic access with release ordering.
    pub const RELEASE: Mode = Mode(3);
    /// An atomic access with acquire and release ordering.
    pub const ACQ_REL: Mode = Mode(4);
    /// A sequentially consistent atomic access; also an atomic whose ordering was not recorded.
    pub const SEQ_CST: Mode = Mode(5);
    /// An exclusive lock operation.
    pub const EXCLUSIVE: Mode = Mode(0);
    /// A shared (reader) lock operation.
    pub const SHARED: Mode = Mode(1);
    /// A successful attempt to take a lock exclusively.
    pub const TRY_EXCLUSIVE: Mode = Mode(2);
    /// A successful attempt to take a lock shared.
    pub const TRY_SHARED: Mode = Mode(3);

    /// The end of a wait whose time ran out: no signal woke it.
    pub const TIMEOUT: Mode = Mode(1);

    /// Returns the mode with this number; only the low three bits count.
    #[inline]
    #[must_use]
    pub const fn from_bits(bits: u8) -> Mode {
        Mode(bits & 7)
    }

    /// Returns the number of the mode.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// For accesses: whether it is atomic.
    #[inline]
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        self.0 != 0
    }

    /// For atomic accesses: whether a read has acquire ordering or stronger.
    #[inline]
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(self.0, 2 | 4 | 5)
    }

    /// For atomic accesses: whether a write has release ordering or stronger.
    #[inline]
    #[must_use]
    pub const fn releases(self) -> bool {
        matches!(self.0, 3..=5)
    }

    /// For lock operations: whether the lock is taken or released as a reader.
    #[inline]
    #[must_use]
    pub const fn is_shared(self) -> bool {
        matches!(self.0, 1 | 3)
    }
}

/// Kind and mode of an event in one byte: the kind in the low five bits, the mode in the high
/// three. `Other` and `Request` share a number there and differ in the highest bit, so their modes
/// have two bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Op(u8);

const KIND_BITS: u32 = 5;
const KIND_MASK: u8 = (1 << KIND_BITS) - 1;
const SHARED_NUMBER: u8 = EventKind::Other as u8;
const REQUEST_BIT: u8 = 1 << 7;
const SHARED_MODES: u8 = 3;

const _: () = assert!(EventKind::ALL.len() == 33 && EventKind::Request as usize == 32);

/// The kind of each byte.
const KINDS: [EventKind; 256] = {
    let mut kinds = [EventKind::Request; 256];
    let mut byte = 0;
    while byte < 256 {
        let number = byte as u8 & KIND_MASK;
        if number != SHARED_NUMBER || byte as u8 & REQUEST_BIT == 0 {
            kinds[byte] = EventKind::ALL[number as usize];
        }
        byte += 1;
    }
    kinds
};

impl Op {
    /// Packs a kind and a mode.
    #[inline]
    #[must_use]
    pub const fn new(kind: EventKind, mode: Mode) -> Op {
        match kind {
            EventKind::Request => {
                Op(SHARED_NUMBER | REQUEST_BIT | (mode.0 & SHARED_MODES) << KIND_BITS)
            }
            EventKind::Other => Op(SHARED_NUMBER | (mode.0 & SHARED_MODES) << KIND_BITS),
            _ => Op(kind as u8 | (mode.0 << KIND_BITS)),
        }
    }

    /// Returns the packed byte.
    #[inline]
    #[must_use]
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Returns the kind.
    #[inline]
    #[must_use]
    pub const fn kind(self) -> EventKind {
        KINDS[self.0 as usize]
    }

    /// Returns whether this continues the release sequence of the write that it reads, if it reads
    /// one (C++20, intro.races 5): an atomic read-modify-write, whatever its ordering.
    #[inline]
    #[must_use]
    pub const fn continues_sequence(self) -> bool {
        matches!(self.kind(), EventKind::Rmw) && self.mode().is_atomic()
    }

    /// Returns whether this is the end of a wait whose time ran out.
    #[inline]
    #[must_use]
    pub const fn is_timeout(self) -> bool {
        self.0 == EventKind::Wake as u8 | (Mode::TIMEOUT.0 << 5)
    }

    /// Returns the mode.
    #[inline]
    #[must_use]
    pub const fn mode(self) -> Mode {
        let bits = self.0 >> KIND_BITS;
        let is_shared = self.0 & KIND_MASK == SHARED_NUMBER;
        Mode(if is_shared { bits & SHARED_MODES } else { bits })
    }
}

impl From<EventKind> for Op {
    fn from(kind: EventKind) -> Op {
        Op::new(kind, Mode::PLAIN)
    }
}

/// One event of an in-memory trace, copied out of its columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its position in trace order.
    pub id: EventId,
    /// Kind and mode.
    pub op: Op,
    /// The task it belongs to.
    pub task: TaskId,
    /// The raw operand; see [`Event::action`].
    pub operand: u32,
    /// Its source position.
    pub site: SiteId,
}

/// The typed view of an event: kind, mode and operand together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// See [`EventKind::Read`], [`EventKind::Write`], [`EventKind::Rmw`].
    Access {
        /// `Read`, `Write` or `Rmw`.
        kind: EventKind,
        /// The location that is accessed.
        location: LocationId,
        /// Plain or an atomic ordering.
        mode: Mode,
    },
    /// See [`EventKind::Post`].
    Post(TaskId),
    /// See [`EventKind::Cancel`].
    Cancel(TaskId),
    /// See [`EventKind::Get`]; names the handler that runs the task.
    Get(HandlerId),
    /// See [`EventKind::End`].
    End,
    /// See [`EventKind::Acquire`].
    Acquire(LockId, Mode),
    /// See [`EventKind::Release`].
    Release(LockId, Mode),
    /// See [`EventKind::Refused`].
    Refused(LockId, Mode),
    /// See [`EventKind::Request`].
    Request(LockId, Mode),
    /// See [`EventKind::Destroy`].
    Destroy(LockId),
    /// See [`EventKind::Signal`].
    Signal(ConditionId),
    /// See [`EventKind::Broadcast`].
    Broadcast(ConditionId),
    /// See [`EventKind::Wait`].
    Wait(ConditionId),
    /// See [`EventKind::Wake`].
    Wake(ConditionId),
    /// The same, when its time ran out: [`Op::is_timeout`].
    TimedOut(ConditionId),
    /// See [`EventKind::Barrier`].
    Barrier(ConditionId),
    /// See [`EventKind::Fork`].
    Fork(HandlerId),
    /// See [`EventKind::Join`].
    Join(HandlerId),
    /// See [`EventKind::Begin`].
    Begin,
    /// See [`EventKind::Exit`].
    Exit,
    /// See [`EventKind::Invoke`].
    Invoke(InvocationId),
    /// See [`EventKind::Return`].
    Return(InvocationId),
    /// See [`EventKind::Alloc`].
    Alloc(LocationId),
    /// See [`EventKind::Free`].
    Free(LocationId),
    /// See [`EventKind::Enable`].
    Enable(InputId),
    /// See [`EventKind::Disable`].
    Disable(InputId),
    /// See [`EventKind::Trigger`].
    Trigger(InputId),
    /// See [`EventKind::Choice`].
    Choice(u32),
    /// See [`EventKind::Failure`].
    Failure(NameId),
    /// See [`EventKind::Attach`].
    Attach(HandlerId),
    /// See [`EventKind::Loop`].
    Loop(HandlerId),
    /// See [`EventKind::Other`].
    Other(NameId),
}

impl Event {
    /// Returns the kind of the event.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        self.op.kind()
    }

    /// Returns the mode of the event.
    #[inline]
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.op.mode()
    }

    /// Returns the location of a read, write, rmw, alloc or free.
    #[inline]
    #[must_use]
    pub const fn location(&self) -> Option<LocationId> {
        match self.kind().operand() {
            OperandKind::Location => Some(LocationId(self.operand)),
            _ => None,
        }
    }

    /// Returns the typed view.
    #[must_use]
    pub const fn action(&self) -> Action {
        let (x, mode) = (self.operand, self.op.mode());
        match self.op.kind() {
            kind @ (EventKind::Read | EventKind::Write | EventKind::Rmw) => {
                Action::Access { kind, location: LocationId(x), mode }
            }
            EventKind::Post => Action::Post(TaskId(x)),
            EventKind::Cancel => Action::Cancel(TaskId(x)),
            EventKind::Get => Action::Get(HandlerId(x)),
            EventKind::End => Action::End,
            EventKind::Acquire => Action::Acquire(LockId(x), mode),
            EventKind::Release => Action::Release(LockId(x), mode),
            EventKind::Destroy => Action::Destroy(LockId(x)),
            EventKind::Signal => Action::Signal(ConditionId(x)),
            EventKind::Broadcast => Action::Broadcast(ConditionId(x)),
            EventKind::Wait => Action::Wait(ConditionId(x)),
            EventKind::Wake if self.op.is_timeout() => Action::TimedOut(ConditionId(x)),
            EventKind::Wake => Action::Wake(ConditionId(x)),
            EventKind::Barrier => Action::Barrier(ConditionId(x)),
            EventKind::Fork => Action::Fork(HandlerId(x)),
            EventKind::Join => Action::Join(HandlerId(x)),
            EventKind::Begin => Action::Begin,
            EventKind::Exit => Action::Exit,
            EventKind::Invoke => Action::Invoke(InvocationId(x)),
            EventKind::Return => Action::Return(InvocationId(x)),
            EventKind::Alloc => Action::Alloc(LocationId(x)),
            EventKind::Free => Action::Free(LocationId(x)),
            EventKind::Enable => Action::Enable(InputId(x)),
            EventKind::Disable => Action::Disable(InputId(x)),
            EventKind::Trigger => Action::Trigger(InputId(x)),
            EventKind::Choice => Action::Choice(x),
            EventKind::Failure => Action::Failure(NameId(x)),
            EventKind::Attach => Action::Attach(HandlerId(x)),
            EventKind::Loop => Action::Loop(HandlerId(x)),
            EventKind::Other => Action::Other(NameId(x)),
            EventKind::Refused => Action::Refused(LockId(x), mode),
            EventKind::Request => Action::Request(LockId(x), mode),
        }
    }
}
