//! Web pages among the inputs of a command.

use crate::args::{Global, PageArgs, StepArgs};
use crate::failure::{Failure, Usage, note, warn};
use crate::input::{self, PeekedInput, SCHEDULE_BYTES_MAX};
use crate::output::{to, to_file};
use crate::reading::{self, ACTIONS, ARCHIVE, STORED};
use anyorder_common::numbers::plural;
use anyorder_common::text::{escape, quote};
use anyorder_drive::page::{
    PageProgram, PageSettings, SavedPage, Served, record_page, write_actions,
};
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
pub(crate) fn find(
    inputs: &[PathBuf],
    args: &PageArgs,
    steps: Option<&StepArgs>,
) -> Result<Option<GivenPage>, Failure> {
    let found = match &args.serve {
        Some(folder) => {
            let path = inputs.first().filter(|path| !path.is_file() || is_inside(folder, path));
            let text = path.map_or_else(|| "/".to_owned(), |path| path.to_string_lossy().into());
            Some((folder.clone(), Served::folder(folder, &text)?, path.map(|_| 0)))
        }
        None => first(inputs)?,
    };
    let Some((name, served, at)) = found else {
        let option = args.given().or_else(|| steps.and_then(StepArgs::given));
        return match (option, inputs.first()) {
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

/// Fails if a web page is among the inputs of a command that takes none.
pub(crate) fn refuse(inputs: &[PathBuf], command: &'static str) -> Result<(), Failure> {
    match find(inputs, &PageArgs::default(), None)? {
        Some(GivenPage { name: path, .. }) => Err(Usage::NotForPages { path, command }.into()),
        None => Ok(()),
    }
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
    /// Returns the folder that is served, if one is.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.served.in_folder().map(Path::to_path_buf)
    }

    /// Opens the page in a browser, with the steps of a file, or those of a saved page.
    pub(crate) fn open(
        self,
        args: &PageArgs,
        crawl: Option<usize>,
        saved: Option<&SavedPage>,
    ) -> Result<PageProgram, Failure> {
        let mut settings = settings(args, saved)?;
        settings.crawl = crawl;
        Ok(PageProgram::open(&self.name.to_string_lossy(), self.served, settings)?)
    }

    /// Opens the page for a user, and writes what they do to a file.
    pub(crate) fn record(
        self,
        inputs: &[PathBuf],
        args: &PageArgs,
        file: &Path,
    ) -> Result<(), Failure> {
        let watched = reading::watched();
        let subject = self.subject(inputs, args);
        note("use the page; close its window, or press Ctrl-C here, to end the recording");
        let recorded =
            record_page(&self.name.to_string_lossy(), self.served, args.browser.as_deref())?;
        drop(watched);
        let text = write_actions(&recorded.actions);
        to(Some(file), |out| out.write_all(text.as_bytes()))?;
        for (what, count) in &recorded.lost {
            warn(&format!("no step can say {what}: left out {}", plural(*count, "time")));
        }
        if let Some(url) = &recorded.left_for {
            warn(&format!("the page went to {}: what came after is not recorded", escape(url)));
        }
        let steps = plural(recorded.actions.steps().len() as u64, "step");
        note(&format!("{steps} written; check the page with them:"));
        note(&format!("anyorder check {subject} --actions {}", quote(&file.to_string_lossy())));
        Ok(())
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
        words.extend(
            args.storage_state.iter().map(|path| format!("--storage-state {}", shown(path))),
        );
        // What a header says may be secret.
        words.extend(args.header.iter().map(|(name, _)| format!("--header '{name}: ...'")));
        words.extend(args.browser.iter().map(|path| format!("--browser {}", shown(path))));
        words.extend(args.network_faults.then(|| "--network-faults".to_owned()));
        words.extend(args.slow_document.then(|| "--slow-document".to_owned()));
        words.join(" ")
    }
}

/// Returns how a page is run: what the options say, and else what a saved page says.
fn settings(args: &PageArgs, saved: Option<&SavedPage>) -> Result<PageSettings, Failure> {
    let own = saved.map(|saved| saved.settings.clone()).unwrap_or_default();
    let mut settings = PageSettings {
        browser: args.browser.clone(),
        faults: args.network_faults || own.faults,
        in_parts: args.slow_document || own.in_parts,
        headed: args.headed,
        ..own
    };
    settings.headers.clone_from(&args.header);
    match &args.storage_state {
        Some(path) => {
            let text = reading::text(path, STORED)?;
            settings = settings.with_stored(&path.to_string_lossy(), &text)?;
        }
        None if saved.is_some_and(|saved| saved.had_stored) => {
            warn("the run had a storage state: without `--storage-state FILE` it may differ");
        }
        None => {}
    }
    if let Some(path) = &args.actions {
        let text = reading::text(path, ACTIONS)?;
        settings = settings.with_actions(&path.to_string_lossy(), &text)?;
    }
    Ok(settings)
}

/// Opens a page that was saved in the file of a finding.
pub(crate) fn open_saved(
    path: &Path,
    saved: &SavedPage,
    args: &PageArgs,
) -> Result<PageProgram, Failure> {
    let served = saved.served(path)?;
    Ok(PageProgram::open(&saved.url, served, settings(args, Some(saved))?)?)
}

/// Writes the steps of a crawl to their file, or prints them.
pub(crate) fn keep_steps(
    page: &PageProgram,
    args: &StepArgs,
    global: &Global,
) -> Result<(), Failure> {
    let Some(crawled) = page.crawled() else { return Ok(()) };
    let text = page.actions_text();
    if let Some(file) = &args.save_actions {
        // Not the output of the command: that is yet to come.
        to_file(file, |out| out.write_all(text.as_bytes()))?;
    }
    if global.quiet {
        return Ok(());
    }
    let more = if crawled.more { "; there is more to use" } else { "" };
    note(&format!("the crawl took {}{more}", plural(crawled.used as u64, "step")));
    for label in &crawled.left_out {
        note(&format!("left out, since the page ends with it: {}", escape(label)));
    }
    if args.save_actions.is_none() {
        note("its steps, for a file of `--actions`:");
        text.lines().for_each(|line| note(&escape(line)));
    }
    Ok(())
}

/// Reads the page in the file of a finding, if it has one.
pub(crate) fn saved_page(path: &Path, id: Option<&str>) -> Result<Option<SavedPage>, Failure> {
    let text = input::peek(path)?.text(path, SCHEDULE_BYTES_MAX)?;
    Ok(SavedPage::read(path, &text, id)?)
}
