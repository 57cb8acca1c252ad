//! Lines and columns of byte offsets in a text.

use crate::sites::Origin;

/// Bytes between two places at which UTF-16 code units are counted.
const STRIDE: usize = 512;

/// The lines of a text, as the engine of a browser counts them.
pub(crate) struct Lines<'t> {
    text: &'t str,
    origin: Origin,
    /// Offsets at which lines begin, ascending; the first is 0.
    starts: Vec<usize>,
    /// UTF-16 code units before each multiple of `STRIDE`; none if all characters are ASCII.
    units: Vec<u32>,
}

impl<'t> Lines<'t> {
    /// Reads a text once.
    pub(crate) fn new(text: &'t str, origin: Origin) -> Self {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                // U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
                0xA8 | 0xA9 => bytes[..at].ends_with(&[0xE2, 0x80]),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        let units = if text.is_ascii() { Vec::new() } else { units_of(text) };
        Self { text, origin, starts, units }
    }

    /// Returns the place of an offset. Offsets within a character count as its end. It takes the
    /// time of a binary search and at most 512 bytes.
    pub(crate) fn place(&self, offset: usize) -> Origin {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = self.units_before(offset).saturating_sub(self.units_before(start));
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let before = if line == 0 { self.origin.column } else { 1 };
        Origin {
            source: self.origin.source,
            line: self.origin.line.saturating_add(line),
            column: before.saturating_add(column),
        }
    }

    /// Returns the offset of a place; `None` if there is no such line. It takes the time of one
    /// line.
    pub(crate) fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let line = usize::try_from(line.checked_sub(self.origin.line)?).ok()?;
        let start = *self.starts.get(line)?;
        let first = if line == 0 { self.origin.column } else { 1 };
        let mut units = column.checked_sub(first)?;
        let mut at = start;
        for one in self.text.get(start..)?.chars() {
            let length = u32::try_from(one.len_utf16()).unwrap_or(2);
            if units < length {
                break;
            }
            units -= length;
            at += one.len_utf8();
        }
        Some(at)
    }

    fn units_before(&self, offset: usize) -> u32 {
        let offset = offset.min(self.text.len());
        let Some(counted) = self.units.get(offset / STRIDE) else {
            return u32::try_from(offset).unwrap_or(u32::MAX);
        };
        let from = offset / STRIDE * STRIDE;
        counted + count(&self.text.as_bytes()[from..offset])
    }
}

/// Returns the UTF-16 code units of the characters that begin in some bytes.
fn count(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(*byte & 0xC0 != 0x80) + u32::from(*byte >= 0xF0)).sum()
}

fn units_of(text: &str) -> Vec<u32> {
    let mut total = 0;
    let mut units = Vec::with_capacity(text.len() / STRIDE + 1);
    for chunk in text.as_bytes().chunks(STRIDE) {
        units.push(total);
        total += count(chunk);
    }
    if text.len().is_multiple_of(STRIDE) {
        units.push(total);
    }
    units
}
