//! The responses that runs share: whatever came once comes again, in every order.

use super::sockets::{SocketMessage, Sockets};
use super::types::{Answer, PageRequest, Response, Source};
use crate::pictures::Pictures;
use crate::rewriter::RewrittenPage;
use anyorder_common::hash::Hash128;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a response is known by besides the name of its event: method, address, and what was sent.
type Key = (String, String, Hash128);

/// A response that an event got.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenResponse {
    /// The name of the event.
    pub event: String,
    /// The method of the request.
    pub method: String,
    /// Its address.
    pub url: String,
    /// A hash of what it sent.
    pub sent: Hash128,
    /// The response.
    pub response: Response,
}

struct Inner {
    source: Box<dyn Source>,
    /// By the name of the event that received it; `None` if the connection failed.
    by_event: BTreeMap<String, Option<Response>>,
    /// The first one for each request, for events that have a new name.
    by_request: BTreeMap<Key, Option<Response>>,
    /// The responses that events got from the source, by the name of the event.
    given: BTreeMap<String, (Key, Response)>,
    /// Rewritten texts, by the hashes of what they were.
    rewritten: BTreeMap<Hash128, RewrittenPage>,
    /// Where scripts asked for requests, by the names of the events of these.
    origins: BTreeMap<String, (String, u32)>,
    /// Requests to which the real server says nothing.
    silent: BTreeSet<Key>,
    /// What was not under control, or not seen.
    gaps: BTreeSet<String>,
    /// The addresses at which nothing answers.
    unanswered: BTreeSet<String>,
    pictures: Pictures,
    /// What the real server said over sockets, by their names; `None` if it opened none.
    sockets: BTreeMap<String, Option<Vec<SocketMessage>>>,
    /// The first socket of each path.
    first_sockets: BTreeMap<String, String>,
}

/// The most gaps, and the most addresses at which nothing answers, that are kept.
const GAPS_MAX: usize = 100;

impl Inner {
    /// Returns what the real server said before.
    fn known(&self, event: &str, key: &Key) -> Option<Answer> {
        let known = self.by_event.get(event).or_else(|| self.by_request.get(key))?;
        Some(known.clone().map_or(Answer::Fail, Answer::Response))
    }

    fn note_unanswered(&mut self, url: &str) {
        if self.unanswered.len() < GAPS_MAX {
            self.unanswered.insert(url.to_owned());
        }
    }
}

/// A store of responses on top of a source. Clones share it, so that all workers give the same
/// responses.
///
/// A response is looked for by the name of the event, then by the request. So the second of two
/// equal requests of one event has its own response, and a request that another event now makes
/// gets what the server said to it before.
#[derive(Clone)]
pub struct Store(Arc<Mutex<Inner>>);

