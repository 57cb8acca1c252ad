//! What went wrong in executions, and panics that say nothing while a check runs.

use super::core;
use anyorder_threads::ThreadId;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::fmt;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

/// A position in a source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl From<&panic::Location<'_>> for Position {
    fn from(location: &panic::Location<'_>) -> Position {
        Position {
            file: location.file().to_owned(),
            line: location.line(),
            column: location.column(),
        }
    }
}

/// A panic of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Panic {
    /// The thread.
    pub thread: ThreadId,
    /// The message; empty if it was no text.
    pub message: String,
    /// Where it began.
    pub position: Option<Position>,
}

/// The panics of all executions. Each has a number: that of its `Fail`.
#[derive(Debug, Default)]
pub(crate) struct Panics {
    all: Vec<Panic>,
    numbers: FxHashMap<Panic, u32>,
}

impl Panics {
    pub(crate) fn number(&mut self, panic: Panic) -> u32 {
        if let Some(number) = self.numbers.get(&panic) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(panic.clone());
        self.numbers.insert(panic, number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Panic> {
        self.all.get(number as usize)
    }
}

/// Returns the text of the payload of a panic.
pub(super) fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Makes the panics of checked threads silent: they are found, and told at the end.
pub(crate) fn hook_panics() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let other = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let is_ours = core::with(|core| {
                let position = info.location().map(Position::from);
                core.note_panic(text(info.payload()), position)
            });
            if is_ours != Some(true) {
                other(info);
            }
        }));
    });
}
