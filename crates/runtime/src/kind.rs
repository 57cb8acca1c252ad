//! The kinds of events and their arguments, as `docs/formats/recording.md` lists them.

macro_rules! kinds {
    ($($name:ident = $value:literal;)*) => {
        $(pub(crate) const $name: u64 = $value << 48;)*
    };
}

// The kind is in bits 48..56 of the first word, the argument above it.
kinds! {
    TIME = 1; CALL = 2; RETURN = 3; UNWIND = 4;
    READ = 8; WRITE = 9; READ_RANGE = 10; WRITE_RANGE = 11; VPTR_WRITE = 12;
    ATOMIC_LOAD = 16; ATOMIC_STORE = 17; ATOMIC_RMW = 18; FENCE = 19;
    ALLOC = 24; FREE = 25;
    LOCK = 32; UNLOCK = 33; LOCK_REFUSED = 34; LOCK_REQUEST = 35; LOCK_INIT = 36; LOCK_DESTROY = 37;
    COND_WAIT = 40; COND_WAKE = 41; COND_SIGNAL = 42; COND_BROADCAST = 43; COND_DESTROY = 44;
    BARRIER_INIT = 45; BARRIER_ARRIVE = 46; BARRIER_LEAVE = 47;
    SEM_INIT = 48; SEM_WAIT = 49; SEM_POST = 50; SEM_REFUSED = 51; SEM_REQUEST = 52;
    THREAD_CREATE = 56; THREAD_BEGIN = 57; THREAD_END = 58; THREAD_JOIN = 59; THREAD_DETACH = 60;
    THREAD_JOIN_REQUEST = 61;
    ACQUIRE = 64; RELEASE = 65;
    FD_OPEN = 72; FD_USE = 73; FD_CLOSE = 74;
    SIGNAL_BEGIN = 80; SIGNAL_END = 81;
    EXIT = 88; FAILURE = 89;
    TEXT = 128;
    OBJECT = 160; COND_INIT = 161; ACQUIRE_ALL = 162;
    BENIGN = 192; METHOD = 193; ARGUMENT = 194; INVOKE = 195; INVOKE_RETURN = 196;
    THREAD_NAME = 197;
}

/// Returns an argument at its place in the first word.
pub(crate) const fn arg(value: u64) -> u64 {
    value << 56
}

/// The bit of an access that the program declares `volatile`.
pub(crate) const VOLATILE: u64 = 128;

/// Flags of locks.
pub(crate) const SHARED: u64 = 1;
pub(crate) const BY_TRY: u64 = 2;
pub(crate) const RECURSIVE: u64 = 4;
pub(crate) const SPIN: u64 = 8;
pub(crate) const OWNER_DEAD: u64 = 16;
/// The lock is there from the start of the program to its end, whatever is said.
pub(crate) const STATIC: u64 = 64;
/// The lock tells a thread that has it already so.
pub(crate) const CHECKED: u64 = 32;

/// The bit of memory that comes from the kernel, and not from the heap.
pub(crate) const MAPPED: u64 = 1;
/// The bit of a free while accesses are ignored.
pub(crate) const IGNORED: u64 = 2;
/// The bit of a thread that is created as a detached one.
pub(crate) const DETACHED: u64 = 1;
/// The bit of a signal that does not interrupt what its handler could disturb: a fault, one that
/// the thread sends to itself, or one that it waits for.
pub(crate) const EXPECTED: u64 = 1;
/// The bit of a handler that leaves another `errno` than it found.
pub(crate) const ERRNO: u64 = 1;

/// The bit of a close by a copy that takes the number.
pub(crate) const REPLACED: u64 = 1;

/// What an acquire and a release without a lock belong to.
pub(crate) const ONCE: u64 = 1;
pub(crate) const GUARD: u64 = 2;
pub(crate) const CHANNEL: u64 = 3;
pub(crate) const ANNOTATION: u64 = 4;
pub(crate) const SIGNAL: u64 = 5;
pub(crate) const FORK: u64 = 6;
