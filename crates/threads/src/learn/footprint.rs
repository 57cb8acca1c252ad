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

    /// The number as an index.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How an object is touched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Touch {
    pub(crate) object: ObjectId,
    /// The object within whose invocations it is; [`ObjectId::NONE`] for none.
    pub(crate) owner: ObjectId,
    /// A set of [`Kind`]s.
    pub(crate) kinds: u16,
}

impl Touch {
    fn key(&self) -> (ObjectId, ObjectId) {
        (self.object, self.owner)
    }

    /// Whether the specification of an object answers for both touches.
    pub(crate) fn is_specified_with(&self, other: &Touch) -> bool {
        self.owner == other.owner && self.owner != ObjectId::NONE
    }
}

/// Touches, ascending by object and owner.
type Touches = Rc<[Touch]>;

/// All footprints, each stored once.
#[derive(Debug)]
pub(crate) struct Footprints {
    all: Vec<Touches>,
    /// Of each footprint, the kinds of all its touches.
    kinds: Vec<u16>,
    ids: FxHashMap<Touches, FootprintId>,
    unions: FxHashMap<(FootprintId, FootprintId, bool), FootprintId>,
}

impl Footprints {
    pub(crate) fn new() -> Footprints {
        let empty: Touches = Rc::new([]);
        let mut ids = FxHashMap::default();
        ids.insert(Rc::clone(&empty), FootprintId::EMPTY);
        Footprints { all: vec![empty], kinds: vec![0], ids, unions: FxHashMap::default() }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The touches of a footprint, ascending by object.
    pub(crate) fn get(&self, id: FootprintId) -> &[Touch] {
        &self.all[id.0 as usize]
    }

    /// The kinds of all touches of a footprint, as a set.
    pub(crate) fn kinds(&self, id: FootprintId) -> u16 {
        self.kinds[id.0 as usize]
    }

    /// The touches of one object.
    pub(crate) fn of_object(&self, id: FootprintId, object: ObjectId) -> &[Touch] {
        let touches = self.get(id);
        let from = touches.partition_point(|touch| touch.object < object);
        let count = touches[from..].iter().take_while(|touch| touch.object == object).count();
        &touches[from..from + count]
    }

    /// Stores a footprint. Touches may repeat.
    pub(crate) fn of(&mut self, owner: ObjectId, touches: &[(ObjectId, Kind)]) -> FootprintId {
        let touch =
            |(object, kind): &(ObjectId, Kind)| Touch { object: *object, owner, kinds: kind.bit() };
        let mut touches: Vec<Touch> = touches.iter().map(touch).collect();
        touches.sort_unstable_by_key(Touch::key);
        touches.dedup_by(|next, last| {
            let is_same = next.key() == last.key();
            last.kinds |= if is_same { next.kinds } else { 0 };
            is_same
        });
        self.store(touches)
    }

    fn store(&mut self, touches: Vec<Touch>) -> FootprintId {
        if let Some(id) = self.ids.get(touches.as_slice()) {
            return *id;
        }
        let (touches, id): (Touches, _) = (touches.into(), FootprintId(self.all.len() as u32));
        self.kinds.push(touches.iter().fold(0, |kinds, touch| kinds | touch.kinds));
        self.all.push(Rc::clone(&touches));
        self.ids.insert(touches, id);
        id
    }

    /// Returns the footprint of what is one or the other. Linear at first, later a look-up.
    pub(crate) fn union(&mut self, a: FootprintId, b: FootprintId) -> FootprintId {
        self.join(a, b, false)
    }

    /// Returns the footprint of one and then the other, or of both at once.
    pub(crate) fn both(&mut self, a: FootprintId, b: FootprintId) -> FootprintId {
        self.join(a, b, true)
    }

    fn join(&mut self, a: FootprintId, b: FootprintId, is_both: bool) -> FootprintId {
        if (a == b && !is_both) || b == FootprintId::EMPTY {
            return a;
        }
        if a == FootprintId::EMPTY {
            return b;
        }
        let key = (a.min(b), a.max(b), is_both);
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
                (Some(x), Some(y)) => x.key().cmp(&y.key()),
            };
            let x = if order.is_le() { left.next() } else { None };
            let y = if order.is_ge() { right.next() } else { None };
            let Some(touch) = x.or(y) else { break };
            let (x, y) = (x.map_or(0, |touch| touch.kinds), y.map_or(0, |touch| touch.kinds));
            let removes_again = is_both && x & y & Kind::Remove.bit() != 0;
            let more = if removes_again { Kind::RemoveMore.bit() } else { 0 };
            merged.push(Touch { kinds: x | y | more, ..*touch });
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
        let none = ObjectId::NONE;
        let a = all.of(none, &[(ObjectId(2), Kind::Observe), (ObjectId(1), Kind::Change)]);
        let b = all.of(none, &[(ObjectId(2), Kind::Change)]);
        let owned = all.of(ObjectId(9), &[(ObjectId(2), Kind::Add), (ObjectId(2), Kind::Give)]);
        let both = all.union(a, b);
        assert_eq!(all.union(b, a), both);
        assert_eq!(all.union(both, FootprintId::EMPTY), both);
        let kinds = |all: &Footprints, id, object| -> Vec<u16> {
            all.of_object(id, ObjectId(object)).iter().map(|touch| touch.kinds).collect()
        };
        assert_eq!(kinds(&all, both, 2), [Kind::Observe.bit() | Kind::Change.bit()]);
        assert_eq!(kinds(&all, both, 1), [Kind::Change.bit()]);
        assert_eq!(kinds(&all, both, 3), []);
        let three = all.union(both, owned);
        assert_eq!(kinds(&all, three, 2).len(), 2, "by owner");
        let drop = all.of(none, &[(ObjectId(4), Kind::Remove)]);
        let twice = all.both(drop, drop);
        assert_eq!(all.union(drop, drop), drop);
        assert_eq!(kinds(&all, twice, 4), [Kind::REMOVING]);
    }
}
