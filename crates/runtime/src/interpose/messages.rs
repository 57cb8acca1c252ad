//! Calls that move lists of buffers, or messages with addresses, and those that wait for either.

use super::descriptors::{acquire, release, used};
use super::files::DONT_WAIT;
use super::signals::under_mask;
use crate::hooks::accesses::range;
use crate::kind::{READ_RANGE, WRITE_RANGE};
use crate::record;
use crate::schedule::{self, Step};
use core::ffi::{c_int, c_short, c_uint, c_void};

/// `struct iovec`.
#[repr(C)]
struct Part {
    base: usize,
    size: usize,
}

/// `struct msghdr`, and `struct mmsghdr` around it.
#[repr(C)]
struct Message {
    name: usize,
    name_size: c_uint,
    parts: *const Part,
    count: usize,
    control: usize,
    control_size: usize,
    flags: c_int,
}

#[repr(C)]
struct CountedMessage {
    message: Message,
    size: c_uint,
}

/// `struct pollfd`.
#[repr(C)]
struct Polled {
    descriptor: c_int,
    wanted: c_short,
    seen: c_short,
}

/// More parts than the kernel takes are not looked at.
const PARTS_MAX: usize = 1024;

/// Notes accesses to a list of buffers, up to so many bytes.
fn parts(kind: u64, parts: *const Part, count: usize, mut bytes: usize, place: usize) {
    if !record::is_on() || parts.is_null() {
        return;
    }
    for at in 0..count.min(PARTS_MAX) {
        // SAFETY: the program passes a list of so many parts.
        let part = unsafe { &*parts.add(at) };
        let size = part.size.min(bytes);
        range(kind, part.base, size, place);
        bytes -= size;
        if bytes == 0 {
            break;
        }
    }
}

fn received(descriptor: c_int, list: *const Part, count: usize, bytes: isize, place: usize) {
    if bytes >= 0 {
        acquire(descriptor, place);
        parts(WRITE_RANGE, list, count, bytes as usize, place);
    }
}

fn sending(descriptor: c_int, list: *const Part, count: usize, place: usize) {
    used(descriptor, place);
    parts(READ_RANGE, list, count, usize::MAX, place);
    release(descriptor, place);
}

fn sending_message(descriptor: c_int, message: *const Message, place: usize) {
    // SAFETY: the program passes a message, or null, which the kernel refuses.
    match unsafe { message.as_ref() } {
        Some(message) => sending(descriptor, message.parts, message.count, place),
        None => used(descriptor, place),
    }
}

fn received_message(descriptor: c_int, message: *const Message, bytes: isize, place: usize) {
    // SAFETY: as above.
    if let Some(message) = unsafe { message.as_ref() } {
        received(descriptor, message.parts, message.count, bytes, place);
    }
}

/// Notes which descriptors a call has found ready.
fn ready(list: *const Polled, count: usize, result: c_int, place: usize) {
    if result <= 0 || !record::is_on() {
        return;
    }
    for at in 0..count {
        // SAFETY: the program passes a list of so many descriptors, and the call did not fail.
        let one = unsafe { &*list.add(at) };
        if one.seen != 0 && one.descriptor >= 0 {
            used(one.descriptor, place);
            acquire(one.descriptor, place);
        }
    }
}

/// Notes which descriptors of a set a call has found ready.
fn ready_in(set: *const u64, count: c_int, result: c_int, place: usize) {
    if result <= 0 || set.is_null() || !record::is_on() {
        return;
    }
    for descriptor in 0..count {
        // SAFETY: the set has a bit for each descriptor below the count.
        let word = unsafe { set.add(descriptor as usize / 64).read() };
        if word >> (descriptor % 64) & 1 != 0 {
            used(descriptor, place);
            acquire(descriptor, place);
        }
    }
}

macro_rules! vectors {
    ($($reads:ident $writes:ident $count:tt ($($arg:ident: $ty:ty),*);)*) => {
        interpose! {$(
            $count fn $reads(descriptor: c_int, list: *const Part, count: c_int $(, $arg: $ty)*) -> isize, |place, real| {
                used(descriptor, place);
                schedule::input(descriptor);
                // SAFETY: as the program calls it.
                let bytes = unsafe { real(descriptor, list, count $(, $arg)*) };
                received(descriptor, list, count as usize, bytes, place);
                bytes
            }

            $count fn $writes(descriptor: c_int, list: *const Part, count: c_int $(, $arg: $ty)*) -> isize, |place, real| {
                sending(descriptor, list, count as usize, place);
                schedule::output(descriptor);
                // SAFETY: as the program calls it.
                let bytes = unsafe { real(descriptor, list, count $(, $arg)*) };
                schedule::point(Step::Call, 0);
                bytes
            }
        )*}
    };
}

vectors! {
    readv writev 3 ();
    preadv pwritev 4 (offset: i64);
    preadv64 pwritev64 4 (offset: i64);
}

