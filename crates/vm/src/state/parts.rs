//! States: shared parts, and the sum that the fingerprint is.

use super::globals::Globals;
use super::message::{Queue, Queues};
use super::object::Object;
use super::thread::Thread;
use crate::value::{Value, mix};
use std::sync::Arc;

// Keys of the parts of a state in its fingerprint.
const GLOBAL: u64 = 1 << 40;
const FLAGS: u64 = 2 << 40;
const LOCK: u64 = 3 << 40;
const QUEUE: u64 = 4 << 40;
const THREAD: u64 = 5 << 40;
const OBJECT: u64 = 6 << 40;

/// A state of a program. Cloning copies pointers; what two states have in common they share.
///
/// Between steps a state is in canonical form: equal states have equal numbers of objects and handles and equal orders of bags.
#[derive(Clone, Debug)]
pub struct State {
    /// The sum of the mixed hashes of all parts.
    pub(crate) sum: u128,
    pub(crate) globals: Globals,
    /// The first 64 flags, and the others.
    flags: u64,
    more_flags: Option<Arc<[u64]>>,
    /// The owner of each lock, 0 for nobody; none at all while all are free.
    locks: Option<Arc<[u32]>>,
    mail: Option<Arc<Queues>>,
    threads: Option<Arc<Vec<Arc<Thread>>>>,
    heap: Option<Arc<Vec<Arc<Object>>>>,
    /// Numbers for names of what is created; not part of the state.
    pub(crate) next_uid: u64,
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        let count = self.globals.len();
        self.sum == other.sum
            && self.flags == other.flags
            && self.more_flags == other.more_flags
            && self.locks() == other.locks()
            && self.threads() == other.threads()
            && self.heap() == other.heap()
            && self.queues().eq(other.queues())
            && (self.globals.same(&other.globals)
                || (count == other.globals.len()
                    && (0..count).all(|i| self.globals.get(i) == other.globals.get(i))))
    }
}

impl Eq for State {}

impl State {
    /// Makes a state of globals and nothing else.
    pub(crate) fn new(globals: Vec<Value>) -> State {
        let mut state = State {
            sum: 0,
            globals: Globals::new(globals),
            flags: 0,
            more_flags: None,
            locks: None,
            mail: None,
            threads: None,
            heap: None,
            next_uid: 1,
        };
        state.resum();
        state
    }

    /// Computes the sum anew, from the hashes of the parts.
    pub(crate) fn resum(&mut self) {
        let mut sum = 0u128;
        let mut add = |key: u64, hash: u128| sum = sum.wrapping_add(mix::mix(key, hash));
        for i in 0..self.globals.len() {
            add(GLOBAL + i as u64, self.globals.get(i).hash());
        }
        for (i, word) in self.flag_words().enumerate() {
            if word != 0 {
                add(FLAGS + i as u64, u128::from(word));
            }
        }
        for (i, owner) in (0..).zip(self.locks()) {
            if *owner != 0 {
                add(LOCK + i, u128::from(*owner));
            }
        }
        for (i, queue) in self.queues() {
            add(QUEUE + i as u64, queue.hash);
        }
        for (i, thread) in (0..).zip(self.threads()) {
            add(THREAD + i, thread.hash);
        }
        for (i, object) in (0..).zip(self.heap()) {
            add(OBJECT + i, object.hash);
        }
        self.sum = sum;
    }

    #[inline]
    fn swap(&mut self, key: u64, old: u128, new: u128) {
        self.sum = self.sum.wrapping_sub(mix::mix(key, old)).wrapping_add(mix::mix(key, new));
    }

    /// Returns a global. The index must be there.
    #[inline]
    pub(crate) fn global(&self, index: usize) -> &Value {
        self.globals.get(index)
    }

    /// Sets a global. The index must be there.
    #[inline]
    pub(crate) fn set_global(&mut self, index: usize, value: Value) {
        // What does not change stays shared.
        if self.globals.get(index).is_same(&value) {
            return;
        }
        let new = value.hash();
        let slot = self.globals.get_mut(index);
        let old = std::mem::replace(slot, value);
        self.swap(GLOBAL + index as u64, old.hash(), new);
    }

