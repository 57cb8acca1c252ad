//! A run that shows a finding, step by step. Reports draw it as a table on a terminal, or as a
//! sequence diagram on a page.

use crate::finding::Site;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A run: its start, its steps, and the failure at its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// Names and values at the start.
    pub start: Vec<(String, String)>,
    /// The number of omitted steps before these.
    pub first: usize,
    /// The steps, in order.
    pub steps: Vec<RunStep>,
    /// The number of steps after which the run repeats for ever; equal to the number of steps if
    /// the run stops there.
    pub repeats_from: Option<usize>,
    /// The failure at the end, in one phrase.
    pub end: String,
    /// The run to compare with, and the differences.
    pub compared: Option<Box<Comparison>>,
    /// Whether a terminal shows a column for each lane. A page always does.
    pub by_lane: bool,
}

/// A run and its variant: the same program, with two tasks in reversed order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// The run before the reversal.
    pub before: Run,
    /// The title of the run before, such as `recorded run`.
    pub before_title: String,
    /// The title of the run after.
    pub after_title: String,
    /// The task that came first before the reversal, and comes second after it.
    pub first: String,
    /// The other one.
    pub second: String,
    /// The locations on which the two conflict.
    pub locations: Vec<String>,
    /// Tasks of the run before that do not run after the reversal.
    pub skipped: Vec<String>,
    /// Tasks that could not run at their turn, and ran later.
    pub late: Vec<String>,
    /// Tasks that run only after the reversal.
    pub new: Vec<String>,
    /// The differences between the observations.
    pub differences: Vec<Differing>,
    /// Pictures of both ends, in the order of the runs.
    pub pictures: Vec<Picture>,
    /// Pictures of both runs right after the pair, in the same order.
    pub after_pair: Vec<Picture>,
    /// The accesses by which the two tasks conflict, with their lines.
    pub conflicts: Vec<Conflict>,
    /// Texts of both ends, line by line.
    pub texts: Vec<TextDifference>,
    /// What a reader should know of these, such as a source map that is missing.
    pub notes: Vec<String>,
}

/// An access of each task of a pair to one location, of which one writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conflict {
    /// The location.
    pub location: String,
    /// The access of the task that came first before the reversal.
    pub first: Site,
    /// The access of the other one.
    pub second: Site,
}

/// A text in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextDifference {
    /// What the text is, in one phrase.
    pub title: String,
    /// Its lines: those of one run only, and what is near them.
    pub lines: Vec<DifferenceLine>,
    /// The number of lines that are not listed because there are too many.
    pub left_out: usize,
}

/// A line of a text in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DifferenceLine {
    /// In both runs.
    Both(String),
    /// Only in the run before the reversal.
    Before(String),
    /// Only in the run after it.
    After(String),
    /// So many equal lines are left out.
    Gap(usize),
}

/// A picture of what a program shows.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// What it shows, in one phrase.
    pub title: String,
    /// The picture as PNG.
    pub png: Vec<u8>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.png.len();
        f.debug_struct("Picture").field("title", &self.title).field("bytes", &bytes).finish()
    }
}

/// A part of an observation in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Differing {
    /// The path of the part.
    pub path: String,
    /// Its level, such as `output`.
    pub level: String,
    /// Its content in the run before, if known.
    pub before: Option<String>,
    /// Its content in the run after.
    pub after: Option<String>,
}

impl Differing {
    /// Returns the difference as `path (level): before | after`.
    #[must_use]
    pub fn words(&self) -> String {
        let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("{} ({}): {} | {}", self.path, self.level, side(&self.before), side(&self.after))
    }
}

/// The role of a step in a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The task of the reversed pair that came first before the reversal.
    First,
    /// The other one of the pair.
    Second,
    /// It runs in this run only.
    Only,
}

/// One step of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunStep {
    /// The handler or thread that runs it.
    pub lane: String,
    /// The task or event, with its arguments.
    pub what: String,
    /// The source position, where it adds information to the name.
    pub place: Option<RunPlace>,
    /// The chosen alternative, if it is not the first.
    pub alternative: Option<u32>,
    /// The choices that it made, in words; then `alternative` adds nothing.
    pub chosen: Vec<String>,
    /// The values that it changed.
    pub changes: Vec<Change>,
    /// The names and values that it read, if it did nothing else.
    pub reads: Vec<(String, String)>,
    /// Tasks that it posted, and threads that it started.
    pub posts: Vec<RunPost>,
    /// What a reader should know of its changes: that they rest on an old value.
    pub note: Option<String>,
    /// How it failed.
    pub failure: Option<String>,
    /// Its role where two runs are compared.
    pub mark: Option<Mark>,
    /// Its label, if that is not its place in the run, such as the number of an event in a trace.
    pub number: Option<String>,
    /// The lock that it takes.
    pub takes: Option<String>,
    /// The lock that it releases.
    pub releases: Option<String>,
    /// If it stands for several steps, what these did, one phrase each.
    pub inside: Vec<String>,
    /// The number of omitted steps before it.
    pub left_out: usize,
}

/// A source position of a step, or of several steps of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunPlace {
    /// The file; the name of the place, where the input gives only a name.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The last line, if there are several.
    pub last_line: Option<u32>,
}

