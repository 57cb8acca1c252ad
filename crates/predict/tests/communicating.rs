//! The communication of specified objects: against the meaning of its modes, and in witnesses.

use crate::common;

use anyorder_common::random::{Random, Rng};
use anyorder_commute::{Document, Invocation, Mode, built_in_types};
use anyorder_predict::{
    Answer, CandidateOptions, Communication, ConfirmOptions, Confirmer, EdcAnalysis, Form,
    Internals, Specified, SpecifiedCommunication, Types, without_internals,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, Trace};
use common::script::script;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn built_in() -> Types {
    Types::built_in().expect("the built-in types are right")
}

/// A random run of calls on two objects of a type, as a script.
pub(crate) fn random_calls(rng: &mut Rng, types: &Types, name: &str, length: usize) -> Trace {
    let spec = types.spec(name).expect("a type");
    let mut text = String::new();
    for _ in 0..length {
        let method = &spec.methods()[rng.index(spec.methods().len())];
        let arguments: Vec<String> =
            (0..method.arity()).map(|_| rng.index(3).to_string()).collect();
        let result = ["", "=0", "=1", "=2"][rng.index(4)];
        let (thread, object) = (rng.index(3), rng.index(2));
        let arguments = arguments.join(",");
        text.push_str(&format!(
            "T{thread} {name}:{object}.{}({arguments}){result}\n",
            method.name()
        ));
    }
    script(&text)
}

/// The observations of each call, by the meaning of the modes.
pub(crate) fn naive(
    types: &Types,
    trace: &Trace,
    name: &str,
    text: &Document,
) -> Vec<BTreeMap<u8, BTreeSet<u64>>> {
    let spec = types.spec(name).expect("a type");
    let comm = text.comm(name);
    let tables = trace.tables();
    let calls: Vec<(String, Invocation)> = tables
        .invocations
        .iter()
        .map(|i| {
            let call = spec.invocation_of_words(tables.name(i.method), &i.arguments, i.result);
            (tables.name(i.object).to_owned(), call)
        })
        .collect();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut all = Vec::new();
    for (at, (object, later)) in calls.iter().enumerate() {
        let same = |i: &usize| calls[*i].0 == *object;
        let mut of_call = BTreeMap::new();
        let Some(comm) = comm else {
            let sources = (0..at).filter(same).filter(|i| !spec.commute(&calls[*i].1, later));
            of_call.insert(Mode::All as u8, sources.map(|i| i as u64).collect());
            all.push(of_call);
            continue;
        };
        for mode in comm.modes(later) {
            let matching =
                || (0..at).filter(same).filter(|i| comm.matches(mode, &calls[*i].1, later));
            let free = |i: &usize| !taken.contains(i);
            let observed: BTreeSet<usize> = match mode {
                Mode::All => matching().collect(),
                Mode::Last => matching().next_back().into_iter().collect(),
                Mode::First | Mode::TakeFirst => matching().find(free).into_iter().collect(),
                Mode::Top | Mode::TakeTop => matching().rfind(free).into_iter().collect(),
            };
            if matches!(mode, Mode::TakeFirst | Mode::TakeTop) {
                taken.extend(&observed);
            }
            of_call.insert(mode as u8, observed.into_iter().map(|i| i as u64).collect());
        }
        all.push(of_call);
    }
    all
}

fn compare(types: &Types, name: &str, text: &Document, rng: &mut Rng) -> usize {
    let trace = random_calls(rng, types, name, 12);
    let expected = naive(types, &trace, name, text);
    let mut communication = SpecifiedCommunication::new(types.clone(), &trace);
    let mut objects = BTreeMap::new();
    let mut sources_count = 0;
    for (event, expected) in trace.events().zip(&expected) {
        let (tables, id) = (trace.tables(), u64::from(event.id.0));
        let object = communication.object(tables, event.op, event.operand).expect("specified");
        let name = tables.invocations[event.operand as usize].object;
        assert_eq!(*objects.entry(name).or_insert(object), object);
        let observed = communication.observe(tables, id, event.op, event.operand);
        for observation in &observed {
            for source in &observation.sources {
                let source = trace.event(EventId(*source as u32));
                let pair = ((source.op, source.operand), (event.op, event.operand));
                assert!(communication.matches(tables, observation.mode, pair.0, pair.1));
                sources_count += 1;
            }
        }
        // An object tells another one nothing.
        for other in trace.events().take(event.id.index()) {
            let other_name = tables.invocations[other.operand as usize].object;
            let pair = ((other.op, other.operand), (event.op, event.operand));
            let any = [Mode::Last, Mode::All]
                .iter()
                .any(|mode| communication.matches(tables, *mode, pair.0, pair.1));
            assert!(other_name == name || !any);
        }
        let observed: BTreeMap<u8, BTreeSet<u64>> =
            observed.into_iter().map(|o| (o.mode as u8, o.sources.into_iter().collect())).collect();
        assert_eq!(observed, *expected, "{}", common::show(&trace));
    }
    assert!(objects.len() <= 2 && objects.values().all(|object| *object < 2));
    sources_count
}

