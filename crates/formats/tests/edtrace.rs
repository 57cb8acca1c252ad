//! The reader and the writer of `edtrace`.

use anyorder_formats::edtrace::{EdtraceOptions, EdtraceReader, EdtraceWriter};
use anyorder_trace::{
    Block, Columns, EventId, EventKind, LabelScheme, Mailbox, Problem, ReadError, TaskKind, Trace,
    TraceBuilder, TraceOrder, TraceSource,
};
use proptest::prelude::*;

fn read_with(text: &str, options: EdtraceOptions) -> Result<Trace, Vec<Problem>> {
    let mut source = EdtraceReader::with_options(text.as_bytes(), options);
    match Trace::read(&mut source) {
        Ok(trace) => {
            assert!(source.problems().is_empty());
            Ok(trace)
        }
        Err(ReadError::Malformed { format: "edtrace", problems }) => Err(problems.list),
        Err(error) => panic!("{error}"),
    }
}

fn read(text: &str) -> Trace {
    read_with(text, EdtraceOptions::default()).unwrap_or_else(|list| panic!("{list:#?}"))
}

/// Reads the lines after the header, and returns `line:column message` of all problems.
fn problems(lines: &str) -> Vec<String> {
    let text = format!("edtrace 1\n{lines}");
    let list = read_with(&text, EdtraceOptions::default()).err().unwrap_or_default();
    list.iter()
        .map(|problem| {
            let column = problem.place.column.map_or(String::new(), |column| format!(":{column}"));
            format!("{}{column} {}", problem.place.line.unwrap(), problem.message)
        })
        .collect()
}

fn write(trace: &Trace) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    trace.write(&mut EdtraceWriter::new(&mut bytes))?;
    Ok(String::from_utf8(bytes).unwrap())
}

const GOOD: &str = "\
edtrace 1
p1 ui - post m1
p2 ui - post m2
g1 ui m1 get
w1 ui m1 w x
g2 ui m2 get
r1 ui m2 r x w1
r2 io - r y init
w2 io - w x
co x w2 w1
";

#[test]
fn a_trace_and_its_tables() {
    let trace = read(GOOD);
    let tables = trace.tables();
    assert_eq!(tables.meta.labels, LabelScheme::Name);
    assert_eq!(tables.meta.order, TraceOrder::Partial);
    assert_eq!(tables.meta.origin, "edtrace");
    let labels: Vec<String> = trace.events().map(|event| trace.label(event.id)).collect();
    assert_eq!(labels, ["p1", "p2", "g1", "w1", "g2", "r1", "r2", "w2"]);
    let handlers: Vec<_> =
        tables.handlers.iter().map(|h| (tables.name(h.name), h.mailbox)).collect();
    assert_eq!(handlers, [("ui", Mailbox::Fifo), ("io", Mailbox::None)]);
    assert_eq!(trace.columns().refers.get(5), Some(3));
    assert_eq!(trace.columns().refers.get(6), Some(Columns::INITIAL));
    assert_eq!(tables.coherence.len(), 1);
    assert_eq!(tables.coherence[0].writes, [7, 3]);
    let m1 = trace.event(EventId(3)).task;
    assert_eq!(trace.task_name(m1), "m1");
    assert_eq!(tables.tasks[m1.index()].kind, TaskKind::Posted);
    assert_eq!(trace.span(m1).post, EventId(0));
    assert_eq!(trace.span(m1).get, EventId(2));
    let initial = trace.event(EventId(0)).task;
    assert_eq!(tables.tasks[initial.index()].kind, TaskKind::Initial);
    assert_eq!(trace.event(EventId(1)).task, initial);
}

#[test]
fn comments_blanks_and_crlf_are_ignored() {
    let odd = GOOD.replace('\n', "   # é\r\n\r\n").replace(' ', "\t ");
    let odd = format!("# first\n\n{odd}");
    assert_eq!(read(&odd), read(GOOD));
    assert_eq!(read(GOOD.trim_end()), read(GOOD));
}

