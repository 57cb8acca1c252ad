//! States: their shared parts, and the sum that serves as fingerprint.

use super::chunks::Chunks;
use super::lazy::LazyState;
use super::message::{Message, terms};
use super::object::Object;
use super::thread::Thread;
use crate::value::{Value, mix};
use std::sync::{Arc, OnceLock};

// Keys of the parts of a state in its fingerprint.
pub(super) const GLOBAL: u64 = 1 << 40;
const FLAGS: u64 = 2 << 40;
const LOCK: u64 = 3 << 40;
pub(super) const QUEUE: u64 = 4 << 40;
const THREAD: u64 = 5 << 40;
const OBJECT: u64 = 6 << 40;

/// The parts of a state. States share a part until one of them writes to it.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) globals: Chunks,
    /// The flags from the 64th on.
    more_flags: Option<Arc<[u64]>>,
    /// The owner of each lock, 0 for nobody; `None` while all locks are free.
    locks: Option<Arc<[u32]>>,
    /// The messages of all mailboxes, by mailbox, in the order of delivery (a bag: sorted).
    mail: Option<Arc<[Message]>>,
    threads: Option<Arc<Vec<Arc<Thread>>>>,
    heap: Option<Arc<Vec<Arc<Object>>>>,
}

impl Parts {
    #[inline]
    pub(super) fn messages(&self) -> &[Message] {
        self.mail.as_deref().unwrap_or(&[])
    }

    pub(super) fn set_messages(&mut self, messages: impl ExactSizeIterator<Item = Message>) {
        self.mail = if messages.len() == 0 { None } else { Some(messages.collect()) };
    }
}

/// A state of a program. A clone copies pointers: states share their common parts.
///
/// Between steps a state is in canonical form: equal states number their objects and handles alike
/// and order their bags alike.
#[derive(Debug)]
pub struct State {
    /// The sum of the mixed hashes of all parts.
    pub(crate) sum: u128,
    /// The first 64 flags.
    pub(super) flags: u64,
    /// The next uid; not part of the state.
    pub(crate) next_uid: u64,
    /// Everything else, once built.
    pub(super) parts: OnceLock<Arc<Parts>>,
    /// How to build the parts, until they are built.
    pub(super) lazy: Option<LazyState>,
}

impl Clone for State {
    #[inline]
    fn clone(&self) -> State {
        let (parts, lazy) = match self.parts.get() {
            Some(parts) => (OnceLock::from(parts.clone()), None),
            None => (OnceLock::new(), self.lazy.clone()),
        };
        State { sum: self.sum, flags: self.flags, next_uid: self.next_uid, parts, lazy }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        let (a, b) = (self.parts(), other.parts());
        let count = a.globals.len();
        self.sum == other.sum
            && self.flags == other.flags
            && a.more_flags == b.more_flags
            && self.locks() == other.locks()
            && self.threads() == other.threads()
            && self.heap() == other.heap()
            && a.messages() == b.messages()
            && (a.globals.shares_memory(&b.globals)
                || (count == b.globals.len()
                    && (0..count).all(|i| a.globals.get(i) == b.globals.get(i))))
    }
}

impl Eq for State {}

/// Returns a sum with one hash replaced by another.
#[inline]
pub(super) fn swapped(sum: u128, key: u64, old: u128, new: u128) -> u128 {
    sum.wrapping_sub(mix::mix(key, old)).wrapping_add(mix::mix(key, new))
}

/// Returns the term of a word of flags in the sum.
#[inline]
pub(super) fn flags_term(word: usize, flags: u64) -> u128 {
    if flags == 0 { 0 } else { mix::mix(FLAGS + word as u64, u128::from(flags)) }
}

/// Returns the term of a lock in the sum.
fn lock_term(lock: usize, owner: u32) -> u128 {
    if owner == 0 { 0 } else { mix::mix(LOCK + lock as u64, u128::from(owner)) }
}

