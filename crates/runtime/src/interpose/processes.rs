//! Processes that begin.

use crate::{c, init, record};
use core::ffi::{c_int, c_void};

type Main = unsafe extern "C" fn(*mut c_void) -> c_int;

/// What a new process begins with.
struct Birth {
    main: Main,
    argument: *mut c_void,
}

unsafe extern "C" fn begin(birth: *mut c_void) -> c_int {
    let birth: *mut Birth = birth.cast();
    init::leave_parent();
    // SAFETY: the creator has made it in memory that this process has a copy of.
    unsafe {
        let Birth { main, argument } = birth.read();
        main(argument)
    }
}

type Any = *mut c_void;
type Clone = unsafe extern "C" fn(Main, Any, c_int, Any, Any, Any, Any) -> c_int;

const CLONE_VM: c_int = 0x100;

/// A process with memory of its own is one that was forked, but that no function for forks is
/// called in. One that shares the memory goes on in the recording, as a thread without a creation.
/// The last three arguments are there only with some flags.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
unsafe extern "C" fn clone(
    main: Main,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent: *mut c_void,
    local: *mut c_void,
    child: *mut c_void,
) -> c_int {
    let real: Clone = real!(clone(Main, Any, c_int, Any, Any, Any, Any) -> c_int);
    if flags & CLONE_VM != 0 || !record::is_on() {
        // SAFETY: as the program calls it.
        return unsafe { real(main, stack, flags, argument, parent, local, child) };
    }
    let mut birth = Birth { main, argument };
    init::before_parting();
    let birth = (&raw mut birth).cast();
    // SAFETY: as the program calls it, but for the start, which calls the program's.
    let result = unsafe { real(begin, stack, flags, birth, parent, local, child) };
    c::with_errno_kept(init::after_parting);
    result
}

interpose! {
    // The child of a `vfork` uses the memory of its parent, and would write into its recording. One
    // of a `fork` does all that a program may rely on.
    0 fn vfork() -> c_int, |_place, _real| {
        let fork = real!(fork() -> c_int);
        // SAFETY: it has no argument.
        unsafe { fork() }
    }
}
