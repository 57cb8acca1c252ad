//! Responses as JSON, so that a run can be repeated where there is no server.
//!
//! ```json
//! [{"event": "load", "method": "GET", "url": "http://localhost/", "sent": "0...", "status": 200,
//!   "headers": [["Content-Type", "text/html"]], "body": "<p>hello"}]
//! ```
//!
//! A body that is not UTF-8 is `base64` instead of `body`.

use super::store::GivenResponse;
use super::types::Response;
use anyorder_common::hash::Hash128;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A list of responses that is not of the documented form: which part is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("response {number}: `{key}` is missing or wrong")]
pub struct GivenError {
    /// Which response, from 1.
    pub number: usize,
    /// The key.
    pub key: &'static str,
}

/// Returns responses as JSON. Linear in their bytes.
#[must_use]
pub fn write_given(given: &[GivenResponse]) -> Value {
    let one = |given: &GivenResponse| {
        let GivenResponse { event, method, url, sent, response } = given;
        let mut value = json!({
            "event": event, "method": method, "url": url, "sent": format!("{:032x}", sent.0),
            "status": response.status, "headers": response.headers,
        });
        match std::str::from_utf8(&response.body) {
            Ok(text) => value["body"] = Value::from(text),
            Err(_) => value["base64"] = Value::from(STANDARD.encode(&response.body)),
        }
        value
    };
    given.iter().map(one).collect()
}

/// Reads what [`write_given`] returns.
///
/// # Errors
///
/// Fails if it is not of that form. The error names the response and the key.
pub fn read_given(value: &Value) -> Result<Vec<GivenResponse>, GivenError> {
    let Some(list) = value.as_array() else {
        return Err(GivenError { number: 0, key: "responses" });
    };
    list.iter().enumerate().map(|(at, value)| one(at + 1, value)).collect()
}

fn one(number: usize, value: &Value) -> Result<GivenResponse, GivenError> {
    let wrong = |key| GivenError { number, key };
    let text = |key| value[key].as_str().map(str::to_owned).ok_or_else(|| wrong(key));
    let sent = u128::from_str_radix(&text("sent")?, 16).map_err(|_| wrong("sent"))?;
    let status = value["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.filter(|status| (100..600).contains(status));
    let status = status.ok_or_else(|| wrong("status"))?;
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    let headers = value["headers"].as_array().ok_or_else(|| wrong("headers"))?;
    let headers: Option<Vec<(String, String)>> = headers.iter().map(pair).collect();
    let headers = headers.ok_or_else(|| wrong("headers"))?;
    let body = match (value["body"].as_str(), value["base64"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(text)) => STANDARD.decode(text).map_err(|_| wrong("base64"))?,
        _ => return Err(wrong("body")),
    };
    let response = Response { status, headers, body: body.into() };
    let (event, method, url) = (text("event")?, text("method")?, text("url")?);
    Ok(GivenResponse { event, method, url, sent: Hash128(sent), response })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_as_they_were_written() {
        let given = |event: &str, body: &[u8]| GivenResponse {
            event: event.to_owned(),
            method: "GET".to_owned(),
            url: "http://localhost/<a>".to_owned(),
            sent: Hash128::of(body),
            response: Response::new(200, "text/html", body),
        };
        let all =
            [given("load", b"<p>a"), given("load/image@%2Fx", &[0xff, 0, 1]), given("x", b"")];
        assert_eq!(read_given(&write_given(&all)).as_deref(), Ok(&all[..]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = write_given(&[GivenResponse {
            event: "e".into(),
            method: "GET".into(),
            url: "u".into(),
            sent: Hash128(0),
            response: Response::new(200, "a/b", b"x"),
        }]);
        for (key, wrong) in [
            ("event", json!(3)),
            ("sent", json!("xyz")),
            ("status", json!(7)),
            ("headers", json!([["a"]])),
            ("body", Value::Null),
        ] {
            let mut value = good.clone();
            value[0][key] = wrong;
            assert_eq!(read_given(&value), Err(GivenError { number: 1, key }));
        }
        assert!(read_given(&json!({})).is_err());
    }
}