impl State {
    /// Makes a state that has only globals.
    pub(crate) fn new(globals: Vec<Value>) -> State {
        let parts = Parts {
            globals: Chunks::new(globals),
            more_flags: None,
            locks: None,
            mail: None,
            threads: None,
            heap: None,
        };
        let parts = OnceLock::from(Arc::new(parts));
        let mut state = State { sum: 0, flags: 0, next_uid: 1, parts, lazy: None };
        state.recompute_sum();
        state
    }

    /// Returns the parts; builds them first if needed.
    #[inline]
    pub(super) fn parts(&self) -> &Arc<Parts> {
        self.parts.get_or_init(|| match &self.lazy {
            Some(lazy) => lazy.make(),
            None => unreachable!("a state has parts or what they are made of"),
        })
    }

    /// Returns the parts for a change.
    #[inline]
    pub(super) fn parts_mut(&mut self) -> &mut Parts {
        self.parts();
        self.lazy = None;
        Arc::make_mut(self.parts.get_mut().expect("just made"))
    }

    /// Computes the sum from the hashes of the parts.
    pub(crate) fn recompute_sum(&mut self) {
        let mut sum = 0u128;
        let mut add = |key: u64, hash: u128| sum = sum.wrapping_add(mix::mix(key, hash));
        for i in 0..self.globals().len() {
            add(GLOBAL + i as u64, self.global(i).hash());
        }
        for (i, thread) in (0..).zip(self.threads()) {
            add(THREAD + i, thread.hash);
        }
        for (i, object) in (0..).zip(self.heap()) {
            add(OBJECT + i, object.hash);
        }
        for (i, owner) in self.locks().iter().enumerate() {
            sum = sum.wrapping_add(lock_term(i, *owner));
        }
        for (i, word) in self.flag_words().enumerate() {
            sum = sum.wrapping_add(flags_term(i, word));
        }
        for (_, queue) in self.queues() {
            sum = sum.wrapping_add(terms(queue, 0));
        }
        self.sum = sum;
    }

    #[inline]
    fn swap(&mut self, key: u64, old: u128, new: u128) {
        self.sum = swapped(self.sum, key, old, new);
    }

    /// Replaces terms of the sum.
    #[inline]
    pub(super) fn shift(&mut self, old: u128, new: u128) {
        self.sum = self.sum.wrapping_sub(old).wrapping_add(new);
    }

    /// Returns the globals.
    #[inline]
    pub(crate) fn globals(&self) -> &Chunks {
        &self.parts().globals
    }

    /// Returns a global. The index must be in range.
    #[inline]
    pub(crate) fn global(&self, index: usize) -> &Value {
        self.globals().get(index)
    }

    /// Sets a global. The index must be in range.
    #[inline]
    pub(crate) fn set_global(&mut self, index: usize, value: Value) {
        // An unchanged value stays shared.
        if self.global(index).is_identical(&value) {
            return;
        }
        let (old, new) = (self.global(index).hash(), value.hash());
        *self.parts_mut().globals.get_mut(index) = value;
        self.swap(GLOBAL + index as u64, old, new);
    }

    /// Sets an element of the list in a global. Constant time unless the list is shared. Both
    /// indices must be in range.
    #[inline]
    pub(crate) fn set_element(&mut self, index: usize, at: usize, value: &Value) {
        let Value::List(list) = self.global(index) else { return };
        let (old, new) = list.hashes(at, value);
        if let Value::List(list) = self.parts_mut().globals.get_mut(index) {
            match Arc::get_mut(list) {
                Some(list) => _ = list.set(at, value.clone()),
                None => *list = list.with(at, value),
            }
        }
        self.swap(GLOBAL + index as u64, old, new);
    }

