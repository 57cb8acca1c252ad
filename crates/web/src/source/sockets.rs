//! What servers send over sockets, and its form as JSON.
//!
//! ```json
//! {"/chat": [{"data": "hello"}, {"data": "thanks", "after": 1}],
//!  "/feed": [{"data": "more", "to": "next", "nth": 0}, {"base64": "AAE="}, {"to": "bye"},
//!            {"close": 1000, "reason": "done", "after": 2}]}
//! ```
//!
//! A message with `after` waits until the page has sent so many. One with `to` answers what the
//! page sends: the text, and which of its equal texts, from 0. Without `data`, `base64` and
//! `close`, it says that nothing comes. A text is a message with this `data`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a server sends over a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SocketData {
    /// A text.
    Text(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// It closes the socket, with a code and a reason. 1006: the connection breaks.
    Close(u16, String),
    /// Nothing: it is known that no answer comes.
    Nothing,
}

/// What a message of a server waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SocketCause {
    /// The page has to send so many messages first.
    After(u32),
    /// The page has to send this text, for the time with this number, from 0.
    Sent(String, u32),
}

/// A message that a server sends over a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SocketMessage {
    /// What it waits for.
    pub cause: SocketCause,
    /// What comes.
    pub data: SocketData,
}

/// The messages of each socket, by its path, such as `/chat`.
pub type Sockets = BTreeMap<String, Vec<SocketMessage>>;

impl SocketMessage {
    /// Returns it as JSON.
    #[must_use]
    pub(crate) fn to_json(&self) -> Value {
        let mut value = match &self.data {
            SocketData::Text(text) => json!({"data": text}),
            SocketData::Binary(bytes) => json!({"base64": STANDARD.encode(bytes)}),
            SocketData::Close(code, reason) => json!({"close": code, "reason": reason}),
            SocketData::Nothing => json!({}),
        };
        match &self.cause {
            SocketCause::After(count) => value["after"] = json!(count),
            SocketCause::Sent(text, nth) => {
                value["to"] = json!(text);
                value["nth"] = json!(nth);
            }
        }
        value
    }

    /// Reads what [`to_json`](Self::to_json) returns, or a text. The error says what is wrong.
    pub(crate) fn parse(value: &Value) -> Result<SocketMessage, String> {
        const KEYS: [&str; 7] = ["data", "base64", "close", "reason", "after", "to", "nth"];
        if let Some(text) = value.as_str() {
            let data = SocketData::Text(text.to_owned());
            return Ok(SocketMessage { cause: SocketCause::After(0), data });
        }
        let entries = value.as_object().ok_or("is no text and no object with `data`")?;
        if let Some(key) = entries.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("has an unknown `{key}`: it may have {}", KEYS.join(", ")));
        }
        let number = |key: &str| match &value[key] {
            Value::Null => Ok(None),
            given => {
                let number = given.as_u64().and_then(|number| u32::try_from(number).ok());
                number.map(Some).ok_or_else(|| format!("has `{key}` that is no number from 0"))
            }
        };
        let cause = match text_of(value, "to")? {
            Some(text) => SocketCause::Sent(text, number("nth")?.unwrap_or(0)),
            None => SocketCause::After(number("after")?.unwrap_or(0)),
        };
        Ok(SocketMessage { cause, data: SocketData::parse(value)? })
    }
}

/// Returns the text of a key, if it is there.
fn text_of(value: &Value, key: &str) -> Result<Option<String>, String> {
    match &value[key] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(format!("has `{key}` that is no text")),
    }
}

impl SocketData {
    fn parse(value: &Value) -> Result<SocketData, String> {
        let bytes = text_of(value, "base64")?.map(|text| STANDARD.decode(text));
        let bytes = bytes.transpose().map_err(|_| "has `base64` that is none")?;
        let code = match &value["close"] {
            Value::Null => None,
            given => {
                let code = given.as_u64().and_then(|code| u16::try_from(code).ok());
                Some(code.ok_or("has `close` that is no code of a close, such as 1000")?)
            }
        };
        let reason = text_of(value, "reason")?.unwrap_or_default();
        Ok(match (text_of(value, "data")?, bytes, code) {
            (Some(text), None, None) => SocketData::Text(text),
            (None, Some(bytes), None) => SocketData::Binary(bytes),
            (None, None, Some(code)) => SocketData::Close(code, reason),
            (None, None, None) => SocketData::Nothing,
            _ => return Err("has more than one of `data`, `base64` and `close`".to_owned()),
        })
    }
}

