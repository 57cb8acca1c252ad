//! Atomics without room for a number: by their addresses.

use super::arena;
use super::core::{self, Core};
use super::names::Place;
use super::place::is_static;
use super::slot::About;
use crate::runtime;
use anyorder_threads::{Act, MemoryOrder, Object, ObjectId, ThreadId};
use rustc_hash::FxHashMap;
use std::panic::Location;

/// The registers of an execution, by address.
#[derive(Default)]
pub(super) struct Registers(FxHashMap<usize, Register>);

struct Register {
    object: ObjectId,
    /// The value that it left in memory, and who did.
    bits: u64,
    by: ThreadId,
    type_name: fn() -> &'static str,
    /// Whether it keeps nothing in memory: what is there is the value at the start of executions.
    is_fixed: bool,
    /// Whether it was dropped: the next one there is another one. A use after its memory was freed
    /// is one of it.
    has_ended: bool,
}

impl Register {
    /// Whether an atomic with a value at its address is this one.
    fn is_at(&self, address: usize, bits: u64) -> bool {
        let is_there = !self.has_ended || arena::is_freed(address);
        is_there && (self.is_fixed || self.bits == bits)
    }
}

impl Registers {
    /// Notes that what is at an address was dropped.
    pub(super) fn end(&mut self, address: usize) {
        if let Some(register) = self.0.get_mut(&address) {
            register.has_ended = true;
        }
    }

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
        let known = core
            .state
            .borrow()
            .registers
            .0
            .get(&address)
            .and_then(|register| register.is_at(address, bits).then_some(register.object));
        let object = known.unwrap_or_else(|| {
            let about = About { type_name: Some(type_name), made: used, is_use: true };
            core.register(address, bits, at_first(), about)
        });
        core.note_address(object, address);
        object
    });
    object.unwrap_or(ObjectId::NONE)
}

/// Loads the atomics in some memory that other threads changed, before the running thread moves
/// them elsewhere: what it finds there it has seen.
pub(crate) fn see_before_move(address: usize, size: usize, at: &'static Location<'static>) {
    let moved = core::with(|core| {
        let state = &mut *core.state.borrow_mut();
        let current = state.current;
        let is_moved = |(from, register): &(&usize, &Register)| {
            let is_here = from.wrapping_sub(address) < size;
            is_here && register.by != current && !register.has_ended && !register.is_fixed
        };
        let registers = &mut state.registers.0;
        let mut moved: Vec<(usize, ObjectId)> =
            registers.iter().filter(is_moved).map(|(at, one)| (*at, one.object)).collect();
        moved.sort_unstable();
        moved.iter().for_each(|(at, _)| _ = registers.remove(at));
        moved
    });
    for (_, object) in moved.into_iter().flatten() {
        runtime::perform(object, Act::Load(MemoryOrder::Relaxed), at);
    }
}

/// Returns the object of an atomic that was moved to an address and is consumed there, where
/// another thread wrote its value: whoever consumes it has not seen that. It is the one with this
/// value and of this type; where there are several, the check is in doubt.
pub(crate) fn moved_register(
    address: usize,
    bits: u64,
    type_name: fn() -> &'static str,
) -> Option<ObjectId> {
    let moved = core::with(|core| {
        let state = &mut *core.state.borrow_mut();
        let (registers, current) = (&mut state.registers.0, state.current);
        if registers.get(&address).is_some_and(|here| here.is_at(address, bits)) {
            return None;
        }
        let name = type_name();
        let is_it = |register: &Register| {
            let is_like = register.bits == bits && !register.has_ended;
            let is_others = register.by != current && !register.is_fixed;
            is_like && is_others && (register.type_name)() == name
        };
        let found = registers.iter().filter(|(_, register)| is_it(register));
        let mut found: Vec<(ObjectId, usize)> = found.map(|(at, one)| (one.object, *at)).collect();
        found.sort_unstable();
        let (object, from) = *found.first()?;
        state.has_moved |= found.len() > 1;
        registers.remove(&from);
        Some(object)
    });
    moved.flatten()
}

/// Notes the value of the register at an address. Returns whether memory is to have it, too.
pub(crate) fn keep_at(address: usize, bits: u64) -> bool {
    let is_kept = core::with(|core| {
        let state = &mut *core.state.borrow_mut();
        state.registers.0.get_mut(&address).is_some_and(|register| {
            (register.bits, register.by) = (bits, state.current);
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
        let state = &mut *self.state.borrow_mut();
        let (by, type_name) = (state.current, about.type_name.unwrap_or(|| ""));
        let register = Register { object, bits, by, type_name, is_fixed, has_ended: false };
        state.registers.0.insert(address, register);
        object
    }
}
