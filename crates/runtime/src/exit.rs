//! The end of the process.

use crate::block::block;
use crate::emit::note;
use crate::kind::EXIT;
use crate::schedule::{self, Step, quarantine};
use crate::{c, maps, plan, record, thread};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

static ENDED: AtomicU32 = AtomicU32::new(0);

/// Runs after the program's own functions for the exit, as it was registered before them.
pub(crate) unsafe extern "C" fn at_exit(status: c_int, _argument: *mut c_void) {
    finish(status, 0);
}

/// Writes the end of the process. Other threads may still run, and go on to write.
fn finish(status: c_int, place: usize) {
    schedule::point(Step::Exit, 0);
    if !record::is_on() || ENDED.swap(1, Ordering::Relaxed) != 0 {
        return;
    }
    quarantine::check_all();
    plan::before_exit();
    note(EXIT, status as u32 as usize, place);
    c::without_signals(|| {
        // SAFETY: the block is this thread's, and no handler runs meanwhile.
        thread::report_left_out(unsafe { &mut *block() });
        maps::copy();
        record::add_flags(record::ENDED);
    });
}

interpose! {
    1 fn _exit(status: c_int), |place, real| {
        finish(status, place);
        // SAFETY: as the program calls it.
        unsafe { real(status) }
    }

    1 fn _Exit(status: c_int), |place, real| {
        finish(status, place);
        // SAFETY: as the program calls it.
        unsafe { real(status) }
    }

    1 fn quick_exit(status: c_int), |place, real| {
        finish(status, place);
        // SAFETY: as the program calls it.
        unsafe { real(status) }
    }
}
