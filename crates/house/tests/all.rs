//! Rules of the repository.

mod edges;
mod faults;
mod files;
mod layers;
mod light;
mod modules;
mod options;
mod policy;
mod suites;
mod tidy;
