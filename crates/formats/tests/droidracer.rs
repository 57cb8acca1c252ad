//! The reader of DroidRacer's logs, operation by operation.

use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_trace::{
    Block, EventKind, HandlerId, InputFamily, LabelScheme, Mailbox, Position, Problems, ReadError,
    TaskKind, Trace, TraceSource,
};

fn read(text: &str) -> (Trace, Problems) {
    let mut source = DroidRacerReader::new(text.as_bytes());
    match Trace::read(&mut source) {
        Ok(trace) => (trace, source.problems().clone()),
        Err(error) => panic!("{error}: {:#?}", source.problems()),
    }
}

fn read_clean(text: &str) -> Trace {
    let (trace, problems) = read(text);
    assert!(problems.is_empty(), "{problems:#?}");
    trace
}

/// Reads a log and writes every event as `label kind task operand`.
fn shown(text: &str) -> Vec<String> {
    let (trace, _) = read(text);
    let tables = trace.tables();
    let operand = |event: anyorder_trace::Event| match event.kind() {
        EventKind::Post | EventKind::Cancel => {
            trace.task_name(anyorder_trace::TaskId(event.operand)).to_owned()
        }
        EventKind::Get
        | EventKind::Fork
        | EventKind::Join
        | EventKind::Attach
        | EventKind::Loop => trace.handler_name(HandlerId(event.operand)).to_owned(),
        EventKind::Acquire | EventKind::Release => {
            tables.name(tables.locks[event.operand as usize]).to_owned()
        }
        EventKind::Signal | EventKind::Wake => {
            tables.name(tables.conditions[event.operand as usize]).to_owned()
        }
        EventKind::Read | EventKind::Write => trace.location_text(event.location().unwrap()),
        EventKind::Enable | EventKind::Disable | EventKind::Trigger => {
            let input = tables.inputs[event.operand as usize];
            format!(
                "{} {:?} {:?} {:?} {} {}",
                input.family.word(),
                tables.name(input.name),
                tables.name(input.state),
                tables.name(input.component),
                input.instance,
                input.argument
            )
        }
        EventKind::Other => tables.name(anyorder_trace::NameId(event.operand)).to_owned(),
        _ => String::new(),
    };
    trace
        .events()
        .map(|event| {
            let text = format!(
                "{} {} {} {}",
                trace.label(event.id),
                event.kind().word(),
                trace.task_name(event.task),
                operand(event)
            );
            text.trim_end().to_owned()
        })
        .collect()
}

#[test]
fn threads_queues_and_messages() {
    let log = "\
Android bug-checker log messages

1 START
2 THREADINIT tid:1
3 ATTACH-Q tid:1\t queue:900
4 NATIVE-ENTRY tid:2thread-name:Binder Thread #1
5 POST src:2 msg:1 dest:-1 delay:0
6 NATIVE-EXIT tid:2thread-name:Binder Thread #1
7 LOOP tid:1\t queue:900
8 CALL tid:1\t msg:1
rwId:1 READ tid:1 obj:0x41 class:La/B; field:8
9 ACCESS tid:1\t accessId:1
10 FORK par-tid:1\t child-tid:5
11 RET tid:1\t msg:1
rwId:2 WRITE-STATIC tid:1 class:La/B; field:9
12 THREADINIT tid:5
13 LOCK tid:5\t lock-obj:0x99
14 UNLOCK tid:5\t lock-obj:0x99
15 NOTIFY tid:5 notifiedTid:1
16 POST src:5 msg:2 dest:1 delay:30
17 POST src:5 msg:3 dest:-1 delay:-1
18 REMOVE tid:5 msg:2
19 THREADEXIT tid:5
20 WAIT tid:1
21 JOIN par-tid:1 child-tid:5
22 FORK par-tid:1 child-tid:5
23 THREADINIT tid:5
24 NATIVE-ENTRY tid:2thread-name:Binder Thread #1
25 NATIVE-EXIT tid:2thread-name:Binder Thread #1
rwId:3 WRITE tid:1 database:/data/a b.db
";
    assert_eq!(
        shown(log),
        [
            "2 begin thread 1",
            "3 attach thread 1 thread 1",
            "4 begin native 2#1",
            "5 post native 2#1 msg 1",
            "6 exit native 2#1",
            "7 loop thread 1 thread 1",
            "8 get msg 1 thread 1",
            "1 read msg 1 La/B;.8@0x41",
            "10 fork msg 1 thread 5",
            "11 end msg 1",
            "2 write thread 1 La/B;.9",
            "12 begin thread 5",
            "13 acquire thread 5 0x99",
            "14 release thread 5 0x99",
            "15 signal thread 5 thread 1",
            "16 post thread 5 msg 2",
            "17 post thread 5 msg 3",
            "18 cancel thread 5 msg 2",
            "19 exit thread 5",
            "20 wake thread 1 thread 1",
            "21 join thread 1 thread 5",
            "22 fork thread 1 thread 5'2",
            "23 begin thread 5'2",
            "24 begin native 2#2",
            "25 exit native 2#2",
            "3 write thread 1 database:/data/a b.db",
        ]
    );
    let trace = read_clean(log);
    let tables = trace.tables();
    assert_eq!(tables.meta.labels, LabelScheme::AccessOrOperation);
    assert_eq!(tables.meta.origin, "droidracer");
    let handlers: Vec<_> = tables
        .handlers
        .iter()
        .map(|handler| (tables.name(handler.name), handler.mailbox, handler.untracked))
        .collect();
    assert_eq!(
        handlers,
        [
            ("thread 1", Mailbox::Delayed, false),
            ("thread 2 (Binder Thread #1)", Mailbox::None, true),
            ("thread 5", Mailbox::None, false),
            ("thread 5'2", Mailbox::None, false),
        ]
    );
    let posted: Vec<_> = tables
        .tasks
        .iter()
        .filter(|task| task.kind == TaskKind::Posted)
        .map(|task| (tables.name(task.name), task.handler, task.delay, task.position))
        .collect();
    assert_eq!(
        posted,
        [
            ("msg 1", HandlerId::NONE, 0, Position::Back),
            ("msg 2", HandlerId(0), 30, Position::Back),
            ("msg 3", HandlerId::NONE, 0, Position::Front),
        ]
    );
    let bursts = tables.tasks.iter().filter(|task| task.kind == TaskKind::Burst);
    assert!(bursts.clone().all(|task| task.handler == HandlerId(1)) && bursts.count() == 2);
}

