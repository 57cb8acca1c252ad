//! Specified objects against the definitions: conflicts of points, EDC over them, hidden events.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_commute::{Document, Model, Spec, Waits, built_in_types};
use anyorder_predict::{
    Analysis, CandidateOptions, EdcAnalysis, Engine, HbAnalysis, Internals, Relation,
    Specification, Specified, StreamEvent, Types, Violation, ViolationKind, hidden_events,
    without_internals,
};
use anyorder_trace::{EventKind, Invocation, Mailbox, Mode, Op, Trace, TraceBuilder};
use common::calls::{built_in, calls, conflict, points, run_of};
use common::generate::{Shape, trace};
use common::naive::{Naive, Order};
use common::{show, specified};
use std::collections::BTreeSet;

/// Compares the points of all pairs of calls with the specification; returns how many commute, how
/// many do not, and how many commute but conflict because access points are coarser. Calls whose
/// order waiting decides count as commuting.
fn compare_points(
    types: &Types,
    (spec, waits): (&Spec, Option<&Waits>),
    stranger: bool,
) -> (usize, usize, usize) {
    let mut b = TraceBuilder::new();
    let object = format!("{}:it", spec.name());
    let mut calls = calls(&mut b, &object, spec);
    if stranger {
        let method = b.interner.name("unheard_of").expect("room");
        calls.push(Invocation { method, arguments: vec![1], ..calls[0].clone() });
        calls.push(Invocation { arguments: vec![1, 2, 3, 4], ..calls[0].clone() });
    }
    let trace = run_of(b, &calls);
    let seen: Vec<_> = calls
        .iter()
        .map(|call| {
            let method = trace.tables().name(call.method);
            spec.invocation_of_words(method, &call.arguments, call.result)
        })
        .collect();
    let mut tally = (0, 0, 0);
    let mut streamed = Specified::new(types.clone(), Internals::Show);
    let mut whole = Specified::for_trace(types.clone(), Internals::Show, &trace);
    for specified in [&mut streamed, &mut whole] {
        let tables = specified.classes();
        let points = points(&trace, specified);
        for i in 0..calls.len() {
            for j in 0..calls.len() {
                let commute = spec.commute(&seen[i], &seen[j]);
                let found = conflict(&tables, &points[i], &points[j]);
                let op = Op::from(EventKind::Invoke);
                let asked = specified.commute(trace.tables(), (op, i as u32), (op, j as u32));
                let text = || format!("{}: {:?} {:?}", spec.name(), seen[i], seen[j]);
                let is_settled = waits.is_some_and(|waits| waits.settles(&seen[i], &seen[j]));
                assert_eq!(asked, commute || is_settled, "by the condition: {}", text());
                assert!(found || commute, "{}", text());
                if specified::is_exact(spec, &seen[i], &seen[j]) {
                    assert_eq!(found, !commute, "{}", text());
                } else {
                    tally.2 += usize::from(found && commute);
                }
                if commute {
                    tally.0 += 1;
                } else {
                    tally.1 += 1;
                }
            }
        }
    }
    tally
}

#[test]
fn points_conflict_when_calls_do_not_commute() {
    let types = built_in();
    for built_in in built_in_types() {
        let spec = types.spec(built_in.name).expect("a built-in type");
        assert!(!Model::calls(&built_in).is_empty());
        let fine = built_in.fine().expect("a built-in text");
        let waits = fine.waits(built_in.name);
        for stranger in [false, true] {
            let (commuting, not, inexact) = compare_points(&types, (spec, waits), stranger);
            println!(
                "{}: {commuting} pairs commute, {not} do not, {inexact} inexact",
                built_in.name
            );
            assert!(commuting > 0 && not > 0, "{}", built_in.name);
        }
        let coarse = built_in.coarse().expect("a built-in text");
        let types = Types::with(&coarse).expect("the texts are right");
        let spec = types.spec(built_in.name).expect("there");
        compare_points(&types, (spec, coarse.waits(built_in.name)), true);
    }
}

