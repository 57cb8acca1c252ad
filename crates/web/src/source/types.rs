//! Requests and responses.

use super::sockets::Sockets;
use std::sync::Arc;

/// The header that lets scripts of other origins read a response.
pub(crate) const ALLOW_ORIGIN: &str = "Access-Control-Allow-Origin";

/// Its value in responses that no server sent: whoever asks may read them, with cookies, too. A
/// server cannot say that.
pub(crate) const ANY_ORIGIN: &str = "(any)";

/// A request of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// Its method, such as `GET`.
    pub method: String,
    /// Its full address, without the part after `#`.
    pub url: String,
    /// What it sends; empty if nothing. For a preflight: the method and the headers that it asks
    /// for.
    pub body: Vec<u8>,
    /// Its number among equal ones of its creator, from 0.
    pub ordinal: u32,
}

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// Its status, such as 200.
    pub status: u16,
    /// Its headers, in order.
    pub headers: Vec<(String, String)>,
    /// Its body, as decoded from its transfer.
    pub body: Arc<[u8]>,
}

impl Response {
    /// Makes a response with a content type. Scripts of all origins may read it.
    #[must_use]
    pub fn new(status: u16, content_type: &str, body: &[u8]) -> Response {
        // Fonts, modules and requests from other origins need it.
        let any = (ALLOW_ORIGIN.to_owned(), ANY_ORIGIN.to_owned());
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned()), any];
        Response { status, headers, body: body.into() }
    }

    /// Returns the first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Lets an origin read it, with cookies, if no server says who may. Its headers are then ones
    /// that a server can send.
    pub fn allow(&mut self, origin: &str) {
        let all = |(_, value): &&mut (String, String)| value == ANY_ORIGIN;
        if let Some((_, value)) = self.headers.iter_mut().find(all) {
            origin.clone_into(value);
            let credentials = "Access-Control-Allow-Credentials".to_owned();
            self.headers.push((credentials, "true".to_owned()));
        }
    }

    /// Puts another content type in the place of what there is.
    pub(crate) fn set_content_type(&mut self, value: &str) {
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        self.headers.push(("Content-Type".to_owned(), value.to_owned()));
    }

    /// Returns the content type without its parameters, in lower case; empty if there is none.
    #[must_use]
    pub fn content_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }
}

/// What a source says to a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// This response.
    Response(Response),
    /// The real server decides.
    Server,
    /// The connection fails.
    Fail,
    /// There is nothing at this address: the page gets a 404.
    Missing,
}

/// Where responses come from.
pub trait Source: Send {
    /// Answers a request. Equal requests must get equal answers: the order of other requests does
    /// not count.
    fn answer(&mut self, request: &PageRequest) -> Answer;

    /// Returns what servers send over sockets.
    fn sockets(&self) -> Sockets {
        Sockets::new()
    }

    /// Returns whether sockets that it does not know are opened at the real server.
    fn has_server(&self) -> bool {
        false
    }
}

/// The real server: each response is asked for once, by the browser.
impl Source for () {
    fn answer(&mut self, _request: &PageRequest) -> Answer {
        Answer::Server
    }

    fn has_server(&self) -> bool {
        true
    }
}

impl<F: FnMut(&PageRequest) -> Answer + Send> Source for F {
    fn answer(&mut self, request: &PageRequest) -> Answer {
        self(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_serves_says_who_may_read() {
        let mut own = Response::new(200, "text/plain", b"");
        own.allow("http://a.test");
        assert_eq!(own.header("access-control-allow-origin"), Some("http://a.test"));
        assert_eq!(own.header("access-control-allow-credentials"), Some("true"));
        let headers = vec![(ALLOW_ORIGIN.to_owned(), "*".to_owned())];
        let of_server = Response { status: 200, headers, body: Arc::from(*b"") };
        let mut allowed = of_server.clone();
        allowed.allow("http://a.test");
        assert_eq!(allowed, of_server);
    }
}
