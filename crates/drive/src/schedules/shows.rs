//! What a schedule shows, as data; a schedule holds it as one text.

use super::ClaimedFailure;
use anyorder_system::{BrokenProperty, Failure, Schedule};
use std::fmt;

/// The schedule option that holds the finding.
const SHOWS: &str = "shows";

/// The finding that a schedule shows. The schedule stores it as text: `failure MESSAGE`, `invariant
/// NAME`, `deadlock`, `final`, `response NAME`, `livelock`, `update_conflict ATTRIBUTE COMPONENT
/// COMPONENT`, `state [[PART, VALUE], ...]`, `difference [PART, ...]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shows {
    /// A step fails like this.
    Failure(ClaimedFailure),
    /// An invariant is broken at the end.
    Invariant(String),
    /// A deadlock at the end.
    Deadlock,
    /// A wrong end: all tasks are done, and the final condition does not hold.
    Final,
    /// A response never comes.
    Response(String),
    /// From the loop on, no run can end.
    Livelock,
    /// Two components update one attribute to different values, the second in the last step.
    Conflict(String, [String; 2]),
    /// The state at the end has these values: names and values of parts.
    State(Vec<(String, String)>),
    /// These parts of the observation differ from those of another run.
    Difference(Vec<String>),
    /// A text that this version does not know.
    Other(String),
}

impl Shows {
    /// Reads the finding that a schedule shows, if it names one.
    pub(crate) fn of(schedule: &Schedule) -> Option<Shows> {
        schedule.options.get(SHOWS).map(|text| Shows::parse(text))
    }

    /// Returns the finding of a failing step. A step of a task system also fails at a broken
    /// property.
    pub(crate) fn of_failure(failure: &Failure) -> Shows {
        match &failure.broken {
            None => Shows::Failure(ClaimedFailure::of(failure)),
            Some(BrokenProperty::Invariant(name)) => Shows::Invariant(name.clone()),
            Some(BrokenProperty::Final) => Shows::Final,
            Some(BrokenProperty::UpdateConflict { attribute, components }) => {
                Shows::Conflict(attribute.clone(), components.clone())
            }
        }
    }

    /// Reads the text of a schedule. Only files are read like this: what a run shows is data.
    fn parse(text: &str) -> Shows {
        let rest = |word: &str| text.strip_prefix(word).map(str::to_owned);
        let conflict = || {
            // The key of a map may have spaces in it.
            let mut words =
                text.strip_prefix("update_conflict ")?.rsplitn(3, ' ').map(str::to_owned);
            let (b, a, attribute) = (words.next()?, words.next()?, words.next()?);
            Some(Shows::Conflict(attribute, [a, b]))
        };
        let parts = |list: String| serde_json::from_str(&list).unwrap_or_default();
        let values = |list: String| serde_json::from_str(&list).unwrap_or_default();
        match text {
            "deadlock" => Shows::Deadlock,
            "final" => Shows::Final,
            "livelock" => Shows::Livelock,
            _ => rest("failure ")
                .map(|text| Shows::Failure(ClaimedFailure::read(text)))
                .or_else(|| rest("invariant ").map(Shows::Invariant))
                .or_else(|| rest("response ").map(Shows::Response))
                .or_else(|| rest("difference ").map(|list| Shows::Difference(parts(list))))
                .or_else(|| rest("state ").map(|list| Shows::State(values(list))))
                .or_else(conflict)
                .unwrap_or_else(|| Shows::Other(text.to_owned())),
        }
    }

    /// Writes it into a schedule.
    pub(crate) fn set(&self, schedule: &mut Schedule) {
        schedule.options.insert(SHOWS.to_owned(), self.to_string());
    }
}

impl fmt::Display for Shows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shows::Failure(failure) => write!(f, "failure {failure}"),
            Shows::Invariant(name) => write!(f, "invariant {name}"),
            Shows::Deadlock => f.write_str("deadlock"),
            Shows::Final => f.write_str("final"),
            Shows::Livelock => f.write_str("livelock"),
            Shows::Response(name) => write!(f, "response {name}"),
            Shows::Conflict(attribute, [a, b]) => write!(f, "update_conflict {attribute} {a} {b}"),
            Shows::State(values) => {
                let values = serde_json::to_string(values).map_err(|_| fmt::Error)?;
                write!(f, "state {values}")
            }
            Shows::Difference(parts) => {
                let parts = serde_json::to_string(parts).map_err(|_| fmt::Error)?;
                write!(f, "difference {parts}")
            }
            Shows::Other(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_schedule_shows_is_read_as_it_is_written() {
        let text = str::to_owned;
        for shows in [
            Shows::Failure(ClaimedFailure::read(text("assertion: x at m.any:3:5"))),
            Shows::Invariant(text("safe")),
            Shows::Deadlock,
            Shows::Final,
            Shows::Livelock,
            Shows::Response(text("answered")),
            Shows::Conflict(text("lamps[\"a b\"]"), [text("night"), text("party")]),
            Shows::State(vec![
                (text("x"), text("1")),
                (text("lamps[\"a b\"]"), text("\"on, off\"")),
            ]),
            Shows::Difference(vec![text("dom/list"), text("a \"b\"")]),
            Shows::Other(text("something new")),
        ] {
            assert_eq!(Shows::parse(&shows.to_string()), shows);
        }
        assert_eq!(Shows::parse("update_conflict x"), Shows::Other(text("update_conflict x")));
        assert_eq!(Shows::parse("difference x"), Shows::Difference(Vec::new()));
    }

    #[test]
    fn a_failure_that_says_what_a_broken_property_says_is_a_failure() {
        for text in ["invariant safe", "final", "deadlock", "update_conflict lamp night party"] {
            let shows = Shows::of_failure(&Failure::from(text));
            assert_eq!(shows, Shows::Failure(ClaimedFailure::read(text.to_owned())));
        }
        let broken = BrokenProperty::Invariant("safe".to_owned());
        let shows = Shows::of_failure(&Failure::from(broken));
        assert_eq!(shows, Shows::Invariant("safe".to_owned()));
    }
}
