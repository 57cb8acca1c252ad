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

    /// When the event of a command runs its handlers
    #[arg(
        long,
        value_enum,
        default_value_t,
        conflicts_with = "as_published",
        help_heading = "Smart homes"
    )]
    pub(crate) events: Events,
}

/// When the event of a command runs its handlers.
#[derive(clap::ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Events {
    /// Inside the command
    #[default]
    Immediate,
    /// After the handler that gave the command has ended: events wait in a queue
    Queued,
}

impl HomeArgs {
    /// Returns the first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--pairs", self.pairs),
            ("--as-published", self.as_published),
            ("--events", self.events != Events::Immediate),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.events == Events::Queued
    }

    pub(crate) fn options(&self) -> HomeOptions {
        HomeOptions {
            as_published: self.as_published,
            is_queued: self.is_queued(),
            ..HomeOptions::default()
        }
    }
}
