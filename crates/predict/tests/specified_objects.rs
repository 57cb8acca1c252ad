//! Specified objects: the types of objects, hidden events, and malformed traces.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_commute::{Document, built_in_types};
use anyorder_predict::{
    Analysis, CandidateOptions, Communication, EdcAnalysis, HbAnalysis, Internals, Specification,
    Specified, SpecifiedCommunication, Types, Unspecified, hidden_events, without_internals,
};
use anyorder_trace::{
    EventKind, Invocation, Mailbox, Mode, Op, TaskId, Trace, TraceBlocks, TraceBuilder,
};
use common::calls::{built_in, calls, conflict, points, run_of};
use common::script::script;

/// The result of a specification for objects with these names and methods.
fn types_of(types: &Types, calls: &[(&str, &str, usize)]) -> Vec<Option<String>> {
    let mut b = TraceBuilder::new();
    let mut invocations = Vec::new();
    for (object, method, arity) in calls {
        invocations.push(Invocation {
            object: b.interner.name(object).expect("room"),
            method: b.interner.name(method).expect("room"),
            arguments: vec![1; *arity],
            result: None,
        });
    }
    let trace = run_of(b, &invocations);
    let mut specified = Specified::for_trace(types.clone(), Internals::Show, &trace);
    points(&trace, &mut specified);
    specified.objects().into_iter().map(|object| object.type_name).collect()
}

#[test]
fn the_type_of_an_object_is_found_in_four_ways() {
    let own = "spec jobs { take() ~ take(); } spec pool { take() ~ give(_); }";
    let document = Document::parse(own).expect("the text is right");
    let mut types = Types::with(&document).expect("the texts are right");
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(types_of(&types, &[("jobs", "add", 1)]), [named("jobs")]);
    assert_eq!(types_of(&types, &[("queue:jobs", "add", 1)]), [named("queue")]);
    assert_eq!(types_of(&types, &[("file#3", "read", 0)]), [named("file")]);
    // `::` of C++ is no type.
    assert_eq!(types_of(&types, &[("std::x", "contains", 1)]), [named("set")]);
    assert_eq!(types_of(&types, &[("x", "give", 1)]), [named("pool")]);
    // Both of the user's types have it, and no built-in one.
    assert_eq!(types_of(&types, &[("x", "take", 0)]), [None]);
    // Arguments count.
    assert_eq!(types_of(&types, &[("x", "contains", 2)]), [None]);
    assert_eq!(types_of(&types, &[("x", "enqueue", 1), ("x", "size", 0)]), [named("queue")]);
    assert_eq!(types_of(&types, &[("x", "read", 0)]), [None], "register, file or memory");
    // Of two types, the user's own.
    let own =
        Document::parse("spec bag { contains(_) ~ contains(_); }").expect("the text is right");
    let bag = Types::with(&own).expect("the texts are right");
    assert_eq!(types_of(&bag, &[("x", "contains", 1)]), [named("bag")]);
    types.declare("x", "file").expect("there is one");
    types.declare("jobs", "stack").expect("there is one");
    assert_eq!(types_of(&types, &[("x", "read", 0)]), [named("file")]);
    assert_eq!(types_of(&types, &[("jobs", "read", 0)]), [named("stack")]);
    assert!(types.declare("x", "nothing").is_err());
    assert!(types.declare("x", "unspecified").is_err(), "no name of a type");
    assert!(types.names().eq(["jobs", "pool"].into_iter().chain(types_names())));
}

fn types_names() -> impl Iterator<Item = &'static str> {
    built_in_types().iter().map(|t| t.name)
}

fn name<'b>(b: &'b TraceBuilder, call: &Invocation) -> &'b str {
    b.interner.tables.names.get(call.method)
}

