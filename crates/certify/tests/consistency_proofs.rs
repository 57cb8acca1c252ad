//! Proofs of inconsistency: each kind of link and step, right and wrong, and mutants of valid
//! proofs.

mod consistency_support;

use anyorder_certify::consistency::{
    ConsistencyProof, Fact, Link, MailboxRule, ProofError, ProofReason, ProofStats, RefutationStep,
    Why, check_inconsistency,
};
use anyorder_trace::{EventId, TaskId, Trace};
use consistency_support::{EXAMPLE_6, PROOF_6, edtrace, event, native, proof, runs};

use MailboxRule::{Bag, Delayed, Fifo};

/// The error of a single link: `None` when it holds. As the cycle does not close, the proof never
/// holds as a whole.
fn fault(trace: &Trace, rule: MailboxRule, link: &str) -> Option<&'static str> {
    let proof = proof(trace, &format!("cycle 1\n{link}\n"));
    match check_inconsistency(trace, rule, &proof).expect_err("no cycle").reason {
        ProofReason::NotChained { .. } => None,
        ProofReason::Link { number: 0, fault, .. } => Some(fault),
        other => panic!("{other}"),
    }
}

#[track_caller]
fn holds(trace: &Trace, link: &str) {
    assert_eq!(fault(trace, Fifo, link), None, "{link}");
}

#[track_caller]
fn fails(trace: &Trace, link: &str, expected: &str) {
    assert_eq!(fault(trace, Fifo, link), Some(expected), "{link}");
}

const ALL: &str = "\
i h - w x
j h - post m
k h - post n
g h m get
a h m w x
b h m r x a
c h n get
d h n w x
r A - r x i
s A - r x init
u A - w y
v B - w z
w C - w z
t A - r z v
co x i a d
";

#[test]
fn links_of_program_order() {
    let trace = edtrace(ALL);
    for link in ["i k", "g b", "r u", "i c", "k g", "k d"] {
        holds(&trace, &format!("{link} program"));
    }
    fails(&trace, "b a program", "not earlier in the task");
    fails(&trace, "a c program", "not of one task, nor an initial and a posted one");
    fails(&trace, "a i program", "not of one task, nor an initial and a posted one");
    fails(&trace, "r g program", "tasks of different handlers");
}

#[test]
fn links_of_memory() {
    let trace = edtrace(ALL);
    holds(&trace, "a b reads-from");
    fails(&trace, "i b reads-from", "the second does not read from it");
    fails(&trace, "b a reads-from", "the second does not read from it");
    for link in ["i a", "i d", "a d"] {
        holds(&trace, &format!("{link} coherence"));
    }
    fails(&trace, "d a coherence", "not in coherence order");
    fails(&trace, "v w coherence", "coherence is open");
    fails(&trace, "i u coherence", "different locations");
    fails(&trace, "i b coherence", "not two writes");
    for link in ["b d", "r a", "r d", "s i", "s d"] {
        holds(&trace, &format!("{link} from-reads"));
    }
    fails(&trace, "b i from-reads", "not in coherence order");
    fails(&trace, "b a from-reads", "not in coherence order");
    fails(&trace, "t w from-reads", "coherence is open");
    fails(&trace, "b u from-reads", "different locations");
    fails(&trace, "a d from-reads", "not a read and a write");
}

#[test]
fn links_of_posts_and_decisions() {
    let trace = edtrace(ALL);
    holds(&trace, "j g posted-by");
    fails(&trace, "k g posted-by", "the first does not post the second's task");
    fails(&trace, "j a posted-by", "the second is no `get`");
    fails(&trace, "j u posted-by", "the second is not of a posted task");
    for link in ["g c runs m n", "b d runs m n", "j k runs m n", "k j runs n m"] {
        holds(&trace, link);
    }
    let neither = "neither events of the two messages nor their posts";
    fails(&trace, "c g runs m n", neither);
    fails(&trace, "k j runs m n", neither);
    fails(&trace, "j c runs m n", neither);
    fails(&trace, "b b runs m m", "a message and itself");
    fails(&trace, "v w runs B C", "not two messages of one handler");
    holds(&trace, "v w before v w");
    fails(&trace, "w v before v w", "not the events of the fact");
    fails(&trace, "v v before v v", "an event and itself");
    // Unless the mailbox keeps an order, the order of messages does not order their posts.
    let kept = "the mailbox does not keep their order, so the posts may come in any";
    assert_eq!(fault(&trace, Bag, "j k runs m n"), Some(kept));
    assert_eq!(fault(&trace, Bag, "g c runs m n"), None);
    assert_eq!(fault(&trace, Delayed, "j k runs m n"), None);
}

