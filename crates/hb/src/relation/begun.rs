//! A task that its handler has begun.

use crate::relation::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_trace::EventId;

/// A task that has begun, with the position of its post on the poster's chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(crate) post: EventId,
    pub(crate) strand: StrandId,
    /// The number of its chain among those of its handler.
    pub(crate) local: ChainId,
    /// Its last event.
    pub(crate) last: EventId,
    /// Whether its post put it to the front.
    pub(crate) front: bool,
    /// Whether all entries before it in its list end before it begins.
    pub(crate) dominates: bool,
}

impl Begun {
    /// Creates an entry.
    pub(crate) fn new(
        (post, strand): (EventId, StrandId),
        (local, last): (ChainId, EventId),
        front: bool,
    ) -> Begun {
        Begun { post, strand, local, last, front, dominates: false }
    }
}
