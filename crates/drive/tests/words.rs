//! The words of findings: titles, hints, classes and commands.

use anyorder_drive::{
    CheckTraceOptions, JobControl, Pairs, PredictOptions, TraceInput, check_trace, predict,
};
use anyorder_finding::{Finding, Harm, Kind, Severity};
use anyorder_system::Control;
use anyorder_testkit::threads;
use anyorder_trace::{EventKind, LabelScheme, Mailbox, Mode, Problems, Trace, TraceBuilder};

fn input(trace: Trace) -> TraceInput {
    TraceInput::new("t.trace", trace, &Problems::default(), &Control::default()).expect("right")
}

fn predicted(text: &str) -> Vec<Finding> {
    let options = PredictOptions { pairs: Pairs::All, ..PredictOptions::default() };
    let found = predict(&input(threads(text)), &options, &JobControl::default()).expect("right");
    found.result.findings.into_iter().map(|one| one.finding).collect()
}

fn checked(trace: Trace) -> Vec<Finding> {
    let options = CheckTraceOptions::default();
    let found = check_trace(&input(trace), &options, &JobControl::default()).expect("right");
    found.findings.into_iter().map(|one| one.finding).collect()
}

fn hint(finding: &Finding) -> &str {
    let hints = finding.explanation.iter().filter(|step| step.rule.as_deref() == Some("hint"));
    hints.map(|step| step.text.as_str()).next().expect("a hint")
}

#[test]
fn hints_name_the_lock_that_one_side_lacks_and_the_late_join() {
    let hint = |text: &str| hint(&predicted(text)[0]).to_owned();
    assert_eq!(hint("S acq m; S w x; S rel m; T w x"), "`T` holds no lock: hold `m` there as well");
    assert_eq!(
        hint("S w x; T racq m; T w x; T rrel m"),
        "`S` holds no lock: hold `m` there as well, exclusively where it writes"
    );
    let different = hint("S acq m; S w x; S rel m; T acq n; T w x; T rel n");
    assert!(different.contains("different locks, `m` and `n`"), "{different}");
    let late = hint("S fork T; T w p; S free p; S join T");
    assert_eq!(late, "`S` joins `T` only at event 4, after the free: join first");
    let never = hint("S fork T; T w p; S free p");
    assert!(never.starts_with("nothing orders the free on `S` after the use on `T`"), "{never}");
}

#[test]
fn what_goes_wrong_is_named_and_ranked() {
    let found = predicted(
        "S w p; T free p; S acq m; S w g; S rel m; T acq m; T w g; T rel m; S wait c; T signal c",
    );
    let severities: Vec<(&str, Severity)> =
        found.iter().map(|one| (one.category.as_deref().unwrap_or(""), one.severity)).collect();
    for one in [
        ("use_after_free", Severity::Error),
        ("lost_signal", Severity::Warning),
        ("guarded", Severity::Note),
    ] {
        assert!(severities.contains(&one), "{one:?}: {severities:?}");
    }
    assert!(severities.is_sorted_by_key(|(_, severity)| std::cmp::Reverse(*severity)));
    let guarded = found.iter().find(|one| one.category.as_deref() == Some("guarded")).unwrap();
    assert_eq!(guarded.harm_class.as_deref(), Some("guarded"));
    let locks = &guarded.sites[0].locks;
    assert_eq!((&locks[..], guarded.kind), (&["m".to_owned()][..], Kind::OrderViolation));
    for finding in &found {
        assert!(!hint(finding).is_empty() && finding.id.len() == 16, "{finding:?}");
    }
}

#[test]
fn a_call_that_may_wait_for_ever_is_a_lost_wake_up() {
    let found = predicted(
        "S semaphore:s.release(); A semaphore:s.acquire(); B semaphore:s.try_acquire()=0",
    );
    let lost = found.iter().find(|one| one.category.as_deref() == Some("lost_wakeup")).unwrap();
    assert_eq!(lost.title, "lost wake-up: `acquire` on `semaphore:s` may wait for ever");
    assert!(hint(lost).starts_with("`B` can take what `A` waits for"), "{}", hint(lost));
}

