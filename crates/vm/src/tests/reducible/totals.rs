//! How often each clause was put to the test.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How often each clause was put to the test, by what happened.
#[derive(Default, Debug, Clone)]
pub(crate) struct Totals {
    pub(crate) programs: u64,
    pub(crate) states: u64,
    pub(crate) edits: u64,
    /// A hash of all reports.
    pub(crate) told: u64,
    pub(crate) clauses: BTreeMap<String, u64>,
}

impl Totals {
    pub(crate) fn hit(&mut self, clause: &str) {
        match self.clauses.get_mut(clause) {
            Some(count) => *count += 1,
            None => _ = self.clauses.insert(clause.to_owned(), 1),
        }
    }

    /// Notes a report.
    pub(crate) fn tell(&mut self, what: impl Hash) {
        let mut hasher = DefaultHasher::new();
        (self.told, what).hash(&mut hasher);
        self.told = hasher.finish();
    }

    pub(crate) fn print(&self) {
        println!(
            "{} programs, {} states, {} changed states",
            self.programs, self.states, self.edits
        );
        for (clause, count) in &self.clauses {
            println!("  {count:>9} {clause}");
        }
    }

    /// Fails where one of these was never put to the test.
    pub(crate) fn require(&self, clauses: &[&str]) {
        let missing: Vec<_> =
            clauses.iter().filter(|clause| !self.clauses.contains_key(**clause)).collect();
        assert!(missing.is_empty(), "never put to the test: {missing:?}");
    }
}
