//! All results of one command, in the shape of their JSON object.

use crate::exit::Policy;
use crate::finding::Finding;
use crate::names::option::OptionName;
use crate::names::stat::StatName;
use crate::ordered::Ordered;
use crate::usage::{CheckedHome, Usage};
use crate::words::{Kind, Verdict, WarningKind};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// All results of one command. In JSON, the fields have this order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The version of the JSON format: [`Outcome::SCHEMA`].
    pub schema: u32,
    /// The name of the tool.
    pub tool: String,
    /// The version of the tool.
    pub version: String,
    /// The command, such as `check`.
    pub command: String,
    /// The inputs.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// The options that decide the result, defaults included.
    #[serde(default)]
    pub options: OptionValues,
    /// The answer.
    pub verdict: Verdict,
    /// Whether everything asked for was searched.
    pub complete: bool,
    /// The names of the limits that ended the search early.
    #[serde(default)]
    pub limits: Vec<String>,
    /// The names of the bounds of the question, where more exists beyond them. A complete result is
    /// complete up to these bounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<String>,
    /// Parts of the inputs that are odd or were not understood; findings may depend on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The findings, in the order of the report.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Counts, by name.
    #[serde(default)]
    pub stats: Stats,
    /// Which automations use which attributes, of a home.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usages: Vec<Usage>,
    /// The homes that were checked, each for itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<CheckedHome>,
}

/// The options that decide a result, by their long names without dashes.
pub type OptionValues = Ordered<OptionValue, OptionName>;

/// Counts by name, in reading order.
pub type Stats = Ordered<Stat, StatName>;

impl Outcome {
    /// The version of the JSON format that this crate writes.
    pub const SCHEMA: u32 = 1;

    /// Makes a result without findings of a complete search.
    #[must_use]
    pub fn new(command: impl Into<String>, version: impl Into<String>) -> Outcome {
        Outcome {
            schema: Self::SCHEMA,
            tool: "anyorder".into(),
            version: version.into(),
            command: command.into(),
            inputs: Vec::new(),
            options: OptionValues::new(),
            verdict: Verdict::Ok,
            complete: true,
            limits: Vec::new(),
            bounds: Vec::new(),
            usages: Vec::new(),
            homes: Vec::new(),
            warnings: Vec::new(),
            findings: Vec::new(),
            stats: Stats::new(),
        }
    }

    /// Sets the verdict of `check`, `explore` and `predict` from the findings: `findings` if one
    /// counts, otherwise `incomplete` if a limit was hit or a run did not repeat itself, otherwise
    /// `ok`. Call this after the baseline and the suppressions were applied.
    pub fn judge(&mut self, policy: &Policy) {
        let is_open = |finding: &Finding| {
            finding.kind == Kind::Unstable
                && !finding.is_excluded()
                && finding.severity >= policy.fail_on
        };
        self.verdict = if self.findings.iter().any(|finding| policy.counts(finding)) {
            Verdict::Findings
        } else if self.complete && !self.findings.iter().any(is_open) {
            Verdict::Ok
        } else {
            Verdict::Incomplete
        };
    }

    /// Records a limit that ended the search early. Each name is listed once.
    pub fn cut_by(&mut self, name: OptionName) {
        self.complete = false;
        if !self.limits.iter().any(|limit| limit == name.word()) {
            self.limits.push(name.into());
        }
    }

    /// Returns a copy with the first findings only. It says nothing of the others.
    #[must_use]
    pub fn with_first(&self, count: usize) -> Outcome {
        Outcome {
            schema: self.schema,
            tool: self.tool.clone(),
            version: self.version.clone(),
            command: self.command.clone(),
            inputs: self.inputs.clone(),
            options: self.options.clone(),
            verdict: self.verdict,
            complete: self.complete,
            limits: self.limits.clone(),
            bounds: self.bounds.clone(),
            warnings: self.warnings.clone(),
            findings: self.findings[..count.min(self.findings.len())].to_vec(),
            stats: self.stats.clone(),
            usages: self.usages.clone(),
            homes: self.homes.clone(),
        }
    }

    /// Records a requested bound, beyond which more exists. It is not a limit. Each name is listed
    /// once.
    pub fn bounded_by(&mut self, name: OptionName) {
        if !self.bounds.iter().any(|bound| bound == name.word()) {
            self.bounds.push(name.into());
        }
    }
}

/// Returns the JSON Schema (draft 2020-12) of the object that `--format json` writes; each line of
/// `--format jsonl` is of its `$defs/finding`.
#[must_use]
pub fn schema() -> &'static str {
    include_str!("schema.json")
}

/// One input that was read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Input {
    /// Its path as given, `-` for standard input.
    pub path: String,
    /// The name of its format.
    pub format: String,
    /// The file of a program, if `path` is the command that starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Input {
    /// Makes the input at a path.
    #[must_use]
    pub fn new(path: &Path, format: &str) -> Input {
        let (path, format) = (path.to_string_lossy().into_owned(), format.to_owned());
        Input { path, format, file: None }
    }

    /// Makes the input that a command starts, and the file of its program.
    #[must_use]
    pub fn program(command: &str, file: Option<String>) -> Input {
        Input { file, ..Input::new(Path::new(command), "program") }
    }
}

/// Something in an input that is odd, or that its reader did not understand.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Warning {
    /// What kind of warning it is.
    pub kind: WarningKind,
    /// The path of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// A description in one phrase.
    pub text: String,
    /// The number of its occurrences in the input.
    pub count: u64,
    /// Its first places: labels of events, or `line 3`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

impl Warning {
    /// Makes a warning about an input, without places.
    #[must_use]
    pub fn new(kind: WarningKind, input: &str, text: impl Into<String>, count: u64) -> Warning {
        let (input, text) = (Some(input.to_owned()), text.into());
        Warning { kind, input, text, count, places: Vec::new() }
    }
}

/// The value of an option.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// A switch.
    Bool(bool),
    /// A number.
    Integer(u64),
    /// A word, a path.
    Text(String),
    /// An option given several times.
    List(Vec<String>),
}

/// One statistic.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Stat {
    /// A count.
    Integer(u64),
    /// Counts by a second name, such as a category.
    Map(Ordered<u64>),
    /// Counts by position.
    List(Vec<u64>),
    /// A word, such as the name of the procedure.
    Text(String),
}

impl Stat {
    /// Returns the number, if it is one.
    #[must_use]
    pub const fn integer(&self) -> Option<u64> {
        match self {
            Stat::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// Converts types into the variants that hold them.
macro_rules! from {
    ($value:ident: $($variant:ident from $source:ty),+) => {
        $(impl From<$source> for $value {
            fn from(value: $source) -> $value {
                $value::$variant(value.into())
            }
        })+
    };
}

from!(Stat: Integer from u64, Integer from u32, Text from &str, Map from Ordered<u64>, List from Vec<u64>);
from!(OptionValue: Bool from bool, Integer from u64, Text from &str, Text from String, List from Vec<String>);
