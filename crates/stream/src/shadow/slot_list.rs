//! Lists of records by class and slot. They may become as long as the number of threads.
//!
//! An object that hundreds of threads read has a record of each. A reader must not visit all of
//! them, nor must a thread whose atomic accesses race with none of the others'. A long list keeps
//! the items of each class apart. An access visits the classes that it is compared with only. In
//! its own class it finds its own item by its slot, and it leaves other covered items until they
//! have doubled.

use crate::class::Class;
use anyorder_order::ChainId;

/// The length from which the items of a list are kept by class, unless a test sets another.
const WIDE: usize = 24;

/// An item of a list.
pub(crate) trait OfSlot: Copy {
    /// The slot of the access.
    fn slot(&self) -> ChainId;
    /// The class of the access.
    fn class(&self) -> Class;
}

/// A list.
#[derive(Clone, Debug)]
pub(crate) struct SlotList<T> {
    /// The items of a short list.
    few: Vec<T>,
    /// The items of a wide list.
    by_class: Vec<OfClass<T>>,
    /// The classes of the items, one bit each.
    classes: u32,
    /// The number of items.
    len: u32,
}

/// The items of one class in a wide list.
#[derive(Clone, Debug)]
struct OfClass<T> {
    class: Class,
    items: Vec<T>,
    /// A hash table by slot, with linear probing: one more than the position of an item; 0 if there
    /// is none. At least twice as long as the list.
    at: Vec<u32>,
    /// The length after the last full scan.
    swept: usize,
}

impl<T> Default for SlotList<T> {
    fn default() -> SlotList<T> {
        SlotList { few: Vec::new(), by_class: Vec::new(), classes: 0, len: 0 }
    }
}

impl<T: OfSlot> OfClass<T> {
    fn new(class: Class) -> OfClass<T> {
        OfClass { class, items: Vec::new(), at: Vec::new(), swept: 0 }
    }

    fn push(&mut self, item: T) {
        self.items.push(item);
        if self.at.len() < 2 * self.items.len() {
            self.index();
        } else {
            self.enter(self.items.len() - 1);
        }
    }

    /// Enters an item into the hash table.
    fn enter(&mut self, position: usize) {
        let mask = self.at.len() - 1;
        let mut place = self.items[position].slot().index() & mask;
        while self.at[place] != 0 {
            place = (place + 1) & mask;
        }
        self.at[place] = position as u32 + 1;
    }

    #[cold]
    fn index(&mut self) {
        self.at.clear();
        self.at.resize((3 * self.items.len()).next_power_of_two(), 0);
        (0..self.items.len()).for_each(|position| self.enter(position));
    }

    fn find(&self, slot: ChainId, is_like: impl Fn(&T) -> bool) -> Option<usize> {
        let mask = self.at.len().checked_sub(1)?;
        let mut place = slot.index() & mask;
        while self.at[place] != 0 {
            let position = self.at[place] as usize - 1;
            let item = &self.items[position];
            if item.slot() == slot && is_like(item) {
                return Some(position);
            }
            place = (place + 1) & mask;
        }
        None
    }

    fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        let before = self.items.len();
        self.items.retain(keep);
        self.swept = self.items.len();
        if self.items.len() < before {
            self.index();
        }
    }

    /// Returns whether it has doubled since its last full scan.
    #[inline]
    fn is_due(&self, wide: usize) -> bool {
        self.items.len() >= 2 * self.swept.max(wide)
    }
}

impl<T: OfSlot> SlotList<T> {
    /// Returns the number of items.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns the items of a short list.
    #[inline]
    pub(crate) fn few(&self) -> &[T] {
        &self.few
    }

