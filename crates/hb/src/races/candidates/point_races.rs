//! Racy pairs of actions other than memory accesses.

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
    class: u8,
    strand: StrandId,
    event: EventId,
}

/// A visitor that finds, for each second action, the last first action of each chain and class.
pub(crate) struct PointRaces<'a> {
    points: &'a Points,
    next: usize,
    last: FxHashMap<u32, Vec<Last>>,
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
            pairs_max,
            pairs: Vec::new(),
            total: 0,
            seconds: 0,
        }
    }

    fn point(&mut self, view: &View<'_, '_>, point: Point, strand: StrandId) {
        let list = self.last.entry(point.object).or_default();
        let before = self.total;
        let chain = view.engine.chains.of(strand);
        for last in list.iter().filter(|last| last.strand != strand && last.chain != chain) {
            if self.points.conflict(point, last.class)
                && last.event.0 >= view.bound(strand, last.chain)
            {
                self.total += 1;
                if self.pairs.len() < self.pairs_max {
                    let (first, second) = (last.event, point.event);
                    self.pairs.push(CandidatePair { first, second, object: Some(point.object) });
                }
            }
        }
        self.seconds += u64::from(self.total > before);
        let own = Last { chain, class: point.class, strand, event: point.event };
        match list.iter_mut().find(|last| last.chain == chain && last.class == point.class) {
            Some(last) => *last = own,
            None => list.push(own),
        }
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
