//! Results of analyses as data: the one result type of every engine and every report.
//!
//! This crate decides what a finding is, how a complete result is written as JSON, which findings
//! count for the exit status, and which ones a team excludes. It knows nothing of traces, engines
//! or files, and prints nothing.
//!
//! The types to know: [`Outcome`], all results of one command; [`Finding`], one reported problem;
//! [`Site`], one place of it; [`Policy`], the rules that make a result a failure.
//!
//! ```
//! use anyorder_finding::{Finding, Kind, Outcome, Policy, Site, assign_ids, exit, exit_code};
//!
//! let site = |line| Site { file: Some("app.js".into()), line: Some(line), ..Site::default() };
//! let mut outcome = Outcome::new("check", "0.1.0");
//! outcome.findings.push(Finding {
//!     title: "`cart` is written by two tasks in either order".into(),
//!     sites: vec![site(10), site(20)],
//!     ..Finding::new(Kind::Race)
//! });
//! assign_ids(&mut outcome.findings);
//! assert_eq!(exit_code(&outcome, &Policy::default()), exit::FINDINGS);
//! ```

#![forbid(unsafe_code)]

pub use baseline::{Baseline, BaselineEntry, BaselineError};
pub use exit::{Policy, exit_code};
pub use explain::{explain, topics};
pub use finding::{
    Coverage, CycleConflict, ExplanationStep, Finding, Frame, Related, Reproduction, Site,
    SourceLines, Suppressed, Witness, WitnessPlace,
};
pub use group::{Placed, assign_groups, assign_groups_of_memory};
pub use id::{assign_ids, assign_ids_of};
pub use ignored::mark_ignored_input;
pub use names::option::OptionName;
pub use names::stat::{Merge, StatName};
pub use names::{option, stat};
pub use ordered::Ordered;
pub use origin::Origins;
pub use outcome::{Input, OptionValue, OptionValues, Outcome, Stat, Stats, Warning, schema};
pub use stack::Stack;
pub use suppress::{Applied, Suppression, SuppressionError, Suppressions};
pub use tsan::{TsanKind, TsanSuppression, TsanSuppressions};
pub use usage::{CheckedHome, Usage};
pub use words::{
    CoverageLevel, Harm, Kind, MisuseCategory, PredictedCategory, RaceCategory, RelatedKind,
    Reproduced, Severity, Verdict, WarningKind,
};

mod baseline;
pub mod exit;
mod explain;
mod finding;
pub mod glob;
mod group;
mod id;
mod ignored;
pub mod location;
mod names;
mod ordered;
mod origin;
mod outcome;
mod rules;
pub mod run;
mod stack;
mod suppress;
mod title;
mod tsan;
mod usage;
mod words;
