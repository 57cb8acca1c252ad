//! Each happens-before rule on a page of its own: the page has exactly the orders that the rule
//! allows. All of them are run. A page must notice if its rule is dropped, and if it orders more
//! than it should: a fault in the front end, or another text in the place of the page's.

mod cases;

use anyorder_explore::r4::{ReversalOptions, explore};
use anyorder_system::{
    Choice, Control, Observation, PartPath, RunError, SystemFactory, TaskName, TaskSystem,
};
use anyorder_testkit::effort::is_due;
use anyorder_web::{
    Answer, PageFactory, PageOptions, PageRequest, PageSystem, RULES, Response, Rewriter,
    RewrittenPage, SocketCause, SocketData, SocketMessage, Sockets, Source, Store, find_browser,
    parse_actions,
};
use cases::CASES;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sabotage::Sabotage;

/// The most orders of a page.
const ORDERS_MAX: usize = 60;

/// A page for a rule.
struct Case {
    /// The number of the rule, and the beginning of its text.
    rule: (u32, &'static str),
    /// What is behind the script `say`. The parser stops at `<!-- hold -->`.
    page: &'static str,
    /// Its other files, by their paths.
    files: &'static [(&'static str, &'static str)],
    /// The steps of the user.
    steps: &'static str,
    /// What the page says at the ends of its runs.
    says: &'static [&'static str],
    /// How many orders its events have.
    orders: usize,
    /// Words that the names of the events of the default run have.
    names: &'static [&'static str],
    /// How the rule is dropped.
    dropped: Broken,
    /// How it is made too strong.
    strict: Broken,
}

/// What makes a rule wrong.
#[derive(Clone, Copy, Debug)]
enum Broken {
    /// A fault of the front end.
    Fault(Sabotage),
    /// Another text in the place of one in the page.
    Text(&'static str, &'static str),
    /// A script that runs before those of the page.
    Script(&'static str),
}

const SAY: &str = "<!DOCTYPE html><body><p id=log></p><script>function say(word) {
    document.getElementById('log').textContent += word + ' '; }</script>";

/// Puts points where the parser is held, and makes the page wrong.
struct Texts(Option<Broken>);

impl Texts {
    fn changed(&self, text: &str) -> String {
        match self.0 {
            Some(Broken::Text(from, to)) => text.replace(from, to),
            _ => text.to_owned(),
        }
    }
}

impl Rewriter for Texts {
    fn script(&self, text: &str, _url: &str, _is_module: bool) -> String {
        text.to_owned()
    }

    fn html(&self, bytes: &[u8], _content_type: &str, _url: &str) -> RewrittenPage {
        let text = String::from_utf8_lossy(bytes);
        let held = text.replace("<!-- hold -->", "<script src=\"/__anyorder/hold/0.js\"></script>");
        self.changed(&held).into_bytes().into()
    }

    fn log(&self) -> String {
        match self.0 {
            Some(Broken::Script(script)) => script.to_owned(),
            _ => String::new(),
        }
    }
}

