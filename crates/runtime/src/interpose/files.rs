//! Calls that open, use and close descriptors.

use super::descriptors::{
    FILE, SOCKETS, acquire, channel, closing, copied, copied_to, opened, release, replaced, used,
    watched,
};
use super::signals::under_mask;
use crate::hooks::accesses::range;
use crate::kind::{READ_RANGE, WRITE_RANGE};
use crate::schedule::{self, Step};
use core::ffi::{c_char, c_int, c_uint, c_void};

const EPOLL_CTL_DEL: c_int = 2;
/// `MSG_DONTWAIT`.
pub(super) const DONT_WAIT: c_int = 0x40;

/// Commands of `fcntl` that copy a descriptor.
const F_DUPFD: c_int = 0;
const F_DUPFD_CLOEXEC: c_int = 1030;

/// Notes a call of `fcntl`.
fn controlled(descriptor: c_int, command: c_int, result: c_int, place: usize) {
    if command == F_DUPFD || command == F_DUPFD_CLOEXEC {
        copied(descriptor, result, place);
    } else {
        used(descriptor, place);
    }
}

/// Notes what a call has received: an end of the input, too, is something to learn.
fn received(descriptor: c_int, buffer: *mut c_void, count: isize, place: usize) {
    if count >= 0 {
        acquire(descriptor, place);
        range(WRITE_RANGE, buffer as usize, count as usize, place);
    }
}

/// Notes what a call is about to send.
fn sending(descriptor: c_int, buffer: *const c_void, count: usize, place: usize) {
    used(descriptor, place);
    range(READ_RANGE, buffer as usize, count, place);
    release(descriptor, place);
}

/// Notes both ends of a channel.
fn opened_pair(ends: *const c_int, result: c_int, place: usize) {
    if result == 0 {
        let channel = channel();
        // SAFETY: the call has written two descriptors.
        let ends = unsafe { [*ends, *ends.add(1)] };
        for end in ends {
            opened(end, channel, place);
        }
    }
}

