//! A run as a table for a terminal, one row a step: the lane, the task, the changes.

use crate::escape::clipped;
use crate::fold::folded;
use crate::lane_table;
use crate::wrap::wrap;
use anyorder_finding::run::{Comparison, Mark, Run, RunStep};
use std::fmt::Write as _;

/// The most steps shown at each end of a run; those in between are counted.
const END_STEPS_MAX: usize = 40;

/// The most characters of a lane and of a task.
const LANE_CHARS_MAX: usize = 16;
const TASK_CHARS_MAX: usize = 28;

/// The most characters of the name of a step; a longer one moves its row to the right.
const NUMBER_CHARS_MAX: usize = 9;

/// The most characters of one value or effect.
const EFFECT_CHARS_MAX: usize = 200;

/// The most tasks and differences listed for a comparison.
const LISTED_MAX: usize = 12;

/// The size of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fit {
    /// The width in columns.
    pub width: usize,
    /// Whether names are whole. The table may then be wider.
    pub full_names: bool,
}

impl Fit {
    /// A bound on the length of a name.
    pub(crate) fn most(self, characters: usize) -> usize {
        if self.full_names { NAME_CHARS_MAX } else { characters }
    }

    /// A bound on the length of a line before it is broken.
    pub(crate) fn most_of_line(self) -> usize {
        if self.full_names { usize::MAX } else { LINE_CHARS_MAX }
    }
}

/// A bound on names that are shown whole.
const NAME_CHARS_MAX: usize = 10_000;

/// The most characters of one line of a terminal, before it is broken.
const LINE_CHARS_MAX: usize = 4_000;

/// The least width of effects beside whole names.
const EFFECTS_MIN: usize = 40;

/// The line below a table with names that were cut.
pub(crate) const CUT: &str = "names with … are cut: `--wide` shows them whole";

/// Returns the rows of a run, each with a line feed, indented by `indent`, and at most as wide as
/// it must fit, where names allow. If the run is compared with another, the other one comes first.
pub(crate) fn table(run: &Run, indent: usize, fit: Fit) -> String {
    match &run.compared {
        _ if run.by_lane => {
            lane_table::table(run, indent, fit).unwrap_or_else(|| rows(run, indent, fit))
        }
        None => rows(run, indent, fit),
        Some(compared) => comparison(run, compared, indent, fit),
    }
}

fn comparison(run: &Run, compared: &Comparison, indent: usize, fit: Fit) -> String {
    let width = fit.width;
    let mut out = String::new();
    let line = |out: &mut String, head: &str, text: &str| {
        let column = indent + head.chars().count();
        let text = wrap(&clipped(text, fit.most_of_line()), width, column, column);
        let _ = writeln!(out, "{:indent$}{head}{text}", "");
    };
    let titled = |out: &mut String, title: &str, run: &Run| {
        if !run.steps.is_empty() {
            line(out, "", &format!("{title}:"));
            out.push_str(&rows(run, indent, fit));
        }
    };
    titled(&mut out, &compared.before_title, &compared.before);
    titled(&mut out, &compared.after_title, run);
    for (head, names) in [
        ("skipped: ", &compared.skipped),
        ("later:   ", &compared.late),
        ("new:     ", &compared.new),
    ] {
        if !names.is_empty() {
            let mut shown: Vec<String> = names.iter().take(LISTED_MAX).cloned().collect();
            if names.len() > LISTED_MAX {
                shown.push(format!("and {} more", names.len() - LISTED_MAX));
            }
            line(&mut out, head, &shown.join(", "));
        }
    }
    for (number, differing) in compared.differences.iter().take(LISTED_MAX).enumerate() {
        line(&mut out, if number == 0 { "differs: " } else { "         " }, &differing.words());
    }
    let more = compared.differences.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        line(&mut out, "         ", &format!("and in {more} more parts"));
    }
    out
}

fn rows(run: &Run, indent: usize, fit: Fit) -> String {
    let run = &folded(run);
    let (lane_max, task_max) = (fit.most(LANE_CHARS_MAX), fit.most(TASK_CHARS_MAX));
    let lane_width = column(run.steps.iter().map(|step| step.lane.as_str()), "runs on", lane_max);
    let titles: Vec<String> = run.steps.iter().map(RunStep::title).collect();
    let task_width = column(titles.iter().map(String::as_str), "start", task_max);
    let is_cut = |text: &str, most: usize| text.chars().count() > most;
    let cut = run.steps.iter().any(|step| is_cut(&step.lane, lane_max))
        || titles.iter().any(|title| is_cut(title, task_max));
    let names = indent + lane_width + task_width + EFFECTS_MIN;
    let width = if fit.full_names { fit.width.max(names) } else { fit.width };
    let named = run.steps.iter().filter_map(|step| Some(step.number.as_ref()?.chars().count()));
    let counted = (run.first + run.steps.len()).to_string().len();
    let step_width = named.chain([counted]).max().unwrap_or(0).clamp(4, NUMBER_CHARS_MAX);
    let most = fit.most_of_line();
    let shape = Shape { indent, width, step_width, lane_width, task_width, most };
    let mut out = String::new();
    shape.row(&mut out, "step", "runs on", "task", "what it did");
    let start: Vec<String> =
        run.start.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !start.is_empty() {
        shape.row(&mut out, "0", "", "start", &effects(&start, fit));
    }
    if run.first > 0 {
        shape.row(&mut out, "…", "", "", &format!("{} steps, the same in both runs", run.first));
    }
    let hidden = run.steps.len().saturating_sub(2 * END_STEPS_MAX);
    for (number, (step, title)) in (1..).zip(run.steps.iter().zip(&titles)) {
        if hidden > 0 && number > END_STEPS_MAX && number <= END_STEPS_MAX + hidden {
            if number == END_STEPS_MAX + 1 {
                shape.row(&mut out, "…", "", "", &format!("{hidden} more steps"));
            }
            continue;
        }
        if step.left_out > 0 {
            shape.row(&mut out, "…", "", "", &format!("{} more steps", step.left_out));
        }
        let mut what = step.effects();
        if what.is_empty() {
            what.extend(step.place.as_ref().map(|place| format!("at {place}")));
        }
        if run.repeats_from == Some(number - 1) {
            what.push("from here on for ever".to_owned());
        }
        let mark = step.mark.map_or("", sign);
        let number = step.number.clone().unwrap_or_else(|| (run.first + number).to_string());
        let number = clipped(&number, fit.most(TASK_CHARS_MAX));
        shape.row(&mut out, &format!("{mark}{number}"), &step.lane, title, &effects(&what, fit));
    }
    if !run.end.is_empty() {
        shape.row(&mut out, "=>", "", "", &run.end);
    }
    if cut {
        let _ = writeln!(out, "{:indent$}{}", "", wrap(CUT, width, indent, indent));
    }
    out
}

