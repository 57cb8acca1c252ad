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
//! `close`, it says that nothing comes.

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

    /// Reads what [`to_json`](Self::to_json) returns. What is missing or wrong has its default.
    pub(crate) fn parse(value: &Value) -> SocketMessage {
        let number = |key: &str| value[key].as_u64().and_then(|number| u32::try_from(number).ok());
        let cause = match value["to"].as_str() {
            Some(text) => SocketCause::Sent(text.to_owned(), number("nth").unwrap_or(0)),
            None => SocketCause::After(number("after").unwrap_or(0)),
        };
        SocketMessage { cause, data: SocketData::parse(value) }
    }
}

impl SocketData {
    fn parse(value: &Value) -> SocketData {
        let bytes = value["base64"].as_str().and_then(|text| STANDARD.decode(text).ok());
        let code = value["close"].as_u64().and_then(|code| u16::try_from(code).ok());
        let reason = || value["reason"].as_str().unwrap_or_default().to_owned();
        match (value["data"].as_str(), bytes, code) {
            (Some(text), ..) => SocketData::Text(text.to_owned()),
            (_, Some(bytes), _) => SocketData::Binary(bytes),
            (.., Some(code)) => SocketData::Close(code, reason()),
            _ => SocketData::Nothing,
        }
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

/// Reads what [`write_sockets`] returns. What is not understood is left out.
#[must_use]
pub fn read_sockets(value: &Value) -> Sockets {
    let list = |list: &Value| -> Vec<SocketMessage> {
        list.as_array().into_iter().flatten().map(SocketMessage::parse).collect()
    };
    let sockets = value.as_object().into_iter().flatten();
    sockets.map(|(path, messages)| (path.clone(), list(messages))).collect()
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
        assert_eq!(read_sockets(&write_sockets(&sockets)), sockets);
    }
}
