//! All tests of the crate in one binary: building and linking many takes longer than the tests.

mod common;

mod calls;
mod certify;
mod check;
mod consistency;
mod deadlocks;
mod ended;
mod ends;
mod errors;
mod explore;
mod formats;
mod handles;
mod hints;
mod hostile;
mod ids;
mod livelock;
mod models;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod native;
#[path = "pages/main.rs"]
mod pages;
mod predict;
#[path = "programs/main.rs"]
mod programs;
#[path = "recorded/main.rs"]
mod recorded;
mod results;
mod robust;
#[path = "robust_brute/main.rs"]
mod robust_brute;
mod robust_models;
mod runs;
mod streams;
mod stuck;
mod threads;
mod tools;
mod transactions;
mod tutorial;
mod understood;
#[path = "written/main.rs"]
mod written;
