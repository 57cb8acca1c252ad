//! The options of an analysis.

/// The pairs under a common lock that become candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Candidates {
    /// None: only racy pairs.
    Off,
    /// The corrected form; see `docs/prediction.md`.
    #[default]
    Corrected,
    /// As the thesis prints its Algorithm 2, for comparison: it tests racy pairs before the clock
    /// has learnt from critical sections, and compares a non-racy pair at the release with a clock
    /// that contains it, so it never finds any.
    AsPrinted,
}

/// Options of an analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CandidateOptions {
    /// The pairs under a common lock that become candidates.
    pub candidates: Candidates,
    /// How many violations are listed; all are counted.
    pub violations_max: usize,
    /// How many pairs under a common lock one thread may have open at a time; further ones are
    /// counted as lost.
    pub open_max: usize,
}

impl Default for CandidateOptions {
    fn default() -> CandidateOptions {
        CandidateOptions {
            candidates: Candidates::default(),
            violations_max: 100_000,
            open_max: 4_096,
        }
    }
}
