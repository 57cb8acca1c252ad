//! Encodings of states, stored compactly and compared exactly.
//!
//! States are stored in groups of [`GROUP`], in the order of their numbers. The first of a group is
//! stored whole; each other as its byte differences from the first. Consecutive states mostly come
//! from one state and differ in few bytes. Any state is found by one look-up, and compared without
//! being assembled.
//!
//! A record is its length, then twice the length of the encoding plus 1 if it is stored whole, then
//! either the encoding, or pairs (bytes that are equal, bytes that differ) with the latter
//! following. Numbers have variable length, 7 bits a byte.

/// The number of states in a group.
const GROUP: usize = 8;

/// A chunk of this size takes no further group.
const CHUNK_BYTES: usize = 1 << 20;

/// Encodings by number.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The start of each group: chunk and offset.
    groups: Vec<(u32, u32)>,
    len: usize,
    /// The first encoding of the last group.
    head: Vec<u8>,
    bytes: u64,
}

impl Arena {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The memory in bytes, without the free space of chunks.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes + self.groups.len() as u64 * 8
    }

    /// Adds the encoding of the next state.
    pub(crate) fn push(&mut self, encoding: &[u8]) {
        let first = self.len.is_multiple_of(GROUP);
        if first {
            if self.chunks.last().is_none_or(|chunk| chunk.len() >= CHUNK_BYTES) {
                self.chunks.push(Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 16));
            }
            self.head.clear();
            self.head.extend_from_slice(encoding);
        }
        let chunk_index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[chunk_index];
        let before = chunk.len();
        if first {
            self.groups.push((chunk_index as u32, before as u32));
        }
        let mut record = Vec::with_capacity(encoding.len() + 12);
        if first || !write_difference(&self.head, encoding, &mut record) {
            record.clear();
            write_number(&mut record, encoding.len() as u64 * 2 + 1);
            record.extend_from_slice(encoding);
        }
        write_number(chunk, record.len() as u64);
        chunk.extend_from_slice(&record);
        self.bytes += (chunk.len() - before) as u64;
        self.len += 1;
    }

    fn records(&self, number: usize) -> (&[u8], &[u8]) {
        let (chunk, offset) = self.groups[number / GROUP];
        let mut rest = &self.chunks[chunk as usize][offset as usize..];
        let head = read_record(&mut rest);
        let mut record = head;
        for _ in 0..number % GROUP {
            record = read_record(&mut rest);
        }
        (head, record)
    }

    /// Returns whether a state has this encoding.
    pub(crate) fn equals(&self, number: usize, encoding: &[u8]) -> bool {
        let mut place = 0;
        let mut equal = true;
        self.pieces(number, |piece| {
            let end = place + piece.len();
            equal = equal && encoding.get(place..end) == Some(piece);
            place = end;
            equal
        });
        equal && place == encoding.len()
    }

    /// Appends the encoding of a state.
    pub(crate) fn read(&self, number: usize, out: &mut Vec<u8>) {
        self.pieces(number, |piece| {
            out.extend_from_slice(piece);
            true
        });
    }

    /// Passes the pieces of an encoding in order, until `want` returns false.
    fn pieces(&self, number: usize, mut want: impl FnMut(&[u8]) -> bool) {
        let (mut head, mut record) = self.records(number);
        read_number(&mut head);
        let length = read_number(&mut record);
        if length % 2 == 1 {
            want(record);
            return;
        }
        let mut place = 0;
        while !record.is_empty() {
            let equal = read_number(&mut record) as usize;
            let other = read_number(&mut record) as usize;
            let (piece, rest) = record.split_at(other);
            if !want(&head[place..place + equal]) || !want(piece) {
                return;
            }
            place += equal + other;
            record = rest;
        }
    }
}

/// Appends the differences. If they are not shorter, appends the encoding itself.
fn write_difference(head: &[u8], encoding: &[u8], out: &mut Vec<u8>) -> bool {
    write_number(out, encoding.len() as u64 * 2);
    let mut place = 0;
    while place < encoding.len() {
        let equal = encoding[place..].iter().zip(head.get(place..).unwrap_or_default());
        let equal = equal.take_while(|(a, b)| a == b).count();
        let start = place + equal;
        let mut end = start;
        // A gap of one or two equal bytes costs as much as a new pair.
        while end < encoding.len() && !starts_equal(head, encoding, end) {
            end += 1;
        }
        write_number(out, equal as u64);
        write_number(out, (end - start) as u64);
        out.extend_from_slice(&encoding[start..end]);
        place = end;
        if out.len() > encoding.len() {
            return false;
        }
    }
    true
}

fn starts_equal(head: &[u8], encoding: &[u8], place: usize) -> bool {
    let end = (place + 3).min(encoding.len());
    head.get(place..end) == Some(&encoding[place..end])
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number that [`write_number`] wrote.
fn read_number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

fn read_record<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = read_number(bytes) as usize;
    let (record, rest) = bytes.split_at(length);
    *bytes = rest;
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        // A xorshift generator: lengths and bytes that repeat with small changes, like those of
        // states.
        let mut seed = 0x1234_5678_9abc_def1u64;
        let mut random = |below: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % below
        };
        let mut current = vec![0u8; 40];
        let mut encodings = Vec::new();
        let mut arena = Arena::default();
        for _ in 0..20_000 {
            match random(10) {
                0 => current = (0..random(60)).map(|_| random(256) as u8).collect(),
                1 => current.truncate(random(current.len() as u64 + 1) as usize),
                2 => current.extend((0..random(5)).map(|byte| byte as u8)),
                _ => {
                    for _ in 0..random(4) {
                        let place = random(current.len().max(1) as u64) as usize;
                        if let Some(byte) = current.get_mut(place) {
                            *byte = random(3) as u8;
                        }
                    }
                }
            }
            arena.push(&current);
            encodings.push(current.clone());
        }
        assert_eq!(arena.len(), encodings.len());
        let (mut equal, mut unequal) = (0, 0);
        for (number, encoding) in encodings.iter().enumerate() {
            let mut read = Vec::new();
            arena.read(number, &mut read);
            assert_eq!(&read, encoding, "state {number}");
            assert!(arena.equals(number, encoding));
            let other = &encodings[(number * 7 + 1) % encodings.len()];
            assert_eq!(arena.equals(number, other), encoding == other);
            let mut longer = encoding.clone();
            longer.push(0);
            assert!(!arena.equals(number, &longer));
            assert!(encoding.is_empty() || !arena.equals(number, &encoding[..encoding.len() - 1]));
            if encoding == other {
                equal += 1;
            } else {
                unequal += 1;
            }
        }
        assert!(equal > 0 && unequal > 0, "{equal} {unequal}");
        let whole: usize = encodings.iter().map(Vec::len).sum();
        assert!(arena.bytes() < whole as u64 * 9 / 10, "{} of {whole}", arena.bytes());
    }
}
