//! Names of formats.

use anyorder_formats::detect::Format;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parses the name of any format.
pub(crate) fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::word)).map(format_of)
}

/// Parses the name of a format that can be written.
pub(crate) fn writable_parser() -> impl TypedValueParser<Value = Format> {
    let writable = Format::ALL.into_iter().filter(|format| format.is_writable());
    PossibleValuesParser::new(writable.map(Format::word)).map(format_of)
}

fn format_of(word: String) -> Format {
    // The first parser accepts only known words.
    Format::from_word(&word).unwrap_or(Format::NativeText)
}
