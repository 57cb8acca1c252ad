//! Each kind of event on a small page: in the default order, and in another one.
//!
//! The pages write a word for each event into their text, so that the text is the order.

use crate::common::{enabled, example, is_due, run, start_page, start_with, text};
use anyorder_system::{Choice, Observation, TaskSystem};
use anyorder_web::{
    Actions, PageOptions, PageSystem, Rewriter, RewrittenPage, Unchanged, parse_actions,
};
use std::sync::Arc;

fn words(outcome: &Observation) -> String {
    let all = text(outcome, ["page", "text"]);
    all.lines().next().unwrap_or_default().trim().to_owned()
}

/// Runs a page in the default order and then by plans, and compares what it says. Each run is made
/// twice, with the same outcome. No event may escape.
fn check(name: &str, default: &str, others: &[(&[&str], &str)]) -> PageSystem {
    check_page(start_page(name), name, default, others)
}

fn check_page(
    mut page: PageSystem,
    name: &str,
    default: &str,
    others: &[(&[&str], &str)],
) -> PageSystem {
    let all = std::iter::once((&[][..], default)).chain(others.iter().copied());
    for (plan, expected) in all {
        let first = run(&mut page, plan);
        assert_eq!(words(&first.1), expected, "{name}, {plan:?}: {:#?}", first.0);
        if anyorder_testkit::effort::effort() == 1 && !plan.is_empty() {
            continue;
        }
        let again = run(&mut page, plan);
        assert_eq!(first.0, again.0, "{name}, {plan:?}");
        let said = [&first.1, &again.1].map(words);
        assert_eq!(first.1.difference(&again.1), [], "{name}, {plan:?}: {said:?}");
    }
    assert_eq!((page.stats().late_requests, page.stats().browsers), (0, 1), "{name}");
    page
}

#[test]
fn timers() {
    if !is_due(0) {
        return;
    }
    let slow = "load/timeout@timers.html:5";
    let late = "load/timeout@timers.html:14";
    let text = "load/timeout@timers.html:7";
    let mut page = check(
        "timers",
        "fast tick1 slow text late tick2",
        // A timer may be late, but not later than one set after it with a longer delay.
        &[(&["load", slow, text, late], "slow fast tick1 text late tick2")],
    );
    page.reset().expect("a new run");
    page.execute(&Choice::of("load".parse().expect("a name"))).expect("a step");
    let free = enabled(&mut page);
    assert_eq!(
        free,
        ["load/timeout@timers.html:6", slow],
        "the slow one was set first: both orders are possible; the others wait for the fast one"
    );
}

#[test]
fn transitions() {
    if !is_due(0) {
        return;
    }
    let timer = "load/timeout@transitions.html:24";
    // They end in the order of their times, at any time for others.
    check("transitions", "a e1 c timer b", &[(&["load", timer], "timer a e1 c b")]);
}

#[test]
fn frames_and_posted_tasks() {
    if !is_due(1) {
        return;
    }
    let (frame, idle) = ("load/frame@frames.html:5", "load/idle@frames.html:7");
    check(
        "frames",
        "micro task idle frame1 frame2",
        &[(&["load", "load/frame@frames.html:6", frame, idle], "micro frame1 idle task frame2")],
    );
}

#[test]
fn messages() {
    if !is_due(2) {
        return;
    }
    let (news, worker) = ("load/broadcast@news", "load/request@%2Fworker.js");
    let answer = "load/request@%2Fworker.js/worker";
    check(
        "messages",
        "port-1 window-w port-2 news-n worker-21",
        &[
            (&["load", news, "load/message@window"], "news-n window-w port-1 port-2 worker-21"),
            (&["load", worker, answer, news], "worker-21 news-n port-1 window-w port-2"),
        ],
    );
}

#[test]
fn responses() {
    if !is_due(3) {
        return;
    }
    let style = "load/style@%2Fstyle.css";
    let below = |rest: &str| format!("{style}/{rest}");
    let async2 = below("script@%2Fasync2.js");
    let save = below("fetch@POST%20%2Fsave");
    let fetch = below("fetch@%2Fa.txt");
    let deferred = below("script@%2Fdeferred.js");
    let module = below("script@%2Fmodule.js");
    let imported = below("script@%2Fmodule.js/script@%2Fimported.js");
    let (frame, image) = (below("frame_document@%2Finner.html"), below("image@%2Fdot.png"));
    let inner = below("frame_document@%2Finner.html/timeout@inner.html:1");
    check(
        "network",
        "synchronous-now async1 async2 deferred image fetch-hello xhr-201 frame module parsed load inner",
        &[
            (
                &["load", style, &async2, &save, &fetch, &frame, &inner, &image],
                "synchronous-now async2 xhr-201 fetch-hello frame inner image async1 deferred module parsed load",
            ),
            // A deferred script and a module keep their order; both wait for the parser.
            (
                &["load", style, &module, &imported, &deferred],
                "synchronous-now deferred module parsed async1 async2 image fetch-hello xhr-201 frame load inner",
            ),
        ],
    );
}

