//! Words for the tasks of a program and for the parts of its outcomes.

use super::rerun::short;
use anyorder_finding::run::Differing;
use anyorder_finding::{Severity, Site};
use anyorder_system::{Failure, Level, PartPath, TaskName};

/// The maximum number of characters of a part's content.
const CONTENT_CHARS_MAX: usize = 200;

/// A part that differs between two outcomes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effect {
    /// The part.
    pub path: PartPath,
    /// Its level.
    pub level: Level,
    /// Its whole text in the run before; `None` if it is not there, or has no text.
    pub before: Option<String>,
    /// Its whole text in the run after.
    pub after: Option<String>,
}

/// How a program calls its tasks and the parts of its outcomes. The words may have names of the
/// program in them as they are; writers escape them.
///
/// The default words are the names themselves.
pub trait TaskWords: Sync {
    /// Returns a task as a part of a sentence.
    fn task(&self, task: &TaskName) -> String {
        format!("`{}`", short(task))
    }

    /// Returns two tasks, so that one can tell them apart.
    fn pair(&self, first: &TaskName, second: &TaskName) -> [String; 2] {
        [self.task(first), self.task(second)]
    }

    /// Returns a task in an explanation, where its whole path may matter.
    fn full(&self, task: &TaskName) -> String {
        format!("`{task}`")
    }

    /// Returns a task in a list, without any marks.
    fn name(&self, task: &TaskName) -> String {
        task.to_string()
    }

    /// Returns whether reports name a location, where they can name another one.
    fn lists(&self, _location: &str) -> bool {
        true
    }

    /// Returns a task as an entry of a table.
    fn entry(&self, task: &TaskName) -> String {
        short(task)
    }

    /// Returns where a task comes from, if its accesses do not say it better.
    fn site(&self, _task: &TaskName) -> Option<Site> {
        None
    }

    /// Returns what differs, for a title: user-visible parts first. `None`: the names of the parts.
    fn effects(&self, _effects: &[Effect]) -> Option<String> {
        None
    }

    /// Returns a difference for a comparison of two runs; `None` if it says nothing that the others
    /// do not say.
    fn differing(&self, effect: &Effect) -> Option<Differing> {
        let cut = |text: &String| text.chars().take(CONTENT_CHARS_MAX).collect();
        Some(Differing {
            path: effect.path.to_string(),
            level: effect.level.word().to_owned(),
            before: effect.before.as_ref().map(cut),
            after: effect.after.as_ref().map(cut),
        })
    }

    /// Returns one difference in words. `None`: the name, the level and both texts.
    fn effect(&self, _effect: &Effect) -> Option<String> {
        None
    }

    /// Returns whether a task is an input, such as a click.
    fn is_input(&self, _task: &TaskName) -> bool {
        false
    }

    /// Returns how much a location says to the reader of a report: 0 says most.
    fn rank(&self, _location: &str) -> u8 {
        0
    }

    /// Returns the title of a failure. `None`: the program fails.
    fn failure(&self, _failure: &Failure) -> Option<String> {
        None
    }

    /// Returns where a failure is, if it says so better than the accesses of its task.
    fn failure_site(&self, _failure: &Failure) -> Option<Site> {
        None
    }

    /// Returns how severe it is that these parts differ.
    fn severity(&self, _effects: &[Effect]) -> Severity {
        Severity::Error
    }

    /// Returns what kind of difference this is, if findings at the same two places that make the
    /// same kind of difference are one mistake. `None`: each pair of tasks is a finding.
    fn effect_kind(&self, _effects: &[Effect]) -> Option<String> {
        None
    }

    /// Returns the class of a reversal that does no harm whatever follows, also if the program
    /// fails then. The tasks are those of the pair that only one of the two runs has. `None` by
    /// default.
    fn excuse(&self, _odd: &[&TaskName]) -> Option<&'static str> {
        None
    }

    /// Returns the class of a difference that does no harm, if the program knows that it does none.
    /// The tasks are those of the pair that only one of the two runs has.
    fn harmless_class(&self, _effects: &[Effect], _odd: &[&TaskName]) -> Option<&'static str> {
        None
    }

    /// Returns what can be done if tasks share what they do not report.
    fn unreported(&self) -> &'static str {
        "report every variable that tasks share, as rule 5 of docs/pipe-protocol.md says"
    }
}

/// The names themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlainWords;

impl TaskWords for PlainWords {}
