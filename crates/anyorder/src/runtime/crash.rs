//! Signals that end the process: the code under test reads what is no memory, or runs out of its
//! stack. There will be no report, so what is known is printed in the handler.

use super::core::{self, Core};
use std::cell::OnceCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

/// The signals of code that goes wrong, and what they are called.
const SIGNALS: [(libc::c_int, &str); 3] =
    [(libc::SIGSEGV, "SIGSEGV"), (libc::SIGBUS, "SIGBUS"), (libc::SIGILL, "SIGILL")];

/// The size of the stack on which the handler runs.
const STACK: usize = 256 << 10;

/// After so many seconds the handler gives up: whatever it waits for was left in disorder.
const PATIENCE: libc::c_uint = 5;

/// How far from the end of its stack a thread is when that overflows: up to a page above, which is
/// there to notice it, and some below, as a function may need much at once.
const ABOVE: usize = 16 << 10;
const BELOW: usize = 64 << 10;

/// What was done at each of the signals before.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// The stack of the handler, on one thread of the system.
struct Alternate(*mut libc::c_void);

thread_local! {
    static ALTERNATE: OnceCell<Option<Alternate>> = const { OnceCell::new() };
}

/// Handles crashes of programs under test from now on, on this thread of the system.
pub(super) fn watch() {
    BEFORE.get_or_init(|| SIGNALS.map(|(signal, _)| handle(signal)));
    ALTERNATE.with(|alternate| _ = alternate.get_or_init(Alternate::install));
}

/// Installs the handler. Returns what was done before.
fn handle(signal: libc::c_int) -> libc::sigaction {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: both are valid for the call, and zeros are an action without flags.
    unsafe {
        let mut own = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = crashed;
        own.sa_sigaction = handler as libc::sighandler_t;
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &raw const own, before.as_mut_ptr());
        before.assume_init()
    }
}

impl Alternate {
    fn install() -> Option<Alternate> {
        // SAFETY: memory of our own, at no given address.
        let stack = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(ptr::null_mut(), STACK, access, kind, -1, 0)
        };
        if stack == libc::MAP_FAILED {
            return None;
        }
        let own = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: STACK };
        // SAFETY: the memory stays until the thread of the system ends.
        unsafe { libc::sigaltstack(&raw const own, ptr::null_mut()) };
        Some(Alternate(stack))
    }
}

impl Drop for Alternate {
    fn drop(&mut self) {
        let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: the thread ends, and has no such stack when ours goes. The one that the standard
        // library gave it is gone by now.
        unsafe {
            libc::sigaltstack(&raw const none, ptr::null_mut());
            libc::munmap(self.0, STACK);
        }
    }
}

/// Tells what is known, and leaves the rest to whoever handled the signal before: the instruction
/// is run again.
extern "C" fn crashed(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    let at = SIGNALS.iter().position(|one| one.0 == signal);
    if let (Some(at), Some(before)) = (at, BEFORE.get()) {
        // SAFETY: what the system said was there before.
        unsafe { libc::sigaction(signal, &raw const before[at], ptr::null_mut()) };
        // SAFETY: none is needed. Where the crash left something locked, this ends us.
        unsafe { libc::alarm(PATIENCE) };
        // SAFETY: the system describes the signal, and these signals have an address.
        let address = unsafe { (*info).si_addr() } as usize;
        core::crashed(|core| tell(core, SIGNALS[at].1, address));
        // SAFETY: as above.
        unsafe { libc::alarm(0) };
    }
}

fn tell(core: &Core, signal: &str, address: usize) {
    let running = core.running();
    let thread = running.map_or_else(String::new, |(thread, _)| format!(" in thread {}", thread.0));
    let is_overflow = running.is_some_and(|(_, (from, _))| {
        from > 0 && (from.saturating_sub(BELOW)..from + ABOVE).contains(&address)
    });
    let mut text = match is_overflow {
        true => format!(
            "\nanyorder: the process ends{thread}, whose stack overflowed\n\
             hint: `Builder::stack_size` gives each thread of the check more\n"
        ),
        false => {
            format!("\nanyorder: the process ends{thread}: {signal} at address {address:#x}\n")
        }
    };
    if let Some(schedule) = core.schedule() {
        text += &format!("to replay: ANYORDER_REPLAY='{schedule}'\n");
    }
    write(&text);
}

/// Writes to standard error. Locks nothing.
fn write(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the bytes are there.
        let written = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => rest = &rest[written..],
            _ => return,
        }
    }
}
