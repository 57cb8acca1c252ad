//! Robustness of programs that can be run.
//!
//! `decide` puts the answers together. `serial` has the outcomes of serial runs, `kept` keeps them
//! in little memory, `states` searches all states for another one. For conflicts, `sim` runs events
//! one after another, in the order of the single-thread semantics, and lets invocations stop
//! half-way; `linear` finds the run of the multi-thread semantics that such a run stands for;
//! `taint` tells early that there is none; `pivot` searches for violations. `ids` numbers what
//! a run consists of. `alone` and `overlap`
//! enumerate interleavings, `tree` has the tasks of a run and their reference order, and `history`
//! judges a run by the definitions.

pub use self::decide::{
    Answer, Conflicts, INIT_EVENT, Outcomes, ShownRun, conflicts, outcomes, shown_by,
};
pub use self::options::Options;
pub use self::pivot::{Checked, Property, Violation, check};
pub use self::run::RunStep;
pub use self::serial::{SerialOutcome, SerialOutcomes};
pub use self::states::{Divergence, Outcome, Searched, Strange, Views, diverging};

mod alone;
mod decide;
mod history;
mod ids;
mod kept;
mod linear;
mod mailboxes;
mod mirror;
mod options;
mod overlap;
mod pivot;
mod reach;
mod run;
mod serial;
mod sim;
mod states;
mod taint;
mod tree;
