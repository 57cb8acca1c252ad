//! Prediction for users: a trace is read, an analysis gives candidates, a search tries them, and each witness is checked again by
//! the crate that does not know the search.

pub(crate) use again::{Again, again};
pub(crate) use beside_hb::{beside_hb, last_of};
pub(crate) use load::{Loaded, load, types_of};
pub(crate) use question::{Analysis, Known, Question, predict, predict_stream};
pub(crate) use stored::{FORMAT, place};
pub(crate) use ties::tie_findings;
pub(crate) use told::{Shape, run_of};

mod load;

mod question;

mod search;

mod calls;

mod stored;

mod ties;

mod told;

mod again;

mod beside_hb;
