//! The HTML report: one file, no network, no script but its own.
//!
//! The page is readable without scripts: all findings are in its markup. Scripts add to it: one
//! filters the list, two draw and move the timeline from a data block. A content security policy
//! names them, and the style sheet, by hash and forbids everything else, so that nothing from an
//! input could run or load even if it got past the escaping.

pub use timeline::{Budget, TimelineData};
pub use write::{Options, write, write_report, write_report_with_runs, write_with_runs};

mod comparison;
mod csp;
mod finding;
mod labels;
mod lanes;
mod page;
mod sequence;
mod threads;
mod timeline;
mod write;
