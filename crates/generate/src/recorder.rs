//! Records a run: every read reads the last write before it.

use crate::draft::{Action, Draft, NONE, Name};

/// A draft filled in the order of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) draft: Draft,
    /// By variable: its last write so far, `NONE` before the first.
    last_write: Vec<u32>,
}

impl Recorder {
    /// Adds a variable.
    pub(crate) fn variable(&mut self, name: Name) -> u32 {
        self.last_write.push(NONE);
        self.draft.variable(name)
    }

    /// Records a read.
    pub(crate) fn read(&mut self, message: u32, variable: u32) {
        let from = self.last_write[variable as usize];
        self.draft.push(message, Action::Read { variable, from });
    }

    /// Records a write.
    pub(crate) fn write(&mut self, message: u32, variable: u32) {
        self.last_write[variable as usize] = self.draft.write(message, variable);
    }
}
