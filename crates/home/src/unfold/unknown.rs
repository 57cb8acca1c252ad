//! Values that are not known: the data of an event, the answer of a server, a request.
//!
//! Whatever is made of such a value is another. A comparison of one takes any answer, and the same
//! answer each time within one execution.

use super::run::{Answer, Run};
use super::things::{Found, Thing};
use crate::value::Stored;
use anyorder_groovy::eval::{Stop, Value, equal, show};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What an execution knows of an unknown value.
#[derive(Clone, Debug, Default)]
pub(super) struct Guess {
    /// What it equals.
    equal: Option<String>,
    /// What it does not equal.
    others: Vec<String>,
    /// Whether it counts as true.
    is_true: Option<bool>,
    /// Which of the buttons it is.
    button: Option<i32>,
}

/// Most letters of the description of an unknown value.
const LETTERS_MAX: usize = 1000;

/// The buttons of a device.
const BUTTONS: u16 = 4;

/// The guesses of an execution, by the descriptions of the values.
pub(super) type Guesses = BTreeMap<String, Guess>;

impl Run<'_, '_> {
    /// Returns a value that is not known.
    pub(super) fn anything(&mut self, what: &str) -> Value {
        self.approximated(&format!("{what}: anything"));
        self.object(Thing::Unknown(what.to_owned()))
    }

    pub(super) fn unknown_property(&mut self, of: &str, name: &str) -> Answer {
        if name == "buttonNumber" {
            return Some(Ok(Value::Int(self.button(of))));
        }
        self.unknown_made(format!("{of}.{name}"))
    }

    /// Returns the number of a button: the platform says that the data of its event has it.
    fn button(&mut self, of: &str) -> i32 {
        let known = self.guesses.get(of).and_then(|guess| guess.button);
        known.unwrap_or_else(|| {
            let button = i32::try_from(self.choose(BUTTONS)).unwrap_or(0) + 1;
            self.guesses.entry(of.to_owned()).or_default().button = Some(button);
            button
        })
    }

    pub(super) fn unknown_call(&mut self, of: &str, name: &str, arguments: &[Value]) -> Answer {
        let arguments: Vec<String> = arguments.iter().map(|one| self.described(one)).collect();
        self.unknown_made(format!("{of}.{name}({})", arguments.join(", ")))
    }

    fn unknown_made(&mut self, what: String) -> Answer {
        if what.len() > LETTERS_MAX {
            return Some(Err(Stop::Limit("steps from an unknown value")));
        }
        Some(Ok(self.object(Thing::Unknown(what))))
    }

    fn described(&self, value: &Value) -> String {
        match value {
            Value::Object(id) => match self.things.get(*id) {
                Some(Found::Other(Thing::Unknown(what))) => what,
                _ => format!("object {id}"),
            },
            value => show(value),
        }
    }

    /// Decides whether an object equals something else.
    pub(super) fn object_equals(
        &mut self,
        object: u32,
        other: &Value,
    ) -> Option<Result<bool, Stop>> {
        if matches!(other, Value::Object(other) if *other == object) {
            return None;
        }
        match self.things.get(object)? {
            Found::Other(Thing::Unknown(what)) => {
                let other = self.described(other);
                let guess = self.guesses.entry(what.clone()).or_default();
                let known = match &guess.equal {
                    Some(known) => Some(*known == other),
                    None => guess.others.contains(&other).then_some(false),
                };
                Some(Ok(known.unwrap_or_else(|| {
                    let is_equal = self.choose(2) == 1;
                    let guess = self.guesses.entry(what).or_default();
                    if is_equal {
                        guess.equal = Some(other);
                    } else {
                        guess.others.push(other);
                    }
                    is_equal
                })))
            }
            Found::Other(Thing::Reading(value)) if !matches!(other, Value::Object(_)) => {
                Some(Ok(self.reading_equals(&value, other)))
            }
            _ => None,
        }
    }

    /// What an author means by `device.currentState("motion") == "active"` is clear, and what
    /// the platform makes of it is not.
    fn reading_equals(&mut self, value: &Stored, other: &Value) -> bool {
        if !equal(&value.value(), other) {
            return false;
        }
        if self.deeds.world.is_immediate {
            return true;
        }
        self.approximated("a reading is compared with its value: equal, or not");
        self.choose(2) == 0
    }

    /// Compares an object with something else.
    pub(super) fn object_order(
        &mut self,
        object: u32,
        other: &Value,
    ) -> Option<Result<Ordering, Stop>> {
        match self.things.get(object)? {
            Found::Other(Thing::Unknown(_)) => {
                let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];
                Some(Ok(orders[self.choose(3).min(2)]))
            }
            Found::Other(Thing::Date(at)) => match other {
                Value::Object(id) => match self.things.get(*id)? {
                    Found::Other(Thing::Date(other)) => Some(Ok(at.cmp(&other))),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether an object counts as true.
    pub(super) fn object_is_true(&mut self, object: u32) -> Option<Result<bool, Stop>> {
        let Found::Other(Thing::Unknown(what)) = self.things.get(object)? else { return None };
        let known = self.guesses.get(&what).and_then(|guess| guess.is_true);
        Some(Ok(known.unwrap_or_else(|| {
            let is_true = self.choose(2) == 1;
            self.guesses.entry(what).or_default().is_true = Some(is_true);
            is_true
        })))
    }

    pub(super) fn is_unknown_object(&self, object: u32) -> bool {
        matches!(self.things.get(object), Some(Found::Other(Thing::Unknown(_))))
    }
}
