//! Baselines: the findings a team already knows, by id.

use crate::finding::Finding;
use anyorder_common::text::escape_json;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A list of known findings. Its file is a JSON list of `{id, title}`; the titles are for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline {
    entries: Vec<BaselineEntry>,
}

/// One known finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BaselineEntry {
    /// The id of the finding.
    pub id: String,
    /// The title of the finding when it was recorded.
    #[serde(default)]
    pub title: String,
}

/// A baseline file that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}; expected a JSON list of `{{\"id\", \"title\"}}`")]
pub struct BaselineError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// A description of the fault.
    pub message: String,
}

impl Baseline {
    /// Reads a baseline. An empty text is an empty baseline, so that users can create a new file.
    ///
    /// # Errors
    ///
    /// Fails at the first place that breaks the format.
    pub fn parse(text: &str) -> Result<Baseline, BaselineError> {
        if text.trim().is_empty() {
            return Ok(Baseline::default());
        }
        let entries = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            BaselineError { line: error.line(), column: error.column(), message }
        })?;
        Ok(Baseline { entries })
    }

    /// Makes a baseline of findings, sorted by id, without duplicates. It omits suppressed ones:
    /// their suppression covers them.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Baseline {
        let mut entries: Vec<BaselineEntry> = findings
            .iter()
            .filter(|finding| finding.suppressed.is_none())
            .map(|finding| BaselineEntry { id: finding.id.clone(), title: finding.title.clone() })
            .collect();
        entries.sort_by(|one, two| one.id.cmp(&two.id));
        entries.dedup_by(|one, two| one.id == two.id);
        Baseline { entries }
    }

    /// Returns the text of the file: one finding a line, so that changes are easy to review.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::from("[");
        for (position, entry) in self.entries.iter().enumerate() {
            text.push_str(if position == 0 { "\n" } else { ",\n" });
            // Two strings always have a JSON form.
            let entry = serde_json::to_string(entry).unwrap_or_default();
            text.push_str(&escape_json(&entry));
        }
        text.push_str("\n]\n");
        text
    }

    /// Marks the known findings. Returns the entries that match no finding any more. O((n + m) log
    /// m).
    pub fn apply(&self, findings: &mut [Finding]) -> Vec<&BaselineEntry> {
        let known: BTreeSet<&str> = self.entries.iter().map(|entry| entry.id.as_str()).collect();
        for finding in findings.iter_mut() {
            let is_known = finding.ids().any(|id| known.contains(id));
            finding.baseline = is_known;
        }
        let found: BTreeSet<&str> = findings.iter().flat_map(Finding::ids).collect();
        self.entries.iter().filter(|entry| !found.contains(entry.id.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Kind;

    fn finding(id: &str, title: &str) -> Finding {
        Finding { id: id.into(), title: title.into(), ..Finding::new(Kind::Race) }
    }

    #[test]
    fn a_baseline_is_read_back_and_marks() {
        let old = [finding("b", "two\n\"quoted\""), finding("a", "one"), finding("a", "one")];
        let baseline = Baseline::of(&old);
        let text = baseline.to_text();
        assert_eq!(
            text,
            "[\n{\"id\":\"a\",\"title\":\"one\"},\n{\"id\":\"b\",\"title\":\"two\\n\\\"quoted\\\"\"}\n]\n"
        );
        assert_eq!(Baseline::parse(&text).unwrap(), baseline);
        let mut new = [finding("a", "one"), finding("c", "three")];
        let gone = baseline.apply(&mut new);
        assert_eq!(gone.len(), 1);
        assert_eq!(gone[0].id, "b");
        assert!(new[0].baseline);
        assert!(!new[1].baseline);
    }

    #[test]
    fn an_empty_baseline_is_written_and_read() {
        assert_eq!(Baseline::parse("").unwrap(), Baseline::default());
        assert_eq!(Baseline::parse(&Baseline::default().to_text()).unwrap(), Baseline::default());
    }

    #[test]
    fn errors_name_the_place() {
        let error = Baseline::parse("[\n{\"id\": 5}]").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().starts_with("line 2, column 8: invalid type"), "{error}");
        assert!(Baseline::parse("{}").is_err());
    }
}
