//! The options of smart-home apps.

use anyorder_drive::home::HomeOptions;
use clap::Args;

/// How smart-home apps are checked.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct HomeArgs {
    /// Check each pair of the apps, and not all of them together
    #[arg(long, help_heading = "Smart homes")]
    pub(crate) pairs: bool,

    /// By the rules of the published tool for pairs of apps: timers end at once, the last app hears
    /// of an event first, and no other rules
    #[arg(long, help_heading = "Smart homes")]
    pub(crate) as_published: bool,
}

impl HomeArgs {
    /// Returns the first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [("--pairs", self.pairs), ("--as-published", self.as_published)];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    pub(crate) fn options(&self) -> HomeOptions {
        HomeOptions { as_published: self.as_published, ..HomeOptions::default() }
    }
}
