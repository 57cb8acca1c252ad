//! The test of the test: pages whose accesses of one kind are not reported. What the catalogue
//! expects must then be missed on some page, for each kind of access.

use super::common::workspace;
use super::{Page, catalogue, has_browser};
use anyorder_drive::JobControl;
use anyorder_drive::explore::{ExploreOptions, Repeats, TaskProgram, TaskWords, explore};
use anyorder_drive::page::{PageProgram, PageSettings, Served};
use anyorder_finding::Harm;
use anyorder_system::{
    Accesses, Awaited, Capabilities, Choice, EnabledTask, Observation, ProgramIdentity, RunError,
    Step, TaskName, TaskRole, TaskSystem,
};
use anyorder_testkit::effort::{effort, is_due};
use anyorder_trace::Tables;
use std::fs;

/// A kind of access: what the texts of its locations contain, and a page that needs it. Nothing is
/// said of `handler:`, `.children`, `document.#` and `Object#`: the pages that were tried are found
/// through other accesses, too.
const KINDS: &[(&str, &str)] = &[
    ("global.", "plugins/index.html"),
    ("scope@", "last_answer/index.html"),
    (".value", "profile/index.html"),
    (".checked", "checkbox_default/index.html"),
    ("disabled", "enabled_twice/index.html"),
    ("hidden", "modal_timer/index.html"),
    ("localStorage.", "local_counter/index.html"),
    (".readyState", "socket_send/index.html"),
    (".response", "xhr_state/index.html"),
    (".contentWindow", "frame_message/index.html"),
    ("task.", "leave/index.html"),
];

/// With more effort than this, all pages are tried without each kind: that takes about an hour.
const COUNTED: u64 = 4;

/// A page that does not report accesses to locations of one kind.
struct Blind {
    page: PageProgram,
    hidden: &'static str,
}

struct BlindSystem {
    system: <PageProgram as TaskProgram>::System,
    hidden: &'static str,
}

impl TaskProgram for Blind {
    type System = BlindSystem;

    fn name(&self) -> &str {
        self.page.name()
    }

    fn identity(&self) -> Option<&ProgramIdentity> {
        self.page.identity()
    }

    fn words(&self) -> &dyn TaskWords {
        self.page.words()
    }

    fn start(&self, repeats: Option<&Repeats>) -> Result<BlindSystem, RunError> {
        Ok(BlindSystem { system: self.page.start(repeats)?, hidden: self.hidden })
    }
}

impl TaskSystem for BlindSystem {
    fn capabilities(&self) -> Capabilities {
        self.system.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.system.program()
    }

    fn tables(&self) -> &Tables {
        self.system.tables()
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.system.role(task)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.system.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        self.system.enabled()
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.system.awaited()
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let mut step = self.system.execute(choice)?;
        let tables = self.system.tables();
        let accesses = step.accesses.as_slice().iter();
        let shown =
            accesses.filter(|one| !tables.location_text(one.location).contains(self.hidden));
        step.accesses = Accesses::Set(shown.cloned().collect());
        Ok(step)
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.system.observe()
    }
}

/// Returns whether what the catalogue expects of a page is found if a kind of access is hidden.
fn is_found(page: &Page, hidden: &'static str) -> bool {
    let root = workspace();
    let served = Served::file(&root.join(&page.path)).expect("a page");
    let steps = fs::read_to_string(root.join(&page.steps)).expect("the steps");
    let settings = PageSettings::default().with_actions(&page.steps, &steps).expect("right steps");
    let opened = PageProgram::open(&page.path, served, settings).expect("the page opens");
    let mut options = ExploreOptions::default();
    options.reversals.patient_user = true;
    // Swaps look for accesses that are not reported, and would find these.
    options.reversals.swaps.count = 0;
    let blind = Blind { page: opened, hidden };
    let result = explore(&blind, &options, &JobControl::default()).expect("it is explored");
    let words = page.texts("/found/title");
    result.findings.iter().map(|one| &one.finding).any(|finding| {
        finding.harm == Harm::Harmful && words.iter().all(|words| finding.title.contains(words))
    })
}

#[test]
fn a_kind_of_access_that_is_not_reported_is_missed_on_some_page() {
    if !has_browser() {
        return;
    }
    let pages = catalogue();
    let mut faults: Vec<String> = Vec::new();
    for (index, (kind, needs)) in KINDS.iter().enumerate() {
        if !is_due(index, KINDS.len()) {
            continue;
        }
        let path = format!("examples/web/{needs}");
        let page = pages.iter().find(|page| page.path == path).expect("a page of the catalogue");
        if !is_found(page, "no location has this text") {
            faults.push(format!("{path}: not found with all accesses"));
        }
        if is_found(page, kind) {
            faults.push(format!("{path}: found without `{kind}`"));
        }
        if effort() > COUNTED {
            let found = pages.iter().filter(|page| page.is_found());
            let missed = found.clone().filter(|page| !is_found(page, kind)).count();
            println!("without `{kind}`: {missed} of {} pages are missed", found.count());
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