#[test]
fn posts_are_ordered_as_far_as_the_mailbox_keeps_order() {
    let lines = "handler h0 \"h\" delayed\nhandler h1 \"p\"\ntask t0 \"p\" initial h1\n\
                 input i0 idle \"\"\n\
                 task t1 \"slow\" posted h0 delay=9\ntask t2 \"plain\" posted h0\n\
                 task t3 \"front\" posted h0 front\ntask t4 \"idle\" posted h0\n\
                 t0 post t1\nt0 post t2\nt0 post t3\nt0 post t4\n\
                 t1 get h0\nt2 get h0\nt3 get h0\nt4 get h0\nt4 trigger i0\n";
    let trace = native(lines);
    let names = ["slow", "plain", "front", "idle"];
    let mut kept = Vec::new();
    for (first, a) in names.iter().enumerate() {
        for (second, b) in names.iter().enumerate().filter(|&(second, _)| second != first) {
            let link = format!("{} {} runs {a} {b}", first + 1, second + 1);
            if fault(&trace, Delayed, &link).is_none() {
                kept.push(format!("{a} {b}"));
            }
            assert_eq!(fault(&trace, Fifo, &link), None);
        }
    }
    // If the first ran first, it was posted first: otherwise the second, posted first, would run
    // first.
    assert_eq!(kept, ["slow plain", "slow front", "plain front"]);
}

#[test]
fn links_of_forks_and_joins() {
    let lines = "handler h0 \"a\"\nhandler h1 \"b\"\nhandler h2 \"n\" none untracked\n\
                 task t0 \"a\" initial h0\ntask t1 \"b\" initial h1\ntask t2 \"m\" posted h1\n\
                 task t3 \"z\" burst h2\nlocation x0 \"x\"\n\
                 t0 fork h1\nt1 begin\nt1 write x0\nt1 exit\nt2 get h1\nt0 join h1\n\
                 t0 fork h1\nt3 begin\nt3 write x0\nt0 fork h2\nt0 join h2\n";
    let trace = native(lines);
    for link in ["1 2 fork", "1 3 fork", "1 5 fork", "2 6 join", "3 6 join", "5 6 join"] {
        holds(&trace, link);
    }
    fails(&trace, "7 3 fork", "stands before the fork");
    fails(&trace, "7 2 fork", "stands before the fork");
    fails(&trace, "1 9 fork", "not of the handler that is forked");
    fails(&trace, "10 9 fork", "stands before the fork");
    fails(&trace, "2 3 fork", "the first is no fork of another handler");
    fails(&trace, "9 6 join", "not of the handler that is joined");
    holds(&trace, "9 11 join");
    fails(&trace, "1 6 join", "not of the handler that is joined");
    fails(&trace, "3 5 join", "the second is no join of another handler");
    let own = native(&format!("{lines}t0 fork h0\nt0 write x0\nt0 join h0\n"));
    fails(&own, "12 13 fork", "the first is no fork of another handler");
    fails(&own, "13 14 join", "the second is no join of another handler");
    // In a trace that was not observed, forks and joins have no position.
    let partial = native(&format!("meta order=partial\n{lines}"));
    holds(&partial, "7 3 fork");
    let late = native(&format!("{lines}t1 write x0\n"));
    fails(&late, "12 6 join", "stands behind the join");
    holds(&late, "4 6 join");
    holds(&late, "3 6 join");
}

