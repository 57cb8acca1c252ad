//! Messages of the protocol.

use serde_json::Value;

/// The reply to a command.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// The number of the command.
    pub id: u64,
    /// What it returned, or the text of its error.
    pub result: Result<Value, String>,
}

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// The session of the page; empty for the browser.
    pub session: String,
    /// Its name, such as `Fetch.requestPaused`.
    pub method: String,
    /// What it says.
    pub params: Value,
}

/// A message from the browser.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// The reply to a command.
    Reply(Reply),
    /// An event.
    Event(Event),
}

impl Message {
    /// Reads a message. `None` for a text that is no message: a later version of the protocol may
    /// have other kinds.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Message> {
        let mut value: Value = serde_json::from_slice(bytes).ok()?;
        let object = value.as_object_mut()?;
        if let Some(id) = object.get("id").and_then(Value::as_u64) {
            let result = match object.remove("error") {
                Some(error) => Err(error_text(&error)),
                None => Ok(object.remove("result").unwrap_or_default()),
            };
            return Some(Message::Reply(Reply { id, result }));
        }
        let method = object.get("method")?.as_str()?.to_owned();
        let session =
            object.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = object.remove("params").unwrap_or_default();
        Some(Message::Event(Event { session, method, params }))
    }
}

fn error_text(error: &Value) -> String {
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    match (text("message"), text("data")) {
        (message, "") => message.to_owned(),
        (message, data) => format!("{message} ({data})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replies_errors_and_events_are_told_apart() {
        let parse = |text: &str| Message::parse(text.as_bytes());
        let reply = parse(r#"{"id":3,"result":{"a":1}}"#);
        assert_eq!(reply, Some(Message::Reply(Reply { id: 3, result: Ok(json!({"a": 1})) })));
        let refused = parse(r#"{"id":4,"error":{"code":-32000,"message":"no","data":"why"}}"#);
        let result = Err("no (why)".to_owned());
        assert_eq!(refused, Some(Message::Reply(Reply { id: 4, result })));
        let event = parse(r#"{"method":"A.b","params":{"c":2},"sessionId":"S"}"#);
        let (session, method) = ("S".to_owned(), "A.b".to_owned());
        let params = json!({"c": 2});
        assert_eq!(event, Some(Message::Event(Event { session, method, params })));
    }

    #[test]
    fn other_texts_are_no_messages() {
        for text in ["", "[]", "{}", "{\"id\":-1}", "{\"method\":3}", "nonsense", "{\"id\":1"] {
            assert_eq!(Message::parse(text.as_bytes()), None, "{text}");
        }
    }
}