#[test]
fn inputs_of_every_family() {
    let log = "\
1 THREADINIT tid:1
2 ATTACH-Q tid:1 queue:2147483649
3 ENABLE-EVENT tid:1 view:7 event:0
4 TRIGGER-EVENT tid:1 view:7 event:0
5 ENABLE-WINDOW-FOCUS tid:1 windowHash:8
6 TRIGGER-WINDOW-FOCUS tid:1 windowHash:8
7 ENABLE-LIFECYCLE tid:1 component: id:9 state:PAUSE-ACT
8 TRIGGER-LIFECYCLE tid:1 component:Main id:9 state:PAUSE-ACT
9 INSTANCE-INTENT tid:1 instance:11 intentId:2
10 ADD_IDLE_HANDLER idler:12 queue:-2147483647
11 QUEUE_IDLE tid:1 idler:12 queue:-2147483647
12 REMOVE_IDLE_HANDLER idler:12 queue:-2147483647
13 TRIGGER-SERVICE tid:1 component:S id:3 state:REQUEST_START_SERVICE
14 TRIGGER-SERVICE tid:1 component:S id:3 state:SERVICE-ARGS
15 TRIGGER-SERVICE tid:1 component:S id:4 state:REQUEST_BIND_SERVICE
16 TRIGGER-SERVICE tid:1 component:S id:4 state:SERVICE_CONNECT
17 TRIGGER-SERVICE tid:1 component:S id:4 state:REQUEST_UNBIND_SERVICE
18 TRIGGER-SERVICE tid:1 component:S id:0 state:STOP-SERVICE
19 TRIGGER-BROADCAST tid:1 action:a.B component:5 intent:0 onRecLater:-1 state:ABC_REGISTER_RECEIVER
20 TRIGGER-BROADCAST tid:1 action:a.B component:5 intent:6 onRecLater:-1 state:ABC_SEND_BROADCAST
21 TRIGGER-RECEIVER tid:1 action:a.B component:5 intent:6 onRecLater:-1 state:ABC_TRIGGER_ONRECIEVE_LATER
22 TRIGGER-RECEIVER tid:1 action:a.B component:5 intent:6 onRecLater:21 state:ABC_TRIGGER_ONRECEIVE
23 TRIGGER-BROADCAST tid:1 action:a.B component:5 intent:0 onRecLater:-1 state:ABC_UNREGISTER_RECEIVER
24 REGISTER-RECEIVER tid:1 component:La/R; action:a.B
";
    let expected = [
        "1 begin thread 1",
        "2 attach thread 1 thread 1",
        "3 enable thread 1 ui \"event 0\" \"\" \"\" 7 0",
        "4 trigger thread 1 ui \"event 0\" \"\" \"\" 7 0",
        "5 enable thread 1 focus \"\" \"\" \"\" 8 0",
        "6 trigger thread 1 focus \"\" \"\" \"\" 8 0",
        "7 enable thread 1 lifecycle \"\" \"PAUSE-ACT\" \"\" 9 0",
        // The same input as above, although one of the two omits the component.
        "8 trigger thread 1 lifecycle \"\" \"PAUSE-ACT\" \"\" 9 0",
        "9 enable thread 1 lifecycle \"\" \"INSTANCE\" \"\" 11 2",
        "10 enable thread 1 idle \"\" \"\" \"\" 12 2147483649",
        "11 trigger thread 1 idle \"\" \"\" \"\" 12 2147483649",
        "12 disable thread 1 idle \"\" \"\" \"\" 12 2147483649",
        "13 enable thread 1 service \"\" \"REQUEST_START_SERVICE\" \"S\" 0 3",
        "14 trigger thread 1 service \"\" \"SERVICE-ARGS\" \"S\" 0 3",
        "15 enable thread 1 service \"\" \"REQUEST_BIND_SERVICE\" \"S\" 4 0",
        "16 trigger thread 1 service \"\" \"SERVICE_CONNECT\" \"S\" 4 0",
        "17 disable thread 1 service \"\" \"REQUEST_UNBIND_SERVICE\" \"S\" 4 0",
        "18 trigger thread 1 service \"\" \"STOP-SERVICE\" \"S\" 0 0",
        "19 enable thread 1 broadcast \"a.B\" \"REGISTER_RECEIVER\" \"\" 5 0",
        "20 enable thread 1 broadcast \"a.B\" \"SEND_BROADCAST\" \"\" 5 6",
        "21 enable thread 1 broadcast \"a.B\" \"ONRECEIVE_LATER\" \"\" 5 6",
        "22 trigger thread 1 broadcast \"a.B\" \"ONRECEIVE\" \"\" 5 6",
        "23 disable thread 1 broadcast \"a.B\" \"UNREGISTER_RECEIVER\" \"\" 5 0",
    ];
    let shown = shown(log);
    assert_eq!(shown[..expected.len()], expected);
    assert!(
        shown[23]
            .starts_with("24 enable thread 1 broadcast \"a.B\" \"REGISTER_RECEIVER\" \"La/R;\"")
    );
    let trace = read_clean(log);
    let receive = trace.find("op:22").unwrap();
    let later = trace.find("op:21").unwrap();
    assert_eq!(trace.columns().refers.get(receive.0), Some(u64::from(later.0)));
    assert_eq!(trace.columns().refers.len(), 1);
    let families = trace.tables().inputs.iter().map(|input| input.family);
    assert!(families.clone().any(|family| family == InputFamily::Service));
}

