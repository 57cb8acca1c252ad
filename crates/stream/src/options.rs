//! The options of an analysis.

/// The pairs under a common lock that become candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Candidates {
    /// No pairs: only racy pairs become candidates.
    Off,
    /// The corrected form; see `docs/prediction.md`.
    #[default]
    Corrected,
    /// As in the thesis's printed Algorithm 2, for comparison. It tests racy pairs before the clock
    /// has learnt from critical sections. At the release, it compares a non-racy pair with a clock
    /// that contains the pair, so it never finds a non-racy candidate.
    AsPrinted,
}

/// Options of an analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CandidateOptions {
    /// The pairs under a common lock that become candidates.
    pub candidates: Candidates,
    /// The most violations of each kind that are listed. All are counted.
    pub violations_max: usize,
    /// The most pairs under a common lock that one thread may have open at a time. Further pairs
    /// count as lost.
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
