//! The body of a method or closure while it is compiled: its variables, loops and `finally` blocks.

use super::native::Task;
use super::platform::Platform;
use super::{Code, UnitId, prelude};
use crate::ast::{Block, TypeName};
use anyorder_program::{Label, Literal, Op, Reg};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) reg: Reg,
    /// The register has a cell, because closures share the variable and something assigns it.
    pub(super) shared: bool,
    pub(super) typed: Option<TypeName>,
}

/// What `break` and `continue` leave.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) labels: Vec<String>,
    pub(super) end: Label,
    /// Where the next round begins; `None` for `switch`.
    pub(super) next: Option<Label>,
    /// How many `finally` blocks are around it.
    pub(super) finals: usize,
}

/// A `finally` block that is left through.
#[derive(Clone, Debug)]
pub(super) struct Final {
    pub(super) block: Rc<Block>,
    /// How many traps are around its `try`.
    pub(super) traps: usize,
}

/// A body.
pub(super) struct Body<'b> {
    pub(super) code: Code<'b>,
    pub(super) platform: &'b mut dyn Platform,
    pub(super) unit: UnitId,
    pub(super) scope: Vec<Variable>,
    /// Names of variables that closures share and something assigns.
    pub(super) shared: Rc<BTreeSet<String>>,
    pub(super) loops: Vec<Loop>,
    pub(super) finals: Vec<Final>,
    pub(super) result: Option<TypeName>,
}

impl<'b> Body<'b> {
    pub(super) fn new(
        mut code: Code<'b>,
        platform: &'b mut dyn Platform,
        unit: UnitId,
        shared: Rc<BTreeSet<String>>,
    ) -> Body<'b> {
        code.set_unit(unit);
        let (scope, loops, finals) = (Vec::new(), Vec::new(), Vec::new());
        Body { code, platform, unit, scope, shared, loops, finals, result: None }
    }

    /// Returns whether this is the run-time library, whose operators are those of the machine.
    pub(super) fn is_library(&self) -> bool {
        self.unit == prelude::UNIT
    }

    /// Records that something is not understood here; returns what stands for it.
    pub(super) fn gap(&mut self, what: &str) -> Reg {
        self.code.gap(&mut *self.platform, what)
    }

    /// Declares a variable with its first value, in a register that is new.
    pub(super) fn declare(&mut self, name: &str, typed: Option<TypeName>, value: Reg) {
        let shared = self.shared.contains(name);
        let reg = match shared {
            true => {
                let class = self.code.kinds().cell;
                self.code.value(|dst| Op::New { dst, class, args: value })
            }
            false => value,
        };
        if !self.is_library() {
            self.code.local(reg, name);
        }
        self.scope.push(Variable { name: name.to_owned(), reg, shared, typed });
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Variable> {
        self.scope.iter().rev().find(|one| one.name == name)
    }

    /// Reads a variable. The register may be that of the variable itself.
    pub(super) fn read_variable(&mut self, name: &str) -> Option<Reg> {
        let Variable { reg, shared, .. } = *self.variable(name)?;
        if !shared {
            return Some(reg);
        }
        let class = self.code.kinds().cell;
        Some(self.code.value(|dst| Op::GetField { dst, object: reg, class, field: 0 }))
    }

    /// Assigns a variable; returns whether there is one.
    pub(super) fn write_variable(&mut self, name: &str, value: Reg) -> bool {
        let Some(Variable { reg, shared, typed, .. }) = self.variable(name).cloned() else {
            return false;
        };
        let value = match &typed {
            Some(typed) => self.cast(value, typed, false),
            None => value,
        };
        if shared {
            let class = self.code.kinds().cell;
            self.code.emit(Op::SetField { object: reg, class, field: 0, src: value });
        } else {
            self.code.set(reg, value);
        }
        true
    }

    /// Calls a native function; its exceptions are passed on.
    pub(super) fn native(&mut self, task: Task, arguments: &[Reg]) -> Reg {
        let result = native(&mut self.code, task, arguments);
        self.code.pass_on(result);
        result
    }

    pub(super) fn literal(&mut self, literal: Literal) -> Reg {
        self.code.constant(literal)
    }
}

/// Calls a native function. The result may be an outcome.
pub(super) fn native(code: &mut Code<'_>, task: Task, arguments: &[Reg]) -> Reg {
    let (natives, builder, kinds) = code.lowering().natives();
    let native = natives.get(builder, kinds, task);
    let dst = code.temp();
    let args = code.row(arguments);
    code.emit(Op::Native { dst, native, args });
    dst
}
