//! Signals that the parent of this process had ignored, and the end of the process.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Returns whether this process ignores SIGHUP, as `nohup` starts it.
#[cfg(unix)]
#[must_use]
pub fn hangup_is_ignored() -> bool {
    // SAFETY: all bytes zero are a value of this C struct.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the call only writes the old one into the given struct.
    let read = unsafe { libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut action) };
    read == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Ignores SIGHUP again, after a handler was set for it.
#[cfg(unix)]
pub fn ignore_hangup() {
    // SAFETY: the call changes what one signal does, and sets no function of ours.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
}

/// Makes a write that passes the quota on the size of files (`RLIMIT_FSIZE`) an error, instead of
/// the end of the process. Programs that this process starts get the signal as usual: a handler,
/// unlike an ignored signal, is not passed on.
#[cfg(unix)]
pub fn survive_large_files() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    // SAFETY: all bytes zero are a value of this C struct.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = nothing as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler does nothing, and so is safe in any place where a signal may come.
    unsafe { libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut()) };
}

/// A signal that asks the process to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// SIGINT.
    Interrupt,
    /// SIGHUP.
    HangUp,
    /// SIGTERM.
    Terminate,
}

/// The last such signal: its number, and the highest bit if the system sent it.
static LAST: AtomicU32 = AtomicU32::new(0);

/// The bit of a signal that the system sent, as for a key of the terminal. All processes of the
/// terminal get that, not only this one.
const BY_SYSTEM: u32 = 1 << 31;

/// Returns the last signal that asked the process to end, and whether the system sent it to all
/// processes of the terminal. Signals are seen from [`note_signals`] on.
#[must_use]
pub fn last_signal() -> Option<(Asked, bool)> {
    let last = LAST.load(Ordering::SeqCst);
    #[cfg(unix)]
    let asked = match (last & !BY_SYSTEM) as libc::c_int {
        libc::SIGINT => Asked::Interrupt,
        libc::SIGHUP => Asked::HangUp,
        libc::SIGTERM => Asked::Terminate,
        _ => return None,
    };
    #[cfg(not(unix))]
    let asked = Asked::Interrupt;
    Some((asked, last & BY_SYSTEM != 0))
}

/// Notes which signal asks the process to end, before the handler that was set for it. Signals that
/// are ignored, or have no handler, stay so.
#[cfg(unix)]
pub fn note_signals() {
    for (signal, old) in NOTED {
        // SAFETY: all bytes zero are a value of this C struct.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: without a new action the call only writes the old one into the given struct.
        let read = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
        let handler = action.sa_sigaction;
        let is_ours = handler == note as *const () as usize;
        let has_handler = handler != libc::SIG_IGN && handler != libc::SIG_DFL && !is_ours;
        if read != 0 || !has_handler || action.sa_flags & libc::SA_SIGINFO != 0 {
            continue;
        }
        old.store(handler, Ordering::SeqCst);
        action.sa_sigaction = note as *const () as usize;
        action.sa_flags |= libc::SA_SIGINFO;
        // SAFETY: the handler stores a number and calls the one that was there, which is as safe
        // in any place as it was before.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

/// The signals that are noted, with the handlers from before.
#[cfg(unix)]
static NOTED: [(libc::c_int, &AtomicUsize); 3] = {
    static OLD: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];
    [(libc::SIGINT, &OLD[0]), (libc::SIGHUP, &OLD[1]), (libc::SIGTERM, &OLD[2])]
};

#[cfg(unix)]
extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system gives a handler with `SA_SIGINFO` a whole struct.
    let by_system = !info.is_null() && unsafe { (*info).si_code } > 0;
    let bit = if by_system { BY_SYSTEM } else { 0 };
    LAST.store(signal.unsigned_abs() | bit, Ordering::SeqCst);
    for (noted, old) in &NOTED {
        let old = old.load(Ordering::SeqCst);
        if *noted == signal && old != 0 {
            // SAFETY: it is the address of the handler that the system had for this signal, of one
            // argument, as it had no `SA_SIGINFO`.
            let old: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(old) };
            old(signal);
        }
    }
}

/// Does nothing: this system has no such signals.
#[cfg(not(unix))]
pub fn note_signals() {}

/// Does nothing: this system has no such signal.
#[cfg(not(unix))]
pub fn survive_large_files() {}

/// Returns false: this system has no such signal.
#[cfg(not(unix))]
#[must_use]
pub fn hangup_is_ignored() -> bool {
    false
}

/// Does nothing: this system has no such signal.
#[cfg(not(unix))]
pub fn ignore_hangup() {}

/// Ends the process at once: no destructors, no handlers, no buffers. It cannot be held up by a
/// lock or by a full pipe.
#[cfg(unix)]
pub fn end_at_once(status: i32) -> ! {
    // SAFETY: the call does not return and uses no memory of this process.
    unsafe { libc::_exit(status) }
}

/// Ends the process.
#[cfg(not(unix))]
pub fn end_at_once(status: i32) -> ! {
    std::process::exit(status)
}
