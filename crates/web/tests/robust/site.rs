//! A site of a few files, and what its runs came to.

use crate::common::{enabled, text};
use anyorder_system::{Choice, Observation, RunError, TaskSystem};
use anyorder_web::{
    Answer, PageOptions, PageRequest, PageSystem, Response, Rewriter, RewrittenPage, Source, Store,
    parse_actions,
};
use anyorder_webscript::{
    HtmlOptions, Kind, LOG_JS, Origin, Sites, SourceId, rewrite_page, rewrite_script,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most events of a run.
const EVENTS_MAX: usize = 400;

/// Rewrites all texts, as the command does.
#[derive(Debug, Default)]
pub(super) struct Logged(Mutex<Sites>, Mutex<BTreeMap<String, SourceId>>);

impl Logged {
    fn origin(&self, url: &str, sites: &mut Sites) -> Origin {
        let source = sites.add_source(url);
        let mut sources = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        sources.insert(url.to_owned(), source);
        Origin::start_of(source)
    }

    fn source(&self, url: &str) -> Option<SourceId> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).get(url).copied()
    }

    fn rewritten(&self, text: &str, url: &str, kind: Kind) -> String {
        let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = self.origin(url, &mut sites);
        rewrite_script(text, kind, origin, &mut sites).unwrap_or_else(|_| text.to_owned())
    }
}

impl Rewriter for Logged {
    fn script(&self, text: &str, url: &str, is_module: bool) -> String {
        self.rewritten(text, url, if is_module { Kind::Module } else { Kind::Classic })
    }

    fn html(&self, bytes: &[u8], content_type: &str, url: &str) -> RewrittenPage {
        let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = self.origin(url, &mut sites);
        let charset = content_type.split_once("charset=").map(|(_, charset)| charset);
        let page = rewrite_page(bytes, charset, HtmlOptions::default(), origin, &mut sites);
        RewrittenPage { bytes: page.html.page, charset: Some(page.charset.to_owned()) }
    }

    fn dynamic(&self, text: &str, kind: &str) -> String {
        match kind {
            "html" => {
                let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                let origin = Origin::start_of(sites.add_source("made"));
                let options = HtmlOptions::default();
                anyorder_webscript::rewrite_html(text, options, origin, &mut sites).page
            }
            "eval" => self.rewritten(text, "made", Kind::Eval),
            "module" => self.rewritten(text, "made", Kind::Module),
            "handler" => self.rewritten(text, "made", Kind::Handler),
            _ => self.rewritten(text, "made", Kind::Classic),
        }
    }

    fn log(&self) -> String {
        LOG_JS.to_owned()
    }

    fn site(&self, site: u64) -> Option<(String, u32, u32)> {
        let sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = sites.get(u32::try_from(site).ok()?)?;
        Some((sites.source(found.source)?.to_owned(), found.line, found.column))
    }

    fn column(&self, url: &str, line: u32, column: u32) -> u32 {
        let sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.source(url).map_or(column, |source| sites.column(source, line, column))
    }

    fn message(&self, place: Option<(&str, u32, u32)>, message: &str) -> String {
        let sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = place.and_then(|(url, line, column)| Some((self.source(url)?, line, column)));
        sites.message(place, message)
    }
}

/// A page whose script `say` writes words into its text.
pub(super) const SAY: &str = "<!DOCTYPE html><body><p id=log></p><script>function say(word) {
    document.getElementById('log').textContent += word + ' '; }</script>";

/// Returns a response with headers.
pub(super) fn headed(status: u16, kind: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let mut response = Response::new(status, kind, body.as_bytes());
    let pairs = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    response.headers.extend(pairs);
    response
}

/// Files by their addresses, and how the page is run.
pub(super) struct Site {
    files: BTreeMap<String, Response>,
    pub(super) options: PageOptions,
}

impl Site {
    /// A site whose page is [`SAY`] with more behind it.
    pub(super) fn saying(rest: &str) -> Site {
        Site::new(format!("{SAY}{rest}").as_bytes())
    }

    pub(super) fn new(page: &[u8]) -> Site {
        let options = PageOptions { pixels: false, ..PageOptions::default() };
        let site = Site { files: BTreeMap::new(), options };
        site.with("/", Response::new(200, "text/html", page))
    }

