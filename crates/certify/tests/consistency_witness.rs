//! Orders of events that are runs of the handlers, and each way in which an order can fail.

mod consistency_support;

use anyorder_certify::consistency::{MailboxRule, WitnessReason, check_consistency_witness};
use anyorder_trace::Trace;
use consistency_support::{edtrace, event, events, native};

#[track_caller]
fn is_run(trace: &Trace, rule: MailboxRule, order: &str) {
    assert_eq!(check_consistency_witness(trace, rule, &events(trace, order)), Ok(()));
}

/// Checks the text of the error of an order that is not a run.
#[track_caller]
fn refused(trace: &Trace, rule: MailboxRule, order: &str, expected: &str) {
    let error = check_consistency_witness(trace, rule, &events(trace, order));
    let error = error.expect_err("the order is no run");
    assert_eq!(error.to_string(), expected);
}

use MailboxRule::{Bag, Delayed, Fifo};

const TWO_POSTS: &str = "\
p A - post m
q A - post n
g h m get
x h m w x
k h n get
y h n r x init
";

#[test]
fn fifo_runs_messages_in_the_order_of_their_posts() {
    let trace = edtrace(TWO_POSTS);
    let error =
        "place 4 of the order, event `y`: reads from event `x`, should read the initial value";
    refused(
        &trace,
        Fifo,
        "p g x k y q",
        "place 3 of the order, event `k`: event `q` must come first (posted by)",
    );
    refused(
        &trace,
        Fifo,
        "p q k y g x",
        "place 2 of the order, event `k`: the task posted by event `p` must run first",
    );
    refused(&trace, Fifo, "p g x q k y", &error.replace("place 4", "place 5"));
    is_run(&trace, Bag, "p q k y g x");
    refused(
        &trace,
        Bag,
        "q p k y g x",
        "place 0 of the order, event `q`: event `p` must come first (program order)",
    );
    // Without delays a delayed mailbox is a FIFO.
    refused(
        &trace,
        Delayed,
        "p q k y g x",
        "place 2 of the order, event `k`: the task posted by event `p` must run first",
    );
}

#[test]
fn each_event_comes_exactly_once() {
    let trace = edtrace(TWO_POSTS);
    refused(&trace, Bag, "p q k y g", "place 5 of the order, event `x`: it is missing");
    refused(&trace, Bag, "p q k y g g x", "place 5 of the order, event `g`: it comes twice");
    refused(&trace, Bag, "", "place 0 of the order, event `p`: it is missing");
    let beyond = [anyorder_trace::EventId(6)];
    let error = check_consistency_witness(&trace, Bag, &beyond).unwrap_err();
    assert_eq!((error.place, error.reason), (0, WitnessReason::Unknown));
    let empty = edtrace("");
    assert_eq!(check_consistency_witness(&empty, Fifo, &[]), Ok(()));
}

#[test]
fn a_handler_runs_one_message_at_a_time() {
    let trace = edtrace(TWO_POSTS);
    refused(
        &trace,
        Bag,
        "p q k g y x",
        "place 3 of the order, event `g`: handler `h` still has to run event `y`",
    );
    let initial = edtrace("a h - w x\nb h - post m\ng h m get\nx h m r x a\nc h - w z\n");
    is_run(&initial, Fifo, "a b c g x");
    refused(
        &initial,
        Fifo,
        "a b g x c",
        "place 2 of the order, event `g`: handler `h` still has to run event `c`",
    );
    let posted = edtrace("b A - post m\ng h m get\nc h - w z\n");
    is_run(&posted, Fifo, "c b g");
    is_run(&posted, Fifo, "b c g");
    refused(
        &posted,
        Fifo,
        "b g c",
        "place 1 of the order, event `g`: event `c` must come first (initial task)",
    );
    // Two handlers may interleave in any way.
    let two = edtrace("p A - post m\nq A - post n\ng h m get\nx h m w x\nk i n get\ny i n w y\n");
    is_run(&two, Fifo, "p q k g y x");
    is_run(&two, Fifo, "p q g k x y");
}

