//! From candidates to groups: chooses the pairs to try, collects their results, and says what each
//! group shows.
//!
//! The engine's candidates are pairs of events. [`check()`] passes them to a search for witnesses,
//! one pair of each group in turn, and describes the groups. On small traces it also tries
//! the pairs that the engine ordered. It prints nothing and knows no format: witnesses are lists of
//! events.

pub use candidate::{Candidate, CandidateList};
pub use category::{Category, method};
pub use driver::{Checked, Subject, check, check_unconfirmed};
pub use facts::{Fact, Facts, Held, common_locks};
pub use found::{Evidence, Found};
pub use left_open::Order;
pub use objects::{object, object_without_instance};
pub use options::{CheckOptions, Cut, Pairs};
pub use signals::Loss;
pub use statistics::Statistics;
pub use tries::{Confirms, PairResult, SHARE};

mod candidate;
mod category;
mod driver;
mod event_names;
mod facts;
mod found;
mod groups;
mod left_open;
mod objects;
mod options;
mod pairs;
mod signals;
mod statistics;
mod tries;
mod witness_store;
