//! Footprints: which objects a piece of behaviour touches, and how.

use super::kind::Kind;
use crate::ids::ObjectId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A set of touches, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct FootprintId(u32);

impl FootprintId {
    /// Nothing is touched.
    pub(crate) const EMPTY: FootprintId = FootprintId(0);
}

/// The kinds of touches of each object, ascending by object.
type Touches = Rc<[(ObjectId, u8)]>;

/// All footprints, each stored once.
#[derive(Debug)]
pub(crate) struct Footprints {
    all: Vec<Touches>,
    ids: FxHashMap<Touches, FootprintId>,
    unions: FxHashMap<(FootprintId, FootprintId), FootprintId>,
}

impl Footprints {
    pub(crate) fn new() -> Footprints {
        let empty: Touches = Rc::new([]);
        let mut ids = FxHashMap::default();
        ids.insert(Rc::clone(&empty), FootprintId::EMPTY);
        Footprints { all: vec![empty], ids, unions: FxHashMap::default() }
    }

    /// The objects and kinds of a footprint, ascending by object.
    pub(crate) fn get(&self, id: FootprintId) -> &[(ObjectId, u8)] {
        &self.all[id.0 as usize]
    }

    /// The kinds in which an object is touched.
    pub(crate) fn kinds(&self, id: FootprintId, object: ObjectId) -> u8 {
        let touches = self.get(id);
        touches.binary_search_by_key(&object, |touch| touch.0).map_or(0, |at| touches[at].1)
    }

    /// Stores a footprint. Touches may repeat.
    pub(crate) fn of(&mut self, mut touches: Vec<(ObjectId, Kind)>) -> FootprintId {
        touches.sort_unstable_by_key(|touch| touch.0);
        let mut merged: Vec<(ObjectId, u8)> = Vec::with_capacity(touches.len());
        for (object, kind) in touches {
            match merged.last_mut() {
                Some((last, kinds)) if *last == object => *kinds |= kind.bit(),
                _ => merged.push((object, kind.bit())),
            }
        }
        self.store(merged)
    }

    fn store(&mut self, touches: Vec<(ObjectId, u8)>) -> FootprintId {
        if let Some(id) = self.ids.get(touches.as_slice()) {
            return *id;
        }
        let (touches, id): (Touches, _) = (touches.into(), FootprintId(self.all.len() as u32));
        self.all.push(Rc::clone(&touches));
        self.ids.insert(touches, id);
        id
    }

    /// Returns the union of two footprints. Linear at first, later a look-up.
    pub(crate) fn union(&mut self, a: FootprintId, b: FootprintId) -> FootprintId {
        if a == b || b == FootprintId::EMPTY {
            return a;
        }
        if a == FootprintId::EMPTY {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(id) = self.unions.get(&key) {
            return *id;
        }
        let (mut left, mut right) = (self.get(a).iter().peekable(), self.get(b).iter().peekable());
        let mut merged = Vec::with_capacity(left.len() + right.len());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(x), Some(y)) => x.0.cmp(&y.0),
            };
            let x = if order.is_le() { left.next() } else { None };
            let y = if order.is_ge() { right.next() } else { None };
            let object = x.or(y).map_or(ObjectId::NONE, |touch| touch.0);
            merged.push((object, x.map_or(0, |touch| touch.1) | y.map_or(0, |touch| touch.1)));
        }
        let id = self.store(merged);
        self.unions.insert(key, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_merge_kinds() {
        let mut all = Footprints::new();
        let a = all.of(vec![(ObjectId(2), Kind::Observe), (ObjectId(1), Kind::Change)]);
        let b = all.of(vec![(ObjectId(2), Kind::Change)]);
        let both = all.union(a, b);
        assert_eq!(all.union(b, a), both);
        assert_eq!(all.union(both, FootprintId::EMPTY), both);
        assert_eq!(all.kinds(both, ObjectId(2)), Kind::Observe.bit() | Kind::Change.bit());
        assert_eq!(all.kinds(both, ObjectId(1)), Kind::Change.bit());
        assert_eq!(all.kinds(both, ObjectId(3)), 0);
    }
}
