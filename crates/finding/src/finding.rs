//! One reported problem, and its places.

use crate::stack::Stack;
use crate::words::{CoverageLevel, Harm, Kind, RelatedKind, Reproduced, Severity};
use serde::{Deserialize, Serialize};

/// One reported problem. In JSON, its fields have this order, and absent ones are omitted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// 16 hexadecimal digits, a hash of kind, category and sites: equal over runs; see
    /// [`assign_ids`](crate::assign_ids).
    #[serde(default)]
    pub id: String,
    /// Other ids under which baselines and suppressions may list it: that of an earlier version,
    /// and the one that it has when its input is checked alone. Not part of a result.
    #[serde(skip)]
    pub known_as: Vec<String>,
    /// What kind of problem it is.
    pub kind: Kind,
    /// A finer kind; for races the word of a [`RaceCategory`](crate::RaceCategory).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its severity.
    pub severity: Severity,
    /// Whether it does harm.
    pub harm: Harm,
    /// Why a harmless finding does no harm; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm_class: Option<String>,
    /// The problem in one phrase, names in backticks.
    #[serde(default)]
    pub title: String,
    /// The path of its input, where the command has several inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The id of the finding that represents the group with the same cause; its own id if it is the
    /// representative. Absent if the finding is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Whether the findings of its group have in common the memory that they race on. If not, one
    /// missing order makes all of them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub group_of_memory: bool,
    /// The places of the problem. A race has two, in trace order.
    #[serde(default)]
    pub sites: Vec<Site>,
    /// What its places are about: the memory, the threads and the locks, with the calls that made
    /// or took them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// The members of a group, as labels of events in trace order; cut at `--max-pairs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[String; 2]>,
    /// The number of members of the group, including those not listed; 0 where the kind has no
    /// pairs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_total: u64,
    /// Whether a replay reproduced it; `None`, written as `null`, where none was tried.
    #[serde(default)]
    pub confirmed: Option<bool>,
    /// What a second run of the program, held to this order, came to; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduced: Option<Reproduction>,
    /// How its witness shows another order, for the strongest of the group: `reversed`, `last`,
    /// `co_enabled` or `overtakes`; `deadlock` where it leads to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Why it is a problem, step by step; for a race the nearest orders that exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanation: Vec<ExplanationStep>,
    /// For conflicts against a serial order: the access that closes the cycle, by its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pivot: Option<String>,
    /// The access before the pivot that conflicts with it and is later in a serial order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The conflicts of the cycle. Each ends at the event or task where the next one begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<CycleConflict>,
    /// A run that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// The command that reproduces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// For races: whether ordering other races orders it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// The filters that apply to it, such as `late_registration` and `unload`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Set where a suppression matches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<Suppressed>,
    /// Whether the baseline lists it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub baseline: bool,
}

impl Finding {
    /// Makes a finding of a kind: a warning whose harm is undecided, everything else absent.
    #[must_use]
    pub fn new(kind: Kind) -> Finding {
        Finding {
            id: String::new(),
            known_as: Vec::new(),
            kind,
            category: None,
            severity: Severity::Warning,
            harm: Harm::Undecided,
            harm_class: None,
            title: String::new(),
            input: None,
            group: None,
            group_of_memory: false,
            sites: Vec::new(),
            related: Vec::new(),
            pairs: Vec::new(),
            pairs_total: 0,
            confirmed: None,
            reproduced: None,
            form: None,
            explanation: Vec::new(),
            pivot: None,
            root: None,
            cycle: Vec::new(),
            witness: None,
            replay: None,
            coverage: None,
            filters: Vec::new(),
            suppressed: None,
            baseline: false,
        }
    }

    /// Returns all ids under which it may be listed, its own first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.id).chain(&self.known_as).map(String::as_str)
    }

    /// Returns whether other races order this one. Findings without coverage are not covered.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.coverage.is_some_and(|coverage| !coverage.uncovered)
    }

    /// Returns whether a suppression or the baseline excludes it from the count.
    #[must_use]
    pub fn is_excluded(&self) -> bool {
        self.suppressed.is_some() || self.baseline
    }

    /// Returns the location of the first site that has one.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.sites.iter().find_map(|site| site.location.as_deref())
    }

    /// Orders findings for a report: excluded ones last; then the uncovered first, then by
    /// severity, by the number of pairs (most first), by location and id. This is a total order, so
    /// reports do not depend on the order in which engines find things.
    #[must_use]
    pub fn rank(&self, other: &Finding) -> std::cmp::Ordering {
        let key = |f: &Finding| (f.is_excluded(), f.is_covered(), std::cmp::Reverse(f.severity));
        key(self)
            .cmp(&key(other))
            .then_with(|| other.pairs_total.cmp(&self.pairs_total))
            .then_with(|| self.kind.cmp(&other.kind))
            .then_with(|| self.category.cmp(&other.category))
            .then_with(|| self.location().cmp(&other.location()))
            .then_with(|| self.id.cmp(&other.id))
    }
}