/// Returns the sign before a step that takes part in a comparison. Colour alone is not enough.
pub(crate) fn sign(mark: Mark) -> &'static str {
    match mark {
        Mark::First => "A",
        Mark::Second => "B",
        Mark::Only => "+",
    }
}

fn effects(phrases: &[String], fit: Fit) -> String {
    let most = fit.most(EFFECT_CHARS_MAX);
    let short: Vec<_> = phrases.iter().map(|phrase| clipped(phrase, most)).collect();
    short.join("; ")
}

/// The width of a column: its longest cell, within bounds.
fn column<'a>(cells: impl Iterator<Item = &'a str>, head: &str, most: usize) -> usize {
    let longest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
    longest.clamp(head.chars().count(), most)
}

struct Shape {
    indent: usize,
    width: usize,
    step_width: usize,
    lane_width: usize,
    task_width: usize,
    /// The most characters of what a step did.
    most: usize,
}

impl Shape {
    fn row(&self, out: &mut String, step: &str, lane: &str, task: &str, what: &str) {
        let Shape { indent, width, step_width, lane_width, task_width, most } = *self;
        let (lane, task) = (clipped(lane, lane_width), clipped(task, task_width));
        let lane_and_task = format!("{lane:<lane_width$}  {task:<task_width$}");
        let head = format!("{:indent$}{step:>step_width$}  {lane_and_task}  ", "");
        let column = head.chars().count();
        let line = format!("{head}{}", wrap(&clipped(what, most), width, column, column));
        for line in line.lines() {
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::run::{Change, Differing, RunPost};

    fn fit(width: usize) -> Fit {
        Fit { width, full_names: false }
    }

    #[test]
    fn names_that_are_cut_are_said_so_and_shown_whole_on_request() {
        let mut run = example(1);
        run.steps[0].what = "open_dictionaries_of_the_user(\"many words\")".to_owned();
        run.steps[0].lane = "a_handler_with_a_long_name".to_owned();
        let text = table(&run, 2, fit(100));
        assert!(text.contains("…") && text.ends_with(&format!("  {CUT}\n")), "{text}");
        let text = table(&run, 2, Fit { width: 100, full_names: true });
        assert!(!text.contains('…') && !text.contains(CUT), "{text}");
        assert!(text.contains(&run.steps[0].what) && text.contains(&run.steps[0].lane), "{text}");
    }

    fn example(steps: usize) -> Run {
        let step = |n: usize| RunStep {
            lane: "ui".to_owned(),
            what: format!("click#{n}"),
            changes: vec![Change {
                name: "x".to_owned(),
                old: Some(n.to_string()),
                new: Some((n + 1).to_string()),
            }],
            posts: vec![RunPost { to: "net".to_owned(), what: "load(\u{1b}[2J)".to_owned() }],
            ..RunStep::default()
        };
        Run {
            start: vec![("x".to_owned(), "0".to_owned())],
            steps: (0..steps).map(step).collect(),
            end: "invariant `small` does not hold".to_owned(),
            ..Run::default()
        }
    }

    #[test]
    fn a_step_is_a_row() {
        let text = table(&example(1), 2, fit(100));
        let expected = "  step  runs on  task     what it did\n     0           start    x = 0\n     1  ui       click#0  x: 0 -> 1; posts load(\\u{1b}[2J) to net\n    =>                    invariant `small` does not hold\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn two_runs_stand_one_after_the_other() {
        let mut run = example(2);
        run.steps[0].mark = Some(Mark::Second);
        run.compared = Some(Box::new(Comparison {
            before: example(2),
            before_title: "recorded run".to_owned(),
            after_title: "reversed".to_owned(),
            skipped: vec!["a".to_owned(), "b".to_owned()],
            differences: vec![Differing {
                path: "page/x".to_owned(),
                level: "output".to_owned(),
                before: Some("1".to_owned()),
                after: None,
            }],
            ..Comparison::default()
        }));
        let text = table(&run, 2, fit(100));
        let first = text.find("recorded run:").expect("the run before");
        assert!(first < text.find("reversed:").expect("the run after"), "{text}");
        assert!(text.contains("    B1  ui"), "{text}");
        assert!(text.contains("  skipped: a, b\n"), "{text}");
        assert!(text.contains("  differs: page/x (output): 1 | nothing\n"), "{text}");
    }

    #[test]
    fn the_middle_of_a_long_run_is_left_out() {
        let text = table(&example(100), 4, fit(100));
        assert!(text.contains("20 more steps"), "{text}");
        assert_eq!(text.lines().count(), 1 + 1 + 80 + 1 + 1);
        assert!(!text.contains("click#50 ") && text.contains("click#60 "), "{text}");
    }
}
