//! All suites.

mod commands;
mod fixture;
