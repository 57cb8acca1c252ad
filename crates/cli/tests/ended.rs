//! What was cancelled, disabled or removed does not run: the usual repairs of ordering bugs are
//! silent in `check` and `predict`, and the programs without them are found.

use crate::common;

use common::{Ran, file, folder, run};
use serde_json::Value;

/// A looper and its user; `timer` reads what `close` writes.
const HEAD: &str = "anyorder-trace 1
handler h0 \"ui\" delayed
handler h1 \"user\" none untracked
handler h2 \"net\" none
handler h3 \"other\" none
task t0 \"main\" initial h0
task t1 \"tap\" burst h1
task t2 \"timer\" posted h0 delay=50
task t3 \"close\" posted h0
task t4 \"net\" initial h2
task t5 \"tick\" posted h0
task t6 \"first\" posted h0
task t7 \"click\" burst h1
task t8 \"other\" initial h3
location x0 \"view\"
lock l0 \"m\"
lock l1 \"0x9040\"
location x1 range 0x9000+512 generation=1
input i0 plain \"button\"
input i1 plain \"other\"
input i2 idle \"idle\" instance=7 argument=1
input i3 broadcast \"go\" state=\"REGISTER_RECEIVER\" instance=3
input i4 broadcast \"go\" state=\"ONRECEIVE\" instance=3
input i5 broadcast \"go\" state=\"UNREGISTER_RECEIVER\" instance=3
";

