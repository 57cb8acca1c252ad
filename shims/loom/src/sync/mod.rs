//! What threads share.

pub use anyorder::sync::{
    Arc, Barrier, Condvar, LockResult, Mutex, MutexGuard, RwLock, RwLockReadGuard,
    RwLockWriteGuard, TryLockResult, WaitTimeoutResult,
};
pub use notify::Notify;

mod notify;

pub mod atomic {
    //! Atomics.

    #[allow(deprecated, reason = "loom has it")]
    pub use anyorder::sync::atomic::spin_loop_hint;
    pub use anyorder::sync::atomic::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
        AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
}

pub mod mpsc {
    //! Channels.

    pub use anyorder::sync::mpsc::{
        Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryRecvError, channel,
    };
}
