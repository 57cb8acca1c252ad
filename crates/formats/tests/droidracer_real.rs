//! Two real logs of DroidRacer's runtime: the reader agrees with simple searches of the text.

use anyorder_formats::droidracer::{DroidRacerReader, Reported, ReportedGroup, reported};
use anyorder_trace::{Block, EventId, EventKind, Location, Mailbox, Trace, TraceSource};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Returns the text of a real log.
fn real(app: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../data/droidracer").join(app).join("trace.txt");
    std::fs::read_to_string(&path).expect("the log is there")
}

/// Reads a log without warnings.
fn read_clean(text: &str) -> Trace {
    let mut source = DroidRacerReader::new(text.as_bytes());
    let trace = Trace::read(&mut source).unwrap_or_else(|error| panic!("{error}"));
    assert!(source.problems().is_empty(), "{:#?}", source.problems());
    trace
}

/// Counts lines by the word of their operation, up to the results, as `grep` would.
fn words(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for line in text.lines().take_while(|line| !line.contains("HB Graph")) {
        let mut parts = line.split_whitespace();
        let numbered = parts.next().is_some_and(|first| {
            first.starts_with("rwId:") || first.starts_with(|c: char| c.is_ascii_digit())
        });
        if let Some(word) = parts.next().filter(|_| numbered) {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    counts
}

fn kinds(trace: &Trace) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for event in trace.events() {
        *counts.entry(event.kind().word()).or_insert(0) += 1;
    }
    counts
}

fn check_real(app: &str, tasks_ran: usize) -> Trace {
    let text = real(app);
    let trace = read_clean(&text);
    let words = words(&text);
    let sum = |names: &[&str]| {
        names.iter().map(|name| words.get(name).copied().unwrap_or(0)).sum::<usize>()
    };
    let kinds = kinds(&trace);
    let services = text.lines().filter(|line| line.contains(" TRIGGER-SERVICE "));
    let requests = services.filter(|line| line.contains("state:REQUEST_")).count();
    let expected = [
        ("read", sum(&["READ", "READ-STATIC"])),
        ("write", sum(&["WRITE", "WRITE-STATIC"])),
        ("post", sum(&["POST"])),
        ("get", sum(&["CALL"])),
        ("end", sum(&["RET"])),
        ("acquire", sum(&["LOCK"])),
        ("release", sum(&["UNLOCK"])),
        ("signal", sum(&["NOTIFY"])),
        ("wake", sum(&["WAIT"])),
        ("fork", sum(&["FORK"])),
        ("begin", sum(&["THREADINIT", "NATIVE-ENTRY"])),
        ("exit", sum(&["THREADEXIT", "NATIVE-EXIT"])),
        ("attach", sum(&["ATTACH-Q"])),
        ("loop", sum(&["LOOP"])),
        ("disable", sum(&["REMOVE_IDLE_HANDLER"])),
        // All broadcast operations of these two logs are registrations.
        (
            "enable",
            requests
                + sum(&["ENABLE-EVENT", "ENABLE-LIFECYCLE", "ENABLE-WINDOW-FOCUS"])
                + sum(&["INSTANCE-INTENT", "ADD_IDLE_HANDLER", "TRIGGER-BROADCAST"]),
        ),
        (
            "trigger",
            sum(&["TRIGGER-EVENT", "TRIGGER-LIFECYCLE", "TRIGGER-WINDOW-FOCUS"])
                + sum(&["QUEUE_IDLE", "TRIGGER-SERVICE"])
                - requests,
        ),
    ];
    for (kind, count) in expected {
        assert_eq!(kinds.get(kind).copied().unwrap_or(0), count, "{kind} of {app}");
    }
    let all: usize = words.values().sum();
    assert_eq!(trace.len(), all - sum(&["START", "ACCESS"]), "{app}");
    let ran = trace.task_ids().filter(|task| trace.ran_from_mailbox(*task)).count();
    assert_eq!(ran, tasks_ran, "{app}");
    check_labels(&text, &trace);
    trace
}

/// Every line's own number is its event's label, in the order of the file.
fn check_labels(text: &str, trace: &Trace) {
    let lines = text.lines().take_while(|line| !line.contains("HB Graph"));
    let lines = lines.filter(|line| {
        let word = line.split_whitespace().nth(1).unwrap_or("");
        let numbered = line.starts_with("rwId:") || line.starts_with(|c: char| c.is_ascii_digit());
        numbered && word != "START" && word != "ACCESS"
    });
    let mut row = 0;
    for line in lines {
        let number = line.split_whitespace().next().unwrap();
        let event = EventId(row);
        assert_eq!(trace.label(event), number.trim_start_matches("rwId:"));
        assert_eq!(trace.event(event).kind().is_access(), number.starts_with("rwId:"), "{line}");
        row += 1;
    }
    assert_eq!(row as usize, trace.len());
}

#[test]
fn remindme() {
    let trace = check_real("RemindMe", 176);
    let with_queue =
        trace.tables().handlers.iter().filter(|handler| handler.mailbox == Mailbox::Delayed);
    assert_eq!(with_queue.count(), 1);
    let untracked = trace.tables().handlers.iter().filter(|handler| handler.untracked).count();
    assert_eq!(untracked, 4);
    let write = trace.find("rwId:6908").unwrap();
    let location = trace.event(write).location().unwrap();
    assert_eq!(
        trace.location_text(location),
        "Landroid/support/v4/widget/DrawerLayout;.244@0x4105e5f8"
    );
    let database = trace.find("rwId:512").unwrap();
    assert_eq!(
        trace.location_text(trace.event(database).location().unwrap()),
        "database:/data/data/com.appsrox.remindme/databases/remindme.db"
    );
}

#[test]
fn twitter() {
    let trace = check_real("twitter", 97);
    let with_queue =
        trace.tables().handlers.iter().filter(|handler| handler.mailbox == Mailbox::Delayed);
    assert_eq!(with_queue.count(), 5);
    let delays = trace.tables().tasks.iter().filter(|task| task.delay > 0).count();
    assert!(delays > 0);
}

#[test]
fn reports_of_the_real_logs() {
    // Races, and entries of the categories cross-posted, co-enabled and delayed, counted by hand.
    for (app, races, cross, co_enabled, delayed, graph) in
        [("RemindMe", 54, 3, 33, 0, 1041), ("twitter", 31, 20, 7, 4, 2075)]
    {
        let text = real(app);
        let report: Reported = reported(&text);
        let lines = text.lines().filter(|line| line.starts_with("RACE ")).count();
        assert_eq!(report.races.len(), lines, "{app}");
        assert_eq!(report.races.len(), races, "{app}");
        assert_eq!(report.graph_size, Some(graph));
        assert_eq!(report.cross_posted.len(), cross, "{app}");
        assert_eq!(report.co_enabled.len(), co_enabled, "{app}");
        assert_eq!(report.delayed.len(), delayed, "{app}");
        assert!(report.multi_threaded.is_empty() && report.uncategorised.is_empty());
        let triggered = report
            .co_enabled
            .iter()
            .all(|group| matches!(group, ReportedGroup::Object { triggers: Some(_), .. }));
        assert!(triggered, "{app}");
        // The trace contains every reported access, with the reported properties.
        let trace = read_clean(&text);
        for race in &report.races {
            for (number, write) in [(race.first, race.writes[0]), (race.second, race.writes[1])] {
                let event = trace.event(trace.find(&format!("rwId:{number}")).unwrap());
                assert_eq!(event.kind() == EventKind::Write, write, "rwId:{number} of {app}");
                let location = trace.tables().locations[event.location().unwrap().index()];
                let Location::Field { object, class, field } = location else {
                    panic!("rwId:{number} of {app} is {location:?}");
                };
                assert_eq!(Some(object), race.object);
                assert_eq!(trace.tables().name(class), race.class);
                assert_eq!(trace.tables().name(field), race.field);
            }
        }
    }
}

#[test]
fn streaming_gives_the_same_whatever_the_pieces() {
    let text = real("twitter");
    let whole = read_clean(&text);
    let mut source = DroidRacerReader::new(std::io::BufReader::with_capacity(7, text.as_bytes()));
    let mut block = Block::default();
    let mut events = 0;
    while source.next_block(&mut block).unwrap() {
        assert_eq!(block.first, events);
        assert!(block.columns.len() <= Block::EVENTS);
        events += block.columns.len() as u64;
    }
    assert_eq!(events, whole.len() as u64);
    assert_eq!(source.tables(), whole.tables());
}