    /// Adds a file, by its path or its address.
    pub(super) fn with(mut self, url: &str, response: Response) -> Site {
        let full = if url.starts_with('/') { format!("http://localhost{url}") } else { url.into() };
        self.files.insert(full, response);
        self
    }

    pub(super) fn file(self, url: &str, text: &str) -> Site {
        let kind = match url.rsplit_once('.').map(|(_, end)| end) {
            Some("js") => "text/javascript",
            Some("txt") => "text/plain",
            Some("json") => "application/json",
            _ => "text/html",
        };
        self.with(url, Response::new(200, kind, text.as_bytes()))
    }

    pub(super) fn steps(mut self, steps: &str) -> Site {
        let text = format!("{{\"steps\": [{steps}]}}");
        self.options.actions = parse_actions(&text).expect("steps");
        self
    }

    pub(super) fn reply_timeout(mut self, within: Duration) -> Site {
        self.options.reply_timeout = within;
        self
    }

    pub(super) fn source(&self) -> Box<dyn Source> {
        let files = self.files.clone();
        Box::new(move |request: &PageRequest| match files.get(&request.url) {
            _ if request.method == "OPTIONS" && !request.body.is_empty() => Answer::Missing,
            Some(response) => Answer::Response(response.clone()),
            None => Answer::Response(Response::new(404, "text/plain", b"not found")),
        })
    }

    pub(super) fn start(self) -> Page {
        let store = Store::new(self.source());
        Page::start(self.options, store)
    }

    /// Runs the page twice in the default order; both runs must be equal.
    pub(super) fn run(self) -> Ran {
        let mut page = self.start();
        let first = page.run(&[]).expect("the run ends");
        let again = page.run(&[]).expect("the run ends");
        assert_eq!(first.names, again.names);
        let texts = [first.words(), again.words()];
        assert_eq!(first.outcome.difference(&again.outcome), [], "{texts:?}");
        first
    }
}

/// A page that is open.
pub(super) struct Page {
    pub(super) system: PageSystem,
    pub(super) store: Store,
}

impl Page {
    pub(super) fn start(options: PageOptions, store: Store) -> Page {
        let logged = Arc::new(Logged::default());
        let system = PageSystem::start(options, store.clone(), logged).expect("the page opens");
        Page { system, store }
    }

    /// Begins a run, and executes so many events in the default order.
    pub(super) fn run_first(&mut self, events: usize) -> Result<(), RunError> {
        self.system.reset()?;
        for _ in 0..events {
            let Some(next) = self.system.enabled()?.into_iter().next() else { break };
            self.system.execute(&Choice::of(next.task))?;
        }
        Ok(())
    }

    /// Returns what the page says now.
    pub(super) fn words(&mut self) -> String {
        let outcome = self.system.observe().expect("an outcome");
        text(&outcome, ["page", "text"]).lines().next().unwrap_or_default().trim().to_owned()
    }

    /// Runs the events of a plan that are enabled at their turn, then all others.
    pub(super) fn run(&mut self, plan: &[&str]) -> Result<Ran, RunError> {
        self.system.reset()?;
        let mut names = Vec::new();
        for planned in plan {
            if enabled(&mut self.system).iter().any(|task| task == planned) {
                self.system.execute(&Choice::of(crate::common::name(planned)))?;
                names.push((*planned).to_owned());
            }
        }
        while let Some(next) = self.system.enabled()?.into_iter().next() {
            names.push(next.task.to_string());
            self.system.execute(&Choice::of(next.task))?;
            assert!(names.len() < EVENTS_MAX, "the page does not end: {names:#?}");
        }
        let outcome = self.system.observe()?;
        Ok(Ran { names, outcome, late: self.system.stats().late_requests })
    }
}

/// A run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) names: Vec<String>,
    pub(super) outcome: Observation,
    pub(super) late: u64,
}

impl Ran {
    /// Returns what the page says.
    pub(super) fn words(&self) -> String {
        let all = text(&self.outcome, ["page", "text"]);
        all.lines().next().unwrap_or_default().trim().to_owned()
    }

    pub(super) fn part(&self, path: [&str; 2]) -> String {
        text(&self.outcome, path)
    }

    /// Returns all parts with their texts.
    pub(super) fn parts(&self) -> Vec<String> {
        let parts = self.outcome.parts();
        parts
            .map(|(path, part)| format!("{path}: {}", part.text.as_deref().unwrap_or("-")))
            .collect()
    }
}
