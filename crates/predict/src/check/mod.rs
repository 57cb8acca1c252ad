//! From candidates to findings: chooses the pairs to try, collects their results, and describes
//! each group.
//!
//! The engine's candidates are pairs of events. [`check()`] passes them to a search for witnesses,
//! one pair of each group in turn, and builds findings of the groups. On small traces it also tries
//! the pairs that the engine ordered. It prints nothing and knows no format: witnesses are lists of
//! events.

pub use candidate::{Candidate, CandidateList};
pub use category::Category;
pub use driver::{Checked, Found, Subject, check, check_unconfirmed};
pub use facts::Facts;
pub use findings::{UNDECIDED, form_words};
pub use left_open::Order;
pub use options::{CheckOptions, Pairs};
pub use statistics::Statistics;
pub use tries::{Confirms, PairResult};

mod candidate;
mod category;
mod driver;
mod event_names;
mod facts;
mod findings;
mod groups;
mod hints;
mod left_open;
mod missed;
mod options;
mod pairs;
mod statistics;
mod tries;
mod witness_store;
mod words;
