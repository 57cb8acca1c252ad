//! What the log reports of each way to use the tree of a page, its forms, its storage and the
//! user's input, against lists that were written by hand.

use super::site::{Logged, Site};
use crate::common::is_due;
use anyorder_system::{AccessKind, Choice, Step, TaskSystem};
use anyorder_trace::{Location, Tables};
use anyorder_web::{PageFactory, PageOptions, Rewriter, RewrittenPage, Store};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// The parts of the page that the cases use.
const BODY: &str = r#"<div id=d class="c1"><p id=p>t</p></div><form id=f action=/none.html>
<input id=i value=1><input id=k type=checkbox><input id=r1 type=radio name=r>
<input id=r2 type=radio name=r><select id=s><option id=o1>1<option id=o2>2</select>
<textarea id=ta>x</textarea></form><label id=l for=k>label</label><button id=b>b</button>
<button id=dis disabled>b</button><a id=a href="javascript:void 0">a</a><div id=h></div>"#;

/// Each case is an event of its own: what it does, and what it accesses, without what every access
/// of a global or of a method reads too.
const CASES: &[(&str, &str)] = &include!("accesses.in");

/// Steps of the user, and what each accesses.
const STEPS: &[(&str, &str, &str)] = &include!("steps.in");

/// A rewriter whose log lacks a part.
struct Broken {
    logged: Logged,
    from: &'static str,
    to: &'static str,
}

impl Rewriter for Broken {
    fn script(&self, text: &str, url: &str, is_module: bool) -> String {
        self.logged.script(text, url, is_module)
    }

    fn html(&self, bytes: &[u8], content_type: &str, url: &str) -> RewrittenPage {
        self.logged.html(bytes, content_type, url)
    }

    fn dynamic(&self, text: &str, kind: &str) -> String {
        self.logged.dynamic(text, kind)
    }

    fn log(&self) -> String {
        let log = self.logged.log();
        assert!(log.contains(self.from), "{}", self.from);
        log.replacen(self.from, self.to, 1)
    }

    fn site(&self, site: u64) -> Option<(String, u32, u32)> {
        self.logged.site(site)
    }
}

/// Returns the page of all cases, and its steps.
fn site() -> Site {
    let mut script = String::from("<script>\nconst at = (id) => document.getElementById(id);\n");
    for (at, (body, _)) in CASES.iter().enumerate() {
        writeln!(script, "setTimeout(() => {{ {body} }}, {at});").expect("a text");
    }
    script.push_str("</script>");
    let steps: Vec<&str> = STEPS.iter().map(|(step, ..)| *step).collect();
    let page = format!("<!DOCTYPE html><body>{BODY}{script}");
    Site::new(page.as_bytes()).file("/none.html", "none").steps(&steps.join(","))
}

/// Returns what an event accessed in the tree and the like.
fn shown(step: &Step, tables: &Tables) -> String {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for access in step.accesses.as_slice() {
        let Location::Named(name) = tables.locations[access.location.index()] else { continue };
        let name = tables.names.get(name);
        if ["global.", "scope@", "Object", "Function", "Array"]
            .iter()
            .any(|one| name.starts_with(one))
            || name.contains(":prototype")
            || ["document.getElementById", "document.#at"].contains(&name)
        {
            continue;
        }
        // Objects without names have the numbers of their events.
        let name = match (name.find('#'), name.rfind(':')) {
            (Some(from), Some(to)) if from < to && !name.starts_with("listener") => {
                format!("{}{}", &name[..=from], &name[to + 1..])
            }
            _ => name.to_owned(),
        };
        let kind = match access.kind {
            AccessKind::Read => "r",
            AccessKind::Write => "w",
            _ => "rw",
        };
        all.entry(name).or_default().push_str(kind);
    }
    let lines: Vec<String> = all.iter().map(|(name, kinds)| format!("{name}:{kinds}")).collect();
    lines.join(" ")
}

