//! Posting: mailboxes, targets, handles.

use crate::lower::explore::explore;

fn ends(text: &str) -> Vec<String> {
    let found = explore(text);
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    assert_eq!(found.deadlocks, 0);
    found.ends.into_iter().collect()
}

#[test]
fn delayed_front_cancel() {
    let found = ends(
        "model m
handler ui: delayed;
var log: list<int>;
task t(i: int) on ui { log.push(i); if i == 10 { post t(15) after 1; } }
init { post t(30) after 3; post t(10) after 1; post t(0); let p = post t(20) after 2; cancel p; post t(5) front; let none: task? = null; if none != null { cancel none; } }
",
    );
    assert_eq!(found, ["log = [5, 0, 10, 15, 30]"]);
}

#[test]
fn handlers_by_argument() {
    let found = ends(
        "model m
handler w[2]: fifo;
var a: list<int>, b: list<int>;
task job(i: int, n: int) on w[n % 2] { if n % 2 == 0 { a.push(i); } else { b.push(i); } }
task other(i: int) on w[1] { b.push(i); }
once event go { for i in 0..4 { post job(i, i); } post other(9); post job(7, 1) to w[0]; post other(8) front; }
",
    );
    let wanted: Vec<&str> = vec![
        "a = [0, 2]; b = [7, 8, 1, 3, 9]",
        "a = [0, 2]; b = [8, 1, 3, 7, 9]",
        "a = [0, 2]; b = [8, 1, 3, 9, 7]",
        "a = [0, 2]; b = [8, 1, 7, 3, 9]",
        "a = [0, 2]; b = [8, 7, 1, 3, 9]",
    ];
    let mut wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
    wanted.sort();
    // The post to w[0] comes behind two others there; all orders against the five of w[1].
    assert_eq!(found, wanted);
}

#[test]
fn bags_and_async() {
    let found = ends(
        "model m
handler b: bag;
var log: list<int>;
task t(i: int) on b { log.push(i); }
procedure p(i: int) { log.push(i); }
init { post t(1); post t(2); call p(0); p(5); }
",
    );
    assert_eq!(found, ["log = [0, 5, 1, 2]", "log = [0, 5, 2, 1]"]);
    let found = ends(
        "model m
var log: list<int>;
procedure p(i: int) { log.push(i); }
once event e { async[main] p(1); async[any] p(2); }
",
    );
    assert_eq!(found, ["log = [1, 2]", "log = [2, 1]"]);
}

#[test]
fn tasks_step_by_access_if_asked() {
    let text = "model m
setting granularity = access;
handler a: fifo; handler b: fifo;
var x = 0;
task t() { let r = x; x = r + 1; }
init { post t() to a; post t() to b; }
";
    assert_eq!(ends(text), ["x = 1", "x = 2"]);
    assert_eq!(ends(&text.replace("granularity = access", "granularity = task")), ["x = 2"]);
}
