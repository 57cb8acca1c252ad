//! Suppressions in `anyorder.toml`: the findings that a team does not want reported.

use crate::finding::{Finding, Suppressed};
use crate::glob;
use crate::rules::Rules;
use crate::words::{Kind, PredictedCategory, RaceCategory};
use serde::Deserialize;
use toml::Spanned;

/// The suppressions of a file, in its order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppressions {
    entries: Vec<Suppression>,
}

/// One suppression. It matches the findings that satisfy all of its conditions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppression {
    /// The kind of finding.
    pub kind: Option<Kind>,
    /// The category.
    pub category: Option<String>,
    /// A pattern for the location of any of its sites: `*` for any text, `?` for any character.
    pub location: Option<String>,
    /// The id.
    pub id: Option<String>,
    /// The reason, for people.
    pub reason: Option<String>,
    /// Its first line, from 1.
    pub line: u32,
}

/// A suppression file that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SuppressionError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The fault and the expected text.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    suppress: Vec<Spanned<Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: Option<Spanned<String>>,
    category: Option<Spanned<String>>,
    location: Option<String>,
    id: Option<String>,
    reason: Option<String>,
}

impl Suppressions {
    /// Reads the text of an `anyorder.toml`.
    ///
    /// # Errors
    ///
    /// Fails with the first faulty place: invalid TOML, an unknown key, an unknown kind, or a
    /// suppression without conditions, which would match everything.
    pub fn parse(text: &str) -> Result<Suppressions, SuppressionError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            SuppressionError::at(text, offset, error.message().trim().to_owned())
        })?;
        let mut entries = Vec::with_capacity(file.suppress.len());
        // Tables come in the order of the text, so each line feed is counted once.
        let (mut line, mut counted) = (1_usize, 0);
        for table in file.suppress {
            let start = table.span().start;
            line += text.get(counted..start).map_or(0, |passed| passed.matches('\n').count());
            counted = start.max(counted);
            entries.push(suppression(text, table, u32::try_from(line).unwrap_or(u32::MAX))?);
        }
        Ok(Suppressions { entries })
    }

    #[cfg(test)]
    pub(crate) fn from_entries(entries: Vec<Suppression>) -> Suppressions {
        Suppressions { entries }
    }

    /// Marks each matched finding with the first suppression that matches. Returns the suppressions
    /// without a match. About O(findings + suppressions), and for each location of a finding the
    /// suppressions whose longest literal part occurs in it.
    pub fn apply(&self, findings: &mut [Finding]) -> Vec<&Suppression> {
        self.apply_until(findings, &|| false).unused
    }

    /// Like [`apply`](Self::apply), until `stop` returns true. Then the rest of the findings is not
    /// decided, and no suppression counts as unused.
    pub fn apply_until(&self, findings: &mut [Finding], stop: &dyn Fn() -> bool) -> Applied<'_> {
        let mut rules = Rules::of(&self.entries);
        let mut decided = 0;
        for (at, finding) in findings.iter_mut().enumerate() {
            finding.suppressed = None;
            if stop() {
                break;
            }
            let first = rules.first_match(finding, stop);
            if let Some(first) = first {
                let (reason, line) = (first.reason.clone(), Some(first.line));
                finding.suppressed = Some(Suppressed { reason, line, file: None });
            } else if stop() {
                break;
            }
            decided = at + 1;
        }
        let is_whole = decided == findings.len();
        Applied { decided, unused: if is_whole { rules.unused() } else { Vec::new() } }
    }
}

/// What a list of suppressions did to findings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Applied<'s> {
    /// The number of findings that were decided, from the first. Of the others nothing is known.
    pub decided: usize,
    /// The suppressions without a match; none if not all findings were decided.
    pub unused: Vec<&'s Suppression>,
}

impl Suppression {
    /// Returns whether a finding satisfies all conditions of the suppression.
    #[must_use]
    pub fn matches(&self, finding: &Finding) -> bool {
        let fits_location = |pattern: &String| {
            let mut locations = finding.sites.iter().filter_map(|site| site.location.as_deref());
            locations.any(|location| glob::matches(pattern, location))
        };
        self.kind.is_none_or(|kind| kind == finding.kind)
            && self.category.as_ref().is_none_or(|it| finding.category.as_ref() == Some(it))
            && self.id.as_ref().is_none_or(|id| finding.ids().any(|one| one == id))
            && self.location.as_ref().is_none_or(fits_location)
    }
}

