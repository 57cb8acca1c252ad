//! Counts of one check. For all options and limits, `racy + non_racy` and `confirmed + dropped +
//! unconfirmed` both equal the number of candidates.

use super::candidate::{Candidate, CandidateList};
use super::tries::PairResult;
use anyorder_stream::{Counts, ViolationKind};
use anyorder_trace::Tables;

/// Counts of one check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Events of the trace.
    pub events: u64,
    /// Handlers. In a trace of threads, these are the threads.
    pub threads: u64,
    /// Memory accesses.
    pub accesses: u64,
    /// Invocations of methods.
    pub invocations: u64,
    /// Locks.
    pub locks: u64,
    /// Candidates: pairs of events that the analysis left unordered, and confirmed pairs that it
    /// had ordered.
    pub candidates: u64,
    /// Candidates without a common lock.
    pub racy: u64,
    /// Candidates under a common lock.
    pub non_racy: u64,
    /// Candidates with a witness.
    pub confirmed: u64,
    /// Candidates proved to have none.
    pub dropped: u64,
    /// Candidates without an answer, including those not tried.
    pub unconfirmed: u64,
    /// Pairs in findings of kind `race`. If candidates were tried, only confirmed pairs count.
    pub race_pairs: u64,
    /// Confirmed pairs that the analysis had ordered.
    pub missed_by_order: u64,
    /// Pairs without an answer that could only have given a harmless note, in groups without a
    /// witness. Those that the analysis had ordered are no candidates.
    pub notes_open: u64,
    /// Witnesses that the checker refused. These are bugs; `unconfirmed` counts them, too.
    pub rejected: u64,
}

impl Statistics {
    /// Adds the counts of an analysis.
    pub(crate) fn of(counts: &Counts, tables: &Tables, invocations: u64) -> Statistics {
        Statistics {
            events: counts.events,
            threads: tables.handlers.len() as u64,
            accesses: counts.accesses,
            invocations,
            locks: tables.locks.len() as u64,
            ..Statistics::default()
        }
    }

    /// Counts a pair. A pair that the analysis had ordered is a candidate only if it is confirmed.
    pub(crate) fn count(&mut self, candidate: &Candidate, pair_result: &PairResult) {
        let confirmed = pair_result.form().is_some();
        self.rejected += u64::from(matches!(pair_result, PairResult::Rejected(_)));
        if candidate.ordered && !confirmed {
            return;
        }
        self.candidates += 1;
        match candidate.kind {
            ViolationKind::Racy => self.racy += 1,
            ViolationKind::NonRacy => self.non_racy += 1,
        }
        match pair_result {
            PairResult::Confirmed(_) | PairResult::Shown(..) => self.confirmed += 1,
            PairResult::Impossible => self.dropped += 1,
            _ => self.unconfirmed += 1,
        }
        self.missed_by_order += u64::from(candidate.ordered);
    }

    /// Counts the candidates that are not listed.
    pub(crate) fn count_unlisted(&mut self, list: &CandidateList) {
        self.racy += list.unlisted_racy;
        self.non_racy += list.unlisted_non_racy;
        self.candidates += list.unlisted();
        self.unconfirmed += list.unlisted();
    }
}
