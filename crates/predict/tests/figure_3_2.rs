//! The groups of Figure 3.2 of the thesis as traces: found where the two actions are unordered,
//! racy or under a lock, and not found where they are ordered. Also locks used after their
//! destruction, which the figure does not have.

use crate::common;

use anyorder_commute::Document;
use anyorder_predict::{
    Analysis, CandidateOptions, EdcAnalysis, Internals, Object, Report, Specified, Types,
    ViolationKind::{self, NonRacy, Racy},
    run,
};
use anyorder_trace::{Trace, TraceBlocks};
use common::script::script;

fn built_in() -> Types {
    Types::built_in().expect("the built-in types are right")
}

fn report(types: &Types, trace: &Trace) -> Report {
    let specified = Specified::new(types.clone(), Internals::Auto);
    common::analyse(trace, &mut EdcAnalysis::new(specified, CandidateOptions::default()))
}

fn found_with(types: &Types, text: &str) -> Vec<(ViolationKind, u64, u64)> {
    let report = report(types, &script(text));
    report.violations.iter().map(|v| (v.kind, v.first.event, v.second.event)).collect()
}

fn found(text: &str) -> Vec<(ViolationKind, u64, u64)> {
    found_with(&built_in(), text)
}

/// Two actions by T1 and T2, in all surroundings.
fn check(first: &str, second: &str) {
    let apart = format!("T1 {first}; T2 {second}");
    assert_eq!(found(&apart), [(Racy, 0, 1)], "{apart}");
    let locked = format!("T1 acq m; T1 {first}; T1 rel m; T2 acq m; T2 {second}; T2 rel m");
    assert_eq!(found(&locked), [(NonRacy, 1, 4)], "{locked}");
    let half = format!("T1 {first}; T1 acq m; T1 rel m; T2 acq m; T2 {second}; T2 rel m");
    assert_eq!(found(&half), [(Racy, 0, 4)], "{half}");
    let other = format!("T1 acq m; T1 {first}; T1 rel m; T2 acq n; T2 {second}; T2 rel n");
    assert_eq!(found(&other), [(Racy, 1, 4)], "{other}");

    for ordered in [
        format!("T1 {first}; T1 fork T2; T2 {second}"),
        format!("T1 {first}; T2 join T1; T2 {second}"),
        format!("T1 {first}; T1 barrier b; T2 barrier b; T2 {second}"),
        format!("T1 {first}; T1 {second}"),
        // Ordered by a value read under a lock.
        format!("T1 {first}; T1 acq m; T1 w y; T1 rel m; T2 acq m; T2 r y; T2 rel m; T2 {second}"),
        // Ordered by a value read under their common lock.
        format!("T1 acq m; T1 r y; T1 {first}; T1 rel m; T2 acq m; T2 {second}; T2 w y; T2 rel m"),
    ] {
        assert_eq!(found(&ordered), [], "{ordered}");
    }
}

/// Two actions that commute.
fn check_silent(first: &str, second: &str) {
    for text in [
        format!("T1 {first}; T2 {second}"),
        format!("T1 acq m; T1 {first}; T1 rel m; T2 acq m; T2 {second}; T2 rel m"),
    ] {
        assert_eq!(found(&text), [], "{text}");
    }
}

/// Both orders of two actions.
fn check_both(a: &str, b: &str) {
    check(a, b);
    check(b, a);
}

#[test]
fn group_1_use_and_free() {
    check("r x", "free x");
    check_both("w x", "free x");
    check("free x", "free x");
    assert_eq!(found("T1 free x; T2 r x"), [(Racy, 0, 1)]);
    // A read behind the free observes it: the bug has already happened, so there is no other order
    // to predict.
    assert_eq!(found("T1 acq m; T1 free x; T1 rel m; T2 acq m; T2 r x; T2 rel m"), []);
}

#[test]
fn group_2_channels() {
    check_both("channel:c.send(1)=1", "channel:c.close()=1");
    check_both("channel:c.send(1)=1", "channel:c.recv()=1");
    check("channel:c.send(1)=1", "channel:c.send(2)=1");
    check_both("channel:c.recv()", "channel:c.close()=1");
    check("channel:c.close()=1", "channel:c.close()=0");
    // A received value is received whether or not the channel is closed.
    check_silent("channel:c.recv()=7", "channel:c.close()=1");
    check_silent("channel:c.send(1)=0", "channel:c.send(2)=0");
    check_silent("channel:c.send(1)=1", "channel:d.close()=1");
}

#[test]
fn group_3_condition_variables() {
    check_both("wait c", "signal c");
    check_both("wait c", "broadcast c");
    check_silent("signal c", "signal c");
    check_silent("signal c", "broadcast c");
    check_silent("broadcast c", "broadcast c");
    check_silent("wait c", "wait c");
    check_silent("wait c", "signal d");
    // As invocations.
    check_both("condition:c.wait()", "condition:c.signal()");
    check_both("condition:c.wait()", "condition:c.broadcast()");
    check_silent("condition:c.signal()", "condition:c.broadcast()");
}

#[test]
fn group_4_contexts() {
    check_both("context:c.err()=1", "context:c.cancel()");
    check_both("context:c.done()=1", "context:c.cancel()");
    check_silent("context:c.err()=1", "context:c.err()=1");
    check_silent("context:c.cancel()", "context:c.cancel()");
}

#[test]
fn group_5_file_descriptors() {
    check_both("file:f.read()=1", "file:f.close()=1");
    check_both("file:f.write()=1", "file:f.close()=1");
    check("file:f.close()=1", "file:f.close()=0");
    check_silent("file:f.read()=1", "file:f.write()=1");
    check_silent("file:f.write()=1", "file:f.write()=1");
}

