//! Models: how they are recognised, made ready, searched, and how their runs are told.

pub(crate) use detect::is_model;
pub(crate) use finding::{Reported, SHOWS, explanation, report, witness};
pub(crate) use load::{Model, load, load_text, read, refused, text_of};
pub(crate) use reduced::{Engine, Question, Reduced, full_because, full_states, reduced};
pub(crate) use replay::{Replayed, alike, replay};
pub(crate) use schedule::choices_of;
pub(crate) use search::{failure, limit_word, never_run, search, stats};
pub(crate) use steps::{End, place_in, run_of};
pub(crate) use stored::{SCHEDULE_BYTES_MAX, Stored, schedules_of};
pub(crate) use updates::{Conflict, conflicts_of, is_conflict, report_conflicts, site_of_step};
pub(crate) use witness::{Replay, place, place_for, quote};

mod detect;

mod load;

mod search;

mod reduced;

mod updates;

mod growth;

mod elements;

mod stuck;

mod progress;

mod kept;

mod steps;

mod schedule;

mod finding;

mod witness;

mod stored;

mod replay;
