//! Numbers in the contents of a block: variable-length numbers, and columns as byte planes.
//!
//! A column of `n` numbers is one byte `p`, then `p` planes of `n` bytes: first the lowest byte of
//! every number, then the second, and so on. The largest number determines `p`, so a column of
//! zeros takes one byte. Planes unpack without a branch for each number. They also place similar
//! bytes next to each other for the packer.

use std::ops::{BitOrAssign, Shl};

/// Damage to the contents of a block, as a fragment that says what was expected.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damage(pub(super) String);

/// A result of reading the contents of a block.
pub(super) type Read<T> = Result<T, Damage>;

/// Makes the error of reading.
pub(super) fn damage<T>(what: impl Into<String>) -> Read<T> {
    Err(Damage(what.into()))
}

/// The contents of a block on their way in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Starts at the first byte.
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes }
    }

    /// Returns whether everything was read.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes the next `count` bytes.
    pub(super) fn take(&mut self, count: usize, what: &str) -> Read<&'a [u8]> {
        let Some((taken, rest)) = self.bytes.split_at_checked(count) else {
            return damage(format!(
                "{what}: {} bytes left in the block, expected {count}",
                self.bytes.len()
            ));
        };
        self.bytes = rest;
        Ok(taken)
    }

    /// Takes the next byte.
    pub(super) fn byte(&mut self, what: &str) -> Read<u8> {
        Ok(self.take(1, what)?[0])
    }

    /// Takes a variable-length number: seven bits a byte, lowest first, the high bit set on all but
    /// the last.
    pub(super) fn number(&mut self, what: &str) -> Read<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 127);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        damage(format!("{what}: a number longer than 64 bits"))
    }

    /// Takes a number of at most `max`.
    pub(super) fn count(&mut self, max: usize, what: &str) -> Read<usize> {
        let value = self.number(what)?;
        match usize::try_from(value) {
            Ok(value) if value <= max => Ok(value),
            _ => damage(format!("{what}: {value}, expected {max} at the most")),
        }
    }

    /// Takes a column of numbers. The caller has limited `count`.
    pub(super) fn column<N: Number>(
        &mut self,
        count: usize,
        what: &str,
        out: &mut Vec<N>,
    ) -> Read<()> {
        let planes = self.planes(size_of::<N>(), what)?;
        out.clear();
        out.resize(count, N::default());
        for plane in 0..planes {
            let bytes = self.take(count, what)?;
            for (value, byte) in out.iter_mut().zip(bytes) {
                *value |= N::from(*byte) << (8 * plane);
            }
        }
        Ok(())
    }

    /// Takes a column of differences and adds them up.
    pub(super) fn deltas<N: Number>(
        &mut self,
        count: usize,
        what: &str,
        out: &mut Vec<N>,
    ) -> Read<()> {
        self.column(count, what, out)?;
        let mut last = N::default();
        for value in out {
            last = last.plus(*value);
            *value = last;
        }
        Ok(())
    }

    fn planes(&mut self, max: usize, what: &str) -> Read<usize> {
        let planes = usize::from(self.byte(what)?);
        if planes > max {
            return damage(format!("{what}: {planes} planes, expected {max} at the most"));
        }
        Ok(planes)
    }
}

/// Appends a variable-length number.
pub(super) fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a column of numbers.
pub(super) fn put_column(out: &mut Vec<u8>, values: &[u64]) {
    let all = values.iter().fold(0, |all, value| all | value);
    let planes = bytes_of(all);
    out.push(planes as u8);
    for plane in 0..planes {
        out.extend(values.iter().map(|value| (value >> (8 * plane)) as u8));
    }
}

/// Appends a column of numbers as differences.
pub(super) fn put_deltas<N: Number>(out: &mut Vec<u8>, values: impl Iterator<Item = N>) {
    let mut last = N::default();
    let deltas: Vec<u64> =
        values.map(|value| value.difference(std::mem::replace(&mut last, value)).into()).collect();
    put_column(out, &deltas);
}

/// Returns the number of bytes that a number needs: 0 for 0.
pub(super) fn bytes_of(value: u64) -> usize {
    8 - value.leading_zeros() as usize / 8
}

/// A number of a column: of 32 or 64 bits.
pub(super) trait Number:
    Copy + Default + From<u8> + Into<u64> + BitOrAssign + Shl<usize, Output = Self>
{
    /// Returns the difference to `last`, with its sign folded into the lowest bit, so that small
    /// differences of both signs take few bytes.
    fn difference(self, last: Self) -> Self;

    /// Adds what [`difference`](Self::difference) returned.
    fn plus(self, difference: Self) -> Self;
}

macro_rules! numbers {
    ($($unsigned:ident $signed:ident,)*) => {
        $(impl Number for $unsigned {
            #[inline]
            fn difference(self, last: $unsigned) -> $unsigned {
                let plain = self.wrapping_sub(last);
                (plain << 1) ^ ((plain as $signed >> ($unsigned::BITS - 1)) as $unsigned)
            }

            #[inline]
            fn plus(self, difference: $unsigned) -> $unsigned {
                self.wrapping_add((difference >> 1) ^ (difference & 1).wrapping_neg())
            }
        })*
    };
}

numbers!(u32 i32, u64 i64,);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_undone_at_the_extremes() {
        for value in [0u64, 1, 2, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1] {
            assert_eq!(0.plus(value.difference(0)), value);
            assert_eq!(0.plus((value as u32).difference(0)), value as u32);
        }
        assert_eq!(0u64.difference(1), 1);
    }

    #[test]
    fn numbers_round_trip_and_overlong_ones_are_refused() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            put_number(&mut out, value);
            assert_eq!(Input::new(&out).number("it"), Ok(value));
            assert!(Input::new(&out[..out.len() - 1]).number("it").is_err());
        }
        assert!(Input::new(&[0xff; 11]).number("it").is_err());
        assert!(
            Input::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2])
                .number("it")
                .is_err()
        );
    }

    #[test]
    fn a_column_needs_all_its_planes() {
        let mut out = Vec::new();
        put_column(&mut out, &[0, 256, 3]);
        assert_eq!(out, [2, 0, 0, 3, 0, 1, 0]);
        let mut column: Vec<u32> = Vec::new();
        assert_eq!(Input::new(&out).column(3, "it", &mut column), Ok(()));
        assert_eq!(column, [0, 256, 3]);
        assert!(Input::new(&out[..6]).column(3, "it", &mut column).is_err());
        assert!(Input::new(&[5]).column(0, "it", &mut column).is_err());
        assert!(Input::new(&[9]).column(0, "it", &mut Vec::<u64>::new()).is_err());
    }
}
