//! Where the parser may be stopped.
//!
//! A hold point is a script element that is fetched, and removes itself. The parser waits for it.
//! After it the tree must be as if it had not been there. So it stands where no text is both before
//! and behind it, since it would divide a text node; in the body only; and outside of elements
//! whose content is parsed by rules of their own (tables, selections, foreign content, templates),
//! chosen by its children (pictures, media), or in which a newline counts (`pre`).

use super::Holds;
use super::token::Token;

/// Elements in which there is no hold point.
const CLOSED: &[&str] = &[
    "table",
    "select",
    "svg",
    "math",
    "template",
    "textarea",
    "pre",
    "listing",
    "xmp",
    "datalist",
    "optgroup",
    "video",
    "audio",
    "picture",
    "object",
    "applet",
    "marquee",
    "iframe",
    "noscript",
    "noembed",
    "noframes",
    "title",
    "style",
    "option",
    "plaintext",
    "frameset",
    "button",
    "ruby",
];

/// Tags that the parser ignores in the body, or that belong into a table.
const IGNORED: &[&str] = &[
    "html", "head", "body", "tr", "td", "th", "tbody", "thead", "tfoot", "caption", "col",
    "colgroup", "frame", "frameset",
];

/// Elements that come into the head if no body has begun.
const HEAD: &[&str] = &[
    "html", "head", "base", "basefont", "bgsound", "link", "meta", "title", "noscript", "noframes",
    "style", "script", "template", "frameset",
];

/// Elements that another start tag closes.
const IMPLIED: &[&str] = &["li", "dd", "dt", "rb", "rt", "rp", "rtc", "option", "optgroup"];

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr", "keygen", "basefont", "bgsound", "image",
];

const BLOCKS: &[&str] = &[
    "div",
    "section",
    "article",
    "main",
    "nav",
    "header",
    "footer",
    "aside",
    "form",
    "ul",
    "ol",
    "dl",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "table",
    "pre",
    "fieldset",
    "figure",
    "hr",
    "script",
    "img",
    "iframe",
    "video",
    "details",
    "blockquote",
    "svg",
    "select",
    "button",
    "input",
    "textarea",
];

/// Finds the places of hold points while tokens go by.
pub(super) struct Holder {
    holds: Holds,
    number: u32,
    first: u32,
    in_body: bool,
    ended: bool,
    /// Closed elements that are open.
    closed: Vec<String>,
    /// Elements that are open, as far as tags tell.
    open: Vec<String>,
    /// How many of them have each name.
    counts: rustc_hash::FxHashMap<String, u32>,
    /// The last token was text.
    after_text: bool,
    /// A hold point was just inserted.
    just_held: bool,
}

impl Holder {
    pub(super) fn new(holds: Holds, first: u32) -> Self {
        Self {
            holds,
            number: first,
            first,
            in_body: false,
            ended: false,
            closed: Vec::new(),
            open: Vec::new(),
            counts: rustc_hash::FxHashMap::default(),
            after_text: false,
            just_held: false,
        }
    }

    /// Returns how many hold points were inserted.
    pub(super) fn count(&self) -> u32 {
        self.number - self.first
    }

    fn hold(&mut self, name: &str) -> Option<String> {
        let wanted = match self.holds {
            Holds::None => false,
            Holds::Blocks => BLOCKS.contains(&name),
            Holds::Most => true,
        };
        let fits = self.in_body && !self.ended && self.closed.is_empty() && !self.just_held;
        if !wanted || !fits || IGNORED.contains(&name) {
            return None;
        }
        self.just_held = true;
        self.number += 1;
        Some(format!("<script src=\"/__anyorder/hold/{}.js\"></script>", self.number - 1))
    }

    /// Returns the hold point before a token.
    pub(super) fn before(&mut self, token: &Token, is_foreign: bool) -> Option<String> {
        match token {
            // A form in a form is ignored.
            Token::Start(name, ..) if name == "form" && self.is_open(name) => None,
            Token::Start(name, ..) if !is_foreign => self.hold(name),
            _ => None,
        }
    }

    /// Takes note of a token, and returns the hold point behind it.
    pub(super) fn after(&mut self, token: &Token, is_foreign: bool) -> Option<String> {
        self.just_held = self.just_held && matches!(token, Token::Comment);
        let after_text =
            std::mem::replace(&mut self.after_text, matches!(token, Token::Text(None)));
        match token {
            Token::Start(name, _, closes_itself) => self.start(name, is_foreign, *closes_itself),
            Token::End(name) => self.end(name, after_text),
            Token::Text(_) | Token::Comment | Token::Doctype => None,
        }
    }

    fn is_open(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }

    fn start(&mut self, name: &str, is_foreign: bool, closes_itself: bool) -> Option<String> {
        if name == "frameset" && !self.in_body {
            self.ended = true;
        }
        if name == "body" || (!HEAD.contains(&name) && !is_foreign) {
            self.in_body = true;
        }
        if VOID.contains(&name) && !is_foreign {
            return self.hold(name);
        }
        let is_empty = closes_itself && (is_foreign || matches!(name, "svg" | "math"));
        if !is_empty {
            self.open.push(name.to_owned());
            *self.counts.entry(name.to_owned()).or_default() += 1;
            if CLOSED.contains(&name) {
                self.closed.push(name.to_owned());
            }
        }
        None
    }

    fn end(&mut self, name: &str, after_text: bool) -> Option<String> {
        if matches!(name, "body" | "html") {
            self.ended = true;
        }
        if let Some(last) = self.closed.iter().rposition(|open| open == name) {
            self.closed.truncate(last);
        }
        if !self.is_open(name) {
            return None;
        }
        while let Some(open) = self.open.pop() {
            if let Some(count) = self.counts.get_mut(&open) {
                *count -= 1;
            }
            if open == name {
                break;
            }
        }
        // It may have been closed by another tag; then this one is ignored.
        if after_text && IMPLIED.contains(&name) { None } else { self.hold(name) }
    }
}
