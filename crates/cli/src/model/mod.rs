//! Models: how they are recognised, made ready, searched, and how their runs are told.

pub(crate) use detect::is_model;
pub(crate) use finding::{Reported, explanation, failure as failure_finding, report, witness};
pub(crate) use load::{Model, load, load_text, read, refused, text_of};
pub(crate) use reduced::{Question, Reduced, full_because, reduced};
pub(crate) use replay::{Replayed, replay};
pub(crate) use search::{failure, limit_word, never_run, search, stats};
pub(crate) use steps::{End, run_of};
pub(crate) use stored::{SCHEDULE_BYTES_MAX, Stored, schedules_of};
pub(crate) use updates::{Conflict, report_conflicts};
pub(crate) use witness::{Replay, place, quote};

mod detect;

mod load;

mod search;

mod observed;

mod reduced;

mod updates;

mod progress;

mod kept;

mod steps;

mod schedule;

mod finding;

mod witness;

mod stored;

mod replay;
