//! Rules of the repository.

mod edges;
mod layers;
mod light;
mod options;
mod policy;
mod suites;
mod tidy;
