//! Locks that lie in memory: their names are addresses.

use crate::ids::LockId;
use crate::tables::Tables;

/// Returns the first address and the size of a lock whose name is an address, `0x7f10`, or a range,
/// `0x7f10+40`. Without a size it is 1: more is not known. `None` for other locks.
#[must_use]
pub fn memory_of_lock(tables: &Tables, lock: LockId) -> Option<(u64, u64)> {
    let name = tables.name(*tables.locks.get(lock.index())?);
    match name.split_once('+') {
        Some((address, size)) => {
            let size = size.parse().ok().filter(|size| *size > 0)?;
            Some((address_of(address)?, size))
        }
        None => Some((address_of(name)?, 1)),
    }
}

/// Returns the address that is a name, such as `0x7f10`.
#[must_use]
pub fn address_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("0x")?;
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Mode;

    #[test]
    fn names_that_are_addresses_are_memory() {
        let mut b = crate::TraceBuilder::new();
        let t = b.handler("T", crate::Mailbox::None).unwrap();
        let task = b.initial(t);
        let names = ["0x10", "0xff+40", "L1", "0x", "0xg", "0x10+0", "0x10+z", "0x+8"];
        for name in names {
            b.acquire(task, name, Mode::EXCLUSIVE).unwrap();
        }
        let trace = b.finish();
        let found =
            (0..names.len() as u32).map(|lock| memory_of_lock(trace.tables(), LockId(lock)));
        let expected = [Some((16, 1)), Some((255, 40)), None, None, None, None, None, None];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
