//! Release sequences of atomics: a releasing write, and the atomic read-modify-writes that follow.

use super::Pass;
use crate::relation::by_key::ByKey;
use crate::relation::state::{Released, Stamp};
use crate::relation::strands::StrandId;
use anyorder_trace::{EventId, LocationId};

impl Pass<'_, '_> {
    /// Joins what an acquiring access of a location sees.
    pub(super) fn join_sequence(&mut self, strand: StrandId, location: LocationId) {
        match self.state.atomics.get_mut(&location) {
            None => {}
            Some(Released::One(stamp)) => {
                let stamp = *stamp;
                self.join(strand, stamp);
            }
            Some(Released::Many(released)) => {
                let mut released = std::mem::take(released);
                self.join_others(strand, &mut released, strand.0);
                self.state.atomics.insert(location, Released::Many(released));
            }
        }
    }

    /// Records what a write of a location releases.
    pub(super) fn leave_write(&mut self, event: EventId, strand: StrandId, location: LocationId) {
        if !self.engine.atomic_locations[location.index()] {
            return;
        }
        let op = self.engine.trace.event(event).op;
        let (releases, continues) = (op.mode().releases(), op.continues_sequence());
        if !releases {
            if !continues {
                self.state.atomics.remove(&location);
            }
            return;
        }
        let stamp = self.stamp(event, strand);
        let earlier = match continues && !op.mode().acquires() {
            true => self.state.atomics.remove(&location),
            false => None,
        };
        let released = match earlier {
            None => Released::One(stamp),
            Some(Released::One(one)) if one.strand == strand => Released::One(stamp),
            Some(earlier) => Released::Many(self.with(earlier, stamp)),
        };
        self.state.atomics.insert(location, released);
    }

    /// Adds a stamp to others.
    fn with(&mut self, earlier: Released, stamp: Stamp) -> Box<ByKey> {
        let mut released = Box::default();
        let mut add = |released: &mut ByKey, stamp: Stamp| {
            let chain = self.engine.chains.of(stamp.strand);
            released.add(&mut self.state.clocks, stamp.strand.0, stamp, chain);
        };
        match earlier {
            Released::One(one) => add(&mut released, one),
            Released::Many(many) => released = many,
        }
        add(&mut released, stamp);
        released
    }
}