impl Store {
    /// Makes an empty store on top of a source.
    #[must_use]
    pub fn new(source: Box<dyn Source>) -> Store {
        let (by_event, by_request, given, rewritten) = Default::default();
        let (origins, silent, gaps, unanswered) = Default::default();
        let (sockets, first_sockets) = Default::default();
        let inner = Inner {
            source,
            by_event,
            by_request,
            given,
            rewritten,
            origins,
            silent,
            gaps,
            unanswered,
            pictures: Pictures::default(),
            sockets,
            first_sockets,
        };
        Store(Arc::new(Mutex::new(inner)))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a request of an event, by the event's name.
    #[must_use]
    pub fn answer(&self, event: &str, request: &PageRequest) -> Answer {
        let mut inner = self.inner();
        let key = key(request);
        if let Some(known) = inner.known(event, &key) {
            return known;
        }
        let mut answer = inner.source.answer(request);
        if matches!(answer, Answer::Missing | Answer::Fail) {
            inner.note_unanswered(&request.url);
        }
        if answer == Answer::Missing {
            answer = Answer::Response(Response::new(404, "text/plain", b"not found"));
        }
        if let Answer::Response(response) = &answer {
            inner.given.entry(event.to_owned()).or_insert_with(|| (key, response.clone()));
        }
        answer
    }

    /// Returns the answer to a request by which the browser asks whether it may send another one;
    /// `Missing` if nobody is known to answer it.
    pub(crate) fn permission(&self, event: &str, request: &PageRequest) -> Answer {
        let mut inner = self.inner();
        inner.known(event, &key(request)).unwrap_or_else(|| match inner.source.answer(request) {
            Answer::Fail => Answer::Missing,
            answer => answer,
        })
    }

    /// Keeps a response of the real server.
    pub fn record(&self, event: &str, request: &PageRequest, response: Response) {
        self.note(event, request, Some(response));
    }

    /// Keeps that the connection to the real server failed.
    pub fn record_failure(&self, event: &str, request: &PageRequest) {
        self.note(event, request, None);
    }

    /// Keeps that the real server says nothing to a request.
    pub(crate) fn record_silence(&self, request: &PageRequest) {
        self.inner().silent.insert(key(request));
    }

    /// Returns whether the real server says nothing to a request.
    pub(crate) fn is_silent(&self, request: &PageRequest) -> bool {
        self.inner().silent.contains(&key(request))
    }

    fn note(&self, event: &str, request: &PageRequest, response: Option<Response>) {
        let mut inner = self.inner();
        if response.is_none() {
            inner.note_unanswered(&request.url);
        }
        let key = key(request);
        inner.by_request.entry(key.clone()).or_insert_with(|| response.clone());
        if let Some(response) = &response {
            let given = || (key, response.clone());
            inner.given.entry(event.to_owned()).or_insert_with(given);
        }
        inner.by_event.entry(event.to_owned()).or_insert(response);
    }

    /// Returns all responses that events got so far, by the names of the events. One pass.
    #[must_use]
    pub fn given(&self) -> Vec<GivenResponse> {
        let one = |(event, ((method, url, sent), response)): (&String, &(Key, Response))| {
            let (event, method, url) = (event.clone(), method.clone(), url.clone());
            GivenResponse { event, method, url, sent: *sent, response: response.clone() }
        };
        self.inner().given.iter().map(one).collect()
    }

    /// Has responses that were given before. They come before those of the source.
    pub fn keep(&self, given: impl IntoIterator<Item = GivenResponse>) {
        let mut inner = self.inner();
        for GivenResponse { event, method, url, sent, response } in given {
            let key = (method, url, sent);
            inner.by_request.entry(key.clone()).or_insert_with(|| Some(response.clone()));
            inner.given.insert(event.clone(), (key, response.clone()));
            inner.by_event.insert(event, Some(response));
        }
    }

    /// Returns an earlier picture that looks as this one does, or this one.
    pub(crate) fn picture_like(&self, png: &[u8]) -> Arc<[u8]> {
        self.inner().pictures.alike(png)
    }

    /// Asks the source for a file that no event asked for, such as a source map.
    #[must_use]
    pub fn file(&self, url: &str) -> Option<Response> {
        let (method, url) = ("GET".to_owned(), url.to_owned());
        let request = PageRequest { method, url, body: Vec::new(), ordinal: 0 };
        match self.inner().source.answer(&request) {
            Answer::Response(response) if response.status == 200 => Some(response),
            _ => None,
        }
    }

    /// Returns what a text was rewritten to, and rewrites it at the first use: all runs get the
    /// same text, with the same numbers of sites in it. The key is a hash of all that the result
    /// depends on.
    pub(crate) fn rewritten(
        &self,
        key: Hash128,
        rewrite: impl FnOnce() -> RewrittenPage,
    ) -> RewrittenPage {
        // Under the lock, so that two workers do not number the sites of one text twice.
        self.inner().rewritten.entry(key).or_insert_with(rewrite).clone()
    }

    /// Keeps where a script asked for the request of an event: the address of the script, and the
    /// line from 1.
    pub(crate) fn note_origin(&self, event: String, origin: (String, u32)) {
        self.inner().origins.entry(event).or_insert(origin);
    }

    /// Returns where a script asked for the request of an event, by the event's name: the address
    /// of the script, and the line from 1.
    #[must_use]
    pub fn origin(&self, event: &str) -> Option<(String, u32)> {
        self.inner().origins.get(event).cloned()
    }

    /// Notes something that a run did not control or did not see: a search of the page's orders is
    /// not complete then. At most 100 different ones are kept.
    pub fn note_gap(&self, gap: impl Into<String>) {
        let mut inner = self.inner();
        if inner.gaps.len() < GAPS_MAX {
            inner.gaps.insert(gap.into());
        }
    }

    /// Returns what all runs so far did not control or did not see, each once, in words.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        self.inner().gaps.iter().cloned().collect()
    }

