//! Tells objects apart that have no numbers yet, by what they hold and by who holds them.
//!
//! **Problem.** The elements of sets and bags have no order of their own. To number objects that are met through them, an order is needed that
//! depends on nothing but the shape of the state. **Method.** Colour refinement: each object's colour is the hash of its class, of the colours in
//! its fields, and of the colours of the objects and messages that refer to it; repeated until no more colours appear. Numbered objects have
//! their number for a colour. **Guarantee.** Objects of different colours can be told apart by shape. Objects of one colour are nearly
//! always interchangeable; where refinement fails (regular graphs of equal objects in one bag), two states that differ only in identities may get
//! different canonical forms: states are then visited twice, never merged wrongly. **Cost.** Rounds times the size of the heap, at most one round for
//! each object.

use super::parts::State;
use crate::value::{Value, mix};
use rustc_hash::FxHashSet;

/// Colours of objects; for handles a function of what they stand for.
pub(crate) struct Colors {
    objects: Vec<u128>,
}

/// The key of what has no position.
const UNORDERED: u64 = 0x5e7;

impl Colors {
    /// Refines colours; `number` tells the numbers that objects have, 0 for none.
    pub(crate) fn new(
        state: &State,
        number: impl Fn(usize) -> u32,
        handle: impl Fn(u32) -> u32,
    ) -> Colors {
        let objects = state.heap();
        let fixed = |i: usize| mix::number(0xc0102, u64::from(number(i)));
        let first = |i: usize| match number(i) {
            0 => mix::number(0xc0101, u64::from(objects[i].class)),
            _ => fixed(i),
        };
        let mut colors = Colors { objects: (0..objects.len()).map(first).collect() };
        let mut distinct = 0;
        for _ in 0..=objects.len() {
            let now: FxHashSet<u128> = colors.objects.iter().copied().collect();
            if now.len() <= distinct {
                break;
            }
            distinct = now.len();
            let next = colors.round(state, &number, &handle);
            for (i, color) in next.into_iter().enumerate() {
                colors.objects[i] = if number(i) == 0 { color } else { fixed(i) };
            }
        }
        colors
    }

    fn round(
        &self,
        state: &State,
        number: &impl Fn(usize) -> u32,
        handle: &impl Fn(u32) -> u32,
    ) -> Vec<u128> {
        let mut next = vec![0u128; self.objects.len()];
        for (i, object) in state.heap().iter().enumerate() {
            let mut sum = mix::number(0xc0103, u64::from(object.class));
            for (field, value) in (0..).zip(&object.fields) {
                sum = sum.wrapping_add(mix::mix(field, self.of(value, handle)));
                self.spread(value, mix::mix(field, self.objects[i]), &mut next);
            }
            if number(i) == 0 {
                next[i] = next[i].wrapping_add(sum);
            }
        }
        for (i, queue) in state.queues() {
            for message in &queue.messages {
                let color = mix::mix(i as u64, self.of(&message.args, handle));
                self.spread(&message.args, mix::mix(u64::from(message.task), color), &mut next);
            }
        }
        next
    }

    /// Adds a colour to all objects that a value refers to.
    fn spread(&self, value: &Value, from: u128, next: &mut [u128]) {
        if !value.has_refs() {
            return;
        }
        let items = |key: u64, items: &[Value], next: &mut [u128]| {
            for (i, item) in (0..).zip(items) {
                let key = if key == UNORDERED { key } else { i };
                self.spread(item, mix::mix(key, from), next);
            }
        };
        match value {
            Value::Obj(number) => {
                if let Some(sum) = next.get_mut((*number as usize).wrapping_sub(1)) {
                    *sum = sum.wrapping_add(mix::mix(0xfe0, from));
                }
            }
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                items(0, s.items(), next);
            }
            Value::Set(set) => items(UNORDERED, set.items(), next),
            Value::Map(map) => {
                for (key, value) in map.entries() {
                    self.spread(key, mix::mix(0xa, from), next);
                    self.spread(value, mix::mix(0xb, from), next);
                }
            }
            _ => {}
        }
    }

    /// Returns the hash of a value with colours in the place of numbers.
    pub(crate) fn of(&self, value: &Value, handle: &impl Fn(u32) -> u32) -> u128 {
        if !value.has_refs() {
            return value.hash();
        }
        match value {
            Value::Obj(number) => {
                self.objects.get((*number as usize).wrapping_sub(1)).copied().unwrap_or(0)
            }
            Value::Handle(number) => mix::number(0xc0104, u64::from(handle(*number))),
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                let head =
                    (u64::from(s.ty) << 32) | (u64::from(s.variant) << 16) | s.items().len() as u64;
                let items = (0..).zip(s.items());
                let sum = |sum: u128, (i, item): (u64, &Value)| {
                    sum.wrapping_add(mix::mix(i, self.of(item, handle)))
                };
                mix::mix(head, items.fold(0u128, sum))
            }
            Value::Set(set) => {
                let sum = |sum: u128, item: &Value| {
                    sum.wrapping_add(mix::mix(UNORDERED, self.of(item, handle)))
                };
                mix::mix(0x5e7, set.items().iter().fold(0, sum))
            }
            Value::Map(map) => {
                let sum = |sum: u128, (key, value): &(Value, Value)| {
                    let value = mix::mix(0xb, self.of(value, handle));
                    sum.wrapping_add(mix::mix(0xa, self.of(key, handle) ^ value.rotate_left(64)))
                };
                mix::mix(0x3a9, map.entries().iter().fold(0, sum))
            }
            other => other.hash(),
        }
    }
}