#[test]
fn reads_see_what_they_refer_to() {
    let trace = edtrace("a A - w x\nb B - w x\nr C - r x a\ni D - r x init\nco x a b\n");
    is_run(&trace, Fifo, "i a r b");
    refused(
        &trace,
        Fifo,
        "i a b r",
        "place 3 of the order, event `r`: reads from event `b`, should read from event `a`",
    );
    refused(
        &trace,
        Fifo,
        "i r a b",
        "place 1 of the order, event `r`: reads the initial value, should read from event `a`",
    );
    refused(
        &trace,
        Fifo,
        "a i r b",
        "place 1 of the order, event `i`: reads from event `a`, should read the initial value",
    );
    refused(
        &trace,
        Fifo,
        "i b a r",
        "place 2 of the order, event `a`: event `b` came before it, but must come later (coherence)",
    );
    let open = edtrace("a A - w x\nb B - w x\nr C - r x a\ni D - r x init\n");
    is_run(&open, Fifo, "i b a r");
    is_run(&open, Fifo, "i a r b");
}

const DELAYED: &str = r#"
handler h0 "main" delayed
handler h1 "poster"
task t0 "poster" initial h1
input i0 idle ""
task t1 "slow" posted h0 delay=50
task t2 "quick" posted h0 delay=10
task t3 "plain" posted h0
task t4 "front" posted h0 front
task t5 "idle" posted h0
task t6 "late" posted h0 front
t0 post t1
t0 post t2
t0 post t3
t0 post t4
t0 post t5
t0 post t6
t4 get h0
t6 get h0
t5 get h0
t5 trigger i0
t3 get h0
t2 get h0
t1 get h0
"#;

#[test]
fn a_delayed_mailbox_keeps_some_orders() {
    let trace = native(DELAYED);
    // Labels are positions: 1 to 6 post slow, quick, plain, front, idle, late; 7 front, 8 late, 9
    // and 10 idle, 11 plain, 12 quick, 13 slow.
    let overtakes = |place: usize, event: usize, first: usize| {
        format!(
            "place {place} of the order, event `{event}`: the task posted by event `{first}` must run first"
        )
    };
    is_run(&trace, Delayed, "1 2 3 4 5 6 7 8 9 10 11 12 13");
    is_run(&trace, Delayed, "1 2 3 4 5 6 8 7 11 12 13 9 10");
    // A delay binds a later post only if the later delay is at least as long: slow before quick is
    // allowed, and so is quick before slow.
    is_run(&trace, Delayed, "1 2 3 4 5 6 13 12 11 8 7 9 10");
    is_run(&trace, Delayed, "1 2 3 4 5 6 12 13 11 8 7 9 10");
    refused(&trace, Fifo, "1 2 3 4 5 6 12 13 11 8 7 9 10", &overtakes(6, 12, 1));
    let same =
        native(&DELAYED.replace("\"slow\" posted h0 delay=50", "\"slow\" posted h0 delay=10"));
    refused(&same, Delayed, "1 2 3 4 5 6 12 13 11 8 7 9 10", &overtakes(6, 12, 1));
    is_run(&same, Delayed, "1 2 3 4 5 6 13 12 11 8 7 9 10");
    // A message at the front when a plain one was posted runs first.
    let order = "t0 post t1\nt0 post t2\nt0 post t3\nt0 post t4\nt0 post t5\nt0 post t6\n";
    let fronts = "t0 post t4\nt0 post t6\nt0 post t1\nt0 post t2\nt0 post t3\nt0 post t5\n";
    let front = native(&DELAYED.replace(order, fronts));
    is_run(&front, Delayed, "1 2 3 4 5 6 8 7 9 10 11 12 13");
    refused(&front, Delayed, "1 2 3 4 5 6 8 11 7 9 10 12 13", &overtakes(7, 11, 1));
    refused(&front, Delayed, "1 2 3 4 5 6 7 11 8 9 10 12 13", &overtakes(7, 11, 2));
    is_run(&front, Bag, "1 2 3 4 5 6 7 11 8 9 10 12 13");
}

