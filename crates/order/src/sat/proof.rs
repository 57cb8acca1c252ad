//! The record of a refutation.

use super::lit::Lit;

/// One step of a [`ProofLog`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ClauseStep<'a> {
    /// A clause of the problem.
    Input(&'a [Lit]),
    /// A clause of the theory with its tag: a lemma, or the reason of an implied literal.
    Lemma(&'a [Lit], u32),
    /// A clause that follows from the clauses held at this step by reverse unit propagation: making
    /// its literals false and propagating units gives a contradiction.
    Learned(&'a [Lit]),
    /// One copy of a clause (the order of its literals may differ) that is not used afterwards.
    Deleted(&'a [Lit]),
}

#[derive(Copy, Clone)]
enum Kind {
    Input,
    Lemma,
    Learned,
    Deleted,
}

struct Head {
    kind: Kind,
    tag: u32,
    end: usize,
}

/// The steps of all searches so far, in order.
///
/// After an answer "unsatisfiable", the last step that is [`ClauseStep::Learned`] is the clause of
/// the negated assumptions of the core: the empty one when there are none. Clauses may repeat
/// literals or hold a literal and its negation where the input did.
#[derive(Default)]
pub struct ProofLog {
    heads: Vec<Head>,
    lits: Vec<Lit>,
}

impl ProofLog {
    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Returns the step with this number, counted from 0.
    pub fn step(&self, index: usize) -> Option<ClauseStep<'_>> {
        let head = self.heads.get(index)?;
        let begin = if index == 0 { 0 } else { self.heads[index - 1].end };
        let lits = &self.lits[begin..head.end];
        Some(match head.kind {
            Kind::Input => ClauseStep::Input(lits),
            Kind::Lemma => ClauseStep::Lemma(lits, head.tag),
            Kind::Learned => ClauseStep::Learned(lits),
            Kind::Deleted => ClauseStep::Deleted(lits),
        })
    }

    /// Goes through all steps in order.
    pub fn steps(&self) -> impl Iterator<Item = ClauseStep<'_>> {
        (0..self.len()).filter_map(|index| self.step(index))
    }

    /// Returns the memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.heads.capacity() * size_of::<Head>() + self.lits.capacity() * size_of::<Lit>()
    }
}

/// The proof, when it is recorded.
#[derive(Default)]
pub(super) struct Recorder(pub(super) Option<ProofLog>);

impl Recorder {
    pub(super) fn input(&mut self, lits: &[Lit]) {
        self.push(Kind::Input, 0, lits.iter().copied());
    }

    pub(super) fn lemma(&mut self, lits: &[Lit], tag: u32) {
        self.push(Kind::Lemma, tag, lits.iter().copied());
    }

    pub(super) fn learned(&mut self, lits: impl Iterator<Item = Lit>) {
        self.push(Kind::Learned, 0, lits);
    }

    pub(super) fn deleted(&mut self, lits: impl Iterator<Item = Lit>) {
        self.push(Kind::Deleted, 0, lits);
    }

    fn push(&mut self, kind: Kind, tag: u32, lits: impl Iterator<Item = Lit>) {
        if let Some(log) = &mut self.0 {
            log.lits.extend(lits);
            log.heads.push(Head { kind, tag, end: log.lits.len() });
        }
    }
}
