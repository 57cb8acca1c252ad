//! Programs compute the same with and without the log.

mod generator;
mod libraries;
mod programs;
mod random;
mod runner;