    /// Changes a global in place. The index must be in range.
    #[inline]
    pub(crate) fn change_global<R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut Value) -> R,
    ) -> R {
        let slot = self.parts_mut().globals.get_mut(index);
        let old = slot.hash();
        let result = change(slot);
        let new = slot.hash();
        self.swap(GLOBAL + index as u64, old, new);
        result
    }

    /// Returns all words of flags: the first one, then the others up to the last that is not 0.
    pub(crate) fn flag_words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.flags)
            .chain(self.parts().more_flags.iter().flat_map(|words| words.iter().copied()))
    }

    /// Returns a flag.
    #[inline]
    pub(crate) fn flag(&self, index: usize) -> bool {
        if index < 64 {
            return self.flags >> index & 1 == 1;
        }
        let word = self.parts().more_flags.as_ref().and_then(|words| words.get(index / 64 - 1));
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Sets a flag.
    pub(crate) fn set_flag(&mut self, index: usize, value: bool) {
        if self.flag(index) == value {
            return;
        }
        let (at, bit) = (index / 64, 1u64 << (index % 64));
        let new = if at == 0 {
            self.flags ^= bit;
            self.flags
        } else {
            let mut words: Vec<u64> = self.flag_words().collect();
            words.resize(words.len().max(at + 1), 0);
            words[at] ^= bit;
            self.replace_flags(&words);
            words[at]
        };
        self.shift(flags_term(at, new ^ bit), flags_term(at, new));
    }

    /// Returns the owners of the locks, without the free ones at the end.
    pub(crate) fn locks(&self) -> &[u32] {
        self.parts().locks.as_deref().unwrap_or(&[])
    }

    /// Returns the owner of a lock, 0 for nobody.
    pub(crate) fn lock(&self, index: usize) -> u32 {
        self.locks().get(index).copied().unwrap_or(0)
    }

    /// Sets the owner of a lock.
    pub(crate) fn set_lock(&mut self, index: usize, owner: u32) {
        let old = self.lock(index);
        if old == owner {
            return;
        }
        self.shift(lock_term(index, old), lock_term(index, owner));
        let mut locks = self.locks().to_vec();
        locks.resize(locks.len().max(index + 1), 0);
        locks[index] = owner;
        self.replace_locks(locks);
    }

    /// Returns the threads, in the order of their origins.
    #[inline]
    pub(crate) fn threads(&self) -> &[Arc<Thread>] {
        self.parts().threads.as_deref().map_or(&[], |threads| threads)
    }

    /// Changes the list of threads.
    pub(crate) fn change_threads<R>(
        &mut self,
        change: impl FnOnce(&mut Vec<Arc<Thread>>) -> R,
    ) -> R {
        let sum_of = |threads: &[Arc<Thread>]| {
            let terms = (0..).zip(threads).map(|(i, thread)| mix::mix(THREAD + i, thread.hash));
            terms.fold(0, u128::wrapping_add)
        };
        let slot = &mut self.parts_mut().threads;
        let threads = Arc::make_mut(slot.get_or_insert_default());
        let old = sum_of(threads);
        let result = change(threads);
        let new = sum_of(threads);
        if threads.is_empty() {
            *slot = None;
        }
        self.shift(old, new);
        result
    }

    /// Replaces a thread. The index must be in range.
    pub(crate) fn set_thread(&mut self, index: usize, thread: Thread) {
        if let Some(threads) = &mut self.parts_mut().threads {
            let threads = Arc::make_mut(threads);
            let (old, new) = (threads[index].hash, thread.hash);
            threads[index] = Arc::new(thread);
            self.swap(THREAD + index as u64, old, new);
        }
    }

    /// Returns the objects. Object number n is at index n - 1.
    #[inline]
    pub(crate) fn heap(&self) -> &[Arc<Object>] {
        self.parts().heap.as_deref().map_or(&[], |heap| heap)
    }

    /// Returns an object by its number.
    #[inline]
    pub(crate) fn object(&self, number: u32) -> Option<&Object> {
        self.heap().get((number as usize).wrapping_sub(1)).map(|object| &**object)
    }

    /// Adds an object; returns its number.
    pub(crate) fn add_object(&mut self, object: Object) -> u32 {
        let heap = Arc::make_mut(self.parts_mut().heap.get_or_insert_default());
        let term = mix::mix(OBJECT + heap.len() as u64, object.hash);
        heap.push(Arc::new(object));
        let number = u32::try_from(heap.len()).unwrap_or(u32::MAX);
        self.sum = self.sum.wrapping_add(term);
        number
    }

    /// Changes a field of an object in place. Returns `None` for an unknown object or field.
    pub(crate) fn change_field<R>(
        &mut self,
        number: u32,
        field: usize,
        change: impl FnOnce(&mut Value) -> R,
    ) -> Option<R> {
        let index = (number as usize).wrapping_sub(1);
        let object = Arc::make_mut(self.parts_mut().heap.as_mut()?);
        let object = Arc::make_mut(object.get_mut(index)?);
        let slot = object.fields.get_mut(field)?;
        let (old_hash, old) = (object.hash, slot.hash());
        let result = change(slot);
        let new = slot.hash();
        object.hash = object
            .hash
            .wrapping_sub(mix::mix(field as u64, old))
            .wrapping_add(mix::mix(field as u64, new));
        let new_hash = object.hash;
        self.swap(OBJECT + index as u64, old_hash, new_hash);
        Some(result)
    }

    /// Replaces all objects. The sum is wrong until [`recompute_sum`](Self::recompute_sum).
    pub(crate) fn replace_heap(&mut self, heap: Vec<Arc<Object>>) {
        self.parts_mut().heap = if heap.is_empty() { None } else { Some(Arc::new(heap)) };
    }

    /// Replaces all threads. The sum is wrong until [`recompute_sum`](Self::recompute_sum).
    pub(crate) fn replace_threads(&mut self, threads: Vec<Arc<Thread>>) {
        self.parts_mut().threads = if threads.is_empty() { None } else { Some(Arc::new(threads)) };
    }

    /// Replaces the owners of all locks. The sum is wrong until
    /// [`recompute_sum`](Self::recompute_sum).
    pub(crate) fn replace_locks(&mut self, mut locks: Vec<u32>) {
        while locks.last() == Some(&0) {
            locks.pop();
        }
        self.parts_mut().locks = if locks.is_empty() { None } else { Some(locks.into()) };
    }

    /// Replaces all flags. Drops zero words at the end: equal flags have equal words. The sum is
    /// wrong until [`recompute_sum`](Self::recompute_sum).
    pub(crate) fn replace_flags(&mut self, words: &[u64]) {
        self.flags = words.first().copied().unwrap_or(0);
        let length = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let more = words.get(1..length).unwrap_or(&[]);
        self.parts_mut().more_flags = if more.is_empty() { None } else { Some(more.into()) };
    }

    /// Sets a global, but not the sum, which is wrong until [`recompute_sum`](Self::recompute_sum).
    pub(crate) fn replace_global(&mut self, index: usize, value: Value) {
        *self.parts_mut().globals.get_mut(index) = value;
    }

    /// Returns the highest handle. Linear in messages and threads.
    pub(crate) fn handle_top(&self) -> u32 {
        self.handles().map(|(handle, _)| handle).max().unwrap_or(0)
    }

    /// Returns the uid of the thread or message of a handle. Linear in messages and threads.
    pub(crate) fn created_by(&self, handle: u32) -> Option<u64> {
        self.handles().find(|(other, _)| *other == handle).map(|(_, uid)| uid)
    }

    /// Returns whether the thread or message of a handle exists. Linear in messages and threads.
    pub(crate) fn is_live(&self, handle: u32) -> bool {
        self.handles().any(|(other, _)| other == handle)
    }

    /// Returns the handles of all threads and messages with their uids; 0 where there is none.
    pub(crate) fn handles(&self) -> impl Iterator<Item = (u32, u64)> {
        let threads = self.threads().iter().map(|thread| (thread.handle, thread.uid));
        threads.chain(self.messages().iter().map(|message| (message.handle, message.uid)))
    }

    /// Returns the mailbox and the position of the message with a handle. Linear in messages.
    pub(crate) fn message_with(&self, handle: u32) -> Option<(usize, usize)> {
        self.queues().find_map(|(queue, messages)| {
            Some((queue, messages.iter().position(|message| message.handle == handle)?))
        })
    }

    /// Returns all values but those in objects: of globals, threads and messages.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Value> {
        let globals = (0..self.globals().len()).map(|i| self.global(i));
        let registers = self.threads().iter().flat_map(|thread| &thread.regs);
        globals.chain(registers).chain(self.messages().iter().map(|message| &message.args))
    }
}
