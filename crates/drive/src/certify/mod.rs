//! Checks certificates with the crate `certify`, which depends on no engine. A schedule of a model
//! is checked by running the machine step by step.
//!
//! The checked claim is computed from the input. Every field of a certificate is checked, refused,
//! or not reported; `docs/formats/certificates.md` lists them by kind.

mod fields;
mod model;
mod program;
mod reordering;
mod result;
mod texts;
mod trace;
mod written;

pub use model::certify_model;
pub use program::certify_program;
pub use trace::{CertifyOptions, TraceCertifier};
pub use written::{CheckedText, certificate_text};

pub(crate) use model::certify_schedule;
pub(crate) use written::keep_true_reorderings;

use crate::json::parse_strictly;

/// The content of a file, recognised.
enum Content<'a> {
    /// A text whose first line begins with this word.
    Text(&'a str),
    /// A text of another kind: a run.
    Run,
    Json(Box<serde_json::Value>),
}

/// Returns the text of a certificate without a byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Recognises the content of a file.
fn recognised(text: &str) -> Result<Content<'_>, String> {
    if text.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']).starts_with('{') {
        let value = parse_strictly(text).map_err(|error| format!("not JSON: {error}"))?;
        return Ok(Content::Json(Box::new(value)));
    }
    let lines = text.lines().map(str::trim_ascii);
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with('#'));
    let word = first.and_then(|line| line.split_ascii_whitespace().next()).unwrap_or_default();
    Ok(match word {
        "order-proof" | "consistency-proof" | "trace-schedule" => Content::Text(word),
        _ => Content::Run,
    })
}
