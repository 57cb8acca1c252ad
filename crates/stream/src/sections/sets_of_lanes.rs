//! The locksets of a lane's accesses: made at the first access after the locks held have changed.
//!
//! **Cost.** An access makes a set for each lock acquired since the last one, and one view if locks
//! were released below others. A lane whose locks are half gone from below others makes all of its
//! sets again, which its releases have paid for. With few locks, each access after a change makes a
//! set of all of them.

use crate::relations::lanes::LaneId;
use crate::sections::locksets::{NO_LOCKSET, UNMADE, of_one};
use crate::sections::table::{OfLane, Sections};

impl Sections {
    /// Drops the sets that a lane has made for more than some places.
    pub(super) fn drop_made(&mut self, lane: LaneId, places: usize) {
        self.drop_views(lane, places);
        while let Some((_, set)) =
            self.lanes[lane].made.pop_if(|(covered, _)| *covered as usize > places)
        {
            self.drop_lockset(set);
        }
    }

    /// Drops the views that a lane has made for more than some places.
    fn drop_views(&mut self, lane: LaneId, places: usize) {
        while let Some((_, view)) =
            self.lanes[lane].views.pop_if(|(covered, _)| *covered as usize > places)
        {
            self.drop_lockset(view);
        }
    }

    /// Drops the sets that are of no more use to a lane that has released the lock at a place.
    pub(super) fn drop_after_release(&mut self, lane: LaneId, place: usize) {
        let held = &self.lanes[lane].held;
        let places = held.places_count();
        let is_flat = held.count() <= self.locksets.flat;
        if held.wants_room() || (is_flat && held.has_gaps()) {
            self.drop_made(lane, 0);
            self.lanes[lane].held.remove_gaps();
        } else if place < places && held.get_at(place).is_none() {
            // The sets stay, with one section that has ended.
            self.drop_views(lane, place);
        } else {
            self.drop_made(lane, place.min(places));
        }
    }

    /// Finds the lockset of a lane that has released a lock.
    pub(super) fn after_release(&mut self, lane: LaneId) {
        let OfLane { held, made, views, lockset, .. } = &mut self.lanes[lane];
        let places = held.places_count() as u32;
        let sets = if held.has_gaps() { views } else { made };
        *lockset = match (held.count(), sets.last()) {
            (0, _) => NO_LOCKSET,
            (1, _) => held.first().map_or(NO_LOCKSET, |held| of_one(held.section)),
            (_, Some((covered, set))) if *covered == places => *set,
            _ => UNMADE,
        };
    }

    /// Returns the lockset of a lane's next access.
    #[inline]
    pub(crate) fn lockset(&mut self, lane: LaneId) -> u32 {
        let lockset = self.lanes[lane].lockset;
        if lockset == UNMADE { self.make_lockset(lane) } else { lockset }
    }

    fn make_lockset(&mut self, lane: LaneId) -> u32 {
        if self.held(lane).count() > self.locksets.flat {
            return self.make_deep(lane);
        }
        let OfLane { held, made, lockset, moment, .. } = &mut self.lanes[lane];
        let sections = held.iter().map(|held| held.section);
        // A set of this size may become a parent.
        let is_full = held.count() == self.locksets.flat;
        let digest_of = if is_full { held.digest_of(0..held.places_count()) } else { 0 };
        let set = self.locksets.make((NO_LOCKSET, digest_of, *moment), sections);
        for held in held.iter() {
            self.references[held.section as usize] += 1;
        }
        made.push((held.places_count() as u32, set));
        *lockset = set;
        set
    }

    /// Makes the lockset of many locks, and those of all smaller numbers of them, down to a set
    /// without a parent.
    fn make_deep(&mut self, lane: LaneId) -> u32 {
        let flat = self.locksets.flat;
        let OfLane { held, made, views, lockset, moment, .. } = &mut self.lanes[lane];
        if made.is_empty() {
            held.remove_gaps();
            let digest_of = held.digest_of(0..flat);
            let root = held.iter().take(flat).map(|held| held.section);
            let set = self.locksets.make((NO_LOCKSET, digest_of, *moment), root);
            for held in held.iter().take(flat) {
                self.references[held.section as usize] += 1;
            }
            made.push((flat as u32, set));
        }
        let (mut from, mut set) = made.last().copied().unwrap_or((0, NO_LOCKSET));
        for (place, held_one) in held.placed_from(from as usize) {
            // The new set refers to its parent. Its digest has the locks of gaps, too.
            self.locksets.keep(set);
            self.references[held_one.section as usize] += 1;
            let places = from as usize..place + 1;
            let digest_of = self.locksets.digest(set).wrapping_add(held.digest_of(places));
            let section = std::iter::once(held_one.section);
            set = self.locksets.make((set, digest_of, *moment), section);
            from = place as u32 + 1;
            made.push((from, set));
        }
        if held.has_gaps() {
            self.locksets.keep(set);
            let digest_of = self.locksets.digest(set).wrapping_sub(held.gone());
            let first = held.first().map_or(0, |held| held.section);
            set = self.locksets.make_view((set, digest_of, *moment), (held.count(), first));
            views.push((from, set));
            self.uses.views += 1;
        }
        *lockset = set;
        set
    }

    /// Returns the set of the first `count` locks that a lane holds, if it was made.
    pub(super) fn made(&self, lane: LaneId, count: usize) -> Option<u32> {
        let OfLane { held, made, views, .. } = &self.lanes[lane];
        let find = |sets: &[(u32, u32)]| {
            let at =
                sets.binary_search_by_key(&count, |(_, set)| self.locksets.count(*set)).ok()?;
            Some(sets[at])
        };
        let whole = find(made).filter(|(covered, _)| *covered as usize <= held.first_gap());
        whole.or_else(|| find(views)).map(|(_, set)| set)
    }
}
