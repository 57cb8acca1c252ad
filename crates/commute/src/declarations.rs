//! User declarations about the accesses to some locations.

use crate::update::Update;
use std::fmt;
use std::str::FromStr;

/// Declares that every access that reads and writes a location in one step is an update of one
/// kind, and nothing else.
///
/// The declaration is trusted: if it is wrong, different orders are treated as equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declaration {
    /// The location's text; a `*` at the end matches any rest.
    pub location: String,
    /// The kind.
    pub update: Update,
}

impl Declaration {
    /// Returns whether it applies to this location.
    #[must_use]
    pub fn matches(&self, location: &str) -> bool {
        match self.location.strip_suffix('*') {
            Some(start) => location.starts_with(start),
            None => location == self.location,
        }
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.location, self.update)
    }
}

/// A list of declarations; the first match holds. As text: `LOCATION:KIND`, separated by commas.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Declarations(pub Vec<Declaration>);

impl Declarations {
    /// Returns the declared kind of a location, in time linear in the number of declarations.
    #[must_use]
    pub fn update_of(&self, location: &str) -> Option<Update> {
        self.0.iter().find(|declared| declared.matches(location)).map(|declared| declared.update)
    }
}

/// A mistake in the text of a declaration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeclarationError {
    /// There is no `:`, or nothing before it.
    #[error("`{0}` is not of the form LOCATION:KIND")]
    Form(String),
    /// The kind is unknown.
    #[error(
        "`{0}` is no kind of update; known are add, multiply, and, or, xor, max, min, insert, remove"
    )]
    Kind(String),
}

impl FromStr for Declaration {
    type Err = DeclarationError;

    fn from_str(text: &str) -> Result<Declaration, DeclarationError> {
        let (location, word) = match text.trim().rsplit_once(':') {
            Some((location, word)) if !location.is_empty() => (location, word.trim()),
            _ => return Err(DeclarationError::Form(text.to_owned())),
        };
        let update = Update::ALL.into_iter().find(|update| update.word() == word);
        let update = update.ok_or_else(|| DeclarationError::Kind(word.to_owned()))?;
        Ok(Declaration { location: location.to_owned(), update })
    }
}

impl FromStr for Declarations {
    type Err = DeclarationError;

    fn from_str(text: &str) -> Result<Declarations, DeclarationError> {
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        parts.map(str::parse).collect::<Result<_, _>>().map(Declarations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_and_written() {
        let declared: Declarations = "a:b:add , c*:max".parse().unwrap();
        assert_eq!(declared.0[0].location, "a:b");
        assert_eq!(declared.0[1].to_string(), "c*:max");
        assert_eq!(declared.update_of("cc"), Some(Update::Max));
        assert_eq!(declared.update_of("a"), None);
        assert_eq!("".parse::<Declarations>().unwrap().0, []);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| text.parse::<Declarations>().unwrap_err().to_string();
        assert_eq!(error("hits"), "`hits` is not of the form LOCATION:KIND");
        assert_eq!(error(":add"), "`:add` is not of the form LOCATION:KIND");
        assert!(error("hits:plus").starts_with("`plus` is no kind of update"));
    }
}
