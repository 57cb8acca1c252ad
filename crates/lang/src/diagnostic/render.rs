//! Diagnostics as text for a terminal, in the manner of current compilers:
//!
//! ```text
//! error[E020]: unknown name `cuont`
//!   --> queue.any:7:13
//!    |
//!  7 |     let x = cuont + 1;
//!    |             ^^^^^ not found in this scope
//!    |
//! help: a global with a similar name exists: `count`
//! ```
//!
//! A tab becomes four spaces. The underline covers both columns of characters of double width.
//! Control characters of the source become `\u{..}`, so that a file cannot control the terminal.

use super::{Diagnostic, Label, Severity, Suggestion};
use crate::source::{Source, Span};
use anyorder_common::text::{escape, is_hostile};
use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// Longest line shown in full, in columns. A longer line is cut to the part around the first label.
const LINE_COLUMNS_MAX: usize = 200;

/// Returns one diagnostic as text, ending in a line feed. `colour`: with ANSI colours.
pub fn render(source: &Source<'_>, diagnostic: &Diagnostic, colour: bool) -> String {
    let paint = Paint { colour, severity: diagnostic.severity() };
    let mut out = String::new();
    let word = if diagnostic.is_error() { "error" } else { "warning" };
    let head = paint.main(&format!("{word}[{}]", diagnostic.code.as_str()));
    let _ = writeln!(out, "{head}: {}", paint.bold(&escape(&diagnostic.message)));
    let lines = marked_lines(source, diagnostic);
    let last = lines.last().map_or(1, |(line, _)| *line);
    let gutter = last.to_string().len().max(2);
    let place = source.position(diagnostic.primary.span.start);
    let arrow = paint.frame("-->");
    let name = escape(source.name());
    let _ = writeln!(out, "{:gutter$}{arrow} {name}:{}:{}", "", place.line, place.column);
    let bar = paint.frame("|");
    let _ = writeln!(out, "{:gutter$} {bar}", "");
    let mut before: Option<u32> = None;
    for (line, marks) in &lines {
        if before.is_some_and(|before| before + 1 < *line) {
            let _ = writeln!(out, "{}", paint.frame("..."));
        }
        before = Some(*line);
        line_with_marks(&mut out, source, &paint, gutter, *line, marks);
    }
    let notes = diagnostic.notes.iter().map(|note| format!("note: {}", escape(note)));
    let helps = diagnostic.suggestions.iter().map(|s| format!("help: {}", suggestion_text(s)));
    let tail: Vec<String> = notes.chain(helps).collect();
    if !tail.is_empty() {
        let _ = writeln!(out, "{:gutter$} {bar}", "");
    }
    for line in tail {
        let _ = writeln!(out, "{:gutter$} {} {line}", "", paint.frame("="));
    }
    out
}

fn suggestion_text(suggestion: &Suggestion) -> String {
    let message = escape(&suggestion.message);
    let text = escape(suggestion.replacement.trim());
    if text.is_empty() { message.into_owned() } else { format!("{message}: `{text}`") }
}

/// An underline of one line, in columns of the terminal.
struct Mark<'a> {
    start: usize,
    end: usize,
    primary: bool,
    text: &'a str,
}

/// Returns the lines that carry labels, each with its underlines from left to right.
fn marked_lines<'a>(source: &Source<'_>, diagnostic: &'a Diagnostic) -> Vec<(u32, Vec<Mark<'a>>)> {
    let labels = std::iter::once((&diagnostic.primary, true))
        .chain(diagnostic.secondary.iter().map(|label| (label, false)));
    let mut lines: Vec<(u32, Vec<Mark<'a>>)> = Vec::new();
    for (label, primary) in labels {
        let (line, mark) = mark(source, label, primary);
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, marks)) => marks.push(mark),
            None => lines.push((line, vec![mark])),
        }
    }
    lines.sort_by_key(|(line, _)| *line);
    for (_, marks) in &mut lines {
        marks.sort_by_key(|mark| (mark.start, !mark.primary));
    }
    lines
}

/// Returns the underline of a label on its first line.
fn mark<'a>(source: &Source<'_>, label: &'a Label, primary: bool) -> (u32, Mark<'a>) {
    let end_of_text = source.text().len() as u32;
    let start = label.span.start.min(end_of_text);
    let line = source.line_of(start);
    let line_start = source.line_start(line);
    let line_end = line_start + source.line_text(line).len() as u32;
    let end = label.span.end.clamp(start, line_end.max(start));
    let columns = |from: u32, to: u32| {
        let text = Span::new(from, to).of(source.text());
        text.chars().map(width_of).sum::<usize>()
    };
    let first = columns(line_start, start.min(line_end));
    let width = columns(start, end).max(1);
    (line, Mark { start: first, end: first + width, primary, text: &label.text })
}

