//! The timeline's data: the part of a trace that it keeps, and its bounded size.

use anyorder_finding::{Finding, Kind, Site};
use anyorder_report::html::{Budget, TimelineData};
use anyorder_trace::{EventKind, LabelScheme, Mailbox, Meta, Op, TaskId, Trace, TraceBuilder};
use serde_json::Value;

fn data(trace: &Trace, findings: &[Finding], budget: Budget) -> Value {
    serde_json::to_value(TimelineData::from_trace(trace, findings, &budget)).unwrap()
}

fn race(labels: &[&str]) -> Finding {
    let site = |label: &&str| Site { event: Some((*label).to_owned()), ..Site::default() };
    Finding { sites: labels.iter().map(site).collect(), ..Finding::new(Kind::Race) }
}

fn column(data: &Value, name: &str) -> Vec<i64> {
    data["tasks"][name].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
}

/// `length` tasks that each post the next, on two handlers in turn; each writes once. Positions: 0
/// is the first post, then for each task get, write, post of the next, end.
fn relay(length: u32) -> Trace {
    let mut b = TraceBuilder::new();
    let handlers =
        [b.handler("even", Mailbox::Fifo).unwrap(), b.handler("odd", Mailbox::Bag).unwrap()];
    let tasks: Vec<TaskId> =
        (0..length).map(|n| b.task(&format!("t{n}"), handlers[n as usize % 2]).unwrap()).collect();
    b.post(b.initial(handlers[0]), tasks[0]).unwrap();
    for (n, task) in tasks.iter().enumerate() {
        b.get(*task).unwrap();
        b.write(*task, "x").unwrap();
        if let Some(next) = tasks.get(n + 1) {
            b.post(*task, *next).unwrap();
        }
        b.end(*task).unwrap();
    }
    b.finish()
}

#[test]
fn tasks_lanes_and_posts_are_those_of_the_trace() {
    let data = data(&relay(3), &[race(&["3", "11"])], Budget::default());
    assert_eq!(data["events"], 12);
    assert_eq!(data["lanes"][0], serde_json::json!({"name": "even", "mailbox": "fifo"}));
    assert_eq!(data["lanes"][1], serde_json::json!({"name": "odd", "mailbox": "bag"}));
    assert_eq!(data["names"], serde_json::json!(["even", "t0", "t1", "t2"]));
    assert_eq!(column(&data, "lane"), [0, 0, 1, 0]);
    assert_eq!(column(&data, "kind"), [0, 1, 1, 1]);
    assert_eq!(column(&data, "first"), [0, 1, 5, 9]);
    assert_eq!(column(&data, "last"), [0, 4, 8, 11]);
    assert_eq!(column(&data, "post"), [-1, 0, 3, 7]);
    assert_eq!(column(&data, "poster"), [-1, 0, 1, 2]);
    assert_eq!(column(&data, "time"), [-1, -1, -1, -1]);
    assert_eq!(data["density"], serde_json::json!([]));
    let mark = &data["marks"][0];
    assert_eq!(mark["finding"], 0);
    assert_eq!(mark["sites"][0]["chain"], serde_json::json!([1, 0]));
    assert_eq!(mark["sites"][1]["chain"], serde_json::json!([3, 2, 1, 0]));
    assert_eq!(mark["sites"][1]["event"], 10);
}

