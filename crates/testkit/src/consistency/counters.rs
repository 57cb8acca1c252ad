//! Counts the answers by kind of trace, so that a test can show its coverage.

use super::shape::Kind;
use std::collections::BTreeMap;
use std::fmt;

/// The number of each answer for each kind of trace, and other counts by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    verdicts: BTreeMap<(Kind, bool), u64>,
    named: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// Counts an answer.
    pub fn verdict(&mut self, kind: Kind, consistent: bool) {
        *self.verdicts.entry((kind, consistent)).or_default() += 1;
    }

    /// Adds to another count. Adding 0 declares the name, so that `missing` reports it.
    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.named.entry(name).or_default() += count;
    }

    /// Returns how often a kind had an answer.
    #[must_use]
    pub fn of(&self, kind: Kind, consistent: bool) -> u64 {
        self.verdicts.get(&(kind, consistent)).copied().unwrap_or(0)
    }

    /// Returns the count of a name.
    #[must_use]
    pub fn named(&self, name: &str) -> u64 {
        self.named.get(name).copied().unwrap_or(0)
    }

    /// Returns the number of answers.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.verdicts.values().sum()
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: &Counters) {
        for (key, count) in &other.verdicts {
            *self.verdicts.entry(*key).or_default() += count;
        }
        for (name, count) in &other.named {
            self.add(name, *count);
        }
    }

    /// Returns everything possible that never happened: kinds of traces with an answer, and names
    /// with count 0.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let answers = Kind::ALL.into_iter().flat_map(|kind| [(kind, true), (kind, false)]);
        let mut missing: Vec<String> = answers
            .filter(|(kind, answer)| kind.can_be(*answer) && self.of(*kind, *answer) == 0)
            .map(|(kind, answer)| format!("{kind:?} {}", word(answer)))
            .collect();
        missing.extend(
            self.named.iter().filter(|(_, count)| **count == 0).map(|(name, _)| (*name).to_owned()),
        );
        missing
    }

    /// Checks that nothing is [`missing`](Self::missing).
    ///
    /// # Panics
    ///
    /// Panics with the list of what is missing, and all counts.
    pub fn assert_none_is_zero(&self) {
        let missing = self.missing();
        assert!(missing.is_empty(), "never happened: {}\n{self}", missing.join(", "));
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in Kind::ALL {
            let (yes, no) = (self.of(kind, true), self.of(kind, false));
            writeln!(f, "{:<12} {yes:>8} consistent {no:>8} inconsistent", format!("{kind:?}"))?;
        }
        self.named.iter().try_for_each(|(name, count)| writeln!(f, "{name:<40} {count:>8}"))
    }
}

fn word(consistent: bool) -> &'static str {
    if consistent { "consistent" } else { "inconsistent" }
}
