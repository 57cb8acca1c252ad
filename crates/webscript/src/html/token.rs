//! A tokenizer of HTML that keeps offsets.
//!
//! **Source.** HTML Standard, sections 13.2.5 (tokenization) and 13.2.6.5 (foreign content).
//!
//! **Deviations.** It reports tags and ranges of text, and decodes nothing. Whether a tag is in
//! foreign content (SVG, MathML), where `script` and `style` are no raw text, is known from the
//! tags before it and not from the tree: misnested foreign content can be taken for HTML.

use std::ops::Range;

/// An attribute of a start tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attribute {
    /// In lower case.
    pub(crate) name: String,
    /// From the first byte of the name to the end of the value with its quotes.
    pub(crate) whole: Range<usize>,
    /// The value without quotes, as it is written. Empty if there is none.
    pub(crate) value: Range<usize>,
}

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A start tag: its name in lower case, attributes, and whether it ends with `/>`.
    Start(String, Vec<Attribute>, bool),
    /// An end tag.
    End(String),
    /// Text; raw if it is the content of the raw-text element of this name.
    Text(Option<String>),
    /// A doctype.
    Doctype,
    /// A comment, or what counts as one.
    Comment,
}

/// The tokens of a text, each with its range. It takes time linear in the text.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    /// The raw-text element that the text after a start tag belongs to.
    raw: Option<String>,
    /// Foreign elements and integration points around: true where SVG or MathML is.
    foreign: Vec<(String, bool)>,
    /// No `<!--` comment ends after this offset, so that none is searched again.
    no_comment_end: bool,
}

/// Elements of HTML that end foreign content.
const BREAKOUTS: &[&str] = &[
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strong",
    "strike",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

const RAW: &[&str] = &[
    "script",
    "style",
    "title",
    "textarea",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
];

impl<'t> Tokens<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, raw: None, foreign: Vec::new(), no_comment_end: false }
    }

    /// Returns whether the next token is in SVG or MathML.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign.last().is_some_and(|(_, foreign)| *foreign)
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn seek(&self, from: usize, wanted: &[u8]) -> Option<usize> {
        let bytes = self.text.as_bytes().get(from..)?;
        bytes.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
    }

    /// Returns the end of raw text: where its end tag begins, or the end of the page.
    fn raw_end(&self, name: &str) -> usize {
        if name == "plaintext" {
            return self.text.len();
        }
        let bytes = self.text.as_bytes();
        // 0 outside of `<!--` in a script, 1 inside, 2 inside of `<!-- <script`.
        let (mut at, mut level) = (self.at, 0);
        while let Some(byte) = bytes.get(at) {
            let rest = &bytes[at..];
            if *byte == b'<' {
                if is_tag(rest, b"</", name) && level < 2 {
                    return at;
                }
                if name == "script" {
                    level = match level {
                        0 if rest.starts_with(b"<!--") => 1,
                        1 if is_tag(rest, b"<", name) => 2,
                        2 if is_tag(rest, b"</", name) => 1,
                        level => level,
                    };
                    if rest.starts_with(b"<!-->") || rest.starts_with(b"<!--->") {
                        level = 0;
                    }
                }
            } else if level > 0 && rest.starts_with(b"-->") {
                level = 0;
            }
            at += 1;
        }
        self.text.len()
    }

    fn markup(&mut self) -> (Token, usize) {
        let rest = self.rest();
        if rest.starts_with(b"<!--") {
            return (Token::Comment, self.comment_end());
        }
        if rest.len() >= 9 && rest[..9].eq_ignore_ascii_case(b"<!doctype") {
            let end = self.seek(self.at, b">").map_or(self.text.len(), |end| end + 1);
            return (Token::Doctype, end);
        }
        if rest.starts_with(b"<![CDATA[") && self.is_foreign() {
            let end = self.seek(self.at, b"]]>").map_or(self.text.len(), |end| end + 3);
            return (Token::Text(Some("![CDATA[".to_owned())), end);
        }
        let end = self.seek(self.at, b">").map_or(self.text.len(), |end| end + 1);
        (Token::Comment, end)
    }

    fn comment_end(&mut self) -> usize {
        let (from, rest) = (self.at + 4, &self.rest()[4..]);
        if rest.starts_with(b">") {
            return from + 1;
        }
        if rest.starts_with(b"->") {
            return from + 2;
        }
        let bytes = self.text.as_bytes();
        let mut at = from;
        while !self.no_comment_end && at < bytes.len() {
            if bytes[at..].starts_with(b"-->") {
                return at + 3;
            }
            if bytes[at..].starts_with(b"--!>") {
                return at + 4;
            }
            at += 1;
        }
        self.no_comment_end = true;
        bytes.len()
    }

    /// Reads a tag from `<`; `None` if it does not end, and then the rest of the page is dropped.
    fn tag(&mut self, is_end: bool) -> Option<(Token, usize)> {
        let bytes = self.text.as_bytes();
        let start = self.at + if is_end { 2 } else { 1 };
        let mut at = start;
        while !matches!(bytes.get(at)?, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/' | b'>') {
            at += 1;
        }
        let name = self.text.get(start..at)?.to_ascii_lowercase();
        let mut attributes: Vec<Attribute> = Vec::new();
        let mut closes_itself = false;
        loop {
            match bytes.get(at)? {
                b'>' => break,
                b'/' => {
                    closes_itself = bytes.get(at + 1) == Some(&b'>');
                    at += 1;
                }
                byte if byte.is_ascii_whitespace() => at += 1,
                _ => {
                    let attribute = self.attribute(at)?;
                    at = attribute.whole.end;
                    if attributes.len() < 1000 {
                        attributes.push(attribute);
                    }
                }
            }
        }
        let token =
            if is_end { Token::End(name) } else { Token::Start(name, attributes, closes_itself) };
        Some((token, at + 1))
    }

    fn attribute(&self, start: usize) -> Option<Attribute> {
        let bytes = self.text.as_bytes();
        let space = |at: usize| {
            let mut at = at;
            while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
                at += 1;
            }
            at
        };
        // A `=` at the beginning is a part of the name.
        let mut at = start + 1;
        while !matches!(bytes.get(at)?, b'/' | b'>' | b'=') && !bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        let name = self.text.get(start..at)?.to_ascii_lowercase();
        let after = space(at);
        if bytes.get(after) != Some(&b'=') {
            return Some(Attribute { name, whole: start..at, value: at..at });
        }
        let value = space(after + 1);
        let (value, end) = match bytes.get(value)? {
            quote @ (b'"' | b'\'') => {
                let end = self.seek(value + 1, &[*quote])?;
                (value + 1..end, end + 1)
            }
            b'>' => (value..value, value),
            _ => {
                let mut end = value;
                while !matches!(bytes.get(end)?, b'>') && !bytes[end].is_ascii_whitespace() {
                    end += 1;
                }
                (value..end, end)
            }
        };
        Some(Attribute { name, whole: start..end, value })
    }

    fn follow(&mut self, token: &Token) {
        match token {
            Token::Start(name, attributes, closes_itself) => {
                if self.is_foreign() {
                    let is_font = name == "font"
                        && attributes
                            .iter()
                            .any(|it| matches!(&*it.name, "color" | "face" | "size"));
                    if BREAKOUTS.contains(&&**name) || is_font {
                        while self.is_foreign() {
                            self.foreign.pop();
                        }
                    } else if !closes_itself {
                        let point = matches!(
                            &**name,
                            "foreignobject"
                                | "desc"
                                | "title"
                                | "annotation-xml"
                                | "mi"
                                | "mo"
                                | "mn"
                                | "ms"
                                | "mtext"
                        );
                        self.foreign.push((name.clone(), !point));
                    }
                } else if matches!(&**name, "svg" | "math") && !closes_itself {
                    self.foreign.push((name.clone(), true));
                } else if RAW.contains(&&**name) {
                    self.raw = Some(name.clone());
                }
            }
            Token::End(name) => {
                let last = self.foreign.iter().rposition(|(open, _)| open == name);
                if let Some(last) = last {
                    self.foreign.truncate(last);
                } else if self.is_foreign() && matches!(&**name, "p" | "br") {
                    self.foreign.clear();
                }
            }
            _ => {}
        }
    }
}

