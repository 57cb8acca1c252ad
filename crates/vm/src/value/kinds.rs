//! Values.

use super::collection::{Map, Meta, Seq, Set, Text};
use super::mix;
use std::sync::Arc;

/// A value. Small ones are inline, large ones shared. A value changes in place only while it is not
/// shared.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A value of an index type: members are compared for equality, and nothing else tells them
    /// apart.
    Index {
        /// The index type.
        of: u16,
        /// Which of its values.
        member: u16,
    },
    /// A variant of an enum without payload.
    Variant {
        /// The enum.
        ty: u16,
        /// The variant.
        variant: u16,
    },
    /// A variant of an enum whose payload is one integer.
    VariantInt {
        /// The enum.
        ty: u16,
        /// The variant.
        variant: u16,
        /// The payload.
        value: i64,
    },
    /// An object, by its number in the heap of the state, from 1.
    Obj(u32),
    /// A handle of a posted task or a forked thread. The handle of an ended one is 0, or at least
    /// 2^31, which counts as 0.
    Handle(u32),
    /// A string.
    Str(Arc<Text>),
    /// A list; `Seq::ty` is 0, or one more than the index type that numbers the elements.
    List(Arc<Seq>),
    /// A set.
    Set(Arc<Set>),
    /// A map.
    Map(Arc<Map>),
    /// A record; `Seq::ty` is its type.
    Record(Arc<Seq>),
    /// Any other variant of an enum. `Seq::ty` and `Seq::variant` identify it.
    VariantOf(Arc<Seq>),
    /// A function value with its captures; `Seq::ty` is the function.
    Func(Arc<Seq>),
}

const _: () = assert!(std::mem::size_of::<Value>() == 16);

/// Handles from here on refer to ended tasks and threads, and say which. Only runs with a log have
/// them. In every other respect they equal 0.
pub(crate) const GHOST: u32 = 1 << 31;

/// Returns the handle, or 0 if its task or thread has ended.
#[inline]
pub(crate) fn live_handle(handle: u32) -> u32 {
    if handle >= GHOST { 0 } else { handle }
}

/// Kinds for hashes; part of the fingerprint.
pub(crate) mod kind {
    pub(crate) const INT: u64 = 1;
    pub(crate) const SIMPLE: u64 = 2;
    pub(crate) const VARIANT: u64 = 3;
    pub(crate) const OBJ: u64 = 4;
    pub(crate) const HANDLE: u64 = 5;
    pub(crate) const STR: u64 = 6;
    pub(crate) const LIST: u64 = 7;
    pub(crate) const SET: u64 = 8;
    pub(crate) const MAP: u64 = 9;
    pub(crate) const RECORD: u64 = 10;
    pub(crate) const VARIANT_OF: u64 = 11;
    pub(crate) const FUNC: u64 = 12;
    pub(crate) const VARIANT_INT: u64 = 13;
    pub(crate) const INDEX: u64 = 14;
}

impl Value {
    /// Makes a string.
    #[must_use]
    pub fn str(text: &str) -> Value {
        Value::Str(Arc::new(Text::new(text)))
    }

    /// Makes a list.
    pub(crate) fn list(items: Vec<Value>) -> Value {
        Value::List(Arc::new(Seq::list(items)))
    }

    /// Makes a variant of an enum from its payload.
    #[must_use]
    pub(crate) fn variant(ty: u16, variant: u16, payload: &[Value]) -> Value {
        match payload {
            [] => Value::Variant { ty, variant },
            [Value::Int(value)] => Value::VariantInt { ty, variant, value: *value },
            _ => Value::VariantOf(Arc::new(Seq::new(ty, variant, payload.to_vec()))),
        }
    }

    /// Returns the enum and the variant of an enum value.
    #[inline]
    pub(crate) fn variant_key(&self) -> Option<(u16, u16)> {
        match self {
            Value::Variant { ty, variant } | Value::VariantInt { ty, variant, .. } => {
                Some((*ty, *variant))
            }
            Value::VariantOf(seq) => Some((seq.ty, seq.variant)),
            _ => None,
        }
    }

