//! A page as a program of tasks.

use super::hurried::{Hurry, hurried};
use super::logged::Logged;
use super::served::Served;
use super::texts::Texts;
use super::words::PageWords;
use crate::explore::{
    ExploreOptions, Repeats, ShrinkOptions, Shrunk, TaskProgram, TaskWords, cannot_start, explore,
    replay_run, shrink,
};
use crate::failure::Unusable;
use crate::states::Replayed;
use crate::{Failure, JobControl, JobResult};
use anyorder_finding::{Warning, WarningKind};
use anyorder_system::{
    Choice, Observation, PartPath, ProgramIdentity, RunError, Schedule, SystemFactory, TaskName,
    TaskSystem,
};
use anyorder_web::{
    Actions, BrowserOptions, Crawled, PageFactory, PageOptions, PageSystem, STEPS_LEFT,
    StorageState, Store, UserStepKind, find_browser, has_display, parse_actions,
    read_storage_state, write_actions,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How a page is run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageSettings {
    /// The steps of the user; none by default: the page is loaded.
    pub actions: Actions,
    /// What the browser has before the page is loaded.
    pub stored: StorageState,
    /// Headers that are added to what the page's own server is asked.
    pub headers: Vec<(String, String)>,
    /// The program of the browser; `None`: the first of the usual names in `$PATH`.
    pub browser: Option<PathBuf>,
    /// Whether responses may also fail, or not come in time.
    pub faults: bool,
    /// Whether the document may come in parts, so that other events come between them.
    pub in_parts: bool,
    /// The most steps that a crawl adds to those of the user; `None`: there is no crawl.
    pub crawl: Option<usize>,
    /// Whether the browser has a window, and makes a pause after each event.
    pub headed: bool,
}

/// The runs that are varied besides that of the default order.
const HURRIES: [Hurry; 2] = [Hurry::Steps, Hurry::All];

/// The pause after each event in a browser with a window.
const PAUSE: Duration = Duration::from_millis(500);

impl PageSettings {
    /// Reads the steps of the user from a text in JSON. `name` names it in messages.
    ///
    /// # Errors
    ///
    /// Fails on a mistake in the text, and if a file that a step uploads is not there: Chromium
    /// would end the page for it. The message has the place, or the step.
    pub fn with_actions(self, name: &str, text: &str) -> Result<PageSettings, Failure> {
        let wrong = |why: String| Failure::input(name, Unusable::Page(why));
        let actions = parse_actions(text).map_err(|error| wrong(error.to_string()))?;
        for (number, step) in (1..).zip(actions.steps()) {
            if let UserStepKind::Upload { files, .. } = &step.kind
                && let Some(missing) = files.iter().find(|file| !file.is_file())
            {
                let file = missing.display();
                return Err(wrong(format!("step {number}: there is no file `{file}` to upload")));
            }
        }
        Ok(PageSettings { actions, ..self })
    }

    /// Reads what the browser has before the page is loaded: a storage state as Playwright writes
    /// it. `name` names it in messages.
    ///
    /// # Errors
    ///
    /// Fails on a mistake in the text.
    pub fn with_stored(self, name: &str, text: &str) -> Result<PageSettings, Failure> {
        let stored = read_storage_state(text)
            .map_err(|why| Failure::input(name, Unusable::Page(format!("storage state: {why}"))))?;
        Ok(PageSettings { stored, ..self })
    }
}

/// What to do without a display.
pub(super) const NO_DISPLAY: &str = "there is no display for a window: $DISPLAY and \
    $WAYLAND_DISPLAY are empty\nhint: start one, for example with `xvfb-run`";

/// A page, and how its events are called.
pub struct PageProgram {
    name: String,
    factory: PageFactory,
    identity: ProgramIdentity,
    logged: Arc<Logged>,
    words: PageWords,
    /// What a crawl did, if there was one.
    crawled: Option<Crawled>,
    /// Whether the page comes from another machine, and the browser's sandbox is off.
    is_exposed: bool,
    /// The page as it was opened to see whether it can be: the first worker's.
    opened: Mutex<Option<PageSystem>>,
}

impl PageProgram {
    /// Opens a page. It is loaded once, to see whether it can be. `name` names it in messages.
    ///
    /// # Errors
    ///
    /// Fails if there is no browser, or the page cannot be loaded.
    pub fn open(
        name: &str,
        served: Served,
        settings: PageSettings,
    ) -> Result<PageProgram, Failure> {
        let wrong = |why: String| Failure::input(name, Unusable::Page(why));
        let PageSettings { actions, stored, headers, browser, faults, in_parts, crawl, headed } =
            settings;
        if headed && !has_display() {
            return Err(wrong(NO_DISPLAY.to_owned()));
        }
        let program = find_browser(browser.as_deref()).map_err(|error| wrong(error.to_string()))?;
        let Served { url, source, files, is_real, given } = served;
        let browser =
            BrowserOptions { program: Some(program), headed, ..BrowserOptions::default() };
        let pause = if headed { PAUSE } else { Duration::ZERO };
        let options = PageOptions {
            url,
            browser,
            actions,
            stored,
            headers,
            faults,
            pause,
            ..PageOptions::default()
        };
        let identity = options.identity();
        let logged = Arc::new(Logged::new(&options.url, files.clone(), in_parts));
        let store = Store::new(source);
        store.keep(given);
        let words = PageWords {
            actions: options.actions.clone(),
            store: store.clone(),
            files,
            url: options.url.clone(),
        };
        let factory = PageFactory::new(options, store, logged.clone());
        let opened = Mutex::new(None);
        let name = name.to_owned();
        let (crawled, is_exposed) = (None, false);
        let mut page =
            PageProgram { name, factory, identity, logged, words, crawled, is_exposed, opened };
        // A stop is said in the result of the job, which ends at once then.
        let Some(mut system) = page.probe(is_real).map_err(wrong)? else { return Ok(page) };
        page.is_exposed =
            is_real && system.is_sandboxed() == Some(false) && !is_local(&page.identity.name);
        if let Some(most) = crawl {
            match page.take_crawl(&mut system, most) {
                Err(RunError::Stopped(_)) => return Ok(page),
                other => other.map_err(|error| cannot_start(&page.name, error))?,
            }
        }
        *page.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(system);
        Ok(page)
    }

    /// Lets the page be used by itself, and has the steps of that as the user's.
    fn take_crawl(&mut self, system: &mut PageSystem, most: usize) -> Result<(), RunError> {
        let crawled = system.crawl(most)?;
        system.set_actions(crawled.actions.clone());
        self.factory.set_actions(crawled.actions.clone());
        self.identity = self.factory.options().identity();
        self.words.actions = crawled.actions.clone();
        self.crawled = Some(crawled);
        Ok(())
    }

    /// Returns what a crawl did, if there was one.
    #[must_use]
    pub fn crawled(&self) -> Option<&Crawled> {
        self.crawled.as_ref()
    }

    /// Returns the steps of the user as the text of an `actions.json`.
    #[must_use]
    pub fn actions_text(&self) -> String {
        write_actions(&self.factory.options().actions)
    }

    pub(super) fn options(&self) -> &PageOptions {
        self.factory.options()
    }

    pub(super) fn store(&self) -> &Store {
        self.factory.store()
    }

    pub(super) fn in_parts(&self) -> bool {
        self.logged.in_parts()
    }

    pub(super) fn folder(&self) -> Option<&Path> {
        self.words.files.folder()
    }

    pub(super) fn texts(&self) -> Texts {
        Texts::new(self.store(), &self.words.files, &self.words.url)
    }

    /// Loads the page once. `None` if the job was stopped meanwhile.
    fn probe(&self, is_real: bool) -> Result<Option<PageSystem>, String> {
        let load = TaskName::root("load");
        let loaded = self.factory.make().map_err(|error| (false, error)).and_then(|mut system| {
            let loaded = system.execute(&Choice::of(load.clone()));
            loaded.map(|_| system).map_err(|error| (is_real, error))
        });
        let system = match loaded {
            Ok(system) => system,
            Err((_, RunError::Stopped(_))) => return Ok(None),
            Err((true, _)) => {
                let url = &self.identity.name;
                return Err(format!("the page cannot be loaded: nothing answers at {url}"));
            }
            Err((false, error)) => return Err(words_of(&error)),
        };
        match self.factory.store().recorded_status(&load.to_string()) {
            Some(status) if status >= 400 => Err(format!("the server answers with {status}")),
            _ => Ok(Some(system)),
        }
    }
}

/// Returns whether a page is of a server on this machine.
fn is_local(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name == "localhost"
        || name.ends_with(".localhost")
        || name == "[::1]"
        || name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Returns what is wrong with a run, without the word for its kind.
fn words_of(error: &RunError) -> String {
    match error {
        RunError::Crashed(why) | RunError::TimedOut(why) => why.clone(),
        other => other.to_string(),
    }
}

impl TaskProgram for PageProgram {
    type System = PageSystem;

    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Option<&ProgramIdentity> {
        Some(&self.identity)
    }

    fn words(&self) -> &dyn TaskWords {
        &self.words
    }

    fn start(&self, _repeats: Option<&Repeats>) -> Result<PageSystem, RunError> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        match opened {
            Some(mut system) => {
                system.reset()?;
                Ok(system)
            }
            None => self.factory.make(),
        }
    }

    fn other_recordings(&self) -> usize {
        HURRIES.len()
    }

    fn other_recording(&self, number: usize) -> Result<Option<Schedule>, RunError> {
        let Some(hurry) = HURRIES.get(number) else { return Ok(None) };
        hurried(&mut self.factory.make()?, &self.identity, *hurry)
    }

    fn unfinished(&self, end: &Observation) -> Option<Warning> {
        let left = end.part(&PartPath::new(["page", STEPS_LEFT]))?.text.clone()?;
        let left: usize = left.parse().ok()?;
        let steps = self.words.actions.steps();
        let step = steps.get(steps.len().checked_sub(left)?)?;
        let text = format!(
            "steps that could not be taken: {} has no element that is there, visible and enabled",
            self.words.task(&step.name)
        );
        Some(Warning::new(WarningKind::Unreported, &self.name, &text, left as u64))
    }

    fn met(&self) -> Vec<Warning> {
        let store = self.factory.store();
        let about = |text: &str, places: Vec<String>| {
            let count = places.len() as u64;
            let warning = Warning::new(WarningKind::Damaged, &self.name, text, count);
            (count > 0).then_some(Warning { places, ..warning })
        };
        let unanswered =
            about("nothing answers at addresses that the page asks for", store.unanswered());
        let exposed = "the browser's sandbox is off, as it is for root and in containers without \
            user namespaces: check pages that you do not trust as another user";
        let exposed =
            self.is_exposed.then(|| Warning::new(WarningKind::Damaged, &self.name, exposed, 1));
        unanswered.into_iter().chain(exposed).collect()
    }

    fn ignored(&self) -> Option<Warning> {
        let mut places = self.logged.left();
        let gaps = self.factory.store().gaps();
        let text = match (places.is_empty(), gaps.is_empty()) {
            (true, true) => return None,
            (false, true) => "scripts that are not understood report no accesses",
            (true, false) => "some of what the page does is not under control",
            (false, false) => {
                "scripts that are not understood report no accesses, \
                 and some of what the page does is not under control"
            }
        };
        places.extend(gaps);
        let count = places.len() as u64;
        let warning = Warning::new(WarningKind::Unreported, &self.name, text, count);
        Some(Warning { places, ..warning })
    }
}

impl std::fmt::Debug for PageProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageProgram").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Explores the runs of a page: [`explore`], compiled once.
///
/// # Errors
///
/// Like [`explore`].
#[inline(never)]
pub fn explore_page(
    page: &PageProgram,
    options: &ExploreOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    let mut options = options.clone();
    options.reversals.patient_user = true;
    explore(page, &options, control)
}

/// Replays a schedule of a page: [`replay_run`], compiled once.
///
/// # Errors
///
/// Like [`replay_run`].
#[inline(never)]
pub fn replay_page(page: &PageProgram, schedule: &Schedule) -> Result<Replayed, Failure> {
    replay_run(page, schedule)
}

/// Shrinks a run of a page: [`shrink`](shrink()), compiled once.
///
/// # Errors
///
/// Like [`shrink`](shrink()).
#[inline(never)]
pub fn shrink_page(
    page: &PageProgram,
    failing: &Schedule,
    options: &ShrinkOptions,
    control: &JobControl<'_, Schedule>,
) -> Result<Option<Shrunk>, Failure> {
    shrink(page, failing, options, control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_on_this_machine_are_known() {
        for url in
            ["http://localhost:80/", "http://127.1.2.3/x", "http://[::1]:8/", "http://a.localhost"]
        {
            assert!(is_local(url), "{url}");
        }
        for url in ["http://localhost.test/", "https://10.0.0.1:443", "http://127.0.0.1.test", "x"]
        {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_of_its_step() {
        let steps =
            r##"{"steps": [{"click": "#a"}, {"upload": {"into": "#b", "files": ["no.txt"]}}]}"##;
        let wrong = PageSettings::default().with_actions("steps.json", steps);
        let text = wrong.err().map(|failure| failure.to_string()).unwrap_or_default();
        assert!(text.contains("step 2: there is no file `no.txt`"), "{text}");
    }
}
