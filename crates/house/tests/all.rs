//! Rules of the repository.

mod edges;
mod layers;
mod policy;
mod suites;
mod tidy;