interpose! {
    3 fn recvmsg(descriptor: c_int, message: *mut Message, flags: c_int) -> isize, |place, real| {
        used(descriptor, place);
        if flags & DONT_WAIT == 0 {
            schedule::input(descriptor);
        }
        // SAFETY: as the program calls it.
        let bytes = unsafe { real(descriptor, message, flags) };
        received_message(descriptor, message, bytes, place);
        bytes
    }

    3 fn sendmsg(descriptor: c_int, message: *const Message, flags: c_int) -> isize, |place, real| {
        sending_message(descriptor, message, place);
        // SAFETY: as the program calls it.
        let bytes = unsafe { real(descriptor, message, flags) };
        schedule::point(Step::Call, 0);
        bytes
    }

    5 fn recvmmsg(descriptor: c_int, list: *mut CountedMessage, count: c_uint, flags: c_int, time: *mut c_void) -> c_int, |place, real| {
        used(descriptor, place);
        // SAFETY: as the program calls it.
        let had = unsafe { real(descriptor, list, count, flags, time) };
        for at in 0..had.max(0) as usize {
            // SAFETY: the call has filled so many.
            let one = unsafe { &*list.add(at) };
            received_message(descriptor, &raw const one.message, one.size as isize, place);
        }
        had
    }

    4 fn sendmmsg(descriptor: c_int, list: *mut CountedMessage, count: c_uint, flags: c_int) -> c_int, |place, real| {
        for at in 0..count.min(PARTS_MAX as c_uint) as usize {
            // SAFETY: the program passes so many.
            sending_message(descriptor, unsafe { &raw const (*list.add(at)).message }, place);
        }
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, list, count, flags) }
    }

    4 fn sendfile(out: c_int, from: c_int, offset: *mut i64, count: usize) -> isize, |place, real| {
        used(from, place);
        used(out, place);
        release(out, place);
        // SAFETY: as the program calls it.
        unsafe { real(out, from, offset, count) }
    }

    4 fn sendfile64(out: c_int, from: c_int, offset: *mut i64, count: usize) -> isize, |place, real| {
        used(from, place);
        used(out, place);
        release(out, place);
        // SAFETY: as the program calls it.
        unsafe { real(out, from, offset, count) }
    }

    2 fn shutdown(descriptor: c_int, how: c_int) -> c_int, |place, real| {
        used(descriptor, place);
        release(descriptor, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, how) }
    }

    2 fn listen(descriptor: c_int, count: c_int) -> c_int, |place, real| {
        used(descriptor, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, count) }
    }

    3 fn bind(descriptor: c_int, address: *const c_void, size: c_uint) -> c_int, |place, real| {
        used(descriptor, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, address, size) }
    }

    3 fn poll(list: *mut Polled, count: usize, time: c_int) -> c_int, |place, real| {
        let wait = |time| {
            // SAFETY: as the program calls it, but for the time.
            unsafe { real(list, count, time) }
        };
        let result = match schedule::turn() {
            Some(turn) => match wait(0) {
                0 if time != 0 => turn.outside(|| wait(time)),
                at_once => at_once,
            },
            None => wait(time),
        };
        ready(list, count, result, place);
        result
    }

    4 fn ppoll(list: *mut Polled, count: usize, time: *const c_void, mask: *const c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let wait = || unsafe { real(list, count, time, mask) };
        let result = schedule::outside(|| under_mask(mask, wait));
        ready(list, count, result, place);
        result
    }

    5 fn select(count: c_int, reads: *mut u64, writes: *mut u64, fails: *mut u64, time: *mut c_void) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = schedule::outside(|| unsafe { real(count, reads, writes, fails, time) });
        ready_in(reads, count, result, place);
        result
    }
}

/// Notes what a call with an address has received. It has six arguments, so that its place is found
/// on the stack.
macro_rules! with_address {
    ($($name:ident = $with_place:ident;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            // The seventh argument stands above the return address of the call; with it the stack
            // is aligned.
            core::arch::naked_asm!(
                ".cfi_startproc",
                "push qword ptr [rsp]",
                ".cfi_adjust_cfa_offset 8",
                "call {}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "ret",
                ".cfi_endproc",
                sym $with_place,
            )
        }
    )*};
}

with_address! {
    recvfrom = recvfrom_at;
    sendto = sendto_at;
}

type Address = *mut c_void;

unsafe extern "C" fn recvfrom_at(
    descriptor: c_int,
    buffer: *mut c_void,
    size: usize,
    flags: c_int,
    address: Address,
    address_size: *mut c_uint,
    place: usize,
) -> isize {
    let real = real!(recvfrom(c_int, *mut c_void, usize, c_int, Address, *mut c_uint) -> isize);
    used(descriptor, place);
    if flags & DONT_WAIT == 0 {
        schedule::input(descriptor);
    }
    // SAFETY: as the program calls it.
    let count = unsafe { real(descriptor, buffer, size, flags, address, address_size) };
    if count >= 0 {
        acquire(descriptor, place);
        // The flag MSG_TRUNC gives the length of what was sent, which may be more.
        range(WRITE_RANGE, buffer as usize, (count as usize).min(size), place);
    }
    count
}

unsafe extern "C" fn sendto_at(
    descriptor: c_int,
    buffer: *const c_void,
    size: usize,
    flags: c_int,
    address: Address,
    address_size: c_uint,
    place: usize,
) -> isize {
    let real = real!(sendto(c_int, *const c_void, usize, c_int, Address, c_uint) -> isize);
    used(descriptor, place);
    range(READ_RANGE, buffer as usize, size, place);
    release(descriptor, place);
    // SAFETY: as the program calls it.
    let count = unsafe { real(descriptor, buffer, size, flags, address, address_size) };
    schedule::point(Step::Call, 0);
    count
}
