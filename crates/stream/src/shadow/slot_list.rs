//! Lists of records by slot. They may become as long as the number of threads.
//!
//! An object that hundreds of threads read has a record of each. A reader must not visit all of
//! them. It finds its own record by its slot, and leaves other covered records until the list has
//! doubled. Only an access that conflicts with the list visits all of it.

use crate::class::Class;
use anyorder_order::ChainId;

/// The length from which a list is searched by slot.
const WIDE: usize = 24;

/// An item of a list.
pub(crate) trait OfSlot {
    /// The slot of the access.
    fn slot(&self) -> ChainId;
    /// The class of the access.
    fn class(&self) -> Class;
}

/// A list.
#[derive(Clone, Debug)]
pub(crate) struct SlotList<T> {
    items: Vec<T>,
    /// The classes of the items, one bit each.
    classes: u32,
    /// For a wide list, by the low bits of the slot: one more than the position of an item with
    /// such a slot; 0 if there is none. At least twice as long as the list.
    at: Vec<u32>,
    /// The length after the last full scan.
    swept: usize,
}

impl<T> Default for SlotList<T> {
    fn default() -> SlotList<T> {
        SlotList { items: Vec::new(), classes: 0, at: Vec::new(), swept: 0 }
    }
}

impl<T: OfSlot> SlotList<T> {
    /// Returns the items.
    #[inline]
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// Returns the classes of the items, one bit each.
    #[inline]
    pub(crate) fn classes(&self) -> u32 {
        self.classes
    }

    /// Returns whether a new item that conflicts with nothing in the list may be added without a
    /// search for the items that it covers.
    #[inline]
    pub(crate) fn may_wait(&self) -> bool {
        self.items.len() >= WIDE && self.items.len() < 2 * self.swept.max(WIDE)
    }

    /// Adds an item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.classes |= 1 << item.class().0;
        let slot = item.slot();
        self.items.push(item);
        if self.items.len() < WIDE {
            return;
        }
        if self.at.len() < 2 * self.items.len() {
            self.index();
        } else {
            let place = self.place(slot);
            self.at[place] = self.items.len() as u32;
        }
    }

    /// Removes the last item.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.items.pop();
        if self.items.len() + 1 >= WIDE {
            self.index();
        }
        item
    }

    /// Keeps the items for which `keep` returns true.
    #[inline]
    pub(crate) fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        let before = self.items.len();
        self.items.retain(keep);
        self.swept = self.items.len();
        if self.items.len() < before {
            self.classes = self.items.iter().fold(0, |all, item| all | 1 << item.class().0);
            if before >= WIDE {
                self.index();
            }
        }
    }

    /// Returns the item of a slot for which a condition holds.
    #[inline]
    pub(crate) fn find(
        &mut self,
        slot: ChainId,
        mut is_like: impl FnMut(&T) -> bool,
    ) -> Option<&mut T> {
        let place = if self.items.len() < WIDE {
            self.items.iter().position(is_like)
        } else {
            match self.at.get(self.place(slot)) {
                None | Some(0) => None,
                Some(place) if is_like(&self.items[*place as usize - 1]) => {
                    Some(*place as usize - 1)
                }
                Some(_) => self.items.iter().position(is_like),
            }
        };
        place.map(|place| &mut self.items[place])
    }

    /// Drops all items and keeps the capacity of short lists.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.items.shrink_to(WIDE);
        (self.classes, self.at, self.swept) = (0, Vec::new(), 0);
    }

    fn place(&self, slot: ChainId) -> usize {
        slot.index() & self.at.len().wrapping_sub(1)
    }

    #[cold]
    fn index(&mut self) {
        self.at.clear();
        if self.items.len() < WIDE {
            return;
        }
        self.at.resize((3 * self.items.len()).next_power_of_two(), 0);
        for (at, item) in self.items.iter().enumerate() {
            let place = item.slot().index() & (self.at.len() - 1);
            self.at[place] = at as u32 + 1;
        }
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<SlotList<T>>() + self.items.capacity() * size_of::<T>() + self.at.capacity() * 4
    }
}

/// Lists by number, from 1; number 0 is an empty list that nobody changes.
#[derive(Clone, Debug)]
pub(crate) struct SlotLists<T> {
    lists: Vec<SlotList<T>>,
    unused: Vec<u32>,
}

impl<T> Default for SlotLists<T> {
    fn default() -> SlotLists<T> {
        SlotLists { lists: Vec::new(), unused: Vec::new() }
    }
}

impl<T: OfSlot> SlotLists<T> {
    /// Makes an empty list; returns its number.
    pub(crate) fn make(&mut self) -> u32 {
        self.unused.pop().unwrap_or_else(|| {
            self.lists.push(SlotList::default());
            self.lists.len() as u32
        })
    }

    /// Drops the items of a list, and its number.
    pub(crate) fn free(&mut self, number: u32) {
        self.get_mut(number).clear();
        self.unused.push(number);
    }

    /// Returns a list; `None` for number 0.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&SlotList<T>> {
        self.lists.get((number as usize).wrapping_sub(1))
    }

    /// Returns the items of a list.
    #[inline]
    pub(crate) fn items(&self, number: u32) -> &[T] {
        if number == 0 { &[] } else { self.lists[number as usize - 1].items() }
    }

    /// Returns a list with a number from 1.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut SlotList<T> {
        &mut self.lists[number as usize - 1]
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.lists.iter().map(SlotList::memory_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl OfSlot for (u32, u8) {
        fn slot(&self) -> ChainId {
            ChainId(self.0)
        }

        fn class(&self) -> Class {
            Class(self.1)
        }
    }

    #[test]
    fn items_are_found_by_slot_whatever_was_removed() {
        let mut list = SlotList::default();
        for slot in 0..300 {
            list.push((slot * 7 % 300, 0));
            list.push((slot * 7 % 300, 1));
        }
        assert!(list.find(ChainId(300), |item| item.0 == 300).is_none());
        assert_eq!(list.classes(), 3);
        list.retain(|item| item.0 % 3 != 0 || item.1 == 0);
        for slot in 0..300 {
            for class in 0..2 {
                let found = list.find(ChainId(slot), |item| *item == (slot, class)).is_some();
                assert_eq!(found, slot % 3 != 0 || class == 0, "{slot} {class}");
            }
        }
        list.retain(|item| item.0 < 5);
        assert_eq!(list.items().len(), 8);
        assert!(!list.may_wait());
        list.retain(|item| item.1 == 0);
        assert_eq!(list.classes(), 1);
    }
}
