//! The contract of task systems, and the kinds of systems it is put to. `README.md` beside this file says how to add
//! a kind.

// Helpers print what was skipped, and how often each clause was put to the test.
#![allow(clippy::print_stdout)]

mod subject;

mod contract;

mod clauses;

mod enumerate;

mod recorder;

mod by_hand;

mod closures;

mod children;

mod machine;

mod machine_models;

mod diamonds;

mod changed;

mod kinds;

mod losses;

mod names;

mod mutants;
