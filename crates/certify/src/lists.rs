//! Lists of events by a number.

use rustc_hash::FxHashMap;

/// Lists of events, by the number of a handler, a barrier or an object.
#[derive(Default)]
pub(crate) struct Lists {
    starts: FxHashMap<u32, (usize, usize)>,
    events: Vec<u32>,
}

/// By number, a place in a list: all events before it have happened.
pub(crate) type Pointers = FxHashMap<u32, usize>;

impl Lists {
    /// Builds them from pairs of number and event; the order of events is kept.
    pub(crate) fn new(mut pairs: Vec<(u32, u32)>) -> Lists {
        pairs.sort_by_key(|pair| pair.0);
        let mut starts: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
        for (at, pair) in pairs.iter().enumerate() {
            starts.entry(pair.0).or_insert((at, at)).1 = at + 1;
        }
        Lists { starts, events: pairs.into_iter().map(|pair| pair.1).collect() }
    }

    pub(crate) fn of(&self, number: u32) -> &[u32] {
        self.starts.get(&number).map_or(&[], |&(start, end)| &self.events[start..end])
    }

    /// Returns the first event of a list that has not happened; those below `prefix` have. What
    /// happened stays so, so all calls with the same pointers take time linear in the lists.
    pub(crate) fn first_open(
        &self,
        number: u32,
        pointers: &mut Pointers,
        prefix: u32,
        has_happened: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let list = self.of(number);
        let start = || list.partition_point(|event| *event < prefix);
        let next = pointers.entry(number).or_insert_with(start);
        while list.get(*next).is_some_and(|event| has_happened(*event)) {
            *next += 1;
        }
        list.get(*next).copied()
    }
}
