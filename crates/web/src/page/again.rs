//! Using the tab of a run for the next one.
//!
//! A context of the browser is as good as new, but costs a process: more than twice the time of a
//! run of a small page. So a tab is used again where nothing can be left in it: the page is ended,
//! its cookies and storage are removed, and its history is forgotten. A run with anything else that
//! outlasts a document, or that lives beside it (frames, workers, databases, caches, windows,
//! downloads, preflights, media), has its tab thrown away.

use super::driver::PageDriver;
use super::handle::State;
use super::opened::Spare;
use crate::error::WebError;
use serde_json::{Value, json};

/// How often a tab is used: what the browser itself collects does not grow without bound.
const USES_MAX: u32 = 100;

impl State {
    /// Returns whether nothing is known that outlasts the page's document.
    fn is_alone(&self) -> bool {
        let is_quiet = self.waiting.is_empty() && self.sockets.is_empty() && !self.pausing;
        let is_single = self.frames.is_empty() && self.workers_made == 0;
        let is_own = self.refused.is_empty() && self.downloads.is_empty() && !self.has_preflight;
        self.committed && !self.crashed && is_quiet && is_single && is_own
    }
}

impl PageDriver {
    /// Ends the page, and returns its tab if that is as good as a new one.
    pub(super) fn emptied(&mut self) -> Result<Option<Spare>, WebError> {
        let is_fit = self.opening.reuse
            && !self.state.session.is_empty()
            && self.state.uses < USES_MAX
            && self.state.is_alone();
        if !is_fit || !matches!(self.in_context(None, "end()"), Ok(Value::Bool(true))) {
            return Ok(None);
        }
        let context = json!({"browserContextId": self.state.browser_context});
        let mut sent = vec![
            (0, self.client.send("", "Storage.clearCookies", context)),
            (1, self.send("Page.resetNavigationHistory", json!({}))),
        ];
        if self.state.has_pointer {
            sent.push((2, self.send("Input.dispatchMouseEvent", super::see::pointer_away())));
        }
        let replies = self.replies(sent)?;
        let are_done = replies.iter().all(|(_, reply)| reply.is_ok());
        Ok((are_done && self.state.is_alone()).then(|| Spare::of(&self.state)))
    }
}
