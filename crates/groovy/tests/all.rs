//! All tests of the crate in one binary: building and linking many takes longer than the tests.

#![expect(clippy::print_stdout, reason = "reports what was skipped, and how often")]

mod corpus;
mod evaluate;
mod generate;
mod lower;
mod oracle;
mod random;
mod robust;
mod sabotage;
mod syntax;
