//! The messages of the protocol, version 1, as on the wire; `docs/pipe-protocol.md` explains them.

use crate::bounded;
use anyorder_system::{
    AccessDetail, AccessKind, Capabilities, Choice, EnabledDetail, Level, ProgramIdentity, TaskRole,
};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// A request: a number that identifies its reply, and the operation.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) operation: Operation<'a>,
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Operation<'a> {
    Hello {
        versions: &'a [u32],
    },
    Reset,
    Enabled,
    Execute {
        #[serde(flatten)]
        choice: &'a Choice,
    },
    Observe,
    Ping,
    Quit,
}

impl Operation<'_> {
    /// The word for messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Operation::Hello { .. } => "hello",
            Operation::Reset => "reset",
            Operation::Enabled => "enabled",
            Operation::Execute { .. } => "execute",
            Operation::Observe => "observe",
            Operation::Ping => "ping",
            Operation::Quit => "quit",
        }
    }
}

/// The part of a line that is parsed first: the request it answers.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) id: u64,
}

/// A reply: either the requested data, or an error.
#[derive(Debug, Deserialize)]
pub(crate) struct Reply<T> {
    pub(crate) ok: Option<T>,
    pub(crate) error: Option<ErrorReply>,
}

/// An error as data.
#[derive(Debug, Deserialize)]
pub(crate) struct ErrorReply {
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(default, deserialize_with = "bounded::list")]
    pub(crate) enabled: Vec<String>,
}

/// The answer to a request that returns no data.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {}

#[derive(Debug, Deserialize)]
pub(crate) struct HelloReply {
    pub(crate) version: u32,
    pub(crate) program: ProgramIdentity,
    #[serde(default, with = "CapabilitiesEntry")]
    pub(crate) capabilities: Capabilities,
}

/// Version 1 has no snapshots. What tasks wait for follows from rule 6 of the protocol where
/// enabled tasks are listed exactly.
#[derive(Deserialize)]
#[serde(remote = "Capabilities")]
struct CapabilitiesEntry {
    #[serde(skip)]
    snapshot: bool,
    #[serde(default, with = "EnabledWord")]
    enabled: EnabledDetail,
    #[serde(default)]
    deterministic: bool,
    #[serde(default)]
    values: bool,
    #[serde(default, with = "AccessesWord")]
    accesses: AccessDetail,
    #[serde(skip)]
    awaits: bool,
}

#[derive(Deserialize)]
#[serde(remote = "EnabledDetail", rename_all = "snake_case")]
enum EnabledWord {
    Unknown,
    Approximate,
    Exact,
}

#[derive(Deserialize)]
#[serde(remote = "AccessDetail", rename_all = "snake_case")]
enum AccessesWord {
    None,
    Set,
    List,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EnabledReply {
    #[serde(deserialize_with = "bounded::list")]
    pub(crate) tasks: Vec<EnabledEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct EnabledEntry {
    pub(crate) task: String,
    #[serde(default)]
    pub(crate) handler: String,
    #[serde(default = "one")]
    pub(crate) alternatives: u32,
    pub(crate) role: Option<RoleWord>,
}

/// The role of a task.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoleWord {
    Task,
    Input,
    Timer,
}

impl From<RoleWord> for TaskRole {
    fn from(word: RoleWord) -> TaskRole {
        match word {
            RoleWord::Task => TaskRole::Task,
            RoleWord::Input => TaskRole::Input,
            RoleWord::Timer => TaskRole::Timer,
        }
    }
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
pub(crate) struct StepReply {
    #[serde(default, deserialize_with = "bounded::list")]
    pub(crate) accesses: Vec<AccessEntry>,
    #[serde(default, deserialize_with = "bounded::list")]
    pub(crate) posted: Vec<PostedEntry>,
    #[serde(default, deserialize_with = "bounded::list")]
    pub(crate) cancelled: Vec<String>,
    #[serde(default, deserialize_with = "bounded::list")]
    pub(crate) failures: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AccessEntry {
    pub(crate) location: LocationEntry,
    #[serde(with = "AccessWord")]
    pub(crate) kind: AccessKind,
    pub(crate) read: Option<ValueEntry>,
    pub(crate) written: Option<ValueEntry>,
    pub(crate) site: Option<SiteEntry>,
}

#[derive(Deserialize)]
#[serde(remote = "AccessKind", rename_all = "snake_case")]
enum AccessWord {
    Read,
    Write,
    Rmw,
}

/// A variable by its name, or the status of a task.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum LocationEntry {
    Name(String),
    Task { task: String },
}

/// A source position by its name, or by its parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum SiteEntry {
    Label(String),
    Position {
        file: String,
        #[serde(default)]
        line: u32,
        #[serde(default)]
        column: u32,
        #[serde(default)]
        function: String,
    },
}

#[derive(Debug, Deserialize)]
pub(crate) struct PostedEntry {
    pub(crate) task: String,
    #[serde(default)]
    pub(crate) handler: String,
    #[serde(default)]
    pub(crate) delay: u64,
    pub(crate) role: Option<RoleWord>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ObserveReply {
    #[serde(deserialize_with = "bounded::list")]
    pub(crate) parts: Vec<PartEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PartEntry {
    #[serde(deserialize_with = "bounded::list")]
    pub(crate) path: Vec<String>,
    #[serde(with = "LevelWord")]
    pub(crate) level: Level,
    #[serde(default)]
    pub(crate) content: String,
}

#[derive(Deserialize)]
#[serde(remote = "Level", rename_all = "snake_case")]
enum LevelWord {
    Output,
    Failure,
    Request,
    Persistent,
    Heap,
    PendingTimers,
    Bookkeeping,
}

/// A value as 64 bits: see [`value_of_text`] for values that are no such number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ValueEntry {
    pub(crate) bits: u64,
    /// The text that the bits stand for.
    pub(crate) text: Option<String>,
}

impl ValueEntry {
    fn number(bits: u64) -> ValueEntry {
        ValueEntry { bits, text: None }
    }

