//! An execution as a table: a column for each thread, time from top to bottom.

use super::blocked::Waiting;
use super::failure::{Failure, FailureKind};
use super::passing::{Passing, Reversed};
use super::rows::{Group, groups};
use super::source::{Sources, short};
use super::title::at;
use super::trace::{Line, Trace};
use crate::runtime::Position;
use anyorder_threads::{ObjectId, ThreadId};
use std::collections::BTreeSet;

/// The most characters of a cell, and of all columns of threads together. A wider execution is a
/// list.
const CELL_MAX: usize = 40;
const COLUMNS_MAX: usize = 108;

/// The most characters of a place, and of a line of a source.
const PLACE_MAX: usize = 36;
const SOURCE_MAX: usize = 48;

/// Executions with more rows are folded: of a stretch of one thread, only the first rows and the
/// last ones are shown, and of all rows, only the last ones and those that matter.
const ROWS_MAX: usize = 40;
const STRETCH_FIRST: usize = 2;
const STRETCH_LAST: usize = 3;
const TAIL: usize = 24;

/// The most rows before them that are about the failure.
const MATTERS_MAX: usize = 16;

/// The most names in a line about where things were made.
const NAMES_MAX: usize = 4;

/// The most rows of one turn of a loop.
const TURN_MAX: usize = 8;

/// One operation, or several that belong together.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Its number, from 1.
    pub(super) step: Option<usize>,
    /// The first and the last operation; none for what a thread waits to do.
    pub(super) range: Option<(usize, usize)>,
    /// `A` or `B`, the two that are reversed in another run.
    pub(super) mark: Option<char>,
    /// The column of the thread.
    pub(super) column: usize,
    pub(super) text: String,
    pub(super) position: Option<Position>,
    /// Whether it is about the failure.
    pub(super) matters: bool,
    /// How often it and those before it are repeated.
    pub(super) repeated: usize,
}

/// The rows of a failing execution, with what threads wait for at its end.
pub(super) fn failing(failure: &Failure) -> Vec<Row> {
    let (trace, kind) = (&failure.trace, &failure.kind);
    let waiting: &[Waiting] = match kind {
        FailureKind::Deadlock(waiting) | FailureKind::Livelock(waiting) => waiting,
        _ => &[],
    };
    let reversed = failure.passing.as_ref().map(|passing| passing.reversed);
    let mark = |at: usize| match reversed {
        Some((first, _)) if first == at => Some('A'),
        Some((_, Reversed::Event(second))) if second == at => Some('B'),
        _ => None,
    };
    let objects: Vec<ObjectId> = waiting
        .iter()
        .map(|waiting| waiting.object)
        .filter(|object| *object != ObjectId::NONE)
        .collect();
    let matters = |at: usize, line: &Line| {
        let accesses = match kind {
            FailureKind::Race(race) => race.first.at == Some(at) || race.second.at == Some(at),
            FailureKind::Misuse(misuse) => {
                misuse.at == Some(at) || misuse.other.is_some_and(|other| other.1 == Some(at))
            }
            _ => false,
        };
        accesses || mark(at).is_some() || objects.contains(&line.object)
    };
    let mut rows = rows(trace, mark, matters);
    for one in waiting {
        let is_b = reversed.is_some_and(|(_, second)| second == Reversed::Pending(one.thread));
        let text = match one.reads.first() {
            Some((read, _)) => format!("{}: {read}", one.words),
            // The lines above the table name the holder.
            None => one.words.split(", held by").next().unwrap_or_default().to_owned(),
        };
        rows.push(Row {
            step: None,
            range: None,
            mark: is_b.then_some('B'),
            column: trace.column(one.thread),
            text,
            position: one.position.clone(),
            matters: true,
            repeated: 0,
        });
    }
    rows
}

/// The rows of the execution that passes, from the first difference on.
pub(super) fn passing(passing: &Passing, from_start: bool) -> Vec<Row> {
    let (first, second) = passing.here;
    let mark = |at: usize| match at {
        at if Some(at) == first => Some('A'),
        at if at == second => Some('B'),
        _ => None,
    };
    let start = if from_start { 0 } else { passing.reversed.0 };
    let rows = rows(&passing.trace, mark, |at, _| mark(at).is_some());
    rows.into_iter().filter(|row| row.range.is_none_or(|range| range.1 >= start)).collect()
}

