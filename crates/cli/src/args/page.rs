//! The options of web pages.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// How a web page is served and used.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct PageArgs {
    /// Serve the files of this folder to a browser, and check the page at INPUT, a path in it
    /// [default: `/`]; nothing listens on the network
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Web pages")]
    pub(crate) serve: Option<PathBuf>,

    /// What a user does on the page, as docs/web.md describes it [default: nothing, the page is
    /// loaded]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Web pages")]
    pub(crate) actions: Option<PathBuf>,

    /// Cookies and local storage that the browser has before the page is loaded, such as those of a
    /// user who is logged in, as Playwright's `storageState` writes them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Web pages")]
    pub(crate) storage_state: Option<PathBuf>,

    /// A header for each request to the server of the page; may be given more than once
    #[arg(long, value_name = "NAME: VALUE", value_parser = header, help_heading = "Web pages")]
    pub(crate) header: Vec<(String, String)>,

    /// The program of the browser, a Chromium [default: the first of the usual names in $PATH]
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::ExecutablePath, help_heading = "Web pages")]
    pub(crate) browser: Option<PathBuf>,

    /// Also let each response fail, and not come in time
    #[arg(long, help_heading = "Web pages")]
    pub(crate) network_faults: bool,

    /// Show the browser's window, with a pause after each event; needs a display
    #[arg(long, help_heading = "Web pages")]
    pub(crate) headed: bool,

    /// Also let the document come in parts, so that a user can act before the next script in it
    #[arg(long, help_heading = "Web pages")]
    pub(crate) slow_document: bool,
}

impl PageArgs {
    /// Returns the first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--serve", self.serve.is_some()),
            ("--actions", self.actions.is_some()),
            ("--storage-state", self.storage_state.is_some()),
            ("--header", !self.header.is_empty()),
            ("--browser", self.browser.is_some()),
            ("--network-faults", self.network_faults),
            ("--headed", self.headed),
            ("--slow-document", self.slow_document),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// Reads a header: its name, a colon, and its value.
fn header(text: &str) -> Result<(String, String), String> {
    let expected =
        || "expected a name, a colon and a value, such as `Accept-Language: de`".to_owned();
    let (name, value) = text.split_once(':').ok_or_else(expected)?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let (name, value) = (name.trim(), value.trim());
    let is_right = !name.is_empty() && name.bytes().all(is_name) && !value.contains(['\r', '\n']);
    if is_right { Ok((name.to_owned(), value.to_owned())) } else { Err(expected()) }
}

/// How steps of a user come about without a file of them.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct StepArgs {
    /// Use the page by itself before the check, in at most N steps: click, type into fields, move
    /// over what waits for it. With `--actions`, after these
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Web pages")]
    pub(crate) crawl: Option<u16>,

    /// Write the steps of `--crawl` to this file, for `--actions` [default: print them]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "crawl", help_heading = "Web pages")]
    pub(crate) save_actions: Option<PathBuf>,

    /// Open the page in a window, write what a user does in it to this file, for `--actions`, and
    /// check nothing. Close the window or press Ctrl-C to end it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["actions", "crawl", "network_faults", "slow_document", "report", "format", "output"], help_heading = "Web pages")]
    pub(crate) record_actions: Option<PathBuf>,
}

impl StepArgs {
    /// Returns the first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            ("--crawl", self.crawl.is_some()),
            ("--record-actions", self.record_actions.is_some()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}
