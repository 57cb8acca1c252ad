//! The fixed words of results: kinds, verdicts, severities, harm, categories, coverage levels.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares an enum of words of the JSON format, with its list and its parser.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Returns its word, the same in every report.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// Returns the value with this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

words! {
    /// What kind of problem a finding is.
    #[non_exhaustive]
    Kind {
        /// Two conflicting accesses can happen in either order.
        Race = "race",
        /// Two accesses can happen against the intended order.
        OrderViolation = "order_violation",
        /// An assertion fails in some order.
        Assertion = "assertion",
        /// Some order ends with all tasks waiting.
        Deadlock = "deadlock",
        /// Some order ends in a state that is not an allowed final state.
        Final = "final",
        /// A stated invariant does not hold in some order.
        Invariant = "invariant",
        /// Some order does not answer an input event.
        Response = "response",
        /// Some order leads to where no run can end any more.
        Livelock = "livelock",
        /// Two updates of one state do not commute.
        UpdateConflict = "update_conflict",
        /// The observed behaviour cannot happen under the rules.
        Inconsistency = "inconsistency",
        /// Two orders of the same inputs end in different observations.
        Nondeterminism = "nondeterminism",
        /// A run equals no run that handles the input events one after another.
        NotSerializable = "not_serializable",
        /// A block that is marked as atomic is interrupted.
        Atomicity = "atomicity",
        /// Two runs of one schedule differ: the system under test is not controlled.
        Unstable = "unstable",
        /// A run exceeded the allowed number of steps.
        StepLimit = "step_limit",
        /// A lock, a condition, a thread or a signal handler is used as no program may.
        Misuse = "misuse",
    }
}

words! {
    /// What a second run of a program, held to the order of a finding, came to.
    Reproduced {
        /// The order happened, and did harm that can be seen.
        Reproduced = "reproduced",
        /// The order happened, and no harm was seen.
        Feasible = "feasible",
        /// The order did not happen.
        NotReproduced = "not_reproduced",
    }
}

words! {
    /// What something is that a finding is about.
    RelatedKind {
        /// Memory: a variable, a block or a stack.
        Memory = "memory",
        /// A thread, and its creation.
        Thread = "thread",
        /// A lock that is held, and where it was taken.
        Lock = "lock",
    }
}

words! {
    /// The answer of a command.
    Verdict {
        /// Nothing that counts was found, and the search was complete.
        Ok = "ok",
        /// Something that counts was found.
        Findings = "findings",
        /// Nothing was found, and a limit ended the search.
        Incomplete = "incomplete",
        /// The trace can happen.
        Consistent = "consistent",
        /// The trace cannot happen.
        Inconsistent = "inconsistent",
        /// No answer.
        Unknown = "unknown",
        /// Concurrency adds no behaviour.
        Robust = "robust",
        /// Concurrency adds behaviour.
        NotRobust = "not_robust",
    }
}

words! {
    /// The kind of a warning in a result.
    #[non_exhaustive]
    WarningKind {
        /// Ignored input: the analysis assumes that it orders nothing and accesses nothing,
        /// whatever it did in the program.
        Ignored = "ignored",
        /// A part of the input is missing.
        Damaged = "damaged",
        /// Something is odd; the analysis used it unchanged.
        Odd = "odd",
        /// The program does not report all that its tasks share.
        Unreported = "unreported",
        /// The process ended before the job did: the result is what the job had published.
        Stopped = "stopped",
        /// A bug in anyorder that it found itself: a certificate that does not hold.
        Bug = "bug",
    }
}

words! {
    /// How much a finding matters, in ascending order.
    Severity {
        /// Minor: a covered race, or a harmless one.
        Note = "note",
        /// Can go wrong; it is unknown whether it does.
        Warning = "warning",
        /// Goes wrong, as a run shows.
        Error = "error",
    }
}

words! {
    /// Whether the two orders of a finding lead to a difference that matters.
    Harm {
        /// They do.
        Harmful = "harmful",
        /// They do not; the finding's `harm_class` says why.
        Harmless = "harmless",
        /// Not known.
        Undecided = "undecided",
    }
}

