//! Traces in their recorded order, in each format.

use crate::tests::from_trace::common::{delayed, edtrace, fifo, given, messages};
use anyorder_consistency::{Due, FromTraceError, Kept, MailboxRule, Overtakings, split_own_code};
use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_formats::native_text::NativeTextReader;
use anyorder_formats::std::StdReader;
use anyorder_trace::{EventId, LocationId, TaskId, Trace};

fn native(text: &str) -> Trace {
    let text = format!("anyorder-trace 1\n{text}");
    Trace::read(&mut NativeTextReader::new(text.as_bytes())).expect("a trace")
}

fn std(text: &str) -> Trace {
    Trace::read(&mut StdReader::new(text.as_bytes())).expect("a trace")
}

fn droidracer(text: &str) -> Trace {
    let text = format!("Android bug-checker log messages\n\n{text}");
    Trace::read(&mut DroidRacerReader::new(text.as_bytes())).expect("a trace")
}

#[test]
fn threads_are_initial_messages() {
    let trace = std("main|w(x)|1
main|fork(T1)|2
T1|begin()|3
T1|r(x)|4
T1|acq(l)|5
T1|w(x)|6
T1|rel(l)|7
T1|end()|8
main|join(T1)|9
main|r(x)|10
main|w(x)|11
");
    let (partial, kept) = fifo(&trace).expect("a partial trace");
    assert_eq!(messages(&trace, &partial), ["main h0*: 1 2 9 10 11", "T1 h1*: 3 4 5 6 7 8"]);
    assert_eq!(
        given(&trace, &partial),
        [
            "1 Coherence 6",
            "1 ReadsFrom 4",
            "2 Fork 3",
            "6 Coherence 11",
            "6 ReadsFrom 10",
            "8 Join 9",
        ]
    );
    assert_eq!((kept.forks, kept.joins, kept.locks, kept.initial), (1, 1, 2, 2));
}

#[test]
fn a_read_is_before_the_next_write_of_another_thread() {
    let trace = std("a|w(x)|1\nb|r(x)|2\nb|r(y)|3\na|w(x)|4\nc|w(x)|5\nc|w(y)|6\n");
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        given(&trace, &partial),
        ["1 ReadsFrom 2", "2 FromReads 4", "3 FromReads 6", "4 Coherence 5"]
    );
}

#[test]
fn an_rmw_reads_then_writes_and_a_free_writes() {
    let trace = std("a|w(x)|1\nb|armw(x)|2\nc|armw(x)|3\nd|r(x)|4\n");
    let (partial, kept) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        given(&trace, &partial),
        ["1 Coherence 2", "1 ReadsFrom 2", "2 Coherence 3", "2 ReadsFrom 3", "3 ReadsFrom 4"]
    );
    assert_eq!((kept.reads, kept.writes), (3, 3));
    assert!(partial.backward.is_empty());

    let trace = std("a|alloc(0x10+8)|1\nb|w(0x10+8)|2\na|free(0x10)|3\nc|r(0x10+8)|4\n");
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), ["2 Coherence 3", "3 ReadsFrom 4"]);
}

#[test]
fn overlapping_ranges_are_counted() {
    let trace = std("a|w(0x10+8)|1\nb|r(0x14+4)|2\nb|r(0x18+4)|3\nb|w(0x17+2)|4\nb|w(0x40+2)|5\n");
    let (partial, kept) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), [""; 0]);
    assert_eq!(kept.overlapping, 4);
}

#[test]
fn what_a_read_refers_to_counts_more_than_the_order_of_the_trace() {
    let trace = native(
        "handler h0 \"a\"
handler h1 \"b\"
handler h2 \"c\"
task t0 \"a\" initial h0
task t1 \"b\" initial h1
task t2 \"c\" initial h2
location x0 \"x\"
t0 write x0
t1 write x0
t2 read x0 refers=0
t2 read x0
",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        given(&trace, &partial),
        ["1 Coherence 2", "1 ReadsFrom 3", "2 ReadsFrom 4", "3 FromReads 2"]
    );
}

const TASKS: &str = "handler h0 \"ui\" delayed
handler h1 \"io\"
task t0 \"ui\" initial h0
task t1 \"io\" initial h1
task t2 \"late\" posted h0 delay=20
task t3 \"now\" posted h0
task t4 \"first\" posted h0 front
task t5 \"gone\" posted h0
location x0 \"x\"
";

