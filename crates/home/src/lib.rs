//! The platform of smart-home apps in Groovy, and the apps of a home as a program of the machine.
//!
//! The crate decides what a device can do ([`capability`]), which inputs an app asks for
//! ([`app`]), which device or value each has ([`config`]), and what the apps do together: a
//! [`Program`](anyorder_program::Program) with one component for each app ([`lower`]). It searches
//! nothing, and it opens no files.
//!
//! **What the program is worth.** A handler is run by the reference evaluator for all values that
//! it can read, so a handler that is understood is exact. What is not understood, what a limit cut
//! and what is abstracted (answers of the network, time in quarters of a day) is a
//! [`Note`](unfold::Note) with its place.
//!
//! ```
//! use anyorder_home::{app::App, capability::Capabilities, config, lower};
//!
//! let light = "preferences { input 'door', 'capability.contactSensor'; input 'lamp', 'capability.switch' }
//! def installed() { subscribe(door, 'contact.open', opened) }
//! def opened(evt) { lamp.on() }";
//! let apps = [App::read("light.groovy", light)?];
//! let home = config::shared(&apps, &Capabilities::built_in());
//! let made = lower::program("home", &apps, &home, &lower::Options::default())?;
//! assert!(made.notes.is_empty());
//! assert_eq!(made.program.components.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod capability;

pub mod app;
pub mod config;
pub mod value;

pub mod published;
pub mod rules;
mod slice;
pub mod unfold;

pub mod lower;