    /// Changes a global in place. The index must be there.
    #[inline]
    pub(crate) fn change_global<R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut Value) -> R,
    ) -> R {
        let slot = self.globals.get_mut(index);
        let old = slot.hash();
        let result = change(slot);
        let new = slot.hash();
        self.swap(GLOBAL + index as u64, old, new);
        result
    }

    /// All flag words: as many as there ever were set.
    pub(crate) fn flag_words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.flags)
            .chain(self.more_flags.iter().flat_map(|words| words.iter().copied()))
    }

    /// Returns a flag.
    #[inline]
    pub(crate) fn flag(&self, index: usize) -> bool {
        if index < 64 {
            return self.flags >> index & 1 == 1;
        }
        let word = self.more_flags.as_ref().and_then(|words| words.get(index / 64 - 1));
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Sets a flag.
    pub(crate) fn set_flag(&mut self, index: usize, value: bool) {
        if self.flag(index) == value {
            return;
        }
        let bit = 1u64 << (index % 64);
        let word = if index < 64 {
            &mut self.flags
        } else {
            let at = index / 64 - 1;
            let words = self.more_flags.take();
            let mut words: Vec<u64> = words.map_or(Vec::new(), |words| words.to_vec());
            words.resize(words.len().max(at + 1), 0);
            &mut Arc::get_mut(self.more_flags.insert(words.into())).expect("just made")[at]
        };
        let old = *word;
        *word ^= bit;
        let new = *word;
        let key = FLAGS + (index / 64) as u64;
        if old != 0 {
            self.sum = self.sum.wrapping_sub(mix::mix(key, u128::from(old)));
        }
        if new != 0 {
            self.sum = self.sum.wrapping_add(mix::mix(key, u128::from(new)));
        }
        self.trim_flags();
    }

    /// Equal flags have equal words.
    fn trim_flags(&mut self) {
        if let Some(words) = &self.more_flags
            && words.last() == Some(&0)
        {
            let length = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
            self.more_flags = if length == 0 { None } else { Some(words[..length].into()) };
        }
    }

    /// Returns the owners of the locks, without the free ones at the end.
    pub(crate) fn locks(&self) -> &[u32] {
        self.locks.as_deref().unwrap_or(&[])
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
        let key = LOCK + index as u64;
        if old != 0 {
            self.sum = self.sum.wrapping_sub(mix::mix(key, u128::from(old)));
        }
        if owner != 0 {
            self.sum = self.sum.wrapping_add(mix::mix(key, u128::from(owner)));
        }
        let mut locks = self.locks().to_vec();
        locks.resize(locks.len().max(index + 1), 0);
        locks[index] = owner;
        while locks.last() == Some(&0) {
            locks.pop();
        }
        self.locks = if locks.is_empty() { None } else { Some(locks.into()) };
    }

    /// Returns the mailboxes that are not empty, with their numbers.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (usize, &Queue)> {
        let queues = self.mail.iter().flat_map(|mail| mail.iter().enumerate());
        queues.filter_map(|(i, queue)| queue.as_deref().map(|queue| (i, queue)))
    }

    /// Returns a mailbox, unless it is empty.
    #[inline]
    pub(crate) fn queue(&self, index: usize) -> Option<&Queue> {
        self.mail.as_ref()?.get(index)?.as_deref()
    }

    /// Changes a mailbox; whoever does so computes its hash.
    pub(crate) fn change_queue<R>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut Queue) -> R,
    ) -> R {
        let mail = Arc::make_mut(self.mail.get_or_insert_default());
        if mail.len() <= index {
            mail.resize(index + 1, None);
        }
        let slot = &mut mail[index];
        let key = QUEUE + index as u64;
        if let Some(queue) = slot {
            self.sum = self.sum.wrapping_sub(mix::mix(key, queue.hash));
        }
        let queue = Arc::make_mut(slot.get_or_insert_default());
        let result = change(queue);
        if queue.messages.is_empty() {
            *slot = None;
            if mail.iter().all(Option::is_none) {
                self.mail = None;
            }
        } else {
            self.sum = self.sum.wrapping_add(mix::mix(key, queue.hash));
        }
        result
    }

    /// Returns the threads, in the order of their origins.
    #[inline]
    pub(crate) fn threads(&self) -> &[Arc<Thread>] {
        self.threads.as_deref().map_or(&[], |threads| threads)
    }

    /// Changes the list of threads.
    pub(crate) fn change_threads<R>(
        &mut self,
        change: impl FnOnce(&mut Vec<Arc<Thread>>) -> R,
    ) -> R {
        let threads = Arc::make_mut(self.threads.get_or_insert_default());
        for (i, thread) in (0..).zip(threads.iter()) {
            self.sum = self.sum.wrapping_sub(mix::mix(THREAD + i, thread.hash));
        }
        let result = change(threads);
        for (i, thread) in (0..).zip(threads.iter()) {
            self.sum = self.sum.wrapping_add(mix::mix(THREAD + i, thread.hash));
        }
        if threads.is_empty() {
            self.threads = None;
        }
        result
    }

    /// Puts a thread in the place of another. The index must be there.
    pub(crate) fn set_thread(&mut self, index: usize, thread: Thread) {
        if let Some(threads) = &mut self.threads {
            let threads = Arc::make_mut(threads);
            let (old, new) = (threads[index].hash, thread.hash);
            threads[index] = Arc::new(thread);
            self.swap(THREAD + index as u64, old, new);
        }
    }

    /// Returns the objects; number n is at n - 1.
    #[inline]
    pub(crate) fn heap(&self) -> &[Arc<Object>] {
        self.heap.as_deref().map_or(&[], |heap| heap)
    }

    /// Returns an object by its number.
    #[inline]
    pub(crate) fn object(&self, number: u32) -> Option<&Object> {
        self.heap().get((number as usize).wrapping_sub(1)).map(|object| &**object)
    }

    /// Adds an object; returns its number.
    pub(crate) fn add_object(&mut self, object: Object) -> u32 {
        let heap = Arc::make_mut(self.heap.get_or_insert_default());
        let key = OBJECT + heap.len() as u64;
        self.sum = self.sum.wrapping_add(mix::mix(key, object.hash));
        heap.push(Arc::new(object));
        u32::try_from(heap.len()).unwrap_or(u32::MAX)
    }

    /// Changes a field of an object in place; nothing for an unknown one.
    pub(crate) fn change_field<R>(
        &mut self,
        number: u32,
        field: usize,
        change: impl FnOnce(&mut Value) -> R,
    ) -> Option<R> {
        let index = (number as usize).wrapping_sub(1);
        let object = Arc::make_mut(self.heap.as_mut()?);
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

    /// Puts other objects in the place of all; the sum is wrong until [`resum`](Self::resum).
    pub(crate) fn replace_heap(&mut self, heap: Vec<Arc<Object>>) {
        self.heap = if heap.is_empty() { None } else { Some(Arc::new(heap)) };
    }

    /// Puts other threads in the place of all; the sum is wrong until [`resum`](Self::resum).
    pub(crate) fn replace_threads(&mut self, threads: Vec<Arc<Thread>>) {
        self.threads = if threads.is_empty() { None } else { Some(Arc::new(threads)) };
    }

    /// Puts other mailboxes in the place of all; the sum is wrong until [`resum`](Self::resum).
    pub(crate) fn replace_queues(&mut self, mut queues: Queues) {
        while queues.last().is_some_and(Option::is_none) {
            queues.pop();
        }
        self.mail = if queues.is_empty() { None } else { Some(Arc::new(queues)) };
    }

    /// Puts other owners in the place of all; the sum is wrong until [`resum`](Self::resum).
    pub(crate) fn replace_locks(&mut self, mut locks: Vec<u32>) {
        while locks.last() == Some(&0) {
            locks.pop();
        }
        self.locks = if locks.is_empty() { None } else { Some(locks.into()) };
    }

    /// Puts other flags in the place of all; the sum is wrong until [`resum`](Self::resum).
    pub(crate) fn replace_flags(&mut self, words: &[u64]) {
        self.flags = words.first().copied().unwrap_or(0);
        let more = words.get(1..).unwrap_or(&[]);
        self.more_flags = if more.is_empty() { None } else { Some(more.into()) };
        self.trim_flags();
    }

    /// Sets a global without the sum, which is wrong until [`resum`](Self::resum).
    pub(crate) fn replace_global(&mut self, index: usize, value: Value) {
        *self.globals.get_mut(index) = value;
    }

    /// Returns the highest number of a handle. Linear in messages and threads.
    pub(crate) fn handle_top(&self) -> u32 {
        let threads = self.threads().iter().map(|thread| thread.handle);
        let messages = self.queues().flat_map(|(_, queue)| &queue.messages);
        threads.chain(messages.map(|message| message.handle)).max().unwrap_or(0)
    }

    /// Returns whether the thread or message of a handle is there. Linear in messages and threads.
    pub(crate) fn is_live(&self, handle: u32) -> bool {
        self.threads().iter().any(|thread| thread.handle == handle)
            || self
                .queues()
                .any(|(_, queue)| queue.messages.iter().any(|message| message.handle == handle))
    }
}
