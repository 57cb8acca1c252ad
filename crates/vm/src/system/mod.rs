//! The machine as what engines explore.

pub use self::path_words::PathWords;
pub use self::tasks::{MachineFactory, MachineRun};

mod states;

pub(crate) mod words;

mod path_words;

mod tasks;

mod names;

mod accesses;

mod awaited;

mod shadows;

mod observe;

mod reduced;

pub(crate) use self::reduced::ReducedTables;
