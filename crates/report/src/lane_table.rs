//! A run as a table for a terminal, with a column for each thread and time from top to bottom.

use crate::escape::clipped;
use crate::run_table::{CUT, Fit, sign};
use crate::wrap::wrap;
use anyorder_common::numbers::plural;
use anyorder_common::text::escape;
use anyorder_finding::run::{Run, RunPlace, RunStep};
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
pub(crate) fn table(run: &Run, indent: usize, fit: Fit) -> Option<String> {
    let width = fit.width;
    let steps = folded(&run.steps);
    let lanes = run.lanes();
    let shape = Shape::new(&steps, &lanes, indent, fit)?;
    let mut out = String::new();
    shape.row(&mut out, "event", &lanes, "at");
    if run.first > 0 {
        shape.note(&mut out, &as_recorded(run.first));
    }
    let (shown, mut left_out) = (shown(&steps), 0);
    for (number, step) in (1..).zip(&steps) {
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
        let place = step.place.as_ref().map(RunPlace::to_string).unwrap_or_default();
        shape.row(&mut out, &name(number, step), &cells, &place);
    }
    if !run.end.is_empty() {
        let end = wrap(&clipped(&run.end, fit.most_of_line()), width, indent + 3, indent + 3);
        let _ = writeln!(out, "{:indent$}=> {end}", "");
    }
    if shape.cuts(&steps, &lanes) {
        let _ = writeln!(out, "{:indent$}{}", "", wrap(CUT, width, indent, indent));
    }
    Some(out)
}

/// Returns the steps, with one step for each critical section that no other lane interrupts:
/// `acquire m, read x, release m`. A section with a marked step stays unfolded.
fn folded(steps: &[RunStep]) -> Vec<RunStep> {
    let mut out: Vec<RunStep> = Vec::with_capacity(steps.len());
    let mut at = 0;
    while at < steps.len() {
        let length = section(&steps[at..]).unwrap_or(1);
        let section = &steps[at..at + length];
        out.push(if length == 1 { numbered(&steps[at], at) } else { one_step(section, at) });
        at += length;
    }
    out
}

/// The step with its number, which folding must not change.
fn numbered(step: &RunStep, at: usize) -> RunStep {
    let number = step.number.clone().unwrap_or_else(|| (at + 1).to_string());
    RunStep { number: Some(number), ..step.clone() }
}

/// Returns the length of the critical section at the start of some steps: from `acquire m` to
/// `release m`, all by one lane, none marked, none left out in between.
fn section(steps: &[RunStep]) -> Option<usize> {
    let first = steps.first()?;
    let lock = first.takes.as_ref()?;
    let joins = |step: &&RunStep| step.lane == first.lane && step.mark.is_none();
    let length = steps.iter().take_while(joins).count();
    let apart = steps.iter().skip(1).position(|step| step.left_out > 0);
    let length = length.min(apart.map_or(usize::MAX, |at| at + 1));
    let ends = |step: &RunStep| step.releases.as_ref() == Some(lock);
    Some(steps[..length].iter().position(ends)? + 1)
}

/// A critical section as one step, with the range of its source lines.
fn one_step(section: &[RunStep], at: usize) -> RunStep {
    let (Some(first), Some(last)) = (section.first(), section.last()) else {
        return RunStep::default();
    };
    let number = |step: &RunStep, at: usize| numbered(step, at).number.unwrap_or_default();
    let inner: Vec<&str> =
        section[1..section.len() - 1].iter().map(|step| step.what.as_str()).collect();
    let lock = first.takes.as_deref().unwrap_or_default();
    let what = match inner.join(", ") {
        inner if inner.is_empty() => format!("with {lock}: nothing"),
        inner => format!("with {lock}: {inner}"),
    };
    RunStep {
        what,
        number: Some(format!("{}–{}", number(first, at), number(last, at + section.len() - 1))),
        place: lines(first.place.as_ref(), last.place.as_ref()),
        ..first.clone()
    }
}

/// The number of characters of a place.
fn width_of(place: &RunPlace) -> usize {
    escape(&place.to_string()).chars().count()
}