#[test]
fn tasks_of_findings_are_kept_and_the_others_are_merged() {
    let trace = relay(1_000);
    let budget = Budget { tasks_max: 20, lanes_max: 2, buckets: 10 };
    // The write of task 5 has the label 5 * 4 + 3.
    let data = data(&trace, &[race(&["23"])], budget);
    assert_eq!(column(&data, "lane").len(), 20);
    assert_eq!(data["tasks_total"], 1_001);
    let names: Vec<&str> =
        data["names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    for name in ["even", "t0", "t1", "t2", "t3", "t4", "t5"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert_eq!(data["marks"][0]["sites"][0]["chain"].as_array().unwrap().len(), 7);
    let merged: i64 =
        data["density"].as_array().unwrap().iter().map(|d| d["tasks"].as_i64().unwrap()).sum();
    assert_eq!(merged, 981);
    for density in data["density"].as_array().unwrap() {
        let running = density["running"].as_array().unwrap();
        assert_eq!(running.len(), 10);
        assert!(running.iter().all(|n| (1..=60).contains(&n.as_i64().unwrap())), "{running:?}");
    }
}

#[test]
fn handlers_of_findings_are_kept() {
    let mut b = TraceBuilder::new();
    for n in 0..50 {
        let handler = b.handler(&format!("h{n}"), Mailbox::None).unwrap();
        for _ in 0..=n {
            b.write(b.initial(handler), "x").unwrap();
        }
    }
    let budget = Budget { lanes_max: 2, ..Budget::default() };
    // Event 1 is the only event of h0; h49 is the busiest.
    let data = data(&b.finish(), &[race(&["1"])], budget);
    assert_eq!(data["lanes"][0]["name"], "h0");
    assert_eq!(data["lanes"][1]["name"], "h49");
    assert_eq!(data["lanes_total"], 50);
    assert_eq!(column(&data, "lane"), [0, 1]);
}

/// A trace of a read and a write with a number column.
fn labelled(labels: LabelScheme, numbers: &[u32]) -> Trace {
    let mut b = TraceBuilder::new();
    for name in ["first", "second"] {
        b.interner.name(name).unwrap();
    }
    let handler = b.handler("h", Mailbox::None).unwrap();
    let task = b.initial(handler);
    b.push(task, Op::from(EventKind::Begin), 0);
    b.read(task, "x").unwrap();
    b.write(task, "x").unwrap();
    b.interner.tables.meta = Meta { labels, ..Meta::default() };
    b.columns.numbers = numbers.to_vec();
    b.finish()
}

#[test]
fn events_are_found_by_any_kind_of_label() {
    let at = |trace: &Trace, label: &str| {
        let data = data(trace, &[race(&[label])], Budget::default());
        data["marks"][0]["sites"][0]["event"].as_u64()
    };
    let lines = labelled(LabelScheme::Line, &[10, 20, 30]);
    assert_eq!(at(&lines, "20"), Some(1));
    assert_eq!(at(&lines, "2"), None);
    let both = labelled(LabelScheme::AccessOrOperation, &[1, 1, 2]);
    assert_eq!(at(&both, "1"), Some(1), "the access before the operation");
    assert_eq!(at(&both, "rwId:2"), Some(2));
    assert_eq!(at(&both, "op:1"), Some(0));
    let findings = [race(&["op:1", "1"])];
    let sites = &data(&both, &findings, Budget::default())["marks"][0]["sites"];
    assert_eq!((sites[0]["event"].as_u64(), sites[1]["event"].as_u64()), (Some(0), Some(1)));
    let first = both.tables().names.iter().find(|(_, name)| *name == "first").unwrap().0;
    let names = labelled(LabelScheme::Name, &[0, first.0 + 1, first.0]);
    assert_eq!(at(&names, "first"), Some(2));
    assert_eq!(at(&names, "third"), None);
    let positions = labelled(LabelScheme::Position, &[]);
    assert_eq!(at(&positions, "3"), Some(2));
    for label in ["0", "4", "-1", "", "99999999999999999999", "x"] {
        assert_eq!(at(&positions, label), None, "{label}");
    }
}

#[test]
fn a_task_that_posts_itself_ends_its_chain() {
    let mut b = TraceBuilder::new();
    let handler = b.handler("h", Mailbox::Fifo).unwrap();
    let (one, two) = (b.task("one", handler).unwrap(), b.task("two", handler).unwrap());
    b.get(one).unwrap();
    b.post(one, one).unwrap();
    b.post(one, two).unwrap();
    b.end(one).unwrap();
    b.get(two).unwrap();
    b.write(two, "x").unwrap();
    let data = data(&b.finish(), &[race(&["6"])], Budget::default());
    assert_eq!(data["marks"][0]["sites"][0]["chain"].as_array().unwrap().len(), 2);
}

#[test]
fn empty_and_extreme_inputs_are_fine() {
    let nothing = data(&TraceBuilder::new().finish(), &[race(&["1"])], Budget::default());
    assert_eq!(nothing["events"], 0);
    let none = Budget { tasks_max: 0, lanes_max: 0, buckets: 0 };
    let data = data(&relay(5), &[race(&["3"])], none);
    assert_eq!(data["lanes"], serde_json::json!([]));
    assert_eq!(data["marks"], serde_json::json!([]));
}
