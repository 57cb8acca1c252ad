//! Rewrites the texts of a page, so that its events report what they access.

use super::served::Files;
use anyorder_web::{Rewriter, RewrittenPage};
use anyorder_webscript::{
    Holds, HtmlOptions, Kind, LOG_JS, Origin, Sites, SourceId, Unlogged, rewrite_html,
    rewrite_page, rewrite_script,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most places at which the parser of a page is stopped. Each is an event of every run.
const HOLDS_MAX: u32 = 40;

/// The rewriter of a page. One table of sites serves all workers.
#[derive(Debug)]
pub(super) struct Logged {
    /// The address of the page.
    url: String,
    files: Files,
    /// Whether the parser is stopped between the blocks of a page.
    in_parts: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sites: Sites,
    /// Texts that were left as they are: which, and why.
    left: BTreeSet<String>,
    /// The last source of each address.
    sources: BTreeMap<String, SourceId>,
}

impl Logged {
    pub(super) fn new(url: &str, files: Files, in_parts: bool) -> Logged {
        Logged { url: url.to_owned(), files, in_parts, state: Mutex::default() }
    }

    /// Returns whether the parser is stopped between the blocks of a page.
    pub(super) fn in_parts(&self) -> bool {
        self.in_parts
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, url: &str) -> String {
        self.files.name(url, &self.url)
    }

    /// Returns the texts that report no accesses.
    pub(super) fn left(&self) -> Vec<String> {
        self.state().left.iter().cloned().collect()
    }
}

impl State {
    /// Rewrites a script, or leaves it.
    fn script(&mut self, text: &str, (name, url): (&str, &str), kind: Kind) -> String {
        let source = self.sites.add_source(name);
        self.sources.insert(url.to_owned(), source);
        match rewrite_script(text, kind, Origin::start_of(source), &mut self.sites) {
            Ok(rewritten) => rewritten,
            Err(error) => {
                self.left.insert(format!("{name}: {error}"));
                text.to_owned()
            }
        }
    }
}

/// What code that a page makes itself is called.
const MADE: &str = "code that the page makes";

impl Rewriter for Logged {
    fn script(&self, text: &str, url: &str, is_module: bool) -> String {
        let kind = if is_module { Kind::Module } else { Kind::Classic };
        let name = self.name(url);
        self.state().script(text, (&name, url), kind)
    }

    fn html(&self, bytes: &[u8], content_type: &str, url: &str) -> RewrittenPage {
        let name = self.name(url);
        let mut state = self.state();
        let State { sites, left, sources } = &mut *state;
        let source = sites.add_source(&name);
        sources.insert(url.to_owned(), source);
        let mut made = |holds| {
            let options = HtmlOptions { holds, ..HtmlOptions::default() };
            let origin = Origin::start_of(source);
            rewrite_page(bytes, charset(content_type), options, origin, sites)
        };
        let mut page = made(if self.in_parts { Holds::Blocks } else { Holds::None });
        if page.html.holds > HOLDS_MAX {
            page = made(Holds::None);
        }
        for (place, why) in &page.html.unlogged {
            let why = match why {
                Unlogged::Syntax(error) => error.to_string(),
                Unlogged::Escapes => format!("line {}: a handler with escapes", place.line),
                Unlogged::Foreign => format!("line {}: a script in SVG", place.line),
            };
            left.insert(format!("{name}: {why}"));
        }
        RewrittenPage { bytes: page.html.page, charset: Some(page.charset.to_owned()) }
    }

    fn dynamic(&self, text: &str, kind: &str) -> String {
        let mut state = self.state();
        let kind = match kind {
            "html" => {
                let source = state.sites.add_source(MADE);
                let origin = Origin::start_of(source);
                return rewrite_html(text, HtmlOptions::default(), origin, &mut state.sites).page;
            }
            "eval" => Kind::Eval,
            "module" => Kind::Module,
            "handler" => Kind::Handler,
            _ => Kind::Classic,
        };
        state.script(text, (MADE, MADE), kind)
    }

    fn log(&self) -> String {
        LOG_JS.to_owned()
    }

    fn site(&self, site: u64) -> Option<(String, u32, u32)> {
        let state = self.state();
        let found = state.sites.get(u32::try_from(site).ok()?)?;
        let name = state.sites.source(found.source)?;
        Some((name.to_owned(), found.line, found.column))
    }

    fn column(&self, url: &str, line: u32, column: u32) -> u32 {
        let state = self.state();
        let source = state.sources.get(url);
        source.map_or(column, |source| state.sites.column(*source, line, column))
    }

    fn message(&self, place: Option<(&str, u32, u32)>, message: &str) -> String {
        let state = self.state();
        let source = |url: &str| state.sources.get(url).copied();
        let place = place.and_then(|(url, line, column)| Some((source(url)?, line, column)));
        state.sites.message(place, message)
    }
}

/// Returns the encoding that a content type names.
fn charset(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1);
    let value = parameters.find_map(|one| {
        let (name, value) = one.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_of_a_content_type() {
        assert_eq!(charset("text/html; Charset=\"utf-8\""), Some("utf-8"));
        assert_eq!(charset("text/html;a=b; charset=latin1"), Some("latin1"));
        assert_eq!(charset("text/html"), None);
    }

    #[test]
    fn sites_are_in_the_own_sources_and_what_is_left_is_listed() {
        let logged = Logged::new("http://localhost/", Files::default(), true);
        let text = logged.script("a.b = 1", "http://localhost/x.js", false);
        assert!(text.contains("__ao"), "{text}");
        assert_eq!(logged.site(0), Some(("http://localhost/x.js".to_owned(), 1, 3)));
        assert_eq!(logged.script("a b", "http://localhost/y.js", false), "a b");
        assert_eq!(logged.left().len(), 1);
        let page = logged.html(b"<p>a</p><script>x = 1</script>", "text/html", "http://localhost/");
        assert!(String::from_utf8_lossy(&page.bytes).contains("/__anyorder/hold/"));
    }
}