#[test]
fn delays_positions_and_cancelled_posts() {
    let trace = native(&format!(
        "{TASKS}t1 post t2
t1 post t3
t1 post t4
t1 post t5
t1 cancel t5
t4 get h0
t4 write x0
t4 end
t3 get h0
t3 read x0
t3 end
t2 get h0
t2 end
"
    ));
    assert_eq!(MailboxRule::recorded(&trace), MailboxRule::Delayed);
    let (partial, kept) = delayed(&trace);
    assert_eq!(
        messages(&trace, &partial),
        ["io h0*: 1 2 3 4 5", "first h1: 6 7 8", "now h1: 9 10 11", "late h1: 12 13"]
    );
    assert_eq!(
        given(&trace, &partial),
        ["1 PostedBy 12", "2 PostedBy 9", "3 PostedBy 6", "7 ReadsFrom 10"]
    );
    let dues: Vec<Due> = partial.messages.iter().map(|message| message.due).collect();
    assert_eq!(dues, [Due::After(0), Due::Front, Due::After(0), Due::After(20)]);
    assert!(partial.keeps(2, 3) && !partial.keeps(3, 2) && partial.keeps(1, 2));
    assert!(!partial.keeps(2, 1));
    assert_eq!((kept.never_begun, kept.cancelled, kept.delayed, kept.front), (1, 1, 1, 1));
    assert!(fifo(&trace).expect("a partial trace").0.keeps(3, 2));
}

#[test]
fn notes_say_what_plays_no_part() {
    let trace = native(&format!(
        "{TASKS}lock l0 \"l\"
t1 post t2
t1 post t3
t1 post t5
t1 acquire l0
t3 get h0
t2 get h0
"
    ));
    let (_, kept) = fifo(&trace).expect("a partial trace");
    let lock = "1 lock operation: ignored: critical sections may overlap";
    let never = "1 task that was posted and never began: no constraint";
    let plain = "1 message with a delay: treated as any other, as mailboxes are fifo";
    assert_eq!(kept.notes(MailboxRule::Fifo), [plain, never, lock]);
    assert_eq!(kept.notes(MailboxRule::Delayed), [never, lock]);
    assert_eq!(Kept::default().notes(MailboxRule::Bag), [""; 0]);
}

#[test]
fn overtakings_are_counted_by_what_explains_them() {
    let trace = native(
        "handler h0 \"ui\" delayed
handler h1 \"io\"
task t0 \"io\" initial h1
task t1 \"slow\" posted h0 delay=9
task t2 \"plain\" posted h0
task t3 \"late\" posted h0
task t4 \"first\" posted h0 front
t0 post t1
t0 post t2
t0 post t3
t0 post t4
t4 get h0
t3 get h0
t2 get h0
t1 get h0
",
    );
    let found = Overtakings::of(&delayed(&trace).0).expect("few pairs");
    // `first` ran before the three posted earlier; `late` and `plain` before `slow`; `late` before
    // `plain`.
    assert_eq!(found, Overtakings { idle: 0, front: 3, delay: 2, unexplained: 1 });
    assert_eq!(found.total(), 6);
}

#[test]
fn own_code_between_tasks_runs_by_itself_and_the_exit_last() {
    let trace = native(&format!(
        "{TASKS}t0 begin
t0 loop h0
t0 post t3
t3 get h0
t3 end
t0 post t2
t0 read x0
t2 get h0
t2 end
t0 exit
t1 join h0
"
    ));
    let expected = [
        "10 Join 11",
        "2 Ended 10",
        "2 Join 11",
        "3 Ended 10",
        "3 Join 11",
        "3 PostedBy 4",
        "5 Ended 10",
        "5 Join 11",
        "6 PostedBy 8",
        "7 Ended 10",
        "7 Join 11",
        "9 Ended 10",
        "9 Join 11",
    ];
    let (partial, kept) = delayed(&trace);
    let pieces = [
        "ui h0*: 1 2",
        "ui h1*: 3",
        "now h0: 4 5",
        "ui h2*: 6 7",
        "late h0: 8 9",
        "ui h3*: 10",
        "io h4*: 11",
    ];
    assert_eq!(messages(&trace, &partial), pieces);
    assert_eq!(given(&trace, &partial), expected);
    assert_eq!((kept.pieces, kept.exits, kept.initial), (2, 1, 2));

    // With each piece as a separate task the orders are the same.
    let split = split_own_code(&trace).expect("a trace").expect("pieces");
    let (partial, kept) = delayed(&split);
    assert_eq!(messages(&split, &partial), pieces);
    assert_eq!(given(&split, &partial), expected);
    assert_eq!((kept.bursts, kept.pieces, kept.initial), (3, 0, 2));
    assert_eq!(split_own_code(&split), Ok(None));
    assert!((0..11).all(|row| trace.label(EventId(row)) == split.label(EventId(row))));
}

