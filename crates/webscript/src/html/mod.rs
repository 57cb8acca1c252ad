//! Rewriting of HTML.
//!
//! The page keeps its tree: scripts, handlers and `javascript:` URLs are rewritten in their places,
//! and *hold points* are scripts that remove themselves. What the browser would refuse after the
//! rewriting goes: `integrity` of scripts and style sheets, and content security policies in
//! `meta`.
//!
//! **Guarantee.** Hold points stand where a script element changes neither the elements around it
//! nor the division of text into nodes (`holds.rs`).

mod attributes;
mod encoding;
mod holds;
mod token;

use crate::lines::Lines;
use crate::original::{Move, units};
use crate::script::{Kind, SyntaxError, rewrite_with_moves};
use crate::sites::{Origin, Sites};
use holds::Holder;
use token::{Attribute, Token, Tokens};

/// How many hold points a page gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holds {
    /// None.
    #[default]
    None,
    /// Before and after blocks, scripts, images and frames.
    Blocks,
    /// Between all elements of the body, wherever that does not change the tree.
    Most,
}

/// What is done to a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct HtmlOptions<'o> {
    /// Markup that goes to the beginning of the head, before all scripts of the page. It should
    /// have no newline, or lines of the page are counted from a later one.
    pub inject: Option<&'o str>,
    /// Which hold points are inserted.
    pub holds: Holds,
    /// The number of the first hold point: the N of `/__anyorder/hold/N.js`.
    pub first_hold: u32,
}

/// A page that was rewritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html<T> {
    /// The page.
    pub page: T,
    /// How many hold points it has.
    pub holds: u32,
    /// Scripts that were left as they are, with their places and why.
    pub unlogged: Vec<(Origin, Unlogged)>,
}

/// Why a script of a page was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlogged {
    /// It does not parse.
    Syntax(SyntaxError),
    /// A handler or URL is written with character references or escapes that are not decoded.
    Escapes,
    /// It is in SVG.
    Foreign,
}

pub use encoding::{Page, rewrite_page};

/// Rewrites a page, or a fragment of one, as text. It takes time linear in the text, and that of
/// its scripts. Nothing fails: what cannot be rewritten is listed.
pub fn rewrite_html(
    text: &str,
    options: HtmlOptions<'_>,
    origin: Origin,
    sites: &mut Sites,
) -> Html<String> {
    sites.begin(origin, text);
    let mut writer = Writer {
        text,
        out: String::with_capacity(text.len() + text.len() / 2),
        done: 0,
        lines: Lines::new(text, origin),
        sites,
        unlogged: Vec::new(),
    };
    let mut inject = options.inject;
    let mut holder = Holder::new(options.holds, options.first_hold);
    let mut tokens = Tokens::new(text);
    let mut script = None;
    loop {
        let is_foreign = tokens.is_foreign();
        let Some((token, range)) = tokens.next() else { break };
        if let Some(markup) = inject
            && let Some(at) = injection(&token, text, &range)
        {
            writer.insert(at, markup);
            inject = None;
        }
        if let Some(markup) = holder.before(&token, is_foreign) {
            writer.insert(range.start, &markup);
        }
        match &token {
            Token::Start(name, attributes, _) => {
                writer.start_tag(name, attributes);
                script = (name == "script").then(|| script_kind(text, attributes)).flatten();
                if is_foreign && name == "script" {
                    writer.leave(range.start, Unlogged::Foreign);
                }
            }
            Token::Text(Some(raw)) if raw == "script" => {
                if let Some(kind) = script.take() {
                    writer.script(range.clone(), kind);
                }
            }
            _ => {}
        }
        if let Some(markup) = holder.after(&token, is_foreign) {
            writer.insert(range.end, &markup);
        }
    }
    if let Some(markup) = inject {
        writer.insert(text.len(), markup);
    }
    let unlogged = std::mem::take(&mut writer.unlogged);
    Html { page: writer.finish(), holds: holder.count(), unlogged }
}

