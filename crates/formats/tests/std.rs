//! STD: on two real traces, operation by operation, error by error, and there and back on random
//! ones.
#![allow(clippy::print_stdout, reason = "speeds are told, not judged")]

use anyorder_formats::std::{Losses, StdReader, StdWriter, site_table};
use anyorder_trace::{
    Action, Block, Columns, EventId, EventKind, LabelScheme, Location, Mailbox, Mode, Op, Problems,
    ReadError, Severity, SiteId, TaskKind, Trace, TraceBuilder, TraceSource,
};

use crate::common;

fn read(text: &[u8]) -> Result<Trace, ReadError> {
    Trace::read(&mut StdReader::new(text))
}

fn right(text: &str) -> Trace {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn problems(text: &[u8]) -> Problems {
    match read(text) {
        Err(ReadError::Malformed { format: "std", problems }) => problems,
        other => panic!("expected an error: {other:?}"),
    }
}

fn written(trace: &Trace) -> std::io::Result<String> {
    let mut out = Vec::new();
    trace.write(&mut StdWriter::new(&mut out))?;
    Ok(String::from_utf8(out).unwrap())
}

fn written_lossy(trace: &Trace) -> (String, Losses) {
    let mut out = Vec::new();
    let mut writer = StdWriter::new(&mut out).lossy(true);
    trace.write(&mut writer).unwrap();
    let losses = writer.losses();
    (String::from_utf8(out).unwrap(), losses)
}

/// The location of each access, in order.
fn locations(trace: &Trace) -> Vec<Location> {
    let table = &trace.tables().locations;
    trace.events().filter_map(|event| event.location()).map(|id| table[id.index()]).collect()
}

#[test]
fn failed_attempts_and_timeouts_go_there_and_back() {
    let text = "T1|wait(c)|1\nT1|timeout(c)|2\nT2|acq(L)|3\nT1|refused(L)|4\nT1|wake(c)|5\n";
    let trace = right(text);
    let [out, refused, wake] = [1, 3, 4].map(|row| trace.event(EventId(row)));
    assert!(out.op.is_timeout() && matches!(out.action(), Action::TimedOut(_)));
    assert!(matches!(refused.action(), Action::Refused(_, Mode::EXCLUSIVE)));
    assert!(!wake.op.is_timeout() && matches!(wake.action(), Action::Wake(_)));
    assert_eq!(written(&trace).unwrap(), text);
    // A timeout needs no signal.
    assert!(
        anyorder_trace::wellformed::check(&right("T1|wait(c)|1\nT1|timeout(c)|2\n"))
            .list
            .is_empty()
    );
}

#[test]
fn every_operation_becomes_its_event() {
    let trace = right(
        "T0|begin|1\nT0|fork(T1)|2\nT1|begin()|3\nT1|r(x)|4\nT1|w(x)|5\nT1|aload(0x10+4)|6\nT1|astore(0x10+4)|7\n\
         T1|armw(0x10+4)|8\nT1|acq(L)|9\nT1|rel(L)|10\nT1|destroy(L)|11\nT1|wait(c)|12\nT1|wake(c)|13\n\
         T1|signal(c)|14\nT1|broadcast(c)|15\nT1|alloc(0x20+8)|16\nT1|free(0x20)|17\nT1|end|18\nT0|join(T1)|19\n",
    );
    let words: Vec<&str> = trace.events().map(|event| event.kind().word()).collect();
    let expected = "begin fork begin read write read write rmw acquire release destroy wait wake signal broadcast \
                    alloc free exit join";
    assert_eq!(words.join(" "), expected);
    let atomic = |row| trace.event(EventId(row)).mode() == Mode::SEQ_CST;
    assert_eq!((0..19).filter(|row| atomic(*row)).collect::<Vec<_>>(), [5, 6, 7]);
    let tables = trace.tables();
    assert_eq!(tables.handlers.len(), 2);
    assert!(tables.handlers.iter().all(|h| h.mailbox == Mailbox::None && !h.untracked));
    assert!(tables.tasks.iter().all(|task| task.kind == TaskKind::Initial));
    assert_eq!(trace.handler_name(trace.handler_of(EventId(3))), "T1");
    assert!(
        matches!(trace.event(EventId(1)).action(), Action::Fork(h) if trace.handler_name(h) == "T1")
    );
    assert_eq!(tables.meta.labels, LabelScheme::Line);
    assert_eq!(tables.meta.origin, "std");
    assert_eq!(trace.label(EventId(4)), "5");
    assert_eq!(trace.find("5"), Some(EventId(4)));
    assert_eq!(tables.site_text(trace.event(EventId(4)).site), "5");
    assert_eq!((tables.locks.len(), tables.conditions.len()), (1, 1));
}

#[test]
fn lines_may_end_with_crlf_and_be_blank_or_comments() {
    let trace = right("# a comment|x|y\r\n\r\nT1|r(x)|1\r\n  \t\n#\nT1|w(x)|1");
    assert_eq!(trace.len(), 2);
    assert_eq!(trace.label(EventId(0)), "3");
    assert_eq!(trace.label(EventId(1)), "6");
    assert_eq!(trace.event(EventId(0)).site, trace.event(EventId(1)).site);
    assert_eq!(trace.tables().name(trace.tables().sites[1].label), "1");
}

#[test]
fn a_site_may_have_any_label_and_be_unknown() {
    let trace = right(
        "T|r(x)|\nT|r(x)|?\nT|r(x)|12\nT|r(x)|012\nT|r(x)|Foo.java:3\nT|r(x)|4000000000\nT|r(x)|12",
    );
    let sites: Vec<u32> = trace.events().map(|event| event.site.0).collect();
    assert_eq!(sites, [0, 0, 1, 2, 3, 4, 1]);
    assert_eq!(trace.event(EventId(0)).site, SiteId::UNKNOWN);
    assert_eq!(trace.tables().site_text(SiteId(3)), "Foo.java:3");
}

#[test]
fn names_of_java_and_rapid_are_accepted() {
    let trace =
        right("T1|r(V1.2[3])|45\nmain thread|w(a.B.<init>(I)V|x)|46\nT1|r(0x1f)|1\nT1|r(0xzz+1)|1");
    let tables = trace.tables();
    let names: Vec<String> =
        trace.events().map(|e| tables.location_text(e.location().unwrap())).collect();
    assert_eq!(names, ["V1.2[3]", "a.B.<init>(I)V|x", "0x1f", "0xzz+1"]);
    assert!(locations(&trace).iter().all(|location| matches!(location, Location::Named(_))));
    assert_eq!(tables.handlers.len(), 2);
}

#[test]
fn memory_that_is_allocated_anew_is_another_location() {
    let trace = right(
        "T|w(0x10+8)|1\nT|alloc(0x10+16)|2\nT|w(0x10+8)|3\nT|w(0x18+8)|3\nT|free(0x10)|4\nT|r(0x10+8)|5\n\
         T|alloc(0x18+8)|6\nT|r(0x10+8)|7\nT|r(0x18+8)|8\nT|free(0x99)|9\nT|free(0x18+8)|9\nT|alloc(0x0+0)|9\n",
    );
    let expected = [
        (0x10, 8, 0),
        (0x10, 16, 1),
        (0x10, 8, 1),
        (0x18, 8, 1),
        (0x10, 16, 1),
        (0x10, 8, 1),
        (0x18, 8, 2),
        (0x10, 8, 1),
        (0x18, 8, 2),
        (0x99, 1, 0),
        (0x18, 8, 2),
        (0, 0, 0),
    ];
    let expected =
        expected.map(|(address, size, generation)| Location::Range { address, size, generation });
    assert_eq!(locations(&trace), expected);
    assert_eq!(trace.event(EventId(2)).location(), trace.event(EventId(5)).location());
    assert_eq!(trace.event(EventId(6)).location(), trace.event(EventId(8)).location());
}

#[test]
fn unknown_operations_are_kept_and_counted() {
    let mut text = String::new();
    for _ in 0..150 {
        text.push_str("T1|brunch|7\nT1|lock_it(x|y)|8\nT1|r(x)|9\nT1|branch|10\n");
    }
    let mut reader = StdReader::new(text.as_bytes());
    let trace = Trace::read(&mut reader).unwrap();
    // A branch is known.
    assert_eq!(reader.problems().warnings_total, 300);
    assert!(trace.is_branch(trace.event(EventId(3))) && !trace.is_branch(trace.event(EventId(0))));
    assert_eq!(reader.problems().errors_total, 0);
    assert_eq!(reader.problems().list.len(), 100);
    let first = &reader.problems().list[0];
    assert_eq!(first.severity, Severity::Warning);
    assert_eq!((first.place.line, first.place.event), (Some(1), Some(0)));
    assert_eq!(reader.problems().list[2].place.event, Some(4));
    assert!(matches!(trace.event(EventId(1)).action(),
        Action::Other(name) if trace.tables().name(name) == "lock_it(x|y)"));
    assert_eq!(written(&trace).unwrap(), text);
}

#[test]
fn an_allocation_of_more_than_4_gib_is_cut_with_a_warning() {
    let text = "T|alloc(0x0+8589934592)|1\nT|r(0x1ffffffff+1)|1\n";
    let mut reader = StdReader::new(text.as_bytes());
    let trace = Trace::read(&mut reader).unwrap();
    assert_eq!(reader.problems().warnings_total, 1);
    let generations: Vec<Location> = locations(&trace);
    assert_eq!(generations[0], Location::Range { address: 0, size: u32::MAX, generation: 1 });
    assert_eq!(generations[1], Location::Range { address: 0x1_ffff_ffff, size: 1, generation: 1 });
}

#[test]
fn every_error_names_its_place() {
    let cases: [(&str, &str); 26] = [
        ("T1", "line 2, column 3: expected `thread|operation|site`, found one field"),
        ("T1|r(x)", "line 2, column 8: expected `thread|operation|site`, found two fields"),
        ("|r(x)|1", "line 2, column 1: expected the name of a thread before `|`"),
        ("T1||1", "line 2, column 4: expected an operation such as `r(x)` or `begin`"),
        ("T1|(x)|1", "line 2, column 4: expected an operation"),
        ("T1|r x|1", "line 2, column 4: expected an operation"),
        ("T1|r(x|1", "line 2, column 7: expected `)` at the end of the operation"),
        ("T1|r(x)y|1", "line 2, column 9: expected `)` at the end of the operation"),
        ("T1|r|1", "line 2, column 5: expected memory in parentheses"),
        ("T1|r()|1", "line 2, column 6: expected memory in parentheses"),
        ("T1|alloc|1", "line 2, column 9: expected memory in parentheses"),
        ("T1|free()|1", "line 2, column 9: expected memory in parentheses"),
        ("T1|acq()|1", "line 2, column 8: expected a lock in parentheses"),
        ("T1|wait|1", "line 2, column 8: expected a condition variable in parentheses"),
        ("T1|fork()|1", "line 2, column 9: expected a thread in parentheses"),
        ("T1|join|1", "line 2, column 8: expected a thread in parentheses"),
        ("T1|r(0x10+)|1", "line 2, column 11: expected a decimal size in bytes behind `+`"),
        ("T1|r(0x10+0x8)|1", "line 2, column 11: expected a decimal size in bytes behind `+`"),
        ("T1|r(0x10+0)|1", "line 2, column 6: expected a size of at least 1 byte"),
        (
            "T1|w(0x10+4294967296)|1",
            "line 2, column 6: expected a size of at most 4,294,967,295 bytes",
        ),
        (
            "T1|w(0x10+18446744073709551616)|1",
            "line 2, column 11: expected a size of at most 64 bits",
        ),
        (
            "T1|w(0x10000000000000000+1)|1",
            "line 2, column 6: expected an address of at most 64 bits",
        ),
        (
            "T1|free(0x10000000000000000)|1",
            "line 2, column 9: expected an address of at most 64 bits",
        ),
        ("T1|free(0x10+4294967296)|1", "line 2, column 9: expected a size of at most"),
        (" ; ", "line 2, column 4: expected `thread|operation|site`, found one field"),
        ("T1|r(x)|1|", "line 2, column 10: expected `)` at the end of the operation"),
    ];
    for (line, expected) in cases {
        let problems = problems(format!("T0|w(x)|1\n{line}\nT0|r(x)|1\n").as_bytes());
        assert_eq!(problems.errors_total, 1, "{line}");
        let found = format!("{}: {}", problems.list[0].place, problems.list[0].message);
        assert!(found.starts_with(expected), "{line}\n expected {expected}\n found    {found}");
    }
}

#[test]
fn all_errors_are_listed_up_to_a_limit_and_then_counted() {
    let mut text = String::new();
    for _ in 0..70_000 {
        text.push_str("T1|r(x)|1\nT1|r(x)\n");
    }
    let problems = problems(text.as_bytes());
    assert_eq!(problems.errors_total, 70_000);
    assert_eq!(problems.list.len(), 100);
    assert_eq!(problems.list[1].place.line, Some(4));
    assert_eq!(problems.list[1].text.as_deref(), Some("T1|r(x)"));
}

#[test]
fn events_before_an_error_in_a_later_block_are_given() {
    let mut text = "T1|r(x)|1\n".repeat(Block::EVENTS);
    text.push_str("T1|r(x)|1\nbad\n");
    let mut reader = StdReader::new(text.as_bytes());
    let mut block = Block::default();
    assert!(reader.next_block(&mut block).unwrap());
    assert_eq!(block.columns.len(), Block::EVENTS);
    assert!(reader.next_block(&mut block).is_err());
    assert!(block.columns.is_empty());
    assert!(reader.next_block(&mut block).is_err(), "the end stays the end");
}

#[test]
fn invalid_utf8_is_an_error_with_its_place() {
    for (line, column) in [
        (&b"T\xff|r(x)|1"[..], 2),
        (b"T1|r(ab\xc3)|1", 8),
        (b"T1|r(x)|s\xff", 10),
        (b"T1|acq(\x80)|1", 8),
        (b"T1|fork(T\x80)|1", 10),
        (b"T1|wait(c\x80)|1", 10),
        (b"T1|new_op(\x80)|1", 11),
    ] {
        let problems = problems(line);
        let place = problems.list[0].place;
        assert_eq!((place.line, place.column), (Some(1), Some(column)), "{line:?}");
        assert_eq!(problems.list[0].message, "expected UTF-8");
    }
}

#[test]
fn a_line_of_any_length_is_an_error_not_an_allocation() {
    let mut text = b"T1|r(".to_vec();
    text.resize(8 << 20, b'x');
    text.extend_from_slice(b")|1\nT1|r(x)|1\n");
    let problems = problems(&text);
    assert_eq!(problems.errors_total, 1);
    assert_eq!(problems.list[0].place.line, Some(1));
    assert!(problems.list[0].message.starts_with("expected a line of at most"));
}

#[test]
fn sites_are_described_by_their_table() {
    let table = "1\tmain\ta.c:10\n\n# note\n2\t?\tC:\\b.c\n4\tf()\t?\n5\tg\tcrt.c:?\nL7\th\tx.c:4294967295\n";
    let text = "T|r(x)|1\nT|r(x)|2\nT|r(x)|3\nT|r(x)|4\nT|r(x)|5\nT|r(x)|L7\n";
    let reader = StdReader::new(text.as_bytes()).with_sites(table).unwrap();
    let trace = Trace::read(&mut { reader }).unwrap();
    let tables = trace.tables();
    let shown: Vec<String> = (1..7)
        .map(|site| {
            let site = tables.sites[site];
            let [label, function, file] =
                [site.label, site.function, site.file].map(|name| tables.name(name));
            format!("{label} {function} {file} {}", site.line)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "1 main a.c 10",
            "2  C:\\b.c 0",
            "3   0",
            "4 f()  0",
            "5 g crt.c 0",
            "L7 h x.c 4294967295"
        ]
    );
    assert_eq!(written(&trace).unwrap(), text);
    let again = StdReader::new(text.as_bytes()).with_sites(&site_table(tables)).unwrap();
    assert_eq!(Trace::read(&mut { again }).unwrap(), trace);
}

#[test]
fn a_wrong_table_of_sites_is_refused() {
    let table = "1\tmain\ta.c:1\n1\tmain\ta.c:2\n2\tmain\n\tmain\ta.c:1\n3\tf\ta.c:4294967296\n4\ta\tb\tc\n";
    let error = StdReader::new(&b""[..]).with_sites(table).unwrap_err();
    let ReadError::Malformed { problems, .. } = error else { panic!("{error}") };
    let lines: Vec<u64> = problems.list.iter().filter_map(|problem| problem.place.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6]);
}