    /// Returns whether the value shares nothing. Dropping it then does nothing.
    #[inline(always)]
    pub(crate) fn is_small(&self) -> bool {
        matches!(
            self,
            Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Index { .. }
                | Value::Variant { .. }
                | Value::VariantInt { .. }
                | Value::Obj(_)
                | Value::Handle(_)
        )
    }

    /// Returns whether the value contains no object, handle or function: these have no order.
    /// Linear in a large value.
    #[inline]
    pub(crate) fn is_ordered(&self) -> bool {
        match self {
            Value::Obj(_) | Value::Handle(_) | Value::Func(_) => false,
            Value::List(_) | Value::Record(_) | Value::VariantOf(_) | Value::Map(_) => {
                self.children().all(Value::is_ordered)
            }
            // Elements of sets always have an order.
            _ => true,
        }
    }

    /// Moves the value into a slot.
    #[inline(always)]
    pub(crate) fn put_in(self, slot: &mut Value) {
        // Most values are small and need no call to be dropped.
        if !slot.is_small() {
            drop_large(std::mem::take(slot));
        }
        std::mem::forget(std::mem::replace(slot, self));
    }

    /// Copies the value into a slot. Small values are written field by field. A `clone` would be
    /// built elsewhere and then copied as a whole, which is slow.
    #[inline(always)]
    pub(crate) fn copy_to(&self, slot: &mut Value) {
        match *self {
            Value::Bool(value) => Value::Bool(value).put_in(slot),
            Value::Int(value) => Value::Int(value).put_in(slot),
            Value::Variant { ty, variant } => Value::Variant { ty, variant }.put_in(slot),
            ref other => other.clone().put_in(slot),
        }
    }

