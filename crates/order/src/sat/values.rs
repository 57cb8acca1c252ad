//! The current assignment: values, decision levels, reasons and the trail.

use super::arena::ClauseRef;
use super::lit::{Lit, Var};

/// The value of a literal under the current assignment.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Value {
    /// The literal is false.
    False,
    /// The literal is true.
    True,
    /// Its variable has no value.
    Open,
}

/// Why a variable has its value, in 32 bits.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) struct Reason(u32);

impl Reason {
    /// A decision, an assumption or a unit clause.
    pub(super) const NONE: Reason = Reason(u32::MAX);
    /// The theory implied it and was not asked for the reason yet.
    pub(super) const THEORY: Reason = Reason(u32::MAX - 1);

    pub(super) fn from_clause(clause: ClauseRef) -> Reason {
        Reason(clause.0)
    }

    /// Returns the clause that gave the value, when one did.
    pub(super) fn clause(self) -> Option<ClauseRef> {
        (self.0 < Reason::THEORY.0).then_some(ClauseRef(self.0))
    }
}

/// Meaningful only while the variable has a value.
#[derive(Copy, Clone)]
pub(super) struct Slot {
    pub(super) reason: Reason,
    pub(super) level: u32,
    /// The position on the trail.
    pub(super) position: u32,
}

/// The values of all variables, as a [`Theory`](super::Theory) sees them.
pub struct Values {
    /// By literal.
    pub(super) values: Vec<Value>,
    /// By variable.
    pub(super) slots: Vec<Slot>,
    /// The true literals in order of assignment.
    pub(super) trail: Vec<Lit>,
    /// For each decision level from 1 on, how long the trail was when it began.
    pub(super) starts: Vec<u32>,
}

impl Values {
    pub(super) fn new() -> Values {
        Values { values: Vec::new(), slots: Vec::new(), trail: Vec::new(), starts: Vec::new() }
    }

    /// Returns the value of the literal; open for a variable created in the current call.
    #[inline]
    pub fn value(&self, lit: Lit) -> Value {
        self.values.get(lit.index()).copied().unwrap_or(Value::Open)
    }

    /// Whether the literal is true.
    pub fn is_true(&self, lit: Lit) -> bool {
        self.value(lit) == Value::True
    }

    /// Whether the literal is false.
    pub fn is_false(&self, lit: Lit) -> bool {
        self.value(lit) == Value::False
    }

    /// Returns the position on the trail where the variable got its value, if it has one.
    pub fn position(&self, var: Var) -> Option<usize> {
        self.slot(var).map(|slot| slot.position as usize)
    }

    fn slot(&self, var: Var) -> Option<&Slot> {
        let open = self.value(Lit::new(var, true)) == Value::Open;
        if open { None } else { self.slots.get(var.index()) }
    }

    /// Returns the current decision level; 0 when nothing is decided or assumed.
    pub fn levels(&self) -> u32 {
        self.starts.len() as u32
    }

    pub(super) fn add_var(&mut self) {
        self.values.extend([Value::Open, Value::Open]);
        self.slots.push(Slot { reason: Reason::NONE, level: 0, position: 0 });
    }

    /// The level of a variable that has a value.
    #[inline]
    pub(super) fn level_of(&self, lit: Lit) -> u32 {
        self.slots[lit.var().index()].level
    }

    #[inline]
    pub(super) fn reason_of(&self, lit: Lit) -> Reason {
        self.slots[lit.var().index()].reason
    }

    /// Makes an open literal true.
    #[inline]
    pub(super) fn assign(&mut self, lit: Lit, reason: Reason) {
        debug_assert!(self.values[lit.index()] == Value::Open);
        self.values[lit.index()] = Value::True;
        self.values[lit.index() ^ 1] = Value::False;
        let position = self.trail.len() as u32;
        self.slots[lit.var().index()] = Slot { reason, level: self.starts.len() as u32, position };
        self.trail.push(lit);
    }

    /// Starts a decision level.
    pub(super) fn open_level(&mut self) {
        self.starts.push(self.trail.len() as u32);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.values.capacity()
            + size_of::<Slot>() * self.slots.capacity()
            + 4 * (self.trail.capacity() + self.starts.capacity())
    }
}