const OBSERVED: &str = r#"
handler h0 "main" fifo
handler h1 "worker"
handler h2 "native" none untracked
task t0 "main" initial h0
task t1 "worker" initial h1
task t2 "click" posted h0
task t3 "never" posted h0
task t4 "burst" burst h2
task t5 "burst" burst h2
task t6 "gift" posted h0
location x0 "x"
lock l0 "lock"
t0 begin
t0 fork h1
t1 begin
t1 acquire l0
t1 write x0
t1 post t2
t1 post t3
t1 release l0
t1 exit
t0 join h1
t0 cancel t3
t4 begin
t4 read x0
t5 write x0
t4 exit
t2 get h0
t2 read x0
t2 end
t6 get h0
t6 rmw x0
"#;

#[test]
fn an_observed_trace_says_what_its_order_shows() {
    let trace = native(OBSERVED);
    let whole: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
    is_run(&trace, Fifo, &whole.join(" "));
    // Only events with effects: fork 2, write 5, posts 6 and 7 (of a cancelled task), join 10,
    // cancel 11, reads 13, write 14, get 16, read 17, get 19, rmw 20.
    is_run(&trace, Fifo, "2 5 6 7 10 11 13 14 16 17 19 20");
    is_run(&trace, Bag, "2 5 13 6 7 14 10 11 16 17 19 20");
    refused(
        &trace,
        Fifo,
        "5 2 6 7 10 11 13 14 16 17 19 20",
        "place 0 of the order, event `5`: event `2` must come first (fork)",
    );
    refused(
        &trace,
        Fifo,
        "2 10 11 5 6 7 13 14 16 17 19 20",
        "place 1 of the order, event `10`: event `5` must come first (join)",
    );
    refused(
        &trace,
        Fifo,
        "2 5 10 11 6 7 13 14 16 17 19 20",
        "place 2 of the order, event `10`: event `6` must come first (join)",
    );
    refused(
        &trace,
        Fifo,
        "2 5 6 7 10 11 14 13 16 17 19 20",
        "place 7 of the order, event `13`: reads from event `14`, should read from event `5`",
    );
    refused(
        &trace,
        Fifo,
        "2 5 6 7 10 11 13 14 19 20 16 17",
        "place 11 of the order, event `17`: reads from event `20`, should read from event `14`",
    );
    refused(
        &trace,
        Fifo,
        "14 2 5 6 7 10 11 13 16 17 19 20",
        "place 2 of the order, event `5`: event `14` came before it, but must come later (coherence)",
    );
    refused(
        &trace,
        Fifo,
        "2 5 6 7 10 11 13 14 16 17 19",
        "place 11 of the order, event `20`: it is missing",
    );
    // Events without effects must still be where their task can run them.
    refused(
        &trace,
        Fifo,
        "2 1 5 6 7 10 11 13 14 16 17 19 20",
        "place 1 of the order, event `1`: event `2` came before it, but must come later (program order)",
    );
    refused(
        &trace,
        Fifo,
        "2 5 6 7 10 11 13 14 16 17 19 18 20",
        "place 11 of the order, event `18`: handler `main` has gone on to task `gift`",
    );
    let error = check_consistency_witness(&trace, Fifo, &[event(&trace, "20")]).unwrap_err();
    assert_eq!(error.label, "20");
    assert_eq!(
        error.to_string(),
        "place 0 of the order, event `20`: event `19` must come first (program order)"
    );
}

#[test]
fn names_are_escaped() {
    let trace = edtrace("a\u{1b} A - w x\n");
    let error = check_consistency_witness(&trace, Fifo, &[]).unwrap_err();
    assert_eq!(error.label, "a\u{1b}");
    assert_eq!(error.to_string(), "place 0 of the order, event `a\\u{1b}`: it is missing");
}
