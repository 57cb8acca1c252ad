//! Which words of the language random models have, alone and in pairs.

use std::collections::{BTreeMap, BTreeSet};

/// The words that a model may have which the command accepts.
pub(crate) const WORDS: [&str; 55] = [
    "after",
    "any",
    "assert",
    "assume",
    "async",
    "atomic",
    "bag",
    "break",
    "call",
    "cancel",
    "choose",
    "class",
    "component",
    "const",
    "continue",
    "daemon",
    "delayed",
    "disable",
    "disabled",
    "driver",
    "else",
    "enable",
    "enabled",
    "enum",
    "event",
    "fail",
    "fifo",
    "final",
    "fn",
    "for",
    "front",
    "handler",
    "if",
    "init",
    "invariant",
    "let",
    "list",
    "lock",
    "loop",
    "match",
    "null",
    "on",
    "once",
    "post",
    "procedure",
    "push",
    "record",
    "return",
    "sum",
    "task",
    "to",
    "unfair",
    "when",
    "while",
    "with",
];

/// The models, by the words that each has.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    words: BTreeMap<&'static str, u64>,
    pairs: BTreeMap<(&'static str, &'static str), u64>,
}

impl Coverage {
    pub(crate) fn add(&mut self, text: &str) {
        let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let parts: BTreeSet<&str> = parts.collect();
        let has: Vec<&'static str> =
            WORDS.iter().filter(|word| parts.contains(**word)).copied().collect();
        for (at, word) in has.iter().enumerate() {
            *self.words.entry(word).or_default() += 1;
            for other in &has[at + 1..] {
                *self.pairs.entry((word, other)).or_default() += 1;
            }
        }
    }

    /// The words and pairs that no model has.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (at, word) in WORDS.iter().enumerate() {
            if !self.words.contains_key(word) {
                missing.push((*word).to_owned());
            }
            let others = WORDS[at + 1..].iter();
            let never = others.filter(|other| !self.pairs.contains_key(&(*word, **other)));
            missing.extend(never.map(|other| format!("{word} with {other}")));
        }
        missing
    }

    /// The counts, as text.
    pub(crate) fn text(&self) -> String {
        let words = self.words.iter().map(|(word, count)| format!("{count:6} {word}\n"));
        let rare = self.pairs.values().min().copied().unwrap_or_default();
        let pairs = format!("{} pairs, the rarest in {rare} models", self.pairs.len());
        words.chain([pairs]).collect()
    }
}