#[test]
fn forks_and_joins_order_all_code_of_a_thread() {
    // The thread has events before its fork, and events after its join.
    let trace = native(
        "handler h0 \"a\"
handler h1 \"b\"
handler h2 \"c\"
task t0 \"a\" initial h0
task t1 \"b\" initial h1
task t2 \"c\" initial h2
location x0 \"x\"
lock l0 \"l\"
t1 begin
t0 fork h1
t1 acquire l0
t1 read x0
t1 release l0
t0 join h1
t1 exit
t0 fork h2
t2 begin
t2 exit
t0 join h2
",
    );
    let (partial, _) = fifo(&trace).expect("a partial trace");
    assert_eq!(given(&trace, &partial), ["10 Join 11", "2 Fork 3", "5 Join 6", "8 Fork 9"]);
}

#[test]
fn a_fork_precedes_what_runs_behind_it() {
    let trace = native(
        "handler h0 \"a\"
handler h1 \"b\" fifo
task t0 \"a\" initial h0
task t1 \"m\" posted h1
task t2 \"n\" posted h1
location x0 \"x\"
t0 post t1
t1 get h1
t0 fork h1
t1 end
t2 get h1
t0 join h0
t0 join h1
t2 end
",
    );
    let (partial, kept) = fifo(&trace).expect("a partial trace");
    assert_eq!(
        given(&trace, &partial),
        ["1 PostedBy 2", "3 Fork 4", "3 Fork 5", "4 Join 7", "5 Join 7"]
    );
    // A handler is not ordered with itself.
    assert_eq!((kept.forks, kept.joins, kept.without_post), (1, 2, 1));
    assert_eq!((partial.messages[2].post, partial.messages[2].due), (None, Due::Idle));
}

#[test]
fn a_handler_that_runs_tasks_first_has_no_initial_message() {
    let trace = native(&format!("{TASKS}t1 post t3\nt3 get h0\nt3 end\nt0 read x0\n"));
    let (partial, _) = delayed(&trace);
    assert_eq!(messages(&trace, &partial), ["io h0*: 1", "now h1: 2 3", "ui h2*: 4"]);
}

#[test]
fn the_rule_recorded_is_the_one_that_promises_least() {
    let text = "handler h0 \"ui\" ONE
handler h1 \"io\" OTHER
handler h2 \"nobody\" bag
task t0 \"io\" initial h1
task t1 \"m\" posted h0
task t2 \"n\" posted h1
task t3 \"never\" posted h2
t0 post t1
t0 post t2
t0 post t3
t1 get h0
t2 get h1
";
    let recorded = |one: &str, other: &str| {
        let trace = native(&text.replace("ONE", one).replace("OTHER", other));
        (MailboxRule::recorded(&trace), delayed(&trace).1.bag)
    };
    assert_eq!(recorded("fifo", "fifo"), (MailboxRule::Fifo, 0));
    assert_eq!(recorded("fifo", "delayed"), (MailboxRule::Delayed, 0));
    assert_eq!(recorded("bag", "delayed"), (MailboxRule::Bag, 1));
    assert_eq!(recorded("none", "bag"), (MailboxRule::Bag, 1));
}

#[test]
fn a_task_that_does_not_begin_with_its_get_runs_by_itself() {
    let trace = native(&format!("{TASKS}t1 post t3\nt3 read x0\nt3 get h0\n"));
    let (partial, kept) = delayed(&trace);
    assert_eq!(messages(&trace, &partial), ["io h0*: 1", "now h1*: 2 3"]);
    assert_eq!((given(&trace, &partial), kept.bursts), (Vec::new(), 1));
}

