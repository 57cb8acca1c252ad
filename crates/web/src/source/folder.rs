//! The files of a folder as a server.
//!
//! A path names a file below the folder; a path that ends with `/` names its `index.html`. The part
//! after `?` is ignored, and requests other than GET and HEAD get 404, unless a file `replies.json`
//! in the folder says otherwise:
//!
//! ```json
//! {
//!   "POST /save": {"status": 200, "type": "application/json", "body": "{\"ok\":true}"},
//!   "GET /search?q=a": {"body": "[1,2]", "type": "application/json"}
//! }
//! ```
//!
//! A file `sockets.json` has what the server sends over sockets, by path, and over event streams if
//! the page asks for the path with GET and nothing else answers. A message with `after`
//! waits until the page has sent so many; one with `to` answers a text that the page sends:
//!
//! ```json
//! {"/chat": [{"data": "hello"}, {"data": "thanks", "after": 1}, {"data": "bye", "to": "close"}]}
//! ```

use super::sockets::{SocketCause, SocketData, SocketMessage, Sockets, read_sockets};
use super::types::{Answer, PageRequest, Response, Source};
use anyorder_common::files::{FileError, FileKind, never_stop, read, read_found};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest file of a folder, 256 MiB.
const FILE: FileKind = FileKind { name: "a file of a page", bytes_max: 256 << 20 };

/// A folder.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    replies: BTreeMap<String, Response>,
    sockets: Sockets,
}

/// Why a folder cannot be served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderError {
    /// The folder or the file, with the line and the column from 1 if they are known.
    pub place: String,
    /// What is wrong.
    pub why: String,
}

impl std::fmt::Display for FolderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

impl std::error::Error for FolderError {}

impl Folder {
    /// Opens a folder, and reads its `replies.json` and `sockets.json`.
    ///
    /// # Errors
    ///
    /// Fails if it is no folder, or one of these files cannot be read. The error has the place.
    pub fn open(root: &Path) -> Result<Folder, FolderError> {
        if !root.is_dir() {
            let why = "is no folder".to_owned();
            return Err(FolderError { place: root.display().to_string(), why });
        }
        let wrong = |name: &str, why: String| FolderError {
            place: root.join(name).display().to_string(),
            why,
        };
        let replies = object(root, "replies.json")?;
        let sockets = object(root, "sockets.json")?;
        let reply = |(key, value): (&String, &Value)| match reply(value) {
            Ok(response) => Ok((key.clone(), response)),
            Err(why) => Err(wrong("replies.json", format!("the reply to `{key}` {why}"))),
        };
        let replies = replies.iter().map(reply).collect::<Result<_, FolderError>>()?;
        let sockets =
            read_sockets(&Value::Object(sockets)).map_err(|why| wrong("sockets.json", why))?;
        Ok(Folder { root: root.to_owned(), replies, sockets })
    }

    /// Returns the file of a path, if there is one.
    fn file(&self, path: &str) -> Option<Response> {
        let inner = safe_path(path)?;
        let mut file = self.root.join(&inner);
        if path.ends_with('/') || file.is_dir() {
            file.push("index.html");
        }
        let real = file.canonicalize().ok();
        let root = self.root.canonicalize().ok();
        let inside = match (&real, &root) {
            (Some(real), Some(root)) => real.starts_with(root),
            _ => false,
        };
        let bytes = read(&real.filter(|_| inside)?, FILE, never_stop).ok()?;
        Some(Response::new(200, content_type(&file), &bytes))
    }
}

impl Source for Folder {
    fn answer(&mut self, request: &PageRequest) -> Answer {
        let path = path_of(&request.url);
        if let Some(reply) = self.replies.get(&format!("{} {path}", request.method)) {
            return Answer::Response(reply.clone());
        }
        let bare = path.split('?').next().unwrap_or_default();
        let reads = matches!(request.method.as_str(), "GET" | "HEAD");
        let stream = || self.sockets.get(path).or_else(|| self.sockets.get(bare));
        let found = if reads {
            self.file(bare).or_else(|| stream().map(|list| stream_of(list)))
        } else {
            None
        };
        found.map_or(Answer::Missing, Answer::Response)
    }

