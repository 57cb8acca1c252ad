//! Rules of the repository.

mod edges;
mod layers;
mod light;
mod policy;
mod suites;
mod tidy;
