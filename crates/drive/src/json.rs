//! JSON of any size, read so that the job of this thread can be stopped.

use anyorder_system::JobWatch;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Parses a text as one JSON value. It asks the [`JobWatch`] of the thread at each member of a list
/// or an object.
///
/// # Errors
///
/// Fails like `serde_json`, and once the job was asked to stop.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Watched(value)| value)
}

/// A value that is read with polls.
struct Watched(Value);

impl<'de> Deserialize<'de> for Watched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Watched, D::Error> {
        deserializer.deserialize_any(WatchedVisitor)
    }
}

struct WatchedVisitor;

impl<'de> Visitor<'de> for WatchedVisitor {
    type Value = Watched;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Watched, E> {
        Ok(Watched(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Watched, E> {
        Ok(Watched(Value::Bool(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Watched, E> {
        Ok(Watched(Value::Number(value.into())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Watched, E> {
        Ok(Watched(Value::Number(value.into())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Watched, E> {
        Ok(Watched(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Watched, E> {
        Ok(Watched(Value::String(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Watched, A::Error> {
        let watch = JobWatch::current();
        let mut values = Vec::new();
        while let Some(Watched(value)) = list.next_element()? {
            watch.check().map_err(A::Error::custom)?;
            values.push(value);
        }
        Ok(Watched(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Watched, A::Error> {
        let watch = JobWatch::current();
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            watch.check().map_err(A::Error::custom)?;
            let Watched(value) = map.next_value()?;
            object.insert(key, value);
        }
        Ok(Watched(Value::Object(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_system::{Cancel, Control};

    const TEXT: &str = r#"{"a":[1,-2,2.5,true,null,"x\u00e4"],"b":{"c":[],"a":{}},"a":3}"#;

    #[test]
    fn values_are_those_of_the_library() {
        for text in [TEXT, "1", "\"a\"", "[[[]]]", "18446744073709551615", "1e400", "{", "[1,]", ""]
        {
            let ours = parse(text).map_err(|error| error.to_string());
            let theirs = serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
            assert_eq!(ours, theirs, "{text}");
        }
    }

    #[test]
    fn a_stopped_job_ends_at_any_member() {
        for polls in 0..20 {
            let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
            let _entered = JobWatch::of(&control).enter();
            let read = parse(TEXT);
            assert_eq!(read.is_ok(), polls >= 11, "{polls}");
        }
    }
}
