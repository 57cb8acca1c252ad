//! Operations, from the code of the program to the engine.
//!
//! An operation goes to the engine, which runs other threads meanwhile. There are two exceptions:
//!
//! - When all threads have ended, the data of statics is destroyed. The operations of destructors
//!   that run then are performed at once, on objects as the engine left them. None waits.
//! - A thread that unwinds from a panic of its own must not give way: the standard library counts
//!   panics for the thread of the system, so that another thread of the program would find itself
//!   panicking. Operations without a result are put off until the panic is caught. Those with a
//!   result get the one that they would have now, and the engine does not see them.

use super::arena;
use super::core::{self, Core, Phase};
use super::failure::{Panic, text};
use super::strand::{Strand, has_no_result};
use super::version;
use anyorder_threads::{Act, Next, ObjectId, Op, ThreadId};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe, Location};
use std::ptr;
use std::thread;

/// Performs an operation of the running thread, and returns its result.
#[inline]
pub(crate) fn perform(object: ObjectId, act: Act, at: &'static Location<'static>) -> u64 {
    match core::with(|core| core.perform(Op::new(object, act), at)) {
        Some(result) => result,
        None => outside(),
    }
}

/// Operations outside of a check have no meaning. Destructors say nothing.
#[cold]
fn outside() -> u64 {
    assert!(thread::panicking(), "a type of `anyorder` was used outside of a check");
    0
}

/// As [`perform`], but does nothing outside of checks: for destructors.
pub(crate) fn perform_in_drop(object: ObjectId, act: Act, at: &'static Location<'static>) -> u64 {
    core::with(|core| core.perform(Op::new(object, act), at)).unwrap_or(0)
}

/// Returns whether the code runs in a check.
#[inline]
pub(crate) fn is_checking() -> bool {
    core::with(|_| ()).is_some()
}

/// Returns whether the execution is being cut short.
pub(crate) fn is_stopping() -> bool {
    core::with(|core| core.phase() == Phase::Stopping) == Some(true)
}

/// Notes that a lock is taken: it may protect data that is not seen, beside what is in it or behind
/// a shared borrow of that.
#[inline]
pub(crate) fn note_lock() {
    core::with(|core| core.state.borrow_mut().has_locks = true);
}

/// Returns whether locks protect data that is not seen.
#[inline]
pub(crate) fn guards_unseen() -> bool {
    core::with(|core| core.state.borrow().guards_unseen) == Some(true)
}

/// Returns the number for the content that the running thread gives some data.
pub(crate) fn version_of<T: ?Sized>(value: &T) -> u64 {
    match version::of_primitive(value) {
        Some(number) => number,
        None => fresh_version(),
    }
}

/// As [`version_of`], for data that nobody has changed in this execution.
pub(crate) fn version_of_model<T: ?Sized>(value: &T) -> u64 {
    version::of_primitive(value).unwrap_or(0)
}

/// Calls `f`, whose allocations are not part of the program: for what threads share and the engine
/// does not see.
pub(crate) fn unseen<R>(f: impl FnOnce() -> R) -> R {
    let before = arena::activate(std::ptr::null_mut());
    let result = f();
    arena::activate(before);
    result
}

/// Returns a number for all that the running thread has seen.
pub(crate) fn fresh_version() -> u64 {
    core::with(|core| core.with_current(|strand| strand.version())).unwrap_or(0)
}

/// Notes a value that its owners share, by the object that counts them, and where it was made.
pub(crate) fn note_owned(owners: ObjectId, made: &'static Location<'static>) {
    core::with(|core| core.state.borrow_mut().leaks.note(owners, made));
}

/// Notes that a counted value is at an address.
pub(crate) fn note_counted(address: usize) {
    core::with(|core| core.state.borrow_mut().lifetimes.note_counted(address));
}

/// Notes that a value has no owner any more.
pub(crate) fn forget_owned(owners: ObjectId) {
    core::with(|core| core.state.borrow_mut().leaks.forget(owners));
}

/// What this execution leaves behind is no failure.
pub(crate) fn excuse_leaks() {
    core::with(|core| core.state.borrow_mut().leaks.excuse());
}

/// Gives way: if the thread read the same as before it gave way last, it spins, and waits until
/// something of it changes. Otherwise nothing: it may go on before all others.
pub(crate) fn give_way(at: &'static Location<'static>) {
    let spins = core::with(|core| core.with_current(Strand::give_way)).flatten();
    if let Some(reads) = spins {
        perform(ObjectId::NONE, Act::Await(reads), at);
    }
}

