//! Traces of small recordings, as text.

use crate::synthetic::{Writer, pc};
use anyorder_formats::native_text::NativeTextWriter;
use anyorder_native::merge::Slack;
use anyorder_native::recording::{Event, kind};
use anyorder_native::{Frame, Names, Options, Rule, Traced, to_trace};
use anyorder_trace::EventKind;

/// Names each place of the program by its line.
struct Lines;

impl Names for Lines {
    fn frames(&mut self, address: u64) -> Vec<Frame> {
        let line = (address & 0xfff) as u32;
        vec![Frame { function: format!("f{}", line / 10), file: "a.c".into(), line, column: 0 }]
    }

    fn variable(&mut self, address: u64) -> Option<String> {
        (address == 0x2000).then(|| "mutex".to_owned())
    }
}

fn traced(events: &[(u32, u8, u64, u8, u64, u32)]) -> Traced {
    traced_up_to(Options::default().events_max, events)
}

fn traced_up_to(events_max: u64, events: &[(u32, u8, u64, u8, u64, u32)]) -> Traced {
    let mut writer = Writer::default();
    for (time, &(thread, kind, address, arg, third, line)) in (1..).zip(events) {
        let pc = if line == 0 { 0 } else { pc(line) };
        writer.push(thread, Event { kind, address, arg, third, pc, time });
    }
    let options = Options { slack: Slack(0), events_max, ..Options::default() };
    to_trace(&writer.recording(), &mut Lines, &options, &mut || true).expect("small tables")
}

/// Returns the events without their numbers of stacks.
fn events(traced: &Traced) -> Vec<String> {
    let mut out = Vec::new();
    traced.trace.write(&mut NativeTextWriter::new(&mut out)).expect("a string takes it");
    let text = String::from_utf8(out).expect("a text");
    let is_event = |line: &&str| line.starts_with('t') && !line.starts_with("task");
    let word = |line: &str| line.split(" stack=").next().unwrap_or_default().to_owned();
    text.lines().filter(is_event).map(word).collect()
}

#[test]
fn a_trace_that_ends_early_does_not_say_that_a_thread_never_ran() {
    let mut recorded = vec![
        (0, kind::THREAD_CREATE, 1, 0, 0x5555_0000_1020, 11),
        (0, kind::THREAD_CREATE, 2, 0, 0x5555_0000_1020, 11),
    ];
    for _ in 0..20 {
        recorded.push((0, kind::LOCK, 0x2000, 0, 0, 12));
        recorded.push((0, kind::UNLOCK, 0x2000, 0, 0, 13));
    }
    recorded.push((1, kind::THREAD_BEGIN, 0x7000_0000, 0, 0x1000, 0));
    recorded.push((2, kind::THREAD_BEGIN, 0x7100_0000, 0, 0x1000, 0));
    for events_max in [13, 20, 40, 1000] {
        let traced = traced_up_to(events_max, &recorded);
        assert_eq!(traced.stats.is_full, events_max < 1000);
        assert!(traced.trace.len() as u64 <= events_max);
        assert_eq!(traced.origins.len(), traced.trace.len());
        let begin = events(&traced).iter().filter(|event| event.ends_with("begin")).count();
        assert_eq!(begin, 2, "{:?}", events(&traced));
    }
}

#[test]
fn a_use_after_free_under_one_lock() {
    const BLOCK: u64 = 0x10_0000;
    let traced = traced(&[
        (0, kind::THREAD_BEGIN, 0x7000_0000, 0, 0x1000, 0),
        (0, kind::ALLOC, BLOCK, 0, 64, 11),
        (0, kind::WRITE, 0x7000_0010, 8, 0, 12),
        (0, kind::THREAD_CREATE, 1, 0, 0x5555_0000_1020, 13),
        (1, kind::THREAD_BEGIN, 0x7100_0000, 0, 0x1000, 0),
        (1, kind::CALL, 0x5555_0000_1030, 0, 0, 0),
        (1, kind::LOCK, 0x2000, 0, 0, 31),
        (1, kind::READ, BLOCK + 8, 4, 0, 32),
        (1, kind::UNLOCK, 0x2000, 0, 0, 33),
        (1, kind::RETURN, 0, 0, 0, 0),
        (0, kind::LOCK, 0x2000, 0, 0, 14),
        (0, kind::FREE, BLOCK, 0, 64, 15),
        (0, kind::UNLOCK, 0x2000, 0, 0, 16),
        (1, kind::THREAD_END, 0, 0, 0, 0),
        (0, kind::THREAD_JOIN, 1, 0, 0, 17),
    ]);
    let expected = [
        "t0 begin",
        "t0 alloc x0 @s1",
        "t0 alloc x1 @s2",
        "t0 fork h1 @s3",
        "t1 begin",
        "t1 alloc x2 @s4",
        "t1 acquire l0 @s5",
        "t1 read x3 @s7",
        "t1 release l0 @s8",
        "t0 acquire l0 @s9",
        "t0 free x1 @s10",
        "t0 release l0 @s11",
        "t1 free x2",
        "t1 exit",
        "t0 join h1 @s12",
    ];
    assert_eq!(events(&traced), expected);
    assert_eq!((traced.stats.private, traced.stats.odd), (1, 0));
    let tables = traced.trace.tables();
    let stack = traced.trace.columns().stacks.get(7).expect("a stack");
    let places: Vec<String> =
        tables.stacks[stack.index()].iter().map(|site| tables.site_in_function(*site)).collect();
    assert_eq!(places, ["a.c:32 in f3", "a.c:47 in f4"]);
    assert_eq!(tables.name(tables.handlers[1].name), "T1 f3");
}

