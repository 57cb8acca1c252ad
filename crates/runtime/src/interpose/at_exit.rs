//! Functions for the end of the process. What a thread did before it registered one comes before
//! the call of it, in whichever thread that is: so it is with the destructors of static variables.

use crate::c;
use crate::emit::sync;
use crate::kind::{ACQUIRE, ANNOTATION, RELEASE, arg};
use crate::record;
use crate::schedule::{self, Step};
use core::ffi::{c_int, c_void};

type AtExit = unsafe extern "C" fn(*mut c_void);
type Register = unsafe extern "C" fn(AtExit, *mut c_void, *mut c_void) -> c_int;

/// What was registered.
struct Registered {
    function: AtExit,
    argument: *mut c_void,
    place: usize,
}

unsafe extern "C" fn call(registered: *mut c_void) {
    let registered: *mut Registered = registered.cast();
    // SAFETY: `register` has made it, and it is called once.
    let Registered { function, argument, place } = unsafe { registered.read() };
    schedule::point(Step::Exit, 0);
    if record::is_on() {
        sync(ACQUIRE | arg(ANNOTATION), registered as usize, place);
    }
    // SAFETY: it came from this heap, and nobody else has it. The function is the program's.
    unsafe {
        c::__libc_free(registered.cast());
        function(argument);
    }
}

fn register(function: AtExit, argument: *mut c_void, module: *mut c_void, place: usize) -> c_int {
    let real: Register = real!(__cxa_atexit(AtExit, *mut c_void, *mut c_void) -> c_int);
    let registered: *mut Registered = if record::is_on() {
        // SAFETY: any size may be asked for.
        unsafe { c::__libc_malloc(size_of::<Registered>()) }.cast()
    } else {
        core::ptr::null_mut()
    };
    if registered.is_null() {
        // SAFETY: as the program calls it.
        return unsafe { real(function, argument, module) };
    }
    // SAFETY: there is room for it, and nobody else has it.
    unsafe { registered.write(Registered { function, argument, place }) };
    sync(RELEASE | arg(ANNOTATION), registered as usize, place);
    // SAFETY: the function takes what is registered.
    unsafe { real(call, registered.cast(), module) }
}

export! {
    3 fn __cxa_atexit(function: AtExit, argument: *mut c_void, module: *mut c_void) -> c_int, |place| {
        register(function, argument, module, place)
    }

    // The C library has this one only in a part that is linked into each program, and that ours
    // keeps out.
    1 fn atexit(function: AtExit) -> c_int, |place| {
        register(function, core::ptr::null_mut(), core::ptr::null_mut(), place)
    }
}