fn rows(
    trace: &Trace,
    mark: impl Fn(usize) -> Option<char>,
    matters: impl Fn(usize, &Line) -> bool,
) -> Vec<Row> {
    let row = |group: Group| {
        let (first, last) = group.range;
        let line = &trace.lines[first];
        Row {
            step: line.step,
            range: Some(group.range),
            mark: mark(first).or_else(|| mark(last)),
            column: trace.column(line.thread),
            text: group.words,
            position: line.position.clone(),
            matters: matters(first, line) || matters(last, &trace.lines[last]),
            repeated: 0,
        }
    };
    fold_turns(groups(trace).map(row).collect())
}

/// Removes what a loop does again and again.
fn fold_turns(rows: Vec<Row>) -> Vec<Row> {
    let same = |a: &Row, b: &Row| {
        (a.column, &a.text, &a.position, b.mark) == (b.column, &b.text, &b.position, None)
    };
    let repeats = |at: usize, length: usize| {
        let turn = &rows[at..at + length];
        let is_turn = |next: &&[Row]| next.iter().zip(turn).all(|(b, a)| same(a, b));
        rows[at + length..].chunks_exact(length).take_while(is_turn).count()
    };
    let (mut folded, mut at) = (Vec::new(), 0);
    while at < rows.len() {
        let lengths = 1..=TURN_MAX.min(rows.len() - at);
        let found = lengths.map(|length| (length, repeats(at, length))).find(|one| one.1 >= 2);
        let (length, count) = found.unwrap_or((1, 0));
        folded.extend_from_slice(&rows[at..at + length]);
        if let Some(last) = folded.last_mut() {
            last.repeated = count;
        }
        at += length * (count + 1);
    }
    folded
}

/// Which rows are shown: all of a short execution, the ends and what matters of a long one.
pub(super) fn shown(rows: &[Row]) -> Vec<bool> {
    let mut shown = vec![true; rows.len()];
    if rows.len() <= ROWS_MAX {
        return shown;
    }
    let mut from = 0;
    while from < rows.len() {
        let same = |row: &&Row| row.column == rows[from].column;
        let length = rows[from..].iter().take_while(same).count();
        for at in from + STRETCH_FIRST..(from + length).saturating_sub(STRETCH_LAST) {
            shown[at] = rows[at].matters;
        }
        from += length;
    }
    // Of what matters, the first and the last.
    let tail = rows.len().saturating_sub(TAIL);
    let kept = |at: &usize| *at < tail && rows[*at].matters && rows[*at].mark.is_none();
    let all: Vec<usize> = (0..rows.len()).filter(kept).collect();
    for at in
        all.get(MATTERS_MAX / 2..all.len().saturating_sub(MATTERS_MAX / 2)).unwrap_or_default()
    {
        shown[*at] = false;
    }
    let mut left = shown.iter().filter(|shown| **shown).count().saturating_sub(ROWS_MAX);
    for at in STRETCH_FIRST..tail {
        if left > 0 && shown[at] && !rows[at].matters {
            shown[at] = false;
            left -= 1;
        }
    }
    shown
}

/// Returns the names of what the shown rows are about and that have no name in the source, with
/// where they were made: one line for all that were made at one place.
pub(super) fn numbered(trace: &Trace, rows: &[Row]) -> Vec<String> {
    let shown = shown(rows);
    let texts = rows.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(row, _)| &row.text);
    let texts: Vec<&String> = texts.collect();
    let mut places: Vec<(&Position, Vec<&str>)> = Vec::new();
    for object in &trace.objects {
        let is_numbered = object.name.starts_with(&format!("{} ", object.kind));
        let is_shown = texts.iter().any(|text| names(text, &object.name));
        let Some(made) = object.made.as_ref().filter(|_| is_numbered && is_shown) else { continue };
        match places.iter_mut().find(|place| place.0 == made) {
            Some((_, all)) => all.push(&object.name),
            None => places.push((made, vec![&object.name])),
        }
    }
    let line = |(made, all): (&Position, Vec<&str>)| {
        let more = all.len().saturating_sub(NAMES_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let all = all.into_iter().take(NAMES_MAX).collect::<Vec<_>>().join(", ");
        format!("{all}{more}: made at {}", at(Some(made)))
    };
    places.into_iter().map(line).collect()
}

