//! The oracle on Android components, one rule at a time; `a<b`: `a` happens before `b`, `a|b`: not
//! so.

use anyorder_testkit::{Naive, RuleSet, Rules, script, show};

/// Tasks `a`, `b`, `c` of a main thread, posted by three threads that nothing orders; their events
/// are labelled by the text, and so are those that the threads do first and last.
fn check(text: &str, expected: &str) {
    let head = "handler main fifo\nhandler u none\nhandler v none\nhandler w none\nhandler x none
         task a main\ntask b main\ntask c main\n";
    let script = script(&format!("{head}{text}"));
    let naive = Naive::new(&script.trace, Rules::all(RuleSet::Android));
    for fact in expected.split_whitespace() {
        let (x, y, wanted) = match (fact.split_once('<'), fact.split_once('|')) {
            (Some((x, y)), _) => (x, y, true),
            (_, Some((x, y))) => (x, y, false),
            _ => panic!("cannot understand `{fact}`"),
        };
        let found = naive.happens_before(script.event(x), script.event(y));
        assert_eq!(found, wanted, "`{fact}` in\n{}", show(&script.trace));
    }
}

const RESUME: &str = "state=RESUME-ACT";

#[test]
fn a_lifecycle_callback_is_behind_its_enables() {
    let on = |instance: u32| format!("lifecycle {RESUME} instance={instance}");
    check(
        &format!("e: x enable {}\np: u post a\na get\nt: a trigger {}\na end", on(1), on(1)),
        "e<t e<p",
    );
    check(&format!("e: x enable {}\nt: u trigger {}", on(2), on(1)), "e|t");
    // The first trigger uses up an enable.
    check(&format!("e: x enable {0}\nt: u trigger {0}\ns: v trigger {0}", on(1)), "e<t e|s");
    // Only a resume uses the enable of instance 0, and only once.
    check(&format!("e: x enable {}\nt: u trigger {1}\ns: v trigger {1}", on(0), on(1)), "e<t e|s");
    let pause = "lifecycle state=PAUSE-ACT instance";
    check(&format!("e: x enable {pause}=0\nt: u trigger {pause}=1"), "e|t");
}

#[test]
fn an_intent_becomes_an_instance() {
    check(
        "e: x enable lifecycle state=LAUNCH-ACT instance=11
         w enable lifecycle state=INSTANCE instance=1 argument=11
         t: u trigger lifecycle state=LAUNCH-ACT instance=1",
        "e<t",
    );
    check(
        "p: x trigger lifecycle state=PAUSE-ACT instance=11
         w enable lifecycle state=INSTANCE instance=1 argument=11
         t: u trigger lifecycle state=STOP-ACT instance=1",
        "p<t",
    );
}

#[test]
fn callbacks_of_an_activity_follow_its_states() {
    let step = |from: &str, to: &str| {
        format!(
            "p: u post a\nq: v post b\na get\ns: a trigger lifecycle state={from} instance=1\na end
             b get\nt: b trigger lifecycle state={to} instance=1\nb end"
        )
    };
    check(&step("PAUSE-ACT", "STOP-ACT"), "s<t p<q");
    check(&step("STOP-ACT", "RESUME-ACT"), "s<t");
    check(&step("RESULT-ACT", "NEW_INTENT"), "s<t");
    check(&step("RESUME-ACT", "STOP-ACT"), "s|t p|q");
    check(&step("DESTROY-ACT", "RESUME-ACT"), "s|t");
    check(&step("PAUSE-ACT", "LAUNCH-ACT"), "s|t");
    check(&step("STOP-ACT", "BINDAPP-DONE"), "s|t");
}

#[test]
fn idle_handlers() {
    let tail = "a get\nt: a trigger idle instance=1 argument=1\na end";
    check(&format!("e: x enable idle instance=1 argument=1\np: u post a\n{tail}"), "e<p e<t");
    check(
        &format!(
            "e: x enable idle instance=1 argument=1\nw disable idle instance=1 argument=1\np: u post a\n{tail}"
        ),
        "e|p",
    );
    check(&format!("l: main loop\np: u post a\n{tail}"), "l<p");
    check(
        "x enable idle instance=1 argument=1\nu post a\na get\na trigger idle instance=1 argument=1\ns: a end
         p: v post b\nb get\nb trigger idle instance=1 argument=1\nb end",
        "s<p",
    );
    check(
        "u post a\na get\na enable idle instance=1 argument=1\ns: a end
         p: v post b\nb get\nb trigger idle instance=1 argument=1\nb end",
        "s<p",
    );
}

