//! Packs the events of a full chunk, so that the chunk can be used again.
//!
//! Threads run in loops: what follows an event is mostly what followed it the last time, at an
//! address that differs from the last one as that did from the one before. So an event that is as
//! predicted costs a part of a byte, any other a few bytes. docs/formats/recording.md has the
//! format. [`Packer`] is the state of packing; it is kept from chunk to chunk of a thread.
//!
//! This calls no function of the C library, not even to copy memory: those are interposed.

/// The places that are remembered.
pub(crate) const SLOTS: usize = 512;
/// What follows pairs of places.
pub(crate) const FOLLOWERS: usize = 2048;
/// The bytes of a packed chunk at the most, with those of one more event.
pub(crate) const PACKED_ROOM: usize = PACKED_MAX + 64;
/// A chunk that does not become smaller than this stays as it is.
const PACKED_MAX: usize = 60_000;

/// The bits of addresses in events.
const ADDRESS: u64 = (1 << 48) - 1;
const TIME: u8 = 1;
/// A read; a write is the next kind.
const READ: u8 = 8;
const RUN_MAX: u8 = 127;

/// Tags: see the format.
const HEAD_KNOWN: u8 = 1;
const HEAD_NEW: u8 = 2;
const BY_PLACE: u8 = 1 << 2;
const BY_LAST: u8 = 2 << 2;
const LATER: u8 = 1 << 4;
const WHOLE_TIME: u8 = 0x7f;
const RUN: u8 = 0x80;

/// What is remembered of a place: kind, argument and code address, and the last two addresses.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    head: u64,
    address: u64,
    stride: u64,
}

/// What is remembered of a thread. All zero at the start.
#[repr(C)]
pub(crate) struct Packer {
    slots: [Slot; SLOTS],
    followers: [u16; FOLLOWERS],
    /// The slots of the last event and of the one before.
    last: u32,
    before: u32,
    /// The address of the last event.
    address: u64,
    /// The low half of the time of the last event that has one.
    time: u32,
}

/// Returns the words of an event of a kind that the runtime writes.
#[inline(always)]
pub(crate) fn words(kind: u8) -> usize {
    match kind {
        2..=4 | 128..=159 => 1,
        10 | 11 | 24 | 25 | 40 | 41 | 45 | 48 | 56 | 57 | 192..=255 => 3,
        _ => 2,
    }
}

/// Returns the slot of a head.
#[inline(always)]
fn slot_of(head: u64) -> usize {
    (head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.trailing_zeros())) as usize
}

/// Returns where the follower of two slots is.
#[inline(always)]
fn context(last: u32, before: u32) -> usize {
    let mixed = last.wrapping_mul(0x9e37).wrapping_add(before.wrapping_mul(0x85eb));
    (mixed >> 4) as usize % FOLLOWERS
}

/// Returns a small number for a difference of addresses that is near zero.
#[inline(always)]
fn folded(difference: u64) -> u64 {
    let signed = (difference << 16) as i64 >> 16;
    (signed << 1 ^ signed >> 63) as u64
}

/// Bytes that are written one after the other.
struct Output {
    at: *mut u8,
}

impl Output {
    /// Writes the lowest bytes of a number.
    ///
    /// # Safety
    ///
    /// There is room for 8 bytes.
    #[inline(always)]
    unsafe fn put(&mut self, value: u64, bytes: usize) {
        // SAFETY: as the caller says.
        unsafe {
            self.at.cast::<u64>().write_unaligned(value);
            self.at = self.at.add(bytes);
        }
    }

    /// Writes a number, 7 bits to a byte, or nothing.
    ///
    /// # Safety
    ///
    /// There is room for 10 bytes.
    #[inline(always)]
    unsafe fn put_number_if(&mut self, mut value: u64, is_needed: bool) {
        if value < 128 {
            // SAFETY: as the caller says.
            return unsafe { self.put(value, usize::from(is_needed)) };
        }
        if !is_needed {
            return;
        }
        while value > 127 {
            // SAFETY: as the caller says.
            unsafe {
                self.at.write(value as u8 | 128);
                self.at = self.at.add(1);
            }
            value >>= 7;
        }
        // SAFETY: as the caller says.
        unsafe {
            self.at.write(value as u8);
            self.at = self.at.add(1);
        }
    }
}

/// What changes with each event, in registers.
#[derive(Clone, Copy)]
struct Last {
    last: u32,
    before: u32,
    address: u64,
    time: u32,
    /// The events as predicted that were not written yet.
    run: u8,
}

