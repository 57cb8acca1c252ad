//! A small deterministic machine for programs of handlers, tasks, events and threads.
//!
//! This crate decides what a program means, step by step: it runs register bytecode on states that are values, cheap to copy, in
//! canonical form, with a fingerprint that costs next to nothing to keep. It knows no language and no search: a compiler makes a
//! [`Program`](program::Program), an engine explores a [`Machine`] as a `StateSystem`, or a [`MachineRun`] as a `TaskSystem`.
//!
//! What it guarantees: the same program, the same transitions, in the same order, on every machine and thread; no program that
//! [`Program::validate`](program::Program::validate) passes makes it panic; equal states have equal bytes and fingerprints, and behave the same;
//! every failure of the program is a result with its source position. Nothing runs for ever: steps, sizes and depths have limits.
//!
//! ```
//! use anyorder_system::StateSystem;
//! use anyorder_vm::Machine;
//! use anyorder_vm::program::{Literal, Op, ProgramBuilder};
//!
//! let mut b = ProgramBuilder::new("once");
//! let x = b.global("x", Literal::Int(0));
//! let mut f = b.function("click", 0);
//! let r = f.reg();
//! f.emit(Op::Int { dst: r, value: 1 });
//! f.emit(Op::SetGlobal { global: x, src: r });
//! let body = b.add(f);
//! b.event("click", body);
//!
//! let machine = Machine::new(b.finish()?)?;
//! let start = machine.initial().remove(0);
//! let mut next = Vec::new();
//! machine.successors(&start, &mut next);
//! assert_eq!(machine.show(&next[0].state), [("x".to_owned(), "1".to_owned())]);
//! # Ok::<(), anyorder_vm::program::ProgramError>(())
//! ```

pub use machine::Machine;
#[doc(hidden)]
pub use machine::Switches;
pub use state::State;
pub use system::{MachineFactory, MachineRun, PathWords, Reason, Waiting, Write};
pub use value::{Map, Seq, Set, Text, Value};
pub use walk::Action;

pub mod program;

#[doc(hidden)]
pub mod testing;

mod value;

mod machine;

mod state;

mod step;

mod walk;

mod system;

#[cfg(test)]
mod tests;
