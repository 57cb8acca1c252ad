//! Descriptions of models: findings, sites, runs.

pub(super) use findings::{described, site_at, site_of_step};
pub(super) use steps::run_of;

mod findings;
mod steps;
mod stuck;
