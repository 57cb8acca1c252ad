//! Native programs: starts them under the recording runtime, reads what it recorded, and makes a
//! trace of it.
//!
//! The way of a run: [`launch`] starts the program with the image of `crates/runtime` in the place
//! of ThreadSanitizer's runtime. The image writes a *recording*, a folder with two files for each
//! process image. [`recording`] reads one, [`merge`] puts the events of its threads into one
//! order, [`symbols`] names places in code ([`variables`] those in memory), and [`to_traces`]
//! makes a [`Trace`](anyorder_trace::Trace) of all that, or several. `docs/formats/recording.md`
//! describes the files.
//!
//! This crate decides nothing about orders and races.

#![forbid(unsafe_code)]

pub use to_trace::{
    Frame, Misuse, Names, NoNames, Options, Rule, Stats, Traced, to_trace, to_traces,
};

pub mod launch;
pub mod merge;
pub mod plan;
pub mod recording;
pub mod rerun;
pub mod schedule;
pub mod symbols;
mod to_trace;
pub mod variables;
