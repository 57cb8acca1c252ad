//! All tests in one binary: there is one to link.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]

mod counts;
mod image;
mod kinds;
mod limits;
mod order;
mod reader;
mod run;
mod steps;
mod stress;
#[path = "../../native/src/recording/unpack.rs"]
mod unpack;
