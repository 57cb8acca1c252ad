//! Lines of the source around a position, with a mark at the position.

use anyorder_common::text::escape;
use anyorder_finding::{Site, SourceLines};

/// The columns of a tab.
const TAB: usize = 4;

/// The remark on a source file that is newer than the program.
pub(crate) const NEWER: &str =
    "the file is newer than the program: the lines may be other ones than those that ran";

/// Returns the lines around a position with their numbers, each with a line feed. The line itself
/// has a `>`, and a `^` below its column. Longer lines are cut at `width`.
///
/// ```text
///        9 | pthread_mutex_lock(&m);
///   >   10 | p[0]++;
///          | ^
/// ```
pub(crate) fn lines(site: &Site, indent: usize, width: usize) -> Vec<String> {
    let Some(source) = &site.source else { return Vec::new() };
    let mut rows = Vec::new();
    let gutter = indent + 9;
    let room = width.saturating_sub(gutter + 2).max(20);
    for (number, line) in source.numbered() {
        let is_it = site.line == Some(number);
        let mark = if is_it { '>' } else { ' ' };
        let shown = expanded(line);
        let row = format!("{:indent$}{mark} {number:>6} | {}", "", cut(&shown, room));
        rows.push(row.trim_end().to_owned());
        let column = site.column.filter(|_| is_it).and_then(|column| column_in(line, column));
        if let Some(column) = column.filter(|column| *column < room) {
            rows.push(format!("{:gutter$}| {:column$}^", "", ""));
        }
    }
    rows
}

/// Returns the line that the position is in.
pub(crate) fn line(site: &Site) -> Option<String> {
    let mut lines = site.source.as_ref()?.numbered();
    lines.find(|(number, _)| site.line == Some(*number)).map(|(_, line)| expanded(line))
}

/// Returns the number of the last line, and all lines as one text.
pub(crate) fn whole(source: &SourceLines) -> (u32, String) {
    let last = source.numbered().last().map_or(source.first, |(number, _)| number);
    let lines: Vec<String> = source.lines.iter().map(|line| expanded(line)).collect();
    (last, lines.join("\n"))
}

/// Returns a line with spaces in the place of tabs, and hostile characters made visible.
fn expanded(line: &str) -> String {
    escape(&line.replace('\t', &" ".repeat(TAB))).into_owned()
}

/// Returns how far a column of the compiler, which counts bytes from 1, is from the start of the
/// shown line.
fn column_in(line: &str, column: u32) -> Option<usize> {
    let before = line.get(..(column as usize).checked_sub(1)?)?;
    Some(expanded(before).chars().count())
}

fn cut(line: &str, room: usize) -> String {
    match line.chars().count() > room {
        true => line.chars().take(room - 1).chain(['…']).collect(),
        false => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(line: u32, column: u32, lines: &[&str]) -> Site {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        let source = Some(SourceLines { first: 9, lines, newer: false });
        Site { line: Some(line), column: Some(column), source, ..Site::default() }
    }

    #[test]
    fn the_mark_stands_below_the_column() {
        let shown = lines(&site(10, 3, &["a", "\t(x)", ""]), 2, 80);
        let expected =
            ["         9 | a", "  >     10 |     (x)", "           |      ^", "        11 |"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn odd_columns_and_hostile_lines_do_no_harm() {
        // In the middle of a letter, past the end, and none at all.
        for column in [2, 99, 0] {
            assert_eq!(lines(&site(9, column, &["äb"]), 0, 80), [">      9 | äb"]);
        }
        let shown = lines(&site(9, 2, &["\u{1b}[2J\u{202e}x"]), 0, 80);
        assert_eq!(shown, [">      9 | \\u{1b}[2J\\u{202e}x", "         |       ^"]);
        let shown = lines(&site(9, 1, &[&"x".repeat(200)]), 0, 60);
        assert_eq!(shown[0].chars().count(), 60);
        assert!(shown[0].ends_with('…'));
    }
}
