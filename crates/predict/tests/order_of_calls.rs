//! The orders of calls are those of the definition, on random runs of all built-in types.

use crate::common;
use crate::communicating::{built_in, naive, random_calls};

use anyorder_common::random::Rng;
use anyorder_commute::{Document, Invocation, WaitRule, built_in_types};
use anyorder_formats::native_text::NativeTextReader;
use anyorder_predict::{SpecifiedCommunication, Types, orders_of_calls};
use anyorder_system::{Cancel, StopReason};
use anyorder_trace::{EventId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// For each call that may have to wait, the calls that it observes or waited for.
fn defined(types: &Types, trace: &Trace, name: &str, text: &Document) -> Vec<BTreeSet<usize>> {
    let (spec, tables) = (types.spec(name).expect("a type"), trace.tables());
    let calls: Vec<(&str, Invocation)> = tables
        .invocations
        .iter()
        .map(|i| {
            let call = spec.invocation_of_words(tables.name(i.method), &i.arguments, i.result);
            (tables.name(i.object), call)
        })
        .collect();
    let observed = naive(types, trace, name, text);
    let mut all: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); calls.len()];
    let Some(waits) = text.waits(name) else { return all };
    // The calls of each kind that a rule counts before a call.
    let counted = |rule: &WaitRule, at: usize| -> Vec<Vec<usize>> {
        let (object, later) = &calls[at];
        let same = (0..at).filter(|i| calls[*i].0 == *object);
        let kinds = rule.counted().iter().map(|kind| {
            let counts = |i: &usize| kind.key_of(&calls[*i].1) == Some(kind.key_for(later));
            same.clone().filter(counts).collect()
        });
        kinds.collect()
    };
    let counts = |of: &[Vec<usize>]| of.iter().map(|kind| kind.len() as i64).collect::<Vec<_>>();
    let rules = |at: usize| waits.rules_of(&calls[at].1);
    let mut open: BTreeMap<&str, i64> = BTreeMap::new();
    for (at, (object, _)) in calls.iter().enumerate() {
        for rule in rules(at) {
            if let Some(least) = rule.least(&counts(&counted(rule, at))) {
                let known = open.entry(*object).or_default();
                *known = least.max(*known);
            }
        }
    }
    for (at, (object, _)) in calls.iter().enumerate() {
        for rule in rules(at) {
            let of = counted(rule, at);
            // What the run itself breaks is no rule of it.
            if rule.least(&counts(&of)).is_none() {
                continue;
            }
            all[at].extend(observed[at].values().flatten().map(|source| *source as usize));
            let (with_all, number) = (counts(&of), open.get(object).copied().unwrap_or(0));
            for (kind, events) in of.iter().enumerate() {
                let mut fewer = with_all.clone();
                fewer[kind] -= 1;
                let is_needed = rule.holds(&with_all, number) && !rule.holds(&fewer, number);
                all[at].extend(events.iter().filter(|_| is_needed));
            }
        }
    }
    all
}

/// What is before each event, by program order and some edges into it.
fn closure(trace: &Trace, into: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for event in trace.events() {
        let at = event.id.index();
        let same = (0..at).filter(|i| trace.columns().tasks[*i] == event.task);
        let direct: BTreeSet<usize> = same.chain(into[at].iter().copied()).collect();
        let all = direct.iter().flat_map(|i| before[*i].iter().copied()).chain(direct.clone());
        before.push(all.collect());
    }
    before
}

#[test]
fn orders_of_calls_are_those_of_the_definition() {
    let (types, mut rng) = (built_in(), Rng::new(11));
    let mut waited: BTreeSet<&str> = BTreeSet::new();
    for built_in in built_in_types() {
        let text = built_in.fine().expect("the text is right");
        let (mut edges, mut kept) = (0, 0);
        for _ in 0..200 {
            let trace = random_calls(&mut rng, &types, built_in.name, 14);
            let expected = defined(&types, &trace, built_in.name, &text);
            let mut communication = SpecifiedCommunication::new(types.clone(), &trace);
            let orders =
                orders_of_calls(&trace, &mut communication, &Cancel::new()).expect("not stopped");
            let mut found = vec![BTreeSet::new(); trace.len()];
            for (from, to) in &orders {
                assert!(from < to && expected[to.index()].contains(&from.index()));
                found[to.index()].insert(from.index());
            }
            let is_same = closure(&trace, &found) == closure(&trace, &expected);
            assert!(
                is_same,
                "{}: {orders:?}, {expected:?}\n{}",
                built_in.name,
                common::show(&trace)
            );
            edges += expected.iter().map(BTreeSet::len).sum::<usize>();
            kept += orders.len();
            let observed = naive(&types, &trace, built_in.name, &text);
            let observes = observed.iter().map(|modes| modes.values().flatten().count());
            if expected.iter().zip(observes).any(|(all, observed)| all.len() > observed) {
                waited.insert(built_in.name);
            }
        }
        println!("{}: {edges} orders, {kept} kept", built_in.name);
        assert_eq!(edges > 50 && kept < edges, !built_in.waits.is_empty(), "{}", built_in.name);
    }
    println!("waited for more than was observed: {waited:?}");
    assert!(["channel", "semaphore", "waitgroup"].iter().all(|name| waited.contains(name)));
}

/// Tasks of one handler have no program order between them: each has its own orders.
#[test]
fn each_task_of_a_handler_is_put_after_what_it_waited_for() {
    let types = built_in();
    let text = "anyorder-trace 1\nhandler h0 \"A\"\nhandler h1 \"B\"\ntask t0 \"A\" initial h0\n\
                task t1 \"one\" initial h1\ntask t2 \"two\" initial h1\n\
                invocation v0 \"context:x\" \"cancel\"\ninvocation v1 \"context:x\" \"done\"\n\
                t0 invoke v0\nt1 invoke v1\nt1 invoke v1\nt2 invoke v1\n";
    let trace = Trace::read(&mut NativeTextReader::new(text.as_bytes())).expect("a trace");
    let mut communication = SpecifiedCommunication::new(types, &trace);
    let orders = orders_of_calls(&trace, &mut communication, &Cancel::new()).expect("not stopped");
    assert_eq!(orders, [(0, 1), (0, 3)].map(|(from, to)| (EventId(from), EventId(to))));
}

/// A semaphore as a lock of many threads: each waits for all that had it before, and the pairs are
/// as many as the threads.
#[test]
fn pairs_are_as_few_as_calls() {
    let mut text = "anyorder-trace 1\n".to_owned();
    let threads = 400;
    for i in 0..threads {
        text += &format!("handler h{i} \"T{i}\"\ntask t{i} \"T{i}\" initial h{i}\n");
    }
    text +=
        "invocation v0 \"semaphore:s\" \"acquire\"\ninvocation v1 \"semaphore:s\" \"release\"\n";
    for i in 0..threads {
        text += &format!("t{i} invoke v0\nt{i} invoke v1\n");
    }
    let trace = Trace::read(&mut NativeTextReader::new(text.as_bytes())).expect("a trace");
    let mut communication = SpecifiedCommunication::new(built_in(), &trace);
    let orders = orders_of_calls(&trace, &mut communication, &Cancel::new()).expect("not stopped");
    assert_eq!(orders.len(), threads - 1);
    let cancel = Cancel::new();
    cancel.stop(StopReason::Interrupted);
    assert!(orders_of_calls(&trace, &mut communication, &cancel).is_err());
}