/// Calls `f` as the body of a thread: a panic ends here, and is the failure of the program unless
/// it is a result of the thread.
pub(crate) fn run_to_end<T>(f: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    if let Err(payload) = result {
        return Err(core::with(|core| core.fail(payload)).expect("a thread runs in a check"));
    }
    result
}

impl Core {
    pub(crate) fn perform(&self, op: Op, at: &'static Location<'static>) -> u64 {
        let address = self.address_of(op.object);
        if self.phase() == Phase::Stopping {
            return self.perform_stopping(&op);
        }
        if thread::panicking() {
            return self.perform_unwinding(op, at);
        }
        self.perform_deferred();
        if let Some(address) = address
            && self.is_watching.get()
        {
            self.read_watched(address, at);
        }
        let object = op.object;
        let result = self.send(op, at);
        if address.is_some_and(arena::is_freed) {
            self.note_used(object);
        }
        result
    }

    /// Gives way to the engine, which performs the operation. Part of its caller: see
    /// `Execution::perform` of the engine.
    #[inline(always)]
    pub(super) fn send(&self, op: Op, at: &'static Location<'static>) -> u64 {
        let (yielder, next) = (self.yielder.get(), self.next.get());
        let is_inside = !yielder.is_null() && !next.is_null();
        assert!(is_inside, "an operation outside of the threads of the program");
        let site = {
            let state = &mut *self.state.borrow_mut();
            if let Some(strand) = state.strands[state.current.index()].as_mut() {
                strand.last = Some(op.clone());
            }
            state.names.site(at)
        };
        // SAFETY: the engine lends it to `resume`, which has no use for it until the coroutine
        // stops; and the yielder lies at the base of the stack of the coroutine.
        let result = unsafe {
            *next = Next { op, site };
            (*yielder).suspend(())
        };
        // Whoever resumed it gave the thread its memory. We are not there yet.
        arena::activate(ptr::null_mut());
        result
    }

    /// Performs what was put off while the thread unwound.
    #[inline]
    pub(super) fn perform_deferred(&self) {
        if self.with_current(|strand| !strand.deferred.is_empty()) {
            self.perform_all_deferred();
        }
    }

    #[cold]
    fn perform_all_deferred(&self) {
        loop {
            let deferred = self.with_current(|strand| match strand.deferred.is_empty() {
                true => None,
                false => Some(strand.deferred.remove(0)),
            });
            let Some((op, at)) = deferred else { return };
            self.send(op, at);
        }
    }

    fn perform_stopping(&self, op: &Op) -> u64 {
        let unseen = self.state.borrow_mut().perform_unseen(op);
        unseen.unwrap_or(u64::from(is_taking(&op.act)))
    }

    fn perform_unwinding(&self, op: Op, at: &'static Location<'static>) -> u64 {
        let unseen = self.state.borrow_mut().perform_unseen(&op);
        self.with_current(|strand| {
            let taken = &mut strand.taken_unwinding;
            let is_ours = taken.iter().position(|lock| *lock == op.object);
            match &op.act {
                Act::Lock(..) => taken.push(op.object),
                Act::Unlock(_) if is_ours.is_some() => {
                    taken.swap_remove(is_ours.unwrap_or(0));
                }
                act if has_no_result(act) => strand.deferred.push((op.clone(), at)),
                _ => {}
            }
        });
        unseen.unwrap_or(u64::from(is_taking(&op.act)))
    }

    /// Ends a panic that reached the root of the running thread: a failure of the program, or a
    /// result. Returns the payload.
    pub(super) fn fail(&self, payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
        if self.phase() == Phase::Stopping {
            return payload;
        }
        self.perform_deferred();
        let message = text(&*payload);
        let panic = self.with_current(|strand| {
            strand.taken_unwinding.clear();
            // A destructor may have caught another one since.
            let own = strand.panics.iter().rposition(|panic| panic.message == message);
            let own = own.map(|at| strand.panics.swap_remove(at));
            strand.panics.clear();
            own.unwrap_or(Panic { thread: strand.id, message, position: None })
        });
        if !self.setting.panics_are_results || panic.thread == ThreadId::MAIN {
            let number = self.state.borrow_mut().panics.number(panic);
            self.state.borrow_mut().leaks.excuse();
            self.send(Op::new(ObjectId::NONE, Act::Fail(number)), Location::caller());
        }
        payload
    }
}

/// Returns whether an operation that would wait is taken for one that took what it waited for.
fn is_taking(act: &Act) -> bool {
    matches!(
        act,
        Act::Lock(..) | Act::Wake(_) | Act::Park(_) | Act::Acquire(..) | Act::Convert { .. }
    )
}
