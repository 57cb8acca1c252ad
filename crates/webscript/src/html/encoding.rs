//! Pages as bytes.
//!
//! **Source.** HTML Standard, section 13.2.3 (determining the character encoding). The parts that
//! guess are left out: a page without any declaration is windows-1252, as in most locales.

use super::token::{Token, Tokens};
use super::{Html, HtmlOptions, rewrite_html};
use crate::sites::{Origin, Sites};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// A page as bytes that was rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The page, with the number of its hold points and what was left.
    pub html: Html<Vec<u8>>,
    /// The name of its encoding: what the `charset` of its `Content-Type` must be. It differs from
    /// the encoding that the page had if that cannot be written (UTF-16), or if the page has bytes
    /// that mean nothing in it.
    pub charset: &'static str,
}

/// How much of a page is searched for a declaration, in bytes.
const PRESCAN_BYTES: usize = 1024;

/// Rewrites a page as bytes. `charset` is that of the `Content-Type` header, if it has one. Costs
/// are those of [`rewrite_html`].
pub fn rewrite_page(
    bytes: &[u8],
    charset: Option<&str>,
    options: HtmlOptions<'_>,
    origin: Origin,
    sites: &mut Sites,
) -> Page {
    let (encoding, skip) = encoding_of(bytes, charset);
    let body = bytes.get(skip..).unwrap_or_default();
    let (text, had_errors) = encoding.decode_without_bom_handling(body);
    let html = rewrite_html(&text, options, origin, sites);
    let mut page = Vec::with_capacity(html.page.len() + skip);
    let is_written = encoding.output_encoding() == encoding && !had_errors;
    let encoded = is_written.then(|| encoding.encode(&html.page));
    let charset = match encoded {
        Some((encoded, _, false)) => {
            page.extend_from_slice(bytes.get(..skip).unwrap_or_default());
            page.extend_from_slice(&encoded);
            encoding.name()
        }
        _ => {
            page.extend_from_slice(html.page.as_bytes());
            UTF_8.name()
        }
    };
    Page { html: Html { page, holds: html.holds, unlogged: html.unlogged }, charset }
}

/// Returns the encoding of a page, and the length of its byte order mark.
fn encoding_of(bytes: &[u8], charset: Option<&str>) -> (&'static Encoding, usize) {
    if let Some(found) = Encoding::for_bom(bytes) {
        return found;
    }
    let header = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    (header.or_else(|| declared(bytes)).unwrap_or(WINDOWS_1252), 0)
}

/// Returns what a `meta` at the beginning declares.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(head);
    for (token, _) in Tokens::new(&text) {
        let Token::Start(name, attributes, _) = token else { continue };
        if name != "meta" {
            continue;
        }
        let value = |wanted: &str| {
            let found = attributes.iter().find(|attribute| attribute.name == wanted)?;
            text.get(found.value.clone())
        };
        let is_type =
            || value("http-equiv").is_some_and(|it| it.eq_ignore_ascii_case("content-type"));
        let content = value("content").filter(|_| is_type()).map(str::to_ascii_lowercase);
        let from_content = content.as_deref().and_then(|content| text_after(content, "charset"));
        let label = value("charset").or(from_content);
        if let Some(encoding) = label.and_then(|label| Encoding::for_label(label.as_bytes())) {
            // A page whose declaration can be read is not UTF-16.
            let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
            return Some(if is_wide { UTF_8 } else { encoding });
        }
    }
    None
}

fn text_after<'t>(content: &'t str, word: &str) -> Option<&'t str> {
    let rest = content.split_once(word)?.1.trim_start().strip_prefix('=')?.trim_start();
    let rest = rest.trim_start_matches(['"', '\'']);
    rest.split(['"', '\'', ';', ' ']).next()
}