#[test]
fn an_empty_trace_is_good() {
    assert!(read("edtrace 1").is_empty());
    assert!(read("edtrace 1\n\n# nothing\n").is_empty());
}

#[test]
fn the_header_must_be_there() {
    for (text, line) in
        [("", 1), ("\n\n# x\n", 1), ("a h - w x\n", 1), ("\nedtrace\n", 2), ("edtrace 1 1\n", 1)]
    {
        let list = read_with(text, EdtraceOptions::default()).unwrap_err();
        assert_eq!(list.len(), 1, "{text:?}");
        assert_eq!(list[0].place.line, Some(line), "{text:?}");
        assert!(list[0].message.contains("`edtrace 1`"), "{:?}", list[0]);
    }
    let list = read_with("edtrace 2\nfoo\n", EdtraceOptions::default()).unwrap_err();
    assert!(list[0].message.contains("version `2`"));
}

#[test]
fn wrong_words() {
    assert_eq!(
        problems("a h - x y\nb h\nc h - w x y\nd h - r x\ninit h - w x\ne h - post -\nco\n"),
        [
            "2:7 unknown operation `x`, expected one of `r`, `w`, `post`, `get`",
            "3:4 expected a message, or `-`, found the end of the line",
            "4:11 expected the end of the line, found `y`",
            "5:10 expected the write that is read, or `init`, found the end of the line",
            "6:1 no event may be called `init`",
            "7:12 the initial message `-` cannot be posted",
            "8:3 expected a variable, found the end of the line",
        ]
    );
    let bytes = b"edtrace 1\na h - w \xff\n";
    let error = Trace::read(&mut EdtraceReader::new(&bytes[..])).unwrap_err();
    let ReadError::Malformed { problems, .. } = error else { panic!("{error}") };
    assert_eq!(problems.list[0].place.column, Some(9));
}

#[test]
fn wrong_reads() {
    assert_eq!(
        problems(
            "a h - r x nobody\nw h - w y\nb h - r x w\nc h - r x a\nd h - r y later\nlater i - w y\nco y w later\n"
        ),
        [
            "2:11 there is no event `nobody` to read from",
            "4:11 event `w` writes another variable than the one that is read",
            "5:11 event `a` is no write, so nothing can be read from it",
        ]
    );
}

#[test]
fn wrong_messages() {
    assert_eq!(problems("a h m get\n"), ["2 message `m` is begun but never posted"]);
    assert_eq!(problems("a h - post m\n"), ["2 message `m` is posted but never begun"]);
    assert_eq!(problems("p h - post m\na h m w x\n"), ["3 message `m` has no `get`"]);
    assert_eq!(problems("a h m w x\n"), ["2 message `m` has neither a `post` nor a `get`"]);
    assert_eq!(
        problems("p h - post m\na h m get\nb h m get\n"),
        ["4:5 message `m` has a `get` already, in line 3"]
    );
    assert_eq!(
        problems("p h - post m\na h m w x\nb h m get\n"),
        ["4:5 `get` must be the first event of message `m`"]
    );
    assert_eq!(
        problems("p h - post m\na h m get\nb i m w x\n"),
        ["4:5 message `m` is on another handler than in line 3"]
    );
    assert_eq!(
        problems("p h - post m\na h m get\nq h - post m\n"),
        ["4:1 message `m` is posted again, after line 2"]
    );
    assert_eq!(problems("a h - get\n"), ["2:5 an initial message has no `get`"]);
    assert_eq!(problems("a h - w x\na h - w y\n"), ["3:1 there is an event `a` already"]);
}

#[test]
fn inconsistent_but_valid_traces_are_read() {
    // A read of a later write of its own message, and a message that posts itself.
    assert_eq!(problems("a h - r x b\nb h - w x\n"), [""; 0]);
    assert_eq!(problems("g h m get\np h m post m\n"), [""; 0]);
}