/// A release is hidden only together with its acquire: otherwise the lock of a section that an
/// invocation ends would look held for ever.
#[test]
fn a_release_inside_of_a_lock_taken_outside_is_seen() {
    let mut b = TraceBuilder::new();
    let handler = b.handler("T", Mailbox::None).expect("room");
    let task = b.initial(handler);
    let call = anyorder_trace::Invocation {
        object: b.interner.name("context:c").expect("room"),
        method: b.interner.name("cancel").expect("room"),
        arguments: Vec::new(),
        result: None,
    };
    let call = b.interner.push_invocation(call).expect("room");
    b.acquire(task, "outer", Mode::EXCLUSIVE).expect("room");
    b.push(task, EventKind::Invoke.into(), call.0);
    b.acquire(task, "inner", Mode::EXCLUSIVE).expect("room");
    b.release(task, "outer", Mode::EXCLUSIVE).expect("room");
    b.release(task, "inner", Mode::EXCLUSIVE).expect("room");
    b.release(task, "inner", Mode::EXCLUSIVE).expect("room");
    b.push(task, EventKind::Return.into(), call.0);
    let hidden = hidden_events(&b.finish(), &built_in(), Internals::Auto);
    assert_eq!(hidden, [false, false, true, false, true, false, false]);
}

/// More classes than a table has: a cell for each two groups of them.
#[test]
fn large_specifications_are_exact_too() {
    for methods in [5usize, 31, 33, 70, 200] {
        let mut text = "spec large {".to_owned();
        for i in 0..methods {
            text.push_str(&format!("m{i}(v)/r ~ m{i}(w)/s when v != w || (!r && !s);\n"));
            if i % 3 == 0 && i + 1 < methods {
                text.push_str(&format!("m{i}(v) ~ m{}(w) when v != w;\n", i + 1));
            }
            if i % 5 == 0 && i + 7 < methods {
                text.push_str(&format!("m{i}(_) ~ m{}(_);\n", i + 7));
            }
        }
        text.push('}');
        let document = Document::parse(&text).expect("the text is right");
        let types = Types::with(&document).expect("the texts are right");
        let spec = types.spec("large").expect("there");
        let mut b = TraceBuilder::new();
        // A part of the calls is enough.
        let calls: Vec<Invocation> = calls(&mut b, "large", spec)
            .into_iter()
            .filter(|call| call.result.is_some_and(|r| r < 2) && call.arguments[0] < 2)
            .collect();
        let trace = run_of(b, &calls);
        let mut specified = Specified::for_trace(types.clone(), Internals::Show, &trace);
        let tables = specified.classes();
        let points = points(&trace, &mut specified);
        let seen: Vec<_> = calls
            .iter()
            .map(|c| {
                spec.invocation_of_words(trace.tables().name(c.method), &c.arguments, c.result)
            })
            .collect();
        let mut commuting = 0;
        for i in 0..calls.len() {
            for j in 0..calls.len() {
                let commute = spec.commute(&seen[i], &seen[j]);
                commuting += usize::from(commute);
                assert_eq!(conflict(&tables, &points[i], &points[j]), !commute, "{methods}");
            }
        }
        let most = points.iter().map(Vec::len).max().unwrap_or(0);
        println!("{methods} methods: {} tables, at most {most} points a call", tables.len());
        assert!(commuting > 0);
    }
}

/// Changes a random trace: accesses become invocations, returns, or destructions of locks.
fn with_invocations(rng: &mut Rng, t: &Trace, types: &Types, returns: bool) -> Trace {
    let mut tables = t.tables().clone();
    let mut columns = t.columns().clone();
    let mut b = TraceBuilder::new();
    let mut all = Vec::new();
    let specs = built_in_types();
    for i in 0..2 {
        let spec = types.spec(specs[rng.index(specs.len())].name).expect("a built-in type");
        all.extend(calls(&mut b, &format!("{}:{i}", spec.name()), spec));
    }
    all.extend(calls(&mut b, "nothing:2", types.spec("set").expect("there")).into_iter().take(2));
    // The names of the calls belong to a separate trace.
    let names = b.finish();
    for _ in 0..12 {
        let call = &all[rng.index(all.len())];
        // Every string anew: equal names of objects are one object.
        let mut name = |id| tables.names.push(names.tables().name(id)).expect("room");
        let (object, method) = (name(call.object), name(call.method));
        let (arguments, result) = (call.arguments.clone(), call.result);
        tables.invocations.push(Invocation { object, method, arguments, result });
    }
    let ids: Vec<u32> = (0..tables.invocations.len() as u32).collect();
    let mut open: Vec<(u32, u32)> = Vec::new();
    for row in 0..columns.len() {
        if !columns.ops[row].kind().is_access() || rng.percent(30) {
            continue;
        }
        let task = columns.tasks[row].0;
        let mine = open.iter().rposition(|(of, _)| *of == task);
        if rng.percent(8) && !tables.locks.is_empty() {
            columns.ops[row] = EventKind::Destroy.into();
            columns.operands[row] = rng.index(tables.locks.len()) as u32;
        } else if let Some(at) = mine.filter(|_| returns && rng.percent(50)) {
            columns.ops[row] = EventKind::Return.into();
            columns.operands[row] = open.remove(at).1;
        } else {
            columns.ops[row] = EventKind::Invoke.into();
            columns.operands[row] = ids[rng.index(ids.len())];
            open.push((task, columns.operands[row]));
        }
    }
    Trace::new(tables, columns)
}

