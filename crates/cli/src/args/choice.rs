//! Options with a fixed set of values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value of an option as typed, its help, and its meaning.
pub(crate) type Word<T> = (&'static str, &'static str, T);

/// Returns a parser of one of several words.
pub(crate) fn choice<T: Copy + Send + Sync + 'static>(
    words: &'static [Word<T>],
) -> impl TypedValueParser<Value = T> {
    let listed = words.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    // The first parser accepts only words of the list.
    PossibleValuesParser::new(listed)
        .map(|typed| words.iter().find(|(word, ..)| *word == typed).unwrap_or(&words[0]).2)
}

/// Returns the word that stands for a value.
pub(crate) fn word_of<T: PartialEq>(words: &[Word<T>], value: T) -> &'static str {
    words.iter().find(|(.., known)| *known == value).map_or("", |(word, ..)| word)
}
