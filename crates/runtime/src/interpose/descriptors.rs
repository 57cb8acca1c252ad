//! Descriptors of files, and the channels behind them: what a thread writes into a pipe orders what
//! it did before ahead of what the reader does after.

use crate::emit::{note, sync};
use crate::kind::{ACQUIRE, CHANNEL, FD_CLOSE, FD_OPEN, FD_USE, RELEASE, REPLACED, arg};
use crate::record;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

const DESCRIPTORS: usize = 65_536;

/// The channel of each descriptor, with [`OPEN`]; 0 for one that was not seen to be opened.
static CHANNELS: [AtomicU32; DESCRIPTORS] = [const { AtomicU32::new(0) }; DESCRIPTORS];
/// The channel of the epoll that waits for each channel, by its number modulo the length.
static WATCHERS: [AtomicU32; DESCRIPTORS] = [const { AtomicU32::new(0) }; DESCRIPTORS];
/// The number of channels so far. The first stands for all sockets whose other end is not known.
static COUNT: AtomicU32 = AtomicU32::new(SOCKETS);

/// Set for a descriptor that was seen to be opened, and not to be closed.
const OPEN: u32 = 1 << 31;

pub(super) const FILE: u32 = 0;
pub(super) const SOCKETS: u32 = 1;

/// Channels are objects at addresses that no program has.
const OBJECTS: usize = 1 << 47;

/// Returns a new channel.
pub(super) fn channel() -> u32 {
    COUNT.fetch_add(1, Ordering::Relaxed) + 1
}

fn channel_of(descriptor: c_int) -> u32 {
    state_of(descriptor) & !OPEN
}

fn state_of(descriptor: c_int) -> u32 {
    CHANNELS.get(descriptor as usize).map_or(FILE, |channel| channel.load(Ordering::Relaxed))
}

/// Returns whether a descriptor is known to be open.
fn is_open(descriptor: c_int) -> bool {
    state_of(descriptor) & OPEN != 0
}

/// Notes that a descriptor is there, if the call that makes it has not failed.
pub(super) fn opened(descriptor: c_int, channel: u32, place: usize) {
    if descriptor < 0 {
        return;
    }
    if let Some(known) = CHANNELS.get(descriptor as usize) {
        known.store(channel | OPEN, Ordering::Relaxed);
    }
    note(FD_OPEN, descriptor as usize, place);
}

/// Notes that a descriptor stands for the same as another.
pub(super) fn copied(old: c_int, new: c_int, place: usize) {
    used(old, place);
    opened(new, channel_of(old), place);
}

/// Notes that the number of a descriptor is about to be given to a copy of another. What it stood
/// for is closed. Returns whether it was open.
pub(super) fn replaced(wanted: c_int, place: usize) -> bool {
    if !is_open(wanted) {
        return false;
    }
    note(FD_CLOSE | arg(REPLACED), wanted as usize, place);
    release(wanted, place);
    true
}

/// Notes that a copy of a descriptor has been given a number of the program's choice.
pub(super) fn copied_to(old: c_int, new: c_int, was_open: bool, place: usize) {
    if !was_open || new < 0 {
        return copied(old, new, place);
    }
    used(old, place);
    if let Some(known) = CHANNELS.get(new as usize) {
        known.store(channel_of(old) | OPEN, Ordering::Relaxed);
    }
}

/// Notes that an epoll waits for what comes through a descriptor.
pub(super) fn watched(epoll: c_int, descriptor: c_int) {
    let (epoll, channel) = (channel_of(epoll), channel_of(descriptor));
    if channel != FILE {
        WATCHERS[channel as usize % DESCRIPTORS].store(epoll, Ordering::Relaxed);
    }
}

pub(super) fn used(descriptor: c_int, place: usize) {
    if descriptor >= 0 {
        note(FD_USE, descriptor as usize, place);
    }
}

/// Writes a release on the channel of a descriptor, before something is sent, and on the epoll that
/// waits for it.
pub(super) fn release(descriptor: c_int, place: usize) {
    let channel = channel_of(descriptor);
    if channel != FILE && record::is_on() {
        sync(RELEASE | arg(CHANNEL), OBJECTS | channel as usize, place);
        let watcher = WATCHERS[channel as usize % DESCRIPTORS].load(Ordering::Relaxed);
        if watcher != FILE {
            sync(RELEASE | arg(CHANNEL), OBJECTS | watcher as usize, place);
        }
    }
}

/// Writes an acquire on the channel of a descriptor, after something has come.
pub(super) fn acquire(descriptor: c_int, place: usize) {
    let channel = channel_of(descriptor);
    if channel != FILE && record::is_on() {
        sync(ACQUIRE | arg(CHANNEL), OBJECTS | channel as usize, place);
    }
}

/// Notes that a descriptor is about to be closed. That is no part of what its end tells the other
/// side, so it comes before: then nothing but the program orders it behind uses by other threads.
pub(super) fn closing(descriptor: c_int, place: usize) {
    if descriptor < 0 {
        return;
    }
    note(FD_CLOSE, descriptor as usize, place);
    release(descriptor, place);
    if let Some(known) = CHANNELS.get(descriptor as usize) {
        known.store(FILE, Ordering::Relaxed);
    }
}
