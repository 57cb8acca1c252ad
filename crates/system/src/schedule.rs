//! The choices that reproduce one run, as versioned JSON.

use crate::task_name::TaskName;
use anyorder_common::hash::Hash128;
use anyorder_common::text::escape_json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The program that a schedule is for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProgramIdentity {
    /// Its name: a URL, a path, the name of a test.
    pub name: String,
    /// Its version, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// A hash of its code, if known.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "hexadecimal_if_known")]
    pub hash: Option<Hash128>,
}

impl ProgramIdentity {
    /// Makes the identity of a program from its name alone.
    #[must_use]
    pub fn new(name: &str) -> ProgramIdentity {
        ProgramIdentity { name: name.to_owned(), ..ProgramIdentity::default() }
    }
}

/// A value injected into a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Value {
    /// A number, such as a random seed. Written as decimal text, as JSON readers lose digits of
    /// large numbers.
    Integer(#[serde(with = "decimal")] u64),
    /// A short text.
    Text(String),
    /// The hash of data stored elsewhere, such as a response body.
    Hash(#[serde(with = "hexadecimal")] Hash128),
}

/// An injected value and its use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Injected {
    /// The request for the value.
    pub name: String,
    /// The value.
    pub value: Value,
}

/// One choice of a schedule: the task to run next, its alternative and its values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// The handler that runs it; empty if the task's name is enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub handler: String,
    /// The task.
    pub task: TaskName,
    /// The number of the task's alternative, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alternative: u32,
    /// Injected values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<Injected>,
}

impl Choice {
    /// Makes the choice of a task, with its first alternative and no values.
    #[must_use]
    pub fn of(task: TaskName) -> Choice {
        Choice { handler: String::new(), task, alternative: 0, inject: Vec::new() }
    }
}

/// The choices that reproduce one run. A prefix of a schedule is a schedule.
///
/// As JSON: `{"schedule":1,"program":{...},"options":{...},"choices":[...]}`. Readers ignore
/// unknown keys, and refuse unknown versions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Schedule {
    #[serde(rename = "schedule")]
    version: Version,
    /// Its program.
    pub program: ProgramIdentity,
    /// Options under which the program ran.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// The choices, first to last.
    pub choices: Vec<Choice>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
struct Version(u32);

impl Default for Version {
    fn default() -> Version {
        Version(Schedule::VERSION)
    }
}

/// The header, read before the version is checked.
#[derive(Deserialize)]
struct Header {
    schedule: Option<u64>,
}

#[derive(Deserialize)]
struct Body {
    program: ProgramIdentity,
    #[serde(default)]
    options: BTreeMap<String, String>,
    choices: Vec<Choice>,
}

/// Why a text is not a schedule.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// It is not JSON, or has the wrong shape; the message has line and column.
    #[error("not a schedule: {0}")]
    Json(#[from] serde_json::Error),
    /// It has no `schedule` key.
    #[error("not a schedule: the key `schedule` with the version is missing")]
    NoVersion,
    /// Its version is unknown to this program.
    #[error("schedule version {0} is not known; this program reads version {known}", known = Schedule::VERSION)]
    Version(u64),
}

impl Schedule {
    /// The only version that is written and read.
    pub const VERSION: u32 = 1;

    /// Makes a schedule without choices.
    #[must_use]
    pub fn new(program: ProgramIdentity) -> Schedule {
        Schedule { program, ..Schedule::default() }
    }

    /// Returns the schedule as one line of JSON, whose bytes are safe on a terminal.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Only maps with keys that are not strings can fail, and the type has none.
        let json = serde_json::to_string(self).unwrap_or_default();
        escape_json(&json).into_owned()
    }

    /// Reads a schedule.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, has another version, or the wrong shape.
    pub fn from_json(text: &str) -> Result<Schedule, ScheduleError> {
        let header: Header = serde_json::from_str(text)?;
        match header.schedule {
            None => return Err(ScheduleError::NoVersion),
            Some(version) if version != u64::from(Schedule::VERSION) => {
                return Err(ScheduleError::Version(version));
            }
            Some(_) => {}
        }
        let Body { program, options, choices } = serde_json::from_str(text)?;
        Ok(Schedule { version: Version::default(), program, options, choices })
    }
}

