//! Names of what a program declares, and of what runs in it.

use std::fmt;

/// The name of something in a state: that of its declaration, and what tells it from others of the
/// declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name of the declaration.
    pub declared: String,
    /// Which one of the declaration.
    pub detail: Detail,
}

/// Which one of a declaration something is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Detail {
    /// The only one, or any.
    None,
    /// A member of a family or of an array: `[2]`.
    Member(i64),
    /// A task or thread that has this handle: `#5`.
    Handle(u32),
    /// A message with these arguments: `(1, 2)`.
    Arguments(String),
}

impl Name {
    /// Makes a name.
    #[must_use]
    pub fn new(declared: impl Into<String>, detail: Detail) -> Name {
        Name { declared: declared.into(), detail }
    }

    /// Returns the name of the declaration: equal for all of it.
    #[must_use]
    pub fn of_all(&self) -> Name {
        Name::new(&self.declared, Detail::None)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declared)?;
        match &self.detail {
            Detail::None => Ok(()),
            Detail::Member(index) => write!(f, "[{index}]"),
            Detail::Handle(handle) => write!(f, "#{handle}"),
            Detail::Arguments(arguments) => write!(f, "({arguments})"),
        }
    }
}
