//! Numbers the variables of a program.

use crate::draft::Name;

/// Returns the handlers of a program: `main`, and `count` numbered ones.
pub(super) fn main_and(name: &'static str, count: u32) -> Vec<Name> {
    let numbered = (0..count).map(|number| Name::one(name, number));
    std::iter::once(Name::plain("main")).chain(numbered).collect()
}

/// The variables of a program so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    names: Vec<Name>,
}

/// One variable for each number in `0..len`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    first: u32,
    len: u32,
}

impl Row {
    /// Returns the variable of a number.
    pub(super) fn at(self, number: u32) -> u32 {
        debug_assert!(number < self.len);
        self.first + number
    }
}

impl Variables {
    /// Adds a variable.
    pub(super) fn one(&mut self, name: &'static str) -> u32 {
        self.names.push(Name::plain(name));
        self.names.len() as u32 - 1
    }

    /// Adds a variable for each number in `0..len`.
    pub(super) fn row(&mut self, stem: &'static str, len: u32) -> Row {
        let first = self.names.len() as u32;
        self.names.extend((0..len).map(|number| Name::one(stem, number)));
        Row { first, len }
    }

    /// Returns all names, in the order of the variables' numbers.
    pub(super) fn names(&self) -> Vec<Name> {
        self.names.clone()
    }
}