    fn sockets(&self) -> Sockets {
        self.sockets.clone()
    }
}

/// Returns the messages that come at once as an event stream.
fn stream_of(messages: &[SocketMessage]) -> Response {
    let mut body = String::new();
    for message in messages {
        if let (SocketData::Text(text), SocketCause::After(0)) = (&message.data, &message.cause) {
            text.split('\n').for_each(|line| body.push_str(&format!("data: {line}\n")));
            body.push('\n');
        }
    }
    Response::new(200, "text/event-stream", body.as_bytes())
}

/// Returns the path of an address, with the part after `?`.
pub(crate) fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    rest.find(['/', '?']).map_or("/", |at| &rest[at..])
}

/// Returns the part of an address before its path, such as `http://localhost:8000`.
#[must_use]
pub fn origin_of(url: &str) -> &str {
    let path = path_of(url);
    url.split('#').next().unwrap_or(url).strip_suffix(path).unwrap_or(url)
}

/// Returns the host of an address, without its port.
pub(crate) fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Decodes a path and returns it as a relative one; `None` if it leaves its folder.
fn safe_path(path: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let decoded = String::from_utf8(bytes).ok()?;
    let mut inner = PathBuf::new();
    for step in decoded.split(['/', '\\']) {
        match step {
            "" | "." => {}
            ".." => return None,
            step if step.contains(['\0', ':']) => return None,
            step => inner.push(step),
        }
    }
    Some(inner)
}

/// Returns the content type of a file by the end of its name.
fn content_type(file: &Path) -> &'static str {
    let end = file.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" | "cjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "txt" | "md" => "text/plain; charset=utf-8",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

fn object(root: &Path, name: &str) -> Result<serde_json::Map<String, Value>, FolderError> {
    let path = root.join(name);
    let at = |place: &str, why: String| {
        Err(FolderError { place: format!("{}{place}", path.display()), why })
    };
    let bytes = match read_found(&path, FILE, never_stop) {
        Ok(None) => return Ok(serde_json::Map::new()),
        Ok(Some(bytes)) => bytes,
        Err(FileError::NotRegular) => return at("", "no regular file".to_owned()),
        Err(error) => return at("", error.to_string()),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => at("", "is no object with addresses".to_owned()),
        Err(error) => {
            let place = format!(":{}:{}", error.line(), error.column());
            // The place is named before the words.
            let words = error.to_string();
            let why = words.split(" at line ").next().unwrap_or_default().to_owned();
            at(&place, why)
        }
    }
}

