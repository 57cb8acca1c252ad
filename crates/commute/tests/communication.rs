//! The communication of the built-in types, on all short runs of their models.

use anyorder_commute::{
    BuiltIn, Counted, Invocation, Model, Observations, Observed, Spec, WaitRule, Waits,
    built_in_type, built_in_types,
};

type Run = Vec<Invocation>;

/// All runs of a length, from the first initial state (the channel that is never full).
fn runs(of: &'static BuiltIn, spec: &Spec, length: usize) -> Vec<Run> {
    let start = of.initial().swap_remove(0);
    let mut runs = vec![(start, Run::new())];
    for _ in 0..length {
        let mut longer = Vec::new();
        for (state, run) in &runs {
            for call in of.calls() {
                for (next, result) in of.apply(state, &call) {
                    let mut run = run.clone();
                    run.push(spec.invocation(&call.method, call.arguments.clone(), result));
                    longer.push((next, run));
                }
            }
        }
        runs = longer;
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Whether invocations, in this order, are a run.
fn is_run<'a>(
    of: &'static BuiltIn,
    spec: &Spec,
    order: impl Iterator<Item = &'a Invocation>,
) -> bool {
    let mut state = of.initial().swap_remove(0);
    for wanted in order {
        let next = of.calls().into_iter().find_map(|call| {
            if spec.method(&call.method) != Some(wanted.method)
                || call.arguments != wanted.arguments
            {
                return None;
            }
            let mut outcomes = of.apply(&state, &call).into_iter();
            outcomes.find(|(_, result)| *result == wanted.result)
        });
        match next {
            Some((next, _)) => state = next,
            None => return false,
        }
    }
    true
}

/// The observations of each invocation, by position in the run: invocations keep their numbers in
/// another order.
fn communication(of: &anyorder_commute::Comm, run: &Run, order: &[usize]) -> Vec<Vec<Observed>> {
    let mut observations = Observations::new();
    let mut found = vec![Vec::new(); run.len()];
    for (place, &at) in order.iter().enumerate() {
        let mut observed = observations.invoke(of, place, &run[at]);
        for entry in &mut observed {
            entry.sources.iter_mut().for_each(|source| *source = order[*source]);
            entry.sources.sort_unstable();
        }
        found[at] = observed;
    }
    found
}

fn orders(length: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![Vec::new()];
    for at in 0..length {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, at);
                    order
                })
            })
            .collect();
    }
    orders
}

/// Whether every waiting call of an order can return there, with the least open numbers with which
/// the run is possible.
fn waits_hold(waits: Option<&Waits>, run: &Run, order: &[usize]) -> bool {
    let Some(waits) = waits else { return true };
    let counts = |rule: &WaitRule, order: &[usize], at: usize| -> Vec<i64> {
        let count = |counted: &Counted| {
            let key = Some(counted.key_for(&run[order[at]]));
            order[..at].iter().filter(|e| counted.key_of(&run[**e]) == key).count() as i64
        };
        rule.counted().iter().map(count).collect()
    };
    let identity: Vec<usize> = (0..run.len()).collect();
    let least = |at: usize| {
        let rules = waits.rules_of(&run[at]).filter(|rule| !rule.is_observed());
        rules.filter_map(|rule| rule.least(&counts(rule, &identity, at))).max().unwrap_or(0)
    };
    let open = (0..run.len()).map(least).max().unwrap_or(0);
    (0..order.len()).all(|at| {
        let mut rules = waits.rules_of(&run[order[at]]).filter(|rule| !rule.is_observed());
        rules.all(|rule| rule.holds(&counts(rule, order, at), open))
    })
}

/// The runs to check: all up to a length at which there are not too many.
fn all_runs(of: &'static BuiltIn, spec: &Spec) -> Vec<Run> {
    let mut all = Vec::new();
    for length in 1..=5 {
        let more = runs(of, spec, length);
        if more.len() > 6_000 {
            break;
        }
        all.extend(more);
    }
    all
}

#[test]
fn what_communicates_does_not_commute() {
    for of in built_in_types() {
        for document in [of.coarse().unwrap(), of.fine().unwrap()] {
            let (spec, comm) = (document.spec(of.name).unwrap(), document.comm(of.name).unwrap());
            let has_rules = !of.comm.trim().is_empty();
            let mut pairs = 0;
            for run in all_runs(of, spec) {
                let order: Vec<usize> = (0..run.len()).collect();
                for (later, observed) in communication(comm, &run, &order).iter().enumerate() {
                    for earlier in observed.iter().flat_map(|entry| &entry.sources) {
                        pairs += 1;
                        let (a, b) = (&run[*earlier], &run[later]);
                        assert!(!spec.commute(a, b), "{}: {a:?} {b:?} in {run:?}", of.name);
                        assert!(*earlier < later);
                    }
                }
            }
            assert_eq!(pairs > 0, has_rules, "{}", of.name);
        }
    }
}

