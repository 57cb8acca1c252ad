//! Attributes with code, and those that stand in the way.

use super::token::Attribute;
use super::{Unlogged, Writer};
use crate::script::{Kind, rewrite_with_moves};

impl Writer<'_, '_> {
    /// Rewrites the attributes of a start tag.
    pub(super) fn start_tag(&mut self, name: &str, attributes: &[Attribute]) {
        let is_policy = name == "meta"
            && attributes.iter().any(|attribute| {
                let value = self.text.get(attribute.value.clone()).unwrap_or_default().trim();
                attribute.name == "http-equiv"
                    && (value.eq_ignore_ascii_case("content-security-policy")
                        || value.eq_ignore_ascii_case("content-security-policy-report-only"))
            });
        let mut seen: Vec<&str> = Vec::new();
        for attribute in attributes {
            // Of two attributes of one name the first counts.
            if seen.contains(&&*attribute.name) {
                continue;
            }
            seen.push(&attribute.name);
            match &*attribute.name {
                "integrity" if matches!(name, "script" | "link") => {
                    self.replace(attribute.whole.clone(), "");
                }
                "http-equiv" if is_policy => {
                    self.replace(attribute.whole.clone(), "http-equiv=\"x-removed-policy\"");
                }
                handler if is_handler(handler) => self.code(attribute, Kind::Handler, ""),
                "href" | "action" | "formaction" | "src" | "xlink:href" => self.url(attribute),
                _ => {}
            }
        }
    }

    fn url(&mut self, attribute: &Attribute) {
        let value = self.text.get(attribute.value.clone()).unwrap_or_default();
        let trimmed = value.trim_start_matches(|c: char| c <= ' ');
        let scheme = "javascript:";
        if trimmed.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme)) {
            // What is percent-encoded would have to be decoded as the browser does.
            if trimmed.contains(['%', '\n', '\r', '\t']) {
                self.leave(attribute.value.start, Unlogged::Escapes);
            } else {
                self.code(attribute, Kind::Eval, scheme);
            }
        }
    }

    fn code(&mut self, attribute: &Attribute, kind: Kind, prefix: &str) {
        let raw = self.text.get(attribute.value.clone()).unwrap_or_default();
        let Some(decoded) = decode(raw) else {
            self.leave(attribute.value.start, Unlogged::Escapes);
            return;
        };
        let code = decoded.trim_start_matches(|c: char| !prefix.is_empty() && c <= ' ');
        let code = code.get(prefix.len()..).unwrap_or_default();
        let origin = self.lines.place(attribute.value.start);
        match rewrite_with_moves(code, kind, origin, self.sites) {
            Ok((mine, _)) if mine == code => {}
            Ok((mine, _)) => {
                let value = mine.replace('&', "&amp;").replace('"', "&quot;");
                let text = format!("{}=\"{prefix}{value}\"", attribute.name);
                self.replace(attribute.whole.clone(), &text);
            }
            Err(error) => self.leave(attribute.value.start, Unlogged::Syntax(error)),
        }
    }
}

fn is_handler(name: &str) -> bool {
    name.len() > 2 && name.starts_with("on") && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Decodes character references: numbers, and those that code is escaped with. Returns `None` if
/// there may be another one.
fn decode(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = after.get(1..).unwrap_or_default();
        let name_end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
        let (name, tail) = after.split_at(name_end.unwrap_or(after.len()));
        rest = tail;
        if let Some(number) = name.strip_prefix('#') {
            let hex = number.strip_prefix(['x', 'X']);
            let code =
                hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            // Numbers below 160 have rules of their own.
            let code = code.filter(|code| (32..127).contains(code) || *code >= 160 || *code == 10);
            out.push(char::from_u32(code?)?);
            rest = rest.strip_prefix(';')?;
            continue;
        }
        let character = match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" => '\u{a0}',
            _ => {
                // `&&`, `& x` and `&x=` are no references.
                if name.is_empty() || rest.starts_with('=') {
                    out.push('&');
                    out.push_str(name);
                    continue;
                }
                return None;
            }
        };
        rest = rest.strip_prefix(';')?;
        out.push(character);
    }
    out.push_str(rest);
    Some(out)
}
