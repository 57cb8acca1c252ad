//! A run as a picture: a column for each thread, time from top to bottom, and an arrow to each
//! operation from the one of another thread that left what it found.

use super::source::{Sources, short};
use super::table::{Row, chars, cut, shown};
use super::trace::Trace;
use anyorder_common::text::escape_xml as escape;
use anyorder_threads::Act;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The width of a character, the height of a row, and the space between columns, in pixels.
const CHAR: usize = 8;
const ROW: usize = 26;
const GAP: usize = 34;

/// The most characters of a box, a place and a line of a source.
const BOX_MAX: usize = 40;
const PLACE_MAX: usize = 30;
const SOURCE_MAX: usize = 60;

/// Executions with more rows are folded.
const ROWS_MAX: usize = 300;

/// Where columns begin.
struct Columns {
    /// By thread: the left edge and the width.
    lanes: BTreeMap<usize, (usize, usize)>,
    places: usize,
    sources: usize,
    width: usize,
}

/// Returns the picture of some rows.
pub(super) fn picture(trace: &Trace, rows: &[Row], sources: &mut Sources) -> String {
    let visible = if rows.len() <= ROWS_MAX { vec![true; rows.len()] } else { shown(rows) };
    let texts: Vec<(String, String)> = rows.iter().map(|row| place(row, sources)).collect();
    let columns = columns(trace, rows, &texts);
    let mut boxes = String::new();
    // By operation: the row's height and the column.
    let mut at: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let (mut y, mut left_out) = (ROW + 12, 0);
    for ((row, is_visible), texts) in rows.iter().zip(&visible).zip(&texts) {
        if !is_visible {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            note(&mut boxes, y, &format!("… {left_out} more"));
            (y, left_out) = (y + ROW, 0);
        }
        if let Some((first, last)) = row.range {
            at.insert(first, (y, row.column));
            at.insert(last, (y, row.column));
        }
        draw(&mut boxes, trace, row, y, &columns, texts);
        y += ROW;
        if row.repeated > 0 {
            note(&mut boxes, y, &format!("… the same {} more times", row.repeated));
            y += ROW;
        }
    }
    let mut out = String::new();
    let (width, height) = (columns.width, y + 6);
    let _ = write!(
        out,
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"operations by thread\">"
    );
    for (lane, (x, wide)) in &columns.lanes {
        let (middle, name) = (x + wide / 2, escape(&cut(&trace.threads[*lane].name, BOX_MAX)));
        let _ = write!(
            out,
            "<line class=\"life\" x1=\"{middle}\" x2=\"{middle}\" y1=\"{ROW}\" y2=\"{height}\"/>\
             <text class=\"head\" x=\"{middle}\" y=\"18\" text-anchor=\"middle\">{name}</text>"
        );
    }
    out.push_str(&boxes);
    arrows(&mut out, trace, &at, &columns);
    out.push_str("</svg>");
    out
}

fn place(row: &Row, sources: &mut Sources) -> (String, String) {
    let Some(position) = &row.position else { return (String::new(), String::new()) };
    let file = short(&position.file);
    let name = file.rsplit('/').next().unwrap_or(file);
    let source = sources.line(position).map(|line| cut(line.trim(), SOURCE_MAX));
    (cut(&format!("{name}:{}", position.line), PLACE_MAX), source.unwrap_or_default())
}

fn columns(trace: &Trace, rows: &[Row], texts: &[(String, String)]) -> Columns {
    let mut x = 5 * CHAR;
    let mut lanes = BTreeMap::new();
    for lane in 0..trace.threads.len() {
        let own = rows.iter().filter(|row| row.column == lane).map(|row| chars(&row.text));
        let Some(longest) = own.max() else { continue };
        let wide = longest.max(chars(&trace.threads[lane].name)).min(BOX_MAX) * CHAR + 12;
        lanes.insert(lane, (x, wide));
        x += wide + GAP;
    }
    let longest = |of: fn(&(String, String)) -> &String| {
        texts.iter().map(|texts| chars(of(texts))).max().unwrap_or(0)
    };
    let places = x;
    let sources = places + (longest(|texts| &texts.0) + 2) * CHAR;
    let width = sources + (longest(|texts| &texts.1) + 1) * CHAR;
    Columns { lanes, places, sources, width }
}

fn note(out: &mut String, y: usize, text: &str) {
    let _ =
        write!(out, "<text class=\"note\" x=\"{CHAR}\" y=\"{}\">{}</text>", y + 17, escape(text));
}

fn draw(
    out: &mut String,
    trace: &Trace,
    row: &Row,
    y: usize,
    columns: &Columns,
    (place, source): &(String, String),
) {
    let (x, wide) = columns.lanes.get(&row.column).copied().unwrap_or_default();
    let fails = row.range.is_some_and(|range| matches!(trace.lines[range.0].act, Act::Fail(_)));
    let tone = match (row.mark, row.range) {
        (Some('A'), _) => "a",
        (Some(_), _) => "b",
        (None, None) => "waits",
        (None, Some(_)) if fails => "fails",
        _ => "",
    };
    let waits = if row.range.is_none() { " waits" } else { "" };
    let (base, number) = (y + 17, row.step.map(|step| step.to_string()).unwrap_or_default());
    if let Some(mark) = row.mark {
        let _ = write!(out, "<text class=\"{tone}\" x=\"4\" y=\"{base}\">{mark}</text>");
    }
    let _ = write!(
        out,
        "<text class=\"number\" x=\"{}\" y=\"{base}\" text-anchor=\"end\">{number}</text>\
         <g><title>{}</title><rect class=\"box {tone}{waits}\" x=\"{x}\" y=\"{}\" width=\"{wide}\" \
         height=\"{}\" rx=\"4\"/><text class=\"{tone}\" x=\"{}\" y=\"{base}\">{}</text></g>\
         <text class=\"place\" x=\"{}\" y=\"{base}\">{}</text>\
         <text class=\"source\" x=\"{}\" y=\"{base}\">{}</text>",
        4 * CHAR,
        escape(&row.text),
        y + 2,
        ROW - 5,
        x + 6,
        escape(&cut(&row.text, BOX_MAX)),
        columns.places,
        escape(place),
        columns.sources,
        escape(source)
    );
}

/// From each operation of another thread that left what one found.
fn arrows(
    out: &mut String,
    trace: &Trace,
    at: &BTreeMap<usize, (usize, usize)>,
    columns: &Columns,
) {
    for (to, (to_y, to_lane)) in at {
        let Some(from) = trace.lines[*to].reads_from else { continue };
        let Some((from_y, from_lane)) = at.get(&from) else { continue };
        if from_lane == to_lane {
            continue;
        }
        let edge = |lane: &usize, right: bool| {
            let (x, wide) = columns.lanes.get(lane).copied().unwrap_or_default();
            if right { x + wide } else { x }
        };
        let rightwards = from_lane < to_lane;
        let (x1, x2) = (edge(from_lane, rightwards), edge(to_lane, !rightwards));
        let (y1, y2) = (from_y + ROW / 2, to_y + ROW / 2);
        let (bend, tip) = if rightwards { (x1 + GAP / 2, x2 - 7) } else { (x1 - GAP / 2, x2 + 7) };
        let _ = write!(
            out,
            "<path class=\"arrow\" d=\"M{x1} {y1} C{bend} {y1} {} {y2} {tip} {y2}\"/>\
             <path class=\"point\" d=\"M{x2} {y2} L{tip} {} L{tip} {} Z\"/>",
            if rightwards { tip.saturating_sub(GAP / 2) } else { tip + GAP / 2 },
            y2 - 4,
            y2 + 4
        );
    }
}
