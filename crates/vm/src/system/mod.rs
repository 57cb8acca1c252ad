//! The machine as what engines explore.

pub use self::tasks::{MachineFactory, MachineRun};

mod states;

mod words;

mod tasks;

mod names;

mod accesses;

mod observe;
