//! Models: how they are recognised, made ready, searched, and how their runs are told.

pub(crate) use detect::is_model;
pub(crate) use finding::report;
pub(crate) use load::{Model, load, load_text, read, refused, text_of};
pub(crate) use replay::{Replayed, replay};
pub(crate) use search::{failure, limit_word, never_run, search, stats};
pub(crate) use steps::run_of;
pub(crate) use stored::{Stored, read_schedules};
pub(crate) use witness::{Replay, place, quote};

mod detect;

mod load;

mod search;

mod steps;

mod schedule;

mod finding;

mod witness;

mod stored;

mod replay;