#[test]
fn waits_barriers_and_semaphores() {
    let traced = traced(&[
        // Else the file counts as one without instrumentation.
        (0, kind::READ, 0x9000, 4, 0, 1),
        (0, kind::BARRIER_INIT, 0x3000, 0, 2, 1),
        (0, kind::THREAD_CREATE, 1, 0, 0, 2),
        (1, kind::LOCK, 0x2000, 0, 0, 3),
        (1, kind::COND_WAIT, 0x2100, 0, 0x2000, 4),
        (0, kind::COND_SIGNAL, 0x2100, 0, 0, 5),
        (1, kind::COND_WAKE, 0x2100, 0, 0x2000, 6),
        (1, kind::COND_WAIT, 0x2100, 0, 0x2000, 7),
        (1, kind::COND_WAKE, 0x2100, 1, 0x2000, 8),
        (1, kind::COND_WAIT, 0x2100, 0, 0x2000, 9),
        (1, kind::COND_WAKE, 0x2100, 0, 0x2000, 10),
        (1, kind::UNLOCK, 0x2000, 0, 0, 11),
        (1, kind::BARRIER_ARRIVE, 0x3000, 0, 0, 12),
        (0, kind::BARRIER_ARRIVE, 0x3000, 0, 0, 13),
        (1, kind::BARRIER_LEAVE, 0x3000, 0, 0, 14),
        (0, kind::SEM_POST, 0x4000, 0, 0, 15),
        (1, kind::SEM_WAIT, 0x4000, 0, 0, 16),
        (0, kind::BARRIER_LEAVE, 0x3000, 0, 0, 17),
    ]);
    let words: Vec<String> = events(&traced)
        .iter()
        .map(|line| line.split(" @").next().unwrap_or_default().to_owned())
        .collect();
    // The barrier that was initialised is a location, too.
    let expected = [
        "t0 alloc x0",
        "t0 write x0",
        "t0 fork h1",
        "t1 acquire l0",
        "t1 wait c0",
        "t1 release l0",
        "t0 signal c0",
        "t1 acquire l0",
        "t1 wake c0",
        "t1 wait c0",
        "t1 release l0",
        "t1 acquire l0",
        "t1 wake.timeout c0",
        "t1 wait c0",
        "t1 release l0",
        "t1 acquire l0",
        "t1 wake.timeout c0",
        "t1 release l0",
        "t1 read.relaxed x0",
        "t1 rmw.acq_rel x1",
        "t0 rmw.acq_rel x1",
        "t1 read.acquire x1",
        "t0 invoke v0",
        "t0 return v0",
        "t1 invoke v1",
        "t1 return v1",
        "t0 read.acquire x1",
    ];
    assert_eq!(words, expected);
    assert_eq!(traced.stats.spurious, 1);
}

#[test]
fn what_does_not_fit_is_left_out_and_counted() {
    let traced = traced(&[
        (0, kind::UNLOCK, 0x2000, 0, 0, 1),
        (0, kind::LOCK, 0x2000, 0, 0, 2),
        (0, kind::LOCK, 0x2000, 0, 0, 3),
        (1, kind::LOCK, 0x2000, 0, 0, 4),
        (0, kind::THREAD_CREATE, 7, 0, 0, 5),
        (0, 100, 1, 0, 0, 6),
    ]);
    // The unlock is a misuse, which orders nothing. The thread that still held the lock has ended.
    let expected =
        ["t0 read.relaxed x0 @s1", "t0 acquire l0 @s2", "t0 release l0", "t1 acquire l0 @s3"];
    assert_eq!(events(&traced), expected);
    assert_eq!(traced.misuses.len(), 1);
    assert_eq!(
        (traced.misuses[0].rule, &traced.misuses[0].events[..]),
        (Rule::BadUnlock, &[0][..])
    );
    assert_eq!((traced.stats.odd, traced.stats.unreadable), (1, 1));
}

