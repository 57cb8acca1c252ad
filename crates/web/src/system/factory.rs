//! Systems of one page, and the browsers that they share one after another.

use super::options::PageOptions;
use super::page_system::PageSystem;
use crate::actions::Actions;
use crate::page::PageDriver;
use crate::rewriter::Rewriter;
use crate::source::Store;
use anyorder_system::{RunError, SystemFactory, TaskSystem};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Makes systems of one page, each with a browser of its own while it is used. All have the same
/// responses.
#[derive(Clone)]
pub struct PageFactory {
    options: PageOptions,
    store: Store,
    rewriter: Arc<dyn Rewriter>,
    browsers: Browsers,
}

impl PageFactory {
    /// Returns a factory: how the page is run, where its responses come from, and what is done to
    /// its texts.
    #[must_use]
    pub fn new(options: PageOptions, store: Store, rewriter: Arc<dyn Rewriter>) -> PageFactory {
        PageFactory { options, store, rewriter, browsers: Browsers::default() }
    }

    /// Returns how the page is run.
    #[must_use]
    pub fn options(&self) -> &PageOptions {
        &self.options
    }

    /// Returns where its responses come from.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Puts other steps in the place of the user's.
    pub fn set_actions(&mut self, actions: Actions) {
        self.options.actions = actions;
    }
}

impl SystemFactory for PageFactory {
    type System = PageSystem;

    fn make(&self) -> Result<PageSystem, RunError> {
        let (options, store, rewriter) =
            (self.options.clone(), self.store.clone(), self.rewriter.clone());
        let mut system = PageSystem::waiting(options, store, rewriter, self.browsers.clone());
        system.reset()?;
        Ok(system)
    }
}

impl fmt::Debug for PageFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageFactory").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Browsers that no system uses now, with the tabs of their last runs. To start one takes several
/// times as long as a run of a small page.
#[derive(Clone, Default)]
pub(super) struct Browsers(Arc<Mutex<Vec<PageDriver>>>);

impl Browsers {
    pub(super) fn take(&self) -> Option<PageDriver> {
        self.waiting().pop()
    }

    pub(super) fn give_back(&self, driver: PageDriver) {
        self.waiting().push(driver);
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<PageDriver>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Browsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Browsers").field(&self.waiting().len()).finish()
    }
}
