//! Reduced search over states.

pub use engine::explore;
pub use error::Error;
pub use options::Options;
pub use outcome::{Finding, Graph, Limit, Outcome, Path, Property, Stats, Step};
#[doc(hidden)]
pub use sabotage::Sabotage;

// What is asked and answered.
mod error;
mod options;
mod outcome;

// What is known of tasks.
mod bits;
mod footprints;
mod interned;
mod knowledge;
mod numbering;

// What is known of states.
mod components;
mod space;
mod table;
mod ways;

// The search.
mod commit;
mod conclude;
mod engine;
mod expand;
mod found;
mod recheck;
mod sabotage;
mod seeds;
mod updates;
