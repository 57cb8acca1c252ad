//! JSON of any size, read so that the job of this thread can be stopped: as `serde_json` reads it,
//! or strictly.

use anyorder_system::JobWatch;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Parses a text as one JSON value. It asks the [`JobWatch`] of the thread at each member of a list
/// or an object.
///
/// # Errors
///
/// Fails like `serde_json`, and once the job was asked to stop.
pub(crate) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    read(text, Keys::Last)
}

/// Like [`parse`]; a key that stands twice in an object is an error, too.
///
/// # Errors
///
/// Like [`parse`].
pub(crate) fn parse_strictly(text: &str) -> Result<Value, serde_json::Error> {
    read(text, Keys::Once)
}

fn read(text: &str, keys: Keys) -> Result<Value, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = keys.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// What becomes of a key that stands twice in an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keys {
    /// The last one counts.
    Last,
    /// It is an error.
    Once,
}

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let watch = JobWatch::current();
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            watch.check().map_err(A::Error::custom)?;
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let watch = JobWatch::current();
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            watch.check().map_err(A::Error::custom)?;
            let value = map.next_value_seed(self)?;
            if self == Keys::Once && object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
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
    fn read_strictly_a_key_stands_once() {
        let error = |text| parse_strictly(text).map_err(|error| error.to_string());
        assert!(error(TEXT).is_err_and(|error| error.starts_with("the key `a` stands twice")));
        assert!(error(r#"[{"b":{"a":1,"a":1}}]"#).is_err());
        let once = r#"{"a":[{"a":1},{"a":2}],"b":{}}"#;
        assert_eq!(parse_strictly(once).ok(), parse(once).ok());
        assert!(error(once).is_ok() && error("{} {}").is_err() && parse("{} {}").is_err());
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
