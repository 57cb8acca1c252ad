//! Tests of the platform of smart-home apps.

#![expect(clippy::print_stdout, reason = "reports what was skipped, and how often")]

mod concrete;
mod corpus;
mod homes;
mod limits;
mod memo_twin;
mod published;
mod queue;
mod shapes;
mod slice;
mod slice_twin;
mod table;
mod unfold_twin;
mod verdicts;
