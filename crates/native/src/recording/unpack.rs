//! Unpacks events. docs/formats/recording.md has the format; the runtime packs them.

/// The places that are remembered.
const SLOTS: usize = 512;
/// What follows pairs of places.
const FOLLOWERS: usize = 2048;
/// The bits of addresses in events.
const ADDRESS: u64 = (1 << 48) - 1;
const TIME: u64 = 1;

/// What is remembered of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    head: u64,
    address: u64,
    stride: u64,
}

/// Unpacks the pieces of one thread, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Unpacker {
    slots: Vec<Slot>,
    followers: Vec<u16>,
    last: u32,
    before: u32,
    address: u64,
    time: u32,
}

/// The rest of a piece.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    /// Takes a number of so many bytes, the lowest first.
    fn take(&mut self, bytes: usize) -> Option<u64> {
        let (now, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(now.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Takes a number of 7 bits to a byte.
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?;
            value |= (byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }
}

impl Unpacker {
    pub(crate) fn new() -> Unpacker {
        let (slots, followers) = (vec![Slot::default(); SLOTS], vec![0; FOLLOWERS]);
        Unpacker { slots, followers, last: 0, before: 0, address: 0, time: 0 }
    }

    /// Adds the words of the events of a piece, the last of which begins before `max`. `words`
    /// gives the length of events of a kind. Returns whether the piece is right; if not, events up
    /// to there are added.
    pub(crate) fn unpack(
        &mut self,
        bytes: &[u8],
        max: usize,
        words: impl Fn(u8) -> Option<usize>,
        to: &mut Vec<u64>,
    ) -> bool {
        self.unpack_all(&mut Input(bytes), max, &words, to).is_some()
    }

    fn unpack_all(
        &mut self,
        input: &mut Input<'_>,
        max: usize,
        words: &impl Fn(u8) -> Option<usize>,
        to: &mut Vec<u64>,
    ) -> Option<()> {
        while let Some(tag) = input.take(1) {
            let events = if tag & 0x80 != 0 { tag & 0x7f } else { 0 } + 1;
            if tag == 0x7f && to.len() < max {
                let now = input.take(8)?;
                self.time = now as u32;
                to.extend([TIME << 48, now]);
                continue;
            }
            let tag = if tag & 0x80 != 0 { 0 } else { tag };
            for _ in 0..events {
                if to.len() >= max {
                    return None;
                }
                self.event(tag, input, words, to)?;
            }
        }
        (to.len() <= max).then_some(())
    }

    fn event(
        &mut self,
        tag: u64,
        input: &mut Input<'_>,
        words: &impl Fn(u8) -> Option<usize>,
        to: &mut Vec<u64>,
    ) -> Option<()> {
        let mixed = self.last.wrapping_mul(0x9e37).wrapping_add(self.before.wrapping_mul(0x85eb));
        let follower = self.followers.get_mut((mixed >> 4) as usize % FOLLOWERS)?;
        match tag & 3 {
            0 => {}
            1 => *follower = input.take(2)? as u16,
            2 => {
                let head = input.take(6)?;
                let slot = head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
                *follower = slot as u16;
                *self.slots.get_mut(slot as usize)? = Slot { head, ..Slot::default() };
            }
            _ => return None,
        }
        let slot = *follower;
        let one = self.slots.get_mut(usize::from(slot))?;
        let address = match tag >> 2 & 3 {
            0 => one.address.wrapping_add(one.stride),
            1 => one.address.wrapping_add(unfolded(input.number()?)),
            2 => self.address.wrapping_add(unfolded(input.number()?)),
            _ => return None,
        };
        let address = address & ADDRESS;
        one.stride = address.wrapping_sub(one.address) & ADDRESS;
        one.address = address;
        if tag & 0x10 != 0 {
            self.time = self.time.wrapping_add(input.number()? as u32);
        }
        (self.address, self.before, self.last) = (address, self.last, slot.into());
        let (kind, head) = (one.head as u8, one.head);
        let length = words(kind).filter(|_| kind != 0 && tag >> 5 == 0)?;
        to.push(address | head << 48);
        if length > 1 {
            to.push(head >> 16 | u64::from(self.time) << 32);
        }
        if length > 2 {
            to.push(input.number()?);
        }
        Some(())
    }
}

/// Returns the difference that a small number stands for.
fn unfolded(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
