//! `cargo anyorder test`: runs tests that were written for loom or shuttle under the engine of
//! anyorder, unchanged, dependencies included; or those that use anyorder itself.
//!
//! It runs `cargo test` or `cargo nextest` with packages of the same names put in the place of loom
//! and shuttle (a `[patch]` on the command line). In reading order:
//!
//! - `arguments`: what is asked;
//! - `lock`: which versions of them the project's lock file names;
//! - `sources`: the sources of the shims, which are in this binary, as a folder of the cache;
//! - `run`: cargo, and the lock file as it was;
//! - `cut`: which models a limit cut;
//! - `pages`: what failed, as a page that leads to the others.

#![forbid(unsafe_code)]

mod arguments;
mod cut;
mod lock;
mod pages;
mod run;
mod sources;

use arguments::{Request, Settings};
use std::io::{self, Write};
use std::process::ExitCode;

/// What is printed for `--help`.
const HELP: &str = include_str!("help.txt");

/// The exit status for a wrong command line, or a project in which nothing can be replaced.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match answer(std::env::args_os().skip(1).collect()) {
        Ok(status) => ExitCode::from(status),
        Err(message) => {
            say(&format!("error: {message}"));
            ExitCode::from(USAGE)
        }
    }
}

fn answer(arguments: Vec<std::ffi::OsString>) -> Result<u8, String> {
    match arguments::read(arguments)? {
        Request::Help => print(HELP),
        Request::Version => print(concat!("cargo-anyorder ", env!("CARGO_PKG_VERSION"), "\n")),
        Request::Patches(settings) => {
            let project = lock::Project::find(&settings)?;
            let patches = patches(&settings, &project)?;
            print(&format!("[patch.crates-io]\n{}", sources::as_toml(&patches)))
        }
        Request::Test(settings) => {
            let project = lock::Project::find(&settings)?;
            let patches = match project.uses_anyorder()? {
                true => Vec::new(),
                false => patches(&settings, &project)?,
            };
            run::run(&settings, &project, &patches)
        }
    }
}

fn patches(settings: &Settings, project: &lock::Project) -> Result<Vec<sources::Patch>, String> {
    let replaced = project.replaced()?;
    let root = sources::root()?;
    replaced.iter().map(|package| sources::patch(&root, package, settings)).collect()
}

fn print(text: &str) -> Result<u8, String> {
    // A reader that went away has read enough.
    let _ = io::stdout().write_all(text.as_bytes());
    Ok(0)
}

/// Says something on standard error.
fn say(text: &str) {
    // Nobody reads it if it cannot be written.
    let _ = writeln!(io::stderr(), "anyorder: {text}");
}
