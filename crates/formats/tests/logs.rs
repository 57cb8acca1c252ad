//! Logs of SpeedyGo, TsanLogging and RoadRunner, and RAPID's tables: line by line, error by error,
//! against STD on random runs, damaged, and recorded ones.

use crate::common::{self, Choices};
use anyorder_formats::Ignored;
use anyorder_formats::detect::{Format, detect};
use anyorder_formats::open::{OpenOptions, create, open};
use anyorder_trace::{Block, EventId, Mode, ReadError, Trace, wellformed};
use proptest::prelude::*;

const FORMATS: [Format; 4] =
    [Format::SpeedyGo, Format::TsanLog, Format::RoadRunner, Format::RapidCsv];

fn read(format: Format, text: &[u8]) -> Result<Trace, ReadError> {
    Trace::read(&mut *open(format, Box::new(text), &OpenOptions::default()).expect("no head"))
}

fn right(format: Format, text: &str) -> Trace {
    read(format, text.as_bytes()).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

/// The first error: its place and its message.
fn wrong(format: Format, text: &str) -> String {
    match read(format, text.as_bytes()) {
        Err(ReadError::Malformed { problems, .. }) => {
            let problem = &problems.list[0];
            format!("{}: {}", problem.place, problem.message)
        }
        other => panic!("expected an error: {other:?}\n{text}"),
    }
}

/// The events in words: thread, kind with its mode, target, place.
fn meanings(trace: &Trace) -> Vec<String> {
    let tables = trace.tables();
    let one = |event: anyorder_trace::Event| {
        let target = common::target(trace, event);
        let thread = trace.handler_name(trace.handler_of(event.id));
        let (kind, mode) = (event.kind().word(), event.mode().bits());
        format!("{thread} {kind}.{mode} {target} @{}", tables.site_text(event.site))
    };
    trace.events().map(one).collect()
}

/// A step of a run, as every one of the formats can have it.
#[derive(Clone, Copy, Debug)]
struct Step {
    thread: usize,
    what: usize,
    target: usize,
    line: usize,
}

const READ: usize = 0;
const WRITE: usize = 1;
const ACQUIRE: usize = 2;
const RELEASE: usize = 3;
const FORK: usize = 4;
const JOIN: usize = 5;
const ATOMIC_READ: usize = 6;
const ATOMIC_WRITE: usize = 7;

/// The words of a format for the steps; empty where it has none.
fn words(format: Format) -> [&'static str; 8] {
    match format {
        Format::SpeedyGo => ["RD", "WR", "LK", "UK", "", "", "ARD", "AWR"],
        Format::TsanLog => ["Read", "Write", "ACQ ", "REL ", "Thread Create", "Join", "", ""],
        Format::RoadRunner => ["Rd", "Wr", "Acquire", "Release", "Start", "Join", "ARd", "AWr"],
        Format::RapidCsv => ["r", "w", "acq", "rel", "", "", "", ""],
        _ => ["r", "w", "acq", "rel", "fork", "join", "aload", "astore"],
    }
}

const THREADS: usize = 4;

fn line(format: Format, step: Step) -> String {
    let Step { thread, what, target, line } = step;
    let word = words(format)[what];
    let of_thread = matches!(what, FORK | JOIN);
    match format {
        Format::SpeedyGo => format!("{thread},{word},{target},a.java:{line}:1,9\n"),
        Format::TsanLog if of_thread => {
            format!("Thread {thread}: |{word} (Thread {target})|0x7f|\n")
        }
        Format::TsanLog => {
            format!("Thread {thread}: |{word}|{target}| at line {line} in file /a.c\n")
        }
        Format::RoadRunner if of_thread => format!("@   {word}({thread},{target})\n"),
        Format::RoadRunner => format!("@   {word}({thread},{target})  SHADOW  a.java:{line}:1\n"),
        Format::RapidCsv => {
            let mut columns = vec![String::new(); THREADS];
            columns[thread] = format!("{word}({target})");
            columns.join(",") + "\n"
        }
        _ => {
            let place = |format: Format| match format {
                Format::SpeedyGo => format!("a.java:{line}:1"),
                _ => String::new(),
            };
            format!("{thread}|{word}({target})|{}\n", place(format))
        }
    }
}

/// The same step as STD has it, with the place as the other format keeps it.
fn twin(format: Format, step: Step) -> String {
    let Step { mut thread, what, target, line } = step;
    let place = match format {
        _ if matches!(what, FORK | JOIN) => String::new(),
        Format::SpeedyGo | Format::RoadRunner => format!("a.java:{line}:1"),
        Format::TsanLog => format!("/a.c:{line}"),
        _ => String::new(),
    };
    if format == Format::RapidCsv {
        thread += 1;
    }
    format!("{thread}|{}({target})|{place}\n", words(Format::Std)[what])
}

fn steps(choices: &mut Choices, format: Format) -> Vec<Step> {
    let all = [READ, WRITE, ACQUIRE, RELEASE, FORK, JOIN, ATOMIC_READ, ATOMIC_WRITE];
    let known: Vec<usize> =
        all.into_iter().filter(|what| !words(format)[*what].is_empty()).collect();
    let step = |choices: &mut Choices| Step {
        thread: choices.below(THREADS),
        what: choices.of(&known),
        target: choices.below(6),
        line: 1 + choices.below(30),
    };
    (0..choices.below(60)).map(|_| step(choices)).collect()
}

proptest! {
    #[test]
    fn each_log_says_what_std_says(numbers in common::choices(300), which in 0..4_usize) {
        let format = FORMATS[which];
        let steps = steps(&mut Choices::new(numbers), format);
        let text: String = steps.iter().map(|step| line(format, *step)).collect();
        let std: String = steps.iter().map(|step| twin(format, *step)).collect();
        let trace = right(format, &text);
        prop_assert_eq!(meanings(&trace), meanings(&right(Format::Std, &std)), "{}", text);
        prop_assert_eq!(detect(text.as_bytes()).ok(), (!steps.is_empty()).then_some(format));
        let labels: Vec<String> = (0..steps.len() as u32).map(|n| trace.label(EventId(n))).collect();
        prop_assert_eq!(labels, (1..=steps.len()).map(|n| n.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn damaged_logs_give_errors_or_sound_traces(numbers in common::choices(300), which in 0..4_usize) {
        let choices = &mut Choices::new(numbers);
        let format = FORMATS[which];
        let mut text: Vec<u8> =
            steps(choices, format).iter().flat_map(|step| line(format, *step).into_bytes()).collect();
        common::damage(choices, &mut text);
        let _ = detect(&text);
        match read(format, &text) {
            Ok(trace) => {
                common::assert_ids_are_in_tables(trace.tables(), trace.columns());
                for lossless in [Format::NativeText, Format::NativeBinary] {
                    let mut bytes = Vec::new();
                    trace.write(&mut *create(lossless, Box::new(&mut bytes)).unwrap()).unwrap();
                    prop_assert!(read(lossless, &bytes).unwrap() == trace, "{}", lossless);
                }
            }
            Err(ReadError::Malformed { problems, .. }) => prop_assert!(problems.errors_total > 0),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for format in FORMATS {
            let _ = read(format, &bytes);
        }
        let _ = detect(&bytes);
    }
}

#[test]
fn a_log_cut_at_any_byte_is_survived() {
    for format in FORMATS {
        let steps: Vec<Step> = (0..8)
            .filter(|what| !words(format)[*what].is_empty())
            .map(|what| Step { thread: what % THREADS, what, target: 1, line: 3 })
            .collect();
        let text: String = steps.iter().map(|step| line(format, *step)).collect();
        let mut errors = 0;
        for cut in 0..text.len() {
            let whole = text[..cut].matches('\n').count();
            match read(format, &text.as_bytes()[..cut]) {
                Ok(trace) => assert!(trace.len() >= whole, "{format} {cut}"),
                Err(ReadError::Malformed { problems, .. }) => {
                    assert_eq!(
                        problems.list[0].place.line,
                        Some(whole as u64 + 1),
                        "{format} {cut}"
                    );
                    errors += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(errors > 0, "{format}");
    }
}

#[test]
fn speedygo_signals_wake_all_that_wait_for_their_name() {
    let text = "1,SIG,7,nil,1\n2,WT,7,nil,1\n3,WT,7,nil,1\n1,SIGNALJOIN,7,nil,1\n4,WAITJOIN,0,nil,1\n\
        1,NT,7,nil,1\n5,NTWT,7,nil,1\n6,WT,0,nil,2\n7,PREBRANCH,0,nil,0\n7,POSTBRANCH,0,nil,0\n";
    let trace = right(Format::SpeedyGo, text);
    let refers: Vec<Option<u64>> = (0..10).map(|row| trace.columns().refers.get(row)).collect();
    let expected = [None, Some(0), Some(0), None, Some(3), None, Some(5), None, None, None];
    assert_eq!(refers, expected);
    assert_eq!(meanings(&trace)[1], "2 wake.0 s1 @?");
    assert_eq!(meanings(&trace)[6], "5 wake.0 n1 @?");
    assert!(Ignored::of(&trace).is_empty(), "branches have no effect");
    assert_eq!(wellformed::check(&trace).errors_total, 0);
}

/// The events of a log of Go: kind and what it refers to.
fn go(text: &str) -> Vec<(String, Option<u64>)> {
    let trace = right(Format::SpeedyGo, text);
    let refers = |event: EventId| trace.columns().refers.get(event.0);
    let kind =
        |event: anyorder_trace::Event| format!("{}.{}", event.kind().word(), event.mode().bits());
    trace.events().map(|event| (kind(event), refers(event.id))).collect()
}

#[test]
fn goroutines_access_lock_and_start_others() {
    let text = "main1,[(7,0,M,.\\a.go:8)],P,-\nmain1,[(7,0,M,.\\a.go:8)],C,-\nmain1,[(1,0,S,-)],C,-\n\
        f2,[(1,0,W,-)],C,-\nf2,[(9,0,+,a.go:3)],C,-\nf2,[(7,0,R,a.go:4)],C,-\nf2,[(9,0,*,a.go:5)],C,-\n\
        f2,[(9,0,$,a.go:6)],C,-\nf2,[(9,0,#,a.go:7)],C,-\n";
    let trace = right(Format::SpeedyGo, text);
    let expected = [
        "main1 write.0 7 @.\\a.go:8",
        "main1 signal.0 s1 @?",
        "f2 wake.0 s1 @?",
        "f2 acquire.0 9 @a.go:3",
        "f2 read.0 7 @a.go:4",
        "f2 release.0 9 @a.go:5",
        "f2 acquire.1 9 @a.go:6",
        "f2 release.1 9 @a.go:7",
    ];
    assert_eq!(meanings(&trace), expected);
    assert_eq!(trace.columns().refers.get(2), Some(1));
    assert_eq!(trace.label(EventId(0)), "2");
    assert_eq!(detect(text.as_bytes()), Ok(Format::SpeedyGo));
}

#[test]
fn a_buffered_channel_orders_sends_and_receives() {
    let line = |t: &str, what: &str| format!("{t},[(5,2,{what},a.go:1)],C,-\n");
    let all: String = [
        ("a", "!"),
        ("a", "!"),
        ("b", "?"),
        ("a", "!"),
        ("b", "?"),
        ("b", "?"),
        ("a", "C"),
        ("b", "?"),
    ]
    .map(|(t, what)| line(t, what))
    .concat();
    let (wake, signal) = ("wake.0".to_owned(), "signal.0".to_owned());
    let expected = [
        // Two values fit.
        (signal.clone(), None),
        (signal.clone(), None),
        // The first is received: then there is space for the third.
        (wake.clone(), Some(0)),
        (signal.clone(), None),
        (wake.clone(), Some(3)),
        (signal.clone(), None),
        (wake.clone(), Some(1)),
        (signal.clone(), None),
        (wake.clone(), Some(5)),
        (signal.clone(), None),
        // What is received from a closed channel comes after its close.
        (signal.clone(), None),
        (wake.clone(), Some(10)),
        (signal, None),
    ];
    assert_eq!(go(&all), expected);
    let trace = right(Format::SpeedyGo, &all);
    assert!(wellformed::check(&trace).list.is_empty());
}

#[test]
fn a_channel_without_buffer_is_not_understood() {
    let text = "a,[(5,0,!,a.go:1)],C,b\nb,[(5,0,?,a.go:2)],C,a\na,[(5,0,C,a.go:3)],C,-\n";
    let trace = right(Format::SpeedyGo, text);
    let ignored = Ignored::of(&trace);
    let words: Vec<&str> = ignored.operations().iter().map(|one| one.word.as_str()).collect();
    assert_eq!(words, ["send", "receive"]);
    assert!(!ignored.is_empty());
}

#[test]
fn each_wrong_line_is_named_with_its_column() {
    for (format, line, expected) in [
        (Format::SpeedyGo, "1,RD,1,nil", "column 11: expected five fields with commas, found 4"),
        (
            Format::SpeedyGo,
            "1,RD,1,nil,1,2",
            "column 15: expected five fields with commas, found 6",
        ),
        (Format::SpeedyGo, ",RD,1,nil,1", "column 1: expected a thread"),
        (Format::SpeedyGo, "1,,1,nil,1", "column 3: expected an operation"),
        (Format::SpeedyGo, "1, RD ,,nil,1", "column 8: expected an object in the third field"),
        (Format::SpeedyGo, "1,SIG,1,nil,", "column 13: expected a number in the fifth field"),
        (Format::SpeedyGo, "a,[(1,0,R)],C,-", "column 5: expected an object, a buffer"),
        (Format::SpeedyGo, "a,[(,0,R,-)],C,-", "column 5: expected an object"),
        (Format::SpeedyGo, "a,[(1,x,R,-)],C,-", "column 7: expected the size of a buffer"),
        (Format::SpeedyGo, "a,[(1,0,R,-),(2,0,R,-)],C,-", "column 13: expected one operation"),
        (Format::SpeedyGo, "a,[(1,0,R,-)],X,-", "column 18: expected five fields"),
        (Format::TsanLog, "hello", "column 1: expected `Thread N: |operation|address|`"),
        (Format::TsanLog, "Thread 1: |Read|", "column 1: expected `Thread N: |operation|address|`"),
        (
            Format::TsanLog,
            "Thread 1: |Read|| at line 1 in file a",
            "column 17: expected an address",
        ),
        (Format::RoadRunner, "@  Acquire(1,2", "column 15: expected `)` at the end"),
        (Format::RoadRunner, "@  Acquire(,2)", "column 12: expected a thread in parentheses"),
        (Format::RoadRunner, "@  Acquire(1)", "column 13: expected a comma and a target"),
        (Format::RoadRunner, "@  Acquire(1, )", "column 15: expected a comma and a target"),
        (Format::RapidCsv, "w(x),,", "column 7: expected 2 columns as in the first line, found 3"),
        (Format::RapidCsv, "w(x),r(x)", "column 6: expected one operation in a line"),
        (Format::RapidCsv, ",hello", "column 2: expected an operation such as `w(x)`"),
        (Format::RapidCsv, ",w()", "column 4: expected a target in parentheses"),
    ] {
        let before = match format {
            Format::RapidCsv => "w(x),\n",
            _ => "\n",
        };
        let found = wrong(format, &format!("{before}{line}\n"));
        assert!(found.starts_with(&format!("line 2, {expected}")), "{line}\n{found}");
    }
}

#[test]
fn unknown_operations_are_kept_with_a_warning() {
    for (format, text, operation) in [
        (Format::SpeedyGo, "1,WR,1,nil,1\n1,FROB,1,nil,1\n", "FROB"),
        (Format::SpeedyGo, "a,[(1,0,R,-)],C,-\na,[(1,0,&,-)],C,-\n", "&"),
        (Format::TsanLog, "Thread 1: |Write|0x1|\nThread 1: |Frob|0x1|\n", "Frob"),
        (Format::RoadRunner, "@  Wr(1,x) S a:1:1\n@  Wait(1,@3) a:1:2\n", "Wait"),
        (Format::RapidCsv, "w(x),\n,frob(x)\n", "frob"),
        (Format::RapidCsv, "w(x),\nfork(-unknown-thread-),\n", "fork"),
    ] {
        let mut source = open(format, Box::new(text.as_bytes()), &OpenOptions::default()).unwrap();
        let trace = Trace::read(&mut *source).unwrap();
        assert_eq!(source.problems().warnings_total, 1, "{text}");
        assert_eq!(source.problems().list[0].place.line, Some(2), "{text}");
        let ignored = Ignored::of(&trace);
        assert_eq!(ignored.operations()[0].word, operation);
        assert!(!ignored.is_empty(), "{text}");
    }
}

#[test]
fn prose_between_the_operations_of_roadrunner_is_skipped() {
    let text = "[main: RoadRunner Agent Loaded.]\n@   Start(0,1)\n@   started by main\n\
        @   Enter(1,Main.run()V)\n@   ARd(1,Main.f_I)  SHADOW  Main.java:50:7\n@ test acquire @03\n\
        @   Exit(1,Main.run()V)\n[main: done]\n@   Join(0,1)\n";
    let trace = right(Format::RoadRunner, text);
    let expected = ["0 fork.0 1 @?", "1 read.5 Main.f_I @Main.java:50:7", "0 join.0 1 @?"];
    assert_eq!(meanings(&trace), expected);
    assert_eq!(trace.label(EventId(1)), "5");
}

#[test]
fn a_synchronisation_of_rapid_is_four_events() {
    for before in [0, Block::EVENTS - 3, Block::EVENTS - 1] {
        let text = "w(x),\n".repeat(before) + ",sync(z)\nr(x),\n";
        let mut source =
            open(Format::RapidCsv, Box::new(text.as_bytes()), &OpenOptions::default()).unwrap();
        let mut block = Block::default();
        let mut sizes = Vec::new();
        while source.next_block(&mut block).unwrap() {
            sizes.push(block.columns.len());
        }
        assert_eq!(sizes.iter().sum::<usize>(), before + 5);
        assert!(sizes.iter().all(|size| *size <= Block::EVENTS));
        let trace = right(Format::RapidCsv, &text);
        let last = &meanings(&trace)[before..];
        let expected = [
            "2 acquire.0 z @?",
            "2 read.0 z @?",
            "2 write.0 z @?",
            "2 release.0 z @?",
            "1 read.0 x @?",
        ];
        assert_eq!(last, expected);
    }
}

#[test]
fn blanks_and_line_ends_do_not_matter() {
    let text = "\n 1 , WR , 1 , Test.java:1:1 , 1\r\n\r\n1,RD,1,nil,1\r";
    let expected = ["1 write.0 1 @Test.java:1:1", "1 read.0 1 @?"];
    assert_eq!(meanings(&right(Format::SpeedyGo, text)), expected);
}

#[test]
fn recorded_runs_of_speedygo_are_read_whole() {
    let mut events = 0;
    for number in 1..=33 {
        let bytes = common::recorded(&format!("speedygo/Test{number}.log"));
        assert_eq!(detect(&bytes), Ok(Format::SpeedyGo), "{number}");
        let trace = read(Format::SpeedyGo, &bytes).unwrap();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        assert_eq!(trace.len(), lines, "{number}");
        events += trace.len();
        let places = trace.events().filter(|event| event.kind().is_access());
        assert!(places.into_iter().all(|event| !trace.tables().site_text(event.site).is_empty()));
    }
    assert_eq!(events, 595);
    let mode = right(Format::SpeedyGo, "1,ARD,1,nil,1\n").event(EventId(0)).mode();
    assert_eq!(mode, Mode::SEQ_CST);
}
