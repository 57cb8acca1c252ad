//! The axioms of RC11, with relations as plain matrices: Lahav and others, "Repairing sequential
//! consistency in C/C++11", PLDI 2017, section 3, with the release sequences of C++20.

use super::Strength;

/// A relation on at most 64 events: by event, the set of those that it is related to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Relation(pub(super) Vec<u64>);

impl Relation {
    pub(super) fn empty(count: usize) -> Relation {
        Relation(vec![0; count])
    }

    pub(super) fn on(count: usize, related: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |a| (0..count).filter(|b| related(a, *b)).fold(0, |row, b| row | 1 << b);
        Relation((0..count).map(row).collect())
    }

    /// The identity on some events.
    fn only(count: usize, is_one: impl Fn(usize) -> bool) -> Relation {
        Relation::on(count, |a, b| a == b && is_one(a))
    }

    pub(super) fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }

    pub(super) fn add(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
    }

    pub(super) fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn and(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn minus(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// First this, then the other.
    fn then(&self, other: &Relation) -> Relation {
        let row = |row: &u64| {
            let mut all = 0;
            for (b, after) in other.0.iter().enumerate() {
                if row >> b & 1 == 1 {
                    all |= after;
                }
            }
            all
        };
        Relation(self.0.iter().map(row).collect())
    }

    fn inverse(&self) -> Relation {
        Relation::on(self.0.len(), |a, b| self.has(b, a))
    }

    fn or_same(&self) -> Relation {
        self.or(&Relation::only(self.0.len(), |_| true))
    }

    /// The transitive closure.
    pub(super) fn closed(&self) -> Relation {
        let mut closed = self.clone();
        for between in 0..self.0.len() {
            for a in 0..self.0.len() {
                if closed.has(a, between) {
                    closed.0[a] |= closed.0[between];
                }
            }
        }
        closed
    }

    pub(super) fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|a| !self.has(a, a))
    }

    pub(super) fn is_acyclic(&self) -> bool {
        self.closed().is_irreflexive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Read,
    Write,
    Fence,
    /// The begin or the end of a thread, a spawn or a join.
    Mark,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label {
    pub(super) sort: Sort,
    pub(super) location: Option<usize>,
    /// Of an atomic access that is no initial write, and of a fence.
    pub(super) strength: Option<Strength>,
    pub(super) value: u64,
}

/// What is the same in all graphs of the same events.
pub(super) struct Events<'a> {
    labels: &'a [Label],
    /// Sequenced-before, with initial writes before all.
    sb: &'a Relation,
    /// From spawns to begins, and from ends to joins.
    started: &'a Relation,
    /// From the read of a read-modify-write to its write.
    rmw: &'a Relation,
    writes: Relation,
    reads: Relation,
    fences: Relation,
    releasing: Relation,
    acquiring: Relation,
    sc: Relation,
    /// On one location.
    same: Relation,
}

/// The first axiom that a graph violates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Violated {
    ThinAir,
    Atomicity,
    Coherence,
    Sc,
}

impl<'a> Events<'a> {
    pub(super) fn new(
        labels: &'a [Label],
        sb: &'a Relation,
        started: &'a Relation,
        rmw: &'a Relation,
    ) -> Events<'a> {
        use Strength::{AcqRel, Acquire, Release, SeqCst};
        let count = labels.len();
        let is = |sort| Relation::only(count, |a| labels[a].sort == sort);
        let strong = |all: &[Strength]| {
            Relation::only(count, |a| labels[a].strength.is_some_and(|own| all.contains(&own)))
        };
        let same = Relation::on(count, |a, b| {
            labels[a].location.is_some() && labels[a].location == labels[b].location
        });
        Events {
            labels,
            sb,
            started,
            rmw,
            writes: is(Sort::Write),
            reads: is(Sort::Read),
            fences: is(Sort::Fence),
            releasing: strong(&[Release, AcqRel, SeqCst]),
            acquiring: strong(&[Acquire, AcqRel, SeqCst]),
            sc: strong(&[SeqCst]),
            same,
        }
    }

    pub(super) fn violated(&self, rf: &Relation, mo: &Relation) -> Option<Violated> {
        let count = self.labels.len();
        if !self.sb.or(rf).or(self.started).is_acyclic() {
            return Some(Violated::ThinAir);
        }
        let rb = rf.inverse().then(mo).minus(&Relation::only(count, |_| true));
        if self.rmw.and(&rb.then(mo)).0.iter().any(|row| *row != 0) {
            return Some(Violated::Atomicity);
        }
        let eco = rf.or(mo).or(&rb).closed();
        // A part of happens-before decides most graphs.
        if !self.sb.then(&eco.or_same()).is_irreflexive() {
            return Some(Violated::Coherence);
        }
        let hb = self.happens_before(rf);
        if !hb.then(&eco.or_same()).is_irreflexive() {
            return Some(Violated::Coherence);
        }
        let apart = self.sb.minus(&self.same);
        let through = apart.then(&hb).then(&apart);
        let scb = self.sb.or(&through).or(&hb.and(&self.same)).or(mo).or(&rb);
        let sc_fences = self.sc.then(&self.fences);
        let before = self.sc.or(&sc_fences.then(&hb.or_same()));
        let after = self.sc.or(&hb.or_same().then(&sc_fences));
        let base = before.then(&scb).then(&after);
        let between = hb.or(&hb.then(&eco).then(&hb));
        let psc = base.or(&sc_fences.then(&between).then(&sc_fences));
        (!psc.is_acyclic()).then_some(Violated::Sc)
    }

    pub(super) fn happens_before(&self, rf: &Relation) -> Relation {
        let rs = self.writes.then(&rf.then(self.rmw).closed().or_same());
        let from = self.releasing.then(&self.fences.then(self.sb).or_same()).then(&rs);
        let to = self.reads.then(&self.sb.then(&self.fences).or_same()).then(&self.acquiring);
        let sw = from.then(rf).then(&to);
        self.sb.or(&sw).or(self.started).closed()
    }
}