#[test]
fn what_a_semaphore_keeps_apart_is_said_so_whatever_the_variable_is_called() {
    // The name of the variable has the words of the title in it.
    for name in ["x", "x_can_happen_in_either_order"] {
        let text = format!(
            "S semaphore:m.acquire(); S w {name}; S semaphore:m.release();
             R semaphore:m.acquire(); R w {name}; R semaphore:m.release()"
        );
        for found in [predicted(&text), checked(threads(&text))] {
            let guarded = found.iter().find(|one| one.category.as_deref() == Some("guarded"));
            let guarded = guarded.unwrap_or_else(|| panic!("{found:?}"));
            let expected = format!(
                "write and write of `{name}`, never at the same time, can happen in either order"
            );
            assert_eq!((&guarded.title, guarded.harm), (&expected, Harm::Harmless));
        }
    }
    let mut b = TraceBuilder::new();
    let name = "x` can happen in either order `y";
    let tasks = ["S", "R"].map(|name| b.handler(name, Mailbox::None).unwrap());
    for task in tasks.map(|handler| b.initial(handler)) {
        for method in ["acquire", "", "release"] {
            if method.is_empty() {
                b.write(task, name).unwrap();
                continue;
            }
            let invocation = anyorder_trace::Invocation {
                object: b.interner.name("semaphore:m").unwrap(),
                method: b.interner.name(method).unwrap(),
                arguments: Vec::new(),
                result: None,
            };
            let id = b.interner.push_invocation(invocation).unwrap();
            b.push(task, EventKind::Invoke.into(), id.0);
        }
    }
    let found = checked(b.finish());
    let expected =
        format!("write and write of `{name}`, never at the same time, can happen in either order");
    assert_eq!(found[0].title, expected, "{found:?}");
}

#[test]
fn a_title_says_where_the_variable_and_not_its_namesake_was_allocated() {
    // A thread has the name of the lock that the other one destroys.
    let mut b = TraceBuilder::new();
    let [main, namesake] = ["main", "0x10"].map(|name| b.handler(name, Mailbox::None).unwrap());
    let [main, other] = [main, namesake].map(|handler| b.initial(handler));
    let memory = anyorder_trace::Location::Range { address: 0x10, size: 4, generation: 0 };
    let memory = b.interner.location(memory).unwrap();
    let file = b.interner.name("m.c").unwrap();
    let site = anyorder_trace::Site { file, line: 7, ..anyorder_trace::Site::default() };
    let site = b.interner.site(site).unwrap();
    let alloc = b.push(main, EventKind::Alloc.into(), memory.0);
    b.on_handler(main, EventKind::Fork, namesake);
    b.acquire(other, "0x10", Mode::EXCLUSIVE).unwrap();
    b.release(other, "0x10", Mode::EXCLUSIVE).unwrap();
    let name = b.interner.name("0x10").unwrap();
    let lock = b.interner.lock(name).unwrap();
    b.push(main, EventKind::Destroy.into(), lock.0);
    let plain = b.finish();
    let (tables, mut columns) = (plain.tables().clone(), plain.columns().clone());
    columns.sites[alloc.index()] = site;
    let trace = Trace::new(tables, columns);
    let options = PredictOptions::default();
    let found = predict(&input(trace), &options, &JobControl::default()).expect("right");
    let title = &found.result.findings[0].finding.title;
    let expected = "`0x10` can use lock `0x10` (allocated at m.c:7) after it is destroyed";
    assert_eq!(title, expected);
}

#[test]
fn the_command_that_explains_a_race_names_events_whose_labels_repeat_by_number() {
    let plain = threads("S w x; S w y; T w x; T w y");
    let (mut tables, mut columns) = (plain.tables().clone(), plain.columns().clone());
    tables.meta.labels = LabelScheme::Line;
    columns.numbers = vec![5, 5, 5, 8];
    let trace = Trace::new(tables, columns);
    let commands: Vec<String> =
        checked(trace.clone()).into_iter().filter_map(|one| one.replay).collect();
    assert!(commands.iter().any(|command| command == "anyorder why t.trace @0 @2"), "{commands:?}");
    assert!(commands.iter().any(|command| command == "anyorder why t.trace @1 8"), "{commands:?}");
    for command in &commands {
        let mut names = command.split(' ').skip(3);
        assert!(names.all(|name| trace.find(name).is_some()), "{command}");
    }
}
