//! Tests of the reduced search against full search and against definitions.

mod check;
mod contract;
mod examples;
mod families;
mod random;
mod threads;