fn is_tag(rest: &[u8], before: &[u8], name: &str) -> bool {
    let end = before.len() + name.len();
    rest.starts_with(before)
        && rest.get(before.len()..end).is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes()))
        && rest
            .get(end)
            .is_some_and(|byte| matches!(byte, b'/' | b'>') || byte.is_ascii_whitespace())
}

impl Iterator for Tokens<'_> {
    type Item = (Token, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        if let Some(name) = self.raw.take() {
            let end = self.raw_end(&name);
            if end > start {
                self.at = end;
                return Some((Token::Text(Some(name)), start..end));
            }
        }
        let rest = self.rest();
        let next = rest.get(1).copied().unwrap_or(b' ');
        let (token, end) = match rest {
            [b'<', b'!', ..] => self.markup(),
            [b'<', b'?', ..] => {
                (Token::Comment, self.seek(start, b">").map_or(self.text.len(), |end| end + 1))
            }
            [b'<', b'/', letter, ..] if letter.is_ascii_alphabetic() => {
                self.tag(true).unwrap_or((Token::Comment, self.text.len()))
            }
            [b'<', b'/', b'>', ..] => (Token::Comment, start + 3),
            [b'<', b'/', _, ..] => {
                (Token::Comment, self.seek(start, b">").map_or(self.text.len(), |end| end + 1))
            }
            [b'<', ..] if next.is_ascii_alphabetic() => {
                self.tag(false).unwrap_or((Token::Comment, self.text.len()))
            }
            _ => {
                let end = rest.iter().skip(1).position(|byte| *byte == b'<');
                (Token::Text(None), end.map_or(self.text.len(), |end| start + 1 + end))
            }
        };
        self.follow(&token);
        self.at = end;
        Some((token, start..end))
    }
}
