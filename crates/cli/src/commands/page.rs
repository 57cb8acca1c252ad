//! Web pages among the inputs of a command.

use crate::args::PageArgs;
use crate::failure::{Failure, Usage};
use crate::input::{self, PeekedInput};
use crate::reading::{self, ACTIONS, ARCHIVE};
use anyorder_common::text::quote;
use anyorder_drive::page::{PageProgram, PageSettings, Served};
use std::path::{Path, PathBuf};

/// A page that was given, and the inputs beside it.
pub(crate) struct GivenPage {
    /// How the user named it.
    pub(crate) name: PathBuf,
    served: Served,
    pub(crate) others: Vec<PathBuf>,
}

/// Returns whether an input is the address of a page.
pub(crate) fn is_address(path: &Path) -> bool {
    let text = path.to_str().unwrap_or_default();
    text.starts_with("http://") || text.starts_with("https://")
}

/// Looks for a page among the inputs: an address, a page, an archive, or a served folder. Inputs
/// that are no pages are not read.
pub(crate) fn find(inputs: &[PathBuf], args: &PageArgs) -> Result<Option<GivenPage>, Failure> {
    let found = match &args.serve {
        Some(folder) => {
            let path = inputs.first().filter(|path| !path.is_file() || is_inside(folder, path));
            let text = path.map_or_else(|| "/".to_owned(), |path| path.to_string_lossy().into());
            Some((folder.clone(), Served::folder(folder, &text)?, path.map(|_| 0)))
        }
        None => first(inputs)?,
    };
    let Some((name, served, at)) = found else {
        return match (args.given(), inputs.first()) {
            (Some(option), Some(path)) => {
                Err(Usage::OptionOf { path: path.clone(), option, kind: "web pages" }.into())
            }
            _ => Ok(None),
        };
    };
    let others = inputs.iter().enumerate().filter(|(index, _)| Some(*index) != at);
    let others: Vec<PathBuf> = others.map(|(_, path)| path.clone()).collect();
    if let Some(path) = others.iter().find(|path| is_address(path)) {
        return Err(Usage::OnePage { path: path.clone() }.into());
    }
    Ok(Some(GivenPage { name, served, others }))
}

/// Returns whether a path is that of a file of a folder: `index.html` in the folder, rather than
/// beside it.
fn is_inside(folder: &Path, path: &Path) -> bool {
    folder.join(path).is_file()
}

fn first(inputs: &[PathBuf]) -> Result<Option<(PathBuf, Served, Option<usize>)>, Failure> {
    for (at, path) in inputs.iter().enumerate() {
        let found = |served| Ok(Some((path.clone(), served, Some(at))));
        if is_address(path) {
            return found(Served::real(&path.to_string_lossy()));
        }
        // A pipe cannot be read twice, so it is no page.
        if !path.is_file() {
            continue;
        }
        let Ok(peeked) = input::peek(path) else { continue };
        if PeekedInput::is_page(&peeked) {
            return found(Served::file(path)?);
        }
        if peeked.is_archive() {
            let text = peeked.bytes_of(path, ARCHIVE)?;
            return found(Served::archive(path, &text)?);
        }
    }
    Ok(None)
}

impl GivenPage {
    /// Opens the page in a browser.
    pub(crate) fn open(self, args: &PageArgs) -> Result<PageProgram, Failure> {
        let (browser, faults) = (args.browser.clone(), args.network_faults);
        let in_parts = args.slow_document;
        let mut settings = PageSettings { browser, faults, in_parts, ..PageSettings::default() };
        if let Some(path) = &args.actions {
            let text = reading::text(path, ACTIONS)?;
            settings = settings.with_actions(&path.to_string_lossy(), &text)?;
        }
        Ok(PageProgram::open(&self.name.to_string_lossy(), self.served, settings)?)
    }

    /// Returns the page with its options as words of a command.
    pub(crate) fn subject(&self, inputs: &[PathBuf], args: &PageArgs) -> String {
        let shown = |path: &Path| quote(&path.to_string_lossy());
        let mut words = Vec::new();
        match &args.serve {
            Some(folder) => {
                words.push(format!("--serve {}", shown(folder)));
                let beside = |path: &&PathBuf| !self.others.contains(path);
                words.extend(inputs.iter().filter(beside).map(|path| shown(path)));
            }
            None => words.push(shown(&self.name)),
        }
        words.extend(args.actions.iter().map(|path| format!("--actions {}", shown(path))));
        words.extend(args.browser.iter().map(|path| format!("--browser {}", shown(path))));
        words.extend(args.network_faults.then(|| "--network-faults".to_owned()));
        words.extend(args.slow_document.then(|| "--slow-document".to_owned()));
        words.join(" ")
    }
}