/// Runs all cases with a rewriter. Returns what each accessed, by its text.
fn accessed(rewriter: Arc<dyn Rewriter>) -> BTreeMap<String, String> {
    let site = site();
    let options = PageOptions { repeats_max: 1, ..site.options.clone() };
    let store = Store::new(site.source());
    let mut page =
        anyorder_system::SystemFactory::make(&PageFactory::new(options, store, rewriter))
            .expect("the page opens");
    let mut all = BTreeMap::new();
    let mut steps = STEPS.iter();
    while let Some(next) = page.enabled().expect("events").into_iter().next() {
        let name = next.task.clone();
        let step = page.execute(&Choice::of(next.task)).expect("a step");
        let segment = name.segment();
        if name.depth() == 1 && segment.kind != "load" {
            let (text, ..) = steps.next().expect("a step of the list");
            all.insert((*text).to_owned(), shown(&step, page.tables()));
        } else if segment.kind == "timeout" && name.depth() == 2 {
            let (_, line) = segment.label.rsplit_once(':').expect("a line");
            let line: usize = line.parse().expect("a number");
            // The script begins in the line of the last part of the body.
            let first = BODY.matches('\n').count() + 3;
            if let Some((body, _)) = line.checked_sub(first).and_then(|at| CASES.get(at)) {
                all.insert((*body).to_owned(), shown(&step, page.tables()));
            }
        }
    }
    all
}

fn expected() -> BTreeMap<String, String> {
    let cases = CASES.iter().map(|(body, accesses)| (*body, *accesses));
    let steps = STEPS.iter().map(|(step, _, accesses)| (*step, *accesses));
    cases.chain(steps).map(|(text, accesses)| (text.to_owned(), accesses.to_owned())).collect()
}

#[test]
fn each_use_of_the_tree_reports_what_it_accesses() {
    if !is_due(40) {
        return;
    }
    let found = accessed(Arc::new(Logged::default()));
    let expected = expected();
    let mut wrong = String::new();
    for (text, accesses) in &expected {
        let found = found.get(text).map_or("(it did not run)", String::as_str);
        if found != accesses {
            writeln!(wrong, "{text}\n   list: {accesses}\n  found: {found}").expect("a text");
        }
    }
    assert_eq!(wrong, "", "\n{wrong}");
}

/// Parts of the log, each without which some case must report something else.
const PARTS: &[(&str, &str)] = &[
    ("helper(elementHome, \"classList\");", ""),
    ("patchLookups();\n  patchChanges", "patchChanges"),
    ("patchChanges();\n  patchAttributes", "patchAttributes"),
    ("patchAttributes();\n  patchState", "patchState"),
    ("  patchState();\n}", "}"),
    ("if (hasTree) patchMarkup();", ""),
    ("  patchEvents();\n", ""),
    ("  input(type, path);", ""),
    ("if (type === \"click\") activation(path);", ""),
    ("  watch(root.document);\n", ""),
    ("patch(storage, \"clear\"", "patch(undefined, \"clear\""),
    ("if (type === \"submit\") readForm(target);", ""),
];

#[test]
fn a_log_without_a_part_is_noticed() {
    if !is_due(41) {
        return;
    }
    let expected = expected();
    let one = (anyorder_testkit::effort::first_seed() / 100_000_000) as usize % PARTS.len();
    for (at, (from, to)) in PARTS.iter().enumerate() {
        if anyorder_testkit::effort::counts_all() || at == one {
            let broken = Broken { logged: Logged::default(), from, to };
            assert_ne!(accessed(Arc::new(broken)), expected, "without `{from}`");
        }
    }
}

/// Returns how many accesses the document's own event reports, and how many all others do.
fn counted(rewriter: Arc<dyn Rewriter>) -> (usize, usize) {
    let site = site();
    let store = Store::new(site.source());
    let factory = PageFactory::new(site.options.clone(), store, rewriter);
    let mut page = anyorder_system::SystemFactory::make(&factory).expect("the page opens");
    let mut counts = (0, 0);
    for at in 0..4 {
        let next = page.enabled().expect("events").into_iter().next().expect("an event");
        let step = page.execute(&Choice::of(next.task)).expect("a step");
        let named = |access: &anyorder_system::Access| {
            matches!(page.tables().locations[access.location.index()], Location::Named(_))
        };
        let count = step.accesses.as_slice().iter().filter(|access| named(access)).count();
        if at == 0 { counts.0 += count } else { counts.1 += count }
    }
    counts
}

#[test]
fn the_documents_own_event_reports_nothing() {
    if !is_due(42) {
        return;
    }
    let (own, others) = counted(Arc::new(Logged::default()));
    assert_eq!(own, 0);
    assert!(others > 0, "the others do");
    // A log that cannot skip an event reports it.
    let broken = Broken { logged: Logged::default(), from: "  skip() {", to: "  left() {" };
    let (own, _) = counted(Arc::new(broken));
    assert!(own > 0);
}
