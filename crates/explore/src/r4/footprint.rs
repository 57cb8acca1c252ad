//! The effect of a task on each location, as far as it decides the task's order with others.

use anyorder_commute::{Declarations, Update};
use anyorder_system::{Access, AccessKind, Accesses};
use std::collections::BTreeMap;

/// How a task used a location. Two uses conflict unless they are the same and not
/// [`Exclusive`](Mode::Exclusive). So the uses of a location fall into groups of equal modes, and
/// each group is ordered with the group before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum Mode {
    /// The value was read and not changed, or may matter in another way.
    Read,
    /// The location was set to this value, whatever its value was before. Only with `same_value`.
    Write(u64),
    /// The location was updated in a way that commutes with others of the kind. Only where
    /// declared.
    Update(Update),
    /// Any other use.
    Exclusive,
}

impl Mode {
    /// Returns whether the order of two uses of a location makes no difference.
    pub(crate) fn commutes_with(self, other: Mode) -> bool {
        match (self, other) {
            (Mode::Exclusive, _) | (_, Mode::Exclusive) => false,
            (Mode::Update(a), Mode::Update(b)) => a.commutes_with(b),
            (a, b) => a == b,
        }
    }
}

/// The locations that a task used, and how, sorted by location number.
pub(crate) type Footprint = Box<[(u32, Mode)]>;

/// Decides which accesses conflict.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct AccessRules {
    /// Two writes of one value do not conflict, and a write of the value that was read is a read.
    pub(crate) same_value: bool,
    pub(crate) updates: Declarations,
}

/// All accesses of one task to one location.
#[derive(Default)]
struct Use {
    reads: bool,
    /// The first access was a write, so later reads see the task's own value.
    begins_with_write: bool,
    writes: bool,
    /// Some access is not an update.
    not_updates: bool,
    /// The value before the task, if the first access reported it.
    before: Option<u64>,
    after: Option<u64>,
}

/// Combines the accesses of a task. `number` gives the numbers of locations, `text` their text.
pub(crate) fn footprint(
    accesses: &Accesses,
    rules: &AccessRules,
    mut number: impl FnMut(&Access) -> u32,
    update_of: impl Fn(u32) -> Option<Update>,
) -> Footprint {
    let in_order = matches!(accesses, Accesses::List(_));
    let mut uses: BTreeMap<u32, Use> = BTreeMap::new();
    for access in accesses.as_slice() {
        let reads = access.kind != AccessKind::Write;
        let writes = access.kind != AccessKind::Read;
        let of = uses.entry(number(access)).or_default();
        let is_first = !of.reads && !of.writes;
        of.begins_with_write |= is_first && !reads && in_order;
        of.reads |= reads;
        of.writes |= writes;
        of.not_updates |= access.kind != AccessKind::Rmw;
        if reads && (is_first || (!in_order && of.before.is_none())) {
            of.before = access.read;
        }
        if writes {
            of.after = access.written;
        }
    }
    uses.into_iter()
        .map(|(location, of)| (location, of.mode(rules, || update_of(location))))
        .collect()
}

impl Use {
    fn mode(&self, rules: &AccessRules, update: impl FnOnce() -> Option<Update>) -> Mode {
        if !self.writes {
            return Mode::Read;
        }
        if !self.not_updates
            && let Some(update) = update()
        {
            return Mode::Update(update);
        }
        if !rules.same_value {
            return Mode::Exclusive;
        }
        match (self.before, self.after) {
            (Some(before), Some(after)) if before == after => Mode::Read,
            (_, Some(after)) if !self.reads || self.begins_with_write => Mode::Write(after),
            _ => Mode::Exclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_trace::{LocationId, SiteId};

    fn access(kind: AccessKind, read: Option<u64>, written: Option<u64>) -> Access {
        Access { location: LocationId(0), kind, site: SiteId::UNKNOWN, read, written }
    }

    fn mode(accesses: Accesses, same_value: bool, update: Option<Update>) -> Mode {
        let rules = AccessRules { same_value, ..AccessRules::default() };
        footprint(&accesses, &rules, |_| 0, |_| update)[0].1
    }

    #[test]
    fn modes_follow_the_values() {
        use AccessKind::{Read, Rmw, Write};
        let read = access(Read, Some(5), None);
        let write = access(Write, None, Some(5));
        let other = access(Write, None, Some(6));
        let silent = access(Rmw, Some(5), Some(5));
        let list = |all: &[Access]| Accesses::List(all.to_vec());
        let set = |all: &[Access]| Accesses::Set(all.to_vec());
        for (accesses, plain, same_value) in [
            (list(&[read]), Mode::Read, Mode::Read),
            (list(&[write]), Mode::Exclusive, Mode::Write(5)),
            (list(&[silent]), Mode::Exclusive, Mode::Read),
            (list(&[read, other]), Mode::Exclusive, Mode::Exclusive),
            (list(&[read, other, write]), Mode::Exclusive, Mode::Read),
            (list(&[other, read]), Mode::Exclusive, Mode::Write(6)),
            (set(&[other, read]), Mode::Exclusive, Mode::Exclusive),
            (set(&[write, read]), Mode::Exclusive, Mode::Read),
            (list(&[access(Write, None, None)]), Mode::Exclusive, Mode::Exclusive),
        ] {
            assert_eq!(mode(accesses.clone(), false, None), plain, "{accesses:?}");
            assert_eq!(mode(accesses.clone(), true, None), same_value, "{accesses:?}");
        }
    }

    #[test]
    fn declared_updates_commute_with_their_kind_only() {
        let rmw = access(AccessKind::Rmw, Some(1), Some(2));
        let add = mode(Accesses::List(vec![rmw, rmw]), false, Some(Update::Add));
        assert_eq!(add, Mode::Update(Update::Add));
        assert!(add.commutes_with(add));
        assert!(!add.commutes_with(Mode::Update(Update::Max)));
        assert!(!add.commutes_with(Mode::Read));
        let read = access(AccessKind::Read, Some(1), None);
        let mixed = mode(Accesses::List(vec![read, rmw]), false, Some(Update::Add));
        assert_eq!(mixed, Mode::Exclusive, "what it read may have mattered");
    }
}