#[test]
fn what_is_unspecified_is_ignored_or_commutes_with_nothing() {
    let mut b = TraceBuilder::new();
    let spec = built_in();
    let calls = calls(&mut b, "nobody knows", spec.spec("set").expect("there"));
    // Not all of them: `map` and `multiset` have these two as well.
    let calls: Vec<Invocation> =
        calls.into_iter().filter(|call| ["remove", "size"].contains(&name(&b, call))).collect();
    let trace = run_of(b, &calls);
    let mut ignoring = Specified::for_trace(built_in(), Internals::Show, &trace);
    assert!(points(&trace, &mut ignoring).iter().all(Vec::is_empty));
    let strict = built_in().unspecified(Unspecified::NothingCommutes);
    let mut strict = Specified::for_trace(strict, Internals::Show, &trace);
    let tables = strict.classes();
    let all = points(&trace, &mut strict);
    assert!(all.iter().all(|a| all.iter().all(|b| conflict(&tables, a, b))));
    for specified in [&ignoring, &strict] {
        let [object] = &specified.objects()[..] else { panic!("one object") };
        assert_eq!(object.type_name, None);
        assert_eq!(object.invocations, calls.len() as u64);
    }
}

#[test]
fn invocations_that_the_tables_do_not_have_are_nothing() {
    let mut b = TraceBuilder::new();
    let handler = b.handler("T", Mailbox::None).expect("room");
    let task = b.initial(handler);
    for kind in EventKind::ALL {
        if !kind.is_access() {
            b.push(task, kind.into(), u32::MAX - 7);
        }
    }
    let trace = b.finish();
    let mut specified = Specified::for_trace(built_in(), Internals::Hide, &trace);
    assert!(points(&trace, &mut specified).iter().all(Vec::is_empty));
    assert!(hidden_events(&trace, &built_in(), Internals::Auto).iter().all(|hidden| !hidden));
}

/// How many racy candidates EDC has for a script.
fn racy(text: &str, specified: impl Fn(&Trace) -> Specified) -> u64 {
    let trace = script(text);
    let mut engine = EdcAnalysis::new(specified(&trace), CandidateOptions::default());
    common::analyse(&trace, &mut engine).counts.racy
}

#[test]
fn what_is_inside_an_invocation_is_hidden() {
    let text = "T1 set:s.add(1)=1; T1 w a; T1 ret set:s.add(1)=1
        T1 set:s.add(2)=1; T1 w b; T1 ret set:s.add(2)=1; T1 w c
        T2 set:s.add(3)=1; T2 w a; T2 w b; T2 w c; T2 ret set:s.add(3)=1
        T3 r a; T3 r b; T3 r c";
    let whole = |internals| move |t: &Trace| Specified::for_trace(built_in(), internals, t);
    let stream = |internals| move |_: &Trace| Specified::new(built_in(), internals);
    // c by T1, and only T3, which reads.
    assert_eq!(racy(text, whole(Internals::Auto)), 1);
    // The first return comes behind the first write of a.
    assert_eq!(racy(text, stream(Internals::Auto)), 2);
    assert_eq!(racy(text, whole(Internals::Hide)), 1);
    assert_eq!(racy(text, stream(Internals::Hide)), 1);
    assert_eq!(racy(text, whole(Internals::Show)), 9);
    // Without returns.
    let bare: Vec<&str> = text.split([';', '\n']).filter(|line| !line.contains("ret")).collect();
    let bare = bare.join(";");
    assert_eq!(racy(&bare, whole(Internals::Auto)), 9);
    assert_eq!(racy(&bare, stream(Internals::Auto)), 9);
    // T1 never comes out, and neither does T2.
    assert_eq!(racy(&bare, whole(Internals::Hide)), 0);
    // An object without a specification hides nothing.
    let nobody = text.replace("set:s.add", "nobody.knows");
    assert_eq!(racy(&nobody, whole(Internals::Hide)), 9);
}

#[test]
fn only_calls_on_one_object_can_be_asked_whether_they_commute() {
    let trace =
        script("T1 queue:a.enqueue(1); T2 queue:a.enqueue(1); T2 queue:b.enqueue(1); T2 x.y(1)");
    let mut specified = Specified::for_trace(built_in(), Internals::Auto, &trace);
    let mut confirm_pair = |first: u32, second: u32| {
        let op = Op::from(EventKind::Invoke);
        specified.commute(trace.tables(), (op, first), (op, second))
    };
    assert!(confirm_pair(0, 1), "the same value");
    assert!(!confirm_pair(0, 2) && !confirm_pair(3, 3) && !confirm_pair(0, 99));
}