#[test]
fn links_of_what_has_ended() {
    let lines = "handler h0 \"a\" fifo\nhandler h1 \"b\"\ntask t0 \"a\" initial h0\n\
                 task t1 \"b\" initial h1\ntask t2 \"m\" posted h0\ntask t3 \"n\" posted h0\n\
                 input i0 plain \"i\"\ninput i1 plain \"j\"\n\
                 t1 post t2\nt1 post t3\nt1 enable i0\nt1 disable i1\n\
                 t2 get h0\nt2 trigger i0\nt2 end\n\
                 t1 cancel t2\nt1 cancel t3\nt1 disable i0\nt0 disable i0\nt0 exit\n";
    let trace = native(lines);
    for link in ["1 8 cancel", "2 9 cancel", "3 6 enable", "5 8 ended", "6 10 ended", "5 10 ended"]
    {
        holds(&trace, link);
    }
    for link in ["5 12 ended", "7 12 ended", "11 12 ended"] {
        holds(&trace, link);
    }
    fails(&trace, "2 8 cancel", "the first does not post what the second cancels");
    fails(&trace, "1 5 cancel", "the first does not post what the second cancels");
    fails(&trace, "4 6 enable", "the first does not enable the second");
    fails(&trace, "3 5 enable", "the first does not enable the second");
    let other = "the second does not end what the first begins";
    fails(&trace, "5 9 ended", other);
    fails(&trace, "6 4 ended", other);
    fails(&trace, "7 8 ended", other);
    fails(&trace, "5 6 ended", "the second ends nothing");
    fails(&trace, "12 12 ended", "an event and itself");
    // Nothing says that the other thread disables the input behind the enable.
    fails(&trace, "6 11 ended", "the end may come before what opened it");
    // What the trace itself has in between binds nothing.
    let between = native(
        "handler h0 \"a\"\ntask t0 \"a\" initial h0\ntask t1 \"m\" posted h0\n\
         meta order=observed origin=\"droidracer\"\nt0 post t1\nt0 cancel t1\nt1 get h0\n",
    );
    fails(&between, "3 2 ended", "the trace has the end in between");
    holds(&between, "1 2 cancel");
}

#[test]
fn an_end_is_before_the_opening_or_behind_the_beginning() {
    let lines = "handler h0 \"a\"\nhandler h1 \"b\"\nhandler h2 \"c\"\n\
                 task t0 \"a\" initial h0\ntask t1 \"b\" initial h1\ntask t2 \"c\" initial h2\n\
                 input i0 plain \"i\"\nt0 enable i0\nt1 trigger i0\nt2 disable i0\nt2 enable i0\n";
    let trace = native(lines);
    let checked = |steps: &str| {
        let proof = proof(&trace, steps);
        check_inconsistency(&trace, Fifo, &proof).map_err(|error| error.to_string())
    };
    let unfinished = Err("no step gives the empty clause".to_owned());
    assert_eq!(checked("ended 2 3\n"), unfinished);
    assert_eq!(checked("ended 2 3\nderived before 3 1 before 2 3\n"), unfinished);
    let error = checked("ended 2 3\nderived before 2 3\n").expect_err("the other may hold");
    assert!(error.contains("does not follow by unit propagation"), "{error}");
    for (step, fault) in [
        ("ended 1 3", "the second does not end what the first begins"),
        ("ended 2 4", "the second ends nothing"),
    ] {
        let error = checked(&format!("{step}\n")).expect_err("refused");
        assert!(error.contains(fault), "{step}: {error}");
    }
}

#[test]
fn reads_in_an_observed_trace_follow_its_order() {
    let lines = "handler h0 \"a\"\nhandler h1 \"b\"\ntask t0 \"a\" initial h0\n\
                 task t1 \"b\" initial h1\nlocation x0 \"x\"\n\
                 t0 write x0\nt1 read x0\nt0 rmw x0\nt1 read x0\nt1 write x0\nt1 read x0 refers=0\n";
    let trace = native(lines);
    for link in ["1 2 reads-from", "1 3 reads-from", "3 4 reads-from", "1 5 coherence"] {
        holds(&trace, link);
    }
    for link in ["2 3 from-reads", "2 5 from-reads", "3 5 from-reads", "1 6 reads-from"] {
        holds(&trace, link);
    }
    fails(&trace, "3 3 from-reads", "an event and itself");
    fails(&trace, "1 4 reads-from", "the second does not read from it");
    let partial = native(&format!("meta order=partial\n{lines}"));
    fails(&partial, "1 2 reads-from", "the second does not read from it");
    fails(&partial, "2 3 from-reads", "nobody knows what it reads from");
    fails(&partial, "1 5 coherence", "coherence is open");
    holds(&partial, "1 6 reads-from");
}

#[test]
fn worked_example_6_is_refuted() {
    let trace = edtrace(EXAMPLE_6);
    let whole = proof(&trace, &PROOF_6["consistency-proof 1\n".len()..]);
    let stats = ProofStats { cycles: 2, links: 6, derived: 1, facts: 1 };
    assert_eq!(check_inconsistency(&trace, Fifo, &whole), Ok(stats));
    assert_eq!(check_inconsistency(&trace, Delayed, &whole), Ok(stats));
    // With a bag the trace is consistent, so no proof may hold.
    let error = check_inconsistency(&trace, Bag, &whole).unwrap_err();
    assert_eq!(
        error.to_string(),
        "step 1: link 3 (e4 e1 runs b1 a1): the mailbox does not keep their order, so the posts may come in any"
    );
}

