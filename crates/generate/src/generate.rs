//! From a request to a trace.

use crate::draft::Draft;
use crate::error::GenerateError;
use crate::family::Family;
use crate::finish::{EVENTS_MAX, Layout, finish};
use crate::programs::{Buyers, ChangRoberts, Consensus, Counting, MessageLoop, SparseMatrix};
use crate::request::{Generated, Request};
use crate::simulator;
use anyorder_trace::Trace;

/// Makes the trace of a request, in time and memory linear in the number of its events.
///
/// ```
/// use anyorder_generate::{Counts, Family, Request, generate};
///
/// let trace = generate(&Request::new(Family::Counting, 4))?;
/// assert_eq!(Counts::of(&trace), Counts::new(443, 25, 5));
/// # Ok::<(), anyorder_generate::GenerateError>(())
/// ```
///
/// # Errors
///
/// Fails when the size or another number of the request is out of range. Sizes are checked before
/// memory is allocated.
pub fn generate(request: &Request) -> Result<Trace, GenerateError> {
    generate_with_run(request).map(|generated| generated.trace)
}

/// Makes the trace of a request, and the run from which it was recorded.
///
/// # Errors
///
/// Fails as [`generate`] does.
pub fn generate_with_run(request: &Request) -> Result<Generated, GenerateError> {
    request.check_fields()?;
    let draft = draft(request)?;
    let recorded = request.family.is_recorded();
    finish(&draft, Layout { shuffle: request.shuffle_lines, seed: request.seed, recorded })
}

fn draft(request: &Request) -> Result<Draft, GenerateError> {
    match request.family {
        Family::Buyers => simulator::run::<Buyers>(request),
        Family::ChangRoberts => simulator::run::<ChangRoberts>(request),
        Family::Consensus => simulator::run::<Consensus>(request),
        Family::Counting => simulator::run::<Counting>(request),
        Family::MessageLoop => simulator::run::<MessageLoop>(request),
        Family::SparseMat => simulator::run::<SparseMatrix>(request),
        Family::Sat3 => crate::sat3::draft_of(request),
        Family::Bi3Sat => crate::bi3sat::draft_of(request),
        Family::Knot => crate::knot::draft_of(request),
        Family::Shuffle => crate::shuffle::draft_of(request),
        Family::Flat => crate::flat::draft_of(request),
        Family::Android => crate::android::draft_of(request),
    }
}

/// Returns the size of a request if it is at least `least` and its `events` fit into a trace.
///
/// `events` must not overflow for sizes up to [`EVENTS_MAX`], and must be at least the size.
pub(crate) fn checked_size(
    request: &Request,
    least: u64,
    events: impl Fn(u64) -> u64,
) -> Result<u32, GenerateError> {
    let (family, size) = (request.family.name(), request.size);
    if size < least {
        return Err(GenerateError::TooSmall { family, size, least });
    }
    let events = if size > EVENTS_MAX { size } else { events(size) };
    match u32::try_from(size) {
        Ok(size) if events <= EVENTS_MAX => Ok(size),
        _ => Err(GenerateError::TooLarge { family, size, events }),
    }
}