#[test]
fn locks_and_conditions_inside_an_invocation_are_hidden() {
    let inside =
        "T1 w x; T1 set:s.add(1)=1; T1 acq m; T1 wait c; T1 w n; T1 rel m; T1 ret set:s.add(1)=1
        T2 set:s.add(2)=1; T2 acq m; T2 w n; T2 signal c; T2 rel m; T2 ret set:s.add(2)=1; T2 w x";
    let whole = |t: &Trace| Specified::for_trace(built_in(), Internals::Auto, t);
    let shown = |t: &Trace| Specified::for_trace(built_in(), Internals::Show, t);
    assert_eq!(racy(inside, whole), 1, "the writes of x");
    assert_eq!(racy(inside, shown), 0, "ordered by those of n");
    // Calls inside calls.
    let nested =
        "T1 set:s.add(1)=1; T1 queue:q.enqueue(1); T1 ret queue:q.enqueue(1); T1 ret set:s.add(1)=1
        T2 queue:q.enqueue(2); T2 ret queue:q.enqueue(2)";
    assert_eq!(racy(nested, whole), 0);
    assert_eq!(racy(nested, shown), 1);
}

/// Arbitrary events: no panic, and the same result twice.
#[test]
fn traces_that_make_no_sense_are_survived() {
    let mut hidden = 0;
    let built_in = built_in();
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut b = TraceBuilder::new();
        let mut tasks: Vec<TaskId> = Vec::new();
        for i in 0..3 {
            let handler = b.handler(&format!("T{i}"), Mailbox::Fifo).expect("room");
            tasks.push(b.initial(handler));
            tasks.push(b.task("p", handler).expect("room"));
        }
        for name in ["m", "0x10", "0x"] {
            let name = b.interner.name(name).expect("room");
            b.interner.lock(name).expect("room");
            b.interner.condition(name).expect("room");
            b.variable(&format!("x{}", name.0)).expect("room");
        }
        for object in ["set:a", "queue:b", "unknown", "", ":", "file#"] {
            for method in ["add", "enqueue", "close", ""] {
                let object = b.interner.name(object).expect("room");
                let method = b.interner.name(method).expect("room");
                let arguments = (0..rng.index(3)).map(|_| rng.bits()).collect();
                let result = rng.percent(50).then(|| rng.bits());
                let call = Invocation { object, method, arguments, result };
                b.interner.push_invocation(call).expect("room");
            }
        }
        for _ in 0..60 {
            let kind = if rng.percent(40) {
                [EventKind::Invoke, EventKind::Return][rng.index(2)]
            } else {
                EventKind::ALL[rng.index(EventKind::ALL.len())]
            };
            let operand = if rng.percent(90) { rng.index(24) as u32 } else { rng.bits() as u32 };
            let mode = Mode::from_bits(rng.index(8) as u8);
            b.push(tasks[rng.index(tasks.len())], Op::new(kind, mode), operand);
        }
        let trace = b.finish();
        let types = built_in.clone().unspecified(if rng.percent(50) {
            Unspecified::Ignore
        } else {
            Unspecified::NothingCommutes
        });
        for internals in [Internals::Auto, Internals::Hide, Internals::Show] {
            let result = |specified: Specified| {
                let mut edc = EdcAnalysis::new(specified.clone(), CandidateOptions::default());
                let mut hb = HbAnalysis::new(specified, CandidateOptions::default());
                let mut source = TraceBlocks::new(&trace);
                let analyses: &mut [&mut dyn Analysis] = &mut [&mut edc, &mut hb];
                let end = anyorder_predict::run(&mut source, analyses, |_| {});
                (end.is_ok(), edc.finish(), hb.finish())
            };
            let whole = Specified::for_trace(types.clone(), internals, &trace);
            assert_eq!(result(whole.clone()), result(whole));
            result(Specified::new(types.clone(), internals));
            hidden += hidden_events(&trace, &types, internals).iter().filter(|h| **h).count();
            let plain = without_internals(&trace, &types, internals);
            assert!(plain.is_none_or(|plain| plain.len() == trace.len()));
        }
        let mut communication = SpecifiedCommunication::new(types, &trace);
        for event in trace.events() {
            let (op, operand) = (event.op, event.operand);
            communication.object(trace.tables(), op, operand);
            communication.observe(trace.tables(), u64::from(event.id.0), op, operand);
        }
    }
    assert!(hidden > 500, "{hidden}");
}
