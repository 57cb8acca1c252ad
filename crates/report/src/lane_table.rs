//! A run as a table for a terminal, with a column for each thread and time from top to bottom.

use crate::escape::clipped;
use crate::run_table::sign;
use crate::wrap::wrap;
use anyorder_common::numbers::plural;
use anyorder_common::text::escape;
use anyorder_finding::run::{Run, RunStep};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The least width of a thread's column. If the terminal is too narrow for it, there is no table.
const COLUMN_MIN: usize = 12;

/// The most characters of a column, of a step's name, and of a source position.
const COLUMN_MAX: usize = 34;
const NUMBER_MAX: usize = 14;
const PLACE_MAX: usize = 40;

/// The least width for source positions, and the width for which lanes become narrower.
const PLACE_MIN: usize = 12;
const PLACE_WANTED: usize = 20;

/// With this many lanes, a run without places gets no table.
const LANES_MANY: usize = 4;

/// The separator of columns.
const SPACE: usize = 2;

/// The most rows: the last ones, and before them the last that are significant.
const LAST_MAX: usize = 14;
const EARLIER_MAX: usize = 6;

/// Returns the rows of a run, each line with a line feed; `None` if `width` is too small for the
/// threads.
pub(crate) fn table(run: &Run, indent: usize, width: usize) -> Option<String> {
    let lanes = run.lanes();
    let shape = Shape::new(run, &lanes, indent, width)?;
    let mut out = String::new();
    shape.row(&mut out, "event", &lanes, "at");
    if run.first > 0 {
        shape.note(&mut out, &as_recorded(run.first));
    }
    let (shown, mut left_out) = (shown(run), 0);
    for (number, step) in (1..).zip(&run.steps) {
        left_out += step.left_out;
        if !shown.contains(&(number - 1)) {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            shape.note(&mut out, &format!("{left_out} more"));
        }
        left_out = 0;
        let cells: Vec<&str> = lanes
            .iter()
            .map(|lane| if *lane == step.lane { step.what.as_str() } else { "" })
            .collect();
        let place = step.place.as_deref().unwrap_or("");
        shape.row(&mut out, &name(number, step), &cells, place);
    }
    if !run.end.is_empty() {
        let end = wrap(&clipped(&run.end, 4_000), width, indent + 3, indent + 3);
        let _ = writeln!(out, "{:indent$}=> {end}", "");
    }
    Some(out)
}

/// States how many recorded events precede a run.
pub(crate) fn as_recorded(events: usize) -> String {
    match events {
        1 => "the first event as recorded".to_owned(),
        _ => format!("the first {} as recorded", plural(events as u64, "event")),
    }
}

/// Returns the places of the steps that get a row: the last ones, the marked ones, and before them
/// the last significant ones, which do not follow directly on the previous step.
fn shown(run: &Run) -> BTreeSet<usize> {
    let tail = run.steps.len().saturating_sub(LAST_MAX);
    let mut places: BTreeSet<usize> = (tail..run.steps.len()).collect();
    places.extend((0..tail).filter(|place| run.steps[*place].mark.is_some()));
    let kept = (0..tail).rev().filter(|place| run.steps[*place].left_out > 0);
    places.extend(kept.take(EARLIER_MAX));
    places
}

/// Returns the name of a step, with the sign of the two marked ones.
fn name(number: usize, step: &RunStep) -> String {
    let number = step.number.clone().unwrap_or_else(|| number.to_string());
    match step.mark {
        Some(mark) => format!("{} {number}", sign(mark)),
        None => number,
    }
}

/// The widths of the columns.
struct Shape {
    indent: usize,
    number: usize,
    lanes: Vec<usize>,
    place: usize,
}

impl Shape {
    fn new(run: &Run, lanes: &[&str], indent: usize, width: usize) -> Option<Shape> {
        // Even empty columns have a space; this bounds the work for runs of many lanes.
        if lanes.len() * SPACE > width {
            return None;
        }
        let longest = |texts: &mut dyn Iterator<Item = usize>, head: usize, most: usize| {
            texts.max().unwrap_or(0).clamp(head, most.max(head))
        };
        let numbers = &mut (1..).zip(&run.steps).map(|(n, step)| name(n, step).chars().count());
        let number = longest(numbers, "event".len(), NUMBER_MAX);
        let wanted: Vec<usize> = lanes
            .iter()
            .map(|lane| {
                let of_lane = run.steps.iter().filter(|step| step.lane == *lane);
                let texts = &mut of_lane.map(|step| escape(&step.what).chars().count());
                longest(texts, escape(lane).chars().count().min(COLUMN_MAX), COLUMN_MAX)
            })
            .collect();
        let room = width.saturating_sub(indent + number);
        let least: usize = wanted.iter().map(|want| (*want).min(COLUMN_MIN) + SPACE).sum();
        let places = &mut run
            .steps
            .iter()
            .filter_map(|step| Some(escape(step.place.as_ref()?).chars().count()));
        let longest_place = longest(places, "at".len(), PLACE_MAX);
        let has_places = run.steps.iter().any(|step| step.place.is_some());
        if lanes.is_empty() || least > room {
            return None;
        }
        // Places have a column, for which lanes become narrower. If many lanes leave no room, rows
        // show the places.
        let has_room = room - least >= longest_place.min(PLACE_MIN) + SPACE;
        if has_places && !has_room && lanes.len() >= LANES_MANY {
            return None;
        }
        let has_places = has_places && has_room;
        let all: usize = wanted.iter().map(|want| want + SPACE).sum();
        let of_places = if has_places { longest_place.min(PLACE_WANTED) + SPACE } else { 0 };
        let of_lanes = all.min(room - of_places.min(room - least));
        let lanes = if all <= of_lanes { wanted } else { shrunk(wanted, of_lanes) };
        let left = room - lanes.iter().map(|width| width + SPACE).sum::<usize>();
        let place = if has_places { longest_place.min(left.saturating_sub(SPACE)) } else { 0 };
        Some(Shape { indent, number, lanes, place })
    }