/// Returns where markup goes that must come first: after `<head>`, or before the first content.
fn injection(token: &Token, text: &str, range: &std::ops::Range<usize>) -> Option<usize> {
    match token {
        Token::Doctype | Token::Comment => None,
        Token::Start(name, ..) if name == "html" => None,
        Token::Start(name, ..) if name == "head" => Some(range.end),
        Token::Text(None) => {
            let words = text.get(range.clone())?;
            let first = words.find(|c: char| !c.is_ascii_whitespace())?;
            (!words.trim_start_matches('\u{feff}').trim().is_empty()).then_some(range.start + first)
        }
        Token::Start(..) | Token::End(_) | Token::Text(_) => Some(range.start),
    }
}

/// Returns what the content of a script element is; `None` if it is not run from the page.
fn script_kind(text: &str, attributes: &[Attribute]) -> Option<Kind> {
    let value = |name: &str| {
        let found = attributes.iter().find(|attribute| attribute.name == name);
        found.and_then(|found| text.get(found.value.clone()))
    };
    let kind = match (value("type"), value("language")) {
        (Some(kind), _) => kind.trim().to_ascii_lowercase(),
        (None, Some(language)) if !language.is_empty() => {
            format!("text/{}", language.to_ascii_lowercase())
        }
        (None, _) => String::new(),
    };
    if value("src").is_some() {
        return None;
    }
    if kind == "module" {
        return Some(Kind::Module);
    }
    if value("nomodule").is_some() {
        return None;
    }
    let name = kind.strip_prefix("text/").or_else(|| kind.strip_prefix("application/"));
    let name = name.map(|name| name.strip_prefix("x-").unwrap_or(name));
    let is_classic = kind.is_empty()
        || matches!(name, Some("javascript" | "ecmascript" | "jscript" | "livescript"))
        || name.is_some_and(|name| {
            name.strip_prefix("javascript1.").is_some_and(|rest| rest.len() == 1)
        });
    is_classic.then_some(Kind::Classic)
}

/// The page as it is written.
struct Writer<'w, 's> {
    text: &'w str,
    out: String,
    /// What was written up to here.
    done: usize,
    lines: Lines<'w>,
    sites: &'s mut Sites,
    unlogged: Vec<(Origin, Unlogged)>,
}

impl Writer<'_, '_> {
    fn copy_to(&mut self, at: usize) {
        self.out.push_str(self.text.get(self.done..at).unwrap_or_default());
        self.done = self.done.max(at);
    }

    fn insert(&mut self, at: usize, markup: &str) {
        self.replace(at..at, markup);
    }

    fn replace(&mut self, range: std::ops::Range<usize>, markup: &str) {
        let Origin { source, line, column } = self.lines.place(range.start);
        let before = self.text.get(range.clone()).unwrap_or_default();
        let (removed, inserted) = (units(before), units(markup));
        self.sites.add_moves(source, &[Move { line, column, removed, inserted, nudge: 0 }]);
        self.write(range, markup);
    }

    fn write(&mut self, range: std::ops::Range<usize>, markup: &str) {
        self.copy_to(range.start);
        self.out.push_str(markup);
        self.done = self.done.max(range.end);
    }

    fn leave(&mut self, at: usize, why: Unlogged) {
        self.unlogged.push((self.lines.place(at), why));
    }

    fn script(&mut self, range: std::ops::Range<usize>, kind: Kind) {
        let Some(text) = self.text.get(range.clone()) else { return };
        let origin = self.lines.place(range.start);
        match rewrite_with_moves(text, kind, origin, self.sites) {
            Ok((mine, moves)) => {
                self.sites.add_moves(origin.source, &moves);
                self.write(range, &mine);
            }
            Err(error) => self.leave(range.start, Unlogged::Syntax(error)),
        }
    }

    fn finish(mut self) -> String {
        self.copy_to(self.text.len());
        self.out
    }
}
