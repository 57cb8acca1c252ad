//! Distinguishes objects, posts and threads without numbers by their content and by the references
//! to them.
//!
//! **Problem.** Elements of sets and bags, and forked threads, are unordered. The numbering needs
//! an order of them that depends only on the shape of the state. **Method.** Colour refinement: the
//! colour of an object is the hash of its class, of the colours in its fields, and of the colours
//! of the objects, messages and threads that refer to it. Rounds repeat until no new colours
//! appear. Posts and threads with handles have colours likewise. A number serves as the colour of a
//! numbered object. **Guarantee.** Objects of different colours differ in shape. Objects of one
//! colour are nearly always interchangeable. Refinement fails for regular graphs of equal objects
//! in one bag: then two states that differ only in identities may get different canonical forms. A
//! search visits such states twice, but never merges different states. **Cost.** Rounds times the
//! size of the heap, the mailboxes and the threads, at most one round for each object and handle.

use super::canonical::Numbering;
use super::paint::{Paint, painted};
use super::parts::State;
use super::reachable::Reachable;
use super::rename::Renaming;
use crate::value::{Value, mix};
use rustc_hash::{FxHashMap, FxHashSet};

/// Colours of objects, and of posts and threads that something refers to.
pub(super) struct Colors<'a> {
    numbers: &'a Numbering,
    objects: Vec<u128>,
    /// By handles, of those without a number.
    handles: FxHashMap<u32, u128>,
    /// The hashes of the positions of threads.
    places: Vec<u128>,
}

/// The sums of a round.
struct Next {
    objects: Vec<u128>,
    handles: FxHashMap<u32, u128>,
}

/// The key of an element without a position.
const UNORDERED: u64 = 0x5e7;

impl Colors<'_> {
    /// Refines colours.
    pub(super) fn new<'a>(
        state: &State,
        numbers: &'a Numbering,
        reachable: &Reachable,
    ) -> Colors<'a> {
        let objects = state.heap();
        let first = |i: usize| match numbers.object(i as u32 + 1) {
            0 => mix::number(0xc0101, u64::from(objects[i].class)),
            number => mix::number(0xc0102, u64::from(number)),
        };
        let places: Vec<u128> =
            state.threads().iter().map(|thread| thread.position_hash()).collect();
        let mut handles = FxHashMap::default();
        let is_new =
            |handle: u32| reachable.handles.contains(&handle) && numbers.number(handle) == 0;
        for (thread, place) in state.threads().iter().zip(&places) {
            if is_new(thread.handle) {
                handles.insert(thread.handle, *place);
            }
        }
        for (i, queue) in state.queues() {
            for (place, message) in (1..).zip(queue).filter(|(_, message)| is_new(message.handle)) {
                let color = mix::number(i as u64, u64::from(message.task));
                // Messages that are alike differ by their positions where those matter.
                let place = if message.is_ordered() { place } else { 0 };
                handles.insert(message.handle, mix::mix(place, color));
            }
        }
        let objects = (0..objects.len()).map(first).collect();
        let mut colors = Colors { numbers, objects, handles, places };
        let mut distinct = 0;
        for _ in 0..=colors.objects.len() + colors.handles.len() {
            // The number of rounds must not depend on garbage.
            let objects =
                colors.objects.iter().zip(&reachable.objects).filter(|(_, reached)| **reached);
            let all = objects.map(|(color, _)| color).chain(colors.handles.values());
            let now = all.copied().collect::<FxHashSet<u128>>().len();
            if now <= distinct {
                break;
            }
            distinct = now;
            colors.round(state, reachable);
        }
        colors
    }

    fn round(&mut self, state: &State, reachable: &Reachable) {
        let handles = self.handles.keys().map(|handle| (*handle, 0)).collect();
        let mut next = Next { objects: vec![0u128; self.objects.len()], handles };
        for (i, object) in state.heap().iter().enumerate().filter(|(i, _)| reachable.objects[*i]) {
            let mut sum = mix::number(0xc0103, u64::from(object.class));
            for (field, value) in (0..).zip(&object.fields) {
                sum = sum.wrapping_add(mix::mix(field, self.of(value)));
                self.spread(value, mix::mix(field, self.objects[i]), &mut next);
            }
            next.objects[i] = next.objects[i].wrapping_add(sum);
        }
        for (i, queue) in state.queues() {
            for message in queue {
                let handle = self.of_handle(message.handle);
                let color = mix::mix(i as u64, self.of(&message.args).wrapping_add(handle));
                let color = mix::mix(u64::from(message.task), color);
                self.spread(&message.args, color, &mut next);
                next.handle(message.handle, color);
            }
        }
        for (thread, place) in state.threads().iter().zip(&self.places) {
            let mut sum = place.wrapping_add(self.of_handle(thread.handle));
            for (reg, value) in (0..).zip(&thread.regs) {
                if !matches!(value, Value::Null) {
                    sum = sum.wrapping_add(mix::mix(reg, self.of(value)));
                }
            }
            for (reg, value) in (0..).zip(&thread.regs) {
                self.spread(value, mix::mix(reg, sum), &mut next);
            }
            next.handle(thread.handle, mix::mix(0xc0106, sum));
        }
        for (i, color) in next.objects.into_iter().enumerate() {
            if self.numbers.object(i as u32 + 1) == 0 {
                self.objects[i] = color;
            }
        }
        self.handles = next.handles;
    }

    /// Adds a colour to all that a value refers to.
    fn spread(&self, value: &Value, from: u128, next: &mut Next) {
        if !value.has_refs() {
            return;
        }
        match value {
            Value::Obj(number) => {
                if let Some(sum) = next.objects.get_mut((*number as usize).wrapping_sub(1)) {
                    *sum = sum.wrapping_add(mix::mix(0xfe0, from));
                }
            }
            Value::Handle(handle) => next.handle(*handle, mix::mix(0xfe1, from)),
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                for (i, item) in (0..).zip(s.items()) {
                    self.spread(item, mix::mix(i, from), next);
                }
            }
            Value::Set(set) => {
                for item in set.items() {
                    self.spread(item, mix::mix(UNORDERED, from), next);
                }
            }
            Value::Map(map) => {
                for (key, value) in map.entries() {
                    self.spread(key, mix::mix(0xa, from), next);
                    self.spread(value, mix::mix(0xb, from), next);
                }
            }
            _ => {}
        }
    }

    /// Returns the colour of the task or thread of a handle. All ended ones share a colour.
    pub(super) fn of_handle(&self, handle: u32) -> u128 {
        match (self.numbers.number(handle), self.handles.get(&handle)) {
            (0, Some(color)) => mix::mix(0xc0105, *color),
            (number, _) => mix::number(0xc0104, u64::from(number)),
        }
    }

    /// Returns the hash of a value with colours in the place of numbers.
    pub(super) fn of(&self, value: &Value) -> u128 {
        painted(value, self)
    }
}

impl Paint for Colors<'_> {
    fn concerns(&self, value: &Value) -> bool {
        value.has_refs() || matches!(value, Value::Handle(_))
    }

    fn name(&self, value: &Value) -> u128 {
        match value {
            Value::Handle(handle) => self.of_handle(*handle),
            Value::Obj(number) => {
                self.objects.get((*number as usize).wrapping_sub(1)).copied().unwrap_or(0)
            }
            other => other.hash(),
        }
    }

    fn member(&self, _of: u16, _member: usize) -> Option<u64> {
        None
    }
}

impl Next {
    fn handle(&mut self, handle: u32, color: u128) {
        if let Some(sum) = self.handles.get_mut(&handle) {
            *sum = sum.wrapping_add(color);
        }
    }
}
