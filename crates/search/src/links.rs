//! How each state was first reached.

use std::collections::BTreeMap;

/// The parent of an initial state.
pub(crate) const NO_PARENT: u32 = u32::MAX;

/// Successor positions from here on are stored separately.
const WIDE: u32 = u16::MAX as u32;

/// For each state its parent, and its position among the parent's successors. 6 bytes a state.
#[derive(Debug, Default)]
pub(crate) struct Links {
    parents: Vec<u32>,
    places: Vec<u16>,
    wide: BTreeMap<u32, u32>,
}

impl Links {
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.parents.len() as u64 * 6 + self.wide.len() as u64 * 12
    }

    pub(crate) fn push(&mut self, parent: u32, place: u32) {
        if place >= WIDE {
            self.wide.insert(self.parents.len() as u32, place);
        }
        self.parents.push(parent);
        self.places.push(place.min(WIDE) as u16);
    }

    /// Returns the parent of a state (`None` for an initial one), and the state's position among
    /// the parent's successors or the initial states.
    pub(crate) fn get(&self, number: u32) -> (Option<u32>, u32) {
        let index = number as usize;
        let parent = Some(self.parents[index]).filter(|parent| *parent != NO_PARENT);
        let place = u32::from(self.places[index]);
        let place =
            if place == WIDE { self.wide.get(&number).copied().unwrap_or(WIDE) } else { place };
        (parent, place)
    }

    /// Returns the path to a state: the position of the initial state, then of each successor.
    pub(crate) fn way(&self, number: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut current = Some(number);
        while let Some(state) = current {
            let (parent, place) = self.get(state);
            way.push(place);
            current = parent;
        }
        way.reverse();
        way
    }
}
