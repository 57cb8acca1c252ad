//! A browser for tests, or a word that there is none.

use anyorder_system::{
    Choice, EnabledTask, Observation, Step, SystemFactory, TaskName, TaskSystem,
};
use anyorder_web::{
    Folder, PageFactory, PageOptions, PageSystem, Rewriter, RewrittenPage, Store, Unchanged,
    find_browser, parse_actions,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns whether there is a browser; says so if not.
pub(crate) fn has_browser() -> bool {
    let found = find_browser(None);
    if let Err(error) = &found {
        println!("skipped: {error}");
    }
    found.is_ok()
}

/// Returns whether there is a browser and one of many tests is due. Each test starts a browser of
/// its own, so a push runs a third of them: others on other days, and all at night.
pub(crate) fn is_due(index: usize) -> bool {
    anyorder_testkit::effort::is_due(index, 3) && has_browser()
}

/// Returns the folder of an example.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web").join(name)
}

/// Returns the factory of an example, with its steps.
pub(crate) fn factory(name: &str, rewriter: Arc<dyn Rewriter>) -> PageFactory {
    let folder = example(name);
    let text = std::fs::read_to_string(folder.join("actions.json")).ok();
    let actions = text.map(|text| parse_actions(&text).expect("steps")).unwrap_or_default();
    let store = Store::new(Box::new(Folder::open(&folder).expect("a folder")));
    let options = PageOptions { actions, ..PageOptions::default() };
    PageFactory::new(options, store, rewriter)
}

/// Starts an example that reports no accesses.
pub(crate) fn start(name: &str) -> PageSystem {
    factory(name, Arc::new(Unchanged)).make().expect("the page opens")
}

pub(crate) fn enabled(page: &mut PageSystem) -> Vec<String> {
    let all = page.enabled().expect("enabled events");
    all.into_iter().map(|EnabledTask { task, .. }| task.to_string()).collect()
}

pub(crate) fn name(text: &str) -> TaskName {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Runs the events of a plan that are enabled at their turn, then all others in the default order.
/// Returns what ran.
pub(crate) fn follow(page: &mut PageSystem, plan: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    for planned in plan {
        if enabled(page).iter().any(|task| task == planned) {
            steps.push(page.execute(&Choice::of(name(planned))).expect("a step"));
        }
    }
    while let Some(next) = page.enabled().expect("enabled events").into_iter().next() {
        steps.push(page.execute(&Choice::of(next.task)).expect("a step"));
        assert!(steps.len() < 200, "the page does not end");
    }
    steps
}

/// Runs a plan from the start; returns the names of what ran, and the outcome.
pub(crate) fn run(page: &mut PageSystem, plan: &[&str]) -> (Vec<String>, Observation) {
    page.reset().expect("a new run");
    let steps = follow(page, plan);
    let names = steps.iter().map(|step| step.task.to_string()).collect();
    (names, page.observe().expect("an outcome"))
}

/// Returns the text of a part of an outcome.
pub(crate) fn text(outcome: &Observation, path: [&str; 2]) -> String {
    let part = outcome.part(&anyorder_system::PartPath::new(path));
    part.and_then(|part| part.text.clone()).unwrap_or_default()
}

/// Starts a page of the example `kinds`, with the steps of the file of its name.
pub(crate) fn start_page(name: &str) -> PageSystem {
    start_with(name, PageOptions::default(), Arc::new(Unchanged))
}

/// The same with options, and with what is done to its texts.
pub(crate) fn start_with(
    name: &str,
    options: PageOptions,
    rewriter: Arc<dyn Rewriter>,
) -> PageSystem {
    let folder = example("kinds");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).ok();
    let actions = text.map(|text| parse_actions(&text).expect("steps")).unwrap_or_default();
    let store = Store::new(Box::new(Folder::open(&folder).expect("a folder")));
    let url = format!("http://localhost/{name}.html");
    let options = PageOptions { actions, url, ..options };
    PageSystem::start(options, store, rewriter).expect("the page opens")
}

/// Logs accesses in places that are named by hand: each text of a page or script is replaced by one
/// that calls `__log(location, flags, value)`. Typing writes the value of its field.
pub(crate) struct ByHand(pub(crate) &'static [(&'static str, &'static str)]);

const LOG: &str = r"
(() => {
  let records = [];
  const log = (location, flags, value) => {
    if (!records.some((one) => one[0] === location && one[1] === flags)) {
      records.push([location, flags, records.length + 1]);
    }
    return value;
  };
  const api = {
    begin() { records = []; },
    end() { const ended = records; records = []; return ended; },
  };
  Object.defineProperty(window, '__anyorder', { value: api });
  Object.defineProperty(window, '__log', { value: log });
  addEventListener('input', (event) => log('#' + event.target.id + '.value', 2), true);
})();
";

impl ByHand {
    fn replaced(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

impl Rewriter for ByHand {
    fn script(&self, text: &str, _url: &str, _is_module: bool) -> String {
        self.replaced(text)
    }

    fn html(&self, bytes: &[u8], _content_type: &str, _url: &str) -> RewrittenPage {
        self.replaced(&String::from_utf8_lossy(bytes)).into_bytes().into()
    }

    fn log(&self) -> String {
        LOG.to_owned()
    }

    fn site(&self, site: u64) -> Option<(String, u32, u32)> {
        Some(("page".to_owned(), u32::try_from(site).ok()?, 1))
    }
}
