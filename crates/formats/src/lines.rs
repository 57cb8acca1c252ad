//! Reads lines of text one by one. The memory for a line is bounded.

use memchr::memchr;
use std::io::{self, Read};
use std::ops::Range;

/// The longest line that text formats accept, in bytes, unless a format sets another bound.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 20;

/// How much of a line that is too long is skipped, to find problems in the lines after it.
const SKIPPED_BYTES_MAX: usize = 16 << 20;

/// The size of one read from the input, in bytes.
const READ_BYTES: usize = 1 << 16;

/// The next item of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// A line without its end.
    Text(&'a [u8]),
    /// The beginning of a line longer than the bound; the rest of it is skipped. If the line has no
    /// end within [`SKIPPED_BYTES_MAX`], the input counts as ended.
    TooLong(&'a [u8]),
    /// The end of the input.
    End,
}

/// Splits an input into lines. They end with LF or CRLF; the last one needs no end.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// The part of `buffer` that was read but not returned.
    pending: Range<usize>,
    number: u64,
    bytes_max: usize,
    at_end: bool,
}

impl<R: Read> Lines<R> {
    /// Starts before the first line.
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines::with_bound(input, LINE_BYTES_MAX)
    }

    /// Starts before the first line. Lines may have up to `bytes_max` bytes.
    pub(crate) fn with_bound(input: R, bytes_max: usize) -> Lines<R> {
        Lines {
            input,
            buffer: vec![0; READ_BYTES],
            pending: 0..0,
            number: 0,
            bytes_max,
            at_end: false,
        }
    }

    /// Returns the next line.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read.
    #[inline]
    pub(crate) fn next(&mut self) -> io::Result<Line<'_>> {
        if let Some(length) = memchr(b'\n', &self.buffer[self.pending.clone()])
            && length <= self.bytes_max
        {
            let start = self.pending.start;
            self.pending.start += length + 1;
            return Ok(Line::Text(self.give(start, length)));
        }
        self.next_across_reads()
    }

    /// Counts a line, and returns it without its end.
    #[inline]
    fn give(&mut self, start: usize, mut length: usize) -> &[u8] {
        if length > 0 && self.buffer[start + length - 1] == b'\r' {
            length -= 1;
        }
        self.number += 1;
        &self.buffer[start..start + length]
    }

    #[cold]
    fn next_across_reads(&mut self) -> io::Result<Line<'_>> {
        let mut searched = 0;
        loop {
            let (start, end) = (self.pending.start, self.pending.end);
            let found = memchr(b'\n', &self.buffer[start + searched..end]);
            let length = found.map(|found| searched + found);
            if length.unwrap_or(end - start) > self.bytes_max {
                return self.skip_rest();
            }
            if let Some(length) = length {
                self.pending.start += length + 1;
                return Ok(Line::Text(self.give(start, length)));
            }
            if self.at_end {
                if start == end {
                    return Ok(Line::End);
                }
                self.pending.start = end;
                return Ok(Line::Text(self.give(start, end - start)));
            }
            searched = end - start;
            self.fill()?;
        }
    }

    /// Moves the pending bytes to the front and reads more after them.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        if self.buffer.len() - self.pending.end < READ_BYTES {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.pending.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    return Ok(());
                }
                Ok(count) => {
                    self.pending.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Skips a line that is longer than the bound, keeping its beginning.
    fn skip_rest(&mut self) -> io::Result<Line<'_>> {
        const KEPT: usize = 256;
        let kept_bytes = KEPT.min(self.bytes_max).min(self.pending.len());
        let start = self.pending.start;
        let kept: Vec<u8> = self.buffer[start..start + kept_bytes].to_vec();
        let mut skipped = 0;
        loop {
            if let Some(length) = memchr(b'\n', &self.buffer[self.pending.clone()]) {
                self.pending.start += length + 1;
                break;
            }
            skipped += self.pending.len();
            self.pending = 0..0;
            self.at_end |= skipped > SKIPPED_BYTES_MAX;
            if self.at_end {
                break;
            }
            self.fill()?;
        }
        self.number += 1;
        // The kept part goes before the pending bytes. It fits: it came from there, or nothing is
        // pending.
        let pending = self.pending.clone();
        if pending.start < kept.len() {
            let moved = self.buffer[pending].to_vec();
            self.buffer.resize(self.buffer.len().max(kept.len() + moved.len()), 0);
            self.pending = kept.len()..kept.len() + moved.len();
            self.buffer[self.pending.clone()].copy_from_slice(&moved);
        }
        self.buffer[..kept.len()].copy_from_slice(&kept);
        Ok(Line::TooLong(&self.buffer[..kept.len()]))
    }

    /// Returns the number of the line returned last, from 1; 0 before the first.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns its text in pieces of a few bytes.
    struct SmallReads<'a>(&'a [u8], usize);

    impl Read for SmallReads<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn split(text: &[u8], piece: usize, bytes_max: usize) -> Vec<(bool, Vec<u8>)> {
        let mut lines = Lines::with_bound(SmallReads(text, piece), bytes_max);
        let mut out = Vec::new();
        loop {
            let (too_long, line) = match lines.next().unwrap() {
                Line::Text(line) => (false, line.to_vec()),
                Line::TooLong(line) => (true, line.to_vec()),
                Line::End => return out,
            };
            out.push((too_long, line));
            assert_eq!(lines.number(), out.len() as u64);
        }
    }

    #[test]
    fn ends_and_pieces_do_not_matter() {
        for piece in 1..12 {
            let lines = split(b"one\r\n\ntwo\nlast", piece, 100);
            let expected = [&b"one"[..], b"", b"two", b"last"];
            assert_eq!(lines, expected.map(|line| (false, line.to_vec())));
            assert!(split(b"", piece, 100).is_empty());
            assert_eq!(split(b"\n", piece, 100), [(false, vec![])]);
        }
    }

    #[test]
    fn a_long_line_is_truncated_and_reported() {
        for piece in [1, 3, 7, 1000] {
            let lines = split(b"abcdef\nghij\nklmnopqrs\nt\n", piece, 4);
            let long: Vec<bool> = lines.iter().map(|(long, _)| *long).collect();
            assert_eq!(long, [true, false, true, false], "pieces of {piece}");
            assert_eq!(lines[0].1, b"abcd");
            assert_eq!(lines[1].1, b"ghij");
            assert_eq!(lines[2].1, b"klmn");
            assert_eq!(lines[3].1, b"t");
        }
    }

    #[test]
    fn lines_longer_than_a_read_are_whole() {
        let mut text = vec![b'x'; 3 * READ_BYTES];
        text.extend_from_slice(b"\ny");
        let lines = split(&text, usize::MAX, LINE_BYTES_MAX);
        assert_eq!(lines[0].1.len(), 3 * READ_BYTES);
        assert_eq!(lines[1].1, b"y");
        let lines = split(&text, usize::MAX, READ_BYTES);
        assert!(lines[0].0);
        assert_eq!(lines[1].1, b"y");
    }
}
