//! The contract of task systems, and the kinds of systems tested. `README.md` in this folder says
//! how to add a kind.

// Helpers print skipped tests, and how often each clause was tested.
#![allow(clippy::print_stdout)]

mod by_hand;
mod children;
mod clauses;
mod closures;
mod enumerate;
mod kinds;
mod losses;
mod machine;
mod machine_models;
mod mutants;
mod names;
mod promises;
mod recorder;
mod subject;