/// Packs words of events. Returns the number of bytes, or 0 if they are too many: then the packer
/// must be forgotten.
///
/// # Safety
///
/// From `from` to `end` are whole events of this thread, and there is [`PACKED_ROOM`] at `to`.
pub(crate) unsafe fn pack(
    packer: &mut Packer,
    from: *const u64,
    end: *const u64,
    to: usize,
) -> usize {
    let mut output = Output { at: to as *mut u8 };
    let limit = to + PACKED_MAX;
    let mut from = from;
    let Packer { last, before, address, time, .. } = *packer;
    let mut now = Last { last, before, address, time, run: 0 };
    while from < end {
        if output.at as usize > limit {
            return 0;
        }
        // SAFETY: the event is whole, so it has as many words as its kind says.
        unsafe {
            let first = from.read();
            let kind = (first >> 48) as u8;
            if kind & !1 == READ {
                pack_event(packer, &mut now, &mut output, [first, from.add(1).read(), 0], 2);
                from = from.add(2);
                continue;
            }
            if kind == TIME {
                flush(&mut output, &mut now.run);
                let whole = from.add(1).read();
                output.put(u64::from(WHOLE_TIME), 1);
                output.put(whole, 8);
                now.time = whole as u32;
                from = from.add(2);
                continue;
            }
            let length = words(kind);
            let second = if length > 1 { from.add(1).read() } else { u64::from(now.time) << 32 };
            let third = if length > 2 { from.add(2).read() } else { 0 };
            pack_event(packer, &mut now, &mut output, [first, second, third], length);
            from = from.add(length);
        }
    }
    // SAFETY: there is room for one more event.
    unsafe { flush(&mut output, &mut now.run) };
    (packer.last, packer.before) = (now.last, now.before);
    (packer.address, packer.time) = (now.address, now.time);
    output.at as usize - to
}

/// Writes how many events came as predicted.
///
/// # Safety
///
/// There is room for 8 bytes.
#[inline(always)]
unsafe fn flush(output: &mut Output, run: &mut u8) {
    if *run > 0 {
        // SAFETY: as the caller says.
        unsafe { output.put(u64::from(RUN | (*run - 1)), 1) };
        *run = 0;
    }
}

/// # Safety
///
/// There is room for 64 bytes.
#[inline(always)]
unsafe fn pack_event(
    packer: &mut Packer,
    now: &mut Last,
    output: &mut Output,
    [first, second, third]: [u64; 3],
    length: usize,
) {
    let address = first & ADDRESS;
    // Of a call, the address is the place.
    let place = if length > 1 { second as u32 } else { address as u32 };
    let head = first >> 48 | u64::from(place) << 16;
    let later = ((second >> 32) as u32).wrapping_sub(now.time);
    let follower = &mut packer.followers[context(now.last, now.before) % FOLLOWERS];
    // The slot follows from the event alone: the processor need not wait for what was predicted.
    let slot = slot_of(head) % SLOTS;
    let one = &mut packer.slots[slot];
    let step = address.wrapping_sub(one.address) & ADDRESS;
    let is_follower = usize::from(*follower) == slot && one.head == head;
    let last_address = now.address;
    *now = Last {
        last: slot as u32,
        before: now.last,
        address,
        time: now.time.wrapping_add(later),
        run: now.run,
    };
    if is_follower && step == one.stride && later == 0 && length < 3 {
        one.address = address;
        now.run += 1;
        if now.run == RUN_MAX {
            // SAFETY: as the caller says.
            unsafe { flush(output, &mut now.run) };
        }
        return;
    }
    // What comes next depends on the data of the program, which no processor foresees: so there are
    // as few branches as can be, and a part that is not needed is written and passed over.
    let is_new = one.head != head;
    if is_new {
        *one = Slot { head, address: 0, stride: 0 };
    }
    *follower = slot as u16;
    let step = address.wrapping_sub(one.address) & ADDRESS;
    let (near, far) = (folded(step), folded(address.wrapping_sub(last_address)));
    let has_difference = step != one.stride;
    let by = if far < near { BY_LAST } else { BY_PLACE };
    one.stride = step;
    one.address = address;
    let is_known = !is_follower && !is_new;
    let when = |condition: bool, bits: u8| if condition { bits } else { 0 };
    let tag = when(is_known, HEAD_KNOWN)
        | when(is_new, HEAD_NEW)
        | when(has_difference, by)
        | when(later != 0, LATER);
    // SAFETY: as the caller says, and no part of an event has more than 10 bytes.
    unsafe {
        output.put(u64::from(RUN | now.run.wrapping_sub(1)), usize::from(now.run > 0));
        now.run = 0;
        output.put(u64::from(tag), 1);
        output.put(slot as u64, 2 * usize::from(is_known));
        if is_new {
            output.put(head, 6);
        }
        output.put_number_if(near.min(far), has_difference);
        output.put_number_if(later.into(), later != 0);
        if length > 2 {
            output.put_number_if(third, true);
        }
    }
}