interpose! {
    3 fn read(descriptor: c_int, buffer: *mut c_void, size: usize) -> isize, |place, real| {
        used(descriptor, place);
        schedule::input(descriptor);
        // SAFETY: as the program calls it.
        let count = unsafe { real(descriptor, buffer, size) };
        received(descriptor, buffer, count, place);
        count
    }

    3 fn write(descriptor: c_int, buffer: *const c_void, size: usize) -> isize, |place, real| {
        sending(descriptor, buffer, size, place);
        schedule::output(descriptor);
        // SAFETY: as the program calls it.
        let count = unsafe { real(descriptor, buffer, size) };
        schedule::point(Step::Call, 0);
        count
    }

    4 fn pread(descriptor: c_int, buffer: *mut c_void, size: usize, offset: i64) -> isize, |place, real| {
        used(descriptor, place);
        // SAFETY: as the program calls it.
        let count = unsafe { real(descriptor, buffer, size, offset) };
        received(descriptor, buffer, count, place);
        count
    }

    4 fn pread64(descriptor: c_int, buffer: *mut c_void, size: usize, offset: i64) -> isize, |place, real| {
        used(descriptor, place);
        // SAFETY: as the program calls it.
        let count = unsafe { real(descriptor, buffer, size, offset) };
        received(descriptor, buffer, count, place);
        count
    }

    4 fn pwrite(descriptor: c_int, buffer: *const c_void, size: usize, offset: i64) -> isize, |place, real| {
        sending(descriptor, buffer, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, buffer, size, offset) }
    }

    4 fn pwrite64(descriptor: c_int, buffer: *const c_void, size: usize, offset: i64) -> isize, |place, real| {
        sending(descriptor, buffer, size, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, buffer, size, offset) }
    }

    4 fn recv(descriptor: c_int, buffer: *mut c_void, size: usize, flags: c_int) -> isize, |place, real| {
        used(descriptor, place);
        if flags & DONT_WAIT == 0 {
            schedule::input(descriptor);
        }
        // SAFETY: as the program calls it.
        let count = unsafe { real(descriptor, buffer, size, flags) };
        // The flag MSG_TRUNC gives the length of what was sent, which may be more.
        received(descriptor, buffer, count.min(size as isize), place);
        count
    }

    4 fn send(descriptor: c_int, buffer: *const c_void, size: usize, flags: c_int) -> isize, |place, real| {
        sending(descriptor, buffer, size, place);
        if flags & DONT_WAIT == 0 {
            schedule::output(descriptor);
        }
        // SAFETY: as the program calls it.
        let count = unsafe { real(descriptor, buffer, size, flags) };
        schedule::point(Step::Call, 0);
        count
    }

    1 fn close(descriptor: c_int) -> c_int, |place, real| {
        closing(descriptor, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor) }
    }

    // The mode is there only with some flags. It is passed as whatever the register has.
    3 fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(path, flags, mode) };
        opened(descriptor, FILE, place);
        descriptor
    }

    3 fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(path, flags, mode) };
        opened(descriptor, FILE, place);
        descriptor
    }

    4 fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(folder, path, flags, mode) };
        opened(descriptor, FILE, place);
        descriptor
    }

    2 fn creat(path: *const c_char, mode: c_uint) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(path, mode) };
        opened(descriptor, FILE, place);
        descriptor
    }

    1 fn pipe(ends: *mut c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(ends) };
        opened_pair(ends, result, place);
        result
    }

    2 fn pipe2(ends: *mut c_int, flags: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(ends, flags) };
        opened_pair(ends, result, place);
        result
    }

    4 fn socketpair(domain: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(domain, kind, protocol, ends) };
        opened_pair(ends, result, place);
        result
    }

    3 fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(domain, kind, protocol) };
        opened(descriptor, SOCKETS, place);
        descriptor
    }

    3 fn connect(descriptor: c_int, address: *const c_void, size: c_uint) -> c_int, |place, real| {
        used(descriptor, place);
        release(descriptor, place);
        // SAFETY: as the program calls it.
        schedule::outside(|| unsafe { real(descriptor, address, size) })
    }

    3 fn accept(descriptor: c_int, address: *mut c_void, size: *mut c_uint) -> c_int, |place, real| {
        used(descriptor, place);
        schedule::input(descriptor);
        // SAFETY: as the program calls it.
        let new = unsafe { real(descriptor, address, size) };
        accepted(descriptor, new, place);
        new
    }

    4 fn accept4(descriptor: c_int, address: *mut c_void, size: *mut c_uint, flags: c_int) -> c_int, |place, real| {
        used(descriptor, place);
        schedule::input(descriptor);
        // SAFETY: as the program calls it.
        let new = unsafe { real(descriptor, address, size, flags) };
        accepted(descriptor, new, place);
        new
    }

    2 fn eventfd(value: c_uint, flags: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(value, flags) };
        opened(descriptor, channel(), place);
        descriptor
    }

    2 fn eventfd_write(descriptor: c_int, value: u64) -> c_int, |place, real| {
        used(descriptor, place);
        release(descriptor, place);
        schedule::output(descriptor);
        // SAFETY: as the program calls it.
        let result = unsafe { real(descriptor, value) };
        schedule::point(Step::Call, 0);
        result
    }

    2 fn eventfd_read(descriptor: c_int, value: *mut u64) -> c_int, |place, real| {
        used(descriptor, place);
        schedule::input(descriptor);
        // SAFETY: as the program calls it.
        let result = unsafe { real(descriptor, value) };
        if result == 0 {
            acquire(descriptor, place);
        }
        result
    }

    1 fn dup(descriptor: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let new = unsafe { real(descriptor) };
        copied(descriptor, new, place);
        new
    }

    2 fn dup2(descriptor: c_int, wanted: c_int) -> c_int, |place, real| {
        let was_open = descriptor != wanted && replaced(wanted, place);
        // SAFETY: as the program calls it.
        let new = unsafe { real(descriptor, wanted) };
        if descriptor != wanted {
            copied_to(descriptor, new, was_open, place);
        }
        new
    }

    3 fn dup3(descriptor: c_int, wanted: c_int, flags: c_int) -> c_int, |place, real| {
        let was_open = descriptor != wanted && replaced(wanted, place);
        // SAFETY: as the program calls it.
        let new = unsafe { real(descriptor, wanted, flags) };
        copied_to(descriptor, new, was_open, place);
        new
    }

    // The third argument is there only with some commands. It is passed as whatever the register
    // has.
    3 fn fcntl(descriptor: c_int, command: c_int, argument: usize) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(descriptor, command, argument) };
        controlled(descriptor, command, result, place);
        result
    }

    3 fn fcntl64(descriptor: c_int, command: c_int, argument: usize) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let result = unsafe { real(descriptor, command, argument) };
        controlled(descriptor, command, result, place);
        result
    }

    1 fn epoll_create(size: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(size) };
        opened(descriptor, channel(), place);
        descriptor
    }

    1 fn epoll_create1(flags: c_int) -> c_int, |place, real| {
        // SAFETY: as the program calls it.
        let descriptor = unsafe { real(flags) };
        opened(descriptor, channel(), place);
        descriptor
    }

    // Whoever adds a descriptor orders what it did before ahead of whoever is woken by it.
    4 fn epoll_ctl(epoll: c_int, operation: c_int, descriptor: c_int, event: *mut c_void) -> c_int, |place, real| {
        used(epoll, place);
        release(epoll, place);
        if operation != EPOLL_CTL_DEL {
            watched(epoll, descriptor);
        }
        // SAFETY: as the program calls it.
        unsafe { real(epoll, operation, descriptor, event) }
    }

    4 fn epoll_wait(epoll: c_int, events: *mut c_void, count: c_int, time: c_int) -> c_int, |place, real| {
        used(epoll, place);
        if time < 0 {
            schedule::input(epoll);
        }
        // SAFETY: as the program calls it.
        let wait = |time| unsafe { real(epoll, events, count, time) };
        let result = if time > 0 { schedule::outside(|| wait(time)) } else { wait(time) };
        if result > 0 {
            acquire(epoll, place);
        }
        result
    }

    5 fn epoll_pwait(epoll: c_int, events: *mut c_void, count: c_int, time: c_int, mask: *const c_void) -> c_int, |place, real| {
        used(epoll, place);
        if time < 0 {
            schedule::input(epoll);
        }
        // SAFETY: as the program calls it.
        let wait = |time| under_mask(mask, || unsafe { real(epoll, events, count, time, mask) });
        let result = if time > 0 { schedule::outside(|| wait(time)) } else { wait(time) };
        if result > 0 {
            acquire(epoll, place);
        }
        result
    }
}

/// Notes a connection: what the other end did before is known.
fn accepted(descriptor: c_int, new: c_int, place: usize) {
    if new >= 0 {
        acquire(descriptor, place);
        opened(new, SOCKETS, place);
    }
}
