//! A queue of the engine with its items, which the engine does not see.
//!
//! For the engine an item is a number. A sender leaves the item here before it sends the number,
//! and who receives the number takes an item that was left with it: equal numbers mean equal items.

use super::Sender;
use super::rendezvous::Rendezvous;
use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Object, ObjectId, Patience, received, sent};
use rustc_hash::FxHashMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) type Site = &'static Location<'static>;

/// The items that wait to be received, by number.
pub(crate) struct Items<T> {
    left: Mutex<FxHashMap<u64, Vec<T>>>,
}

impl<T> Items<T> {
    pub(crate) fn new() -> Items<T> {
        Items { left: Mutex::new(FxHashMap::default()) }
    }

    /// Leaves an item, and returns its number.
    pub(crate) fn leave(&self, item: T) -> u64 {
        let version = runtime::version_of(&item);
        let number = match version.checked_add(received::FIRST) {
            Some(number) => number,
            None => runtime::mix(version, 1).max(received::FIRST),
        };
        runtime::unseen(|| {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.entry(number).or_default().push(item);
        });
        number
    }

    /// Calls `f` with an item of that number, which stays.
    pub(crate) fn with<R>(&self, number: u64, f: impl FnOnce(&T) -> R) -> Option<R> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.get(&number).and_then(|items| items.last()).map(f)
    }

    fn is_empty(&self) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes an item of that number.
    pub(crate) fn take(&self, number: u64) -> Option<T> {
        runtime::unseen(|| {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            let items = left.get_mut(&number)?;
            let item = items.pop();
            if items.is_empty() {
                left.remove(&number);
            }
            item
        })
    }
}

/// What the ends of a channel share.
pub(super) struct Queue<T> {
    slot: Slot,
    capacity: Option<u32>,
    items: Items<T>,
    /// Where the channel was made.
    made: Site,
    /// For a channel that keeps nothing.
    pub(super) rendezvous: Option<Rendezvous<T>>,
}

impl<T> Queue<T> {
    #[track_caller]
    pub(super) fn new(bound: Option<usize>) -> Arc<Queue<T>> {
        let is_rendezvous = bound == Some(0);
        let capacity = bound.filter(|_| !is_rendezvous);
        let capacity = capacity.map(|bound| u32::try_from(bound).unwrap_or(u32::MAX - 1));
        Arc::new(Queue {
            slot: Slot::of(std::any::type_name::<Sender<T>>).make(|| Object::queue(capacity)),
            capacity,
            items: Items::new(),
            made: Location::caller(),
            rendezvous: is_rendezvous.then(Rendezvous::new),
        })
    }

    pub(super) fn perform(&self, act: Act, at: Site) -> u64 {
        runtime::perform_in_drop(self.id(), act, at)
    }

    /// Sends an item. Returns it with the reason if it was not sent. Not for a rendezvous.
    pub(super) fn send(&self, item: T, patience: Patience, at: Site) -> Result<(), (T, u64)> {
        let number = self.items.leave(item);
        match self.perform(Act::Send(number, patience), at) {
            sent::DONE => {
                // Items are destroyed by the receiver. Without one they leak.
                runtime::note_owned(self.id(), self.made);
                Ok(())
            }
            reason => {
                let item = self.items.take(number).expect("it was left");
                self.forget_items_if_none();
                Err((item, reason))
            }
        }
    }

    fn forget_items_if_none(&self) {
        if self.items.is_empty() {
            self.forget_items();
        }
    }

    /// The items that are left are no leak.
    pub(super) fn forget_items(&self) {
        runtime::forget_owned(self.id());
    }

    fn id(&self) -> ObjectId {
        self.slot.id(|| Object::queue(self.capacity))
    }

    /// Receives an item, or a number that is none.
    pub(super) fn receive(&self, patience: Patience, at: Site) -> Result<T, u64> {
        if let Some(rendezvous) = &self.rendezvous {
            return rendezvous.receive(self, patience, at);
        }
        match self.perform(Act::Receive(patience), at) {
            none @ (received::DISCONNECTED | received::EMPTY) => Err(none),
            number => {
                let item = self.items.take(number).ok_or(received::DISCONNECTED);
                self.forget_items_if_none();
                item
            }
        }
    }
}
