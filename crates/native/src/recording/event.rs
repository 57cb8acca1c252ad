//! One event, and the kinds of events.

/// The kinds of events, as `docs/formats/recording.md` lists them.
pub mod kind {
    /// The whole time.
    pub const TIME: u8 = 1;
    /// A call of an instrumented function; the address is the return address into the caller.
    pub const CALL: u8 = 2;
    /// The return of an instrumented function.
    pub const RETURN: u8 = 3;
    /// The depth of the stack after a `longjmp`.
    pub const UNWIND: u8 = 4;
    /// A read.
    pub const READ: u8 = 8;
    /// A write.
    pub const WRITE: u8 = 9;
    /// A read of a range.
    pub const READ_RANGE: u8 = 10;
    /// A write of a range.
    pub const WRITE_RANGE: u8 = 11;
    /// A write of a pointer to a table of virtual functions.
    pub const VPTR_WRITE: u8 = 12;
    /// An atomic load.
    pub const ATOMIC_LOAD: u8 = 16;
    /// An atomic store.
    pub const ATOMIC_STORE: u8 = 17;
    /// An atomic read-modify-write.
    pub const ATOMIC_RMW: u8 = 18;
    /// A fence.
    pub const FENCE: u8 = 19;
    /// Memory was allocated.
    pub const ALLOC: u8 = 24;
    /// Memory is freed.
    pub const FREE: u8 = 25;
    /// A lock was taken.
    pub const LOCK: u8 = 32;
    /// A lock is given back.
    pub const UNLOCK: u8 = 33;
    /// An attempt at a lock failed.
    pub const LOCK_REFUSED: u8 = 34;
    /// A lock that is not free is asked for.
    pub const LOCK_REQUEST: u8 = 35;
    /// A lock was made.
    pub const LOCK_INIT: u8 = 36;
    /// A lock is destroyed.
    pub const LOCK_DESTROY: u8 = 37;
    /// A wait on a condition begins, and its mutex is given back.
    pub const COND_WAIT: u8 = 40;
    /// A wait on a condition has ended, and its mutex was taken.
    pub const COND_WAKE: u8 = 41;
    /// Wakes one waiter.
    pub const COND_SIGNAL: u8 = 42;
    /// Wakes all waiters.
    pub const COND_BROADCAST: u8 = 43;
    /// A condition is destroyed.
    pub const COND_DESTROY: u8 = 44;
    /// A barrier was made; the third word is its count.
    pub const BARRIER_INIT: u8 = 45;
    /// A thread arrives at a barrier.
    pub const BARRIER_ARRIVE: u8 = 46;
    /// A thread has passed a barrier.
    pub const BARRIER_LEAVE: u8 = 47;
    /// A semaphore was made; the third word is its value.
    pub const SEM_INIT: u8 = 48;
    /// A permit was taken.
    pub const SEM_WAIT: u8 = 49;
    /// A permit is given.
    pub const SEM_POST: u8 = 50;
    /// An attempt at a permit failed.
    pub const SEM_REFUSED: u8 = 51;
    /// A permit is asked for.
    pub const SEM_REQUEST: u8 = 52;
    /// A thread is created.
    pub const THREAD_CREATE: u8 = 56;
    /// A thread begins: its stack.
    pub const THREAD_BEGIN: u8 = 57;
    /// A thread ends.
    pub const THREAD_END: u8 = 58;
    /// A thread was joined.
    pub const THREAD_JOIN: u8 = 59;
    /// A thread is detached.
    pub const THREAD_DETACH: u8 = 60;
    /// A thread is to be joined.
    pub const THREAD_JOIN_REQUEST: u8 = 61;
    /// Synchronises with earlier releases of the object.
    pub const ACQUIRE: u8 = 64;
    /// Synchronises with later acquires of the object.
    pub const RELEASE: u8 = 65;
    /// A descriptor was opened.
    pub const FD_OPEN: u8 = 72;
    /// A descriptor is used.
    pub const FD_USE: u8 = 73;
    /// A descriptor is closed.
    pub const FD_CLOSE: u8 = 74;
    /// The handler of a signal begins.
    pub const SIGNAL_BEGIN: u8 = 80;
    /// The handler of a signal ends.
    pub const SIGNAL_END: u8 = 81;
    /// The process exits.
    pub const EXIT: u8 = 88;
    /// A signal ends the process.
    pub const FAILURE: u8 = 89;
    /// Races on the memory are no mistake; the third word is its size.
    pub const BENIGN: u8 = 192;
    /// Up to six bytes of a name; the argument says how many.
    pub const TEXT: u8 = 128;
    /// A new object begins at the address.
    pub const OBJECT: u8 = 160;
    /// A condition was made.
    pub const COND_INIT: u8 = 161;
    /// What all threads have done comes before what this one does from here on.
    pub const ACQUIRE_ALL: u8 = 162;
    /// A method by its number. Its type and its name follow as texts; the third word has their
    /// lengths, each in 32 bits.
    pub const METHOD: u8 = 193;
    /// An argument of the next invocation: the third word.
    pub const ARGUMENT: u8 = 194;
    /// A method of an object is invoked; the third word is the number of the method, the argument
    /// says how many arguments came before.
    pub const INVOKE: u8 = 195;
    /// The last open invocation of the object returns. The argument says whether there is a result,
    /// the third word.
    pub const INVOKE_RETURN: u8 = 196;
    /// The name that the program gives a thread: eight bytes of it in the third word. The argument
    /// says which, from 0.
    pub const THREAD_NAME: u8 = 197;
}

/// Returns the number of words of an event of a kind; `None` for a kind that has no length yet, so
/// that what follows cannot be read.
#[must_use]
pub const fn words(kind: u8) -> Option<usize> {
    use self::kind::*;
    match kind {
        CALL | RETURN | UNWIND => Some(1),
        READ_RANGE | WRITE_RANGE | ALLOC | FREE | COND_WAIT | COND_WAKE | BARRIER_INIT
        | SEM_INIT | THREAD_CREATE | THREAD_BEGIN => Some(3),
        TIME
        | READ
        | WRITE
        | VPTR_WRITE
        | ATOMIC_LOAD..=FENCE
        | LOCK..=LOCK_DESTROY
        | COND_SIGNAL..=COND_DESTROY
        | BARRIER_ARRIVE
        | BARRIER_LEAVE
        | SEM_WAIT..=SEM_REQUEST
        | THREAD_END..=THREAD_JOIN_REQUEST
        | ACQUIRE
        | RELEASE
        | FD_OPEN..=FD_CLOSE
        | SIGNAL_BEGIN
        | SIGNAL_END
        | EXIT
        | FAILURE => Some(2),
        // Kinds of later versions tell their length.
        128..=159 => Some(1),
        160..=191 => Some(2),
        192..=255 => Some(3),
        _ => None,
    }
}

/// One event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Event {
    /// One of [`kind`], or a kind that is not known.
    pub kind: u8,
    /// What the kind says.
    pub arg: u8,
    /// An address, an object or a number.
    pub address: u64,
    /// The low half of the code address after the place; 0 for events of one word.
    pub pc: u32,
    /// The time: of an event of one word, that of the last event with one.
    pub time: u64,
    /// The third word.
    pub third: u64,
}

impl Event {
    /// Returns the size of an access of one piece.
    #[must_use]
    pub const fn size(&self) -> u32 {
        (self.arg & 31) as u32
    }
}
