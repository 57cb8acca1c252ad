//! What a browser has before a page is loaded: cookies and local storage, as Playwright's
//! `storageState` writes them, so that a user is logged in.
//!
//! ```json
//! {"cookies": [{"name": "session", "value": "x", "domain": "localhost", "path": "/"}],
//!  "origins": [{"origin": "http://localhost",
//!               "localStorage": [{"name": "theme", "value": "dark"}]}]}
//! ```

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Cookies and local storage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StorageState {
    /// As parameters of the browser's command.
    pub(crate) cookies: Vec<Value>,
    /// The local storage of each origin.
    pub(crate) local: BTreeMap<String, BTreeMap<String, String>>,
}

impl StorageState {
    /// Returns whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty() && self.local.is_empty()
    }
}

/// Whether a value has the right type.
type IsRight = fn(&Value) -> bool;

/// What a cookie may have besides its name and value.
const MEMBERS: &[(&str, IsRight)] = &[
    ("domain", Value::is_string),
    ("path", Value::is_string),
    ("url", Value::is_string),
    ("expires", Value::is_number),
    ("httpOnly", Value::is_boolean),
    ("secure", Value::is_boolean),
    ("sameSite", is_same_site),
    ("partitionKey", Value::is_string),
];

fn is_same_site(value: &Value) -> bool {
    matches!(value.as_str(), Some("Strict" | "Lax" | "None"))
}

/// Reads a storage state from a text in JSON.
///
/// # Errors
///
/// Says what is wrong, and where: a cookie by its number, from 1.
pub fn read_storage_state(text: &str) -> Result<StorageState, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let object = value.as_object().ok_or("it is no object with `cookies` and `origins`")?;
    if let Some(other) = object.keys().find(|key| !["cookies", "origins"].contains(&key.as_str())) {
        return Err(format!("`{other}` is unknown: expected `cookies` or `origins`"));
    }
    let mut state = StorageState::default();
    for (number, one) in (1..).zip(list(object, "cookies")?) {
        state.cookies.push(cookie(one).map_err(|why| format!("cookie {number}: {why}"))?);
    }
    for (number, one) in (1..).zip(list(object, "origins")?) {
        let wrong = |why: String| format!("origin {number}: {why}");
        let origin = text_of(one, "origin").map_err(wrong)?;
        let items = one.as_object().ok_or_else(|| wrong("it is no object".to_owned()))?;
        let stored = state.local.entry(origin.trim_end_matches('/').to_owned()).or_default();
        for item in list(items, "localStorage").map_err(wrong)? {
            let pair = (text_of(item, "name"), text_of(item, "value"));
            stored.insert(pair.0.map_err(wrong)?, pair.1.map_err(wrong)?);
        }
    }
    Ok(state)
}

fn list<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a [Value], String> {
    match object.get(name) {
        None => Ok(&[]),
        Some(value) => {
            value.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{name}` is no list"))
        }
    }
}

fn text_of(value: &Value, name: &str) -> Result<String, String> {
    value[name].as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is no text"))
}

fn cookie(value: &Value) -> Result<Value, String> {
    let mut cookie = json!({"name": text_of(value, "name")?, "value": text_of(value, "value")?});
    let given = value.as_object().into_iter().flatten();
    for (name, value) in given.filter(|(name, _)| !["name", "value"].contains(&name.as_str())) {
        let Some((_, is_right)) = MEMBERS.iter().find(|(known, _)| known == name) else {
            return Err(format!("`{name}` is unknown"));
        };
        if !is_right(value) {
            return Err(format!("`{name}` has a wrong value: {value}"));
        }
        // Playwright writes -1 for a cookie that ends with the session.
        let is_session = name == "expires" && value.as_f64().is_some_and(|time| time < 0.0);
        if !is_session && name != "partitionKey" {
            cookie[name] = value.clone();
        }
    }
    let has_place = ["domain", "url"].iter().any(|name| cookie[*name].is_string());
    if has_place { Ok(cookie) } else { Err("it needs a `domain` or a `url`".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::read_storage_state;
    use serde_json::json;

    #[test]
    fn what_playwright_writes_is_read() {
        let text = r#"{"cookies": [{"name": "s", "value": "x", "domain": "localhost", "path": "/",
            "expires": -1, "httpOnly": true, "secure": false, "sameSite": "Lax"}],
            "origins": [{"origin": "http://localhost/",
                         "localStorage": [{"name": "theme", "value": "dark"}]}]}"#;
        let state = read_storage_state(text).unwrap();
        let cookie = json!({"name": "s", "value": "x", "domain": "localhost", "path": "/",
            "httpOnly": true, "secure": false, "sameSite": "Lax"});
        assert_eq!(state.cookies, [cookie]);
        assert_eq!(state.local["http://localhost"]["theme"], "dark");
        assert!(read_storage_state("{}").unwrap().is_empty());
    }

    #[test]
    fn mistakes_have_their_places() {
        for (text, why) in [
            ("[]", "no object"),
            (r#"{"cookie": []}"#, "`cookie` is unknown"),
            (r#"{"cookies": {}}"#, "`cookies` is no list"),
            (r#"{"cookies": [{"name": "a"}]}"#, "cookie 1: `value` is no text"),
            (r#"{"cookies": [{"name": "a", "value": "b"}]}"#, "cookie 1: it needs a `domain`"),
            (r#"{"cookies": [{"name": "a", "value": "b", "domain": 3}]}"#, "`domain` has a wrong"),
            (r#"{"cookies": [{"name": "a", "value": "b", "domein": ""}]}"#, "`domein` is unknown"),
            (r#"{"origins": [{}]}"#, "origin 1: `origin` is no text"),
            (r#"{"origins": [{"origin": "a", "localStorage": [1]}]}"#, "`name` is no text"),
        ] {
            let error = read_storage_state(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