    fn text(text: &str) -> ValueEntry {
        ValueEntry { bits: value_of_text(text), text: Some(text.to_owned()) }
    }
}

/// Returns the 64 bits that represent a text among the values of accesses: the low half of its
/// hash.
///
/// Numbers from 0 to 2^64 - 1 represent themselves, `false` and `true` are 0 and 1; other numbers
/// are treated as texts.
#[must_use]
pub fn value_of_text(text: &str) -> u64 {
    anyorder_system::Hash128::of(text.as_bytes()).0 as u64
}

impl<'de> Deserialize<'de> for ValueEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ValueEntry, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl Visitor<'_> for ValueVisitor {
    type Value = ValueEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, or a truth value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ValueEntry, E> {
        Ok(ValueEntry::number(u64::from(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ValueEntry, E> {
        Ok(ValueEntry::number(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ValueEntry, E> {
        let text = |_| ValueEntry::text(&value.to_string());
        Ok(u64::try_from(value).map_or_else(text, ValueEntry::number))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ValueEntry, E> {
        // Some languages write 3 as 3.0. Both must be the same value; that is exact up to 2^53.
        if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value) {
            return Ok(ValueEntry::number(value as u64));
        }
        Ok(ValueEntry::text(&value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ValueEntry, E> {
        Ok(ValueEntry::text(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_system::{Injected, TaskName, Value};

    fn json(operation: Operation<'_>) -> String {
        serde_json::to_string(&Request { id: 7, operation }).unwrap()
    }

    #[test]
    fn requests_are_as_documented() {
        assert_eq!(
            json(Operation::Hello { versions: &[1] }),
            r#"{"id":7,"op":"hello","versions":[1]}"#
        );
        assert_eq!(json(Operation::Reset), r#"{"id":7,"op":"reset"}"#);
        let mut choice = Choice::of(TaskName::root("click").with_ordinal(1));
        assert_eq!(
            json(Operation::Execute { choice: &choice }),
            r#"{"id":7,"op":"execute","task":"click#1"}"#
        );
        choice.handler = "ui".to_owned();
        choice.alternative = 2;
        choice.inject = vec![Injected { name: "seed".to_owned(), value: Value::Integer(5) }];
        let expected = concat!(
            r#"{"id":7,"op":"execute","handler":"ui","task":"click#1","alternative":2,"#,
            r#""inject":[{"name":"seed","value":{"integer":"5"}}]}"#
        );
        assert_eq!(json(Operation::Execute { choice: &choice }), expected);
    }

    #[test]
    fn values_are_numbers_where_they_can_be() {
        let value = |text: &str| serde_json::from_str::<ValueEntry>(text).unwrap().bits;
        assert_eq!(value("18446744073709551615"), u64::MAX);
        assert_eq!(value("3.0"), 3);
        assert_eq!((value("false"), value("true")), (0, 1));
        assert_eq!(value("-1"), value_of_text("-1"));
        assert_eq!(value("\"-1\""), value_of_text("-1"));
        assert_eq!(value("1e300"), value_of_text(&1e300f64.to_string()));
        assert!(serde_json::from_str::<ValueEntry>("[1]").is_err());
    }
}