#[test]
fn calls_observe_what_the_rules_say() {
    let types = built_in();
    let own = "spec bag { put(v)/r ~ put(w)/s when v != w || (!r && !s); put(_) ~ look(); look() ~ look(); }";
    let own = Document::parse(own).expect("the text is right");
    let with_own = Types::with(&own).expect("the texts are right");
    let mut rng = Rng::new(7);
    for _ in 0..300 {
        assert!(own.comm("bag").is_none());
        compare(&with_own, "bag", &own, &mut rng);
    }
    for built_in in built_in_types() {
        let text = built_in.fine().expect("the text is right");
        let observed: usize =
            (0..100).map(|_| compare(&types, built_in.name, &text, &mut rng)).sum();
        println!("{}: {observed} observations", built_in.name);
        // A type may say that no call observes another one.
        let has_rules = !built_in.comm.trim().is_empty();
        assert!(if has_rules { observed > 20 } else { observed == 0 }, "{}", built_in.name);
    }
}

#[test]
fn an_object_with_very_many_calls_and_no_rules_keeps_their_order() {
    let own = Document::parse("spec bag { put(_) ~ put(_); }").expect("the text is right");
    let types = Types::with(&own).expect("the texts are right");
    let trace = script(&"T1 bag:b.put(1)\n".repeat(5_000));
    let mut communication = SpecifiedCommunication::new(types, &trace);
    for event in trace.events() {
        let id = u64::from(event.id.0);
        let observed = communication.observe(trace.tables(), id, event.op, event.operand);
        let [observation] = &observed[..] else { panic!("one mode") };
        assert_eq!(observation.mode, Mode::Last);
        assert_eq!(observation.sources, id.checked_sub(1).into_iter().collect::<Vec<_>>());
    }
}

/// The answer of the search for each candidate.
fn confirmed(text: &str) -> Vec<(u32, u32, Option<Form>)> {
    let trace = script(text);
    let types = built_in();
    let specified = Specified::for_trace(types.clone(), Internals::Auto, &trace);
    let report =
        common::analyse(&trace, &mut EdcAnalysis::new(specified, CandidateOptions::default()));
    let plain = without_internals(&trace, &types, Internals::Auto).unwrap_or(trace);
    let mut communication = SpecifiedCommunication::new(types, &plain);
    let mut confirmer = Confirmer::new(&plain, &mut communication, ConfirmOptions::default());
    let mut answers = Vec::new();
    for violation in &report.violations {
        let (first, second) = (violation.first.event as u32, violation.second.event as u32);
        let form = match confirmer.confirm(EventId(first), EventId(second), &Cancel::new()) {
            Answer::Confirmed(witness) => Some(witness.form),
            Answer::Impossible => None,
            other => panic!("{other:?} for {first}, {second} of {text}"),
        };
        answers.push((first, second, form));
    }
    answers
}

#[test]
fn figure_3_1_has_a_witness() {
    let text = "T1 r x; T1 acq m; T1 set:s.add(1)=1; T1 rel m
        T2 acq m; T2 set:s.contains(42)=1; T2 free x; T2 rel m";
    // Strictly, no event may read freed memory: the read comes last.
    assert_eq!(confirmed(text), [(0, 6, Some(Form::Last))]);
    // A `contains` that sees the `add` comes behind it.
    assert_eq!(confirmed(&text.replace("42", "1")), [(2, 5, None)]);
    // With the events inside the set's calls, which these hide.
    let inside = "T1 r x; T1 acq m; T1 set:s.add(1)=1; T1 w root; T1 ret set:s.add(1)=1; T1 rel m
        T2 acq m; T2 set:s.contains(42)=1; T2 r root; T2 ret set:s.contains(42)=1; T2 free x; T2 rel m";
    assert_eq!(confirmed(inside), [(0, 10, Some(Form::Last))]);
}

#[test]
fn the_groups_have_witnesses() {
    let locked =
        |a: &str, b: &str| format!("T1 acq m; T1 {a}; T1 rel m; T2 acq m; T2 {b}; T2 rel m");
    for (a, b, form) in [
        ("channel:c.send(1)=1", "channel:c.close()=1", Some(Form::Last)),
        // A received value was sent before.
        ("channel:c.send(1)=1", "channel:c.recv()=1", None),
        ("channel:c.send(1)=1", "channel:c.send(2)=1", Some(Form::Reversed)),
        // The failed `send` has seen the `close`.
        ("channel:c.close()=1", "channel:c.send(1)=0", None),
        ("context:c.err()", "context:c.cancel()", Some(Form::Last)),
        ("context:c.cancel()", "context:c.err()=1", None),
        ("file:f.write()=1", "file:f.close()=1", Some(Form::Last)),
        ("wait c", "broadcast c", Some(Form::Reversed)),
        ("w x", "free x", Some(Form::Reversed)),
        ("free x", "free x", Some(Form::Reversed)),
    ] {
        let text = locked(a, b);
        assert_eq!(confirmed(&text), [(1, 4, form)], "{text}");
    }
    // Without a lock both can be enabled, so their observations do not matter.
    for (a, b) in
        [("context:c.cancel()", "context:c.err()=1"), ("file:f.close()=1", "file:f.read()=0")]
    {
        let text = format!("T1 {a}; T2 {b}");
        assert_eq!(confirmed(&text), [(0, 1, Some(Form::CoEnabled))], "{text}");
    }
    // A receive waits for a send; a send waits for room, which the trace does not record, or for
    // the `close`.
    for text in [
        "T1 channel:c.send(1)=1; T2 channel:c.recv()=1",
        "T1 channel:c.close()=1; T2 channel:c.send(1)=0",
    ] {
        assert_eq!(confirmed(text), [(0, 1, None)], "{text}");
    }
    let destroyed = "T1 acq m; T1 rel m; T2 destroy m";
    assert_eq!(confirmed(destroyed), [(0, 2, Some(Form::Reversed))]);
    assert_eq!(script(destroyed).event(EventId(2)).kind(), EventKind::Destroy);
}
