//! Finds the threads of recent lines without a hash look-up.

use anyorder_trace::TaskId;

/// Threads with short names; a name determines its slot.
#[derive(Debug)]
pub(super) struct RecentThreads {
    /// The name followed by `|`, as a number with zeros above, and the initial task.
    slots: [(u64, TaskId); SLOTS],
}

const SLOTS: usize = 256;

impl Default for RecentThreads {
    fn default() -> RecentThreads {
        // 0 is no name: each name ends with `|`.
        RecentThreads { slots: [(0, TaskId::NONE); SLOTS] }
    }
}

impl RecentThreads {
    /// Returns the task of the thread at the start of a line, and the text after its `|`.
    #[inline]
    pub(super) fn find<'l>(&self, line: &'l [u8]) -> Option<(TaskId, &'l [u8])> {
        let word = u64::from_le_bytes(*line.first_chunk()?);
        // [Warren, Hacker's Delight, section 6-1]: the lowest high bit marks the first `|`.
        let bars = word ^ (LOW * u64::from(b'|'));
        let found = bars.wrapping_sub(LOW) & !bars & HIGH;
        if found == 0 {
            return None;
        }
        let bits = found.trailing_zeros() + 1;
        let name = word & (u64::MAX >> (64 - bits));
        let (known, task) = self.slots[slot(name)];
        if known != name {
            return None;
        }
        Some((task, &line[bits as usize / 8..]))
    }

    /// Forgets a thread.
    pub(super) fn remove(&mut self, thread: &[u8]) {
        if thread.len() < 8 {
            let name = word(thread);
            let slot = &mut self.slots[slot(name)];
            if slot.0 == name {
                *slot = (0, TaskId::NONE);
            }
        }
    }

    /// Remembers a thread, if its name is short.
    pub(super) fn add(&mut self, thread: &[u8], task: TaskId) {
        if thread.len() >= 8 {
            return;
        }
        let name = word(thread);
        self.slots[slot(name)] = (name, task);
    }
}

/// Returns a name of less than 8 bytes and its `|` as a number.
fn word(thread: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..thread.len()].copy_from_slice(thread);
    bytes[thread.len()] = b'|';
    u64::from_le_bytes(bytes)
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

#[inline]
fn slot(name: u64) -> usize {
    // The top bits of a product depend on all bits of the name.
    (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_threads_are_found_and_long_ones_are_not() {
        let mut recent = RecentThreads::default();
        let threads = ["T1", "T10", "1234567", "12345678", "ü", "\u{7c}", "\0", "T|"];
        for (number, thread) in threads.iter().enumerate().take(5) {
            assert_eq!(recent.find(format!("{thread}|r(x)|10").as_bytes()), None);
            recent.add(thread.as_bytes(), TaskId(number as u32));
        }
        for (number, thread) in threads.iter().enumerate().take(5) {
            let line = format!("{thread}|r(x)|10");
            let expected = (thread.len() < 8).then_some((TaskId(number as u32), &b"r(x)|10"[..]));
            assert_eq!(recent.find(line.as_bytes()), expected, "{thread}");
        }
        for line in
            ["||r(x)|10", "\0|r(x)|10", "T|r(x)|10", "T100|r(x)|1", "\0\0\0\0\0\0\0\0", "T1|"]
        {
            assert_eq!(recent.find(line.as_bytes()), None, "{line}");
        }
    }
}
