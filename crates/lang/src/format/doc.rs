//! Layouts with alternatives, and the choice among them.
//!
//! **Source.** P. Wadler, "A prettier printer", in The Fun of Programming, 2003; in the strict form
//! with an explicit stack. A group is laid out flat if it fits on the rest of the line. Otherwise
//! all its own lines break.

use unicode_width::UnicodeWidthStr;

/// A layout.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    /// Text without line feeds.
    Text(String),
    /// Lines printed as they are. Only the first is indented.
    Verbatim(String),
    /// A space, or a line feed if its group breaks.
    Line,
    /// Nothing, or a line feed if its group breaks.
    Soft,
    /// A line feed.
    Hard,
    /// An empty line, followed by a [`Doc::Hard`].
    Blank,
    /// Text printed only if the group breaks.
    IfBroken(&'static str),
    /// One after the other.
    All(Vec<Doc>),
    /// Four columns further to the right.
    Indent(Box<Doc>),
    /// Flat or broken as a whole.
    Group(Box<Doc>),
}

const INDENT: usize = 4;

pub(super) fn text(text: impl Into<String>) -> Doc {
    Doc::Text(text.into())
}

pub(super) fn all(docs: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::All(docs.into_iter().collect())
}

pub(super) fn indent(doc: Doc) -> Doc {
    Doc::Indent(Box::new(doc))
}

pub(super) fn group(doc: Doc) -> Doc {
    Doc::Group(Box::new(doc))
}

/// Lays out `open a, b close`: on one line, or each element on its own line with a comma after
/// each.
pub(super) fn list(open: &str, elements: Vec<Doc>, close: &str) -> Doc {
    spaced_list(open, elements, close, Doc::Soft)
}

/// Works as [`list`], with spaces inside the braces: `{ a, b }`.
pub(super) fn braced_list(open: &str, elements: Vec<Doc>, close: &str) -> Doc {
    spaced_list(open, elements, close, Doc::Line)
}

fn spaced_list(open: &str, elements: Vec<Doc>, close: &str, edge: Doc) -> Doc {
    if elements.is_empty() {
        return text(format!("{open}{close}"));
    }
    let inner = [edge.clone(), separated(elements, &[text(","), Doc::Line]), Doc::IfBroken(",")];
    group(all([text(open), indent(all(inner)), edge, text(close)]))
}

/// The elements with `between` between them.
pub(super) fn separated(elements: Vec<Doc>, between: &[Doc]) -> Doc {
    let mut docs = Vec::new();
    for (at, element) in elements.into_iter().enumerate() {
        if at > 0 {
            docs.extend_from_slice(between);
        }
        docs.push(element);
    }
    Doc::All(docs)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Flat,
    Broken,
}

/// Prints a layout in lines of `width` columns. Ends in a line feed.
pub(super) fn print(doc: &Doc, width: usize) -> String {
    let mut out = Printer { text: String::new(), column: 0, pending: 0 };
    let mut stack: Vec<(usize, Mode, &Doc)> = vec![(0, Mode::Broken, doc)];
    while let Some((depth, mode, doc)) = stack.pop() {
        match doc {
            Doc::Text(text) => out.put(text),
            Doc::Verbatim(text) => out.put_lines(text),
            Doc::Line if mode == Mode::Flat => out.put(" "),
            Doc::Soft | Doc::IfBroken(_) if mode == Mode::Flat => {}
            Doc::IfBroken(text) => out.put(text),
            Doc::Line | Doc::Soft | Doc::Hard => out.line(depth),
            // What follows keeps its indentation.
            Doc::Blank => out.feed(),
            Doc::All(docs) => stack.extend(docs.iter().rev().map(|doc| (depth, mode, doc))),
            Doc::Indent(inner) => stack.push((depth + INDENT, mode, inner)),
            Doc::Group(inner) => {
                let room = width.saturating_sub(out.column.max(out.pending));
                let flat = mode == Mode::Flat || fits(inner, &stack, room);
                let mode = if flat { Mode::Flat } else { Mode::Broken };
                stack.push((depth, mode, inner));
            }
        }
    }
    out.finish()
}

/// Returns whether `doc`, laid out flat, fits into `room` columns together with the text after it
/// up to the next line feed.
fn fits(doc: &Doc, after: &[(usize, Mode, &Doc)], room: usize) -> bool {
    let mut left = room;
    let mut stack = vec![(Mode::Flat, doc)];
    let mut after = after.iter().rev();
    loop {
        let Some((mode, doc)) =
            stack.pop().or_else(|| after.next().map(|(_, mode, doc)| (*mode, *doc)))
        else {
            return true;
        };
        let width = match doc {
            Doc::Text(text) => text.width(),
            // Only the first of the verbatim lines counts.
            Doc::Verbatim(text) => {
                return mode == Mode::Broken && text.lines().next().unwrap_or("").width() <= left;
            }
            Doc::Line if mode == Mode::Flat => 1,
            Doc::Soft | Doc::IfBroken(_) if mode == Mode::Flat => 0,
            Doc::IfBroken(text) => text.width(),
            Doc::Line | Doc::Soft => return true,
            Doc::Hard | Doc::Blank => return mode == Mode::Broken,
            Doc::All(docs) => {
                stack.extend(docs.iter().rev().map(|doc| (mode, doc)));
                0
            }
            // What follows may break where it can.
            Doc::Indent(inner) | Doc::Group(inner) => {
                stack.push((mode, inner));
                0
            }
        };
        match left.checked_sub(width) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
}

struct Printer {
    text: String,
    column: usize,
    /// Columns of indentation for the next text. Empty lines get none.
    pending: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.column == 0 && text != " " {
            self.text.extend(std::iter::repeat_n(' ', self.pending));
            self.column = self.pending;
        }
        self.text.push_str(text);
        self.column += text.width();
    }

    fn put_lines(&mut self, text: &str) {
        for (at, line) in text.lines().enumerate() {
            if at == 0 {
                self.put(line);
            } else {
                self.trim_blanks();
                self.text.push('\n');
                (self.column, self.pending) = (0, 0);
                self.put(line.trim_end());
            }
        }
    }

    fn line(&mut self, depth: usize) {
        self.feed();
        self.pending = depth;
    }

    fn trim_blanks(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
    }

    /// Begins a line, but never a second empty one.
    fn feed(&mut self) {
        self.trim_blanks();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
        self.column = 0;
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text
    }
}
