//! JSON read strictly: a key that stands twice in an object is an error.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Parses a text as one JSON value.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let strict: Strict = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(strict.0)
}

/// A value whose objects have no key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Strict, D::Error> {
        deserializer.deserialize_any(StrictVisitor)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Strict;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Strict, E> {
        Ok(Strict(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Strict, E> {
        Ok(Strict(Value::Bool(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Strict, E> {
        Ok(Strict(Value::Number(value.into())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Strict, E> {
        Ok(Strict(Value::Number(value.into())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Strict, E> {
        Ok(Strict(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Strict, E> {
        Ok(Strict(Value::String(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Strict, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Strict(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Strict, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let Strict(value) = map.next_value()?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            object.insert(key, value);
        }
        Ok(Strict(Value::Object(object)))
    }
}

/// Fields of an object, taken one by one; what is left over is unknown.
pub(super) struct Fields<'v> {
    object: &'v Map<String, Value>,
    /// The path of the object in the file, for messages.
    place: String,
    taken: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    pub(super) fn of(value: &'v Value, place: impl Into<String>) -> Result<Fields<'v>, String> {
        let place = place.into();
        let object = value.as_object().ok_or_else(|| format!("{place}: expected an object"))?;
        Ok(Fields { object, place, taken: Vec::new() })
    }

    /// Returns a field that may be missing.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'v Value> {
        self.taken.push(key);
        self.object.get(key)
    }

    /// Returns a text.
    pub(super) fn text(&mut self, key: &'static str) -> Result<&'v str, String> {
        self.text_if(key)?.ok_or_else(|| self.wrong(key, "a text"))
    }

    /// Returns a text that may be missing.
    pub(super) fn text_if(&mut self, key: &'static str) -> Result<Option<&'v str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.as_str() {
                Some(text) => Ok(Some(text)),
                None => Err(self.wrong(key, "a text")),
            },
        }
    }

    /// Returns an integer from 0 that may be missing.
    pub(super) fn number_if(&mut self, key: &'static str) -> Result<Option<u64>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(key, "an integer from 0")),
            },
        }
    }

    /// Returns an integer from 0.
    pub(super) fn number(&mut self, key: &'static str) -> Result<u64, String> {
        self.number_if(key)?.ok_or_else(|| self.wrong(key, "an integer from 0"))
    }

    /// Returns a list.
    pub(super) fn list(&mut self, key: &'static str) -> Result<&'v [Value], String> {
        let list = self.get(key).and_then(Value::as_array);
        list.map(Vec::as_slice).ok_or_else(|| self.wrong(key, "a list"))
    }

    /// Fails if the object has a field that nothing asked for.
    pub(super) fn end(self) -> Result<(), String> {
        match self.object.keys().find(|key| !self.taken.contains(&key.as_str())) {
            Some(key) => Err(format!("{}: unknown field `{key}`", self.place)),
            None => Ok(()),
        }
    }

    fn wrong(&self, key: &str, expected: &str) -> String {
        format!("{}: expected {expected} as `{key}`", self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        assert!(parse("{\"a\":1,\"b\":[{\"a\":2}]}").is_ok());
        assert!(parse("{\"a\":1,\"a\":1}").unwrap_err().contains("`a` stands twice"));
        assert!(parse("[{\"b\":{\"a\":1,\"a\":1}}]").is_err());
        assert!(parse("{} {}").is_err());
    }

    #[test]
    fn fields_that_nothing_asked_for_are_named() {
        let value = parse("{\"a\":1,\"b\":\"x\"}").unwrap();
        let mut fields = Fields::of(&value, "step 1").unwrap();
        assert_eq!(fields.number("a"), Ok(1));
        assert!(fields.text("a").is_err());
        assert_eq!(fields.end(), Err("step 1: unknown field `b`".to_owned()));
    }
}