    /// Returns a hash by which the machine tells values apart.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.hash()
    }

    /// Returns the hash of the value; constant time.
    #[inline]
    pub(crate) fn hash(&self) -> u128 {
        let pair = |ty: u16, variant: u16| (u64::from(ty) << 16) | u64::from(variant);
        match self {
            Value::Null => mix::number(kind::SIMPLE, 0),
            Value::Bool(value) => mix::number(kind::SIMPLE, 1 + u64::from(*value)),
            Value::Int(value) => mix::number(kind::INT, *value as u64),
            Value::Index { of, member } => mix::number(kind::INDEX, pair(*of, *member)),
            Value::Variant { ty, variant } => mix::number(kind::VARIANT, pair(*ty, *variant)),
            Value::VariantInt { ty, variant, value } => {
                let payload = mix::number(kind::VARIANT_INT, *value as u64);
                mix::mix(pair(*ty, *variant), payload)
            }
            Value::Obj(object) => mix::number(kind::OBJ, u64::from(*object)),
            Value::Handle(handle) => mix::number(kind::HANDLE, u64::from(live_handle(*handle))),
            Value::Str(text) => text.hash(),
            Value::List(seq) => seq.hash(kind::LIST),
            Value::Set(set) => set.hash(),
            Value::Map(map) => map.hash(),
            Value::Record(seq) => seq.hash(kind::RECORD),
            Value::VariantOf(seq) => seq.hash(kind::VARIANT_OF),
            Value::Func(seq) => seq.hash(kind::FUNC),
        }
    }

    /// Returns whether the value contains an object or a live handle; constant time.
    #[inline]
    pub(crate) fn has_refs(&self) -> bool {
        match self {
            Value::Obj(_) => true,
            Value::Handle(handle) => *handle != 0,
            _ => self.meta().is_some_and(|meta| meta.refs > 0),
        }
    }

    /// Returns whether the value contains an index, or a list that an index type numbers. Constant
    /// time.
    #[inline]
    pub(crate) fn has_indices(&self) -> bool {
        match self {
            Value::Index { .. } => true,
            Value::List(s) if s.ty != 0 => true,
            _ => self.meta().is_some_and(|meta| meta.indices > 0),
        }
    }

    /// Returns the index as the key of an element: lists are keyed by position, by whatever they
    /// are indexed.
    #[inline]
    pub(crate) fn key_in(&self, container: &Value) -> Value {
        match (container, self) {
            (Value::List(_), Value::Index { member, .. }) => Value::Int(i64::from(*member)),
            _ => self.clone(),
        }
    }

    /// Returns whether the value contains an object or a handle, live or ended. Linear in it.
    pub(crate) fn holds_refs(&self) -> bool {
        self.has_refs() || self.holds_handle()
    }

    /// Returns whether the value contains a handle, live or ended. Linear in it.
    pub(crate) fn holds_handle(&self) -> bool {
        match self {
            Value::Handle(_) => true,
            // Elements of sets have an order, so they hold no handles.
            Value::Set(_) => false,
            _ => self.children().any(Value::holds_handle),
        }
    }

    /// Calls `each` with all handles in the value, live or ended. Linear in what has handles or
    /// objects.
    pub(crate) fn each_handle(&self, each: &mut impl FnMut(u32)) {
        if !self.has_refs() {
            return;
        }
        match self {
            Value::Handle(handle) => each(*handle),
            _ => self.children().for_each(|child| child.each_handle(each)),
        }
    }

    /// Returns the number of values in it, including itself; constant time.
    #[inline]
    pub(crate) fn nodes(&self) -> u32 {
        match self {
            Value::Str(text) => 1 + (text.as_str().len() / 16) as u32,
            _ => self.meta().map_or(1, |meta| meta.nodes),
        }
    }

    /// Returns how deep containers nest in it, 0 for a value that is none; constant time.
    #[inline]
    pub(crate) fn depth(&self) -> u16 {
        self.meta().map_or(0, |meta| meta.depth)
    }

    /// Returns the summary of a container.
    #[inline]
    fn meta(&self) -> Option<&Meta> {
        match self {
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                Some(&s.meta)
            }
            Value::Set(set) => Some(&set.meta),
            Value::Map(map) => Some(&map.meta),
            _ => None,
        }
    }

    /// Returns the values that a container holds directly, keys of maps included.
    #[inline]
    pub(crate) fn children(&self) -> impl Iterator<Item = &Value> {
        let (items, entries): (&[Value], &[(Value, Value)]) = match self {
            Value::List(s) | Value::Record(s) | Value::VariantOf(s) | Value::Func(s) => {
                (s.items(), &[])
            }
            Value::Set(set) => (set.items(), &[]),
            Value::Map(map) => (&[], map.entries()),
            _ => (&[], &[]),
        };
        items.iter().chain(entries.iter().flat_map(|(key, value)| [key, value]))
    }

    /// Returns the element of a list or map, by index or key.
    #[inline]
    pub(crate) fn element(&self, index: &Value) -> Option<&Value> {
        match (self, index) {
            (Value::List(list), Value::Int(at)) => list.items().get(usize::try_from(*at).ok()?),
            (Value::Map(map), key) => map.get(key),
            _ => None,
        }
    }

    /// Sets an element of a list or map, by index or key. Returns false if there is none to set: a
    /// list does not grow.
    pub(crate) fn set_element(&mut self, index: &Value, value: Value) -> bool {
        match (self, index) {
            (Value::List(list), Value::Int(at)) => match usize::try_from(*at) {
                Ok(at) if at < list.items().len() => {
                    Arc::make_mut(list).set(at, value);
                    true
                }
                _ => false,
            },
            (Value::Map(map), key) => {
                Arc::make_mut(map).set(key.clone(), value);
                true
            }
            _ => false,
        }
    }

    /// Returns the elements of a list or map, by index or key.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (Value, &Value)> {
        let (items, entries): (&[Value], &[(Value, Value)]) = match self {
            Value::List(list) => (list.items(), &[]),
            Value::Map(map) => (&[], map.entries()),
            _ => (&[], &[]),
        };
        let entries = entries.iter().map(|(key, value)| (key.clone(), value));
        (0..).map(Value::Int).zip(items).chain(entries)
    }

    /// Returns the number of elements of a list, a set or a map.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Value::List(list) => Some(list.items().len()),
            Value::Set(set) => Some(set.items().len()),
            Value::Map(map) => Some(map.entries().len()),
            _ => None,
        }
    }

    /// Returns the name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Index { .. } => "index",
            Value::Variant { .. } | Value::VariantInt { .. } | Value::VariantOf(_) => "enum value",
            Value::Obj(_) => "object",
            Value::Handle(_) => "task handle",
            Value::Str(_) => "str",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::Map(_) => "map",
            Value::Record(_) => "record",
            Value::Func(_) => "function",
        }
    }
}

#[inline(never)]
fn drop_large(value: Value) {
    drop(value);
}
