//! Signals that the parent of this process had ignored, and the end of the process.

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
