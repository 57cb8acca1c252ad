//! The home of the published tool for pairs of apps: its devices, its events, its states.
//!
//! **Problem.** The tool runs two apps with simulated events in an explicit-state model checker of
//! Java programs. A state is what its program holds where it chooses: the fields of devices and
//! apps. Here the same states and transitions are found without the Java program.
//!
//! **Source.** "Stateful Dynamic Partial Order Reduction for Model Checking Event-Driven
//! Applications that Do Not Terminate", and the tools that it names. The facts about devices are in
//! `data/published.toml`.
//!
//! **Guarantee.** None of its own: it does what that tool does, with what is odd in it. What is not
//! understood is a [`Missing`].

mod date;
mod device;
mod events;
mod inputs;
mod kept;
mod platform;
mod run;
mod steps;
mod system;
mod table;
mod things;
mod world;

pub use system::{Action, Missing, PublishedHome, State};
