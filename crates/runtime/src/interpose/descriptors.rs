//! Descriptors of files, and the channels behind them: what a thread writes into a pipe orders what
//! it did before ahead of what the reader does after.

use crate::emit::{note, sync};
use crate::kind::{ACQUIRE, CHANNEL, FD_CLOSE, FD_OPEN, FD_USE, RELEASE, arg};
use crate::record;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

const DESCRIPTORS: usize = 65_536;

/// The channel of each descriptor; 0 for a file, and for one that was not seen to be opened.
static CHANNELS: [AtomicU32; DESCRIPTORS] = [const { AtomicU32::new(0) }; DESCRIPTORS];
/// The number of channels so far. The first stands for all sockets whose other end is not known.
static COUNT: AtomicU32 = AtomicU32::new(SOCKETS);

pub(super) const FILE: u32 = 0;
pub(super) const SOCKETS: u32 = 1;

/// Channels are objects at addresses that no program has.
const OBJECTS: usize = 1 << 47;

/// Returns a new channel.
pub(super) fn channel() -> u32 {
    COUNT.fetch_add(1, Ordering::Relaxed) + 1
}

fn channel_of(descriptor: c_int) -> u32 {
    CHANNELS.get(descriptor as usize).map_or(FILE, |channel| channel.load(Ordering::Relaxed))
}

/// Notes that a descriptor is there, if the call that makes it has not failed.
pub(super) fn opened(descriptor: c_int, channel: u32, place: usize) {
    if descriptor < 0 {
        return;
    }
    if let Some(known) = CHANNELS.get(descriptor as usize) {
        known.store(channel, Ordering::Relaxed);
    }
    note(FD_OPEN, descriptor as usize, place);
}

/// Notes that a descriptor stands for the same as another.
pub(super) fn copied(old: c_int, new: c_int, place: usize) {
    opened(new, channel_of(old), place);
}

pub(super) fn used(descriptor: c_int, place: usize) {
    if descriptor >= 0 {
        note(FD_USE, descriptor as usize, place);
    }
}

/// Writes a release on the channel of a descriptor, before something is sent.
pub(super) fn release(descriptor: c_int, place: usize) {
    let channel = channel_of(descriptor);
    if channel != FILE && record::is_on() {
        sync(RELEASE | arg(CHANNEL), OBJECTS | channel as usize, place);
    }
}

/// Writes an acquire on the channel of a descriptor, after something has come.
pub(super) fn acquire(descriptor: c_int, place: usize) {
    let channel = channel_of(descriptor);
    if channel != FILE && record::is_on() {
        sync(ACQUIRE | arg(CHANNEL), OBJECTS | channel as usize, place);
    }
}

pub(super) fn closing(descriptor: c_int, place: usize) {
    if descriptor < 0 {
        return;
    }
    release(descriptor, place);
    note(FD_CLOSE, descriptor as usize, place);
    if let Some(known) = CHANNELS.get(descriptor as usize) {
        known.store(FILE, Ordering::Relaxed);
    }
}