words! {
    /// The reason why the order of a race's two accesses is open. If several apply:
    /// `multi_threaded` before `co_enabled` before `delayed` before `cross_posted`. Exception: a
    /// race that is both `delayed` and `cross_posted` counts as `cross_posted` if another race of
    /// its location is already `delayed`, as in DroidRacer's tool. The list has the order of
    /// reports.
    RaceCategory {
        /// The accesses are on two threads.
        MultiThreaded = "multi_threaded",
        /// Where the two chains of posts diverge, one of the posts comes from another thread.
        CrossPosted = "cross_posted",
        /// The two chains of posts start at two input events that can come in either order.
        CoEnabled = "co_enabled",
        /// Where the two chains of posts diverge, one of the posts has a delay.
        Delayed = "delayed",
        /// None of the others.
        Uncategorised = "uncategorised",
    }
}

words! {
    /// The failure that reversing two predicted actions causes, or the reason why they can be
    /// reversed.
    PredictedCategory {
        /// Memory is used after it was freed.
        UseAfterFree = "use_after_free",
        /// Memory is freed twice.
        DoubleFree = "double_free",
        /// A lock is used after it was destroyed.
        DestroyedLock = "destroyed_lock",
        /// A lock is used while another thread writes over its memory.
        OverwrittenLock = "overwritten_lock",
        /// A channel is used after it was closed.
        ClosedChannel = "closed_channel",
        /// A file is used after it was closed.
        ClosedFile = "closed_file",
        /// A signal comes before the wait for it.
        LostSignal = "lost_signal",
        /// A call waits for something that another call took, and nothing else provides it.
        LostWakeup = "lost_wakeup",
        /// Code reads the error of a context before the context is cancelled.
        EarlyErr = "early_err",
        /// Two accesses of two tasks of one handler.
        SameHandler = "same_handler",
        /// Two calls that do not commute.
        Calls = "calls",
        /// Two values are handed to one channel or queue.
        Arrival = "arrival",
        /// Two accesses under one lock.
        Guarded = "guarded",
    }
}

words! {
    /// What a thread of a native program does to an object, in its own order, that no program may.
    MisuseCategory {
        /// A lock is given back by a thread that does not hold it.
        BadUnlock = "bad_unlock",
        /// A thread asks for a lock that it holds, and waits for itself.
        DoubleLock = "double_lock",
        /// A lock is destroyed while a thread holds it.
        DestroyedHeld = "destroyed_held",
        /// A lock is initialised while a thread holds it.
        InitialisedHeld = "initialised_held",
        /// An object is used after it was destroyed, and was not initialised again.
        UsedDestroyed = "used_destroyed",
        /// A wait on a condition by a thread that does not hold the mutex.
        WaitUnlocked = "wait_unlocked",
        /// A lock that was taken for reading is given back as one for writing, or the other way
        /// round.
        WrongMode = "wrong_mode",
        /// A thread has ended, and nobody joins or detaches it.
        ThreadLeak = "thread_leak",
        /// A signal handler calls a function that it must not call.
        UnsafeInHandler = "unsafe_in_handler",
        /// A signal handler changes `errno`.
        ErrnoInHandler = "errno_in_handler",
    }
}

words! {
    /// The definition of coverage that was used.
    CoverageLevel {
        /// Between whole tasks.
        Task = "task",
        /// Between single accesses.
        Access = "access",
        /// By one other race.
        Single = "single",
    }
}

impl Severity {
    /// Returns the severity of a race: error if a run shows a failure, note if it is covered or
    /// harmless, otherwise warning.
    #[must_use]
    pub const fn of_race(harm: Harm, uncovered: bool) -> Severity {
        match (harm, uncovered) {
            (Harm::Harmful, _) => Severity::Error,
            (Harm::Harmless, _) | (Harm::Undecided, false) => Severity::Note,
            (Harm::Undecided, true) => Severity::Warning,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_uses_the_words() {
        for kind in Kind::ALL {
            let json = serde_json::to_string(kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.word()));
            assert_eq!(Kind::from_word(kind.word()), Some(*kind));
        }
        assert_eq!(Kind::from_word("RACE"), None);
    }

    #[test]
    fn severities_are_ordered() {
        assert!(Severity::Note < Severity::Warning);
        assert!(Severity::Warning < Severity::Error);
        assert_eq!(Severity::of_race(Harm::Undecided, true), Severity::Warning);
        assert_eq!(Severity::of_race(Harm::Undecided, false), Severity::Note);
        assert_eq!(Severity::of_race(Harm::Harmful, false), Severity::Error);
    }
}
