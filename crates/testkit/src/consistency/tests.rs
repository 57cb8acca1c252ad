//! Compares the oracles with each other and with traces of known answer.

use super::*;
use crate::effort::cases;
use crate::script;
use anyorder_common::random::{Random, Rng};
use anyorder_formats::edtrace::{EdtraceOptions, EdtraceReader, EdtraceWriter};
use anyorder_trace::{EventId, Trace, TraceSource};

fn parse(text: &str) -> Trace {
    let options = EdtraceOptions { infer_coherence: true };
    let mut reader = EdtraceReader::with_options(text.as_bytes(), options);
    let trace = Trace::read(&mut reader).expect("the trace is well-formed");
    assert_eq!(reader.problems().errors_total, 0, "{:?}", reader.problems());
    trace
}

/// Answers by all oracles. They must agree, and their witness must be valid.
fn consistent(trace: &Trace, mailbox: Mailbox) -> bool {
    consistent_counted(trace, mailbox, &mut Counters::default())
}

/// The same, and counts the searches with an answer.
fn consistent_counted(trace: &Trace, mailbox: Mailbox, counters: &mut Counters) -> bool {
    let problem = Problem::of(trace, mailbox);
    let by_axioms = axiomatic(&problem);
    let by_runs = search_runs(&problem, 1_000).ok();
    let by_plain_runs = if trace.len() <= 24 { search_plain(&problem, 3_000).ok() } else { None };
    counters.add("answered by runs", u64::from(by_runs.is_some()));
    counters.add("answered by plain runs", u64::from(by_plain_runs.is_some()));
    let all = [Some(by_axioms.clone()), by_runs, by_plain_runs, Some(brute_force(&problem))];
    for found in all.into_iter().flatten() {
        assert_eq!(by_axioms.is_some(), found.is_some(), "{mailbox:?} {trace:#?}");
        if let Some(witness) = found {
            assert_eq!(simulate(trace, mailbox, &witness), Ok(()), "{mailbox:?} {trace:#?}");
            assert!(fits(&problem, &witness), "{mailbox:?} {trace:#?}");
        }
    }
    by_axioms.is_some()
}

/// Whether a total order of the events contains all relations, by their definitions.
fn fits(problem: &Problem, order: &[EventId]) -> bool {
    let mut at = vec![usize::MAX; problem.len()];
    for (position, event) in order.iter().enumerate() {
        if at[event.index()] != usize::MAX {
            return false;
        }
        at[event.index()] = position;
    }
    if order.len() != problem.len() {
        return false;
    }
    let forward = |edges: Vec<(usize, usize)>| edges.iter().all(|(from, to)| at[*from] < at[*to]);
    let given = [problem.po(), problem.initial_first(), problem.rf(), problem.pb()];
    let values = (0..problem.writes.len()).all(|location| {
        let mut writes = problem.writes[location].clone();
        if !problem.coherent[location] {
            writes.sort_by_key(|write| at[*write]);
        }
        let reads_before = |reads: Vec<usize>, later: &[usize]| {
            later.iter().all(|write| reads.iter().all(|r| r == write || at[*r] < at[*write]))
        };
        writes.is_sorted_by_key(|write| at[*write])
            && reads_before(problem.readers(location, None), &writes)
            && writes.iter().enumerate().all(|(number, write)| {
                reads_before(problem.readers(location, Some(*write)), &writes[number + 1..])
            })
    });
    let messages = (0..problem.handlers).all(|handler| {
        let posted = problem.posted_to(handler);
        posted.iter().all(|x| posted.iter().all(|y| x == y || pair_fits(problem, &at, *x, *y)))
    });
    given.into_iter().all(forward) && values && messages
}

/// Whether two messages of one handler do not overlap, and come in order if the mailbox keeps that
/// of their posts.
fn pair_fits(problem: &Problem, at: &[usize], x: usize, y: usize) -> bool {
    let (x_message, y_message) = (&problem.messages[x], &problem.messages[y]);
    let before = |a: &Message, b: &Message| {
        a.events.iter().all(|e| b.events.iter().all(|f| at[*e] < at[*f]))
    };
    if !before(x_message, y_message) && !before(y_message, x_message) {
        return false;
    }
    match (x_message.post, y_message.post) {
        (Some(first), Some(second)) if at[first] < at[second] && problem.keeps_order(x, y) => {
            before(x_message, y_message)
        }
        _ => true,
    }
}

/// The trace that the procedure sketched for traces without nested posting wrongly accepts.
const PENDING_OF_DIFFERENT_POSTERS: &str = "edtrace 1
e1 A - post a1
e2 A - w x
e3 B - r x e2
e4 B - post b1
e5 h a1 get
e6 h a1 r y e8
e7 h b1 get
e8 h b1 w y
";

