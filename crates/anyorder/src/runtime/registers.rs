//! Atomics without room for a number: by their addresses.

use super::arena;
use super::core::{self, Core};
use super::names::Place;
use super::place::is_static;
use super::slot::About;
use anyorder_threads::{Object, ObjectId};
use rustc_hash::FxHashMap;
use std::panic::Location;

/// The registers of an execution, by address.
#[derive(Default)]
pub(super) struct Registers(FxHashMap<usize, Register>);

struct Register {
    object: ObjectId,
    /// The value that it left in memory.
    bits: u64,
    /// Whether it keeps nothing in memory: what is there is the value at the start of executions.
    is_fixed: bool,
}

impl Registers {
    pub(super) fn forget(&mut self, address: usize) {
        self.0.remove(&address);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Returns the object at an address where memory has a value; one that begins with `at_first` if
/// that is new. No number outside of checks.
pub(crate) fn register_at(
    address: usize,
    bits: u64,
    at_first: impl FnOnce() -> Object,
    (type_name, used): (fn() -> &'static str, &'static Location<'static>),
) -> ObjectId {
    let object = core::with(|core| {
        let known = core.state.borrow().registers.0.get(&address).and_then(|register| {
            (register.is_fixed || register.bits == bits).then_some(register.object)
        });
        let object = known.unwrap_or_else(|| {
            let about = About { type_name: Some(type_name), made: used, is_use: true };
            core.register(address, bits, at_first(), about)
        });
        core.note_address(object, address);
        object
    });
    object.unwrap_or(ObjectId::NONE)
}

/// Notes the value of the register at an address. Returns whether memory is to have it, too.
pub(crate) fn keep_at(address: usize, bits: u64) -> bool {
    let is_kept = core::with(|core| {
        let state = &mut *core.state.borrow_mut();
        state.registers.0.get_mut(&address).is_some_and(|register| {
            register.bits = bits;
            !register.is_fixed
        })
    });
    is_kept == Some(true)
}

/// Ends the register at an address: its value is in memory.
pub(crate) fn leave(address: usize) {
    core::with(|core| core.state.borrow_mut().registers.forget(address));
}

/// Ends the atomic at an address, with what is in memory.
pub(crate) fn end_at(address: usize) {
    core::with(|core| core.end(address));
}

impl Core {
    fn register(&self, address: usize, bits: u64, at_first: Object, about: About) -> ObjectId {
        let is_fixed = match self.place_of(address) {
            // What was made before the executions, for all of them.
            Place::Fixed(_) => true,
            Place::First(..) => is_static(address),
            // What was made in an earlier one: an execution that is not run to its end, or waits
            // without end, must not change what the next one begins with.
            Place::Heap(..) => arena::is_of_earlier_execution(address),
            _ => false,
        };
        let object = self.find(address, at_first, about);
        let register = Register { object, bits, is_fixed };
        self.state.borrow_mut().registers.0.insert(address, register);
        object
    }
}
