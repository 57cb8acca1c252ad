//! Packs the events of a full chunk, so that the chunk can be used again.
//!
//! Threads run in loops: what follows an event is mostly what followed it the last time, at an
//! address that differs from the last one as that did from the one before. So an event that is as
//! predicted costs a part of a byte, any other a few bytes. docs/formats/recording.md has the
//! format. [`Packer`] is what both sides remember; it goes on from chunk to chunk of a thread.
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

    /// Writes a number, 7 bits to a byte.
    ///
    /// # Safety
    ///
    /// There is room for 10 bytes.
    #[inline(always)]
    unsafe fn put_number(&mut self, mut value: u64) {
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

/// Packs words of events. Returns the number of bytes, or 0 if they are too many: then the packer
/// must be forgotten.
///
/// # Safety
///
/// `words` are so many words, whole events of this thread, and there is [`PACKED_ROOM`] at `to`.
pub(crate) unsafe fn pack(
    packer: &mut Packer,
    from: *const u64,
    end: *const u64,
    to: usize,
) -> usize {
    let mut output = Output { at: to as *mut u8 };
    let limit = to + PACKED_MAX;
    let mut from = from;
    let mut run = 0_u8;
    while from < end {
        if output.at as usize > limit {
            return 0;
        }
        // SAFETY: the event is whole, so it has as many words as its kind says.
        unsafe {
            let first = from.read();
            let kind = (first >> 48) as u8;
            if kind == TIME {
                flush(&mut output, &mut run);
                let now = from.add(1).read();
                output.put(u64::from(WHOLE_TIME), 1);
                output.put(now, 8);
                packer.time = now as u32;
                from = from.add(2);
                continue;
            }
            let length = words(kind);
            let second = if length > 1 { from.add(1).read() } else { u64::from(packer.time) << 32 };
            let third = if length > 2 { Some(from.add(2).read()) } else { None };
            pack_event(packer, &mut output, &mut run, [first, second], third, length);
            from = from.add(length);
        }
    }
    // SAFETY: there is room for one more event.
    unsafe { flush(&mut output, &mut run) };
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
    output: &mut Output,
    run: &mut u8,
    [first, second]: [u64; 2],
    third: Option<u64>,
    length: usize,
) {
    let address = first & ADDRESS;
    // Of a call, the address is the place.
    let place = if length > 1 { second as u32 } else { address as u32 };
    let head = first >> 48 | u64::from(place) << 16;
    let time = (second >> 32) as u32;
    let context = context(packer.last, packer.before);
    let guess = packer.followers[context % FOLLOWERS] as usize % SLOTS;
    let mut tag = 0;
    let mut slot = guess;
    if packer.slots[guess].head != head {
        slot = slot_of(head) % SLOTS;
        tag = HEAD_KNOWN;
        if packer.slots[slot].head != head {
            tag = HEAD_NEW;
            packer.slots[slot] = Slot { head, address: 0, stride: 0 };
        }
        packer.followers[context % FOLLOWERS] = slot as u16;
    }
    let one = &mut packer.slots[slot];
    let step = address.wrapping_sub(one.address) & ADDRESS;
    let far = address.wrapping_sub(packer.address) & ADDRESS;
    let mut difference = 0;
    if step != one.stride {
        difference = folded(step);
        tag |= BY_PLACE;
        if folded(far) < difference {
            difference = folded(far);
            tag ^= BY_PLACE | BY_LAST;
        }
        one.stride = step;
    }
    one.address = address;
    let later = time.wrapping_sub(packer.time);
    if later != 0 {
        tag |= LATER;
    }
    packer.address = address;
    packer.time = time;
    packer.before = packer.last;
    packer.last = slot as u32;
    // SAFETY: as the caller says, and no part of an event has more than 10 bytes.
    unsafe {
        if tag == 0 && third.is_none() {
            *run += 1;
            if *run == RUN_MAX {
                flush(output, run);
            }
            return;
        }
        flush(output, run);
        output.put(u64::from(tag), 1);
        match tag & 3 {
            HEAD_KNOWN => output.put(slot as u64, 2),
            HEAD_NEW => output.put(head, 6),
            _ => {}
        }
        if tag & (BY_PLACE | BY_LAST) != 0 {
            output.put_number(difference);
        }
        if later != 0 {
            output.put_number(u64::from(later));
        }
        if let Some(third) = third {
            output.put_number(third);
        }
    }
}