#[test]
fn the_order_of_pending_posts_of_different_posters_matters() {
    let trace = parse(PENDING_OF_DIFFERENT_POSTERS);
    assert!(!consistent(&trace, Mailbox::Fifo));
    assert!(!consistent(&trace, Mailbox::Delayed));
    assert!(consistent(&trace, Mailbox::Bag));
}

/// For each relation a trace that only this relation makes inconsistent.
const NEEDED: [(Relation, &str); 8] = [
    (Relation::Po, "e1 h - r x e2\ne2 h - w x"),
    (Relation::InitialFirst, "e1 h - post m\ne2 h - r x e4\ne3 h m get\ne4 h m w x"),
    (Relation::Rf, "e1 h - r x e4\ne2 h - w y\ne3 k - r y e2\ne4 k - w x"),
    (Relation::Co, "e1 h - w x\ne2 h - w x\nco x e2 e1"),
    (Relation::Fr, "e1 h - w x\ne2 h - w x\ne3 h - r x e1\nco x e1 e2"),
    (Relation::Pb, "e1 k - r x e4\ne2 k - post m\ne3 h m get\ne4 h m w x"),
    (
        Relation::Eo,
        "p1 A - post m\np2 B - post n\ne1 h m get\ne2 h m w x\ne3 h m r y e6\n\
         e4 h n get\ne5 h n r x e2\ne6 h n w y",
    ),
    (
        Relation::Mo,
        "e1 k - post m\ne2 k - post n\ne3 h m get\ne4 h m r x e6\ne5 h n get\ne6 h n w x",
    ),
];

#[test]
fn every_relation_is_needed() {
    for (relation, lines) in NEEDED {
        let trace = parse(&format!("edtrace 1\n{lines}\n"));
        assert!(!consistent(&trace, Mailbox::Fifo), "{relation:?}");
        let problem = Problem::of(&trace, Mailbox::Fifo);
        assert!(!consistent_without(&problem, &[]));
        assert!(consistent_without(&problem, &[relation]), "{relation:?} is not what is needed");
    }
}

#[test]
fn every_relation_is_needed_on_random_traces() {
    let mut wrong = Counters::default();
    for relation in Relation::ALL {
        wrong.add(name(relation), 0);
    }
    for seed in 0..300 {
        for shape in &Shape::ALL {
            let problem = Problem::of(&random_partial(seed, shape), shape.mailbox);
            if brute_force(&problem).is_none() {
                for relation in Relation::ALL {
                    let accepted = consistent_without(&problem, &[relation]);
                    wrong.add(name(relation), u64::from(accepted));
                }
            }
        }
    }
    for relation in Relation::ALL {
        assert!(wrong.named(name(relation)) > 0, "{relation:?}\n{wrong}");
    }
}

fn name(relation: Relation) -> &'static str {
    match relation {
        Relation::Po => "without po",
        Relation::InitialFirst => "without initial messages first",
        Relation::Rf => "without rf",
        Relation::Co => "without co",
        Relation::Fr => "without fr",
        Relation::Pb => "without pb",
        Relation::Eo => "without eo",
        Relation::Mo => "without mo",
    }
}

#[test]
fn oracles_agree_on_random_traces_under_all_mailboxes() {
    let mut counters = Counters::default();
    for shape in &Shape::ALL {
        for seed in 0..cases(500) {
            let trace = random_partial(seed, shape);
            for mailbox in [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed] {
                let answer = consistent_counted(&trace, mailbox, &mut counters);
                if mailbox == shape.mailbox {
                    counters.verdict(shape.kind, answer);
                }
            }
        }
    }
    counters.assert_none_is_zero();
    assert!(counters.named("answered by runs") > 36 * cases(500), "{counters}");
    assert!(counters.named("answered by plain runs") > 4_000, "{counters}");
    assert_eq!(counters.of(Kind::Recorded, false), 0, "recorded traces are consistent\n{counters}");
}

