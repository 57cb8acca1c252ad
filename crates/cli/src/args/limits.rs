//! The limits of every command.

use crate::units::{parse_bytes, parse_duration};
use anyorder_finding::{OptionValues, option};
use clap::Args;
use std::time::Duration;

/// Limits of time and memory.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct LimitArgs {
    /// Stop after this time and print the findings so far; for example `30s` or `5m`
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,

    /// Stop when this much memory is used and print the findings so far; for example `2G`
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    pub(crate) memory_limit: Option<u64>,
}

impl LimitArgs {
    /// Records the given limits among the options of a result.
    pub(crate) fn set(&self, options: &mut OptionValues) {
        let ms = |limit: Duration| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        options.set_some(option::TIME_LIMIT, self.time_limit.map(ms));
        options.set_some(option::MEMORY_LIMIT, self.memory_limit);
    }
}
