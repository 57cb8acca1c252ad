//! A channel that keeps nothing: a sender waits for a receiver.
//!
//! A sender offers its item in a queue without bound, with a semaphore at which it waits: a permit
//! says that the item was taken, and the end of the semaphore that nobody will take it. So that
//! `try_send` knows whether a receiver waits, each receiver leaves a permit while it does. A
//! receiver that was claimed so, and took the offer of another sender, has the item of the claim at
//! its next receive.

use super::queue::{Items, Queue, Site};
use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Object, ObjectId, Patience, received, sent};

/// What such a channel has besides its queue.
pub(super) struct Rendezvous<T> {
    /// A permit for each receiver that waits. Closed when there is none any more.
    waiting: Slot,
    /// Each item with the semaphore at which its sender waits.
    offers: Items<(T, ObjectId)>,
}

/// Why an item was not sent.
pub(super) enum Unsent {
    Full,
    Disconnected,
}

fn semaphore() -> Object {
    Object::Semaphore { permits: 0, closed: false }
}

impl<T> Rendezvous<T> {
    #[track_caller]
    pub(super) fn new() -> Rendezvous<T> {
        Rendezvous { waiting: Slot::made(semaphore), offers: Items::new() }
    }

    fn waiting(&self, act: Act, at: Site) -> u64 {
        runtime::perform_in_drop(self.waiting.id(semaphore), act, at)
    }

    /// Claims a waiting receiver. 1 if there was one, 2 if there is no receiver any more.
    fn claim(&self, at: Site) -> u64 {
        self.waiting(Act::Acquire(1, Patience::Try), at)
    }

    /// Offers an item. Returns its number and the semaphore.
    fn offer(&self, queue: &Queue<T>, item: T, at: Site) -> Result<(u64, ObjectId), T> {
        let taken = Slot::made(semaphore).id(semaphore);
        let number = self.offers.leave((item, taken));
        match queue.perform(Act::Send(number, Patience::Wait), at) {
            sent::DONE => Ok((number, taken)),
            _ => Err(self.offers.take(number).expect("it was left").0),
        }
    }

    pub(super) fn send(&self, queue: &Queue<T>, item: T, at: Site) -> Result<(), T> {
        let (number, taken) = self.offer(queue, item, at)?;
        let act = Act::Acquire(1, Patience::Wait);
        match runtime::perform_in_drop(taken, act, at) {
            1 => Ok(()),
            // An execution that is cut short leaves no item to give back.
            _ => self.offers.take(number).map_or(Ok(()), |(item, _)| Err(item)),
        }
    }

    pub(super) fn try_send(&self, queue: &Queue<T>, item: T, at: Site) -> Result<(), (T, Unsent)> {
        match self.claim(at) {
            1 => match self.offer(queue, item, at) {
                Ok(_) => Ok(()),
                Err(item) => Err((item, Unsent::Disconnected)),
            },
            2 => Err((item, Unsent::Disconnected)),
            _ => Err((item, Unsent::Full)),
        }
    }

    pub(super) fn receive(&self, queue: &Queue<T>, patience: Patience, at: Site) -> Result<T, u64> {
        if patience != Patience::Try {
            self.waiting(Act::Release(1), at);
        }
        let mut number = queue.perform(Act::Receive(patience), at);
        if patience != Patience::Try {
            let was_claimed = self.claim(at) != 1;
            if number == received::EMPTY && was_claimed {
                number = queue.perform(Act::Receive(Patience::Wait), at);
            }
        }
        if number < received::FIRST {
            return Err(number);
        }
        let (item, taken) = self.offers.take(number).ok_or(received::DISCONNECTED)?;
        runtime::perform_in_drop(taken, Act::Release(1), at);
        Ok(item)
    }

    /// The receiver goes: all offers are refused.
    pub(super) fn refuse(&self, queue: &Queue<T>, at: Site) {
        self.waiting(Act::Close, at);
        loop {
            let number = queue.perform(Act::Receive(Patience::Try), at);
            let taken = self.offers.with(number, |(_, taken)| *taken);
            let Some(taken) = taken.filter(|_| number >= received::FIRST) else { return };
            runtime::perform_in_drop(taken, Act::Close, at);
        }
    }
}