/// Whether a text has a name that is not the start of a longer one.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| !text[at + name.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the table as text, each line with a line feed.
pub(super) fn table(trace: &Trace, rows: &[Row], sources: &mut Sources) -> String {
    let shown = shown(rows);
    let used: BTreeSet<usize> = rows.iter().map(|row| row.column).collect();
    let names: Vec<&str> = trace.threads.iter().map(|thread| thread.name.as_str()).collect();
    let width = |column: usize| {
        let texts = rows.iter().zip(&shown).filter(|(row, shown)| **shown && row.column == column);
        let longest = texts.map(|(row, _)| chars(&row.text)).max().unwrap_or(0);
        longest.max(chars(names[column])).min(CELL_MAX)
    };
    let widths: Vec<(usize, usize)> = used.iter().map(|column| (*column, width(*column))).collect();
    let is_list = widths.iter().map(|(_, width)| width + 2).sum::<usize>() > COLUMNS_MAX;
    let widths = match is_list {
        // One column for the names and one for the operations.
        true => vec![
            (0, used.iter().map(|column| chars(names[*column])).max().unwrap_or(0)),
            (1, rows.iter().map(|row| chars(&row.text)).max().unwrap_or(0).min(COLUMNS_MAX / 2)),
        ],
        false => widths,
    };
    let numbers = rows.iter().map(|row| chars(&number(row))).max().unwrap_or(0) + 3;
    let places: Vec<(String, String)> = rows.iter().map(|row| where_is(row, sources)).collect();
    let place_width = places.iter().map(|place| chars(&place.0)).max().unwrap_or(0);
    let mut out = String::new();
    let mut push = |first: &str, cells: &[String], place: &(String, String)| {
        let mut line = format!("{first:>numbers$}");
        for (cell, (_, width)) in cells.iter().zip(&widths) {
            line += &format!("  {:<width$}", cut(cell, *width));
        }
        line += &format!("  {:<place_width$}  {}", place.0, place.1);
        out.push_str(line.trim_end());
        out.push('\n');
    };
    let none = (String::new(), String::new());
    if !is_list {
        let heads: Vec<String> =
            widths.iter().map(|(column, _)| names[*column].to_owned()).collect();
        push("", &heads, &none);
    }
    let mut left_out = 0;
    for ((row, shown), place) in rows.iter().zip(&shown).zip(&places) {
        if !shown {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            push("…", &[format!("{left_out} more")], &none);
            left_out = 0;
        }
        let cells: Vec<String> = match is_list {
            true => vec![names[row.column].to_owned(), row.text.clone()],
            false => widths
                .iter()
                .map(
                    |(column, _)| {
                        if *column == row.column { row.text.clone() } else { String::new() }
                    },
                )
                .collect(),
        };
        push(&number(row), &cells, place);
        if row.repeated > 0 {
            push("…", &[format!("the same {} more times", row.repeated)], &none);
        }
    }
    out
}

/// `A 3`.
fn number(row: &Row) -> String {
    let number = row.step.map(|step| step.to_string()).unwrap_or_default();
    match row.mark {
        Some(mark) => format!("{mark} {number}"),
        None => number,
    }
}

/// The place of a row, and the line of the source there.
fn where_is(row: &Row, sources: &mut Sources) -> (String, String) {
    let Some(position) = &row.position else { return (String::new(), String::new()) };
    let place = tail(&format!("{}:{}", short(&position.file), position.line), PLACE_MAX);
    let source = sources.line(position).map(|line| cut(line.trim(), SOURCE_MAX));
    (place, source.unwrap_or_default())
}

pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Cuts the end of a text, and makes what is no text harmless.
pub(super) fn cut(text: &str, most: usize) -> String {
    let text = anyorder_common::text::escape(text);
    match chars(&text) > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.into_owned(),
    }
}

/// Cuts the start of a text.
fn tail(text: &str, most: usize) -> String {
    let text = anyorder_common::text::escape(text);
    let skipped = (chars(&text) + 1).saturating_sub(most);
    match chars(&text) > most {
        true => std::iter::once('…').chain(text.chars().skip(skipped)).collect(),
        false => text.into_owned(),
    }
}

/// Names of threads as a list: `main, a and b`.
pub(super) fn list(trace: &Trace, threads: &[ThreadId]) -> String {
    let names: Vec<&str> = threads.iter().map(|thread| trace.thread_name(*thread)).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}
