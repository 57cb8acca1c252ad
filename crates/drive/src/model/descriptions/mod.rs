//! Descriptions of models: findings, sites, runs.

pub(super) use findings::{described, site_at, site_of_step};
pub(super) use steps::run_of;

mod deadlock;
mod findings;
mod steps;