/// The point where a replay first diverged from its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The number of the choice that could not be taken, from 0.
    pub choice: usize,
    /// The expected task.
    pub wanted: TaskName,
    /// The tasks that could have run instead, if the system knows them.
    pub enabled: Vec<TaskName>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 5;
        write!(f, "diverged at choice {}: `{}` cannot run", self.choice + 1, self.wanted)?;
        let mut separator = "; enabled: ";
        for name in self.enabled.iter().take(SHOWN_MAX) {
            write!(f, "{separator}`{name}`")?;
            separator = ", ";
        }
        if self.enabled.len() > SHOWN_MAX {
            write!(f, " and {} more", self.enabled.len() - SHOWN_MAX)?;
        }
        Ok(())
    }
}

impl Serialize for TaskName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TaskName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

mod hexadecimal {
    use super::*;

    pub(super) fn serialize<S: Serializer>(hash: &Hash128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(hash)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hash128, D::Error> {
        let text = String::deserialize(from)?;
        Hash128::parse(&text).ok_or_else(expected)
    }

    pub(super) fn expected<E: serde::de::Error>() -> E {
        E::custom("expected 32 hexadecimal digits")
    }
}

mod hexadecimal_if_known {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        hash: &Option<Hash128>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match hash {
            Some(hash) => hexadecimal::serialize(hash, to),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Hash128>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let parsed = text.map(|text| Hash128::parse(&text).ok_or_else(hexadecimal::expected));
        parsed.transpose()
    }
}

mod decimal {
    use super::*;

    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom("expected a decimal number in quotes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Schedule {
        let load = TaskName::root("load");
        let reply = load.child("reply").with_label("/notes").with_ordinal(1);
        let mut schedule = Schedule::new(ProgramIdentity::new("notes"));
        schedule.options.insert("viewport".to_owned(), "800x600".to_owned());
        schedule.choices.push(Choice::of(load));
        schedule.choices.push(Choice {
            handler: "ui".to_owned(),
            task: reply,
            alternative: 2,
            inject: vec![
                Injected { name: "body".to_owned(), value: Value::Hash(Hash128(7)) },
                Injected { name: "seed".to_owned(), value: Value::Integer(u64::MAX) },
                Injected { name: "locale".to_owned(), value: Value::Text("de".to_owned()) },
            ],
        });
        schedule
    }

    #[test]
    fn json_is_as_documented_and_reads_back() {
        let schedule = example();
        let json = schedule.to_json();
        let expected = concat!(
            r#"{"schedule":1,"program":{"name":"notes"},"options":{"viewport":"800x600"},"#,
            r#""choices":[{"task":"load"},{"handler":"ui","task":"load/reply@%2Fnotes#1","alternative":2,"#,
            r#""inject":[{"name":"body","value":{"hash":"00000000000000000000000000000007"}},"#,
            r#"{"name":"seed","value":{"integer":"18446744073709551615"}},"#,
            r#"{"name":"locale","value":{"text":"de"}}]}]}"#
        );
        assert_eq!(json, expected);
        assert_eq!(Schedule::from_json(&json).unwrap(), schedule);
    }

    #[test]
    fn unknown_keys_are_ignored_and_unknown_versions_refused() {
        let json = r#"{"schedule":1,"later":[1],"program":{"name":"x","y":0},"choices":[]}"#;
        assert_eq!(Schedule::from_json(json).unwrap(), Schedule::new(ProgramIdentity::new("x")));
        let cases = [
            (r#"{"schedule":2}"#, "schedule version 2 is not known; this program reads version 1"),
            (r#"{"choices":[]}"#, "not a schedule: the key `schedule` with the version is missing"),
        ];
        for (json, message) in cases {
            assert_eq!(Schedule::from_json(json).unwrap_err().to_string(), message);
        }
        let bad = r#"{"schedule":1,"program":{"name":"x"},"choices":[{"task":"a//b"}]}"#;
        let message = Schedule::from_json(bad).unwrap_err().to_string();
        assert!(
            message.starts_with("not a schedule: empty step in a task name at line 1"),
            "{message}"
        );
        assert!(Schedule::from_json("").is_err());
    }

    #[test]
    fn divergence_names_what_could_have_run() {
        let divergence = Divergence {
            choice: 2,
            wanted: TaskName::root("a"),
            enabled: (0..7).map(|i| TaskName::root("t").with_ordinal(i)).collect(),
        };
        let expected = "diverged at choice 3: `a` cannot run; enabled: `t`, `t#1`, `t#2`, `t#3`, `t#4` and 2 more";
        assert_eq!(divergence.to_string(), expected);
    }
}