fn of_kind(violations: &[Violation], kind: ViolationKind) -> BTreeSet<(usize, usize)> {
    let of = violations.iter().filter(|v| v.kind == kind);
    of.map(|v| (v.first.event as usize, v.second.event as usize)).collect()
}

fn seconds(pairs: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    pairs.iter().map(|pair| pair.1).collect()
}

#[derive(Default, Debug)]
struct Tally {
    unordered: u64,
    racy: u64,
    racy_calls: u64,
    non_racy: u64,
    non_racy_calls: u64,
    dropped: u64,
    destroyed: u64,
    hidden: u64,
    nested: u64,
    several_cells: u64,
    hb_racy: u64,
    masked: u64,
}

fn check<R: Relation>(
    t: &Trace,
    naive: &Naive,
    engine: &mut Engine<R, Specified>,
    tally: &mut Tally,
) -> Vec<Violation> {
    engine.grow(t.tables()).expect("small");
    let mut stamps = Vec::new();
    for event in t.events() {
        let step = StreamEvent::of_event(t, event.id);
        engine.step(t.tables(), step).expect("the trace is right");
        stamps.push(engine.stamp().expect("there is an event"));
        for (i, stamp) in stamps.iter().enumerate() {
            let ordered = engine.knows(*stamp);
            let at = event.id.index();
            assert_eq!(
                ordered,
                naive.before[at][i],
                "{i} before {at} by {}:\n{}",
                std::any::type_name::<R>(),
                show(t)
            );
            tally.unordered += u64::from(!ordered);
        }
    }
    let report = engine.finish();
    tally.hidden += report.counts.hidden;
    report.violations
}

