//! Kinds of updates, and which of them commute.

use std::fmt;

/// A blind update of one location: it changes the value by an operation, and uses the old value for
/// nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Update {
    /// Adds a number, or subtracts one (modulo its size; not for floating point).
    Add,
    /// Multiplies a number (modulo its size).
    Multiply,
    /// Clears bits or conditions: logical and.
    And,
    /// Sets bits or conditions: logical or.
    Or,
    /// Toggles bits: exclusive or.
    Xor,
    /// Sets a number to the maximum of itself and another.
    Max,
    /// Sets a number to the minimum of itself and another.
    Min,
    /// Puts elements into a set, or keys with one possible value into a map.
    Insert,
    /// Removes elements from a set.
    Remove,
}

impl Update {
    /// All kinds.
    pub const ALL: [Update; 9] = [
        Update::Add,
        Update::Multiply,
        Update::And,
        Update::Or,
        Update::Xor,
        Update::Max,
        Update::Min,
        Update::Insert,
        Update::Remove,
    ];

    /// The words in declarations, in the order of [`Update::ALL`].
    const WORDS: [&str; 9] =
        ["add", "multiply", "and", "or", "xor", "max", "min", "insert", "remove"];

    /// Returns the word for it in a declaration.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Update::WORDS[self as usize]
    }

    /// Returns whether two updates of one location give the same value in both orders, whatever
    /// their operands. Each kind is an associative and commutative operation, so it commutes with
    /// itself; no two kinds commute for all operands.
    #[must_use]
    pub fn commutes_with(self, other: Update) -> bool {
        self == other
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The effect of an update on small bit sets, which are numbers as well.
    fn apply(update: Update, value: u8, operand: u8) -> u8 {
        match update {
            Update::Add => value.wrapping_add(operand),
            Update::Multiply => value.wrapping_mul(operand),
            Update::And => value & operand,
            Update::Or | Update::Insert => value | operand,
            Update::Xor => value ^ operand,
            Update::Max => value.max(operand),
            Update::Min => value.min(operand),
            Update::Remove => value & !operand,
        }
    }

    #[test]
    fn the_table_holds_for_all_small_operands() {
        for a in Update::ALL {
            for b in Update::ALL {
                let mut commute = true;
                for value in 0..16 {
                    for x in 0..16 {
                        for y in 0..16 {
                            let one = apply(b, apply(a, value, x), y);
                            let other = apply(a, apply(b, value, y), x);
                            commute &= one == other;
                        }
                    }
                }
                // Bits are one model of a set. Pairs that commute there (and with remove) need not
                // commute for other sets.
                if a.commutes_with(b) {
                    assert!(commute, "{a} and {b}");
                }
            }
        }
    }
}
