//! The contract of task systems, and the kinds of systems it is put to. `README.md` beside this
//! file says how to add a kind.

// Helpers print what was skipped, and how often each clause was put to the test.
#![allow(clippy::print_stdout)]

mod by_hand;
mod changed;
mod children;
mod clauses;
mod closures;
mod contract;
mod diamonds;
mod enumerate;
mod kinds;
mod losses;
mod machine;
mod machine_models;
mod mutants;
mod names;
mod recorder;
mod subject;