/// `main.c:10-12`, from the first place and the last one.
fn lines(first: Option<&RunPlace>, last: Option<&RunPlace>) -> Option<RunPlace> {
    let first = first?;
    let last_line = last.filter(|last| last.file == first.file).and_then(|last| last.line);
    Some(RunPlace { last_line, ..first.clone() })
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
fn shown(steps: &[RunStep]) -> BTreeSet<usize> {
    let tail = steps.len().saturating_sub(LAST_MAX);
    let mut places: BTreeSet<usize> = (tail..steps.len()).collect();
    places.extend((0..tail).filter(|place| steps[*place].mark.is_some()));
    let kept = (0..tail).rev().filter(|place| steps[*place].left_out > 0);
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
    fn new(steps: &[RunStep], lanes: &[&str], indent: usize, fit: Fit) -> Option<Shape> {
        let width = if fit.full_names { usize::MAX / 2 } else { fit.width };
        let (column_max, place_max) = (fit.most(COLUMN_MAX), fit.most(PLACE_MAX));
        // Even empty columns have a space; this bounds the work for runs of many lanes.
        if lanes.len() * SPACE > width {
            return None;
        }
        let longest = |texts: &mut dyn Iterator<Item = usize>, head: usize, most: usize| {
            texts.max().unwrap_or(0).clamp(head, most.max(head))
        };
        let numbers = &mut (1..).zip(steps).map(|(n, step)| name(n, step).chars().count());
        let number = longest(numbers, "event".len(), NUMBER_MAX);
        let wanted: Vec<usize> = lanes
            .iter()
            .map(|lane| {
                let of_lane = steps.iter().filter(|step| step.lane == *lane);
                let texts = &mut of_lane.map(|step| escape(&step.what).chars().count());
                longest(texts, escape(lane).chars().count().min(column_max), column_max)
            })
            .collect();
        let room = width.saturating_sub(indent + number);
        let least: usize = wanted.iter().map(|want| (*want).min(COLUMN_MIN) + SPACE).sum();
        let places = &mut steps.iter().filter_map(|step| Some(width_of(step.place.as_ref()?)));
        let longest_place = longest(places, "at".len(), place_max);
        let has_places = steps.iter().any(|step| step.place.is_some());
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
        let of_places =
            if has_places { longest_place.min(fit.most(PLACE_WANTED)) + SPACE } else { 0 };
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

    /// Returns whether a cell is too narrow for its text.
    fn cuts(&self, steps: &[RunStep], lanes: &[&str]) -> bool {
        let chars = |text: &str| escape(text).chars().count();
        let head = lanes.iter().zip(&self.lanes).any(|(lane, width)| chars(lane) > *width);
        let shown = shown(steps);
        let mut steps = (0..).zip(steps).filter(|(at, _)| shown.contains(at)).map(|(_, it)| it);
        head || steps.any(|step| {
            let lane = lanes.iter().position(|lane| *lane == step.lane);
            let place = step.place.as_ref().map_or(0, width_of);
            lane.is_some_and(|lane| chars(&step.what) > self.lanes[lane])
                || (self.place > 0 && place > self.place)
        })
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
    let visible = clipped(text, most.max(4_000));
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
    let visible = clipped(text, most.max(4_000));
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

    fn fit(width: usize) -> Fit {
        Fit { width, full_names: false }
    }

    fn place(file: &str, line: u32) -> Option<RunPlace> {
        Some(RunPlace { file: file.to_owned(), line: Some(line), ..RunPlace::default() })
    }

    #[test]
    fn critical_sections_are_one_row_with_their_lines() {
        let step = |what: &str, line: u32| RunStep {
            lane: "T1".to_owned(),
            what: what.to_owned(),
            place: place("main.c", line),
            takes: (what == "acquire m").then(|| "m".to_owned()),
            releases: (what == "release m").then(|| "m".to_owned()),
            ..RunStep::default()
        };
        let mut steps = vec![
            step("acquire m", 10),
            step("read x", 11),
            step("release m", 12),
            step("acquire m", 20),
            RunStep { mark: Some(Mark::First), ..step("write x", 21) },
            step("release m", 22),
            step("acquire m", 30),
        ];
        let run = Run { steps: steps.clone(), by_lane: true, ..Run::default() };
        let text = table(&run, 2, fit(80)).expect("there is room");
        assert!(text.contains("1–3  with m: read x  main.c:10-12"), "{text}");
        assert!(text.contains("A 5  write x") && text.contains("    7  acquire m"), "{text}");
        // Another lane in between.
        steps.insert(1, RunStep { lane: "T2".to_owned(), ..step("read y", 40) });
        let run = Run { steps, by_lane: true, ..Run::default() };
        let text = table(&run, 2, fit(80)).expect("there is room");
        assert!(!text.contains("with m"), "{text}");
    }

    fn run() -> Run {
        let step = |lane: &str, what: &str, number: &str| RunStep {
            lane: lane.to_owned(),
            what: what.to_owned(),
            number: Some(number.to_owned()),
            place: place("src/a/very/long/path/of/a/project/main.c", 12),
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
        let text = table(&run(), 2, fit(72)).expect("there is room");
        let expected = "  event  main            worker       at
      …  the first 3 events as recorded
      1  fork worker                  …g/path/of/a/project/main.c:12
      …  7 more
      9  acquire m                    …g/path/of/a/project/main.c:12
   B 12                  free 0x10+8  …g/path/of/a/project/main.c:12
   A 11  read \\u{1b}[2J               …g/path/of/a/project/main.c:12
  => the free comes first
  names with … are cut: `--wide` shows them whole
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
                place: place("src/pbzip2.cpp", 1054),
                ..RunStep::default()
            };
            let run = Run { steps: (0..8).map(step).collect(), ..Run::default() };
            let text = table(&run, 2, fit(100)).expect("there is room");
            assert_eq!(text.matches("pbzip2.cpp:1054").count(), 8, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
            assert!(text.lines().next().is_some_and(|head| head.ends_with("at")), "{text}");
        }
    }

    #[test]
    fn no_line_is_wider_than_asked_and_without_room_there_is_no_table() {
        for width in 44..120 {
            let text = table(&run(), 2, fit(width)).expect("there is room for two columns");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
        assert_eq!(table(&run(), 2, fit(20)), None);
        let steps =
            (0..9).map(|n| RunStep { lane: format!("thread-number-{n}"), ..RunStep::default() });
        let many = Run { steps: steps.collect(), ..Run::default() };
        assert_eq!(table(&many, 2, fit(80)), None);
    }
}