#[test]
fn faults_of_the_network_are_alternatives() {
    if !is_due(4) {
        return;
    }
    let options = PageOptions { faults: true, ..PageOptions::default() };
    let mut page = start_with("network", options, Arc::new(Unchanged));
    page.reset().expect("a new run");
    let mut faults = 0;
    while let Some(next) = page.enabled().expect("enabled events").into_iter().next() {
        let is_data = next.task.segment().kind == "fetch";
        let alternatives = if next.task.depth() == 1 { 1 } else { 3 };
        if next.task.segment().kind != "timeout" {
            assert_eq!(next.alternatives, alternatives, "{}", next.task);
        }
        faults += u32::from(is_data);
        let alternative = if is_data { faults } else { 0 };
        let choice = Choice { alternative, ..Choice::of(next.task) };
        page.execute(&choice).expect("a step");
    }
    assert_eq!(faults, 2);
    let said = words(&page.observe().expect("an outcome"));
    assert!(said.contains("fetch-failed xhr-late"), "{said}");
}

#[test]
fn streams() {
    if !is_due(5) {
        return;
    }
    let (open, nobody) = ("load/socket@%2Fchat%20open", "load/socket@%2Fnobody%20error");
    let hello = "load/socket@%2Fchat%20open/socket@%2Fchat";
    let thanks = "load/socket@%2Fchat%20open/socket@%2Fchat#1";
    check(
        "streams",
        "open nobody news-first other-second got-hello got-thanks",
        &[(
            &["load", nobody, open, thanks, hello, thanks],
            "nobody open got-hello got-thanks news-first other-second",
        )],
    );
}

#[test]
fn cancelled_events_do_not_happen() {
    if !is_due(6) {
        return;
    }
    let frame = "load/frame_document@%2Finner.html";
    let inner = "load/frame_document@%2Finner.html/timeout@inner.html:1";
    check(
        "cancelling",
        "fetched image inner timer stopped",
        &[
            (&["load", "click@%23stop"], "stopped aborted"),
            (
                &["load", frame, inner, "load/image@%2Fdot.png", "click@%23stop"],
                "inner image stopped aborted",
            ),
            (&["load", frame, "click@%23stop"], "stopped aborted"),
        ],
    );
    let mut page = start_page("cancelling");
    page.reset().expect("a new run");
    let choice = |task: &str| Choice::of(task.parse().expect("a name"));
    page.execute(&choice("load")).expect("a step");
    let step = page.execute(&choice("click@%23stop")).expect("a step");
    let mut cancelled: Vec<String> = step.cancelled.iter().map(ToString::to_string).collect();
    cancelled.sort();
    let expected =
        ["load/fetch@%2Fa.txt", frame, "load/image@%2Fdot.png", "load/timeout@cancelling.html:5"];
    assert_eq!(cancelled, expected);
    let written = step.accesses.as_slice().len();
    assert!(written > expected.len(), "each is written: {written}");
}

#[test]
fn the_user() {
    if !is_due(7) {
        return;
    }
    let said =
        "clicked yes typed typed enter hovered scrolled down up file-a.txt trusted refused hash";
    // A page that was left shows nothing any more.
    let mut page = start_page("user");
    let all = page.actions().clone();
    page.set_actions(without_last("user"));
    let mut page = check_page(page, "user", said, &[]);
    let (_, outcome) = run(&mut page, &[]);
    assert_eq!(text(&outcome, ["page", "dialogs"]), "confirm: sure?");
    assert_eq!(text(&outcome, ["fields", "#name"]), "\"ab\"");
    for refused in ["a window", "a download of /a.txt"] {
        assert_eq!(text(&outcome, ["refused", refused]), "1", "{refused}");
    }
    page.set_actions(all);
    let (names, outcome) = run(&mut page, &[]);
    assert_eq!(names.last().map(String::as_str), Some("click@%23leave/leave@%2Ftimers.html"));
    assert_eq!(text(&outcome, ["page", "left for"]), "http://localhost/timers.html");
    assert_eq!(text(&outcome, ["page", "text"]), "");
    // A step waits for its element, and all later steps wait with it.
    page.reset().expect("a new run");
    page.execute(&Choice::of("load".parse().expect("a name"))).expect("a step");
    for _ in 0..8 {
        let step = enabled(&mut page).into_iter().find(|task| !task.starts_with("load"));
        let step = step.expect("a step of the user").parse().expect("a name");
        page.execute(&Choice::of(step)).expect("a step");
    }
    assert_eq!(enabled(&mut page), ["load/timeout@user.html:12"]);
}