#[test]
fn what_std_cannot_represent_fails_or_is_counted() {
    type Fill = fn(&mut TraceBuilder);
    let cases: [(&str, Losses, Fill); 9] = [
        ("`post`", Losses { skipped: 1, ..Losses::default() }, |b| {
            let (main, task) = (b.initial(anyorder_trace::HandlerId(0)), anyorder_trace::TaskId(1));
            b.post(main, task).unwrap();
        }),
        (
            "an event of `task`, which is no plain thread",
            Losses { approximated: 1, ..Losses::default() },
            |b| {
                b.write(anyorder_trace::TaskId(1), "x").unwrap();
            },
        ),
        ("`acquire` with mode 1", Losses { skipped: 1, ..Losses::default() }, |b| {
            b.acquire(anyorder_trace::TaskId(0), "l", Mode::SHARED).unwrap();
        }),
        ("`acquire` with mode 2", Losses { approximated: 1, ..Losses::default() }, |b| {
            b.acquire(anyorder_trace::TaskId(0), "l", Mode::TRY_EXCLUSIVE).unwrap();
        }),
        ("`read` with mode 1", Losses { approximated: 1, ..Losses::default() }, |b| {
            let x = b.variable("x").unwrap();
            b.push(anyorder_trace::TaskId(0), Op::new(EventKind::Read, Mode::RELAXED), x.0);
        }),
        ("`rmw`", Losses { skipped: 1, ..Losses::default() }, |b| {
            let x = b.variable("x").unwrap();
            b.push(anyorder_trace::TaskId(0), EventKind::Rmw.into(), x.0);
        }),
        ("a location named `0x10+8`", Losses { renamed: 1, ..Losses::default() }, |b| {
            b.write(anyorder_trace::TaskId(0), "0x10+8").unwrap();
        }),
        ("a lock named `a\\nb`", Losses { renamed: 1, ..Losses::default() }, |b| {
            b.acquire(anyorder_trace::TaskId(0), "a\nb", Mode::PLAIN).unwrap();
        }),
        ("two threads named `main`", Losses { renamed: 1, ..Losses::default() }, |b| {
            let other = b.handler("main", Mailbox::None).unwrap();
            b.on_handler(anyorder_trace::TaskId(0), EventKind::Fork, other);
        }),
    ];
    for (what, losses, fill) in cases {
        let mut b = TraceBuilder::new();
        let main = b.handler("main", Mailbox::Fifo).unwrap();
        b.task("task", main).unwrap();
        fill(&mut b);
        let trace = b.finish();
        let error = written(&trace).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), format!("STD has no words for {what} (event 0, from 0)"));
        let (text, lost) = written_lossy(&trace);
        assert_eq!(lost, losses, "{what}");
        let back = right(&text);
        assert_eq!(back.len() as u64 + lost.skipped, 1);
    }
}

