//! The text of proofs: round trips and errors.

mod consistency_support;

use anyorder_certify::consistency::{
    ConsistencyProof, Fact, Link, MailboxRule, RefutationStep, Why, check_inconsistency,
    read_proof, write_proof,
};
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventId, TaskId, Trace};
use consistency_support::{EXAMPLE_6, PROOF_6, edtrace, native};

fn text_of(trace: &Trace, proof: &ConsistencyProof) -> String {
    let mut text = Vec::new();
    write_proof(proof, trace, &mut text).expect("memory");
    String::from_utf8(text).expect("UTF-8")
}

#[track_caller]
fn wrong(trace: &Trace, text: &str, expected: &str) {
    let error = read_proof(text.as_bytes(), trace).expect_err("malformed");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_proof_is_read_as_it_was_written() {
    let trace = edtrace(EXAMPLE_6);
    let proof = read_proof(PROOF_6.as_bytes(), &trace).expect("a proof");
    assert!(check_inconsistency(&trace, MailboxRule::Fifo, &proof).is_ok());
    assert_eq!(text_of(&trace, &proof), PROOF_6);
    let loose = PROOF_6.replace('\n', "\r\n\n # a note\n").replace(' ', "\t ");
    let again = read_proof(format!("# first\n{loose}").as_bytes(), &trace).expect("a proof");
    assert_eq!(again, proof);
}

#[test]
fn the_example_of_the_format_is_a_proof() {
    let trace = edtrace(EXAMPLE_6);
    let page = include_str!("../../../docs/formats/consistency-proof.md");
    let text = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let proof = read_proof(text.expect("an example").as_bytes(), &trace).expect("a proof");
    assert!(check_inconsistency(&trace, MailboxRule::Fifo, &proof).is_ok());
}

#[test]
fn every_proof_survives_the_text() {
    // Names that are equal, empty, or not words; labels by position.
    let trace = native(
        "handler h0 \"h\" fifo\ntask t0 \"h\" initial h0\ntask t1 \"m\" posted h0\n\
         task t2 \"m\" posted h0\ntask t3 \"\" posted h0\ntask t4 \"a b\" posted h0\n\
         task t5 \"@1\" posted h0\ntask t6 \"#\" posted h0\ntask t7 \"fine\" posted h0\n\
         t0 begin\nt1 get h0\nt2 get h0\nt3 get h0\n",
    );
    let mut random = Rng::new(7);
    for _ in 0..300 {
        let steps = (0..random.index(6)).map(|_| step(&mut random)).collect();
        let proof = ConsistencyProof { steps };
        let text = text_of(&trace, &proof);
        let again = read_proof(text.as_bytes(), &trace).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again, proof, "{text}");
    }
    let all = (0..8).map(|t| Fact::Runs { first: TaskId(t), second: TaskId(7) }).collect();
    let text = text_of(&trace, &ConsistencyProof { steps: vec![RefutationStep::Derived(all)] });
    let line = "derived runs h fine runs @1 fine runs @2 fine runs @3 fine runs @4 fine \
                runs @5 fine runs @6 fine runs fine fine\n";
    assert_eq!(text, format!("consistency-proof 1\n{line}"));
}

fn step(random: &mut Rng) -> RefutationStep {
    match random.index(4) {
        0 => {
            let links = 0..random.index(4);
            RefutationStep::Cycle(links.map(|_| link(random)).collect())
        }
        1 => RefutationStep::ReadsOpen { read: some_event(random), other: some_event(random) },
        2 => RefutationStep::Derived(facts(random)),
        _ => RefutationStep::Forget(facts(random)),
    }
}

fn facts(random: &mut Rng) -> Vec<Fact> {
    (0..random.index(4)).map(|_| fact(random)).collect()
}

fn some_event(random: &mut Rng) -> EventId {
    EventId(random.index(4) as u32)
}

fn fact(random: &mut Rng) -> Fact {
    if random.index(2) == 0 {
        let (first, second) = (random.index(8) as u32, random.index(8) as u32);
        Fact::Runs { first: TaskId(first), second: TaskId(second) }
    } else {
        Fact::Before { first: some_event(random), second: some_event(random) }
    }
}

