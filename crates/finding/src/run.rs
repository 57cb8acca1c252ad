//! A run that shows a finding, step by step, as reports draw it: a table on a terminal, a sequence
//! diagram on a page.

use std::collections::BTreeMap;

/// A run: what began it, its steps, and what went wrong at its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// Names and values at the start.
    pub start: Vec<(String, String)>,
    /// The number of steps that are left out in front of these.
    pub first: usize,
    /// What ran, in order.
    pub steps: Vec<RunStep>,
    /// The number of steps after which the run repeats itself for ever; equal to the number of
    /// steps where nothing happens any more.
    pub repeats_from: Option<usize>,
    /// What is wrong at the end, in one phrase.
    pub end: String,
    /// The run that it is compared with, and what differs.
    pub compared: Option<Box<Comparison>>,
    /// Whether a terminal shows it with a column for each lane; a page always does.
    pub by_lane: bool,
}

/// A run against the one it varies: the same program, but two of its tasks in the other order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// The run before the two were reversed.
    pub before: Run,
    /// What the run before is called, such as `recorded run`.
    pub before_title: String,
    /// What the run after is called.
    pub after_title: String,
    /// The task that came first before, and comes second now.
    pub first: String,
    /// The other one.
    pub second: String,
    /// The locations on which the two conflict.
    pub locations: Vec<String>,
    /// Tasks of the run before that did not run any more.
    pub skipped: Vec<String>,
    /// Tasks that could not run when their turn came, and ran later.
    pub late: Vec<String>,
    /// Tasks that ran only after.
    pub new: Vec<String>,
    /// What the reversal amounts to, such as `different`.
    pub class: String,
    /// Where the observations differ.
    pub differences: Vec<Differing>,
}

/// A part of an observation in which two runs differ.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Differing {
    /// The part.
    pub path: String,
    /// Its level, such as `output`.
    pub level: String,
    /// Its content in the run before, where that is known.
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

/// What a step is in a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The one of the reversed pair that came first before.
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
    /// Where in the source, where that says more than the name.
    pub place: Option<String>,
    /// Which alternative of its choices, where it is not the first.
    pub alternative: Option<u32>,
    /// Values that it changed.
    pub changes: Vec<Change>,
    /// What it read, by name and value, where it did nothing else.
    pub reads: Vec<(String, String)>,
    /// Tasks that it posted, and threads that it began.
    pub posts: Vec<RunPost>,
    /// How it failed.
    pub failure: Option<String>,
    /// What it is where two runs are compared.
    pub mark: Option<Mark>,
    /// What it is called by where that is not its place in the run, such as the number of an event
    /// in a trace.
    pub number: Option<String>,
    /// The number of steps that are left out before it.
    pub left_out: usize,
}

/// A value that a step changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// What holds it.
    pub name: String,
    /// The value before; `None` where there was none.
    pub old: Option<String>,
    /// The value after; `None` where there is none.
    pub new: Option<String>,
}

/// A task that a step posted, or a thread that it began.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunPost {
    /// The handler or thread that it goes to.
    pub to: String,
    /// The task with its arguments.
    pub what: String,
}

/// The runs of a result, by the ids of their findings.
pub type Runs = BTreeMap<String, Run>;

impl Run {
    /// Returns the handlers and threads that take part, in the order in which they first do.
    #[must_use]
    pub fn lanes(&self) -> Vec<&str> {
        let mut lanes: Vec<&str> = Vec::new();
        for step in &self.steps {
            let posts = step.posts.iter().map(|post| post.to.as_str());
            for lane in std::iter::once(step.lane.as_str()).chain(posts) {
                if !lanes.contains(&lane) {
                    lanes.push(lane);
                }
            }
        }
        lanes
    }
}

impl RunStep {
    /// Returns the task or event with the alternative that was taken.
    #[must_use]
    pub fn title(&self) -> String {
        match self.alternative {
            None => self.what.clone(),
            Some(number) => format!("{} (alternative {number})", self.what),
        }
    }

    /// Returns what the step did, one phrase each.
    #[must_use]
    pub fn effects(&self) -> Vec<String> {
        let mut effects: Vec<String> = self.changes.iter().map(Change::words).collect();
        effects.extend(self.posts.iter().map(|post| format!("posts {} to {}", post.what, post.to)));
        effects.extend(self.failure.clone());
        let reads: Vec<String> =
            self.reads.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if effects.is_empty() && !reads.is_empty() {
            effects.push(format!("reads {}", reads.join(", ")));
        }
        effects
    }
}

impl Change {
    /// Returns the change as `name: old -> new`, or `name: value again` where that was there
    /// before.
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
