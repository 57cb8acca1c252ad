//! The texts of deadlocks, update conflicts and growing models.

use crate::common;

use common::{Ran, file, folder, run};
use serde_json::Value;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Checks a model; returns kind and title of each finding.
fn check(name: &str, text: &str, more: &[&str]) -> Vec<(String, String)> {
    let folder = folder();
    let model = file(&folder, name, text);
    let mut args = vec!["check", &model, "--format", "json", "--quiet"];
    args.extend(more);
    let value = json(&run(&args));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = value["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().map(|one| (text(one, "kind"), text(one, "title"))).collect()
}

const OPPOSITE: &str = "model opposite
var a = 0, b = 0;
lock m, n;
thread t { with m { with n { a = 1; } } }
thread u { with n { with m { b = 1; } } }
final: a + b == 2;
";

#[test]
fn final_hides_no_deadlock() {
    for more in [&[][..], &["--no-reduction"]] {
        let found = check("opposite.any", OPPOSITE, more);
        let title = "`t` and `u` wait for each other";
        assert_eq!(found, [("deadlock".to_owned(), title.to_owned())], "{more:?}");
    }
    let folder = folder();
    let model = file(&folder, "opposite.any", OPPOSITE);
    let args = ["explore", &model, "--algorithm", "r4", "--format", "json", "--quiet"];
    let value = json(&run(&args));
    let findings = value["findings"].as_array().expect("findings");
    assert!(findings.iter().any(|one| one["kind"] == "deadlock"), "{value}");
}

#[test]
fn a_deadlock_says_who_holds_what_since_where() {
    let folder = folder();
    let model = file(&folder, "opposite.any", OPPOSITE);
    let value = json(&run(&["check", &model, "--format", "json", "--quiet"]));
    let sites = value["findings"][0]["sites"].as_array().expect("sites").clone();
    let told: Vec<(String, u64)> = sites
        .iter()
        .map(|site| {
            let what = site["access"].as_str().unwrap_or_default().to_owned();
            (what, site["line"].as_u64().unwrap_or_default())
        })
        .collect();
    let lines: Vec<u64> = told.iter().map(|(_, line)| *line).collect();
    assert_eq!(lines, [4, 5]);
    assert_eq!(told[0].0, "waits for lock n, held by u");
    assert_eq!(told[1].0, "waits for lock m, held by t");
    let steps = value["findings"][0]["explanation"].as_array().expect("steps").clone();
    let end = steps.last().and_then(|step| step["text"].as_str()).expect("an end");
    assert!(end.contains("`t` at 4:26 waits for lock n, held by u since 5:17 (step 2)"), "{end}");
    assert!(end.contains("`u` at 5:26 waits for lock m, held by t since 4:17 (step 1)"), "{end}");
}

#[test]
fn daemons_may_wait_but_not_for_locks() {
    let server = "model server
lock m; cond c;
var jobs = 0, done = 0;
daemon thread server {
    loop { with m { while jobs == 0 { wait c with m; } jobs -= 1; done += 1; } }
}
thread client { with m { jobs += 1; notify c; } }
final: done == 1;
";
    assert_eq!(check("server.any", server, &[]), []);
    let found = check("server.any", &server.replace("daemon ", ""), &[]);
    let title = "nothing can happen any more, and `server` waits for ever".to_owned();
    assert_eq!(found, [("deadlock".to_owned(), title)]);
    let kept = "model kept
lock m;
thread t { acquire m; }
daemon thread u { with m { } }
final: true;
";
    assert_eq!(check("kept.any", kept, &[]).len(), 1);
}

#[test]
fn both_searches_find_the_same_update_conflicts() {
    let model = "model home
var lamp = 0, seen = [0, 0];
fn lights() { lamp = 1; seen[0] = 1; }
fn alarm() { lamp = 2; seen[1] = 1; }
once event smoke { lights(); alarm(); }
component a: lights;
component b: alarm;
";
    let title = "`a` and `b` set `lamp` to different values, one after the other".to_owned();
    for more in [&[][..], &["--no-reduction"]] {
        let found = check("home.any", model, more);
        assert_eq!(found, [("update_conflict".to_owned(), title.clone())], "{more:?}");
    }
    let folder = folder();
    let file = file(&folder, "home.any", model);
    let args = ["explore", &file, "--algorithm", "r4", "--format", "json", "--quiet"];
    let value = json(&run(&args));
    let kinds: Vec<&Value> =
        value["findings"].as_array().expect("findings").iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["update_conflict"], "{value}");
}

#[test]
fn tables_show_the_element_that_changes() {
    let folder = folder();
    let model = file(
        &folder,
        "votes.any",
        "model votes
enum Role { Follower, Candidate }
var role = [Role.Follower, Role.Follower, Role.Follower], x = 1;
once event run { role[0] = Role.Candidate; x = 1; }
invariant nobody: role[0] == Role.Follower;
",
    );
    let ran = run(&["check", &model, "--quiet"]);
    assert!(ran.stdout.contains("role[0]: Role.Follower -> Role.Candidate"), "{}", ran.stdout);
    assert!(ran.stdout.contains("x: 1 again"), "{}", ran.stdout);
}

/// An event that is always enabled posts objects. The search does not end, but reports its findings
/// and the growing mailbox.
#[test]
fn models_that_grow_say_so_while_they_are_searched() {
    let folder = folder();
    let model = file(
        &folder,
        "grows.any",
        "model grows
class Job { var n = 0; }
var last = 0;
handler ui: fifo;
task run(job: Job) on ui { job.n += 1; last = job.n; assert last < 1; }
event click { post run(new Job()); }
",
    );
    for more in [&[][..], &["--no-reduction"]] {
        let args = [&["check", &model, "--format", "json", "--time-limit", "12s"][..], more];
        let ran = run(&args.concat());
        assert!(ran.stderr.contains("note: found so far: assertion"), "{more:?}: {}", ran.stderr);
        assert_eq!(json(&ran)["verdict"], "findings", "{more:?}");
    }
}