/// The figure prints that `Close` commutes with `Read` and `Write`.
#[test]
fn as_printed_a_use_after_close_is_not_found() {
    let printed = "spec file {
        read() ~ read(); read() ~ write(); write() ~ write();
        read() ~ close(); write() ~ close(); close() ~ close();
    }";
    let document = Document::parse(printed).expect("the text is right");
    let types = Types::with(&document).expect("the texts are right");
    for text in
        ["T1 file:f.read()=1; T2 file:f.close()=1", "T1 file:f.write()=1; T2 file:f.close()=1"]
    {
        assert_eq!(found_with(&types, text), []);
        assert_eq!(found(text), [(Racy, 0, 1)]);
    }
}

#[test]
fn locks_are_not_used_after_their_end() {
    for destroy in ["T2 destroy m", "T2 acq n; T2 destroy m; T2 rel n"] {
        let text = format!("T1 acq m; T1 rel m; {destroy}");
        assert_eq!(found(&text).len(), 1, "{text}");
        let text = format!("T1 acq m; T1 rel m; T2 join T1; {destroy}");
        assert_eq!(found(&text), [], "{text}");
        let text = format!("{destroy}; T1 acq m; T1 rel m");
        // The release is another use of a lock that is destroyed.
        assert_eq!(found(&text).len(), 2, "{text}");
    }
    // Under a common lock.
    let text = "T1 acq n; T1 acq m; T1 rel m; T1 rel n; T2 acq n; T2 destroy m; T2 rel n";
    assert_eq!(found(text), [(NonRacy, 1, 5)]);
    // Given back under a lock under which it was not taken.
    let text = "T1 acq m; T1 acq n; T1 rel m; T1 rel n; T2 acq n; T2 destroy m; T2 rel n";
    assert_eq!(found(text), [(NonRacy, 2, 5)]);
    // Twice.
    assert_eq!(found("T1 destroy m; T2 destroy m"), [(Racy, 0, 1)]);
    // A thread that waits for the acquire need not wait for the release.
    let script = "T1 acq m; T1 signal c; T1 rel m; T2 wait c; T2 wake c; T2 destroy m";
    let script =
        script.replace("T1 acq", "T2 wait c; T1 acq").replace("T2 wait c; T2 wake", "T2 wake");
    assert_eq!(found(&script).last(), Some(&(Racy, 3, 5)), "{:?}", found(&script));
    // If the task that destroyed it takes it again, it is another lock.
    assert_eq!(
        found("T1 acq m; T1 rel m; T1 destroy m; T1 acq m; T1 rel m; T2 acq m; T2 rel m"),
        []
    );
}

#[test]
fn memory_that_is_allocated_anew_holds_new_locks() {
    let text = |alloc: &str| {
        format!(
            "anyorder-trace 1
handler h0 \"T1\"
handler h1 \"T2\"
task t0 \"T1\" initial h0
task t1 \"T2\" initial h1
lock l0 \"0x1008\"
location x0 range 0x1000+64 generation=1
location x1 range 0x2000+64 generation=1
t0 acquire l0
t0 release l0
t0 destroy l0
{alloc}
t1 acquire l0
t1 release l0
"
        )
    };
    let count = |alloc: &str| {
        let text = text(alloc);
        let reader = anyorder_formats::native_text::NativeTextReader::new(text.as_bytes());
        let trace = Trace::read(&mut { reader }).expect("the text is right");
        report(&built_in(), &trace).violations.len()
    };
    assert_eq!(count("t1 alloc x0"), 0);
    assert_eq!(count("t1 alloc x1"), 2, "somewhere else");
    assert_eq!(count("# nothing"), 2);
}

/// A free right behind a write in one critical section is still remembered.
#[test]
fn a_free_is_distinguished_from_a_write() {
    let text = "T1 w x; T1 free x; T2 r x";
    let trace = script(text);
    let report = report(&built_in(), &trace);
    let pairs: Vec<_> = report.violations.iter().map(|v| (v.first.event, v.second.event)).collect();
    assert!(pairs.contains(&(1, 2)), "{pairs:?}");
    // A later write does not represent it either.
    assert!(found("T1 free x; T1 w x; T2 r x").contains(&(Racy, 0, 2)));
    // Nor does a write under a lock, for accesses under that lock.
    let locked = "T1 acq m; T1 free x; T1 w x; T1 rel m; T2 acq m; T2 w x; T2 rel m";
    assert!(found(locked).contains(&(NonRacy, 1, 5)), "{:?}", found(locked));
}

#[test]
fn findings_can_name_their_objects() {
    let trace = script(
        "T1 acq m; T1 wait c; T1 set:s.add(1)=1; T2 set:s.add(1)=0; T2 signal c; T2 destroy m",
    );
    let specified = Specified::for_trace(built_in(), Internals::Auto, &trace);
    let mut engine = EdcAnalysis::new(specified, CandidateOptions::default());
    run(&mut TraceBlocks::new(&trace), &mut [&mut engine], |_| {}).expect("the trace is right");
    let report = engine.finish();
    let mut names = Vec::new();
    for violation in &report.violations {
        let Object::Own(object) = violation.object else { panic!("no memory here") };
        let described = engine.specification().describe(trace.tables(), object).expect("it is one");
        names.push((described.type_name.to_owned(), described.name.to_owned()));
    }
    let expected = [("set", "set:s"), ("condition", "c"), ("lock", "m")];
    assert_eq!(names, expected.map(|(t, n)| (t.to_owned(), n.to_owned())));
}
