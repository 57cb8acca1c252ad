//! Processes that begin.

use core::ffi::c_int;

interpose! {
    // The child of a `vfork` uses the memory of its parent, and would write into its recording. One
    // of a `fork` does all that a program may rely on.
    0 fn vfork() -> c_int, |_place, _real| {
        let fork = real!(fork() -> c_int);
        // SAFETY: it has no argument.
        unsafe { fork() }
    }
}