#[test]
fn a_cycle_without_facts_is_enough() {
    let own = edtrace("a A - r x b\nb A - w x\n");
    let text = "cycle 2\n a b program\n b a reads-from\n";
    let stats = ProofStats { cycles: 1, links: 2, derived: 0, facts: 0 };
    assert_eq!(check_inconsistency(&own, Fifo, &proof(&own, text)), Ok(stats));
    let itself = edtrace("g A m get\np A m post m\n");
    let text = "cycle 2\n g p program\n p g posted-by\n";
    assert!(check_inconsistency(&itself, Bag, &proof(&itself, text)).is_ok());
}

const OPEN: &str = "\
a A - w x
b A - r x c
d B - w x
e B - r x a
c C - w x
";

/// The read `b` after `a` sees `c`, and the read `d` after `c` sees `a`: neither write can be the
/// first.
const OPEN_INCONSISTENT: &str = "\
a A - w x
b A - r x c
c B - w x
d B - r x a
";

#[test]
fn open_coherence_is_refuted_by_its_reads() {
    let trace = edtrace(OPEN_INCONSISTENT);
    let text = "reads b a\nreads d c\n\
                cycle 2\n a b program\n b a before b a\n\
                cycle 2\n c d program\n d c before d c\n\
                derived before a c\nderived before c a\nderived\n";
    let stats = ProofStats { cycles: 2, links: 4, derived: 3, facts: 3 };
    let whole = proof(&trace, text);
    assert_eq!(check_inconsistency(&trace, Fifo, &whole), Ok(stats));
    refuses_mutants(&trace, Fifo, &whole, &[4, 5]);
    let initial = edtrace("a A - w x\nb A - r x init\n");
    let text = "reads b a\ncycle 2\n a b program\n b a before b a\nderived\n";
    assert!(check_inconsistency(&initial, Fifo, &proof(&initial, text)).is_ok());
    let open = edtrace(OPEN);
    for (step, fault) in [
        ("reads b c", "`b` and `c`: the write that is read"),
        ("reads a c", "`a` and `c`: not a read and a write"),
        ("reads b e", "`b` and `e`: not a read and a write"),
    ] {
        let error = check_inconsistency(&open, Fifo, &proof(&open, step)).unwrap_err();
        assert_eq!(error.to_string(), format!("step 0: {fault}"));
    }
}

/// Three unordered messages.
const THREE: &str = "\
p1 A - post a
p2 B - post b
p3 C - post c
g1 h a get
g2 h b get
g3 h c get
";

#[test]
fn transitivity_is_a_cycle_and_clauses_follow_from_it() {
    let trace = edtrace(THREE);
    let text = "\
cycle 3
 g1 g2 runs a b
 g2 g3 runs b c
 g3 g1 runs c a
derived runs b a runs c b runs a c
derived runs a b runs b c runs c a
";
    let whole = proof(&trace, text);
    let error = check_inconsistency(&trace, Fifo, &whole).unwrap_err();
    // The first follows, as it is the clause itself; the second is the same in the other direction,
    // and does not follow.
    assert_eq!(error.step, Some(2));
    assert_eq!(
        error.to_string(),
        "step 2: does not follow by unit propagation: runs a b, runs b c, runs c a"
    );
    let facts = |text: &str| match &proof(&trace, text).steps[0] {
        RefutationStep::Derived(facts) => facts.clone(),
        other => panic!("{other:?}"),
    };
    let clause = facts("derived runs b a runs c b runs a c");
    let steps = vec![
        whole.steps[0].clone(),
        RefutationStep::Forget(clause.iter().rev().copied().collect()),
        RefutationStep::Derived(clause.clone()),
    ];
    let error = check_inconsistency(&trace, Fifo, &ConsistencyProof { steps: steps.clone() });
    assert_eq!(error.unwrap_err().step, Some(2), "a forgotten clause is not used");
    let twice = vec![steps[0].clone(), steps[1].clone(), steps[1].clone()];
    let error = check_inconsistency(&trace, Fifo, &ConsistencyProof { steps: twice }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "step 2: there is no such clause to forget: runs a c, runs c b, runs b a"
    );
    // A fact or its complement always holds.
    let either = RefutationStep::Derived(vec![runs(&trace, "a", "b"), runs(&trace, "b", "a")]);
    let error = check_inconsistency(&trace, Fifo, &ConsistencyProof { steps: vec![either] });
    assert_eq!(error, Err(ProofError { step: None, reason: ProofReason::Unfinished }));
}

