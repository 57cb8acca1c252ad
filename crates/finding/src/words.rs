//! The fixed words of results: kinds, verdicts, severities, harm, categories, coverage levels.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares an enum whose variants are words of the JSON format, with its list and its parser.
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

            /// Returns the word for it, the same in every report.
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
        /// Two accesses can happen against the order that was intended.
        OrderViolation = "order_violation",
        /// An assertion fails in some order.
        Assertion = "assertion",
        /// Some order ends with everybody waiting.
        Deadlock = "deadlock",
        /// All is done in some order, and the end is not one that is allowed.
        Final = "final",
        /// A stated invariant does not hold in some order.
        Invariant = "invariant",
        /// An input event is not answered in some order.
        Response = "response",
        /// Two updates of one state do not commute.
        UpdateConflict = "update_conflict",
        /// What was observed cannot happen under the rules.
        Inconsistency = "inconsistency",
        /// Two orders of the same inputs end in different observations.
        Nondeterminism = "nondeterminism",
        /// A run equals no run in which the input events are handled one after another.
        NotSerializable = "not_serializable",
        /// Two runs of one schedule differ: the system under test is not controlled.
        Unstable = "unstable",
        /// A run did not end within the number of steps allowed.
        StepLimit = "step_limit",
    }
}

words! {
    /// The answer of a command.
    Verdict {
        /// Nothing that counts was found, and everything asked for was searched.
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
    /// What kind of warning stands in a result.
    #[non_exhaustive]
    WarningKind {
        /// Something of the input was ignored: it orders nothing and accesses nothing, whatever it
        /// did in the program.
        Ignored = "ignored",
        /// A part of the input is missing.
        Damaged = "damaged",
        /// Something is odd, and was used as it stands.
        Odd = "odd",
    }
}

words! {
    /// How much a finding matters; later values matter more.
    Severity {
        /// Worth knowing: a covered race, or one known to do no harm.
        Note = "note",
        /// Can go wrong; whether it does is not known.
        Warning = "warning",
        /// Goes wrong: a run shows it.
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
    /// What leaves the order of a race's two accesses open. Where several apply: `multi_threaded`
    /// before `co_enabled` before `delayed` before `cross_posted`. But a race that is both of the
    /// last two is `cross_posted` if another race of its location is `delayed` already: so
    /// DroidRacer's tool counts. The list is in the order of reports.
    RaceCategory {
        /// The accesses are on two threads.
        MultiThreaded = "multi_threaded",
        /// Where the two chains of posts part, one of the posts comes from another thread.
        CrossPosted = "cross_posted",
        /// The two chains of posts go back to two input events that can come in either order.
        CoEnabled = "co_enabled",
        /// Where the two chains of posts part, one of the posts has a delay.
        Delayed = "delayed",
        /// None of the others.
        Uncategorised = "uncategorised",
    }
}

words! {
    /// What goes wrong where two actions of a prediction come the other way round, or why they may.
    PredictedCategory {
        /// Memory is used after it was freed.
        UseAfterFree = "use_after_free",
        /// Memory is freed twice.
        DoubleFree = "double_free",
        /// A lock is used after it was destroyed.
        DestroyedLock = "destroyed_lock",
        /// A channel is used after it was closed.
        ClosedChannel = "closed_channel",
        /// A file is used after it was closed.
        ClosedFile = "closed_file",
        /// A signal comes before the wait for it.
        LostSignal = "lost_signal",
        /// A call waits for what another one took, and nothing else serves it.
        LostWakeup = "lost_wakeup",
        /// A context is asked for its error before it is cancelled.
        EarlyErr = "early_err",
        /// Two accesses of two tasks of one handler.
        SameHandler = "same_handler",
        /// Two calls that do not commute.
        Calls = "calls",
        /// Two accesses under one lock.
        Guarded = "guarded",
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
    /// Returns the severity of a race from what is known of it: what a run has shown to go wrong is
    /// an error; what is covered or harmless a note; everything else a warning.
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