#[test]
fn wrong_coherence() {
    let two = "a h - w x\nb i - w x\nc h - w y\n";
    assert_eq!(problems(&format!("{two}co x a b\n")), [""; 0]);
    assert_eq!(problems(&format!("co y c\nco x b a\n{two}")), [""; 0]);
    assert_eq!(problems(two), ["3 variable `x` has 2 writes and no `co` line that orders them"]);
    assert_eq!(
        problems(&format!("{two}co x a\n")),
        ["5 expected all 2 writes of variable `x`, found 1 of them; `b` is missing"]
    );
    assert_eq!(problems(&format!("{two}co x a b a\n")), ["5:10 write `a` is named twice"]);
    assert_eq!(problems(&format!("{two}co x a b c\n")), ["5:10 `c` is no write of variable `x`"]);
    assert_eq!(
        problems(&format!("{two}co x a b\nco x b a\n")),
        ["6:4 variable `x` has a `co` line already, line 5"]
    );
    assert_eq!(
        problems(&format!("{two}co x a b\nco y\n")),
        ["6:5 expected the writes of the variable"]
    );
    assert_eq!(
        problems(&format!("{two}co x a b\nco z a\n")),
        ["6:6 `a` is no write of variable `z`"]
    );
}

#[test]
fn coherence_may_be_left_to_infer() {
    let text = "edtrace 1\na h - w x\nb i - w x\n";
    let infer = EdtraceOptions { infer_coherence: true };
    let trace = read_with(text, infer).unwrap();
    assert!(trace.tables().coherence.is_empty());
    // Existing lines must still be valid.
    assert!(read_with(&format!("{text}co x a\n"), infer).is_err());
}

#[test]
fn problems_come_in_the_order_of_the_lines() {
    let list = problems("a h m get\nb h - r x nobody\nc h - nonsense\n");
    let lines: Vec<&str> = list.iter().map(|text| &text[..1]).collect();
    assert_eq!(lines, ["2", "3", "4"]);
}

#[test]
fn an_observed_trace_is_written_with_its_observations() {
    let mut b = TraceBuilder::new();
    let ui = b.handler("ui thread", Mailbox::Fifo).unwrap();
    let io = b.handler("io", Mailbox::None).unwrap();
    let lost = b.task("lost", ui).unwrap();
    let load = b.task("load", ui).unwrap();
    let twin = b.task("load", ui).unwrap();
    b.read(b.initial(io), "x").unwrap();
    b.write(b.initial(io), "x").unwrap();
    b.post(b.initial(io), lost).unwrap();
    b.post(b.initial(io), load).unwrap();
    b.post(b.initial(io), twin).unwrap();
    b.get(load).unwrap();
    b.read(load, "x").unwrap();
    b.write(load, "x").unwrap();
    b.end(load).unwrap();
    b.get(twin).unwrap();
    b.end(twin).unwrap();
    let text = write(&b.finish()).unwrap();
    assert_eq!(
        text,
        "edtrace 1\n\
         e1 io - r x init\n\
         e2 io - w x\n\
         e4 io - post load\n\
         e5 io - post load~2\n\
         e6 ui_thread load get\n\
         e7 ui_thread load r x e2\n\
         e8 ui_thread load w x\n\
         e10 ui_thread load~2 get\n\
         co x e2 e8\n"
    );
    assert_eq!(read(&text).len(), 8);
}

#[test]
fn unsupported_events_are_refused() {
    let mut b = TraceBuilder::new();
    let main = b.handler("main", Mailbox::None).unwrap();
    b.acquire(b.initial(main), "l", anyorder_trace::Mode::EXCLUSIVE).unwrap();
    let error = write(&b.finish()).unwrap_err();
    assert!(error.to_string().contains("no `acquire` (event 1)"), "{error}");
}

