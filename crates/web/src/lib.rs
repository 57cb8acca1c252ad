//! A web page in an unmodified Chromium as a task system: its events, held and released one at a
//! time.
//!
//! Every request of the page waits in the browser until it is released, with a response that is the
//! same in all runs. Timers, animation frames, messages and sockets wait in a queue inside the
//! page. A user's steps are trusted input. So the order of all of these is chosen by the engine,
//! and the browser does the rest: parsing, scripts, layout, pictures.
//!
//! This crate is a front end: it starts processes and reads the clock. It searches nothing.
//!
//! Guarantee: the same schedule gives the same run, as far as the page's events are under control;
//! [`PageStats::late_requests`] counts what was not. A browser that dies or hangs causes an error,
//! never an endless wait, and no process and no profile is left behind. Not under control: frames
//! of other sites in a process of their own, service workers (never installed).
//!
//! The main types: [`PageSystem`], the task system; [`PageOptions`]; [`Store`], the responses, on
//! top of a [`Source`]: a [`Folder`], an [`Archive`], or the real server; [`Actions`], the user's
//! steps; [`Rewriter`], by which events report their accesses; [`RULES`], the happens-before rules.
//!
//! ```no_run
//! use anyorder_system::{Choice, TaskSystem};
//! use anyorder_web::{Folder, PageOptions, PageSystem, Store, Unchanged, parse_actions};
//! use std::{path::Path, sync::Arc};
//!
//! let folder = Folder::open(Path::new("examples/web/slides"))?;
//! let actions = parse_actions(r##"{"steps": [{"click": "#next"}, {"click": "#next"}]}"##)?;
//! let options = PageOptions { actions, ..PageOptions::default() };
//! let mut page = PageSystem::start(options, Store::new(Box::new(folder)), Arc::new(Unchanged))?;
//! while let Some(next) = page.enabled()?.into_iter().next() {
//!     let step = page.execute(&Choice::of(next.task))?;
//!     println!("{} posted {} events", step.task, step.posted.len());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

// The suite of the rules names the crate as its users do.
#[cfg(test)]
extern crate self as anyorder_web;

pub use actions::{
    Actions, ActionsError, Target, TargetKind, UserStep, UserStepKind, parse_actions, write_actions,
};
pub use browser::{BrowserOptions, LaunchedBrowser, end_all_browsers, find_browser, has_display};
pub use crawl::Crawled;
pub use devtools::{Client, Event, Message, Reply};
pub use error::WebError;
pub use record::{Recorded, record};
pub use rewriter::{Rewriter, RewrittenPage, Unchanged};
pub use rules::{Keeper, RULES, Rule, Waiting, is_held_back};
pub use source::{
    Answer, Archive, ArchiveError, Folder, FolderError, GivenError, GivenResponse, PageRequest,
    Response, SocketCause, SocketData, SocketMessage, Sockets, Source, StorageState, Store,
    origin_of, read_given, read_sockets, read_storage_state, write_given, write_sockets,
};
pub use system::{PageFactory, PageOptions, PageStats, PageSystem, STEPS_LEFT};

// The browser and its messages.
mod browser;
mod devtools;
mod error;

// What a page gets: responses, rewritten texts, a user's steps.
mod actions;
mod rewriter;
mod source;

// Steps without a file of them.
mod crawl;
mod record;

// The page, and the order of its events.
mod page;
mod pictures;
mod rules;
mod sabotage;
mod system;

#[cfg(test)]
#[path = "../tests/rules/mod.rs"]
mod rules_on_pages;
