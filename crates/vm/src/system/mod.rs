//! The traits of the engines, for the machine.

pub use self::async_run::AsyncRun;
pub use self::changes::{NewTask, PlaceChange};
pub use self::lone::{
    Attempt, Ended, LoneCall, LoneThread, Lonely, Misfit, RealThread, SharedPlace, Sync, Wait, Way,
};
pub use self::name::{Detail, Name};
pub use self::path_words::{PathWords, StepFacts};
pub use self::tasks::{MachineFactory, MachineRun};
pub use self::waiting_places::WaitingPlace;
pub use self::waits::{Reason, Waiting};
pub use self::words::StepPlace;

mod async_run;

mod states;

mod runners;

pub(crate) mod words;

mod parts;

mod changes;

mod path_words;

mod tasks;

mod name;
mod names;

mod accesses;
mod actors;

mod awaited;

mod shadows;

mod observe;

mod waiting_places;

mod waits;

mod reduced;

mod growth;

mod lone;

pub use self::reduced::{Transition, Write};