#[test]
fn random_traces_are_well_formed() {
    for shape in &Shape::ALL {
        for seed in 0..100 {
            let trace = random_partial(seed, shape);
            let again = random_partial(seed, shape);
            assert_eq!(trace, again, "the same seed gives the same trace");
            if trace.tables().inputs.is_empty() {
                let mut writer = EdtraceWriter::new(Vec::new());
                trace.write(&mut writer).expect("it can be written");
                let text = String::from_utf8(writer.into_inner()).expect("it is text");
                let read = parse(&text);
                let untimed =
                    trace.tables().tasks.iter().all(|task| {
                        task.delay == 0 && task.position == anyorder_trace::Position::Back
                    });
                for mailbox in [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed] {
                    if untimed || mailbox != Mailbox::Delayed {
                        let problems = [Problem::of(&trace, mailbox), Problem::of(&read, mailbox)];
                        let [one, two] = problems.map(|problem| brute_force(&problem).is_some());
                        assert_eq!(one, two, "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_empty_trace_is_consistent() {
    let trace = parse("edtrace 1\n");
    assert!(consistent(&trace, Mailbox::Fifo));
    assert_eq!(simulate(&trace, Mailbox::Fifo, &[]), Ok(()));
}

#[test]
fn a_message_cannot_post_itself() {
    let trace = parse("edtrace 1\ne1 h m get\ne2 h m post m\n");
    for mailbox in [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed] {
        assert!(!consistent(&trace, mailbox));
    }
}

#[test]
fn coherence_is_inferred_where_it_is_missing() {
    let lines = "e1 A - w x\ne2 B - w x\ne3 C - r x e1\ne4 C - r x e2\n";
    assert!(consistent(&parse(&format!("edtrace 1\n{lines}")), Mailbox::Fifo));
    assert!(consistent(&parse(&format!("edtrace 1\n{lines}co x e1 e2\n")), Mailbox::Fifo));
    assert!(!consistent(&parse(&format!("edtrace 1\n{lines}co x e2 e1\n")), Mailbox::Fifo));
    let back = "e5 D - r x e2\ne6 D - r x e1\n";
    assert!(!consistent(&parse(&format!("edtrace 1\n{lines}{back}")), Mailbox::Fifo));
}

#[test]
fn updates_read_and_write_at_once() {
    let updates = |source: &str| {
        script(&format!(
            "handler a none
             handler b none
             first: a rmw x
             b rmw x {source}"
        ))
        .trace
    };
    // An observed trace: the first reads the initial value, and the second what the first wrote.
    assert!(consistent(&updates(""), Mailbox::Fifo));
    assert!(consistent(&updates("refers=first"), Mailbox::Fifo));
    let mut both_initial = updates("");
    let mut columns = both_initial.columns().clone();
    columns.refers.clear();
    columns.refers.push(0, anyorder_trace::Columns::INITIAL);
    columns.refers.push(1, anyorder_trace::Columns::INITIAL);
    both_initial = Trace::new(both_initial.tables().clone(), columns);
    assert!(!consistent(&both_initial, Mailbox::Fifo), "the second would overwrite unseen");
}

/// Two messages of one poster, run in reverse post order.
fn two_posts(first: &str, second: &str, trigger: &str) -> Trace {
    script(&format!(
        "handler ui delayed
         handler io none
         task m ui {first}
         task n ui {second}
         io post m
         io post n
         n get
         {trigger}
         n write x
         n end
         m get
         m read x
         m end"
    ))
    .trace
}

#[test]
fn delays_positions_and_idle_handlers_allow_what_they_say() {
    let idle = "n trigger idle name=later";
    for (first, second, trigger, expected) in [
        ("", "", "", false),
        ("delay=1", "", "", true),
        ("", "delay=1", "", false),
        ("delay=1", "delay=1", "", false),
        ("delay=2", "delay=1", "", true),
        ("front", "", "", false),
        ("front", "delay=1", "", false),
        ("", "front", "", true),
        ("front", "front", "", true),
        ("", "", idle, true),
        ("front", "", idle, true),
    ] {
        let trace = two_posts(first, second, trigger);
        let answer = consistent(&trace, Mailbox::Delayed);
        assert_eq!(answer, expected, "`{first}` then `{second}` {trigger}");
        assert!(!consistent(&trace, Mailbox::Fifo));
        assert!(consistent(&trace, Mailbox::Bag));
    }
}

#[test]
fn the_simulator_takes_only_witnesses() {
    let trace = parse("edtrace 1\ne1 k - post m\ne2 k - w x\ne3 h m get\ne4 h m r x e2\n");
    let run = |order: &[u32]| {
        let order: Vec<EventId> = order.iter().map(|event| EventId(event - 1)).collect();
        simulate(&trace, Mailbox::Fifo, &order)
    };
    assert_eq!(run(&[1, 2, 3, 4]), Ok(()));
    assert_eq!(run(&[1, 3, 2, 4]), Ok(()));
    for wrong in [
        &[1, 2, 3][..],
        &[1, 2, 3, 3],
        &[1, 2, 3, 4, 4],
        &[2, 1, 3, 4],
        &[3, 1, 2, 4],
        &[1, 2, 4, 3],
        &[1, 3, 4, 2],
        &[1, 2, 3, 5],
        &[],
    ] {
        assert!(run(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn the_simulator_takes_exactly_the_orders_that_fit_the_axioms() {
    let mut counters = Counters::default();
    for seed in 0..1500 {
        let shape = Shape::named(["tiny", "perturbed", "perturbed-delayed"][seed as usize % 3]);
        let trace = random_partial(seed, &shape);
        // All orders of more events would take too long.
        counters.add(if trace.len() > 6 { "larger" } else { "small" }, 1);
        if trace.len() > 6 {
            continue;
        }
        for mailbox in [Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed] {
            let problem = Problem::of(&trace, mailbox);
            let mut order: Vec<EventId> = trace.events().map(|event| event.id).collect();
            let mut any = false;
            permutations(&mut order, 0, &mut |order| {
                let taken = simulate(&trace, mailbox, order).is_ok();
                assert_eq!(taken, fits(&problem, order), "{mailbox:?} {order:?} {trace:#?}");
                counters.add(if taken { "taken" } else { "refused" }, 1);
                any |= taken;
            });
            assert_eq!(any, consistent(&trace, mailbox), "{mailbox:?} {trace:#?}");
        }
    }
    assert!(counters.named("taken") > 1000, "{counters}");
    assert!(counters.named("refused") > 1000, "{counters}");
    assert!(counters.named("small") > 250, "{counters}");
}

#[test]
fn the_simulator_judges_changed_witnesses_by_the_axioms() {
    let mut counters = Counters::default();
    let mut rng = Rng::new(3);
    for seed in 0..150 {
        for shape in &Shape::ALL {
            let trace = random_partial(seed, shape);
            let problem = Problem::of(&trace, shape.mailbox);
            let Some(mut order) = brute_force(&problem) else { continue };
            for _ in 0..20 {
                let before = order.clone();
                if order.len() >= 2 && rng.percent(80) {
                    let at = rng.index(order.len() - 1);
                    order.swap(at, at + 1);
                } else if let Some(event) = order.pop() {
                    order.insert(rng.index(order.len() + 1), event);
                }
                let taken = simulate(&trace, shape.mailbox, &order);
                assert_eq!(taken.is_ok(), fits(&problem, &order), "{taken:?} {order:?} {trace:#?}");
                counters.add(if taken.is_ok() { "taken" } else { "refused" }, 1);
                // A random walk through the witnesses.
                if taken.is_err() {
                    order = before;
                }
            }
        }
    }
    assert!(counters.named("taken") > 1000, "{counters}");
    assert!(counters.named("refused") > 1000, "{counters}");
}

/// Calls `see` with all permutations of the elements after `from`.
fn permutations(order: &mut Vec<EventId>, from: usize, see: &mut impl FnMut(&[EventId])) {
    if from == order.len() {
        return see(order);
    }
    for at in from..order.len() {
        order.swap(from, at);
        permutations(order, from + 1, see);
        order.swap(from, at);
    }
}

#[test]
fn images_of_formulas_are_consistent_iff_they_can_be_satisfied() {
    let mut rng = Rng::new(5);
    let mut answers = [0, 0];
    for _ in 0..300 {
        let variables = 2 + rng.index(2);
        let clause = |rng: &mut Rng| -> Vec<(usize, bool)> {
            let skip = if variables == 3 { rng.index(4) } else { 3 };
            (0..variables).filter(|v| *v != skip).map(|v| (v, rng.percent(50))).collect()
        };
        let clauses: Vec<_> = (0..rng.within(2, 6)).map(|_| clause(&mut rng)).collect();
        let satisfied = (0..1_u32 << variables).any(|values| {
            clauses.iter().all(|c| c.iter().any(|(v, value)| (values >> v & 1 == 1) == *value))
        });
        let trace = formulas::image(variables, &clauses).trace(&mut rng);
        assert_eq!(consistent(&trace, Mailbox::Fifo), satisfied, "{clauses:?}");
        answers[usize::from(satisfied)] += 1;
    }
    assert!(answers[0] > 10 && answers[1] > 10, "{answers:?}");
}

#[test]
fn saturation_is_right_as_far_as_it_goes() {
    let known = Problem::of(&parse(PENDING_OF_DIFFERENT_POSTERS), Mailbox::Fifo);
    assert_eq!(saturate(&known), Saturated::Refuted);
    let mut counters = Counters::default();
    for seed in 0..150 {
        for shape in &Shape::ALL {
            let problem = Problem::of(&random_partial(seed, shape), shape.mailbox);
            let answer = brute_force(&problem).is_some();
            match saturate(&problem) {
                Saturated::Refuted => {
                    assert!(!answer);
                    counters.add("refuted", 1);
                }
                Saturated::Open(0) if problem.coherent.iter().all(|given| *given) => {
                    assert!(answer);
                    counters.add("settled", 1);
                }
                _ if answer => counters.add("open and consistent", 1),
                _ => counters.add("inconsistent by search only", 1),
            }
        }
    }
    let names = ["refuted", "settled", "open and consistent", "inconsistent by search only"];
    assert!(names.iter().all(|name| counters.named(name) > 100), "{counters}");
}