#[test]
fn an_android_log() {
    let trace = droidracer(
        "1 START
2 THREADINIT tid:1
3 ATTACH-Q tid:1 queue:7
4 LOOP tid:1 queue:7
5 NATIVE-ENTRY tid:2 thread-name:Binder Thread #1
6 POST src:2 msg:1 dest:1 delay:0
7 POST src:2 msg:2 dest:1 delay:50
8 NATIVE-EXIT tid:2 thread-name:Binder Thread #1
9 NATIVE-ENTRY tid:2 thread-name:Binder Thread #1
10 POST src:2 msg:3 dest:1 delay:-1
11 NATIVE-EXIT tid:2 thread-name:Binder Thread #1
12 CALL tid:1 msg:3
13 ADD_IDLE_HANDLER idler:5 queue:7
rwId:1 WRITE tid:1 obj:0x1 class:LA; field:1
14 RET tid:1 msg:3
15 CALL tid:1 msg:1
16 POST src:1 msg:4 dest:1 delay:0
rwId:2 READ tid:1 obj:0x1 class:LA; field:1
17 RET tid:1 msg:1
18 CALL tid:1 msg:4
19 QUEUE_IDLE tid:1 idler:5 queue:7
20 RET tid:1 msg:4
21 POST src:1 msg:5 dest:1 delay:0
22 CALL tid:1 msg:2
rwId:3 WRITE tid:1 obj:0x1 class:LA; field:1
23 RET tid:1 msg:2
24 THREADEXIT tid:1
",
    );
    let (partial, kept) = delayed(&trace);
    let names: Vec<String> = partial
        .messages
        .iter()
        .map(|message| {
            format!("{} {} {:?}", trace.task_name(message.task), message.initial, message.due)
        })
        .collect();
    assert_eq!(
        names,
        [
            "thread 1 true After(0)",
            "native 2#1 true After(0)",
            "native 2#2 true After(0)",
            "msg 3 false Front",
            "msg 1 false After(0)",
            "msg 4 false Idle",
            "thread 1 true After(0)",
            "msg 2 false After(50)",
            "thread 1 true After(0)",
        ]
    );
    assert_eq!(partial.handlers, 5);
    assert_eq!((kept.bursts, kept.pieces, kept.exits, kept.initial), (2, 1, 1, 1));
    assert_eq!((kept.idle, kept.front, kept.delayed, kept.never_begun), (1, 1, 1, 1));
    assert_eq!((kept.inputs, kept.attaches), (0, 1));
}

#[test]
fn what_gives_reads_and_writes_no_meaning_is_refused() {
    let tables = "meta order=ORDER
handler h0 \"a\"
task t0 \"a\" initial h0
task t1 \"b\" posted
location x0 \"x\"
location x1 \"y\"
EXTRA
t0 write x0
t0 write x0
t0 read x0 refers=0
EVENT
";
    let error = |order: &str, extra: &str, event: &str| {
        let text = tables.replace("ORDER", order).replace("EXTRA", extra).replace("EVENT", event);
        fifo(&native(&text)).map(|_| ()).unwrap_err()
    };
    let event = EventId(3);
    let location = LocationId(0);
    assert_eq!(error("observed", "", "t0 read x0 refers=2"), FromTraceError::NoWrite { event });
    assert_eq!(error("observed", "", "t0 rmw x0 refers=3"), FromTraceError::NoWrite { event });
    assert_eq!(error("observed", "", "t0 read x1 refers=0"), FromTraceError::NoWrite { event });
    assert_eq!(
        error("observed", "", "t0 read x0 refers=99999999999"),
        FromTraceError::NoWrite { event }
    );
    assert_eq!(
        error("partial", "coherence x0 0 1", "t0 read x0"),
        FromTraceError::NoSource { event }
    );
    assert_eq!(
        error("partial", "", "t0 read x1 refers=0"),
        FromTraceError::NoCoherence { location }
    );
    for order in ["0", "0 0", "0 1 0", "0 1 2", "0 9", "1 0\ncoherence x0 0 1", "0 1 1"] {
        let got = error("observed", &format!("coherence x0 {order}"), "t0 end");
        assert_eq!(got, FromTraceError::BadCoherence { location }, "{order}");
    }
    let task = TaskId(1);
    assert_eq!(error("observed", "", "t1 read x0"), FromTraceError::NoHandler { task });
    // A trace of another format that gives all orders is accepted.
    assert!(fifo(&edtrace("w A - w x\nr B - r x w")).is_ok());
}