/// The threads of posted tasks have no initial task that would tell their waits apart.
#[test]
fn waits_of_two_threads_without_initial_tasks_are_kept_apart() {
    let text = "anyorder-trace 1\nhandler h0 \"A\"\nhandler h1 \"B\"\ntask t0 \"a\" posted h0\n\
                task t1 \"b\" posted h1\nlock l0 \"m\"\ncondition c0 \"m\"\n\n\
                t0 wait c0\nt1 acquire l0\nt0 request l0\nt0 acquire l0\nt0 release l0\n";
    let mut reader = anyorder_formats::native_text::NativeTextReader::new(text.as_bytes());
    let trace = Trace::read(&mut reader).unwrap_or_else(|error| panic!("{error:?}"));
    let (text, losses) = written_lossy(&trace);
    // A reader would put the end of the wait before the release: it is left out.
    assert_eq!(text, "A|wait(m)|?\nB|acq(m)|?\nA|req(m)|?\nA|acq(m)|?\n");
    assert_eq!(losses, Losses { skipped: 1, approximated: 4, renamed: 0 });
    assert_eq!(right(&text).len(), 4);
}

#[test]
fn blocks_are_full_and_numbered() {
    let text = "T1|r(x)|1\n".repeat(2 * Block::EVENTS + 5);
    let mut reader = StdReader::new(text.as_bytes());
    let mut block = Block::default();
    let mut sizes = Vec::new();
    while reader.next_block(&mut block).unwrap() {
        sizes.push((block.first, block.columns.len()));
    }
    let full = Block::EVENTS;
    assert_eq!(sizes, [(0, full), (full as u64, full), (2 * full as u64, 5)]);
    assert_eq!(block.columns, Columns::default());
}

