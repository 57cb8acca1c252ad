//! The handlers and variables of a program, before it runs.

use crate::draft::Name;
use crate::recorder::Recorder;

/// Collects the handlers and variables of a program with messages `M`.
pub(crate) struct Setup<M> {
    pub(crate) recorder: Recorder,
    /// By handler: its initial message.
    pub(crate) initial: Vec<M>,
}

/// One variable for each number in `0..len`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    first: u32,
    len: u32,
}

impl Row {
    /// Returns the variable of a number.
    pub(crate) fn at(self, number: u32) -> u32 {
        debug_assert!(number < self.len);
        self.first + number
    }
}

impl<M> Setup<M> {
    /// Adds the handler `main`, which is handler 0, and `count` numbered ones.
    pub(crate) fn main_and(
        &mut self,
        main: M,
        stem: &'static str,
        count: u32,
        initial: impl Fn(u32) -> M,
    ) {
        self.handler(Name::plain("main"), main);
        for number in 0..count {
            self.handler(Name::one(stem, number), initial(number));
        }
    }

    /// Adds a handler.
    pub(crate) fn handler(&mut self, name: Name, initial: M) {
        self.recorder.draft.handler(name);
        self.initial.push(initial);
    }

    /// Adds a variable, which is 0 initially.
    pub(crate) fn one(&mut self, name: &'static str) -> u32 {
        self.recorder.variable(Name::plain(name))
    }

    /// Adds a variable for each number in `0..len`.
    pub(crate) fn row(&mut self, stem: &'static str, len: u32) -> Row {
        let first = self.recorder.draft.variables.len() as u32;
        for number in 0..len {
            self.recorder.variable(Name::one(stem, number));
        }
        Row { first, len }
    }
}