#[test]
fn the_trace_ends_where_the_results_begin() {
    let log =
        "1 THREADINIT tid:1\n HB Graph \n\n HB Graph size : 12\n2 UNLOCK tid:1 lock-obj:0x1\n";
    assert_eq!(read_clean(log).len(), 1);
    let log = "1 THREADINIT tid:1\nRaces detected\nwhatever\n";
    assert_eq!(read_clean(log).len(), 1);
}

/// Returns `line:column message` of all problems, errors marked with `!`.
fn problems(text: &str) -> Vec<String> {
    let mut source = DroidRacerReader::new(text.as_bytes());
    let result = Trace::read(&mut source);
    let problems = match result {
        Ok(_) => source.problems().clone(),
        Err(ReadError::Malformed { format, problems }) => {
            assert_eq!(format, "droidracer");
            problems
        }
        Err(error) => panic!("{error}"),
    };
    problems
        .list
        .iter()
        .map(|problem| {
            assert!(problem.text.is_some(), "{problem:?}");
            let mark = if problem.severity == anyorder_trace::Severity::Error { "!" } else { "" };
            let column = problem.place.column.map_or(String::new(), |column| format!(":{column}"));
            format!("{mark}{}{column} {}", problem.place.line.unwrap(), problem.message)
        })
        .collect()
}

#[test]
fn every_wrong_line_is_listed_with_its_place() {
    let log = "\
1 THREADINIT tid:1
2 THREADINIT
3 POST src:1 msg:x dest:-1 delay:0
rwId:4 READ tid:1 obj:zz class:A field:1
rwId:y READ tid:1
rwId:5 READ tid:1 obj:0x1 class:A field:
6
lorem ipsum
99999999999 CALL tid:1 msg:1
7 CALL tid:1
8 ENABLE-LIFECYCLE tid:1 id:0 state:X
";
    assert_eq!(
        problems(log),
        [
            "!2:13 expected `tid:` with its value",
            "!3:18 expected a number from 0 to 4294967295 for `msg`, found `x`",
            "!4:23 expected an address or a number for `obj`, found `zz`",
            "!5:6 expected a number from 0 to 4294967294 in front of the operation",
            "!6:41 expected a number from 0 to 4294967295 for `field`, found ``",
            "!7:2 expected the name of an operation behind its number",
            "!8:1 expected an operation: `<number> OPERATION key:value ...`",
            "!9:1 expected a number from 0 to 4294967294 in front of the operation",
            "!10:13 expected `msg:` with its value",
            "!11:38 expected `component:` with its value",
        ]
    );
}

