//! `android`: traces of any size in the shape of Android applications.
//!
//! One looper, `ui`, gets most messages. Workers post to it and to one another; messages post
//! further ones, often several at once. Most accesses go to variables that one message uses alone,
//! a small share to variables that many messages use. The application consists of *groups* that
//! share nothing but the looper: each has its own workers, messages and variables. So messages of
//! different groups on the looper are unordered (except a few that the looper posts to itself while
//! it starts). With two groups or more, a checker has to order about `m^2 / 8` pairs or more in a
//! trace of `m` messages.
//!
//! With `p` posted messages and `h` handlers there are `p + h` messages: every handler has an
//! initial message with events. Traces of a FIFO run are consistent.

use crate::draft::Draft;
use crate::error::GenerateError;
use crate::family::Family;
use crate::generate::{checked_size, generate};
use crate::request::Request;
use anyorder_trace::Trace;
use plan::{Plan, Shape};

pub use paper_rows::{PAPER_ROWS, PaperRow};

mod paper_rows;
mod plan;
mod run;

/// The default share of accesses to shared variables.
const SHARE: f64 = 0.02;

/// The default number of events per message.
const EVENTS_PER_MESSAGE: u64 = 100;

/// Makes a consistent trace with exactly these numbers of events, messages (initial ones included)
/// and handlers.
///
/// ```
/// use anyorder_generate::{Counts, PAPER_ROWS, generate_sized};
///
/// let counts = PAPER_ROWS[0].counts;
/// let trace = generate_sized(counts.events, counts.messages, counts.handlers, 1)?;
/// assert_eq!(Counts::of(&trace), counts);
/// # Ok::<(), anyorder_generate::GenerateError>(())
/// ```
///
/// # Errors
///
/// Fails when there are fewer messages than handlers, when there are too few events (a post and a
/// get per posted message, one event per handler), or when there are more than one trace may have.
pub fn generate_sized(
    events: u64,
    messages: u64,
    handlers: u64,
    seed: u64,
) -> Result<Trace, GenerateError> {
    generate(&Request {
        messages: Some(messages),
        handlers: Some(handlers),
        seed,
        ..Request::new(Family::Android, events)
    })
}

/// Makes the draft of a request.
pub(crate) fn draft_of(request: &Request) -> Result<Draft, GenerateError> {
    let shape = shape(request)?;
    Ok(run::record(&Plan::new(shape, request.seed), request.mailbox, request.seed))
}

fn shape(request: &Request) -> Result<Shape, GenerateError> {
    let events = u64::from(checked_size(request, 20, |size| size)?);
    let range = |what, from: u64, to: u64, found: u64| {
        if (from..=to).contains(&found) {
            return Ok(());
        }
        Err(GenerateError::out_of_range(what, format!("from {from} to {to}"), found))
    };
    // A posted message has a post and a get, and every handler an access.
    let messages = match (request.messages, request.handlers) {
        (Some(messages), _) => messages,
        (None, handlers) => {
            let least = handlers.unwrap_or(4).saturating_mul(3);
            (events / EVENTS_PER_MESSAGE).max(least.min(events / 2))
        }
    };
    range("the number of messages", 1, events, messages)?;
    let handlers = request.handlers.unwrap_or_else(|| (messages / 16).clamp(4, 16).min(messages));
    range("the number of handlers", 1, messages, handlers)?;
    let posted = messages - handlers;
    let least = 2 * posted + handlers;
    if events < least {
        let family = Family::Android.name();
        return Err(GenerateError::TooSmall { family, size: events, least });
    }
    let workers = handlers - 1;
    let groups = request.groups.unwrap_or_else(|| workers.clamp(1, 2));
    range("the number of groups", 1, workers.max(1), groups)?;
    let share = request.share.unwrap_or(SHARE);
    if !(0.0..=1.0).contains(&share) {
        return Err(GenerateError::out_of_range(
            "the part of shared accesses",
            "from 0 to 1",
            share,
        ));
    }
    let (posted, handlers, groups) = (posted as u32, handlers as u32, groups as u32);
    Ok(Shape { accesses: (events - 2 * u64::from(posted)) as u32, posted, handlers, groups, share })
}
