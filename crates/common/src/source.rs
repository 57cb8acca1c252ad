//! Positions in a text: byte spans, lines and columns.

/// A half-open range of bytes of the source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the range from `start` to `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Returns the smallest range that holds both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The empty range just before this one.
    pub const fn before(self) -> Span {
        Span::new(self.start, self.start)
    }

    /// The empty range just behind this one.
    pub const fn after(self) -> Span {
        Span::new(self.end, self.end)
    }

    /// Returns the bytes of `text` in this range; empty if the range is not one of this text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// Prints a span as `start..end`, which keeps printed syntax trees readable.
impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Longest accepted text, in bytes. People write models by hand. The limit keeps every position in
/// 32 bits and the tree in memory.
pub const SOURCE_BYTES_MAX: usize = 16 << 20;

/// A position for readers: line and column, both from 1. The column counts characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// A text with its name and the starts of its lines.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    name: &'a str,
    text: &'a str,
    /// Byte offsets of the first byte of each line; the first is 0.
    line_starts: Vec<u32>,
}

impl<'a> Source<'a> {
    /// Indexes the lines of `text`. Linear in its length. `name` is the name of the file in
    /// messages.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        let mut line_starts = vec![0];
        for (i, byte) in text.bytes().enumerate().take(u32::MAX as usize) {
            if byte == b'\n' {
                line_starts.push(i as u32 + 1);
            }
        }
        Self { name, text, line_starts }
    }

    /// Returns the name that messages use for the file.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The line (from 1) that holds byte `offset`. Logarithmic.
    pub fn line_of(&self, offset: u32) -> u32 {
        self.line_starts.partition_point(|&start| start <= offset) as u32
    }

    /// Returns the offset of the first byte of `line` (from 1); the length of the text if there is
    /// no such line.
    pub fn line_start(&self, line: u32) -> u32 {
        let at = (line as usize).saturating_sub(1);
        self.line_starts.get(at).copied().unwrap_or(self.text.len() as u32)
    }

    /// Returns `line` (from 1) without its line end; empty if there is no such line.
    pub fn line_text(&self, line: u32) -> &'a str {
        let span = Span::new(self.line_start(line), self.line_start(line + 1));
        let text = span.of(self.text);
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text)
    }

    /// Line and column of byte `offset`. An offset behind the end counts as the end. Linear in
    /// the length of the line.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let line = self.line_of(offset);
        let before = Span::new(self.line_start(line), offset).of(self.text);
        Position { line, column: before.chars().count() as u32 + 1 }
    }
}
