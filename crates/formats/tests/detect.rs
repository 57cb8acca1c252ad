//! Formats are recognised by the contents of a file.

use anyorder_formats::detect::{DetectError, Format, HEAD_BYTES, detect};
use anyorder_formats::open::{OpenOptions, create, open};
use anyorder_trace::{Mailbox, Trace, TraceBuilder};
use std::path::PathBuf;

#[test]
fn each_format_by_its_beginning() {
    let cases: [(&[u8], Format); 25] = [
        (b"\x89AOT\r\n\x1a\n", Format::NativeBinary),
        (b"\x89AOT\r\n\x1a\n\x01\0\0\0", Format::NativeBinary),
        (b"anyorder-trace 1\n", Format::NativeText),
        (b"# a comment\n\nanyorder-trace 7\n", Format::NativeText),
        (b"edtrace 1", Format::Edtrace),
        (b"\n# a | b | c\n  edtrace 1 # T1|acq(L)|3\n", Format::Edtrace),
        (b"Android bug-checker log messages \n\n1 START\n", Format::DroidRacer),
        (b"2 THREADINIT tid:1\n", Format::DroidRacer),
        (b"rwId:1 READ tid:1 obj:0x1 class:A field:8\n", Format::DroidRacer),
        (b"T1|acq(L1)|12\n", Format::Std),
        (b"T0|begin|5\r\nT0|r(0x10+8)|6", Format::Std),
        (b"\xc3\xa4|w(x)|\n", Format::Std),
        (b"\xef\xbb\xbfT1|w(x)|1\n", Format::Std),
        (b"\xef\xbb\xbfanyorder-trace 1\n", Format::NativeText),
        (b"T0|fork(T1)|a.cpp:10\n        a.cc:38\nT1|rd(0x7f10)|a.cc:3\n", Format::Std),
        (b"1,WR,1,Test.java:1:1,1\n1,LK,1,nil,1", Format::SpeedyGo),
        (b"7,PREBRANCH,0,nil,0\r\n", Format::SpeedyGo),
        (b"main1,[(825741476080,0,M,.\\main.go:8)],C,-\nmain1,[(1,0,S,-)],C,-\n", Format::SpeedyGo),
        (b"Thread 1: |ACQ |0x0000555556a675e8| at line 1362 in file /a.cpp\n", Format::TsanLog),
        (b"Thread 0: |Thread Create (Thread 1)|0x00007fff|\n", Format::TsanLog),
        (b"[main: RoadRunner Agent Loaded.]\n@   Start(0,1)\n", Format::RoadRunner),
        (b"@     Acquire(0,l,Main.java:3)\n", Format::RoadRunner),
        (b"w(x),\n,acq(L)\n\nfork(-unknown-thread-),\n", Format::RapidCsv),
        (b",,null()\r\nw(x),,\r\n", Format::RapidCsv),
        (b"\0\x03\0\0\0\x03\0\0\0\x04\0\0\0\0\0\0\0\x27\0\0\0\0\0\0\x18\0", Format::RapidBinary),
    ];
    for (head, format) in cases {
        assert_eq!(detect(head), Ok(format), "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn inputs_that_are_not_traces() {
    assert_eq!(detect(b""), Err(DetectError::Empty));
    assert_eq!(detect(b" \n\t\r\n"), Err(DetectError::Empty));
    assert_eq!(
        detect(b"\n<html>\x1b[31m\n"),
        Err(DetectError::Unknown { line: 2, text: "<html>\\u{1b}[31m".into() })
    );
    assert!(matches!(detect(b"T1|acq(L1)\n"), Err(DetectError::Unknown { line: 1, .. })));
    assert!(matches!(detect(b"12 monkeys\n"), Err(DetectError::Unknown { .. })));
    for binary in
        [&b"\0\0\0"[..], b"\x7fELF\x01\x01\0", b"\x1f\x8b\x08", b"\x89AO", b"\x89AOT\n\x1a\n"]
    {
        assert!(matches!(detect(binary), Err(DetectError::Binary { .. })), "{binary:?}");
    }
    let long = vec![b'x'; 10 * HEAD_BYTES];
    let Err(DetectError::Unknown { text, .. }) = detect(&long) else { panic!() };
    assert_eq!(text.chars().count(), 81);
}

#[test]
fn a_header_counts_only_on_the_first_line_with_content() {
    let manifest = b"# A package\n\n[dependencies]\nanyorder-trace = \"1\"\nedtrace 1\n";
    let unknown = DetectError::Unknown { line: 3, text: "[dependencies]".into() };
    assert_eq!(detect(manifest), Err(unknown));
    assert_eq!(detect(b"T1|acq(L1)|12\nanyorder-trace 1\n"), Ok(Format::Std));
}

#[test]
fn an_ambiguous_beginning_names_the_candidates() {
    let head = b"T1|acq(L1)|12\n2 THREADINIT tid:1\n";
    let error = detect(head).unwrap_err();
    let candidates = vec![Format::Std, Format::DroidRacer];
    assert_eq!(error, DetectError::Ambiguous { candidates });
    assert_eq!(error.to_string(), "the format is ambiguous: std or droidracer");
}

#[test]
fn messages_say_what_was_expected() {
    let message = detect(b"hello\n").unwrap_err().to_string();
    assert!(message.contains("line 1: `hello`") && message.contains("edtrace 1"), "{message}");
    let message = detect(b"\x1f\x8b\x08").unwrap_err().to_string();
    assert!(message.contains("gzip"), "{message}");
}

#[test]
fn the_output_of_other_tools_is_named_with_advice() {
    for (head, what, advice) in [
        (
            "==================\nWARNING: ThreadSanitizer: data race (pid=7)\n",
            "ThreadSanitizer",
            "T1|acq(m)",
        ),
        ("listening\nWARNING: ThreadSanitizer: data race (pid=7)\n", "ThreadSanitizer", "std.md"),
        (
            "==================\nWARNING: DATA RACE\nRead at 0x00c0\n",
            "Go's race detector",
            "std.md",
        ),
        ("==7== Helgrind, a thread error detector\n", "Valgrind", "std.md"),
        ("{\"traceEvents\":[{\"ph\":\"X\"}]}", "Chrome", "native-text.md"),
        ("[\n{\"name\":\"a\", \"ph\":\"B\"}", "Chrome", "native-text.md"),
        ("{\"schema\":1,\"tool\":\"anyorder\"}", "anyorder", "anyorder replay"),
        ("T1,acq,m,7\nT1,w,x,8\n", "comma-separated", "T1|acq(m)|7"),
        ("thread,event,target\nT1,acq(m),7\n", "comma-separated", "T1|acq(m)|7"),
        ("0,RD,17\n", "comma-separated", "awk"),
    ] {
        let Err(DetectError::Foreign(foreign)) = detect(head.as_bytes()) else {
            panic!("{head}: {:?}", detect(head.as_bytes()))
        };
        assert!(foreign.what.contains(what) && foreign.advice.contains(advice), "{head}");
    }
    // A trace is recognised whatever its names contain.
    let std = detect(b"T1|w(WARNING: ThreadSanitizer:)|7\nT1|r(x)|acq,w,r\n");
    assert_eq!(std, Ok(Format::Std));
    assert!(matches!(detect(b"name,age,city\nAda,36,London\n"), Err(DetectError::Unknown { .. })));
}

#[test]
fn words_go_both_ways() {
    for format in Format::ALL {
        assert_eq!(Format::from_word(format.word()), Some(format));
    }
    assert_eq!(Format::from_word("Std"), None);
}

#[test]
fn real_traces_are_recognised() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for (path, format) in [
        ("droidracer/RemindMe/trace.txt", Format::DroidRacer),
        ("droidracer/twitter/trace.txt", Format::DroidRacer),
        ("native/pbzip2/trace.std", Format::Std),
        ("native/memcached/trace.std", Format::Std),
    ] {
        let bytes = std::fs::read(root.join(path)).expect("the trace is there");
        assert_eq!(detect(&bytes), Ok(format), "{path}");
    }
}

/// A trace that every format can express.
fn small() -> Trace {
    let mut b = TraceBuilder::new();
    let main = b.handler("main", Mailbox::Fifo).unwrap();
    let io = b.handler("io", Mailbox::None).unwrap();
    let task = b.task("load", main).unwrap();
    b.write(b.initial(io), "x").unwrap();
    b.post(b.initial(io), task).unwrap();
    b.get(task).unwrap();
    b.read(task, "x").unwrap();
    b.end(task).unwrap();
    b.finish()
}

#[test]
fn written_traces_are_recognised_and_read() {
    for format in [Format::NativeBinary, Format::NativeText, Format::Edtrace] {
        let mut bytes = Vec::new();
        {
            let mut sink = create(format, Box::new(&mut bytes)).unwrap();
            small().write(&mut *sink).unwrap();
        }
        assert_eq!(detect(&bytes), Ok(format));
        let mut source = open(format, Box::new(&bytes[..]), &OpenOptions::default()).unwrap();
        let trace = Trace::read(&mut *source).unwrap();
        // Only edtrace has no event for the end of a task.
        let events = if format == Format::Edtrace { 4 } else { 5 };
        assert_eq!(trace.len(), events, "{format}");
    }
    let droidracer = create(Format::DroidRacer, Box::new(Vec::new()));
    assert!(droidracer.is_err_and(|error| error.to_string().contains("only read")));
}

#[test]
fn options_reach_their_reader() {
    let text = "edtrace 1\na h - w x\nb h - w x\n";
    let infer = OpenOptions { infer_coherence: true, ..OpenOptions::default() };
    let mut source = open(Format::Edtrace, Box::new(text.as_bytes()), &infer).unwrap();
    assert_eq!(Trace::read(&mut *source).unwrap().len(), 2);
    let mut source =
        open(Format::Edtrace, Box::new(text.as_bytes()), &OpenOptions::default()).unwrap();
    assert!(Trace::read(&mut *source).is_err());
    let sites = OpenOptions { sites: Some("not a table".into()), ..OpenOptions::default() };
    assert!(open(Format::Std, Box::new(&b""[..]), &sites).is_err());
}
