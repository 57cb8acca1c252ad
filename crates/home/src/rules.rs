//! States that must not be brought about by an app.

use serde::Deserialize;

/// A rule: not all of these at once by the doing of an app.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
    /// The attributes, each with the values that count: `lock`, `unlocked`. An attribute of any
    /// device that has it, or `mode`.
    pub never: Vec<(String, Vec<String>)>,
}

/// The rules of this crate.
const BUILT_IN: &str = include_str!("../data/rules.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRules {
    #[serde(default)]
    rule: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    name: String,
    reason: String,
    never: std::collections::BTreeMap<String, Values>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Several(Vec<String>),
}

impl Rule {
    /// Reads rules.
    ///
    /// # Errors
    ///
    /// Fails with the first mistake of the text.
    pub fn read(text: &str) -> Result<Vec<Rule>, toml::de::Error> {
        let raw: RawRules = toml::from_str(text)?;
        let values = |values| match values {
            Values::One(one) => vec![one],
            Values::Several(several) => several,
        };
        let rule = |raw: RawRule| Rule {
            name: raw.name,
            reason: raw.reason,
            never: raw.never.into_iter().map(|(name, one)| (name, values(one))).collect(),
        };
        Ok(raw.rule.into_iter().map(rule).collect())
    }

    /// Returns the attributes that it names.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.never.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the rules of this crate.
    #[must_use]
    pub fn built_in() -> Vec<Rule> {
        // A test reads them, so they have no mistake.
        Rule::read(BUILT_IN).unwrap_or_default()
    }
}
