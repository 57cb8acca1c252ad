//! The jobs of anyorder as a library. Each job has one entry point, which runs the engines and
//! checks their results.
//!
//! A job takes an input, its options as a plain struct, and a
//! [`Control`](anyorder_system::Control) that watches and stops it. One that searches for findings
//! takes a [`JobControl`], which also listens for what was found so far. It returns data: findings,
//! runs, counts, as a [`JobResult`]. It prints nothing and reads no clock; the only files that it
//! opens are checkpoints of searches. [`Collected`] puts the results of several inputs together.
//!
//! | a front end gives | jobs |
//! | --- | --- |
//! | a trace, as a [`TraceInput`] | [`check_trace()`], [`predict()`], [`consistency()`], [`robust_trace()`], [`why()`], [`replay_witness()`], [`TraceCertifier`] |
//! | a recording of a native program | [`native_run::traced`] makes a [`TraceInput`] of it |
//! | a trace that is too long for memory | [`predict_stream()`] |
//! | the text of a model, or a program of the machine, as a [`model::Model`] | [`model::check_model`], [`model::replay_model`], [`certify_model`], and all of the next two rows |
//! | smart-home apps, as a [`home::HomeModel`] | those of its model |
//! | a state system, as a [`states::StateProgram`] | [`states::check_states`], [`states::simulate`], [`states::export_graph`], [`states::compare()`] |
//! | a configuration of Home Assistant | [`home_assistant::check_home`] |
//! | a web page, as a [`page::PageProgram`] | [`page::explore_page`], [`page::replay_page`], [`page::shrink_page`] |
//! | a task system, as an [`explore::TaskProgram`] | [`explore::explore`], [`explore::replay_run`], [`explore::shrink()`], [`certify_program`] |

#![forbid(unsafe_code)]

pub use anyorder_certify::WrittenNames;
pub use anyorder_hb::{GroupBy, RuleSet};
pub use anyorder_pipe::end_all_children;
pub use certify::{
    CertifyOptions, CheckedText, TraceCertifier, certificate_text, certify_model, certify_program,
};
pub use check_trace::{CheckTraceOptions, check_trace};
pub use consistency::{
    Consistency, ConsistencyOptions, Consistent, MailboxRule, Overtakings, Procedure, Proof,
    consistency,
};
pub use control::JobControl;
pub use failure::{
    Content, Failure, Hint, KnownEvents, LacksData, Malformed, Missing, Mistake, ModelMistakes,
    ModelWarning, Needs, NoEvent, NotShrinkable, ReadAs, Request, SpecificationMistakes, Unusable,
    WrongWitness,
};
pub use limits::stopped_by;
pub use model::robust_model;
pub use not_understood::StreamDoubts;
pub use predict::{
    Analysis, CheckedWitness, Pairs, PredictOptions, Prediction, Reordering, Specifications,
    StoredWitness, WitnessOptions, WitnessReplay, predict, predict_stream, replay_witness,
};
pub use remark::{FullReason, Level, Remark, Remarked};
pub use result::{Collected, JobResult, Reported};
pub use robust::{
    Declared, RobustModelOptions, RobustProgram, RobustTraceOptions, robust_program, robust_trace,
    robust_verdict,
};
pub use schedules::{ClaimedFailure, Shows, Stored, first_schedule, read_schedules, schedule_of};
pub use trace_input::{TraceInput, observed};
pub use verdict::{
    CertificateFault, CertificateKind, CertificateVerdict, Certified, CertifiedFile,
};
pub use why::{Explanation, why};

pub mod explore;
pub mod home;
pub mod home_assistant;
pub mod model;
pub mod native_confirm;
pub mod native_run;
pub mod native_stress;
pub mod page;
pub mod states;

mod certify;
mod check_trace;
mod consistency;
mod control;
mod failure;
mod json;
mod kept;
mod limits;
mod not_understood;
mod predict;
mod published;
mod remark;
mod result;
mod robust;
mod rules;
mod schedules;
mod trace_input;
mod verdict;
mod why;
mod words;

/// Where bugs are reported.
pub const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");