    fn row(&self, out: &mut String, number: &str, cells: &[&str], place: &str) {
        let mut line = format!("{:indent$}", "", indent = self.indent);
        let _ = write!(line, "{:>width$}", clipped(number, self.number), width = self.number);
        for (cell, width) in cells.iter().zip(&self.lanes) {
            let _ = write!(line, "{:SPACE$}{:<width$}", "", elided(cell, *width));
        }
        if self.place > 0 {
            let _ = write!(line, "{:SPACE$}{}", "", tail(place, self.place));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }

    fn note(&self, out: &mut String, text: &str) {
        let indent = self.indent;
        let _ = writeln!(out, "{:indent$}{:>width$}  {text}", "", "…", width = self.number);
    }
}

/// Narrows the widest columns until all fit.
fn shrunk(mut lanes: Vec<usize>, room: usize) -> Vec<usize> {
    while lanes.iter().map(|width| width + SPACE).sum::<usize>() > room {
        let Some(widest) = lanes.iter_mut().max() else { break };
        if *widest == 0 {
            break;
        }
        *widest -= 1;
    }
    lanes
}

/// Shortens the effect of a step after its first word: the end of an address is more informative
/// than its start.
pub(crate) fn elided(text: &str, most: usize) -> String {
    let visible = clipped(text, 4_000);
    match visible.split_once(' ') {
        Some((verb, rest)) if visible.chars().count() > most && most > verb.chars().count() + 4 => {
            format!("{verb} {}", tail(rest, most - verb.chars().count() - 1))
        }
        _ => clipped(text, most).into_owned(),
    }
}

/// Shortens a source position at its start: file name and line are more informative than the
/// folder.
fn tail(text: &str, most: usize) -> String {
    let visible = clipped(text, 4_000);
    let count = visible.chars().count();
    if count <= most {
        return visible.into_owned();
    }
    let kept: String = visible.chars().skip(count + 1 - most).collect();
    format!("…{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::Mark;

    fn run() -> Run {
        let step = |lane: &str, what: &str, number: &str| RunStep {
            lane: lane.to_owned(),
            what: what.to_owned(),
            number: Some(number.to_owned()),
            place: Some("src/a/very/long/path/of/a/project/main.c:12".to_owned()),
            ..RunStep::default()
        };
        let steps = vec![
            step("main", "fork worker", "1"),
            RunStep { left_out: 7, ..step("main", "acquire m", "9") },
            RunStep { mark: Some(Mark::Second), ..step("worker", "free 0x10+8", "12") },
            RunStep { mark: Some(Mark::First), ..step("main", "read \u{1b}[2J", "11") },
        ];
        let end = "the free comes first".to_owned();
        Run { steps, end, first: 3, by_lane: true, ..Run::default() }
    }

    #[test]
    fn each_thread_has_a_column() {
        let text = table(&run(), 2, 72).expect("there is room");
        let expected = "  event  main            worker       at
      …  the first 3 events as recorded
      1  fork worker                  …g/path/of/a/project/main.c:12
      …  7 more
      9  acquire m                    …g/path/of/a/project/main.c:12
   B 12                  free 0x10+8  …g/path/of/a/project/main.c:12
   A 11  read \\u{1b}[2J               …g/path/of/a/project/main.c:12
  => the free comes first
";
        let cut = |text: &str| {
            text.lines()
                .map(|line| line.split('…').next().unwrap_or("").to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(cut(&text), cut(expected), "{text}");
        assert!(text.contains("7 more") && text.contains("main.c:12"), "{text}");
    }

    #[test]
    fn places_are_kept_with_four_lanes_and_more() {
        for lanes in [4, 5] {
            let step = |n: usize| RunStep {
                lane: format!("T{}", n % lanes),
                what: "acquire 0x55b6b77e7000+48".to_owned(),
                place: Some("src/pbzip2.cpp:1054".to_owned()),
                ..RunStep::default()
            };
            let run = Run { steps: (0..8).map(step).collect(), ..Run::default() };
            let text = table(&run, 2, 100).expect("there is room");
            assert_eq!(text.matches("pbzip2.cpp:1054").count(), 8, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(text.lines().next().is_some_and(|head| head.ends_with("at")), "{text}");
        }
    }

    #[test]
    fn no_line_is_wider_than_asked_and_without_room_there_is_no_table() {
        for width in 44..120 {
            let text = table(&run(), 2, width).expect("there is room for two columns");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
        assert_eq!(table(&run(), 2, 20), None);
        let steps =
            (0..9).map(|n| RunStep { lane: format!("thread-number-{n}"), ..RunStep::default() });
        let many = Run { steps: steps.collect(), ..Run::default() };
        assert_eq!(table(&many, 2, 80), None);
    }
}
