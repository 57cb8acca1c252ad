//! The native text format: traces survive a round trip, and every fault is reported with its place.

use anyorder_formats::native_text::{NativeTextReader, NativeTextWriter};
use anyorder_trace::{
    Block, Columns, EventKind, LabelScheme, LocationId, Mailbox, Names, Op, Problems, ReadError,
    SiteId, Tables, TaskId, Trace, TraceBuilder, TraceSink, TraceSource,
};
use common::Choices;
use proptest::prelude::*;
use std::collections::BTreeMap;

use crate::common;

fn written(trace: &Trace) -> String {
    let mut out = Vec::new();
    trace.write(&mut NativeTextWriter::new(&mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(text: &[u8]) -> Result<Trace, ReadError> {
    Trace::read(&mut NativeTextReader::new(text))
}

fn problems(text: &[u8]) -> Problems {
    match read(text) {
        Err(ReadError::Malformed { format: "native text", problems }) => problems,
        other => panic!("expected an error: {other:?}"),
    }
}

#[test]
fn failed_attempts_and_timeouts_have_words() {
    let text = "anyorder-trace 1\nhandler h0 \"T\"\ntask t0 \"T\" initial h0\nlock l0 \"m\"\n\
                condition c0 \"c\"\n\nt0 refused l0\nt0 refused.shared l0\nt0 wake.timeout c0\nt0 wake c0\n";
    let trace = Trace::read(&mut NativeTextReader::new(text.as_bytes())).expect("it is right");
    let timeouts: Vec<bool> = trace.events().map(|event| event.op.is_timeout()).collect();
    assert_eq!(timeouts, [false, false, true, false]);
    let mut out = Vec::new();
    trace.write(&mut NativeTextWriter::new(&mut out)).expect("memory does not fail");
    let again = Trace::read(&mut NativeTextReader::new(&out[..])).expect("it is right");
    assert_eq!(again, trace);
    let written = String::from_utf8(out).expect("it is UTF-8");
    for word in ["refused l0", "refused.shared l0", "wake.timeout c0", "wake c0"] {
        assert!(written.contains(&format!(" {word}")), "{word}: {written}");
    }
}

proptest! {
    #[test]
    fn traces_round_trip(trace in common::traces()) {
        let text = written(&trace);
        let back = read(text.as_bytes());
        prop_assert_eq!(back.map_err(|e| format!("{e:?}\n{text}")).unwrap(), trace);
        let control = |c: char| c.is_control() && c != '\n';
        prop_assert!(!text.contains(control), "no control character stands as it is");
    }

    #[test]
    fn growing_tables_and_changed_handlers_round_trip(numbers in common::choices(1500)) {
        let choices = &mut Choices::new(numbers);
        let mut out = Vec::new();
        let mut writer = NativeTextWriter::new(&mut out);
        let mut tables = common::tables(choices);
        let mut all = Columns::default();
        let mut labelled = None;
        for _ in 0..1 + choices.below(4) {
            let columns = common::columns(choices, &tables);
            if *labelled.get_or_insert(columns.numbers.is_empty()) == columns.numbers.is_empty() {
                writer.block(&tables, &Block { first: all.len() as u64, columns: columns.clone() }).unwrap();
                all.append(&columns);
            }
            common::grow(choices, &mut tables);
            let changed = choices.below(tables.handlers.len());
            tables.handlers[changed] = common::handler(choices, &tables);
        }
        writer.finish(&tables).unwrap();
        let back = read(&out).unwrap();
        prop_assert_eq!(back.tables(), &tables);
        prop_assert_eq!(back.columns(), &all);
    }

    #[test]
    fn damaged_texts_give_errors_or_sound_traces(numbers in common::choices(1500)) {
        let choices = &mut Choices::new(numbers);
        let mut text = written(&common::trace(choices)).into_bytes();
        common::damage(choices, &mut text);
        match read(&text) {
            Ok(trace) => common::assert_ids_are_in_tables(trace.tables(), trace.columns()),
            Err(ReadError::Malformed { problems, .. }) => {
                prop_assert!(problems.errors_total > 0);
                prop_assert!(problems.list.iter().all(|p| p.place.line.is_some()));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn any_bytes_are_survived(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        bytes.splice(0..0, b"anyorder-trace 1\n".iter().copied());
        let _ = read(&bytes);
    }
}

/// The random tests prove little about cases that their generator never makes.
#[test]
fn the_generator_reaches_every_word() {
    let mut seed = 1u64;
    let mut counts = BTreeMap::new();
    for _ in 0..400 {
        let numbers = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 20
        });
        let text = written(&common::trace(&mut Choices::new(numbers.take(1500).collect())));
        for line in text.lines() {
            for word in line.split([' ', '=', '.']) {
                *counts.entry(word.to_owned()).or_insert(0) += 1;
            }
        }
    }
    let kinds = EventKind::ALL.iter().map(|kind| kind.word());
    let words = "meta name handler task location lock condition input site stack invocation coherence \
                 labels order origin fifo bag delayed none untracked initial posted burst delay front field \
                 object static range generation plain ui focus lifecycle service broadcast idle state component \
                 instance argument function file line column -> value time refers relaxed acquire release acq_rel \
                 seq_cst shared try try_shared mode1 mode7 n3 position access-or-operation observed partial";
    for word in words.split_whitespace().chain(kinds) {
        assert!(
            counts.get(word).is_some_and(|count| *count >= 5),
            "{word}: {:?}",
            counts.get(word)
        );
    }
}

#[test]
fn a_trace_of_every_kind_reads_well() {
    let text = r##"anyorder-trace 1
meta labels=name order=partial origin="somewhere"
handler h0 "main" fifo
task t0 "main" initial h0
site s1 "start" function="main" file="a.c" line=3 column=7
t0 begin @s1 #"e1"
task t1 "click" posted h0 delay=20 front
t0 post t1 time=5 #"e2"
name n7 "unused"
name n8 "unused"
location x0 "x"
stack k0 s1 s0
t1 write.seq_cst x0 value=7 stack=k0 refers=initial #"e3"
location x1 field "C" "f" object=0x2a
location x2 static "C" "g"
location x3 range 0x10+8 generation=2
t1 free x3 #"e4"
lock l0 "m"
t1 acquire.try_shared l0 #"e5"
t1 choice 4 #"e5"
t1 other "pin" #"e5"
t1 end.mode6 operand=3 #-
input i0 ui "tap" state="s" component="c" instance=4 argument=5
invocation v0 "map" "put" 1 2 -> 3
coherence x0 2 18446744073709551615
"##;
    let trace = read(text.as_bytes()).unwrap();
    assert_eq!(trace.len(), 8);
    assert_eq!(written(&trace), text);
    assert_eq!(trace.tables().meta.labels, LabelScheme::Name);
}

#[test]
fn the_example_of_the_manual_is_read() {
    let manual = include_str!("../../../docs/formats/native-text.md");
    let mut examples = 0;
    for part in manual.split("```text\n").skip(1) {
        let example = part.split("```").next().unwrap();
        let trace = read(example.as_bytes()).unwrap();
        assert!(trace.len() > 3);
        assert_eq!(read(written(&trace).as_bytes()).unwrap(), trace);
        examples += 1;
    }
    assert!(examples >= 1);
}

#[test]
fn space_comments_and_line_ends_are_free() {
    let text = "anyorder-trace 1\r\n\r\n# note\r\n  handler\th0   \"a\"  \r\n\ttask t0 \"a\" initial h0\r\n \
                location x0 \"x\"\n  # note\nt0   read  x0\t value=0x1F \r\nt0 write x0";
    let trace = read(text.as_bytes()).unwrap();
    assert_eq!(trace.len(), 2);
    assert_eq!(trace.columns().values.get(0), Some(31));
    assert_eq!(trace.tables().handlers[0].mailbox, Mailbox::None);
}

/// Reads `body` after a small preamble of six lines, and returns the problems as text.
fn faults(body: &str) -> Vec<String> {
    let text = format!(
        "anyorder-trace 1\nhandler h0 \"a\"\ntask t0 \"a\" initial h0\nlocation x0 \"x\"\nlock l0 \"m\"\n\
         condition c0 \"c\"\n{body}"
    );
    let problems = problems(text.as_bytes());
    problems.list.iter().map(|problem| format!("{}: {}", problem.place, problem.message)).collect()
}

#[test]
fn every_error_names_its_place() {
    let cases = [
        ("t1 read x0", "line 7, column 1: `t1` is not defined yet"),
        ("t0 read x1", "line 7, column 9: `x1` is not defined yet"),
        ("t0 post t0\nt0 post t7", "line 8, column 9: `t7` is not defined yet"),
        ("t0 fork h1", "line 7, column 9: `h1` is not defined yet"),
        ("t0 acquire l1", "line 7, column 12: `l1` is not defined yet"),
        ("t0 wait c1", "line 7, column 9: `c1` is not defined yet"),
        ("t0 invoke v0", "line 7, column 11: `v0` is not defined yet"),
        ("t0 enable i0", "line 7, column 11: `i0` is not defined yet"),
        ("t0 other n9", "line 7, column 10: `n9` is not defined yet"),
        ("t0 read x0 @s1", "line 7, column 13: `s1` is not defined yet"),
        ("t0 read x0 stack=k0", "line 7, column 18: `k0` is not defined yet"),
        ("t0 read", "line 7, column 8: expected a location, such as `x0`"),
        ("t0 read l0", "line 7, column 9: expected a location, such as `x0`"),
        ("t0 read x0 x0", "line 7, column 12: expected a site such as `@s1`"),
        ("t0 read x", "line 7, column 9: expected a location"),
        ("t0 read x99999999999999999999", "line 7, column 9: expected an id of at most 4294967294"),
        ("t0 read x4294967295", "line 7, column 9: expected an id of at most 4294967294"),
        ("t0 raed x0", "line 7, column 4: expected the kind of an event: read, write"),
        ("t0", "line 7, column 3: expected the kind of an event"),
        ("t0 read.shared x0", "line 7, column 9: expected a mode"),
        ("t0 acquire.relaxed l0", "line 7, column 12: expected a mode"),
        ("t0 read x0 value=", "line 7, column 18: expected a number"),
        ("t0 read x0 value=0x", "line 7, column 20: expected hexadecimal digits"),
        (
            "t0 read x0 value=18446744073709551616",
            "line 7, column 18: expected a number of at most 64 bits",
        ),
        (
            "t0 read x0 value=0x10000000000000000",
            "line 7, column 18: expected a number of at most 64 bits",
        ),
        ("t0 read x0 value=1 value=2", "line 7, column 20: this stands here twice"),
        ("t0 read x0 value=1x", "line 7, column 19: expected a space"),
        ("t0 read x0 refers=it", "line 7, column 19: expected a number or `initial`"),
        ("t0 read x0 operand=1", "line 7, column 12: expected a site"),
        ("t0 choice 4294967296", "line 7, column 11: expected a number of at most 32 bits"),
        ("t0 read x0\nt0 read x0 #4", "line 8, column 14: expected no label"),
        ("t0 read x0 #4\nt0 read x0", "line 8, column 11: expected a label"),
        ("t0 read x0 #\"a\"", "line 7, column 13: expected a number"),
        ("lock l0 \"m\"", "line 7, column 6: `l0` is defined already"),
        ("lock l2 \"m\"", "line 7, column 6: expected `l1`: ids have no gaps"),
        ("lock l1", "line 7, column 8: expected a name"),
        ("lock l1 m", "line 7, column 9: expected a name"),
        ("lock l1 \"m", "line 7, column 11: expected `\"` at the end of the string"),
        ("lock l1 \"m\\x\"", "line 7, column 11: expected one of the escapes"),
        ("lock l1 \"\\u{d800}\"", "line 7, column 10: expected one of the escapes"),
        ("lock l1 \"\\u{41\"", "line 7, column 10: expected one of the escapes"),
        ("lock l1 \"m\"x", "line 7, column 12: expected a space"),
        ("lock l1 \"m\" x", "line 7, column 13: expected the end of the line"),
        ("lock\"l1\"", "line 7, column 5: expected a space"),
        (
            "lokc l1 \"m\"",
            "line 7, column 1: expected an event such as `t0 write x0`, or one of the words",
        ),
        ("\"x\"", "line 7, column 1: expected an event"),
        ("change h1 \"x\" fifo", "line 7, column 8: `h1` is not defined yet"),
        (
            "handler h1 \"x\" lifo",
            "line 7, column 16: expected one of `none`, `fifo`, `bag`, `delayed`",
        ),
        ("handler h1 \"x\" fifo trackless", "line 7, column 21: expected one of `untracked`"),
        ("task t1 \"x\" poster", "line 7, column 13: expected one of `initial`, `posted`, `burst`"),
        ("task t1 \"x\" posted h9", "line 7, column 20: `h9` is not defined yet"),
        ("task t1 \"x\" posted delay 3", "line 7, column 25: expected `=`"),
        ("task t1 \"x\" posted front front", "line 7, column 26: `front` stands here twice"),
        ("location x1 0x10+8", "line 7, column 13: expected a name, or one of"),
        ("location x1 range 0x10", "line 7, column 23: expected `+` and the size"),
        (
            "location x1 range 0x10+4294967296",
            "line 7, column 24: expected a number of at most 32 bits",
        ),
        ("input i0 mouse \"x\"", "line 7, column 10: expected one of `plain`, `ui`"),
        ("site s0", "line 7, column 6: `s0` is defined already"),
        ("stack k0 s4", "line 7, column 10: `s4` is not defined yet"),
        ("invocation v0 \"o\" \"m\" 1 ->", "line 7, column 27: expected a number"),
        ("invocation v0 \"o\" \"m\" -> 1 2", "line 7, column 28: expected the end of the line"),
        ("coherence x1 1", "line 7, column 11: `x1` is not defined yet"),
        ("name n0 \"\"", "line 7, column 6: `n0` is defined already"),
        ("more 1", "line 7, column 1: `more` must stand behind"),
        ("invocation v0 \"o\" \"m\" -> 1\nmore 2", "line 8, column 1: `more` must stand behind"),
        ("meta labels=colour", "line 7, column 13: expected one of `position`, `line`"),
        ("meta order=observed\nmeta order=partial", "line 8, column 1: `meta` may stand once"),
        ("t0 read x0\nmeta order=partial", "line 8, column 1: `meta` may stand once"),
    ];
    for (body, expected) in cases {
        let found = faults(body);
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(
            found[0].starts_with(expected),
            "{body}\n expected {expected}\n found    {}",
            found[0]
        );
    }
}

#[test]
fn all_errors_are_listed_and_one_bad_definition_is_one_error() {
    let found = faults(
        "lock l1 bad\nt0 acquire l1\nt0 raed x0\nlock l2 \"fine\"\nt0 read x9\nt0 acquire l2",
    );
    assert_eq!(found.len(), 3, "{found:?}");
    let places: Vec<_> = found.iter().map(|fault| &fault[..7]).collect();
    assert_eq!(places, ["line 7,", "line 9,", "line 11"]);
}

#[test]
fn the_first_line_must_say_format_and_version() {
    for text in
        ["", "\n", "anyorder-trace\n", "anyorder-trace 1x\n", "anyorder-trace  1\n", "T1|r(x)|1\n"]
    {
        let problems = problems(text.as_bytes());
        assert_eq!(problems.errors_total, 1, "{text:?}");
        assert_eq!(problems.list[0].place.line, Some(1));
        assert_eq!(problems.list[0].message, "expected `anyorder-trace 1` as the first line");
    }
    let newer = problems(b"anyorder-trace 2\nnonsense\n");
    assert_eq!(newer.errors_total, 1);
    assert!(newer.list[0].message.starts_with("expected version 1"));
}

#[test]
fn invalid_utf8_is_an_error_with_its_place() {
    let problems = problems(b"anyorder-trace 1\nlock l0 \"ab\xffcd\"\n");
    let place = problems.list[0].place;
    assert_eq!((place.line, place.column), (Some(2), Some(12)));
    assert_eq!(problems.list[0].message, "expected UTF-8");
}

#[test]
fn a_line_of_any_length_is_an_error_not_an_allocation() {
    let mut text = b"anyorder-trace 1\nlock l0 \"".to_vec();
    text.resize(text.len() + (8 << 20), b'x');
    text.extend_from_slice(b"\"\nlock l0 \"m\"\n");
    let problems = problems(&text);
    assert_eq!(problems.errors_total, 1, "{problems:?}");
    assert!(problems.list[0].message.starts_with("expected a line of at most"));
}

#[test]
fn long_names_and_lists_are_spread_over_lines() {
    let mut tables = Tables::default();
    let mut names = Names::default();
    let long = "\u{1}日".repeat(300_000);
    let id = names.push(&long).unwrap();
    let again = names.push(&long).unwrap();
    tables.names = names;
    tables.locks = vec![id, again];
    tables.meta.origin = long;
    tables.sites.push(anyorder_trace::Site { label: id, ..Default::default() });
    tables.stacks.push(vec![SiteId(1); 200_000]);
    let entry = anyorder_trace::Invocation {
        arguments: vec![u64::MAX; 100_000],
        result: Some(1),
        ..Default::default()
    };
    tables.invocations = vec![entry; 2];
    tables.locations.push(anyorder_trace::Location::Named(id));
    let writes = vec![u64::MAX; 100_000];
    tables.coherence.push(anyorder_trace::Coherence { location: LocationId(0), writes });
    let trace = Trace::new(tables, Columns::default());
    let text = written(&trace);
    assert!(text.lines().all(|line| line.len() <= 1 << 20));
    assert_eq!(read(text.as_bytes()).unwrap(), trace);
}

#[test]
fn blocks_and_labels_continue_across_block_ends() {
    let mut b = TraceBuilder::new();
    let main = b.handler("main", Mailbox::None).unwrap();
    for number in 0..3 * Block::EVENTS as u32 + 7 {
        b.write(b.initial(main), "x").unwrap();
        b.columns.values.push(number, u64::from(number));
    }
    let trace = b.finish();
    let text = written(&trace);
    assert_eq!(read(text.as_bytes()).unwrap(), trace);
    let mut reader = NativeTextReader::new(text.as_bytes());
    let mut block = Block::default();
    let mut firsts = Vec::new();
    while reader.next_block(&mut block).unwrap() {
        firsts.push(block.first);
    }
    assert_eq!(firsts, [0, 65536, 131072, 196608]);
    assert!(!reader.next_block(&mut block).unwrap(), "the end stays the end");
}

#[test]
fn ids_outside_their_tables_are_not_written() {
    type Corrupt = fn(&mut Tables, &mut Columns);
    let cases: [(&str, Corrupt); 6] = [
        ("`t7` is in no table: there are 1", |_, c| c.tasks[0] = TaskId(7)),
        ("`x7` is in no table: there are 1", |_, c| c.operands[0] = 7),
        ("`s7` is in no table: there are 1", |_, c| c.sites[0] = SiteId(7)),
        ("`n99` is in no table: there are 3", |t, _| {
            t.locations[0] = anyorder_trace::Location::Named(anyorder_trace::NameId(99))
        }),
        ("the first site is not the unknown one", |t, _| t.sites.clear()),
        ("only some events of a block have numbers", |_, c| {
            c.push(Op::from(EventKind::End), TaskId(0), 0, SiteId(0));
            c.numbers.push(1);
        }),
    ];
    for (expected, spoil) in cases {
        let mut b = TraceBuilder::new();
        let main = b.handler("main", Mailbox::None).unwrap();
        b.write(b.initial(main), "x").unwrap();
        let trace = b.finish();
        let (mut tables, mut columns) = (trace.tables().clone(), trace.columns().clone());
        spoil(&mut tables, &mut columns);
        let mut writer = NativeTextWriter::new(Vec::new());
        let error = writer.block(&tables, &Block { first: 0, columns }).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert_eq!(error.to_string(), expected);
    }
}