/// The kinds of findings that a command reports.
fn kinds(command: &str, events: &str) -> Vec<String> {
    let folder = folder();
    let trace = file(&folder, "a.trace", format!("{HEAD}{events}"));
    let ran = run(&[command, &trace, "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let findings = value["findings"].as_array().expect("findings");
    let kind = |finding: &Value| finding["kind"].as_str().expect("a kind").to_owned();
    findings.iter().map(kind).collect()
}

/// Two tasks of the looper: `timer`, posted by the program; and `close`, posted by the user.
fn closed(in_timer: &str, in_close: &str) -> String {
    format!(
        "t0 post t2\nt0 loop h0\nt2 get h0\n{in_timer}t2 end\nt1 begin\nt1 post t3\nt1 exit\n\
         t3 get h0\n{in_close}t3 end\n"
    )
}

/// A click on a button, and `close`.
fn clicked(before: &str, in_click: &str, in_close: &str) -> String {
    format!(
        "{before}t0 loop h0\nt7 begin\nt7 post t2\nt7 exit\nt2 get h0\n{in_click}t2 end\n\
         t1 begin\nt1 post t3\nt1 exit\nt3 get h0\n{in_close}t3 end\n"
    )
}

#[test]
fn a_repaired_program_is_silent() {
    let right = [
        ("cancelled", closed("t2 read x0\n", "t3 cancel t2\nt3 write x0\n")),
        ("cancelled-last", closed("t2 read x0\n", "t3 write x0\nt3 cancel t2\n")),
        ("twice", closed("t2 read x0\n", "t3 cancel t2\nt3 cancel t2\nt3 write x0\n")),
        // The timer starts itself again, and the last one is cancelled.
        ("repeated", closed("t2 read x0\nt2 post t5\n", "t3 cancel t5\nt3 write x0\n")),
        // Another thread cancels, and then posts what writes.
        (
            "by-a-thread",
            "t0 post t2\nt0 loop h0\nt2 get h0\nt2 read x0\nt2 end\nt4 cancel t2\nt4 post t3\n\
             t3 get h0\nt3 write x0\nt3 end\n"
                .to_owned(),
        ),
        // So does what is posted from there to another thread.
        (
            "by-a-thread-handed-on",
            "t0 post t2\nt0 loop h0\nt2 get h0\nt2 read x0\nt2 end\nt8 cancel t2\nt8 post t3\n\
             t3 get h0\nt3 fork h2\nt3 end\nt4 write x0\n"
                .to_owned(),
        ),
        // A task waits for the thread that cancels, and then writes, or hands on.
        (
            "joined",
            "t0 post t2\nt0 loop h0\nt2 get h0\nt2 read x0\nt2 end\nt1 begin\nt1 post t3\n\
             t1 exit\nt3 get h0\nt3 fork h3\nt8 cancel t2\nt3 join h3\nt3 write x0\nt3 end\n"
                .to_owned(),
        ),
        // A lock in memory that is freed when the timer that takes it is cancelled.
        (
            "lock-in-memory",
            "t0 alloc x1\nt0 post t2\nt0 loop h0\nt2 get h0\nt2 acquire l1\nt2 release l1\n\
             t2 end\nt1 begin\nt1 post t3\nt1 exit\nt3 get h0\nt3 cancel t2\nt3 free x1\nt3 end\n"
                .to_owned(),
        ),
        // What the task that cancels hands on comes after it, on any thread.
        ("handed-on", closed("t2 read x0\n", "t3 cancel t2\nt3 fork h2\n") + "t4 write x0\n"),
        (
            "disabled",
            clicked(
                "t0 enable i0\n",
                "t2 trigger i0\nt2 read x0\n",
                "t3 disable i0\nt3 write x0\n",
            ),
        ),
        (
            "enabled-again",
            clicked(
                "t0 enable i0\n",
                "t2 trigger i0\nt2 read x0\n",
                "t3 disable i0\nt3 write x0\n",
            ) + "t0 enable i0\n",
        ),
        (
            "idle",
            clicked(
                "t0 enable i2\n",
                "t2 trigger i2\nt2 read x0\n",
                "t3 disable i2\nt3 write x0\n",
            ),
        ),
        (
            "receiver",
            clicked(
                "t0 enable i3\n",
                "t2 trigger i4\nt2 read x0\n",
                "t3 disable i5\nt3 write x0\n",
            ),
        ),
        (
            "exit",
            "t0 loop h0\nt1 begin\nt1 post t2\nt1 exit\nt2 get h0\nt2 read x0\nt2 end\n\
             t0 write x0\nt0 exit\n"
                .to_owned(),
        ),
    ];
    for (name, events) in right {
        for command in ["check", "predict"] {
            assert_eq!(kinds(command, &events), Vec::<String>::new(), "{command} {name}");
        }
    }
}

#[test]
fn a_program_without_the_repair_is_found() {
    let wrong = [
        ("nothing", closed("t2 read x0\n", "t3 write x0\n")),
        ("another-task", closed("t2 read x0\n", "t3 cancel t5\nt3 write x0\n")),
        // It does not wait for the timer that runs.
        (
            "thread",
            "t0 post t2\nt0 loop h0\nt2 get h0\nt2 read x0\nt2 end\nt4 cancel t2\nt4 write x0\n"
                .to_owned(),
        ),
        // The thread tells a third one, which does not wait for the timer either.
        (
            "thread-to-thread",
            "t0 post t2\nt0 loop h0\nt2 get h0\nt2 read x0\nt2 end\nt8 cancel t2\nt8 fork h2\n\
             t4 write x0\n"
                .to_owned(),
        ),
        // The task of the looper comes from elsewhere, not behind the cancel.
        (
            "not-behind",
            "t0 post t2\nt0 loop h0\nt2 get h0\nt2 read x0\nt2 end\nt8 cancel t2\nt1 begin\n\
             t1 post t3\nt1 exit\nt3 get h0\nt3 fork h2\nt3 end\nt4 write x0\n"
                .to_owned(),
        ),
        // The task before the timer is not cancelled.
        (
            "before",
            "t0 post t6\nt0 post t2\nt0 loop h0\nt6 get h0\nt6 read x0\nt6 end\nt2 get h0\nt2 end\n\
             t1 begin\nt1 post t3\nt1 exit\nt3 get h0\nt3 cancel t2\nt3 write x0\nt3 end\n"
                .to_owned(),
        ),
        (
            "another-input",
            clicked("t0 enable i0\n", "t2 trigger i0\nt2 read x0\n", "t3 disable i1\nt3 write x0\n"),
        ),
        (
            "not-disabled",
            clicked("t0 enable i0\n", "t2 trigger i0\nt2 read x0\n", "t3 write x0\n"),
        ),
    ];
    for (name, events) in wrong {
        for command in ["check", "predict"] {
            assert_eq!(kinds(command, &events), ["race"], "{command} {name}");
        }
    }
}

/// A schedule of a trace, checked.
fn certified(events: &str, order: &[u32]) -> Ran {
    let folder = folder();
    let trace = file(&folder, "a.trace", format!("{HEAD}{events}"));
    let lines: String = order.iter().map(|event| format!("run {event}\n")).collect();
    let schedule = file(&folder, "a.schedule", format!("trace-schedule 1\n{lines}"));
    run(&["certify", &trace, &schedule])
}

#[test]
fn no_schedule_runs_what_was_cancelled() {
    let events = closed("t2 read x0\n", "t3 cancel t2\nt3 write x0\n");
    let recorded: Vec<u32> = (1..=12).collect();
    assert_eq!(certified(&events, &recorded).status, 0);
    // The timer waits behind the other task, which cancels it in time.
    let cancelled = [6, 7, 8, 1, 2, 9, 10, 11, 12];
    assert_eq!(certified(&events, &cancelled).status, 0);
    let runs = [6, 7, 8, 1, 2, 9, 10, 11, 12, 3, 4, 5];
    let ran = certified(&events, &runs);
    assert_eq!(ran.status, 1, "{ran:?}");
    let before_its_post = [10, 1];
    assert_eq!(certified(&events, &before_its_post).status, 1);
}

#[test]
fn why_names_the_rule() {
    let events = closed("t2 read x0\n", "t3 cancel t2\nt3 write x0\n");
    let folder = folder();
    let at = file(&folder, "a.trace", format!("{HEAD}{events}"));
    let ran = run(&["why", &at, "4", "11"]);
    assert!(ran.stdout.contains("[cancelled]"), "{ran:?}");
    assert!(ran.stdout.contains("An independent checker verified each step."), "{ran:?}");
}

/// Runs that the recorded order is none of: the mailbox delivers `close` first, then `timer`.
const QUEUED: [(&str, &str, &str); 3] = [
    (
        "cancelled",
        "t0 post t3\nt0 post t2\nt0 loop h0\nt2 get h0\nt2 write x0\nt2 end\nt3 get h0\n\
         t3 cancel t2\nt3 end\n",
        "1 2 3 7 8 9 4 5 6",
    ),
    (
        "disabled",
        "t0 enable i0\nt0 post t3\nt0 post t2\nt0 loop h0\nt2 get h0\nt2 trigger i0\n\
         t2 write x0\nt2 end\nt3 get h0\nt3 disable i0\nt3 end\n",
        "1 2 3 4 9 10 11 5 6 7 8",
    ),
    (
        "removed idle handler",
        "t0 enable i2\nt0 post t3\nt0 post t2\nt0 loop h0\nt2 get h0\nt2 trigger i2\n\
         t2 write x0\nt2 end\nt3 get h0\nt3 disable i2\nt3 end\n",
        "1 2 3 4 9 10 11 5 6 7 8",
    ),
];

/// The verdict of `consistency`, its witness if there is one, and whether its proof holds.
fn consistent(trace: &str, folder: &tempfile::TempDir, rule: &str) -> (String, Vec<String>) {
    let (witness, proof) = (folder.path().join("w"), folder.path().join("p"));
    let (witness, proof) = (witness.to_str().expect("UTF-8"), proof.to_str().expect("UTF-8"));
    let words = ["--mailbox", rule, "--witness", witness, "--certificate", proof];
    let ran = run(&[&["consistency", trace, "--format", "json", "-q"][..], &words].concat());
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let verdict = value["verdict"].as_str().expect("a verdict").to_owned();
    let file = if verdict == "consistent" { witness } else { proof };
    let ran = run(&["certify", trace, file, "--mailbox", rule]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let text = std::fs::read_to_string(file).expect("a certificate");
    (verdict, text.lines().map(str::to_owned).collect())
}

#[test]
fn no_run_that_explains_a_trace_begins_what_has_ended() {
    for (name, events, order) in QUEUED {
        let folder = folder();
        let trace = file(&folder, "a.trace", format!("{HEAD}{events}"));
        assert_eq!(consistent(&trace, &folder, "fifo").0, "inconsistent", "{name}");
        // A mailbox without order may deliver the timer first, as it did.
        assert_eq!(consistent(&trace, &folder, "bag").0, "consistent", "{name}");
        let bad = file(&folder, "bad", order.replace(' ', "\n"));
        for rule in ["fifo", "bag"] {
            let ran = run(&["certify", &trace, &bad, "--mailbox", rule]);
            assert_eq!(ran.status, 1, "{name}: {ran:?}");
            assert!(ran.stdout.contains("has ended it"), "{name}: {ran:?}");
        }
        // Nothing ends the timer: then `close` may come first.
        let ends = ["t3 cancel t2\n", "t3 disable i0\n", "t3 disable i2\n"];
        let without = ends.iter().fold(events.to_owned(), |text, end| text.replace(end, ""));
        let trace = file(&folder, "b.trace", format!("{HEAD}{without}"));
        assert_eq!(consistent(&trace, &folder, "fifo").0, "consistent", "{name}");
    }
}

#[test]
fn what_is_opened_again_may_run_behind_an_end() {
    // The input is enabled again before the click; or it was disabled before it was enabled.
    for events in [
        "t4 enable i0\nt4 disable i0\nt4 enable i0\nt0 loop h0\nt7 begin\nt7 trigger i0\n\
         t7 write x0\nt7 exit\n",
        "t4 enable i0\nt0 loop h0\nt7 begin\nt7 trigger i0\nt7 write x0\nt7 exit\n\
         t1 begin\nt1 disable i0\nt1 exit\n",
        // A task that was cancelled and never began, and its namesake that ran.
        "t0 post t2\nt0 post t3\nt0 cancel t2\nt0 loop h0\nt3 get h0\nt3 write x0\nt3 end\n",
    ] {
        let folder = folder();
        let trace = file(&folder, "a.trace", format!("{HEAD}{events}"));
        assert_eq!(consistent(&trace, &folder, "fifo").0, "consistent", "{events}");
    }
}

#[test]
fn a_looper_that_quit_runs_nothing_and_is_joined_behind_its_exit() {
    // The mailbox delivers `close` first, so the recorded order is no run.
    let events = "t0 loop h0\nt4 post t3\nt4 post t2\nt2 get h0\nt2 write x0\nt2 end\n\
                  t3 get h0\nt3 end\nt0 exit\nt4 join h0\nt4 exit\n";
    for head in [HEAD.to_owned(), HEAD.replacen('\n', "\nmeta order=partial\n", 1)] {
        let folder = folder();
        let trace = file(&folder, "a.trace", format!("{head}{events}"));
        let (verdict, order) = consistent(&trace, &folder, "fifo");
        assert_eq!(verdict, "consistent");
        let place = |event: &str| order.iter().position(|one| one == event);
        for before in ["4", "6", "7", "8"] {
            assert!(place(before) < place("9"), "the exit is last: {order:?}");
        }
        assert!(place("9") < place("10"), "the join is behind the exit: {order:?}");
        for bad in ["1 2 3 7 8 9 4 5 6 10 11", "1 2 3 7 8 4 5 6 10 9 11"] {
            let bad = file(&folder, "bad", bad.replace(' ', "\n"));
            let ran = run(&["certify", &trace, &bad, "--mailbox", "fifo"]);
            assert_eq!(ran.status, 1, "{ran:?}");
        }
    }
}

/// Two threads whose locks are nested the other way round: their accesses can change places, but
/// never stand next to each other.
const NESTED: &str = "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|acq(a)|3\nT1|acq(b)|4\nT1|rel(b)|5\n\
    T1|r(x)|6\nT1|rel(a)|7\nT2|acq(b)|8\nT2|acq(a)|9\nT2|rel(a)|10\nT2|w(x)|11\nT2|rel(b)|12\n";

#[test]
fn what_never_happens_at_the_same_time_is_no_race() {
    for command in ["check", "predict"] {
        let folder = folder();
        let trace = file(&folder, "a.std", NESTED);
        let ran = run(&[command, &trace, "--format", "json"]);
        let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let findings = value["findings"].as_array().expect("a list");
        // The two threads also take the locks in two orders.
        let kinds: Vec<&str> = findings.iter().filter_map(|one| one["kind"].as_str()).collect();
        assert_eq!(kinds, ["deadlock", "order_violation"], "{command}: {value}");
        let finding = &findings[1];
        assert_eq!(finding["confirmed"], true, "{command}: {value}");
        let title = finding["title"].as_str().expect("a title");
        assert!(title.contains("never at the same time"), "{command}: {title}");
    }
}
