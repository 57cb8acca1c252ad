//! The fields of an object, read strictly.

use serde_json::{Map, Value};

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
    fn fields_that_nothing_asked_for_are_named() {
        let value = serde_json::json!({"a": 1, "b": "x"});
        let mut fields = Fields::of(&value, "step 1").unwrap();
        assert_eq!(fields.number("a"), Ok(1));
        assert!(fields.text("a").is_err());
        assert_eq!(fields.end(), Err("step 1: unknown field `b`".to_owned()));
    }
}
