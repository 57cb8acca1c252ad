//! Shows results: on a terminal, as JSON, JSON lines, SARIF and JUnit, and as an HTML page.
//!
//! This crate decides how a result looks. It decides nothing about the result: the findings, their
//! order and their effect on the exit status are given. Every report is a function of its arguments
//! and writes to a `Write`.
//!
//! Names, source positions and values come from untrusted inputs. Every report shows them readable
//! and harmless: it shows terminal escapes, markup and characters that reorder text by their
//! numbers, and the HTML page runs only its own scripts.
//!
//! Where a run shows a finding, the terminal and the page draw that
//! [`Run`](anyorder_finding::run::Run).
//!
//! The entry points: [`terminal::write`], [`json::write`], [`json::write_lines`], [`sarif::write`],
//! [`junit::write`], [`html::write`] and [`html::write_report`].
//!
//! ```
//! use anyorder_finding::run::Runs;
//! use anyorder_finding::{Finding, Kind, Outcome, Policy};
//! use anyorder_report::terminal;
//!
//! let mut outcome = Outcome::new("check", "0.1.0");
//! outcome.findings.push(Finding { title: "hostile \u{1b}[2J name".into(), ..Finding::new(Kind::Race) });
//! let mut text = Vec::new();
//! let (policy, options) = (Policy::default(), terminal::TextOptions::default());
//! terminal::write(&outcome, &policy, &Runs::new(), &options, &mut text)?;
//! let text = String::from_utf8_lossy(&text);
//! assert!(text.contains(r"hostile \u{1b}[2J name"));
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod escape;
mod fold;
pub mod html;
pub mod info;
pub mod json;
pub mod junit;
mod lane_table;
pub mod limits;
mod run_table;
pub mod sarif;
mod source;
pub mod terminal;
mod words;
mod wrap;
