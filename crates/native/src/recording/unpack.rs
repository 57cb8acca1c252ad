//! Unpacks events. docs/formats/recording.md has the format; the runtime packs them.

/// The places that are remembered.
const SLOTS: usize = 512;
/// What follows pairs of places.
const FOLLOWERS: usize = 2048;
/// The bits of addresses in events.
const ADDRESS: u64 = (1 << 48) - 1;
const TIME: u64 = 1;

/// Where the length of an event stands in the head of its slot.
const LENGTH: u32 = 56;

/// What is remembered of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The 48 bits of the head, and from [`LENGTH`] on the words of an event.
    head: u64,
    address: u64,
    stride: u64,
}

/// The words of an event, as it was before it was packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Words {
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) third: u64,
    /// How many of them there are.
    pub(crate) length: usize,
}

/// Unpacks the pieces of one thread, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Unpacker {
    slots: Box<[Slot; SLOTS]>,
    followers: Box<[u16; FOLLOWERS]>,
    last: u32,
    before: u32,
    address: u64,
    time: u32,
    /// Events of the last tag that come as predicted.
    predicted: u32,
    /// The words of the piece so far, and those before the last event at the most.
    used: usize,
    max: usize,
}

/// A piece that is not right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wrong;

/// The rest of a piece.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl Input<'_> {
    /// Takes a number of so many bytes, the lowest first.
    fn take(&mut self, bytes: usize) -> Result<u64, Wrong> {
        let (now, rest) = self.0.split_at_checked(bytes).ok_or(Wrong)?;
        self.0 = rest;
        Ok(now.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Takes a number of 7 bits to a byte.
    #[inline]
    fn number(&mut self) -> Result<u64, Wrong> {
        let (first, rest) = self.0.split_first().ok_or(Wrong)?;
        if *first < 128 {
            self.0 = rest;
            return Ok((*first).into());
        }
        self.long_number()
    }

    fn long_number(&mut self) -> Result<u64, Wrong> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?;
            value |= (byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(Wrong)
    }
}

impl Unpacker {
    pub(crate) fn new() -> Unpacker {
        Unpacker {
            slots: Box::new([Slot::default(); SLOTS]),
            followers: Box::new([0; FOLLOWERS]),
            last: 0,
            before: 0,
            address: 0,
            time: 0,
            predicted: 0,
            used: 0,
            max: 0,
        }
    }

    /// Begins a piece, the last event of which begins before `max`, in words.
    pub(crate) fn begin(&mut self, max: usize) {
        (self.predicted, self.used, self.max) = (0, 0, max);
    }

    /// Takes the next event of a piece; `None` at its end. `words` gives the length of events of a
    /// kind.
    ///
    /// # Errors
    ///
    /// Fails where the piece is wrong. It has no further events then, and the next piece cannot be
    /// unpacked.
    #[inline]
    pub(crate) fn next(
        &mut self,
        input: &mut Input<'_>,
        words: impl Fn(u8) -> Option<usize>,
    ) -> Result<Option<Words>, Wrong> {
        let mut tag = 0;
        if self.predicted > 0 {
            self.predicted -= 1;
        } else {
            let Some((first, rest)) = input.0.split_first() else {
                return if self.used <= self.max { Ok(None) } else { Err(Wrong) };
            };
            input.0 = rest;
            match *first {
                0x7f if self.used < self.max => {
                    let now = input.take(8)?;
                    self.time = now as u32;
                    self.used += 2;
                    let words = Words { first: TIME << 48, second: now, third: 0, length: 2 };
                    return Ok(Some(words));
                }
                first if first & 0x80 != 0 => self.predicted = u32::from(first & 0x7f),
                first => tag = first,
            }
        }
        if self.used >= self.max {
            return Err(Wrong);
        }
        self.event(tag, input, words).map(Some)
    }

    /// Takes an event, after its tag.
    #[inline]
    fn event(
        &mut self,
        tag: u8,
        input: &mut Input<'_>,
        words: impl Fn(u8) -> Option<usize>,
    ) -> Result<Words, Wrong> {
        let mixed = self.last.wrapping_mul(0x9e37).wrapping_add(self.before.wrapping_mul(0x85eb));
        let follower = &mut self.followers[(mixed >> 4) as usize % FOLLOWERS];
        match tag & 3 {
            0 => {}
            1 => *follower = input.take(2)? as u16,
            2 => {
                let head = input.take(6)?;
                let slot = head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
                *follower = slot as u16;
                let length = words(head as u8).unwrap_or(0) as u64;
                self.slots[slot as usize % SLOTS] =
                    Slot { head: head | length << LENGTH, ..Slot::default() };
            }
            _ => return Err(Wrong),
        }
        let slot = *follower;
        let one = self.slots.get_mut(usize::from(slot)).ok_or(Wrong)?;
        let address = match tag >> 2 & 3 {
            0 => one.address.wrapping_add(one.stride),
            1 => one.address.wrapping_add(unfolded(input.number()?)),
            2 => self.address.wrapping_add(unfolded(input.number()?)),
            _ => return Err(Wrong),
        };
        let address = address & ADDRESS;
        one.stride = address.wrapping_sub(one.address) & ADDRESS;
        one.address = address;
        if tag & 0x10 != 0 {
            self.time = self.time.wrapping_add(input.number()? as u32);
        }
        (self.address, self.before, self.last) = (address, self.last, slot.into());
        let (head, length) = (one.head, (one.head >> LENGTH) as usize);
        if length == 0 || head as u8 == 0 || tag >> 5 != 0 {
            return Err(Wrong);
        }
        self.used += length;
        let second = (head >> 16 & 0xffff_ffff) | u64::from(self.time) << 32;
        let third = if length > 2 { input.number()? } else { 0 };
        let second = if length > 1 { second } else { 0 };
        Ok(Words { first: address | head << 48, second, third, length })
    }
}

/// Returns the difference that a small number stands for.
#[inline]
fn unfolded(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
