//! Calls of objects with specifications, and the pairs of them that do not commute.

use super::kind::Kind;
use crate::ids::ObjectId;
use rustc_hash::FxHashMap;

/// The calls that were seen.
///
/// Two calls that do not commute share a *point*, a number like that of an object, which they touch
/// from two sides: those of one side commute. So a specification is part of footprints as objects
/// are.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    seen: FxHashMap<ObjectId, Vec<u64>>,
    points: FxHashMap<(ObjectId, u64), Vec<Point>>,
    made: u32,
}

/// A point as a call touches it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Point {
    pub(crate) object: ObjectId,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    First,
    Second,
    /// The call does not commute with itself.
    Both,
}

impl Point {
    /// How it is touched: the sides are in conflict, and each is not with itself.
    pub(crate) const fn kind(self) -> Kind {
        match self.side {
            Side::First => Kind::Observe,
            Side::Second => Kind::Add,
            Side::Both => Kind::Change,
        }
    }

    /// The side on which it leaves what it knows, and the one from which it learns.
    pub(crate) const fn sides(self) -> (bool, bool) {
        match self.side {
            Side::First => (false, true),
            Side::Second => (true, false),
            Side::Both => (false, false),
        }
    }
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
            let point = |side| Point { object: ObjectId(u32::MAX - self.made), side };
            let mut touch = |call, side| {
                self.points.entry((object, call)).or_default().push(point(side));
            };
            match other == call {
                true => touch(call, Side::Both),
                false => {
                    touch(call, Side::First);
                    touch(other, Side::Second);
                }
            }
        }
        true
    }

    /// The points of a call.
    pub(crate) fn points(&self, object: ObjectId, call: u64) -> &[Point] {
        self.points.get(&(object, call)).map_or(&[], Vec::as_slice)
    }
}
