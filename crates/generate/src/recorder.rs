//! Records a run: every read reads the last write before it.

use crate::draft::{Action, Draft, NONE, Name};
use anyorder_common::random::{Random, Rng};

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

    /// Records a read or a write, at random.
    pub(crate) fn access(&mut self, message: u32, variable: u32, rng: &mut Rng) {
        if rng.chance(0.5) {
            self.read(message, variable);
        } else {
            self.write(message, variable);
        }
    }
}
