//! Recording what a user does on a page.

use super::served::Served;
use crate::Failure;
use crate::failure::{Missing, Unusable};
use anyorder_web::{BrowserOptions, Recorded, Store, WebError, find_browser, has_display, record};
use std::path::Path;

/// Opens a page in a browser with a window, and records what its user does until the window is
/// closed, the page goes to another document, or the job of this thread is stopped. Where there is
/// no display, the browser has no window: only a program can use the page then. `name` names the
/// page in messages.
///
/// # Errors
///
/// Fails if there is no browser, or it cannot be started.
pub fn record_page(
    name: &str,
    served: Served,
    browser: Option<&Path>,
) -> Result<Recorded, Failure> {
    let failed = |error: WebError| match error {
        WebError::Stopped(reason) => Failure::stopped(reason, Missing::Run(name.to_owned())),
        error => Failure::input(name, Unusable::Page(error.to_string())),
    };
    let program = Some(find_browser(browser).map_err(failed)?);
    let headed = has_display();
    let browser = BrowserOptions { program, headed, ..BrowserOptions::default() };
    record(&served.url, &Store::new(served.source), &browser).map_err(failed)
}
