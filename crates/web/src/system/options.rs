//! Options of a page, and numbers of its runs.

use crate::actions::Actions;
use crate::browser::BrowserOptions;
use crate::sabotage::Sabotage;
use crate::source::StorageState;
use anyorder_common::hash::Hash128;
use anyorder_system::ProgramIdentity;
use std::time::Duration;

/// How a page is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageOptions {
    /// The address of the page. With a folder as the source: `http://localhost/`.
    pub url: String,
    /// How the browser is started.
    pub browser: BrowserOptions,
    /// The steps of the user.
    pub actions: Actions,
    /// The size of the window in pixels. Default: 1024 by 768.
    pub size: (u32, u32),
    /// The seed of the random numbers that the page gets. Default: 1.
    pub seed: u32,
    /// The time at which the page begins, in milliseconds since 1970. Default: 2026-01-01.
    pub epoch_ms: u64,
    /// Whether each response has two alternatives besides itself: a connection that fails, and one
    /// on which nothing comes. Default: no.
    pub faults: bool,
    /// Whether dialogs are answered with OK; else they are cancelled. Default: yes.
    pub accept_dialogs: bool,
    /// Whether the outcome has the pixels of the page. Default: yes.
    pub pixels: bool,
    /// How often a timer may set itself again. What would come after that stays in the queue, so
    /// that a page that polls has an end. Default: 3.
    pub repeats_max: u32,
    /// The most events that may wait at once. More end the run with an error. Default: 10,000.
    pub pending_max: usize,
    /// What the browser has before the page is loaded. Default: nothing.
    pub stored: StorageState,
    /// Headers, by name and value, that are added to what the real server of the page's own origin
    /// is asked. Default: none.
    pub headers: Vec<(String, String)>,
    /// Whether a tab of the browser may be used for more than one run, if nothing can be left in
    /// it. Twice as fast; the outcome is the same. Default: yes.
    pub reuse_tabs: bool,
    /// A pause after each event, so that a person can follow. Default: none.
    pub pause: Duration,
    /// The time for a page to answer, and to end an event. Default: 60 s.
    pub reply_timeout: Duration,
    /// The time for a page to receive a response that it got; more on a busy machine. Default: 2 s.
    pub finish_timeout: Duration,
    /// A fault injected for tests.
    #[cfg(test)]
    pub sabotage: Sabotage,
}

impl PageOptions {
    /// Returns the identity of the page with its user: the address, and a hash of that and of the
    /// steps.
    #[must_use]
    pub fn identity(&self) -> ProgramIdentity {
        let steps = self.actions.steps().iter();
        let hash = steps.fold(Hash128::new().part(self.url.as_bytes()), |hash, step| {
            hash.part(step.name.to_string().as_bytes())
        });
        ProgramIdentity { hash: Some(hash), ..ProgramIdentity::new(&self.url) }
    }

    /// Returns the injected fault.
    pub(super) const fn sabotage(&self) -> Sabotage {
        #[cfg(test)]
        return self.sabotage;
        #[cfg(not(test))]
        Sabotage::None
    }
}

impl Default for PageOptions {
    fn default() -> PageOptions {
        PageOptions {
            url: "http://localhost/".to_owned(),
            browser: BrowserOptions::default(),
            actions: Actions::default(),
            size: (1024, 768),
            seed: 1,
            epoch_ms: 1_767_225_600_000,
            faults: false,
            accept_dialogs: true,
            pixels: true,
            repeats_max: 3,
            pending_max: 10_000,
            stored: StorageState::default(),
            headers: Vec::new(),
            reuse_tabs: true,
            pause: Duration::ZERO,
            reply_timeout: Duration::from_secs(60),
            finish_timeout: Duration::from_secs(2),
            #[cfg(test)]
            sabotage: Sabotage::None,
        }
    }
}

/// Numbers of all runs of a system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageStats {
    /// How often a browser was started.
    pub browsers: u64,
    /// Tabs that were made in them.
    pub tabs: u64,
    /// Runs that were begun.
    pub runs: u64,
    /// Events that were executed.
    pub events: u64,
    /// Requests that came after the event that made them was over. They count as made by it. Each
    /// is a gap in the control of the page, such as a request of a worker.
    pub late_requests: u64,
    /// Timers that were left in the queue because they had set themselves too often.
    pub timers_left: u64,
}