fn service(state: &str, more: &str) -> String {
    format!("service state={state} component=S {more}")
}

#[test]
fn started_services() {
    let request = service("REQUEST_START_SERVICE", "argument=5");
    let (create, args) = (service("CREATE-SERVICE", ""), service("SERVICE-ARGS", "argument=5"));
    let (halt, stop) = (service("REQUEST_STOP_SERVICE", ""), service("STOP-SERVICE", ""));
    check(
        &format!(
            "r: x enable {request}\nu post a\nv post b\nw post c\nz: w enable {halt}
             a get\nk: a trigger {create}\na end\nb get\ng: b trigger {args}\nb end
             c get\ns: c trigger {stop}\nc end"
        ),
        "r<k r<g k<g g<s k<s z<s",
    );
    // Without a request there is no record, and without a record no order.
    check(&format!("k: u trigger {create}\ng: v trigger {args}"), "k|g");
}

#[test]
fn bound_services() {
    let request = service("REQUEST_BIND_SERVICE", "instance=7");
    let leave = service("REQUEST_UNBIND_SERVICE", "instance=7");
    let create = service("CREATE-SERVICE", "");
    let (bind, unbind) = (service("BIND-SERVICE", ""), service("UNBIND-SERVICE", ""));
    let connect = service("SERVICE_CONNECT", "instance=7");
    check(
        &format!(
            "r: x enable {request}\nk: u trigger {create}\nb: v trigger {bind}
             w post a\nz: u disable {leave}\na get\nc: a trigger {connect}\na end
             d: x trigger {unbind}"
        ),
        "r<k r<b k<b b<c b<d z<d",
    );
    check(
        &format!("r: x enable {request}\nq: w post a\na get\nc: a trigger {connect}\na end"),
        "r<q r<c",
    );
}

fn broadcast(state: &str, more: &str) -> String {
    format!("broadcast state={state} name=go {more}")
}

#[test]
fn receipts_are_behind_their_send_and_registration() {
    let send = broadcast("SEND_BROADCAST", "argument=9");
    let register = broadcast("REGISTER_RECEIVER", "instance=1");
    let drop = broadcast("UNREGISTER_RECEIVER", "instance=1");
    let receive = broadcast("ONRECEIVE", "instance=1 argument=9");
    check(
        &format!("s: x enable {send}\nr: w enable {register}\nt: u trigger {receive}"),
        "s<t r<t",
    );
    check(
        &format!(
            "r: w enable {register}\nv disable {drop}\nx enable {send}\nt: u trigger {receive}"
        ),
        "r|t",
    );
    // The announcement determines the sender of an announced receipt.
    let later = broadcast("ONRECEIVE_LATER", "instance=1 argument=9");
    check(
        &format!(
            "s: x enable {send}\nr: w enable {register}\nl: v enable {later}\nq: v enable {send}
             t: u trigger {receive} refers=l"
        ),
        "s<t r<t q|t",
    );
}

#[test]
fn sticky_broadcasts_use_the_oldest_sticky_registration() {
    let send = broadcast("SEND_STICKY_BROADCAST", "argument=9");
    let register = broadcast("REGISTER_RECEIVER", "instance=1");
    let receive = broadcast("ONRECEIVE", "instance=1 argument=9");
    check(
        &format!(
            "r: w enable {register}\nx enable {send}\ns: v enable {register}\nt: u trigger {receive}
             n: main trigger {receive}"
        ),
        "s<t r|t r<n",
    );
}

#[test]
fn receipts_follow_the_order_of_their_sends() {
    let send = |intent: u32| broadcast("SEND_BROADCAST", &format!("argument={intent}"));
    let receive = |i: u32| broadcast("ONRECEIVE", &format!("instance={i} argument={i}"));
    let text = |second: &str| {
        format!(
            "x enable {}\n{second} enable {}\np: u post a\nq: v post b
             a get\ns: a trigger {}\na end\nb get\nt: b trigger {}\nb end",
            send(1),
            send(2),
            receive(1),
            receive(2)
        )
    };
    check(&text("x"), "p<q s<t");
    check(&text("w"), "p|q s|t");
}

#[test]
fn the_binding_post_and_ticks() {
    let receive =
        "broadcast state=ONRECEIVE name=android.intent.action.TIME_TICK instance=1 argument=3";
    check(
        &format!(
            "p: u post a\na get\na enable lifecycle state=BINDAPP-DONE\na end
             q: v post b\nr: w post c\nb get\nb trigger {receive}\nb end\nc get\nc trigger {receive}\nc end"
        ),
        "p<q p<r q<r",
    );
}