struct Files(&'static Case);

impl Source for Files {
    fn answer(&mut self, request: &PageRequest) -> Answer {
        let path = request.url.strip_prefix("http://localhost").unwrap_or_default();
        let kind = match path.rsplit_once('.').map(|(_, end)| end) {
            Some("js") => "text/javascript",
            Some("txt") => "text/plain",
            Some("svg") => "image/svg+xml",
            _ => "text/html",
        };
        let page = format!("{SAY}{}", self.0.page);
        let file = self.0.files.iter().find(|(known, _)| *known == path).map(|(_, text)| *text);
        let text = if path == "/" { Some(page.as_str()) } else { file };
        let response = |text: &str| Response::new(200, kind, text.as_bytes());
        let none = || Response::new(404, "text/plain", b"not found");
        Answer::Response(text.map_or_else(none, response))
    }

    fn sockets(&self) -> Sockets {
        let text = |text: &str| SocketData::Text(text.to_owned());
        let message = |data| SocketMessage { cause: SocketCause::After(0), data };
        let list = [text("one"), text("two"), SocketData::Close(1000, String::new())];
        Sockets::from([("/chat".to_owned(), list.map(message).to_vec())])
    }
}

/// The orders of a page.
#[derive(PartialEq, Eq, Debug, Default)]
struct Orders {
    says: BTreeSet<String>,
    count: usize,
    /// How many events all of them have.
    events: usize,
    /// The events of the default run.
    first: Vec<String>,
}

fn factory(case: &'static Case, broken: Option<Broken>) -> PageFactory {
    let sabotage = match broken {
        Some(Broken::Fault(fault)) => fault,
        _ => Sabotage::None,
    };
    let actions = parse_actions(&format!("{{\"steps\": [{}]}}", case.steps)).expect("steps");
    let options = PageOptions { actions, pixels: false, sabotage, ..PageOptions::default() };
    let store = Store::new(Box::new(Files(case)));
    PageFactory::new(options, store, Arc::new(Texts(broken)))
}

fn said(outcome: &Observation) -> String {
    let part = outcome.part(&PartPath::new(["page", "text"]));
    let text = part.and_then(|part| part.text.clone()).unwrap_or_default();
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// Runs a plan, then the first of what is enabled. Returns all that ran, and what else could have
/// run behind the plan.
fn run(
    page: &mut PageSystem,
    plan: &[TaskName],
    others: &mut Vec<Vec<TaskName>>,
) -> Result<(Vec<TaskName>, String), RunError> {
    page.reset()?;
    let mut ran: Vec<TaskName> = Vec::new();
    loop {
        let mut enabled = page.enabled()?.into_iter().map(|one| one.task);
        let next = match plan.get(ran.len()) {
            Some(planned) => planned.clone(),
            None => {
                let Some(next) = enabled.next() else { break };
                others.extend(enabled.map(|other| {
                    let mut plan = ran.clone();
                    plan.push(other);
                    plan
                }));
                next
            }
        };
        page.execute(&Choice::of(next.clone()))?;
        ran.push(next);
    }
    Ok((ran, said(&page.observe()?)))
}

/// Runs all orders of a page.
fn orders(case: &'static Case, broken: Option<Broken>) -> Orders {
    let mut page = factory(case, broken).make().expect("the page opens");
    let mut plans = vec![Vec::new()];
    let mut found = Orders::default();
    while let Some(plan) = plans.pop() {
        if found.count > if broken.is_some() { case.orders } else { ORDERS_MAX } {
            break;
        }
        found.count += 1;
        match run(&mut page, &plan, &mut plans) {
            Ok((ran, said)) => {
                found.says.insert(said);
                found.events += ran.len();
                if found.count == 1 {
                    found.first = ran.iter().map(ToString::to_string).collect();
                }
            }
            Err(error) => _ = found.says.insert(format!("error: {error}")),
        }
    }
    found
}

/// Returns what the page says in the runs of the engine, for which every two events conflict.
fn explored(case: &'static Case, broken: Option<Broken>) -> BTreeSet<String> {
    let options = ReversalOptions { bound: None, blind: true, ..ReversalOptions::default() };
    let outcome =
        explore(&factory(case, broken), &options, &Control::default()).expect("it explores");
    outcome.runs.iter().map(|run| said(&run.observation)).collect()
}

/// Returns whether a page notices that its rule is wrong.
fn notices(case: &'static Case, broken: Broken, right: &Orders) -> bool {
    let found = orders(case, Some(broken));
    println!("    {broken:?}: {} orders, {:?}", found.count, found.says);
    found != *right
        || matches!(broken, Broken::Fault(_)) && explored(case, Some(broken)) != right.says
}

/// Returns what is wrong with a page.
fn check(case: &'static Case) -> Vec<String> {
    let mut faults = Vec::new();
    let right = orders(case, None);
    println!("{} {}: {right:#?}", case.rule.0, case.rule.1);
    let says: BTreeSet<String> = case.says.iter().map(ToString::to_string).collect();
    if right.says != says || right.count != case.orders {
        faults.push(format!("{} orders: {:#?}", right.count, right.says));
    }
    for words in case.names {
        if !right.first.iter().any(|name| name.contains(words)) {
            faults.push(format!("no `{words}` in {:?}", right.first));
        }
    }
    let explored = explored(case, None);
    if explored != says {
        faults.push(format!("the engine: {explored:?}"));
    }
    if !notices(case, case.dropped, &right) {
        faults.push(format!("not noticed: {:?}", case.dropped));
    }
    if !notices(case, case.strict, &right) {
        faults.push(format!("not noticed: {:?}", case.strict));
    }
    faults
}

#[test]
fn each_rule_allows_the_right_orders() {
    if let Err(error) = find_browser(None) {
        println!("skipped: {error}");
        return;
    }
    let wanted = std::env::var("ANYORDER_RULE").ok();
    let mut faults = Vec::new();
    for (index, case) in CASES.iter().enumerate() {
        let due = match &wanted {
            Some(rule) => case.rule.0.to_string() == *rule,
            // A push tries one page.
            None => is_due(index, CASES.len()),
        };
        let wrong = if due { check(case) } else { Vec::new() };
        faults.extend(wrong.into_iter().map(|fault| format!("{:?}: {fault}", case.rule)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_rule_has_a_page() {
    for rule in RULES {
        let is_of = |case: &Case| case.rule.0 == rule.number && rule.text.starts_with(case.rule.1);
        assert!(CASES.iter().any(is_of), "{rule:?}");
    }
    for case in CASES {
        let is_of = |rule: &anyorder_web::Rule| {
            case.rule.0 == rule.number && rule.text.starts_with(case.rule.1)
        };
        assert!(RULES.iter().any(is_of), "{:?}", case.rule);
    }
}
