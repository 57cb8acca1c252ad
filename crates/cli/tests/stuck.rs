//! The texts of deadlocks, update conflicts and growing models.

use crate::common;

use common::{Ran, file, folder, run, workspace};
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
    // A search prints what it has found after five seconds.
    let searches = [&[][..], &["--no-reduction"]].into_iter().enumerate();
    for (_, more) in searches.filter(|(at, _)| anyorder_testkit::effort::is_due(*at, 2)) {
        let args = [&["check", &model, "--format", "json", "--time-limit", "6s"][..], more];
        let ran = run(&args.concat());
        assert!(ran.stderr.contains("note: found so far: assertion"), "{more:?}: {}", ran.stderr);
        assert_eq!(json(&ran)["verdict"], "findings", "{more:?}");
    }
}

const HUB: &str = "model hub
var lamp = 0, door = 0;
handler hub: fifo;
handler late: delayed;
task set_lamp(to: int) on hub { lamp = to; }
task relay(to: int) on hub { post set_lamp(to); }
";

/// Titles of update conflicts, short: the two components and the attribute.
fn pairs(found: &[(String, String)]) -> Vec<String> {
    let short = |title: &str| {
        let words: Vec<&str> = title.split('`').collect();
        format!("{} {} {}", words[1], words[3], words[5])
    };
    let conflicts = found.iter().filter(|(kind, _)| kind == "update_conflict");
    let mut pairs: Vec<String> = conflicts.map(|(_, title)| short(title)).collect();
    pairs.sort();
    pairs
}

#[test]
fn apps_that_send_commands_to_one_hub_overwrite_each_other() {
    // How each of two apps sets the lamp.
    let ways = [
        "post set_lamp(1);",
        "post relay(1);",
        "post set_lamp(1) to late after 5;",
        "async[any] set_lamp(1);",
        "async[hub] set_lamp(1);",
        "post any relay(1);",
        "post set_lamp(1) front;",
        "{ let h = fork turn(1); }",
        "send(1);",
        "{ let p = post set_lamp(7); cancel p; post set_lamp(1); }",
        "lamp = 1;",
    ];
    for way in ways {
        let model = format!(
            "{HUB}fn turn(to: int) {{ post set_lamp(to); }}\nfn send(to: int) {{ post relay(to); }}
once event sunset {{ {way} }}
once event leave {{ post set_lamp(0); }}
once event arrive {{ post relay(2); }}
component evening: sunset;
component away: leave;
component welcome: arrive;
"
        );
        for more in [&[][..], &["--no-reduction"]] {
            let found = pairs(&check("hub.any", &model, more));
            let all = ["away welcome lamp", "evening away lamp", "evening welcome lamp"];
            assert_eq!(found, all, "{way} {more:?}");
        }
    }
}

#[test]
fn apps_that_share_a_hub_without_a_conflict_stay_silent() {
    let apps = "once event sunset { post set_lamp(1); }
once event leave { post relay(0); }
";
    let right = [
        // The hub decides, as a component of its own.
        format!(
            "{HUB}{apps}component evening: sunset;\ncomponent away: leave;\ncomponent own: set_lamp;\n"
        ),
        // One app has both.
        format!(
            "{HUB}{apps}component evening: sunset, leave;\ncomponent other: main_thing;\nonce event main_thing {{ door = 1; }}\n"
        ),
        // Each sets its own.
        format!(
            "{HUB}task set_door(to: int) on hub {{ door = to; }}\nonce event sunset {{ post set_lamp(1); }}\nonce event leave {{ post set_door(1); }}\ncomponent evening: sunset;\ncomponent away: leave;\n"
        ),
        // The hub keeps what was asked first.
        format!(
            "{}{apps}component evening: sunset;\ncomponent away: leave;\n",
            HUB.replace("lamp = to;", "if lamp == 0 { lamp = 1; }")
        ),
        // Each app has an element of its own.
        format!(
            "{}{apps}component evening: sunset;\ncomponent away: leave;\n",
            HUB.replace("lamp = to;", "asked[to] = true;")
                .replace("door = 0", "asked = [false, false]")
        ),
        // A command that was taken back.
        format!(
            "{HUB}once event sunset {{ let p = post set_lamp(1); cancel p; }}\nonce event leave {{ post set_lamp(1); }}\ncomponent evening: sunset;\ncomponent away: leave;\n"
        ),
        // An event that an app enables comes from outside.
        format!(
            "{HUB}disabled once event tap {{ lamp = 2; }}\nonce event sunset {{ enable tap; }}\nonce event leave {{ lamp = 1; }}\ncomponent evening: sunset;\ncomponent away: leave;\n"
        ),
    ];
    for model in right {
        for more in [&[][..], &["--no-reduction"]] {
            assert_eq!(check("hub.any", &model, more), [], "{model}");
        }
    }
}