/// Checks one table of the file, which begins in a line.
fn suppression(
    text: &str,
    table: Spanned<Table>,
    line: u32,
) -> Result<Suppression, SuppressionError> {
    let start = table.span().start;
    let Table { kind, category, location, id, reason } = table.into_inner();
    if kind.is_none() && category.is_none() && location.is_none() && id.is_none() {
        let message = "this suppression states none of `kind`, `category`, `location`, `id`, and would hide everything";
        return Err(SuppressionError::at(text, start, message.to_owned()));
    }
    let kind = kind.map(|word| known(text, &word, "kind", Kind::ALL.iter().map(|one| one.word())));
    let kind = kind.transpose()?.and_then(Kind::from_word);
    let races = RaceCategory::ALL.iter().map(|one| one.word());
    let categories = races.chain(PredictedCategory::ALL.iter().map(|one| one.word()));
    let category = category.map(|word| known(text, &word, "category", categories));
    let category = category.transpose()?.map(str::to_owned);
    Ok(Suppression { kind, category, location, id, reason, line })
}

/// Reads a word from a fixed list.
fn known(
    text: &str,
    word: &Spanned<String>,
    what: &str,
    words: impl Iterator<Item = &'static str>,
) -> Result<&'static str, SuppressionError> {
    let words: Vec<&str> = words.collect();
    words.iter().copied().find(|known| known == word.get_ref()).ok_or_else(|| {
        let word_text = word.get_ref().escape_debug();
        let message = format!("unknown {what} `{word_text}`, expected one of {}", words.join(", "));
        SuppressionError::at(text, word.span().start, message)
    })
}

impl SuppressionError {
    /// Makes an error at a byte offset of the text.
    fn at(text: &str, offset: usize, message: String) -> SuppressionError {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        SuppressionError {
            line: count(before.matches('\n').count() + 1),
            column: count(before[line_start..].chars().count() + 1),
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Site;

    fn finding(id: &str, category: &str, location: &str) -> Finding {
        let site = |location: &str| Site { location: Some(location.into()), ..Site::default() };
        Finding {
            id: id.into(),
            category: Some(category.into()),
            sites: vec![site("other"), site(location)],
            ..Finding::new(Kind::Race)
        }
    }

    const TEXT: &str = r#"
# what we know
[[suppress]]
kind = "race"
category = "delayed"
location = "Cache.*"
reason = "an eviction may be late"

[[suppress]]
id = "00000000000000aa"

[[suppress]]
location = "Nothing.?"
"#;

    #[test]
    fn all_that_is_stated_must_fit() {
        let suppressions = Suppressions::parse(TEXT).unwrap();
        let mut findings = [
            finding("1", "delayed", "Cache.size@0x1"),
            finding("2", "co_enabled", "Cache.size@0x1"),
            finding("3", "delayed", "Other.size"),
            finding("00000000000000aa", "delayed", "Other.size"),
        ];
        let unused: Vec<u32> =
            suppressions.apply(&mut findings).iter().map(|entry| entry.line).collect();
        let marks: Vec<Option<u32>> =
            findings.iter().map(|f| f.suppressed.as_ref().and_then(|mark| mark.line)).collect();
        assert_eq!(marks, [Some(3), None, None, Some(9)]);
        assert_eq!(unused, [12]);
        let reason = findings[0].suppressed.as_ref().and_then(|mark| mark.reason.as_deref());
        assert_eq!(reason, Some("an eviction may be late"));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, place, part) in [
            ("[[suppress]]\nkind = \"race\"\nlocaton = \"x\"\n", (3, 1), "unknown field `locaton`"),
            (
                "[[suppress]]\nid = \"a\"\nkind = \"rice\"\n",
                (3, 8),
                "unknown kind `rice`, expected one of race, ",
            ),
            ("\n[[suppress]]\ncategory = \"x\"\n", (3, 12), "unknown category `x`"),
            ("\n\n[[suppress]]\nreason = \"all\"\n", (3, 1), "would hide everything"),
            ("[surpress]\n", (1, 2), "unknown field `surpress`"),
            ("[[suppress]]\nid = 5\n", (2, 6), "invalid type: integer"),
            ("[[suppress]\n", (1, 12), ""),
        ] {
            let error = Suppressions::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), place, "{text}: {error}");
            assert!(error.message.contains(part), "{error}");
            assert!(
                error.to_string().starts_with(&format!("line {}, column {}: ", place.0, place.1))
            );
        }
    }

    #[test]
    fn an_empty_file_suppresses_nothing() {
        assert_eq!(Suppressions::parse("").unwrap(), Suppressions::default());
    }
}
