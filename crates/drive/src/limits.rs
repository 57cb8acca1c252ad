//! The names in results of what ends the engines early. An engine has its own words for that; a
//! result has declared names.

use anyorder_explore::r4;
use anyorder_finding::{OptionName, option};
use anyorder_predict::check::Cut;
use anyorder_predict::{DeadlockCut, GaveUp};
use anyorder_search::Limit;
use anyorder_system::StopReason;

/// Returns the name of what made the front end stop a job.
#[must_use]
pub const fn stopped_by(reason: StopReason) -> OptionName {
    match reason {
        StopReason::Interrupted => option::INTERRUPT,
        StopReason::TimeLimit => option::TIME_LIMIT,
        StopReason::MemoryLimit => option::MEMORY_LIMIT,
    }
}

/// Returns the name of what cut a search of states.
pub(crate) const fn searched(limit: Limit) -> OptionName {
    match limit {
        Limit::States => option::MAX_STATES,
        Limit::Depth => option::MAX_DEPTH,
        Limit::Transitions => option::MAX_TRANSITIONS,
        Limit::Executions => option::MAX_EXECUTIONS,
        Limit::Memory => option::MEMORY_LIMIT,
        Limit::Time => option::TIME_LIMIT,
        Limit::Interrupt => option::INTERRUPT,
        // There is no separate option: it is a property of the requested storage.
        Limit::Bitstate => option::STORAGE,
        Limit::Deadlocks => option::MAX_DEADLOCKS,
        Limit::Livelocks => option::MAX_LIVELOCKS,
        Limit::Algorithm => option::ALGORITHM,
    }
}

/// Returns the name of what cut an exploration of runs.
pub(crate) const fn explored(limit: r4::Limit) -> OptionName {
    match limit {
        r4::Limit::Executions => option::MAX_EXECUTIONS,
        r4::Limit::Steps => option::MAX_STEPS,
        r4::Limit::Memory => option::MEMORY_LIMIT,
        r4::Limit::Lost => option::ATTEMPTS,
        r4::Limit::Alternatives => option::ALTERNATIVES,
        r4::Limit::Waiting => option::WAITING,
        r4::Limit::Budget => option::BUDGET,
        r4::Limit::Stopped(reason) => stopped_by(reason),
    }
}

/// Returns the name of what left cycles of requests undecided or unlisted; none if the trace itself
/// leaves it open, or if the job was stopped.
pub(crate) const fn deadlocks(cut: DeadlockCut) -> Option<OptionName> {
    Some(match cut {
        DeadlockCut::Cycles => option::MAX_DEADLOCKS,
        DeadlockCut::Tries => option::MAX_TRIES,
        DeadlockCut::Work => option::MAX_WORK,
        DeadlockCut::Trace | DeadlockCut::GaveUp(GaveUp::Window) => option::WINDOW,
        DeadlockCut::GaveUp(GaveUp::Conflicts) => option::MAX_CONFLICTS,
        DeadlockCut::GaveUp(GaveUp::Barrier | GaveUp::Stopped) | DeadlockCut::Stopped => {
            return None;
        }
    })
}

/// Returns the name of what left pairs of a prediction without an answer.
pub(crate) const fn predicted(cut: Cut) -> OptionName {
    match cut {
        Cut::Candidates => option::MAX_CANDIDATES,
        Cut::Pairs => option::PAIRS,
        Cut::Tries => option::MAX_TRIES,
        Cut::Work => option::MAX_WORK,
        Cut::Window => option::WINDOW,
        Cut::Conflicts => option::MAX_CONFLICTS,
    }
}