    /// Returns the addresses at which nothing answered so far: no file, reply or recorded response,
    /// or a server that cannot be reached. Each once, at most 100.
    #[must_use]
    pub fn unanswered(&self) -> Vec<String> {
        self.inner().unanswered.iter().cloned().collect()
    }

    /// Returns the status of a kept response of the real server to an event.
    #[must_use]
    pub fn recorded_status(&self, event: &str) -> Option<u16> {
        self.inner().by_event.get(event)?.as_ref().map(|response| response.status)
    }

    /// Returns how many responses of the real server are kept.
    #[must_use]
    pub fn recorded_count(&self) -> usize {
        self.inner().by_event.len()
    }

    /// Returns what servers send over sockets: the source, and what was recorded of the first
    /// socket of each path.
    #[must_use]
    pub fn sockets(&self) -> Sockets {
        let inner = self.inner();
        let mut all = inner.source.sockets();
        for (path, name) in &inner.first_sockets {
            if let Some(Some(list)) = inner.sockets.get(name) {
                all.insert(path.clone(), list.clone());
            }
        }
        all
    }

    /// Returns whether sockets that are not known are opened at the real server.
    pub(crate) fn has_server(&self) -> bool {
        self.inner().source.has_server()
    }

    /// Returns what comes over a socket, by its name, else by its path; `Some(None)` if it does not
    /// open. `None` if that is not known.
    pub(crate) fn socket(&self, name: &str, path: &str) -> Option<Option<Vec<SocketMessage>>> {
        let inner = self.inner();
        let first = || inner.sockets.get(inner.first_sockets.get(path)?);
        let recorded = inner.sockets.get(name).or_else(first).cloned();
        recorded.or_else(|| inner.source.sockets().remove(path).map(Some))
    }

    /// Keeps what the real server said so far over a socket; `None` if it does not open.
    pub(crate) fn record_socket(&self, name: &str, path: &str, all: Option<Vec<SocketMessage>>) {
        let mut inner = self.inner();
        inner.sockets.insert(name.to_owned(), all);
        inner.first_sockets.entry(path.to_owned()).or_insert_with(|| name.to_owned());
    }
}

fn key(request: &PageRequest) -> Key {
    (request.method.clone(), request.url.clone(), Hash128::of(&request.body))
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("recorded", &self.recorded_count()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_once_comes_again() {
        let store = Store::new(Box::new(()));
        let request = |body: &[u8], ordinal| PageRequest {
            method: "POST".into(),
            url: "http://a/".into(),
            body: body.into(),
            ordinal,
        };
        assert_eq!(store.answer("load/fetch", &request(b"1", 0)), Answer::Server);
        let response = |text: &str| Response::new(200, "text/plain", text.as_bytes());
        store.record("load/fetch", &request(b"1", 0), response("one"));
        store.record("load/fetch#1", &request(b"1", 1), response("two"));
        let answer = |event: &str, body: &[u8]| match store.answer(event, &request(body, 0)) {
            Answer::Response(response) => String::from_utf8(response.body.to_vec()).unwrap(),
            other => format!("{other:?}"),
        };
        assert_eq!(answer("load/fetch", b"1"), "one");
        assert_eq!(answer("load/fetch#1", b"1"), "two");
        assert_eq!(answer("click/fetch", b"1"), "one", "another event makes the request");
        assert_eq!(answer("click/fetch", b"2"), "Server", "it sends something else");
    }
}
