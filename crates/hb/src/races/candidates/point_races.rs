//! Racy pairs of actions other than memory accesses.
//!
//! **Cost.** A point looks at one earlier point of each chain in each class that it does not
//! commute with, and at no other: uses of one lock by many tasks, which commute, cost nothing.

use super::find::CandidatePair;
use crate::relation::pass::{View, Visitor};
use crate::relation::sections::{Point, Points};
use crate::relation::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_trace::EventId;
use rustc_hash::FxHashMap;

/// The last point of a class on a chain, for one object. If it is ordered, so are the earlier
/// points on its chain.
#[derive(Clone, Copy, Debug)]
struct Last {
    chain: ChainId,
    /// How many chains and classes of the object were there before.
    number: u32,
    strand: StrandId,
    event: EventId,
}

/// The last points of one object.
#[derive(Clone, Debug, Default)]
struct OfObject {
    /// By class, in the order in which the chains came.
    classes: Vec<(u8, Vec<Last>)>,
    /// The place of each chain in the list of a class.
    places: FxHashMap<(ChainId, u8), u32>,
}

impl OfObject {
    /// Records the last point of a chain in a class.
    fn set(&mut self, chain: ChainId, class: u8, (strand, event): (StrandId, EventId)) {
        let at = self.classes.iter().position(|(other, _)| *other == class);
        let at = at.unwrap_or_else(|| {
            self.classes.push((class, Vec::new()));
            self.classes.len() - 1
        });
        let list = &mut self.classes[at].1;
        let number = self.places.len() as u32;
        let place = *self.places.entry((chain, class)).or_insert_with(|| {
            list.push(Last { chain, number, strand, event });
            list.len() as u32 - 1
        });
        let last = &mut list[place as usize];
        (last.strand, last.event) = (strand, event);
    }
}

/// A visitor that finds, for each second action, the last first action of each chain and class.
pub(crate) struct PointRaces<'a> {
    points: &'a Points,
    next: usize,
    last: FxHashMap<u32, OfObject>,
    /// A reused list.
    racing: Vec<(u32, EventId)>,
    pairs_max: usize,
    pub(crate) pairs: Vec<CandidatePair>,
    pub(crate) total: u64,
    /// The number of points that are the second of some pair.
    pub(crate) seconds: u64,
}

impl<'a> PointRaces<'a> {
    pub(crate) fn new(points: &'a Points, pairs_max: usize) -> PointRaces<'a> {
        PointRaces {
            points,
            next: 0,
            last: FxHashMap::default(),
            racing: Vec::new(),
            pairs_max,
            pairs: Vec::new(),
            total: 0,
            seconds: 0,
        }
    }

    fn point(&mut self, view: &View<'_, '_>, point: Point, strand: StrandId) {
        let object = self.last.entry(point.object).or_default();
        let chain = view.engine.chains.of(strand);
        self.racing.clear();
        for (class, list) in &object.classes {
            if !self.points.conflict(point, *class) {
                continue;
            }
            let others = list.iter().filter(|last| last.strand != strand && last.chain != chain);
            let racing = others.filter(|last| last.event.0 >= view.bound(strand, last.chain));
            self.racing.extend(racing.map(|last| (last.number, last.event)));
        }
        self.racing.sort_unstable();
        self.total += self.racing.len() as u64;
        self.seconds += u64::from(!self.racing.is_empty());
        let room = self.pairs_max.saturating_sub(self.pairs.len());
        let (second, of_object) = (point.event, Some(point.object));
        let pairs = self.racing.iter().take(room);
        self.pairs.extend(pairs.map(|(_, first)| CandidatePair {
            first: *first,
            second,
            object: of_object,
        }));
        object.set(chain, point.class, (strand, point.event));
    }
}

impl Visitor for PointRaces<'_> {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        while let Some(point) = self.points.list.get(self.next).filter(|p| p.event <= event) {
            if point.event == event {
                self.point(view, *point, strand);
            }
            self.next += 1;
        }
    }
}
