//! Parts of shared memory that are read and written apart.

use super::fit::code_of_threads;
use crate::program::{Op, Program};
use crate::state::State;
use crate::step::{LoggedAccess, LoggedPlace};
use crate::value::Value;
use anyorder_system::AccessKind;
use rustc_hash::{FxHashMap, FxHashSet};

/// A part of shared memory.
///
/// Elements of a list are places of their own where threads write elements and never the whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SharedPlace {
    /// A global.
    Global(u16),
    /// An element of the list in a global.
    GlobalAt(u16, u32),
    /// A field of an object, by the object's number.
    Field(u32, u16),
    /// An element of the list in a field.
    FieldAt(u32, u16, u32),
}

impl SharedPlace {
    /// Returns its value in a state.
    pub(super) fn in_state(self, state: &State) -> Option<&Value> {
        let field = |object: u32, field: u16| {
            state.object(object).and_then(|object| object.fields.get(usize::from(field)))
        };
        match self {
            SharedPlace::Global(global) => Some(state.global(usize::from(global))),
            SharedPlace::GlobalAt(global, at) => {
                state.global(usize::from(global)).element(&Value::Int(i64::from(at)))
            }
            SharedPlace::Field(object, number) => field(object, number),
            SharedPlace::FieldAt(object, number, at) => {
                field(object, number)?.element(&Value::Int(i64::from(at)))
            }
        }
    }

    /// Sets its value in a state.
    pub(super) fn set(self, state: &mut State, value: &Value) {
        match self {
            SharedPlace::Global(global) => state.set_global(usize::from(global), value.clone()),
            SharedPlace::GlobalAt(global, at) => {
                state.set_element(usize::from(global), at as usize, value);
            }
            SharedPlace::Field(object, number) => {
                state.change_field(object, usize::from(number), |slot| *slot = value.clone());
            }
            SharedPlace::FieldAt(object, number, at) => {
                let index = Value::Int(i64::from(at));
                state.change_field(object, usize::from(number), |slot| {
                    slot.set_element(&index, value.clone())
                });
            }
        }
    }
}

/// The lists whose elements are places of their own, with their lengths.
#[derive(Debug, Default)]
pub(super) struct Containers {
    globals: FxHashMap<u16, u32>,
    fields: FxHashMap<(u32, u16), u32>,
}

impl Containers {
    pub(super) fn of(program: &Program, base: &State) -> Containers {
        let (mut globals, mut fields) = (FxHashSet::default(), FxHashSet::default());
        let (mut whole_globals, mut whole_fields) = (FxHashSet::default(), FxHashSet::default());
        for op in code_of_threads(program) {
            match *op {
                Op::SetGlobalAt { global, .. } => _ = globals.insert(global.0),
                Op::SetGlobal { global, .. } => _ = whole_globals.insert(global.0),
                Op::SetFieldAt { class, field, .. } => _ = fields.insert((class.0, field)),
                Op::SetField { class, field, .. } => _ = whole_fields.insert((class.0, field)),
                Op::SetMember { name, .. } => {
                    for (class, number) in program.classes.iter().zip(0..) {
                        let named = class.fields.iter().zip(0..);
                        let named = named.filter(|(field, _)| **field == name);
                        whole_fields.extend(named.map(|(_, field)| (number, field)));
                    }
                }
                _ => {}
            }
        }
        let length = |value: &Value| match value {
            Value::List(list) => u32::try_from(list.items().len()).ok(),
            _ => None,
        };
        let globals = globals.difference(&whole_globals);
        let globals = globals
            .filter_map(|global| Some((*global, length(base.global(usize::from(*global)))?)));
        let mut containers = Containers { globals: globals.collect(), ..Containers::default() };
        for (object, number) in base.heap().iter().zip(1..) {
            for (value, field) in object.fields.iter().zip(0..) {
                let key = (object.class, field);
                if let (true, false, Some(length)) =
                    (fields.contains(&key), whole_fields.contains(&key), length(value))
                {
                    containers.fields.insert((number, field), length);
                }
            }
        }
        containers
    }

    /// Calls `each` with the places of an access to memory, and whether the access reads them and
    /// writes them. Returns false for an access to anything else.
    pub(super) fn places(
        &self,
        access: &LoggedAccess,
        numbers: &FxHashMap<u64, u32>,
        mut each: impl FnMut(SharedPlace, bool, bool),
    ) -> bool {
        let (length, whole) = match access.place {
            LoggedPlace::Global(global) => (self.globals.get(&global), SharedPlace::Global(global)),
            LoggedPlace::Field { uid, field, .. } => {
                let number = numbers.get(&uid).copied().unwrap_or(0);
                (self.fields.get(&(number, field)), SharedPlace::Field(number, field))
            }
            _ => return false,
        };
        let at = |index| match whole {
            SharedPlace::Field(object, field) => SharedPlace::FieldAt(object, field, index),
            SharedPlace::Global(global) => SharedPlace::GlobalAt(global, index),
            place => place,
        };
        let (reads, writes) = (access.kind != AccessKind::Write, access.kind != AccessKind::Read);
        match (length, &access.element) {
            (None, None) => each(whole, reads, writes),
            // A write of an element leaves the others as they are.
            (None, Some(_)) => each(whole, true, writes),
            (Some(length), Some(Value::Int(index))) => {
                // There is no place where there is no element.
                if let Ok(index) = u32::try_from(*index)
                    && index < *length
                {
                    each(at(index), reads, writes);
                }
            }
            (Some(length), _) => (0..*length).for_each(|index| each(at(index), reads, writes)),
        }
        true
    }
}