fn link(random: &mut Rng) -> Link {
    let given = [
        Why::Program,
        Why::ReadsFrom,
        Why::Coherence,
        Why::FromReads,
        Why::PostedBy,
        Why::Fork,
        Why::Join,
    ];
    let why = match given.get(random.index(9)) {
        Some(&why) => why,
        None => Why::Decided(fact(random)),
    };
    Link { from: some_event(random), to: some_event(random), why }
}

#[test]
fn two_numberings_are_told_apart() {
    let trace = native(
        "meta labels=access-or-operation\nhandler h0 \"h\"\ntask t0 \"h\" initial h0\n\
         location x0 \"x\"\nt0 begin #1\nt0 write x0 #1\nt0 exit #2\n",
    );
    let link = |from, to| Link { from: EventId(from), to: EventId(to), why: Why::Program };
    let proof =
        ConsistencyProof { steps: vec![RefutationStep::Cycle(vec![link(0, 1), link(1, 2)])] };
    let text = text_of(&trace, &proof);
    assert_eq!(
        text,
        "consistency-proof 1\ncycle 2\n  op:1 rwId:1 program\n  rwId:1 op:2 program\n"
    );
    assert_eq!(read_proof(text.as_bytes(), &trace).expect("a proof"), proof);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let trace = edtrace(EXAMPLE_6);
    let head = "consistency-proof 1\n";
    let body = |lines: &str| format!("{head}{lines}");
    wrong(&trace, "", "line 1: expected `consistency-proof 1`, found the end");
    wrong(&trace, "\n\n", "line 3: expected `consistency-proof 1`, found the end");
    for other in ["consistency-proof 2", "consistency-proof 1 x", "cycle 1"] {
        let expected = format!("line 1: expected `consistency-proof 1`, found `{other}`");
        wrong(&trace, other, &expected);
    }
    let steps = "`cycle`, `reads`, `ended`, `derived` or `forget`";
    wrong(&trace, &body("\nhello\n"), &format!("line 3: expected {steps}, found `hello`"));
    wrong(&trace, &body("cycle -1"), "line 2: expected a number of links, found `-1`");
    wrong(&trace, &body("cycle"), "line 2: expected a number of links, found the end of the line");
    wrong(&trace, &body("cycle 0 1"), "line 2: expected the end of the line, found `1`");
    wrong(
        &trace,
        &body("cycle 18446744073709551615\ne1 e2 program"),
        "line 4: expected 18446744073709551614 more links, found the end",
    );
    wrong(
        &trace,
        &body("cycle 2\ne1 e2 program\nderived\n"),
        "line 4: expected an event of the trace, found `derived`",
    );
    wrong(
        &trace,
        &body("cycle 1\ne1 e9 program"),
        "line 3: expected an event of the trace, found `e9`",
    );
    wrong(
        &trace,
        &body("cycle 1\ne1 e2 after"),
        "line 3: expected a relation or a fact, found `after`",
    );
    wrong(
        &trace,
        &body("cycle 1\ne1 e2 runs a1"),
        "line 3: expected a message of the trace, found the end of the line",
    );
    wrong(
        &trace,
        &body("reads e6"),
        "line 2: expected an event of the trace, found the end of the line",
    );
    wrong(
        &trace,
        &body("derived runs a1 c1"),
        "line 2: expected a message of the trace, found `c1`",
    );
    wrong(&trace, &body("derived a1 b1"), "line 2: expected `runs` or `before`, found `a1`");
    for number in ["@8", "@", "@+1", "@-1", "@4294967295", "@99999999999999999999"] {
        let expected = format!("line 2: expected an event of the trace, found `{number}`");
        wrong(&trace, &body(&format!("forget before e1 {number}")), &expected);
    }
    wrong(&trace, &body("a\u{1b}"), &format!("line 2: expected {steps}, found `a\\u{{1b}}`"));
    let error = read_proof(&b"consistency-proof 1\n\xff"[..], &trace).expect_err("no UTF-8");
    assert_eq!(error.to_string(), "line 2: expected text in UTF-8");
}