/// Returns what servers send over sockets as JSON, in the form of `sockets.json`.
#[must_use]
pub fn write_sockets(sockets: &Sockets) -> Value {
    let list = |(path, list): (&String, &Vec<SocketMessage>)| {
        (path.clone(), list.iter().map(SocketMessage::to_json).collect::<Value>())
    };
    Value::Object(sockets.iter().map(list).collect::<Map<String, Value>>())
}

/// Reads what [`write_sockets`] returns. A message may also be a text.
///
/// # Errors
///
/// Says which message of which socket is wrong, and how.
pub fn read_sockets(value: &Value) -> Result<Sockets, String> {
    let entries = match value {
        Value::Null => None,
        given => Some(given.as_object().ok_or("is no object with paths of sockets")?),
    };
    let list = |(path, messages): (&String, &Value)| {
        let messages =
            messages.as_array().ok_or_else(|| format!("`{path}` has no list of messages"))?;
        let message = |(number, message): (usize, &Value)| {
            let wrong = |why| format!("message {} of `{path}` {why}", number + 1);
            SocketMessage::parse(message).map_err(wrong)
        };
        let messages: Result<Vec<SocketMessage>, String> =
            messages.iter().enumerate().map(message).collect();
        Ok((path.clone(), messages?))
    };
    entries.into_iter().flatten().map(list).collect()
}

/// Returns whether a list has answers to texts that the page sends. The driver has to look for
/// them.
pub(crate) fn has_answers(list: &[SocketMessage]) -> bool {
    list.iter().any(|one| matches!(one.cause, SocketCause::Sent(..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_read_as_they_were_written() {
        let message = |cause, data| SocketMessage { cause, data };
        let sent = |text: &str| SocketCause::Sent(text.to_owned(), 3);
        let list = vec![
            message(SocketCause::After(2), SocketData::Text("a".to_owned())),
            message(sent("x"), SocketData::Binary(vec![0, 255])),
            message(sent("y"), SocketData::Nothing),
            message(SocketCause::After(0), SocketData::Close(1006, "why".to_owned())),
        ];
        assert!(has_answers(&list) && !has_answers(&list[..1]));
        let sockets = Sockets::from([("/chat".to_owned(), list)]);
        assert_eq!(read_sockets(&write_sockets(&sockets)), Ok(sockets));
        assert_eq!(
            read_sockets(&json!({"/a": ["x"]})),
            read_sockets(&json!({"/a": [{"data": "x"}]}))
        );
        assert_eq!(read_sockets(&Value::Null), Ok(Sockets::new()));
    }

    #[test]
    fn wrong_messages_are_named() {
        for (messages, expected) in [
            (json!([]), "is no object with paths"),
            (json!({"/a": {}}), "`/a` has no list of messages"),
            (json!({"/a": ["x", 1]}), "message 2 of `/a` is no text and no object with `data`"),
            (
                json!({"/a": [{"text": "x"}]}),
                "message 1 of `/a` has an unknown `text`: it may have",
            ),
            (json!({"/a": [{"data": 1}]}), "has `data` that is no text"),
            (json!({"/a": [{"data": "x", "after": -1}]}), "has `after` that is no number from 0"),
            (json!({"/a": [{"data": "x", "to": 1}]}), "has `to` that is no text"),
            (json!({"/a": [{"base64": "?"}]}), "has `base64` that is none"),
            (json!({"/a": [{"close": 100_000}]}), "has `close` that is no code"),
            (json!({"/a": [{"data": "", "close": 1000}]}), "has more than one of"),
        ] {
            let error = read_sockets(&messages).expect_err("it is wrong");
            assert!(error.contains(expected), "{error}");
        }
    }
}