/// Returns the steps of a page but for the last one.
fn without_last(name: &str) -> Actions {
    let file = example("kinds").join(format!("{name}.json"));
    let text = std::fs::read_to_string(file).expect("steps");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["steps"].as_array_mut().expect("a list").pop();
    parse_actions(&value.to_string()).expect("steps")
}

#[test]
fn dialogs_can_be_cancelled() {
    if !is_due(8) {
        return;
    }
    let options = PageOptions { accept_dialogs: false, ..PageOptions::default() };
    let mut page = start_with("user", options, Arc::new(Unchanged));
    page.set_actions(without_last("user"));
    let (_, outcome) = run(&mut page, &[]);
    assert!(words(&outcome).starts_with("clicked no typed"), "{}", words(&outcome));
}

#[test]
fn errors_and_what_is_kept() {
    if !is_due(9) {
        return;
    }
    let mut page = check("errors", "fail", &[]);
    let (_, outcome) = run(&mut page, &[]);
    let timed = "Error: timed at /errors.html:7:26";
    let promised = "Error: promised (in a promise) at /errors.html:6:16";
    for path in [["errors", timed], ["errors", promised], ["console", "bad 3"]] {
        assert_eq!(text(&outcome, path), "1", "{path:?}");
    }
    assert_eq!(text(&outcome, ["local", "key"]), "value");
    assert_eq!(text(&outcome, ["page", "cookies"]), "c=1");
    page.reset().expect("a new run");
    let choice = |task: &str| Choice::of(task.parse().expect("a name"));
    page.execute(&choice("load")).expect("a step");
    let step = page.execute(&choice("load/timeout@errors.html:7")).expect("a step");
    let failures: Vec<String> = step.failures.iter().map(ToString::to_string).collect();
    assert_eq!(failures, [timed]);
}

#[test]
fn a_page_that_never_ends_is_left_alone() {
    if !is_due(10) {
        return;
    }
    let page = check("for_ever", "ticks", &[]);
    assert_eq!(page.stats().timers_left, 4, "an interval and a frame, in two runs");
}

/// Puts points where the parser can be held in the place of comments.
struct HoldPoints;

impl Rewriter for HoldPoints {
    fn script(&self, text: &str, _url: &str, _is_module: bool) -> String {
        text.to_owned()
    }

    fn html(&self, bytes: &[u8], _content_type: &str, _url: &str) -> RewrittenPage {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut parts = text.split("<!-- hold -->");
        let first = parts.next().unwrap_or_default().to_owned();
        let point = |at| format!("<script src=\"/__anyorder/hold/{at}.js\"></script>");
        let rest = parts.enumerate().map(|(at, part)| point(at) + part);
        (first + &rest.collect::<String>()).into_bytes().into()
    }
}

#[test]
fn the_parser_is_held() {
    if !is_due(11) {
        return;
    }
    let (first, second) = ("load/parse@0", "load/parse@0/parse@1");
    let mut page = start_with("parsed", PageOptions::default(), Arc::new(HoldPoints));
    let click = "click@%23first";
    for (plan, said) in [
        (&[][..], "parsed all ready"),
        (&["load", click, first, second], "too-soon parsed all"),
        (&["load", first, click, second], "parsed ready all"),
    ] {
        let (names, outcome) = run(&mut page, plan);
        assert_eq!(words(&outcome), said, "{names:?}");
        assert!(!text(&outcome, ["page", "html"]).contains("__anyorder"), "the points are gone");
    }
    assert_eq!(page.stats().late_requests, 0);
}

#[test]
fn the_clock_and_chance_are_the_same_in_every_order() {
    if !is_due(12) {
        return;
    }
    let mut page = start_page("errors");
    let (_, first) = run(&mut page, &[]);
    let options = PageOptions { seed: 2, ..PageOptions::default() };
    let mut other = start_with("errors", options, Arc::new(Unchanged));
    let (_, second) = run(&mut other, &[]);
    let differences = first.difference(&second);
    let paths: Vec<String> = differences.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, ["session/other"], "only what comes from chance");
}
