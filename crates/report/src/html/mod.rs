//! The HTML report: one file, no network, only its own scripts.
//!
//! The page is readable without scripts: its markup contains all findings. Scripts extend it: one
//! filters the list, two draw and move the timeline from a data block, one lays pictures over each
//! other. A content security
//! policy names the scripts and the style sheet by hash and forbids everything else. So nothing
//! from an input could run or load, even if it passed the escaping.

pub use timeline::{Budget, TimelineData};
pub use write::{HtmlOptions, write, write_report};

mod comparison;
mod csp;
mod evidence;
mod finding;
mod labels;
mod lanes;
mod matrix;
mod page;
mod sequence;
mod strip;
mod threads;
mod timeline;
mod write;