fn line_with_marks(
    out: &mut String,
    source: &Source<'_>,
    paint: &Paint,
    gutter: usize,
    line: u32,
    marks: &[Mark<'_>],
) {
    let text = source.line_text(line);
    let columns: usize = text.chars().map(width_of).sum();
    let first = marks.iter().map(|mark| mark.start).min().unwrap_or(0);
    // Drop the part of a long line that is far left of the first label.
    let cut = if columns > LINE_COLUMNS_MAX { first.saturating_sub(40) } else { 0 };
    let number = paint.frame(&format!("{line:>gutter$}"));
    let bar = paint.frame("|");
    let _ = writeln!(out, "{number} {bar} {}", window(text, cut).trim_end());
    for row in label_rows(marks, cut) {
        let _ = write!(out, "{:gutter$} {bar} ", "");
        for (primary, piece) in row {
            out.push_str(&if primary { paint.main(&piece) } else { paint.frame(&piece) });
        }
        out.push('\n');
    }
}

/// Returns the columns of a text from `cut` on as shown, at most [`LINE_COLUMNS_MAX`] of them.
fn window(text: &str, cut: usize) -> String {
    let mut column = 0;
    let mut out = String::new();
    for c in text.chars() {
        let width = width_of(c);
        if column + width > cut {
            let mut at = column;
            for c in shown(c).chars() {
                let width = c.width().unwrap_or(0);
                if at >= cut && at + width <= cut + LINE_COLUMNS_MAX {
                    out.push(c);
                }
                at += width;
            }
        }
        column += width;
        if column > cut + LINE_COLUMNS_MAX {
            break;
        }
    }
    out
}

/// Pieces of a row; `true` for pieces of the main label.
type Row = Vec<(bool, String)>;

/// The rows below a line. The first has the underlines, with the text of the last one behind it.
/// The other texts follow on rows of their own, below the start of their underlines.
fn label_rows(marks: &[Mark<'_>], cut: usize) -> Vec<Row> {
    let width = marks.iter().map(|mark| mark.end - cut.min(mark.end)).max().unwrap_or(0);
    let width = width.min(LINE_COLUMNS_MAX + 1);
    let mut cells: Vec<(bool, char)> = vec![(false, ' '); width];
    // The main underline wins where two overlap.
    for mark in marks.iter().filter(|m| !m.primary).chain(marks.iter().filter(|m| m.primary)) {
        let sign = if mark.primary { '^' } else { '-' };
        for cell in cells.iter_mut().take(mark.end - cut).skip(mark.start - cut) {
            *cell = (mark.primary, sign);
        }
    }
    let mut first = row_of(&cells);
    let mut waiting: Vec<&Mark<'_>> = marks.iter().filter(|mark| !mark.text.is_empty()).collect();
    let beside = waiting.last().filter(|last| marks.iter().all(|mark| mark.end <= last.end));
    if let Some(mark) = beside.copied() {
        first.push((mark.primary, format!(" {}", escape(mark.text))));
        waiting.pop();
    }
    let mut rows = vec![first];
    if !waiting.is_empty() {
        rows.push(hanging(&waiting, cut, None));
    }
    while let Some(mark) = waiting.pop() {
        rows.push(hanging(&waiting, cut, Some(mark)));
    }
    rows
}

/// Returns a row of `|` below the labels whose texts follow later, and the text of `last`.
fn hanging(waiting: &[&Mark<'_>], cut: usize, last: Option<&Mark<'_>>) -> Row {
    let width = waiting.iter().chain(last.as_ref()).map(|mark| mark.start - cut + 1).max();
    let mut cells = vec![(false, ' '); width.unwrap_or(0)];
    for mark in waiting {
        cells[mark.start - cut] = (mark.primary, '|');
    }
    let Some(last) = last else { return row_of(&cells) };
    cells.truncate(last.start - cut);
    let mut row = row_of(&cells);
    row.push((last.primary, escape(last.text).into_owned()));
    row
}

fn row_of(cells: &[(bool, char)]) -> Row {
    let mut row: Row = Vec::new();
    for &(primary, sign) in cells {
        match row.last_mut() {
            Some((kind, piece)) if *kind == primary => piece.push(sign),
            _ => row.push((primary, sign.to_string())),
        }
    }
    row
}

/// Returns a character as shown.
fn shown(c: char) -> Cow<'static, str> {
    match c {
        '\t' => Cow::Borrowed("    "),
        c if is_hostile(c) => Cow::Owned(c.escape_unicode().collect()),
        c => Cow::Owned(c.to_string()),
    }
}

/// Returns the width of a character as shown, in columns. Lines can have millions of characters, so
/// this allocates nothing.
fn width_of(c: char) -> usize {
    match c {
        ' '..='~' => 1,
        '\t' => 4,
        c if is_hostile(c) => c.escape_unicode().count(),
        c => c.width().unwrap_or(0),
    }
}

struct Paint {
    colour: bool,
    severity: Severity,
}

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.colour && !text.trim().is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_string()
        }
    }

    /// Colours text red for errors and yellow for warnings.
    fn main(&self, text: &str) -> String {
        self.with(if self.severity == Severity::Error { "1;31" } else { "1;33" }, text)
    }

    fn bold(&self, text: &str) -> String {
        self.with("1", text)
    }

    /// Colours line numbers, bars and secondary labels.
    fn frame(&self, text: &str) -> String {
        self.with("1;34", text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Code;
    use super::*;

    fn text_of(text: &str, diagnostic: &Diagnostic) -> String {
        render(&Source::new("a.any", text), diagnostic, false)
    }

    #[test]
    fn wide_characters_and_tabs_are_underlined_exactly() {
        let text = "x\n\tlet 名 = \"字\u{301}\" + y;\n";
        let at = text.find("y;").expect("there") as u32;
        let d = Diagnostic::new(Code::UNKNOWN_NAME, Span::new(at, at + 1), "unknown").label("here");
        let want = "error[E020]: unknown\n  --> a.any:2:17\n   |\n 2 |     let 名 = \"字\u{301}\" + y;\n   |                     ^ here\n";
        assert_eq!(text_of(text, &d), want);
    }

    #[test]
    fn several_labels_on_one_line_hang_below_each_other() {
        let d = Diagnostic::new(Code::CHAIN, Span::new(6, 7), "twice")
            .label("second")
            .also(Span::new(2, 3), "first")
            .also(Span::new(10, 11), "third")
            .note("n");
        let want = "error[E011]: twice\n  --> a.any:1:7\n   |\n 1 | a < b < c < d\n   |   -   ^   - third\n   |   |   |\n   |   |   second\n   |   first\n   |\n   = note: n\n";
        assert_eq!(text_of("a < b < c < d", &d), want);
    }

    #[test]
    fn a_place_behind_the_end_and_control_characters_do_no_harm() {
        let d = Diagnostic::new(Code::EXPECTED, Span::new(900, 950), "a \u{1b}[2J b");
        let out = text_of("\u{1b}[31m evil\u{202e}", &d);
        assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out}");
        assert!(text_of("", &d).contains("a.any:1:1"));
    }

    #[test]
    fn invisible_characters_are_shown_and_underlined() {
        let text = "let a\u{200b}b = \"\u{e0041}\" + y;\n";
        let at = text.find("y;").expect("there") as u32;
        let d = Diagnostic::new(
            Code::UNKNOWN_NAME,
            Span::new(at, at + 1),
            "unknown `a\u{200b}b\u{e0041}`",
        )
        .label("here")
        .also(Span::new(4, 9), "\u{200b}");
        let want = "error[E020]: unknown `a\\u{200b}b\\u{e0041}`\n  --> a.any:1:17\n   |\n 1 | let a\\u{200b}b = \"\\u{e0041}\" + y;\n   |     ----------                 ^ here\n   |     |\n   |     \\u{200b}\n";
        assert_eq!(text_of(text, &d), want);
    }

    #[test]
    fn long_lines_are_cut_around_the_label() {
        let text = format!("{}bad{}", "x ".repeat(4000), " y".repeat(4000));
        let d = Diagnostic::new(Code::EXPECTED, Span::new(8000, 8003), "m").label("here");
        let out = text_of(&text, &d);
        assert!(out.len() < 1000 && out.contains("bad") && out.contains("^^^ here"), "{out}");
    }

    #[test]
    fn colours_are_added_around_the_same_text() {
        let d = Diagnostic::new(Code::CHAIN, Span::new(0, 1), "m")
            .label("l")
            .also(Span::new(2, 3), "k");
        let coloured = render(&Source::new("a.any", "a b"), &d, true);
        assert!(coloured.contains("\u{1b}[1;31m"));
        let mut plain = String::new();
        let mut inside = false;
        for c in coloured.chars() {
            match c {
                '\u{1b}' => inside = true,
                'm' if inside => inside = false,
                c if !inside => plain.push(c),
                _ => {}
            }
        }
        assert_eq!(plain, text_of("a b", &d));
    }
}