#[test]
fn a_conflict_through_a_hub_replays_and_certifies() {
    let folder = folder();
    let text = format!(
        "{HUB}once event sunset {{ post set_lamp(1); }}
once event leave {{ post relay(0); }}
component evening: sunset;
component away: leave;
"
    );
    let (model, runs) = (file(&folder, "hub.any", &text), folder.path().join("runs"));
    let runs = runs.display().to_string();
    let ran = run(&["check", &model, "--quiet", "--schedules", &runs]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("in task `set_lamp(1) on hub` for component `evening`"), "{ran:?}");
    let files: Vec<_> = std::fs::read_dir(&runs).expect("schedules").collect();
    assert_eq!(files.len(), 1);
    for one in files {
        let schedule = one.expect("a file").path().display().to_string();
        assert_eq!(run(&["replay", &model, &schedule]).status, 1);
        assert_eq!(run(&["certify", &model, &schedule]).status, 0);
    }
    for algorithm in ["full", "stateful", "r4"] {
        let args = ["explore", &model, "--algorithm", algorithm, "--format", "json", "-q"];
        let value = json(&run(&args));
        let findings = value["findings"].as_array().cloned().unwrap_or_default();
        let count = findings.iter().filter(|one| one["kind"] == "update_conflict").count();
        assert_eq!(count, 1, "{algorithm}: {value}");
    }
}

/// Who takes each step, by the table of the run of the first finding.
fn runners(model: &str, more: &[&str]) -> Vec<String> {
    let folder = folder();
    let model = file(&folder, "m.any", model);
    let mut args = vec!["check", &model, "--quiet"];
    args.extend(more);
    let ran = run(&args);
    let steps = ran.stdout.lines().skip_while(|line| !line.contains("step  runs on")).skip(2);
    let steps = steps.take_while(|line| !line.trim_start().starts_with("=>"));
    let column = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
    let numbered =
        |line: &&str| line.split_whitespace().next().is_some_and(|n| n.parse::<u32>().is_ok());
    steps.filter(numbered).filter_map(column).collect()
}

#[test]
fn of_the_shortest_runs_the_one_with_the_fewest_switches_is_shown() {
    let threads = "model threads
var x = 0, y = 0;
thread a { x = 1; assume y > 0; x = 2; }
thread b { y = 1; y = 2; }
invariant i: x != 2 || y != 2;
";
    let search = workspace().join("examples/models/out-of-order-search.any");
    let search = std::fs::read_to_string(search).expect("a model");
    let conflict = format!(
        "{HUB}once event sunset {{ post set_lamp(1); }}
once event leave {{ post set_lamp(0); }}
component evening: sunset;
component away: leave;
"
    );
    // The run of a simulation, made smaller.
    let folder = folder();
    let (model, runs) = (file(&folder, "threads.any", threads), folder.path().join("runs"));
    let (runs, small) = (runs.display().to_string(), folder.path().join("small.json"));
    let ran = run(&["simulate", &model, "--runs", "300", "--quiet", "--schedules", &runs]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let mut files = std::fs::read_dir(&runs).expect("schedules");
    let long = files.next().expect("one").expect("a file").path().display().to_string();
    let ran = run(&["shrink", &model, &long, "-o", &small.display().to_string()]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let small: Value =
        serde_json::from_slice(&std::fs::read(small).expect("a file")).expect("JSON");
    let choices = small["choices"].as_array().expect("choices").iter();
    let of: Vec<String> =
        choices.map(|one| one["handler"].as_str().unwrap_or("?").to_owned()).collect();
    assert_eq!((of.len(), of.windows(2).filter(|two| two[0] != two[1]).count()), (5, 2), "{of:?}");
    for more in [&[][..], &["--no-reduction"], &["--order", "depth"]] {
        assert_eq!(runners(threads, more), ["b", "b", "a", "a", "a"], "{more:?}");
        let of_search = ["ui", "ui", "network", "network", "ui", "ui"];
        assert_eq!(runners(&search, more), of_search, "{more:?}");
        assert_eq!(runners(&conflict, more), ["sunset", "leave", "hub", "hub"], "{more:?}");
    }
}

/// A section that no other thread interrupts is one row, with its lines; one that another thread
/// interrupts is not.
#[test]
fn the_run_of_a_model_is_folded_by_critical_section() {
    let model = "model folded
var x = 0, y = 0, done = 0;
lock m;
thread a {
    let t = x;
    with m {
        y = y + 1;
        x = t + 1;
    }
    done += 1;
}
thread b {
    with m {
        x = x + 1;
    }
    done += 1;
}
invariant i: done < 2 || x == 2;
";
    let folder = folder();
    let (file, report) = (file(&folder, "folded.any", model), folder.path().join("report"));
    let report = report.display().to_string();
    let ran = run(&["check", &file, "--quiet", "--report", &report]);
    let row = |start: &str| ran.stdout.lines().find(|line| line.trim().starts_with(start));
    let b = row("2–5").unwrap_or_else(|| panic!("{}", ran.stdout));
    assert!(b.contains("with m: reads x = 0; x: 0 -> 1; at") && b.contains(":13-14"), "{b}");
    assert!(ran.stdout.contains("with m: reads y = 0; y: 0 -> 1; "), "{}", ran.stdout);
    assert!(ran.stdout.contains(":6-8"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("lock m: free"), "{}", ran.stdout);
    let page = std::fs::read_to_string(format!("{report}/index.html")).expect("a page");
    assert!(page.contains("with m: reads x = 0"), "the page folds, too");
}
