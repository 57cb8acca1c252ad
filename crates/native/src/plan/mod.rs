//! Plans: which events of a native program wait for which others, so that a predicted run happens.
//!
//! A witness is an order of the recorded events in which two actions are reversed. A second run of
//! the program comes to it if some of its threads wait at the right places: [`holds`] computes
//! these from the witness. [`Operations`] names the events, so that the second run has them, and
//! [`Plan`] is what the runtime reads. `docs/formats/plan.md` describes the file.

mod clocks;
mod conflicts;
mod file;
mod holds;
mod make;
mod names;

pub use file::{Plan, PlannedEvent, Role, State, Status};
pub use holds::{Goal, GoalEnd, Hold, Moment, Operation, TooLong, goal_holds, holds};
pub use make::{Closeness, NoPlan, Planned, plan};
pub use names::{Name, Operations};