/// Random valid traces as text: handlers with initial and posted messages that post, read and
/// write.
fn good_text() -> impl Strategy<Value = String> {
    let step = (0..6usize, 0..4u8, 0..3usize, any::<prop::sample::Index>());
    (prop::collection::vec(step, 0..60), any::<bool>()).prop_map(|(steps, reverse)| {
        let mut lines = Vec::new();
        let mut writes: Vec<Vec<String>> = vec![Vec::new(); 3];
        // (handler, message) of everything that can have events; the first two are initial.
        let mut acting = vec![("h0".to_owned(), "-".to_owned()), ("h1".to_owned(), "-".to_owned())];
        let mut reads = Vec::new();
        for (number, (who, what, variable, pick)) in steps.into_iter().enumerate() {
            let (handler, message) = acting[who % acting.len()].clone();
            match what {
                0 => {
                    let posted = format!("m{number}");
                    lines.push(format!("p{number} {handler} {message} post {posted}"));
                    let on = format!("h{}", number % 2);
                    lines.push(format!("g{number} {on} {posted} get"));
                    acting.push((on, posted));
                }
                1 => {
                    writes[variable].push(format!("w{number}"));
                    lines.push(format!("w{number} {handler} {message} w x{variable}"));
                }
                _ => {
                    reads.push((lines.len(), variable, pick));
                    lines.push(format!("r{number} {handler} {message} r x{variable} "));
                }
            }
        }
        for (line, variable, pick) in reads {
            let choice = pick.index(writes[variable].len() + 1);
            let from = writes[variable].get(choice).map_or("init", String::as_str);
            lines[line].push_str(from);
        }
        for (variable, list) in writes.iter_mut().enumerate() {
            if reverse {
                list.reverse();
            }
            if list.len() >= 2 {
                lines.push(format!("co x{variable} {}", list.join(" ")));
            }
        }
        format!("edtrace 1\n{}\n", lines.join("\n"))
    })
}

proptest! {
    #[test]
    fn text_round_trips(text in good_text()) {
        let trace = read(&text);
        let again = write(&trace).unwrap();
        prop_assert_eq!(text.trim_end(), again.trim_end());
        prop_assert_eq!(read(&again), trace);
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        bytes in prop::collection::vec(prop::sample::select(
            b"abm- \n\n\trwxco#postgetinit1".to_vec()), 0..200),
    ) {
        let mut text = b"edtrace 1\n".to_vec();
        text.extend(bytes);
        let _ = Trace::read(&mut EdtraceReader::new(&text[..]));
    }
}

#[test]
fn the_generator_reaches_every_operation() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let words = [" get", " post ", " w ", " r ", " init", "\nco "];
    let mut counts = [0usize; 6];
    let (mut from_later, mut samples) = (0, 0);
    while samples < 200 {
        let text = good_text().new_tree(&mut runner).unwrap().current();
        for (count, word) in counts.iter_mut().zip(words) {
            *count += text.matches(word).count();
        }
        let trace = read(&text);
        from_later += trace
            .columns()
            .refers
            .iter()
            .filter(|(row, from)| *from != Columns::INITIAL && *from > u64::from(*row))
            .count();
        samples += 1;
    }
    eprintln!("of {samples} traces: {words:?} {counts:?}, reads of later writes {from_later}");
    assert!(counts.iter().all(|count| *count >= 100) && from_later >= 100);
}

#[test]
fn long_traces_come_in_blocks() {
    let mut text = String::from("edtrace 1\n");
    let count = Block::EVENTS + 10;
    for number in 0..count {
        text.push_str(&format!("r{number} h - r x init\n"));
    }
    let mut source = EdtraceReader::new(text.as_bytes());
    let mut block = Block::default();
    assert!(source.next_block(&mut block).unwrap());
    assert_eq!(block.columns.len(), Block::EVENTS);
    assert!(source.next_block(&mut block).unwrap());
    assert_eq!((block.first, block.columns.len()), (Block::EVENTS as u64, 10));
    assert_eq!(block.columns.refers.len(), 10);
    assert!(!source.next_block(&mut block).unwrap());
    let trace = read(&text);
    assert_eq!(trace.event(EventId(count as u32 - 1)).kind(), EventKind::Read);
}

#[test]
fn the_example_of_the_manual_is_right() {
    let manual = include_str!("../../../docs/formats/edtrace.md");
    let (_, rest) = manual.split_once("```text\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let trace = read(example);
    assert_eq!(trace.len(), 7);
    assert_eq!(trace.tables().coherence.len(), 1);
}
