//! STD as other recorders write it: requests, threads without their letter, waits on monitors, call
//! stacks, marks of all threads at the top and at the bottom.

use crate::common;
use anyorder_formats::Ignored;
use anyorder_formats::std::{StdReader, StdWriter};
use anyorder_trace::{Block, EventId, EventKind, ReadError, Trace, TraceSource, wellformed};

fn read(text: &str) -> Trace {
    Trace::read(&mut StdReader::new(text.as_bytes())).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// The events as words: thread, kind, target.
fn events(trace: &Trace) -> Vec<String> {
    let one = |event: anyorder_trace::Event| {
        let target = match event.kind() {
            EventKind::Other | EventKind::Begin | EventKind::Exit => String::new(),
            _ => common::target(trace, event),
        };
        let thread = trace.handler_name(trace.handler_of(event.id));
        let timeout = if event.op.is_timeout() { ".timeout" } else { "" };
        format!("{thread} {}{timeout} {target}", event.kind().word())
    };
    trace.events().map(one).collect()
}

fn written(trace: &Trace) -> String {
    let mut out = Vec::new();
    trace.write(&mut StdWriter::new(&mut out)).expect("STD has words for it");
    String::from_utf8(out).expect("text")
}

#[test]
fn words_of_other_recorders_mean_the_same() {
    let trace = read(
        "T1|rd(0x7f10)|1\nT1|wr(0x7f10)|2\nT1|req(3)|3\nT1|acq(3)|3\nT1|notify(3)|4\nT1|notifyAll(3)|5\n",
    );
    let expected = [
        "T1 read 0x7f10",
        "T1 write 0x7f10",
        "T1 request 3",
        "T1 acquire 3",
        "T1 signal 3",
        "T1 broadcast 3",
    ];
    assert_eq!(events(&trace), expected);
    let text = "T1|r(0x7f10)|1\nT1|w(0x7f10)|2\nT1|req(3)|3\nT1|acq(3)|3\nT1|signal(3)|4\nT1|broadcast(3)|5\n";
    assert_eq!(written(&trace), text);
    assert_eq!(events(&read(text)), expected);
}

#[test]
fn threads_may_be_forked_and_joined_by_number() {
    let trace = read("T7|fork(9)|32\nT9|r(x)|1\nT7|join(9)|33\n");
    assert_eq!(events(&trace), ["T7 fork T9", "T9 read x", "T7 join T9"]);
    assert_eq!(trace.tables().handlers.len(), 2);
    // Numbers are names where threads have such names.
    let trace = read("0|fork(1)|0\n1|r(x)|0\n0|join(1)|0\n");
    assert_eq!(events(&trace), ["0 fork 1", "1 read x", "0 join 1"]);
    let trace = read("9|w(x)|1\nT7|fork(9)|32\nT7|fork(a9)|32\nmain|fork(4)|1\nTx|fork(5)|1\n");
    let expected = ["9 write x", "T7 fork 9", "T7 fork a9", "main fork 4", "Tx fork 5"];
    assert_eq!(events(&trace), expected);
}

#[test]
fn all_threads_may_begin_at_the_top_and_end_at_the_bottom() {
    let text = "T0|begin|0\nT1|begin|0\nT0|fork(T1)|2\nT1|begin|0\nT1|w(x)|3\nT0|join(T1)|4\nT0|r(x)|5\n\
        T0|end|0\nT1|end|0\n";
    let trace = read(text);
    let problems = wellformed::check(&trace);
    assert!(problems.list.is_empty(), "{problems:?}");
    assert_eq!(written(&trace), text);
    // Any other event before the fork, or behind the join, is none of a thread like that.
    for wrong in ["T1|w(x)|3\nT0|fork(T1)|2\n", "T0|fork(T1)|1\nT0|join(T1)|2\nT1|w(x)|3\n"] {
        assert_eq!(wellformed::check(&read(wrong)).errors_total, 1, "{wrong}");
    }
    // A recorder writes joins as a lock and a write of the ended thread.
    let behind = read("T2|end|0\nT2|acq(3)|0\nT2|w(3)|0\nT2|rel(3)|0\nT1|acq(3)|0\nT1|r(3)|0\n");
    assert!(wellformed::check(&behind).list.is_empty());
    assert_eq!(behind.len(), 6);
}

#[test]
fn a_wait_on_a_monitor_ends_before_the_next_event_behind_its_acquire() {
    let text = "T9|acq(8)|1\nT9|rel(8)|1\nT9|wait(8)|1\nT1|acq(8)|2\nT1|notify(8)|3\nT1|rel(8)|4\n\
        T9|req(8)|5\nT9|acq(8)|5\nT1|w(x)|6\nT9|r(x)|7\n";
    let trace = read(text);
    let all = events(&trace);
    assert_eq!(all[8..], ["T1 write x", "T9 wake 8", "T9 read x"], "{all:?}");
    assert_eq!(trace.len(), 11);
    assert!(wellformed::check(&trace).list.is_empty());
    // It has the place of the acquire, and no line.
    assert_eq!(trace.event(EventId(9)).site, trace.event(EventId(7)).site);
    assert_eq!((trace.label(EventId(9)), trace.label(EventId(10))), ("0".into(), "10".into()));
    // Written, the end of the wait stands in the text, and is read as it is.
    assert_eq!(events(&read(&written(&trace))), all);
    // Without a signal since the wait, its time ran out.
    let silent = text.replace("T1|notify(8)|3\n", "");
    assert_eq!(events(&read(&silent))[8], "T9 wake.timeout 8");
    let early = format!("T1|notify(8)|0\n{silent}");
    assert_eq!(events(&read(&early))[9], "T9 wake.timeout 8");
    let all_woken = text.replace("notify(8)", "notifyAll(8)");
    assert_eq!(events(&read(&all_woken))[9], "T9 wake 8");
}

#[test]
fn one_signal_wakes_one_of_two() {
    let wait = |t: &str| format!("{t}|acq(m)|1\n{t}|rel(m)|1\n{t}|wait(m)|1\n");
    let wake = |t: &str| format!("{t}|req(m)|2\n{t}|acq(m)|2\n{t}|rel(m)|2\n");
    let notify = "T1|acq(m)|3\nT1|notify(m)|3\nT1|rel(m)|3\n";
    let count = |text: &str| {
        let all = events(&read(text));
        let of = |word: &str| all.iter().filter(|event| event.contains(word)).count();
        (of(" wake m"), of(" wake.timeout m"))
    };
    let text = wait("T2") + &wait("T3") + notify + &wake("T2") + &wake("T3");
    assert_eq!(count(&text), (1, 1));
    assert_eq!(count(&text.replace("notify", "notifyAll")), (2, 0));
    let twice = wait("T2") + &wait("T3") + notify + notify + &wake("T2") + &wake("T3");
    assert_eq!(count(&twice), (2, 0));
}

#[test]
fn waits_of_the_format_itself_are_left_alone() {
    for text in [
        // In STD a wait comes before the release, and its end has an event.
        "T1|acq(m)|1\nT1|wait(m)|2\nT1|rel(m)|3\nT1|req(m)|4\nT1|acq(m)|4\nT1|wake(m)|5\nT1|r(x)|6\n",
        "T1|acq(m)|1\nT1|wait(m)|2\nT1|rel(m)|3\nT1|acq(m)|4\nT1|timeout(m)|5\n",
        "T1|wait(m)|2\nT1|req(m)|4\nT1|acq(m)|4\nT1|wake(m)|5\nT1|r(x)|6\n",
        "T1|wait(c)|2\nT1|req(m)|4\nT1|acq(m)|4\nT1|r(x)|6\n",
        "T1|wait(m)|2\nT1|req(k)|4\nT1|req(m)|4\nT1|acq(m)|4\nT1|r(x)|6\n",
        "T1|wait(m)|2\nT2|req(m)|4\nT2|acq(m)|4\nT2|r(x)|6\n",
    ] {
        let trace = read(text);
        assert_eq!(trace.len(), text.lines().count(), "{text}");
        assert_eq!(written(&trace), text);
    }
}

#[test]
fn what_would_not_be_read_back_is_not_written() {
    let mut b = anyorder_trace::TraceBuilder::new();
    let main = b.handler("main", anyorder_trace::Mailbox::None).unwrap();
    let task = b.initial(main);
    b.on_condition(task, EventKind::Wait, "m").unwrap();
    let name = b.interner.name("m").unwrap();
    let lock = b.interner.lock(name).unwrap().0;
    b.push(task, EventKind::Request.into(), lock);
    b.push(task, EventKind::Acquire.into(), lock);
    b.read(task, "x").unwrap();
    let trace = b.finish();
    let mut out = Vec::new();
    let error = trace.write(&mut StdWriter::new(&mut out)).unwrap_err();
    assert!(error.to_string().contains("a wait without an end"), "{error}");
    let mut out = Vec::new();
    let mut writer = StdWriter::new(&mut out).lossy(true);
    trace.write(&mut writer).unwrap();
    assert_eq!(writer.losses().skipped, 1);
    assert_eq!(read(std::str::from_utf8(&out).unwrap()).len(), 3);
}

#[test]
fn a_call_stack_below_an_event_gives_its_place() {
    let text = "T0|fork(T1)|/llvm/tsan.cpp:1041\n           /src/race.cc:38\n\
        T1|w(0x7f10)|/src/race.cc:12\n\tinner.h:4\n\touter.h:5\nT0|join(T1)|?\n";
    let trace = read(text);
    let places: Vec<String> =
        trace.events().map(|event| trace.tables().site_text(event.site)).collect();
    assert_eq!(places[..2], ["/src/race.cc:38", "outer.h:5"]);
    assert_eq!(trace.label(EventId(2)), "6");
    // Without an event above it, and where it is no position, a line is wrong.
    for wrong in ["    /src/race.c:38\nT1|w(x)|1\n", "T1|w(x)|1\n   some text\n"] {
        let read = Trace::read(&mut StdReader::new(wrong.as_bytes()));
        assert!(matches!(read, Err(ReadError::Malformed { .. })), "{wrong}");
    }
    // A thread may be called so.
    assert_eq!(events(&read("T1|w(x)|1\n  a.c:3|w(x)|2\n"))[1], "  a.c:3 write x");
}

#[test]
fn a_call_stack_may_lie_between_two_blocks() {
    let mut text = "T1|r(x)|1\n".repeat(Block::EVENTS);
    text.push_str("    /src/race.c:38\nT1|r(x)|2\n");
    let mut reader = StdReader::new(text.as_bytes());
    let mut block = Block::default();
    let mut events = 0;
    while reader.next_block(&mut block).unwrap() {
        events += block.columns.len();
    }
    assert_eq!(events, Block::EVENTS + 1);
}

#[test]
fn the_end_of_a_wait_may_come_at_the_end_of_a_block() {
    for before in Block::EVENTS - 6..Block::EVENTS + 1 {
        let mut text = "T2|r(x)|1\n".repeat(before);
        text.push_str("T1|rel(m)|1\nT1|wait(m)|1\nT1|req(m)|2\nT1|acq(m)|2\nT1|r(x)|3\n");
        let mut reader = StdReader::new(text.as_bytes());
        let trace = Trace::read(&mut reader).unwrap();
        let last: Vec<&str> =
            trace.events().skip(before).map(|event| event.kind().word()).collect();
        assert_eq!(last, ["release", "wait", "request", "acquire", "wake", "read"]);
        let text = written(&trace);
        assert_eq!(text.lines().count(), before + 6);
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let trace = read("\u{feff}T1|w(x)|1\n\u{feff}T1|w(x)|1\n");
    assert_eq!(events(&trace), ["T1 write x", "\u{feff}T1 write x"]);
}

#[test]
fn marks_without_effect_change_no_answer() {
    let trace = read("T1|null()|1\nT1|branch|2\nT1|dummy(0)|3\nT1|w(x)|4\n");
    assert!(Ignored::of(&trace).is_empty());
}