/// Reads a reply; the error says what is wrong with it.
fn reply(value: &Value) -> Result<Response, String> {
    const KEYS: [&str; 4] = ["status", "type", "headers", "body"];
    let entries = value.as_object().ok_or("is no object with `status`, `type` and `body`")?;
    if let Some(key) = entries.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("has an unknown `{key}`: it may have {}", KEYS.join(", ")));
    }
    let body = match &value["body"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let status = match &value["status"] {
        Value::Null => 200,
        given => {
            let number = given.as_u64().and_then(|status| u16::try_from(status).ok());
            let number = number.filter(|status| (100..600).contains(status));
            number.ok_or("has a `status` that is no number from 100 to 599")?
        }
    };
    let kind = match &value["type"] {
        Value::Null => "text/plain; charset=utf-8",
        given => given.as_str().ok_or("has a `type` that is no text")?,
    };
    let mut response = Response::new(status, kind, body.as_bytes());
    let headers = match &value["headers"] {
        Value::Null => None,
        given => Some(given.as_object().ok_or("has `headers` that are no object")?),
    };
    for (name, value) in headers.into_iter().flatten() {
        let value =
            value.as_str().ok_or_else(|| format!("has a header `{name}` that is no text"))?;
        response.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        response.headers.push((name.clone(), value.to_owned()));
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_a_scheme_a_host_and_a_port() {
        for url in ["http://localhost/a?b#c", "http://localhost?b", "http://localhost"] {
            assert_eq!(origin_of(url), "http://localhost");
        }
        assert_eq!(origin_of("https://localhost:81/a/b"), "https://localhost:81");
    }

    #[test]
    fn paths_stay_in_the_folder() {
        let inner = |path: &str| safe_path(path).map(|path| path.display().to_string());
        assert_eq!(inner("/a/b%20c.js"), Some("a/b c.js".to_owned()));
        for path in ["/../a", "/a/%2e%2e/b", "/%2", "/%zz", "/a%00b", "/..%5cb", "/C:/x", "/%ff"] {
            assert_eq!(inner(path), None, "{path}");
        }
    }

    #[test]
    fn paths_of_addresses() {
        assert_eq!(path_of("http://localhost/a?b#c"), "/a?b");
        assert_eq!(path_of("http://localhost"), "/");
        assert_eq!(path_of("http://localhost?q"), "?q");
    }

    #[test]
    fn a_folder_answers_as_a_server() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("index.html"), "<p>").unwrap();
        std::fs::write(folder.path().join("a.js"), "1").unwrap();
        let replies = r#"{"POST /save": {"status": 201, "type": "text/x", "body": "done"}}"#;
        std::fs::write(folder.path().join("replies.json"), replies).unwrap();
        let sockets = r#"{"/chat": [{"data": "hello"}, {"data": "thanks", "after": 1}]}"#;
        std::fs::write(folder.path().join("sockets.json"), sockets).unwrap();
        let mut source = Folder::open(folder.path()).unwrap();
        let mut ask = |method: &str, path: &str| {
            let (method, url) = (method.to_owned(), format!("http://localhost{path}"));
            match source.answer(&PageRequest { method, url, body: Vec::new(), ordinal: 0 }) {
                Answer::Response(response) => Some(response),
                _ => None,
            }
        };
        assert_eq!(ask("GET", "/").unwrap().content_type(), "text/html");
        assert_eq!(&*ask("GET", "/a.js?v=1").unwrap().body, b"1");
        assert_eq!(ask("GET", "/b.js"), None);
        assert_eq!(ask("POST", "/a.js"), None);
        let saved = ask("POST", "/save").unwrap();
        assert_eq!((saved.status, &*saved.body), (201, &b"done"[..]));
        assert_eq!(&*ask("GET", "/chat").unwrap().body, b"data: hello\n\n");
        assert_eq!(source.sockets()["/chat"][1].cause, SocketCause::After(1));
        std::fs::write(folder.path().join("sockets.json"), "{\n  x").unwrap();
        let error = Folder::open(folder.path()).unwrap_err();
        let place = format!("{}:2:3", folder.path().join("sockets.json").display());
        assert_eq!((error.place, error.why.as_str()), (place, "key must be a string"));
        assert!(Folder::open(&folder.path().join("none")).is_err());
    }

    #[test]
    fn wrong_replies_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for (reply, expected) in [
            ("1", "the reply to `GET /a` is no object"),
            (r#"{"json": 1}"#, "has an unknown `json`: it may have status, type, headers, body"),
            (r#"{"status": "200"}"#, "a `status` that is no number from 100 to 599"),
            (r#"{"status": 70000}"#, "a `status` that is no number from 100 to 599"),
            (r#"{"type": 1}"#, "a `type` that is no text"),
            (r#"{"headers": []}"#, "has `headers` that are no object"),
            (r#"{"headers": {"x": 1}}"#, "has a header `x` that is no text"),
        ] {
            let text = format!("{{\"GET /a\": {reply}}}");
            std::fs::write(folder.path().join("replies.json"), text).unwrap();
            let error = Folder::open(folder.path()).unwrap_err();
            assert!(error.place.ends_with("replies.json"), "{error}");
            assert!(error.why.contains(expected), "{error}");
        }
    }
}
