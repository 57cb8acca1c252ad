//! The start: the environment is read, the file made, the first thread begun.

use crate::block::{SILENT, block};
use crate::emit::sync;
use crate::kind::{ACQUIRE, FORK, RELEASE, arg};
use crate::{c, exit, interpose, invocations, maps, plan, record, schedule, thread};
use core::sync::atomic::{AtomicU32, Ordering};

const NAME: &[u8] = b"ANYORDER_RECORDING=";
const MAX_NAME: &[u8] = b"ANYORDER_MAX_RECORDING=";
const PLAN_NAME: &[u8] = b"ANYORDER_PLAN=";
const SCHEDULE_NAME: &[u8] = b"ANYORDER_SCHEDULE=";

static BEGUN: AtomicU32 = AtomicU32::new(0);

/// The loader calls this before any constructor of the program.
#[cfg(anyorder_image)]
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = __tsan_init;

/// Each translation unit calls this at first. It may run before the C library knows the
/// environment, so that is read from the kernel.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
extern "C" fn __tsan_init() {
    if BEGUN.swap(1, Ordering::Relaxed) == 0 {
        c::with_errno_kept(start);
    }
}

fn start() {
    let mut settings = Settings::new();
    maps::read(c"/proc/self/environ".as_ptr() as usize, |part| {
        for byte in part {
            settings.take(*byte);
        }
        true
    });
    if settings.folder_length == 0 {
        return;
    }
    let folder = &settings.folder[..settings.folder_length];
    if !record::set_folder(folder, settings.max_bytes) || !record::start(0) {
        return;
    }
    maps::copy();
    thread::make_key();
    if settings.plan_length > 0 {
        // The byte after the path is zero.
        plan::start(&settings.plan[..settings.plan_length + 1]);
        plan::count_alive(1);
    }
    thread::begin_first();
    if settings.schedule_length > 0 {
        schedule::start(&settings.schedule[..settings.schedule_length + 1]);
    }
    interpose::signals::watch_failures();
    // SAFETY: the functions are valid as long as this object, which is never unloaded.
    unsafe {
        c::on_exit(exit::at_exit, core::ptr::null_mut());
        c::__register_atfork(
            Some(before_fork),
            Some(after_fork),
            Some(in_child),
            core::ptr::null_mut(),
        );
    }
}

/// The variables of the environment that matter, read byte by byte.
struct Settings {
    name: [u8; 32],
    length: usize,
    /// 0: in a name, 1: in the folder, 2: in the maximum, 3: in another value, 4: in the path of
    /// the plan, 5: in that of the schedule.
    place: u8,
    folder: [u8; 2048],
    folder_length: usize,
    max_bytes: Option<u64>,
    plan: [u8; 2048],
    plan_length: usize,
    schedule: [u8; 2048],
    schedule_length: usize,
}

impl Settings {
    const fn new() -> Settings {
        Settings {
            name: [0; 32],
            length: 0,
            place: 0,
            folder: [0; 2048],
            folder_length: 0,
            max_bytes: None,
            plan: [0; 2048],
            plan_length: 0,
            schedule: [0; 2048],
            schedule_length: 0,
        }
    }

    fn take(&mut self, byte: u8) {
        if byte == 0 {
            self.place = 0;
            self.length = 0;
            return;
        }
        match self.place {
            0 => self.take_name(byte),
            1 => {
                if let Some(place) = self.folder.get_mut(self.folder_length) {
                    *place = byte;
                    self.folder_length += 1;
                }
            }
            2 if byte.is_ascii_digit() => {
                let before = self.max_bytes.unwrap_or(0);
                let more = before.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                self.max_bytes = Some(more);
            }
            4 if self.plan_length + 1 < self.plan.len() => {
                self.plan[self.plan_length] = byte;
                self.plan_length += 1;
            }
            5 if self.schedule_length + 1 < self.schedule.len() => {
                self.schedule[self.schedule_length] = byte;
                self.schedule_length += 1;
            }
            _ => {}
        }
    }

    fn take_name(&mut self, byte: u8) {
        if let Some(place) = self.name.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
        if byte == b'=' {
            let name = &self.name[..self.length];
            self.place = if name == NAME {
                1
            } else if name == MAX_NAME {
                2
            } else if name == PLAN_NAME {
                4
            } else if name == SCHEDULE_NAME {
                5
            } else {
                3
            };
        }
    }
}

/// Runs last before a fork: the memory of the recording is shared with the child.
unsafe extern "C" fn before_fork() {
    before_parting();
}

unsafe extern "C" fn after_fork() {
    after_parting();
}

/// Leaves out the events of this thread until the process has parted from its copy.
pub(crate) fn before_parting() {
    sync(RELEASE | arg(FORK), 0, 0);
    thread::pause();
}

/// Goes on in the parent.
pub(crate) fn after_parting() {
    thread::resume();
}

/// Runs first in the child.
unsafe extern "C" fn in_child() {
    leave_parent();
}

/// Begins a recording of its own in the copy of a process. Only this thread is left; it has
/// number 0.
pub(crate) fn leave_parent() {
    c::with_errno_kept(|| {
        plan::forget();
        schedule::forget();
        invocations::begin_in_child();
        crate::hooks::atomics::release_all();
        let block = block();
        // SAFETY: the block is this thread's, and there is no other thread.
        let block = unsafe { &mut *block };
        block.held = 0;
        block.depth = 0;
        block.left_out = 0;
        block.state = SILENT;
        if record::start_in_child() {
            maps::copy();
            thread::begin_first();
            sync(ACQUIRE | arg(FORK), 0, 0);
        }
    });
}