/// If all invocations of a run have the same observations in another order, and the waiting ones
/// can return, that order is a run.
#[test]
fn what_is_observed_decides_the_results() {
    for of in built_in_types() {
        let document = of.fine().unwrap();
        let (spec, comm) = (document.spec(of.name).unwrap(), document.comm(of.name).unwrap());
        let waits = document.waits(of.name);
        let (mut same, mut other, mut missed, mut strict) = (0, 0, 0, 0);
        let mut example = None;
        for run in all_runs(of, spec) {
            let identity: Vec<usize> = (0..run.len()).collect();
            let observed = communication(comm, &run, &identity);
            for order in orders(run.len()) {
                let is_run = is_run(of, spec, order.iter().map(|&at| &run[at]));
                let is_same = communication(comm, &run, &order) == observed
                    && waits_hold(waits, &run, &order);
                same += usize::from(is_same);
                other += usize::from(!is_same);
                strict += usize::from(!is_same && is_run);
                if is_same && !is_run {
                    missed += 1;
                    example.get_or_insert_with(|| (run.clone(), order.clone()));
                }
            }
        }
        println!(
            "{}: {same} orders observe the same, {missed} of them no runs; {other} do not, {strict} of them runs",
            of.name
        );
        assert!(same > 0 && other > 0, "{}", of.name);
        assert_eq!(missed, 0, "{}: {example:?}", of.name);
    }
}

/// The same test notices a missing rule.
#[test]
fn a_missing_rule_is_noticed() {
    let (mut dropped, mut not_noticed) = (0, Vec::new());
    for of in built_in_types() {
        let rules: Vec<&str> = of.comm.lines().filter(|line| line.contains("->")).collect();
        for at in 0..rules.len() {
            dropped += 1;
            let mut fewer = rules.clone();
            fewer.remove(at);
            let comm = format!("comm {} {{ {} }}", of.name, fewer.join("\n"));
            let text = format!("{}{comm}{}", of.item("spec", of.fine), of.item("waits", of.waits));
            let document = anyorder_commute::Document::parse(&text).unwrap();
            let spec = document.spec(of.name).unwrap();
            let full = of.fine().unwrap();
            let is_wrong = |document: &anyorder_commute::Document, with_waits: bool, run: &Run| {
                let comm = document.comm(of.name).unwrap();
                let waits = document.waits(of.name).filter(|_| with_waits);
                let identity: Vec<usize> = (0..run.len()).collect();
                let observed = communication(comm, run, &identity);
                orders(run.len()).into_iter().any(|order| {
                    communication(comm, run, &order) == observed
                        && waits_hold(waits, run, &order)
                        && !is_run(of, spec, order.iter().map(|&at| &run[at]))
                })
            };
            let runs = all_runs(of, spec);
            let some =
                |document, with_waits| runs.iter().any(|run| is_wrong(document, with_waits, run));
            // A call that waits must also observe the calls it waits for, if they alone decide its
            // result.
            let alone = || !some(&full, false) && some(&document, false);
            if !some(&document, true) && !alone() {
                not_noticed.push(format!("{}: {}", of.name, rules[at].trim()));
            }
        }
    }
    println!("{dropped} rules dropped, not noticed: {not_noticed:#?}");
    assert!(dropped > 50 && not_noticed.is_empty());
}

#[test]
fn a_queue_is_observed_in_its_order() {
    let of = built_in_type("queue").unwrap();
    let document = of.fine().unwrap();
    let (spec, comm) = (document.spec("queue").unwrap(), document.comm("queue").unwrap());
    let put = |v: i64| spec.invocation("enqueue", vec![v.into()], anyorder_commute::Value::Null);
    let take = |v: i64| spec.invocation("dequeue", vec![], v.into());
    let run = vec![put(1), put(2), take(1), take(2)];
    let observed = communication(comm, &run, &[0, 1, 2, 3]);
    let sources: Vec<Vec<usize>> = observed
        .iter()
        .map(|of| of.iter().flat_map(|entry| entry.sources.clone()).collect())
        .collect();
    assert_eq!(sources, [vec![], vec![], vec![0], vec![1]]);
}
