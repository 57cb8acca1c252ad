//! Random orders, each run twice, once in a tab of its own and once in one that was used before:
//! what is enabled after each event, and the outcome, must be the same. What escapes control shows
//! here.

use crate::common::{enabled, has_browser, name, start_page, start_with};
use anyorder_common::random::{Random, Rng};
use anyorder_system::{Choice, Observation, TaskSystem};
use anyorder_testkit::effort;
use anyorder_web::{PageOptions, PageSystem, Unchanged};
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGES: &[&str] = &[
    "timers",
    "frames",
    "messages",
    "network",
    "streams",
    "cancelling",
    "user",
    "errors",
    "for_ever",
];

/// The kinds of events that the pages have.
const KINDS: &[&str] = &[
    "load",
    "timeout",
    "interval",
    "frame",
    "idle",
    "posted",
    "message",
    "broadcast",
    "worker",
    "request",
    "style",
    "script",
    "image",
    "frame_document",
    "fetch",
    "beacon",
    "socket",
    "stream",
    "click",
    "type",
    "press",
    "hover",
    "scroll",
    "drag",
    "upload",
    "navigate",
    "wait",
    "leave",
];

/// Runs a page; `choose` picks the number of the next of so many events. Returns the lists of
/// enabled events, and the outcome.
fn walk(
    page: &mut PageSystem,
    mut choose: impl FnMut(&[String]) -> String,
) -> (Vec<Vec<String>>, Observation) {
    page.reset().expect("a new run");
    let mut lists = Vec::new();
    loop {
        let list = enabled(page);
        if list.is_empty() {
            return (lists, page.observe().expect("an outcome"));
        }
        let next = choose(&list);
        lists.push(list);
        page.execute(&Choice::of(name(&next))).expect("a step");
    }
}

#[test]
fn a_random_order_is_the_same_twice() {
    if !has_browser() {
        return;
    }
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let (mut late, mut tabs, mut runs) = (0, 0, 0);
    for (index, page_name) in PAGES.iter().enumerate() {
        if !effort::is_due(index, 4) {
            continue;
        }
        let mut page = start_page(page_name);
        let options = PageOptions { reuse_tabs: false, ..PageOptions::default() };
        let mut in_new_tabs = start_with(page_name, options, Arc::new(Unchanged));
        for seed in effort::seeds(2) {
            let mut rng = Rng::new(seed);
            let mut chosen = Vec::new();
            let first = walk(&mut page, |list| {
                let next = list[rng.below(list.len() as u64) as usize].clone();
                chosen.push(next.clone());
                next
            });
            for task in &chosen {
                *kinds.entry(name(task).segment().kind.clone()).or_default() += 1;
            }
            let mut again = chosen.iter();
            let second = walk(&mut in_new_tabs, |list| {
                let next = again.next().unwrap_or(&list[0]);
                assert!(list.contains(next), "{page_name}, seed {seed}: {next} of {list:?}");
                next.clone()
            });
            assert_eq!(first.0, second.0, "{page_name}, seed {seed}");
            let differences = first.1.difference(&second.1);
            assert_eq!(differences, [], "{page_name}, seed {seed}: {chosen:#?}");
        }
        late += page.stats().late_requests + in_new_tabs.stats().late_requests;
        tabs += page.stats().tabs;
        runs += page.stats().runs;
        let stats = in_new_tabs.stats();
        assert_eq!(stats.tabs + 1, stats.runs, "the first run begins where the page was opened");
    }
    println!("events by kind: {kinds:?}; late requests: {late}; {runs} runs in {tabs} tabs");
    assert_eq!(late, 0);
    if effort::effort() > 1 {
        let missing: Vec<&&str> = KINDS.iter().filter(|kind| !kinds.contains_key(**kind)).collect();
        assert!(missing.is_empty(), "never: {missing:?}");
        assert!(tabs < runs, "no tab is used again");
    }
}