#[test]
fn the_real_traces_are_read_whole() {
    for (name, events, threads) in [("memcached", 120_861, 6), ("pbzip2", 3_478, 5)] {
        let text = common::recorded(&format!("native/{name}/trace.std"));
        let sites = common::recorded(&format!("native/{name}/sites.tsv"));
        let sites = String::from_utf8(sites).unwrap();
        let started = std::time::Instant::now();
        let mut reader = StdReader::new(&text[..]).with_sites(&sites).unwrap();
        let trace = Trace::read(&mut reader).unwrap();
        let seconds = started.elapsed().as_secs_f64();
        println!("{name}: {:.1} million events/s", events as f64 / seconds / 1e6);
        assert!(reader.problems().is_empty());
        assert_eq!(trace.len(), events);
        assert_eq!(trace.tables().handlers.len(), threads);
        let text = String::from_utf8(text).unwrap();
        let counts =
            |word: &str| text.lines().filter(|line| line.contains(&format!("|{word}("))).count();
        let events = |kind| trace.events().filter(|event| event.kind() == kind).count();
        for (word, kind) in [
            ("r", EventKind::Read),
            ("w", EventKind::Write),
            ("acq", EventKind::Acquire),
            ("rel", EventKind::Release),
            ("alloc", EventKind::Alloc),
            ("free", EventKind::Free),
            ("wait", EventKind::Wait),
            ("wake", EventKind::Wake),
            ("signal", EventKind::Signal),
            ("fork", EventKind::Fork),
            ("join", EventKind::Join),
        ] {
            assert_eq!(events(kind), counts(word), "{word}");
        }
        let known =
            trace.tables().sites.iter().skip(1).filter(|s| s.file != anyorder_trace::NameId::EMPTY);
        assert!(known.count() > 50);
        assert!(written(&trace).unwrap() == text, "{name} comes back as it was");
        let mut native = Vec::new();
        trace
            .write(&mut anyorder_formats::native_text::NativeTextWriter::new(&mut native))
            .unwrap();
        let mut reader = anyorder_formats::native_text::NativeTextReader::new(&native[..]);
        assert!(
            Trace::read(&mut reader).unwrap() == trace,
            "{name} comes back from native text as it was"
        );
    }
}
