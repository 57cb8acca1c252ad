//! Numbers for what an engine of threads knows by number only.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Gives each thing the next free number, the same for ever.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    numbers: FxHashMap<T, u32>,
    things: Vec<T>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers { numbers: FxHashMap::default(), things: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    /// Returns the number of a thing, and whether it is new.
    pub(super) fn of(&mut self, thing: &T) -> (u32, bool) {
        if let Some(number) = self.numbers.get(thing) {
            return (*number, false);
        }
        let number = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.insert(thing.clone(), number);
        self.things.push(thing.clone());
        (number, true)
    }

    /// Returns the thing of a number.
    pub(super) fn thing(&self, number: u32) -> Option<&T> {
        self.things.get(number as usize)
    }
}
