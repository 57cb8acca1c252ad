//! Remarks on how a job went, as data. They are for whoever started it, and no part of its result.

use anyorder_common::numbers::plural;
use anyorder_common::text::{escape, shown};
use std::fmt;
use std::path::PathBuf;

/// A remark on how a job went: what it could not look at, or did otherwise than one may expect.
///
/// `Display` gives words for a caller in Rust, safe to print. A front end has its own for the
/// remarks that name its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// The name of the input that it is about; `None` where it names a file itself.
    pub input: Option<String>,
    /// What happened.
    pub what: Remarked,
}

/// What happened in a job.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Remarked {
    /// All states are searched, without reduction.
    FullSearch(FullReason),
    /// The chosen reduction cannot check responses.
    NoResponses,
    /// Bitstate storage cannot check responses.
    NoResponsesInBits,
    /// The published algorithm does not look for update conflicts.
    NoConflicts,
    /// Only states and transitions are counted, by the published tool's devices.
    OnlyCounted,
    /// The search was saved, and can be continued.
    Saved(PathBuf),
    /// The search could not be saved: why not.
    NotSaved(PathBuf, String),
    /// A part of the program never runs: which one, in words.
    NeverRun(String),
    /// The trace has only threads, which robustness says little about: in words.
    OnlyThreads(String),
    /// Calls were ignored, because no specification is for their objects.
    Unspecified {
        /// The number of calls.
        calls: u64,
        /// The first objects.
        objects: Vec<String>,
        /// The number of the other objects.
        more: usize,
    },
    /// So many witnesses did not hold, which is a bug.
    Rejected(u64),
    /// So many attempts at a run failed and were repeated.
    Retries(u64),
    /// So many planned runs were given up.
    LostRuns(u64),
    /// The program does not tell what its tasks wait for.
    NoWaiting,
    /// The recorded run was cut at the step limit.
    CutRecording,
    /// Invariants were checked only in the runs that were made.
    InvariantsOfRuns,
    /// The search was by what each thread can see, because its calls have a specification.
    ByThreads,
    /// The search could not be by what each thread can see: why not.
    NotByThreads(String),
}

/// Why all states are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FullReason {
    /// The search continues one from a checkpoint.
    Resume,
    /// The search is saved to a checkpoint.
    Checkpoint,
    /// Symmetric states are taken for one.
    Symmetry,
    /// The storage is not the default.
    Storage,
    /// The order is not breadth first.
    Order,
    /// A maximum depth cuts runs.
    Depth,
    /// The program has response properties.
    Responses,
}

/// How much a remark matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// It is good to know.
    Note,
    /// Something was not done.
    Warning,
}

impl Remark {
    /// Makes a remark on an input.
    #[must_use]
    pub fn on(input: impl Into<String>, what: Remarked) -> Remark {
        Remark { input: Some(input.into()), what }
    }

    /// Returns how much it matters.
    #[must_use]
    pub const fn level(&self) -> Level {
        match self.what {
            Remarked::FullSearch(_)
            | Remarked::InvariantsOfRuns
            | Remarked::ByThreads
            | Remarked::NotByThreads(_) => Level::Note,
            _ => Level::Warning,
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.input {
            Some(input) => write!(f, "{}: {}", escape(input), self.what),
            None => self.what.fmt(f),
        }
    }
}

impl fmt::Display for Remarked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Remarked::FullSearch(reason) => {
                return write!(f, "full search, without reduction: {reason}");
            }
            Remarked::NoResponses => "responses are not checked; `Algorithm::Full` checks them",
            Remarked::NoResponsesInBits => "responses are not checked with `Storage::Bitstate`",
            Remarked::OnlyCounted => {
                "states and transitions are only counted: update conflicts are not looked for"
            }
            Remarked::NoConflicts => "`Algorithm::Paper` does not check update conflicts",
            Remarked::Saved(file) => return write!(f, "the search was saved to {}", shown(file)),
            Remarked::NotSaved(file, why) => {
                return write!(f, "cannot save the search: {}: {}", shown(file), escape(why));
            }
            Remarked::NeverRun(words) | Remarked::OnlyThreads(words) => {
                return f.write_str(&escape(words));
            }
            Remarked::Unspecified { calls, objects, more } => {
                let mut names: Vec<String> =
                    objects.iter().map(|name| format!("`{}`", escape(name))).collect();
                if *more > 0 {
                    names.push(format!("and {more} more"));
                }
                let (calls, names) = (plural(*calls, "call"), names.join(", "));
                return write!(f, "{calls} ignored, no specification for {names}");
            }
            Remarked::Rejected(count) => {
                let what = plural(*count, "witness");
                let text = "the independent checker rejected witnesses, which is a bug in anyorder";
                return write!(f, "{what} did not hold: {text}; the pairs are unconfirmed");
            }
            Remarked::Retries(count) => {
                let what = plural(*count, "attempt");
                return write!(f, "{what} at a run failed and had to be repeated");
            }
            Remarked::LostRuns(count) => {
                let what = plural(*count, "planned run");
                return write!(f, "{what} given up, because all attempts failed");
            }
            Remarked::NoWaiting => {
                "the program does not report what its tasks wait for, so it may allow further orders"
            }
            Remarked::ByThreads => {
                "explored by what each thread can see; this trusts the specification of the calls, and `Algorithm::Stateful` does not"
            }
            Remarked::NotByThreads(why) => {
                return write!(f, "the specification is not used: {}", escape(why));
            }
            Remarked::CutRecording => {
                "the recorded run was cut at the step limit; allow more steps, or give a run that ends"
            }
            Remarked::InvariantsOfRuns => {
                "invariants were checked only in the runs that were made; `Algorithm::Stateful` checks all states"
            }
        };
        f.write_str(words)
    }
}

impl fmt::Display for FullReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FullReason::Resume => "a checkpoint continues a full search",
            FullReason::Checkpoint => "a checkpoint saves a full search",
            FullReason::Symmetry => "symmetry needs full search",
            FullReason::Storage => "other storage needs full search",
            FullReason::Order => "another order needs full search",
            FullReason::Depth => "a maximum depth cuts runs, and reduction needs complete runs",
            FullReason::Responses => "response properties need full search",
        })
    }
}
