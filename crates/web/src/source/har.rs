//! An archive of a browser (HAR 1.2) as a server.

use super::sockets::{SocketCause, SocketData, SocketMessage, Sockets};
use super::types::{Answer, PageRequest, Response, Source};
use crate::source::path_of;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a text is no archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is not JSON; the message has line and column.
    #[error("not a HAR archive: {0}")]
    Json(#[from] serde_json::Error),
    /// It has no list of entries.
    #[error("not a HAR archive: `log.entries` is missing")]
    NoEntries,
    /// A body cannot be decoded.
    #[error("entry {0} of the HAR archive: its body is no valid base64")]
    Body(usize),
}

/// An archive: the recorded responses, by method and address.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    responses: BTreeMap<(String, String), Vec<Response>>,
    sockets: Sockets,
    first: String,
}

/// Headers that no longer hold for a decoded body.
const DROPPED: &[&str] =
    &["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"];

impl Archive {
    /// Reads an archive. Entries without a response (status 0) are left out.
    ///
    /// # Errors
    ///
    /// Fails if the text is no archive.
    pub fn parse(text: &[u8]) -> Result<Archive, ArchiveError> {
        let value: Value = serde_json::from_slice(text)?;
        let entries = value["log"]["entries"].as_array().ok_or(ArchiveError::NoEntries)?;
        let mut archive = Archive::default();
        for (index, entry) in entries.iter().enumerate() {
            let method = entry["request"]["method"].as_str().unwrap_or("GET");
            let full = entry["request"]["url"].as_str().unwrap_or_default();
            let url = full.split('#').next().unwrap_or_default().to_owned();
            if archive.first.is_empty() {
                archive.first.clone_from(&url);
            }
            archive.add_socket(&url, entry);
            let status = entry["response"]["status"].as_u64().unwrap_or(0);
            let Some(status) = u16::try_from(status).ok().filter(|status| *status >= 200) else {
                continue;
            };
            let content = &entry["response"]["content"];
            let text = content["text"].as_str().unwrap_or_default();
            let body = match content["encoding"].as_str() {
                Some("base64") => STANDARD.decode(text).map_err(|_| ArchiveError::Body(index))?,
                _ => text.as_bytes().to_vec(),
            };
            let mut headers = headers(&entry["response"]["headers"]);
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
                && let Some(kind) = content["mimeType"].as_str()
            {
                headers.push(("Content-Type".to_owned(), kind.to_owned()));
            }
            let response = Response { status, headers, body: body.into() };
            archive.responses.entry((method.to_owned(), url)).or_default().push(response);
        }
        Ok(archive)
    }

    /// Returns the address of the first entry: the page.
    #[must_use]
    pub fn first_url(&self) -> &str {
        &self.first
    }

    fn add_socket(&mut self, url: &str, entry: &Value) {
        let Some(list) = entry["_webSocketMessages"].as_array() else { return };
        let mut sent = 0;
        let messages = self.sockets.entry(path_of(url).to_owned()).or_default();
        for message in list {
            if message["type"].as_str() == Some("send") {
                sent += 1;
            } else {
                let data = message["data"].as_str().unwrap_or_default().to_owned();
                let bytes = || STANDARD.decode(&data).ok();
                let data = match message["opcode"].as_u64() {
                    Some(2) => bytes().map_or(SocketData::Text(data), SocketData::Binary),
                    _ => SocketData::Text(data),
                };
                messages.push(SocketMessage { cause: SocketCause::After(sent), data });
            }
        }
    }
}

fn headers(list: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = list.as_array().into_iter().flatten();
    let pairs = all.map(|header| (text(&header["name"]), text(&header["value"])));
    let kept = |name: &str| {
        !name.is_empty()
            && !name.starts_with(':')
            && !DROPPED.iter().any(|dropped| name.eq_ignore_ascii_case(dropped))
    };
    pairs.filter(|(name, _)| kept(name)).collect()
}

impl Source for Archive {
    fn answer(&mut self, request: &PageRequest) -> Answer {
        let key = (request.method.clone(), request.url.clone());
        let Some(list) = self.responses.get(&key) else { return Answer::Fail };
        let last = list.len().saturating_sub(1);
        let found = list.get((request.ordinal as usize).min(last));
        found.map_or(Answer::Fail, |response| Answer::Response(response.clone()))
    }

    fn sockets(&self) -> Sockets {
        self.sockets.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_answers_what_it_has() {
        let text = br#"{"log":{"entries":[
            {"request":{"method":"GET","url":"http://a/#x"},
             "response":{"status":200,"headers":[{"name":"Content-Encoding","value":"gzip"}],
                         "content":{"mimeType":"text/html","text":"PHA+","encoding":"base64"}}},
            {"request":{"method":"GET","url":"http://a/n"},"response":{"status":200,"headers":[],"content":{"text":"1"}}},
            {"request":{"method":"GET","url":"http://a/n"},"response":{"status":200,"headers":[],"content":{"text":"2"}}},
            {"request":{"method":"GET","url":"http://a/none"},"response":{"status":0}},
            {"request":{"method":"GET","url":"ws://a/chat"},"response":{"status":101},
             "_webSocketMessages":[{"type":"receive","data":"hi"},{"type":"send","data":"x"},{"type":"receive","data":"yo"}]}
        ]}}"#;
        let mut archive = Archive::parse(text).unwrap();
        assert_eq!(archive.first_url(), "http://a/");
        let mut ask = |url: &str, ordinal| {
            let request =
                PageRequest { method: "GET".into(), url: url.into(), body: Vec::new(), ordinal };
            match archive.answer(&request) {
                Answer::Response(response) => String::from_utf8(response.body.to_vec()).unwrap(),
                _ => "-".to_owned(),
            }
        };
        assert_eq!(ask("http://a/", 0), "<p>");
        let numbers = [ask("http://a/n", 0), ask("http://a/n", 1), ask("http://a/n", 7)];
        assert_eq!(numbers, ["1", "2", "2"]);
        assert_eq!(ask("http://a/none", 0), "-");
        let sockets = archive.sockets();
        let causes = sockets["/chat"].iter().map(|one| &one.cause);
        assert!(causes.eq(&[SocketCause::After(0), SocketCause::After(1)]));
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        for text in ["", "{}", "[1]", r#"{"log":{"entries":3}}"#] {
            assert!(Archive::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
