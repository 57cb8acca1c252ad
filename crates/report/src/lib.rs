//! Shows what was found: on a terminal, as JSON, JSON lines, SARIF and JUnit, and as an HTML page.
//!
//! This crate decides how a result looks. It decides nothing about the result: what is a finding,
//! what counts, and in which order findings stand is given. Every report is a function of its
//! arguments, writes to a `Write`, and is the same for the same arguments.
//!
//! Names, source positions and values come from inputs that nobody vouches for. In every report
//! they can be read and can do nothing: terminal escapes, markup and characters that reorder text
//! are shown by their numbers, and the HTML page runs no script but its own.
//!
//! Where a run shows a finding, [`run::Run`] is what the terminal and the page draw of it.
//!
//! The entry points: [`terminal::write`], [`json::write`], [`json::write_lines`], [`sarif::write`],
//! [`junit::write`], [`html::write`] and [`html::write_report`].
//!
//! ```
//! use anyorder_finding::{Finding, Kind, Outcome, Policy};
//! use anyorder_report::terminal;
//!
//! let mut outcome = Outcome::new("check", "0.1.0");
//! outcome.findings.push(Finding { title: "hostile \u{1b}[2J name".into(), ..Finding::new(Kind::Race) });
//! let mut text = Vec::new();
//! terminal::write(&outcome, &Policy::default(), &terminal::Options::default(), &mut text)?;
//! let text = String::from_utf8_lossy(&text);
//! assert!(text.contains(r"hostile \u{1b}[2J name"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod escape;
pub mod html;
pub mod json;
pub mod junit;
mod lane_table;
mod run_table;
pub mod sarif;
pub mod terminal;
mod words;
mod wrap;