#[test]
fn steps_that_make_no_sense_are_refused() {
    let trace = edtrace(EXAMPLE_6);
    let check = |steps: Vec<RefutationStep>| {
        check_inconsistency(&trace, Fifo, &ConsistencyProof { steps }).unwrap_err().to_string()
    };
    assert_eq!(check(vec![]), "no step gives the empty clause");
    assert_eq!(check(vec![RefutationStep::Cycle(vec![])]), "step 0: a cycle without links");
    assert_eq!(
        check(vec![RefutationStep::Derived(vec![])]),
        "step 0: does not follow by unit propagation: the empty clause"
    );
    assert_eq!(
        check(vec![RefutationStep::Forget(vec![])]),
        "step 0: there is no such clause to forget: the empty clause"
    );
    let (e1, e5, beyond) = (event(&trace, "e1"), event(&trace, "e5"), EventId(8));
    for why in [Why::Program, Why::ReadsFrom, Why::FromReads, Why::PostedBy, Why::Fork, Why::Join] {
        let error = check(vec![RefutationStep::Cycle(vec![Link { from: e1, to: beyond, why }])]);
        assert_eq!(error, format!("step 0: link 0 (e1 @8 {}): no such event", why.word()));
    }
    let before = Fact::Before { first: e1, second: beyond };
    assert_eq!(
        check(vec![RefutationStep::Derived(vec![before])]),
        "step 0: `before e1 @8`: no such event"
    );
    assert_eq!(
        check(vec![RefutationStep::ReadsOpen { read: beyond, other: e5 }]),
        "step 0: `@8` and `e5`: no such event"
    );
    let nobody = Fact::Runs { first: TaskId(99), second: TaskId(0) };
    let error = check(vec![RefutationStep::Forget(vec![nobody])]);
    assert!(error.ends_with("the first is no message of a handler"), "{error}");
}

#[test]
fn mutants_of_a_proof_are_refused() {
    let trace = edtrace(EXAMPLE_6);
    let whole = proof(&trace, &PROOF_6["consistency-proof 1\n".len()..]);
    refuses_mutants(&trace, Fifo, &whole, &[]);
}

/// Checks that a proof no longer holds when a step is dropped (except those in `spare`), or when
/// any part of a link is changed.
fn refuses_mutants(trace: &Trace, rule: MailboxRule, whole: &ConsistencyProof, spare: &[usize]) {
    assert!(check_inconsistency(trace, rule, whole).is_ok());
    for dropped in 0..whole.steps.len() {
        let mut mutant = whole.clone();
        mutant.steps.remove(dropped);
        let holds = check_inconsistency(trace, rule, &mutant).is_ok();
        assert_eq!(holds, spare.contains(&dropped), "without step {dropped}");
    }
    let mut mutants = 0;
    for (step, links) in whole.steps.iter().enumerate() {
        let RefutationStep::Cycle(links) = links else { continue };
        for number in 0..links.len() {
            for link in changed(trace, links[number]) {
                let mut mutant = whole.clone();
                let RefutationStep::Cycle(links) = &mut mutant.steps[step] else { continue };
                links[number] = link;
                mutants += 1;
                let error = check_inconsistency(trace, rule, &mutant);
                assert!(error.is_err(), "step {step}, link {number}: {link:?}");
            }
            let mut mutant = whole.clone();
            let RefutationStep::Cycle(links) = &mut mutant.steps[step] else { continue };
            links.remove(number);
            assert!(check_inconsistency(trace, rule, &mutant).is_err(), "{step} {number}");
        }
    }
    assert!(mutants > 20, "{mutants}");
}

/// All links that differ from one in a single part: another event at an end, or another reason that
/// is not also right.
fn changed(trace: &Trace, link: Link) -> Vec<Link> {
    let all = || (0..trace.len() as u32).map(EventId);
    let mut changed: Vec<Link> = Vec::new();
    changed.extend(all().filter(|&e| e != link.from).map(|from| Link { from, ..link }));
    changed.extend(all().filter(|&e| e != link.to).map(|to| Link { to, ..link }));
    let mut whys = vec![
        Why::Program,
        Why::ReadsFrom,
        Why::Coherence,
        Why::FromReads,
        Why::PostedBy,
        Why::Fork,
        Why::Join,
    ];
    if let Why::Decided(fact) = link.why {
        whys.push(Why::Decided(fact.complement()));
    }
    changed.extend(whys.into_iter().filter(|&w| w != link.why).map(|why| Link { why, ..link }));
    changed
}
