//! What the user of an analysis may choose.

/// Which pairs under a common lock become candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Candidates {
    /// None: only racy pairs.
    Off,
    /// The corrected form; see `docs/prediction.md`.
    #[default]
    Corrected,
    /// As the thesis prints its Algorithm 2, for comparison: racy pairs are tested before the clock
    /// has learnt from critical sections, and a non-racy one is compared at the release with the
    /// clock that contains it, so that none is ever found.
    AsPrinted,
}

/// Options of an analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which pairs under a common lock become candidates.
    pub candidates: Candidates,
    /// How many violations are listed; all are counted.
    pub violations_max: usize,
    /// How many pairs under a common lock one thread may have open at a time; further ones are
    /// counted as lost.
    pub open_max: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { candidates: Candidates::default(), violations_max: 100_000, open_max: 4_096 }
    }
}
