//! What operations do to a register.

use crate::op::Change;

/// Returns a number cut to a width in bits.
#[inline]
pub(crate) fn cut(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Returns a number of some width with its sign in all higher bits.
#[inline]
fn signed(value: u64, bits: u8) -> i64 {
    let unused = 64 - u32::from(bits.clamp(1, 64));
    ((value << unused) as i64) >> unused
}

impl Change {
    /// Returns the value after the change of a register of some width in bits; `None` if it only
    /// reads.
    #[must_use]
    pub fn of(self, old: u64, bits: u8) -> Option<u64> {
        if !self.writes(old) {
            return None;
        }
        let new = match self {
            Change::Swap(by) => by,
            Change::Add(by) => old.wrapping_add(by),
            Change::Sub(by) => old.wrapping_sub(by),
            Change::And(by) => old & by,
            Change::Or(by) => old | by,
            Change::Xor(by) => old ^ by,
            Change::Nand(by) => !(old & by),
            Change::Max(by) => old.max(by),
            Change::Min(by) => old.min(by),
            Change::SignedMax(by) => signed(old, bits).max(signed(by, bits)) as u64,
            Change::SignedMin(by) => signed(old, bits).min(signed(by, bits)) as u64,
            Change::CompareExchange { new, .. } | Change::ExchangePlace { new, .. } => new,
        };
        Some(cut(new, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::place;

    #[test]
    fn changes_wrap_and_keep_signs() {
        assert_eq!(Change::Add(1).of(255, 8), Some(0));
        assert_eq!(Change::Sub(1).of(0, 64), Some(u64::MAX));
        assert_eq!(Change::SignedMax(1).of(0xff, 8), Some(1));
        assert_eq!(Change::SignedMin(1).of(0xff, 8), Some(0xff));
        assert_eq!(Change::Max(1).of(0xff, 8), Some(0xff));
        assert_eq!(Change::Nand(3).of(1, 8), Some(0xfe));
        assert_eq!(Change::CompareExchange { current: 2, new: 3 }.of(1, 8), None);
        assert_eq!(Change::CompareExchange { current: 1, new: 3 }.of(1, 8), Some(3));
        let place = |content: u64, at: u64| place::MARK << 56 | content << 32 | at;
        let exchange = |current| Change::ExchangePlace { current, new: 3 };
        assert_eq!(exchange(place(1, 8)).of(place(2, 8), 64), Some(3));
        assert_eq!(exchange(place(1, 8)).of(place(1, 9), 64), None);
        assert_eq!(exchange(8).of(place(1, 8), 64), None);
        assert_eq!(exchange(8).of(8, 64), Some(3));
    }
}
