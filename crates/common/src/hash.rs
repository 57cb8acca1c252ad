//! A hash that is the same in every run, build and machine.

use std::fmt;

/// A 128-bit FNV-1a hash: stable for ever, no secret. Not for input that is chosen to collide.
///
/// Parts are length-prefixed, so that `("ab", "c")` and `("a", "bc")` differ.
///
/// ```
/// use anyorder_common::hash::Hash128;
/// assert_eq!(Hash128::of(b"dom"), Hash128::of(b"dom"));
/// assert_ne!(Hash128::new().part(b"ab").part(b"c"), Hash128::new().part(b"a").part(b"bc"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash128(pub u128);

// The constants of the public-domain FNV-1a hash, for 128 bits.
const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl Default for Hash128 {
    fn default() -> Hash128 {
        Hash128::new()
    }
}

impl Hash128 {
    /// Returns the hash of nothing.
    #[must_use]
    pub const fn new() -> Hash128 {
        Hash128(OFFSET_BASIS)
    }

    /// Returns the hash of one part, in time linear in its length.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Hash128 {
        Hash128::new().part(bytes)
    }

    /// Adds a part, in time linear in its length.
    #[must_use]
    pub fn part(self, bytes: &[u8]) -> Hash128 {
        let length = (bytes.len() as u64).to_le_bytes();
        let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
        Hash128(length.iter().chain(bytes).fold(self.0, step))
    }

    /// Adds a number.
    #[must_use]
    pub fn number(self, number: u64) -> Hash128 {
        self.part(&number.to_le_bytes())
    }

    /// Reads what `Display` prints: 32 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Hash128> {
        let digits = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if digits { u128::from_str_radix(text, 16).ok().map(Hash128) } else { None }
    }
}

impl fmt::Display for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash128({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        // Files hold these; a change would make every stored id unknown.
        assert_eq!(Hash128::new().to_string(), "6c62272e07bb014262b821756295c58d");
        let fnv_of_a = Hash128((OFFSET_BASIS ^ u128::from(b'a')).wrapping_mul(PRIME));
        assert_eq!(fnv_of_a.to_string(), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn print_and_parse_agree() {
        let hash = Hash128::of(b"x").number(7);
        assert_eq!(Hash128::parse(&hash.to_string()), Some(hash));
        assert_eq!(Hash128::parse("12"), None);
        assert_eq!(Hash128::parse("+2345678901234567890123456789012"), None);
    }
}
