//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod learn;
mod limits;
mod litmus;
mod mutants;
mod optimal;
mod optimal_cores;
mod plain;
mod programs;
mod races;
mod reads_from;
mod resume;
mod rising;
mod sample;
mod script;
mod specified;
mod spinning;
mod traces;
mod weak;
mod weak_classics;
mod weak_cores;
mod weak_sc;