    /// Returns the items.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.of_classes(u32::MAX)
    }

    /// Returns the items of some classes, and maybe others.
    #[inline]
    pub(crate) fn of_classes(&self, classes: u32) -> impl Iterator<Item = &T> {
        let visited = self.by_class.iter().filter(move |of| classes >> of.class.0 & 1 != 0);
        self.few.iter().chain(visited.flat_map(|of| &of.items))
    }

    /// Returns the classes of the items, one bit each.
    #[inline]
    pub(crate) fn classes(&self) -> u32 {
        self.classes
    }

    /// Returns whether a new item of a class may be added without a search for the items that it
    /// covers, if it is compared with none of its class.
    #[inline]
    pub(crate) fn may_wait(&self, class: Class, wide: usize) -> bool {
        let own = self.by_class.iter().find(|of| of.class == class);
        !self.by_class.is_empty() && own.is_none_or(|own| !own.is_due(wide))
    }

    /// Returns the classes of which items that are covered must be searched for, one bit each:
    /// those that have doubled since. All classes of a short list are.
    pub(crate) fn due(&self, wide: usize) -> u32 {
        if self.by_class.is_empty() {
            return u32::MAX;
        }
        let due = self.by_class.iter().filter(|of| of.is_due(wide));
        due.fold(0, |all, of| all | 1 << of.class.0)
    }

    /// Adds an item. Returns whether the list has become wide by that.
    #[inline]
    pub(crate) fn push(&mut self, item: T, wide: usize) -> bool {
        self.classes |= 1 << item.class().0;
        self.len += 1;
        if !self.by_class.is_empty() {
            self.push_wide(item);
            return false;
        }
        self.few.push(item);
        let widens = self.few.len() >= wide;
        if widens {
            std::mem::take(&mut self.few).into_iter().for_each(|item| self.push_wide(item));
        }
        widens
    }

    fn push_wide(&mut self, item: T) {
        let class = item.class();
        let at = self.by_class.iter().position(|of| of.class == class).unwrap_or_else(|| {
            self.by_class.push(OfClass::new(class));
            self.by_class.len() - 1
        });
        self.by_class[at].push(item);
    }

    /// Removes an item.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = match self.by_class.iter_mut().find(|of| !of.items.is_empty()) {
            None => self.few.pop(),
            Some(of) => {
                let item = of.items.pop();
                of.index();
                item
            }
        }?;
        self.changed();
        Some(item)
    }

    /// Keeps the items for which `keep` returns true.
    #[inline]
    pub(crate) fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.retain_in(u32::MAX, keep);
    }

    /// Works like [`retain`](Self::retain) on the items of some classes; all others are kept.
    #[inline]
    pub(crate) fn retain_in(&mut self, classes: u32, mut keep: impl FnMut(&T) -> bool) {
        let before = self.len;
        self.few.retain(|item| classes >> item.class().0 & 1 == 0 || keep(item));
        for of in self.by_class.iter_mut().filter(|of| classes >> of.class.0 & 1 != 0) {
            of.retain(&mut keep);
        }
        let after = self.few.len() + self.by_class.iter().map(|of| of.items.len()).sum::<usize>();
        if after < before as usize {
            self.changed();
        }
    }

    /// Takes notice of removals.
    fn changed(&mut self) {
        let of_class = self.by_class.iter().map(|of| of.items.len()).sum::<usize>();
        self.len = (self.few.len() + of_class) as u32;
        if of_class == 0 {
            self.by_class = Vec::new();
        }
        let many = self.by_class.iter().filter(|of| !of.items.is_empty());
        let many = many.fold(0, |all, of| all | 1 << of.class.0);
        self.classes = self.few.iter().fold(many, |all, item| all | 1 << item.class().0);
    }

    /// Returns the item of a slot and class for which a condition holds.
    #[inline]
    pub(crate) fn find(
        &mut self,
        (slot, class): (ChainId, Class),
        is_like: impl Fn(&T) -> bool,
    ) -> Option<&mut T> {
        if self.by_class.is_empty() {
            let is_like =
                |item: &&mut T| item.slot() == slot && item.class() == class && is_like(item);
            return self.few.iter_mut().find(is_like);
        }
        let of = self.by_class.iter_mut().find(|of| of.class == class)?;
        let at = of.find(slot, is_like)?;
        Some(&mut of.items[at])
    }

    /// Drops all items and keeps the capacity of short lists.
    pub(crate) fn clear(&mut self) {
        self.few.clear();
        self.by_class = Vec::new();
        (self.classes, self.len) = (0, 0);
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of_class = |of: &OfClass<T>| {
            size_of::<OfClass<T>>() + of.items.capacity() * size_of::<T>() + of.at.capacity() * 4
        };
        size_of::<SlotList<T>>()
            + self.few.capacity() * size_of::<T>()
            + self.by_class.iter().map(of_class).sum::<usize>()
    }
}

/// Lists by number, from 1; number 0 is an empty list that nobody changes.
#[derive(Clone, Debug)]
pub(crate) struct SlotLists<T> {
    lists: Vec<SlotList<T>>,
    unused: Vec<u32>,
    /// The length from which the items of a list are kept by class.
    pub(crate) wide: usize,
    /// How often a list has become as long.
    pub(crate) widened: u64,
}

impl<T> Default for SlotLists<T> {
    fn default() -> SlotLists<T> {
        SlotLists { lists: Vec::new(), unused: Vec::new(), wide: WIDE, widened: 0 }
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

    /// Returns the number of items of a list.
    #[inline]
    pub(crate) fn len(&self, number: u32) -> usize {
        self.get(number).map_or(0, SlotList::len)
    }

    /// Returns the items of a list.
    #[inline]
    pub(crate) fn items(&self, number: u32) -> impl Iterator<Item = &T> {
        self.of_classes(number, u32::MAX)
    }

    /// Returns the items of some classes in a list, and maybe others.
    #[inline]
    pub(crate) fn of_classes(&self, number: u32, classes: u32) -> impl Iterator<Item = &T> {
        self.get(number).into_iter().flat_map(move |list| list.of_classes(classes))
    }

    /// Adds an item to a list with a number from 1.
    #[inline]
    pub(crate) fn push(&mut self, number: u32, item: T) {
        self.widened += u64::from(self.lists[number as usize - 1].push(item, self.wide));
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
            list.push((slot * 7 % 300, 0), WIDE);
            list.push((slot * 7 % 300, 1), WIDE);
        }
        assert!(list.find((ChainId(300), Class(0)), |_| true).is_none());
        assert_eq!((list.classes(), list.len()), (3, 600));
        assert_eq!(list.of_classes(2).filter(|item| item.1 == 1).count(), 300);
        assert_eq!(list.of_classes(2).count(), 300);
        list.retain(|item| item.0 % 3 != 0 || item.1 == 0);
        for slot in 0..300 {
            for class in 0..2 {
                let found = list.find((ChainId(slot), Class(class)), |_| true).copied();
                let kept = slot % 3 != 0 || class == 0;
                assert_eq!(found, kept.then_some((slot, class)), "{slot} {class}");
            }
        }
        list.retain_in(2, |_| false);
        assert_eq!((list.classes(), list.len()), (1, 300));
        list.retain(|item| item.0 < 5);
        assert_eq!((list.len(), list.iter().count()), (5, 5));
        assert!(list.may_wait(Class(0), WIDE));
        while list.pop().is_some() {}
        assert_eq!((list.classes(), list.len()), (0, 0));
        assert!(!list.may_wait(Class(0), WIDE));
    }
}