/// One place of a finding. All parts are optional.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Site {
    /// The source file, as the input names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The function that contains the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The name of the position, where the input gives only a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The input's own number or name of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The name of the task that runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The name of the handler that runs the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The name of the thread, where the input distinguishes threads from handlers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The location accessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The allocation site of the accessed memory: a position with its function. It is `just
    /// before` a position for an allocation in a library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<String>,
    /// The kind of access: `read`, `write`, `rmw` or `free`, followed by an atomic ordering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// The posts that led to the task, one a line: the post of the task itself first, the input
    /// event or thread at the root last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// The locks held there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<String>,
    /// The call stack, the innermost position first.
    #[serde(default, skip_serializing_if = "Stack::is_unknown")]
    pub stack: Stack,
    /// The lines of the source around the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLines>,
    /// The stack as suppressions see it, where more is known of it than its texts say. Not part of
    /// a result.
    #[serde(skip)]
    pub frames: Vec<Frame>,
}

/// A position of a call stack. What is not known is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The source file, as the compiler wrote its path.
    pub file: String,
    /// The program or library.
    pub module: String,
}

impl Frame {
    /// Reads a position of a [`Site::stack`]: `main.c:12:3 in f`.
    #[must_use]
    pub fn of_text(text: &str) -> Frame {
        let (place, function) = text.rsplit_once(" in ").unwrap_or((text, ""));
        let mut file = place;
        while let Some((before, number)) = file.rsplit_once(':')
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            file = before;
        }
        let (function, file) = (function.to_owned(), file.to_owned());
        Frame { function, file, module: String::new() }
    }
}

impl Site {
    /// Returns the source position as `file:line:column`, else the label; `None` when neither is
    /// known.
    #[must_use]
    pub fn position(&self) -> Option<String> {
        let Some(file) = &self.file else { return self.label.clone() };
        let mut text = file.clone();
        for part in [self.line, self.column] {
            let Some(part) = part else { break };
            text.push_str(&format!(":{part}"));
        }
        Some(text)
    }

    /// Returns the allocation site as text: `allocated at main.c:30 in main`.
    #[must_use]
    pub fn allocated_at(&self) -> Option<String> {
        let place = self.allocated.as_ref()?;
        let at = if place.starts_with("just before ") { "" } else { "at " };
        Some(format!("allocated {at}{place}"))
    }

    /// Returns the [`position`](Self::position) with its function, where that adds information.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let position = self.position()?;
        Some(match &self.function {
            Some(function) if *function != position => format!("{position} (in `{function}`)"),
            _ => position,
        })
    }
}

/// Lines of a source file around a position.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SourceLines {
    /// The number of the first one, from 1.
    pub first: u32,
    /// The lines, without their ends.
    pub lines: Vec<String>,
    /// Whether the file is newer than the program that was built of it: the lines may be other ones
    /// than those that ran.
    #[serde(default, skip_serializing_if = "is_false")]
    pub newer: bool,
}

impl SourceLines {
    /// Returns the lines with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &str)> {
        (self.first..).zip(self.lines.iter().map(String::as_str))
    }
}

/// Something that the places of a finding are about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Related {
    /// What it is.
    pub kind: RelatedKind,
    /// A description in one phrase, names in backticks.
    pub text: String,
    /// The numbers of the places that it is about, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<u32>,
    /// Where it was made or taken, or is declared.
    #[serde(default)]
    pub site: Site,
}

/// One step of an explanation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExplanationStep {
    /// The step in words.
    #[serde(default)]
    pub text: String,
    /// The rule that justifies it, such as `fifo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The labels of the events that it mentions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
}

impl ExplanationStep {
    /// Makes a step with a text only.
    #[must_use]
    pub fn new(text: impl Into<String>) -> ExplanationStep {
        ExplanationStep { text: text.into(), ..ExplanationStep::default() }
    }
}

/// Two conflicting accesses, as one edge of a cycle between events or tasks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CycleConflict {
    /// The event or task of the first access.
    pub from: String,
    /// The event or task of the second access.
    pub to: String,
    /// The location of the second access.
    pub location: String,
    /// The label of the first access.
    pub before: String,
    /// The label of the second access.
    pub after: String,
    /// Whether every run has the two accesses in this order; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<bool>,
}

/// A second run of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reproduction {
    /// What it came to.
    pub class: Reproduced,
    /// What was seen, in a phrase.
    pub text: String,
    /// How the threads of the program have to be held so that it happens again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<serde_json::Value>,
}

/// A run that shows a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Witness {
    /// The name of its format, such as `schedule` or `edtrace`.
    pub format: String,
    /// Its place: beside the result, or inside it.
    #[serde(flatten)]
    pub place: WitnessPlace,
}

/// The place of a witness.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WitnessPlace {
    /// In this file.
    Path(String),
    /// Here: an object of a JSON format, or the text of another format.
    Inline(serde_json::Value),
}

/// Whether other races order a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Coverage {
    /// The definition used.
    pub level: CoverageLevel,
    /// Whether some pair of the group is uncovered.
    pub uncovered: bool,
    /// The number of pairs of the group that are uncovered.
    #[serde(default)]
    pub uncovered_pairs: u64,
}

/// The suppression that excludes a finding from the count.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Suppressed {
    /// The reason, if the suppression gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The line of the suppression in its file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its file, where it is another one than `anyorder.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
