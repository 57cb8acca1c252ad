//! Calls of objects with specifications, and the pairs of them that do not commute.

use crate::ids::ObjectId;
use rustc_hash::FxHashMap;

/// The calls that were seen.
///
/// Two calls that do not commute share a *point*, a number like that of an object, which both
/// change. So a specification is part of footprints as objects are.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    seen: FxHashMap<ObjectId, Vec<u64>>,
    points: FxHashMap<(ObjectId, u64), Vec<ObjectId>>,
    made: u32,
}

impl Calls {
    /// Adds a call, unless it was seen. Linear in the calls of the object.
    pub(crate) fn see(
        &mut self,
        object: ObjectId,
        call: u64,
        commute: impl Fn(u64, u64) -> bool,
    ) -> bool {
        let seen = self.seen.entry(object).or_default();
        if seen.contains(&call) {
            return false;
        }
        seen.push(call);
        for other in seen.iter().copied().filter(|other| !commute(call, *other)) {
            // Numbers of objects grow from the other end.
            self.made += 1;
            let point = ObjectId(u32::MAX - self.made);
            self.points.entry((object, call)).or_default().push(point);
            if other != call {
                self.points.entry((object, other)).or_default().push(point);
            }
        }
        true
    }

    /// The points of a call.
    pub(crate) fn points(&self, object: ObjectId, call: u64) -> &[ObjectId] {
        self.points.get(&(object, call)).map_or(&[], Vec::as_slice)
    }
}
