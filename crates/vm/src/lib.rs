//! A small deterministic virtual machine for programs of handlers, tasks, events and threads.
//!
//! The crate defines what a program does, step by step. It runs register bytecode on states. A
//! state is a value: it is cheap to copy, it is in canonical form, and each write updates its
//! fingerprint. The crate knows no language and no search. A compiler makes a
//! [`Program`](program::Program); an engine explores a [`Machine`] as a `StateSystem` or a
//! [`MachineRun`] as a `TaskSystem`.
//!
//! **Guarantees.** A program has the same transitions in the same order on every computer and in
//! every thread. A program that passes [`Program::validate`](program::Program::validate) cannot
//! make the machine panic. Equal states have equal bytes and fingerprints, and behave the same.
//! Every failure of the program is a result with its source position. Every step ends: its
//! instructions, sizes and depths have limits. A job can be stopped inside a step, which then has
//! no result: see [`JobWatch`](anyorder_system::JobWatch).
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
//!
//! Modules in reading order, each of which uses only those before it: [`program`] is what a
//! compiler produces. `value` has values, `poll` lets a job be stopped. `machine` is a program
//! ready to run, and what can be known of it without a state. `state` has states, `step` is the
//! interpreter, `transitions` finds and runs the steps of a state, and `system` implements the
//! traits of the engines.

#![forbid(unsafe_code)]

// The tests of `system` name the crate as its users do.
#[cfg(test)]
extern crate self as anyorder_vm;

pub use anyorder_program as program;
pub use machine::Machine;
pub use state::State;
pub use system::{
    AsyncRun, Attempt, Detail, Ended, LoneCall, LoneThread, Lonely, MachineFactory, MachineRun,
    Misfit, Name, NewTask, PathWords, PlaceChange, RealThread, Reason, SharedPlace, StepFacts,
    StepPlace, Sync, Transition, Wait, Waiting, WaitingPlace, Way, Write,
};
pub use transitions::Action;
pub use value::{Map, Seq, Set, Text, Value};

mod machine;
mod poll;
mod sabotage;
mod state;
mod step;
mod system;
mod transitions;
mod value;

#[cfg(test)]
mod tests;