/// The words of a text, six bytes in each.
fn texts(text: &str) -> Vec<(u32, u8, u64, u8, u64, u32)> {
    let event = |part: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        (1, kind::TEXT, u64::from_le_bytes(bytes), part.len() as u8, 0, 0)
    };
    text.as_bytes().chunks(6).map(event).collect()
}

/// A thread uses a method before its names are there, a signal handler invokes between the
/// arguments of another invocation, one invocation is left by a jump, and one never ends.
#[test]
fn invocations_have_their_own_arguments_and_objects() {
    const BLOCK: u64 = 0x10_0000;
    let mut all = vec![
        (0, kind::THREAD_BEGIN, 0x7000_0000, 0, 0x1000, 0),
        (0, kind::THREAD_CREATE, 1, 0, 0x5555_0000_1020, 13),
        (1, kind::THREAD_BEGIN, 0x7100_0000, 0, 0x1000, 0),
        (0, kind::ALLOC, BLOCK, 0, 64, 14),
        (0, kind::ARGUMENT, 0, 0, 7, 0),
        // The handler.
        (0, kind::ARGUMENT, 0, 0, 9, 0),
        (0, kind::INVOKE, 0x2000, 1, 1, 15),
        (0, kind::INVOKE_RETURN, 0x2000, 1, 0, 16),
        (0, kind::ARGUMENT, 1, 0, 8, 0),
        (0, kind::INVOKE, BLOCK, 2, 1, 17),
        (0, kind::INVOKE_RETURN, BLOCK, 0, 0, 18),
        (1, kind::METHOD, 1, 0, 3 | 8 << 32, 0),
    ];
    all.extend(texts("mapput_long"));
    all.extend([
        (0, kind::FREE, BLOCK, 0, 64, 19),
        (0, kind::ALLOC, BLOCK, 0, 64, 20),
        (0, kind::INVOKE, BLOCK, 0, 1, 21),
        (0, kind::OBJECT, BLOCK, 0, 0, 22),
        (0, kind::INVOKE, BLOCK, 0, 1, 23),
        // Both of them; then one that is not open, and one of a method without a name.
        (0, kind::INVOKE_RETURN, BLOCK, 1, 5, 24),
        (0, kind::INVOKE_RETURN, BLOCK, 1, 6, 25),
        (0, kind::INVOKE_RETURN, BLOCK, 1, 7, 26),
        (0, kind::INVOKE, BLOCK, 0, 2, 27),
        (1, kind::INVOKE, BLOCK, 0, 1, 41),
    ]);
    let traced = traced(&all);
    let tables = traced.trace.tables();
    let call = |event: anyorder_trace::Event| {
        let call = &tables.invocations[event.operand as usize];
        let (object, method) = (tables.name(call.object), tables.name(call.method));
        let words = format!("{object} {method} {:?} {:?}", call.arguments, call.result);
        format!("{:?} {words}", event.kind())
    };
    let events = traced.trace.events();
    let is_call = |event: &anyorder_trace::Event| {
        matches!(event.kind(), EventKind::Invoke | EventKind::Return)
    };
    let calls: Vec<String> = events.filter(is_call).map(call).collect();
    let expected = [
        "Invoke map:mutex put_long [9] Some(0)",
        "Return map:mutex put_long [9] Some(0)",
        "Invoke map:0x100000 put_long [7, 8] None",
        "Return map:0x100000 put_long [7, 8] None",
        "Invoke map:0x100000 (2) put_long [] Some(6)",
        "Invoke map:0x100000 (3) put_long [] Some(5)",
        "Return map:0x100000 (3) put_long [] Some(5)",
        "Return map:0x100000 (2) put_long [] Some(6)",
        "Invoke map:0x100000 (3) put_long [] None",
    ];
    assert_eq!(calls, expected);
    assert_eq!((traced.stats.odd, traced.stats.unknown), (2, 0));
}

#[test]
fn a_forked_child_without_an_access_has_nothing_unseen() {
    let unseen = |flags: u32, threads: u32, with_access: bool| {
        let mut writer = Writer::default();
        writer.flags = flags;
        let event = |kind, address, time| Event { kind, address, arg: 8, third: 0, pc: 0, time };
        for thread in 0..threads {
            writer.push(thread, event(kind::CALL, 0x5555_0000_1010, u64::from(thread) + 1));
        }
        if with_access {
            writer.push(0, event(kind::WRITE, 0x9000, 9));
        }
        let recording = writer.recording();
        let options = Options::default();
        to_trace(&recording, &mut Lines, &options, &mut || true).expect("small tables").unseen
    };
    assert_eq!(unseen(4, 1, false), Vec::<String>::new());
    // No fork, several threads, or an access that lies elsewhere: what was not seen is said.
    for (flags, threads, with_access) in [(0, 1, false), (4, 2, false), (4, 1, true)] {
        assert_eq!(unseen(flags, threads, with_access), ["/none/prog"], "{flags} {threads}");
    }
}