#[test]
fn odd_operations_are_warnings() {
    let log = "\
1 FROBNICATE tid:1 what:2
2 FROBNICATE
3 CALL tid:1 msg:9
4 RET tid:1 msg:9
5 RET tid:1 msg:8
6 POST src:1 msg:5 dest:-1 delay:0
7 POST src:1 msg:5 dest:-1 delay:-7
8 ADD_IDLE_HANDLER idler:1 queue:3
9 NATIVE-EXIT tid:4
10 NATIVE-ENTRY tid:4
11 NATIVE-ENTRY tid:4
12 REMOVE tid:1 msg:77
ABC: ABORT
";
    assert_eq!(
        problems(log),
        [
            "1 unknown operation `FROBNICATE` is kept, but has no meaning",
            "2 unknown operation `FROBNICATE` without a thread is left out",
            "3 message 9 was never posted",
            "5 message 8 returns, but thread 1 does not run it; the operation is left out",
            "7 message 5 is posted again before it was called",
            "8 no thread has attached queue 3; the operation is left out",
            "9 thread 4 exits without having entered",
            "11 thread 4 enters again before it exits",
            "12 message 77 was never posted; the operation is left out",
            "13 the recorder broke off or reports a failure of its own",
        ]
    );
    assert_eq!(
        shown(log),
        [
            "1 other thread 1 FROBNICATE",
            "3 get msg 9 thread 1",
            "4 end msg 9",
            "6 post thread 1 msg 5",
            "7 post thread 1 msg 5",
            "10 begin native 4#1",
            "11 begin native 4#2",
        ]
    );
}

#[test]
fn errors_behind_the_first_block_are_found_and_no_events_follow() {
    let mut log = String::from("1 THREADINIT tid:1\nnonsense\n");
    for number in 0..Block::EVENTS * 2 {
        log.push_str(&format!("rwId:{number} READ-STATIC tid:1 class:A field:1\n"));
    }
    log.push_str("nonsense too\n");
    let mut source = DroidRacerReader::new(log.as_bytes());
    let mut block = Block::default();
    let error = source.next_block(&mut block).unwrap_err();
    assert!(block.columns.is_empty());
    let ReadError::Malformed { problems, .. } = error else { panic!("{error}") };
    assert_eq!(problems.errors_total, 2);
}

#[test]
fn no_input_makes_the_reader_panic() {
    // Every prefix of a log, and every log with one byte replaced by one of another kind.
    let log = "1 THREADINIT tid:1\n2 NATIVE-ENTRY tid:2thread-name:B\nrwId:1 READ tid:1 obj:0x4 class:A field:8\n3 POST src:2 msg:1 dest:-1 delay:0\n";
    for end in 0..log.len() {
        let _ = Trace::read(&mut DroidRacerReader::new(&log.as_bytes()[..end]));
        for byte in [0, b'\n', b' ', b':', b'-', b'9', b'x', 0xff] {
            let mut bytes = log.as_bytes().to_vec();
            bytes[end] = byte;
            let _ = Trace::read(&mut DroidRacerReader::new(&bytes[..]));
        }
    }
}

#[test]
fn calls_that_overlap_or_come_again_are_tasks_of_their_own() {
    let log = "\
1 THREADINIT tid:1
2 POST src:1 msg:1 dest:-1 delay:0
3 POST src:1 msg:2 dest:-1 delay:0
4 CALL tid:1 msg:1
5 CALL tid:1 msg:2
6 RET tid:1 msg:2
rwId:1 READ-STATIC tid:1 class:A field:1
7 RET tid:1 msg:1
8 CALL tid:1 msg:2
9 RET tid:1 msg:2
10 RET tid:1 msg:2
";
    assert_eq!(
        problems(log),
        [
            "8 message 1 returns, but thread 1 does not run it; the operation is left out",
            "9 message 2 is called again, without another post",
            "11 message 2 returns, but thread 1 does not run it; the operation is left out",
        ]
    );
    let (trace, _) = read(log);
    assert_eq!(trace.task_name(trace.event(trace.find("rwId:1").unwrap()).task), "thread 1");
    assert_eq!(anyorder_trace::wellformed::check(&trace).errors_total, 0);
}
