//! Reads the bounded lines of one stream, and the last bytes of another.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

/// The result of reading a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// A whole line, without its end.
    Whole(Vec<u8>),
    /// More bytes than allowed without an end of line.
    TooLong,
    /// The end of the stream; an incomplete last line is dropped.
    End,
}

/// Reads the next line that is not blank, of at most `bytes_max` bytes.
///
/// # Errors
///
/// Fails when the stream does.
pub(crate) fn next_line(stream: &mut impl BufRead, bytes_max: usize) -> io::Result<Line> {
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
        stream.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if line.pop_if(|last| *last == b'\n').is_none() {
            return Ok(if line.len() > bytes_max { Line::TooLong } else { Line::End });
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Line::Whole(line));
        }
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: VecDeque<u8>,
    bytes_max: usize,
}

impl Tail {
    pub(crate) fn new(bytes_max: usize) -> Tail {
        Tail { bytes: VecDeque::new(), bytes_max }
    }

    /// Appends bytes, and drops the oldest ones beyond the limit.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.bytes_max)..];
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(self.bytes_max);
        self.bytes.drain(..excess);
        self.bytes.extend(bytes);
    }

    /// Returns the kept bytes as text in one line, lines joined by ` | `.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" | ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_limit() {
        let mut stream: &[u8] = b"abc\n\n \r\nabcd\nabcde";
        assert_eq!(next_line(&mut stream, 4).unwrap(), Line::Whole(b"abc".to_vec()));
        assert_eq!(next_line(&mut stream, 4).unwrap(), Line::Whole(b"abcd".to_vec()));
        assert_eq!(next_line(&mut stream, 4).unwrap(), Line::TooLong);
        let mut stream: &[u8] = b"abcd";
        assert_eq!(next_line(&mut stream, 4).unwrap(), Line::End);
    }

    #[test]
    fn the_tail_is_the_end() {
        let mut tail = Tail::new(5);
        tail.push(b"0123456789");
        assert_eq!(tail.text(), "56789");
        tail.push(b"a\nb");
        assert_eq!(tail.text(), "89a | b");
        tail.push(b"");
        tail.push(b"\xff\xff");
        assert_eq!(tail.bytes.len(), 5);
    }
}
