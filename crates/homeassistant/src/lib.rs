//! Home Assistant configurations: from files to programs of the machine, and their search.
//!
//! The crate decides which automations of a home fight: whether one event makes two of them set one
//! state differently, whether they start each other without end, and whether one overwrites after
//! a wait what another one has set meanwhile. It does not know devices, areas and entities that are
//! only in the registry of a running Home Assistant.
//!
//! **Guarantees.** Each finding has a run of the program. A run may be invented where something is
//! not known: then the finding says so. A construct that was not understood is a
//! [`Problem`](place::Problem) with its place, and an answer with one is not complete. Files
//! outside of the configuration, and secrets, are never read. No input makes the crate panic.
//!
//! ```
//! use anyorder_homeassistant::{analyse, config, syntax};
//! let home = "../../examples/homeassistant/evening";
//! let home = syntax::Home::new(config::load(home.as_ref())?);
//! let checked = analyse::check(&home, &analyse::Options::default(), &|| false);
//! assert!(checked.findings.iter().any(|finding| finding.entity == "light.porch"));
//! # Ok::<(), config::LoadError>(())
//! ```
//!
//! Modules in reading order: [`place`] has places and problems; [`yaml`] reads files as nodes;
//! [`config`] puts files together; [`syntax`] makes automations of nodes; [`lower`] makes programs
//! of automations; [`analyse`] searches them.

#![forbid(unsafe_code)]

pub mod place;

pub mod yaml;

pub mod config;

pub mod syntax;

pub mod lower;

pub mod analyse;