fn check_one(t: &Trace, types: &Types, hide: bool, tally: &mut Tally) {
    let extra = specified::extra(t, types, hide);
    let internals = if hide { Internals::Auto } else { Internals::Show };
    if hide {
        assert_eq!(hidden_events(t, types, internals), extra.hidden, "{}", show(t));
        tally.nested += extra
            .hidden
            .iter()
            .zip(&t.columns().ops)
            .filter(|(hidden, op)| **hidden && op.kind() == EventKind::Invoke)
            .count() as u64;
    }
    let specified = || Specified::for_trace(types.clone(), internals, t);
    let extra_hidden = extra.hidden.clone();
    let mut of_points = specified();
    tally.several_cells +=
        points(t, &mut of_points).iter().filter(|points| points.len() > 1).count() as u64;
    let is_call = |at: &usize| t.columns().ops[*at].kind() == EventKind::Invoke;
    let is_destroy = |at: &usize| t.columns().ops[*at].kind() == EventKind::Destroy;

    let naive = Naive::with(t, Order::Edc, false, Some(extra.clone()));
    let found =
        check(t, &naive, &mut EdcAnalysis::new(specified(), CandidateOptions::default()), tally);
    let mut once = found.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), found.len(), "a pair is found once:\n{}", show(t));
    let racy = of_kind(&found, ViolationKind::Racy);
    let races = naive.races();
    assert_eq!(seconds(&racy), seconds(&races), "racy {racy:?} {races:?}:\n{}", show(t));
    assert!(racy.is_subset(&races), "{racy:?} {races:?}:\n{}", show(t));
    let non_racy = of_kind(&found, ViolationKind::NonRacy);
    let candidates = naive.candidates();
    let text = || format!("{non_racy:?} {candidates:?}:\n{}", show(t));
    assert_eq!(seconds(&non_racy), seconds(&candidates), "{}", text());
    assert!(non_racy.is_subset(&candidates), "{}", text());
    tally.racy += racy.len() as u64;
    tally.racy_calls += racy.iter().filter(|(_, j)| is_call(j)).count() as u64;
    tally.destroyed += racy.iter().filter(|(i, j)| is_destroy(i) || is_destroy(j)).count() as u64;
    tally.non_racy += non_racy.len() as u64;
    tally.non_racy_calls += non_racy.iter().filter(|(_, j)| is_call(j)).count() as u64;
    tally.dropped += extra
        .conflicting
        .iter()
        .filter(|pair| !naive.common(pair.0, pair.1).is_empty() && !candidates.contains(pair))
        .count() as u64;

    if !hide {
        // In a stream any method may follow; this does not change the result for the methods that
        // do.
        let streamed = Specified::new(types.clone(), Internals::Auto);
        let report =
            common::analyse(t, &mut EdcAnalysis::new(streamed, CandidateOptions::default()));
        for (kind, expected) in
            [(ViolationKind::Racy, &races), (ViolationKind::NonRacy, &candidates)]
        {
            let found = of_kind(&report.violations, kind);
            assert_eq!(seconds(&found), seconds(expected), "{}", show(t));
            assert!(found.is_subset(expected), "{}", show(t));
        }
    }

    let naive = Naive::with(t, Order::Hb, false, Some(extra));
    let found =
        check(t, &naive, &mut HbAnalysis::new(specified(), CandidateOptions::default()), tally);
    let racy = of_kind(&found, ViolationKind::Racy);
    assert_eq!(seconds(&racy), seconds(&naive.races()), "hb of {}", show(t));
    tally.hb_racy += racy.len() as u64;

    if hide {
        // The same trace without the hidden events.
        let plain = without_internals(t, types, internals);
        assert_eq!(plain.is_some(), extra_hidden.contains(&true));
        let plain = plain.as_ref().unwrap_or(t);
        for (row, hidden) in extra_hidden.iter().enumerate() {
            let (was, is) = (t.columns().ops[row].kind(), plain.columns().ops[row].kind());
            assert_eq!(is, if *hidden { EventKind::Other } else { was });
        }
        let options = CandidateOptions::default();
        let of_plain = common::analyse(plain, &mut EdcAnalysis::new(specified(), options));
        let of_whole = common::analyse(t, &mut EdcAnalysis::new(specified(), options));
        for kind in [ViolationKind::Racy, ViolationKind::NonRacy] {
            let [a, b] = [&of_plain, &of_whole].map(|r| of_kind(&r.violations, kind));
            assert_eq!(a, b, "{}", show(t));
        }
        tally.masked += u64::from(of_plain.counts.racy > 0);
    }
}

#[test]
fn edc_over_specified_objects_is_that_of_the_definition() {
    let types = built_in();
    let mut tally = Tally::default();
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let shape = Shape {
            events: 8 + rng.index(50),
            threads: 2 + rng.index(4),
            locks: 1 + rng.index(3),
            variables: 1 + rng.index(4),
            locking: 20 + rng.index(40),
            other: [0, 5, 20][rng.index(3)],
            // An atomic write publishes an acquire and not the release; the engine ignores this.
            atomic: 0,
            shared: [0, 0, 50][rng.index(3)],
            ranges: rng.percent(10),
            guarded: rng.percent(30),
        };
        let plain = trace(&mut rng, shape);
        let hide = rng.percent(40);
        let t = with_invocations(&mut rng, &plain, &types, hide);
        check_one(&t, &types, hide, &mut tally);
    }
    println!("{tally:?}");
    let Tally { unordered, racy, racy_calls, non_racy, non_racy_calls, .. } = tally;
    let Tally { dropped, destroyed, hidden, nested, several_cells, hb_racy, masked, .. } = tally;
    for count in [
        unordered,
        racy,
        racy_calls,
        non_racy,
        non_racy_calls,
        dropped,
        destroyed,
        hidden,
        nested,
        several_cells,
        hb_racy,
        masked,
    ] {
        assert!(count > 50, "a branch that is hardly taken: {tally:?}");
    }
}