impl RunPlace {
    /// Returns the position of a site.
    #[must_use]
    pub fn of(site: &Site) -> Option<RunPlace> {
        let file = site.file.as_ref().or(site.label.as_ref())?.clone();
        let line = site.line.filter(|_| site.file.is_some());
        Some(RunPlace {
            file,
            line,
            column: site.column.filter(|_| line.is_some()),
            last_line: None,
        })
    }
}

/// `a.any:3:5`, `a.any:3-7`, or the name.
impl fmt::Display for RunPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let Some(line) = self.line else { return Ok(()) };
        write!(f, ":{line}")?;
        match (self.column, self.last_line.filter(|last| *last != line)) {
            (_, Some(last)) => write!(f, "-{last}"),
            (Some(column), None) => write!(f, ":{column}"),
            (None, None) => Ok(()),
        }
    }
}

/// A value that a step changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// The name of the holder of the value.
    pub name: String,
    /// The value before; `None` if it had none.
    pub old: Option<String>,
    /// The value after; `None` if it has none.
    pub new: Option<String>,
}

/// A task that a step posted, or a thread that it started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunPost {
    /// The target handler or thread.
    pub to: String,
    /// The task with its arguments.
    pub what: String,
}

/// The runs of a result, by the ids of their findings.
pub type Runs = BTreeMap<String, Run>;

impl Run {
    /// Returns the handlers and threads of the run, in the order of their first steps. O(n log n)
    /// in the steps and posts.
    #[must_use]
    pub fn lanes(&self) -> Vec<&str> {
        let (mut lanes, mut known) = (Vec::new(), BTreeSet::new());
        for step in &self.steps {
            let posts = step.posts.iter().map(|post| post.to.as_str());
            for lane in std::iter::once(step.lane.as_str()).chain(posts) {
                if known.insert(lane) {
                    lanes.push(lane);
                }
            }
        }
        lanes
    }
}

impl RunStep {
    /// Returns the task or event with the chosen alternative.
    #[must_use]
    pub fn title(&self) -> String {
        match self.alternative {
            Some(_) if !self.chosen.is_empty() => self.what.clone(),
            None => self.what.clone(),
            Some(number) => format!("{} (alternative {number})", self.what),
        }
    }

    /// Returns the effects of the step, one phrase each.
    #[must_use]
    pub fn effects(&self) -> Vec<String> {
        let mut effects: Vec<String> =
            self.chosen.iter().map(|chosen| format!("chooses {chosen}")).collect();
        effects.extend(self.changes.iter().map(Change::words));
        effects.extend(self.inside.iter().cloned());
        effects.extend(self.note.clone());
        effects.extend(self.posts.iter().map(|post| format!("posts {} to {}", post.what, post.to)));
        effects.extend(self.failure.clone());
        let reads: Vec<String> =
            self.reads.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if effects.len() == self.chosen.len() && !reads.is_empty() {
            effects.push(format!("reads {}", reads.join(", ")));
        }
        effects
    }
}

impl Change {
    /// Returns the change as `name: old -> new`, or `name: value again` if the value is unchanged.
    #[must_use]
    pub fn words(&self) -> String {
        let Change { name, old, new } = self;
        match (old, new) {
            (Some(old), Some(new)) if old == new => format!("{name}: {new} again"),
            (Some(old), Some(new)) => format!("{name}: {old} -> {new}"),
            (None, Some(new)) => format!("{name}: {new} (new)"),
            (Some(old), None) => format!("{name}: {old} -> gone"),
            (None, None) => name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_in_the_order_of_their_first_part() {
        let post = |to: &str| RunPost { to: to.to_owned(), what: "t()".to_owned() };
        let step =
            |lane: &str, posts| RunStep { lane: lane.to_owned(), posts, ..RunStep::default() };
        let steps = vec![step("ui", vec![post("net")]), step("net", vec![post("ui"), post("db")])];
        let run = Run { steps, ..Run::default() };
        assert_eq!(run.lanes(), ["ui", "net", "db"]);
    }

    #[test]
    fn effects_are_phrases() {
        let change = |old: Option<&str>, new: Option<&str>| Change {
            name: "x".to_owned(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        let step = RunStep {
            what: "t()".to_owned(),
            alternative: Some(2),
            changes: vec![
                change(Some("0"), Some("1")),
                change(None, Some("1")),
                change(Some("1"), None),
                change(Some("1"), Some("1")),
            ],
            posts: vec![RunPost { to: "ui".to_owned(), what: "u(3)".to_owned() }],
            failure: Some("assertion".to_owned()),
            ..RunStep::default()
        };
        let expected = [
            "x: 0 -> 1",
            "x: 1 (new)",
            "x: 1 -> gone",
            "x: 1 again",
            "posts u(3) to ui",
            "assertion",
        ];
        assert_eq!(step.effects(), expected);
        assert_eq!(step.title(), "t() (alternative 2)");
        let read = |name: &str| (name.to_owned(), "1".to_owned());
        let idle = RunStep { reads: vec![read("x"), read("y")], ..RunStep::default() };
        assert_eq!(idle.effects(), ["reads x = 1, y = 1"]);
        assert_eq!(RunStep { reads: vec![read("x")], ..step }.effects(), expected);
    }
}
