//! One reported problem, and the places that take part in it.

use crate::words::{CoverageLevel, Harm, Kind, Severity};
use serde::{Deserialize, Serialize};

/// One reported problem. In JSON its fields stand in this order, and absent ones are omitted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// 16 hexadecimal digits, a hash of kind, category and sites: equal over runs; see
    /// [`assign_ids`](crate::assign_ids).
    #[serde(default)]
    pub id: String,
    /// What kind of problem it is.
    pub kind: Kind,
    /// A finer kind; for races the word of a [`RaceCategory`](crate::RaceCategory).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// How much it matters.
    pub severity: Severity,
    /// Whether it does harm.
    pub harm: Harm,
    /// Why a harmless finding does no harm; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm_class: Option<String>,
    /// The problem in one phrase, names in backticks.
    #[serde(default)]
    pub title: String,
    /// The path of the input that it was found in, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The id of the finding that stands for the group of those that one mistake makes; its own
    /// where it is that one. Absent where it is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The places that take part; a race has two, in trace order.
    #[serde(default)]
    pub sites: Vec<Site>,
    /// The members of a group, as labels of events in trace order; cut at `--max-pairs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[String; 2]>,
    /// The number of members of the group, those not listed included; 0 where there are no pairs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_total: u64,
    /// Whether a replay showed it again; `None` where that was not tried. Written as `null` then.
    #[serde(default)]
    pub confirmed: Option<bool>,
    /// In which sense its witness shows another order, the strongest of the group: `reversed`,
    /// `last`, `co_enabled` or `overtakes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Why it is a problem, step by step; for a race the nearest orders that exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanation: Vec<Step>,
    /// A run that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Witness>,
    /// The command that shows it again.
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
    pub suppressed: Option<SetAside>,
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
            kind,
            category: None,
            severity: Severity::Warning,
            harm: Harm::Undecided,
            harm_class: None,
            title: String::new(),
            input: None,
            group: None,
            sites: Vec::new(),
            pairs: Vec::new(),
            pairs_total: 0,
            confirmed: None,
            form: None,
            explanation: Vec::new(),
            witness: None,
            replay: None,
            coverage: None,
            filters: Vec::new(),
            suppressed: None,
            baseline: false,
        }
    }

    /// Returns whether other races order this one. Findings without coverage are not covered.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.coverage.is_some_and(|coverage| !coverage.uncovered)
    }

    /// Returns whether a suppression or the baseline takes it out of the count.
    #[must_use]
    pub fn is_set_aside(&self) -> bool {
        self.suppressed.is_some() || self.baseline
    }

    /// Returns the location of the first site that has one.
    #[must_use]
    pub fn location(&self) -> Option<&str> {
        self.sites.iter().find_map(|site| site.location.as_deref())
    }

    /// Orders findings for a report: what is not set aside first, then the uncovered, then by
    /// severity, then by the number of pairs (most first), then by location and id. A total order,
    /// so reports are the same whatever the order in which engines find things.
    #[must_use]
    pub fn rank(&self, other: &Finding) -> std::cmp::Ordering {
        let key = |f: &Finding| (f.is_set_aside(), f.is_covered(), std::cmp::Reverse(f.severity));
        key(self)
            .cmp(&key(other))
            .then_with(|| other.pairs_total.cmp(&self.pairs_total))
            .then_with(|| self.kind.cmp(&other.kind))
            .then_with(|| self.category.cmp(&other.category))
            .then_with(|| self.location().cmp(&other.location()))
            .then_with(|| self.id.cmp(&other.id))
    }
}

/// One place that takes part in a finding. All parts are optional.
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
    /// The function that the position is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The name of the position where the input only names it.
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
    /// The name of the thread, where the input tells threads from handlers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// What is accessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Where the memory that is accessed was allocated: a position, with its function; `just
    /// before` one for an allocation in a library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated: Option<String>,
    /// How it is accessed: `read`, `write`, `rmw` or `free`, with an atomic ordering behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// How the task came to run, one line a post: the post of the task itself first, the input
    /// event or the thread at the root last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// The locks held there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<String>,
    /// The call stack, the innermost position first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
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

    /// Says where the memory was allocated: `allocated at main.c:30 in main`.
    #[must_use]
    pub fn allocated_at(&self) -> Option<String> {
        let place = self.allocated.as_ref()?;
        let at = if place.starts_with("just before ") { "" } else { "at " };
        Some(format!("allocated {at}{place}"))
    }

    /// Returns the [`position`](Self::position) with the function that it is in, where that says
    /// more.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let position = self.position()?;
        Some(match &self.function {
            Some(function) if *function != position => format!("{position} (in `{function}`)"),
            _ => position,
        })
    }
}

/// One step of an explanation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    /// The step in words.
    #[serde(default)]
    pub text: String,
    /// The rule that justifies it, such as `fifo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The labels of the events it speaks of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
}

impl Step {
    /// Makes a step of words alone.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Step {
        Step { text: text.into(), ..Step::default() }
    }
}

/// A run that shows a finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Witness {
    /// The name of its format, such as `schedule` or `edtrace`.
    pub format: String,
    /// Where it is: beside the result, or in it.
    #[serde(flatten)]
    pub place: WitnessPlace,
}

/// Where a witness is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WitnessPlace {
    /// In this file.
    Path(String),
    /// Here: an object of a JSON format, or the text of any other.
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

/// Why a finding was taken out of the count.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SetAside {
    /// The reason given, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The line of the suppression in its file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
