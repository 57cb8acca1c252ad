//! Wait rules: those of the built-in types against their models, and texts of users.

use anyorder_commute::{
    BuiltIn, Call, Document, Invocation, Model, Spec, Value, Waits, built_in_types,
};

type State = <&'static BuiltIn as Model>::State;

fn parts(of: &BuiltIn) -> (Spec, Option<Waits>) {
    let document = of.fine().unwrap();
    (document.spec(of.name).unwrap().clone(), document.waits(of.name).cloned())
}

/// Whether all rules of a call hold after a run.
fn holds(waits: &Waits, run: &[Invocation], call: &Invocation, open: i64) -> bool {
    waits.rules_of(call).all(|rule| {
        let count = |counted: &anyorder_commute::Counted| {
            let key = Some(counted.key_for(call));
            run.iter().filter(|earlier| counted.key_of(earlier) == key).count() as i64
        };
        let counts: Vec<i64> = rule.counted().iter().map(count).collect();
        rule.is_observed() || rule.holds(&counts, open)
    })
}

/// Calls `each` with all runs up to a length, from each initial state: the initial state, the run,
/// and the final state.
fn all_runs(
    of: &'static BuiltIn,
    length: usize,
    each: &mut dyn FnMut(&State, &[Invocation], &State),
) {
    let (spec, _) = parts(of);
    for first in of.initial() {
        let mut runs: Vec<(State, Vec<Invocation>)> = vec![(first.clone(), Vec::new())];
        for _ in 0..=length {
            let mut longer = Vec::new();
            for (state, run) in &runs {
                each(&first, run, state);
                for call in of.calls() {
                    for (next, result) in of.apply(state, &call) {
                        let mut run = run.clone();
                        run.push(spec.invocation(&call.method, call.arguments.clone(), result));
                        longer.push((next, run));
                    }
                }
            }
            if longer.len() > 4_000 {
                break;
            }
            runs = longer;
        }
    }
}

/// The open number of a type's rules, for an object with this initial state.
fn open(of: &BuiltIn, first: &State) -> i64 {
    if ["channel", "semaphore"].contains(&of.name) { first[0] } else { 0 }
}

/// Compares rules with the model; returns how many calls could return, how many could not, and the
/// first difference.
fn compare(of: &'static BuiltIn, waits: Option<&Waits>) -> (u64, u64, Option<String>) {
    let (spec, _) = parts(of);
    let (mut free, mut blocked, mut differs) = (0, 0, None);
    all_runs(of, 5, &mut |first, run, state| {
        for Call { method, arguments } in of.calls() {
            let outcomes = of.apply(state, &Call::new(&method, arguments.clone()));
            let results: Vec<Value> = [Value::Null, true.into(), false.into()].into();
            for result in results {
                let call = spec.invocation(&method, arguments.clone(), result.clone());
                let Some(waits) = waits else {
                    if outcomes.is_empty() {
                        differs.get_or_insert_with(|| format!("{}: {run:?} {call:?}", of.name));
                    }
                    continue;
                };
                let mut rules = waits.rules_of(&call).peekable();
                if waits.rules_of(&call).any(|rule| rule.is_observed()) {
                    continue;
                }
                let of_result = rules.peek().is_some_and(|rule| rule.is_of_result());
                let is_free = match of_result {
                    true => outcomes.iter().any(|(_, outcome)| *outcome == result),
                    false => !outcomes.is_empty(),
                };
                let says = holds(waits, run, &call, open(of, first));
                if says != is_free {
                    differs.get_or_insert_with(|| format!("{}: {run:?} {call:?} {says}", of.name));
                }
                free += u64::from(is_free);
                blocked += u64::from(!is_free);
            }
        }
    });
    (free, blocked, differs)
}

#[test]
fn calls_wait_where_the_models_block() {
    let mut with = Vec::new();
    for of in built_in_types() {
        let (_, waits) = parts(of);
        let (free, blocked, differs) = compare(of, waits.as_ref());
        assert_eq!(differs, None);
        if waits.is_some() {
            println!("{}: {free} calls can return, {blocked} wait", of.name);
            assert!(free > 0 && (blocked > 0 || of.name == "condition"), "{}", of.name);
            with.push(of.name);
        }
    }
    assert_eq!(with, ["channel", "condition", "context", "future", "semaphore", "waitgroup"]);
}

/// Clauses `~`: in each state in which both orders can happen, they have the same effect.
#[test]
fn what_waiting_settles_makes_no_difference() {
    let mut settled = 0;
    for of in built_in_types() {
        let (spec, Some(waits)) = parts(of) else { continue };
        let (mut both, mut one) = (0, 0);
        all_runs(of, 4, &mut |_, run, state| {
            for x in of.calls() {
                for y in of.calls() {
                    let made = |first: &Call, second: &Call| {
                        let mut all = Vec::new();
                        for (middle, r) in of.apply(state, first) {
                            for (end, s) in of.apply(&middle, second) {
                                all.push((end, r.clone(), s));
                            }
                        }
                        all
                    };
                    let xy = made(&x, &y);
                    let yx: Vec<_> = made(&y, &x).into_iter().map(|(e, s, r)| (e, r, s)).collect();
                    let call = |call: &Call, result: &Value| {
                        spec.invocation(&call.method, call.arguments.clone(), result.clone())
                    };
                    for (_, r, s) in &xy {
                        if !waits.settles(&call(&x, r), &call(&y, s)) {
                            continue;
                        }
                        if yx.is_empty() {
                            one += 1;
                        } else {
                            both += 1;
                            assert_eq!(xy, yx, "{}: {run:?} {x:?} {y:?}", of.name);
                        }
                    }
                }
            }
        });
        println!("{}: {both} states with both orders, {one} with one", of.name);
        assert!(both > 0 && one > 0 || of.name == "condition", "{}", of.name);
        settled += both;
    }
    assert!(settled > 100);
}

/// Each missing part of a clause is noticed.
#[test]
fn a_missing_or_weaker_rule_is_noticed() {
    let changes = [
        ("recv() until send(_) > recv() || close() > 0;", "recv() until send(_) > recv();"),
        ("recv() until send(_) > recv() || close() > 0;", "recv() until close() > 0;"),
        ("recv() until send(_) > recv() ||", "recv() until send(_) >= recv() ||"),
        ("recv() until send(_) > recv() ||", "recv() until send(_) > 0 ||"),
        ("< recv() + room || close() > 0", "< recv() + room"),
        ("< recv() + room", "<= recv() + room"),
        ("< recv() + room", "< room"),
        ("done() until cancel() > 0;", "done() until cancel() > 1;"),
        ("get() until set(_) > 0;", "get() until set(1) > 0;"),
        (
            "acquire() until release() + permits > acquire() +",
            "acquire() until release() + permits >",
        ),
        ("acquire() + try_acquire()/true;\n    try", "acquire();\n    try"),
        ("try_acquire()/true until", "try_acquire()/false until"),
    ];
    for (from, to) in changes {
        let of = built_in_types().iter().find(|of| of.waits.contains(from));
        let of = of.unwrap_or_else(|| panic!("no rule `{from}`"));
        let waits = of.item("waits", &of.waits.replacen(from, to, 1));
        let text = of.item("spec", of.fine) + &waits;
        let document = Document::parse(&text).unwrap();
        let (_, _, differs) = compare(of, document.waits(of.name));
        assert!(differs.is_some(), "{}: `{to}` is not noticed", of.name);
    }
    for of in built_in_types().iter().filter(|of| !of.waits.is_empty()) {
        let waits = Document::parse(&format!("{}waits {} {{}}", of.item("spec", of.fine), of.name));
        let waits = waits.unwrap();
        let (_, _, differs) = compare(of, waits.waits(of.name));
        assert!(differs.is_some(), "{} without rules", of.name);
    }
}

const BOUNDED: &str = "spec bounded {
    put(_) ~ put(_) when false;
    put(_) ~ take() when false;
    try_put(_)/r ~ try_put(_)/s when !r && !s;
}
";

fn bounded(rules: &str) -> Result<Document, String> {
    Document::parse(&format!("{BOUNDED}waits bounded {{ {rules} }}")).map_err(|e| e.to_string())
}

#[test]
fn users_say_what_waits() {
    let read = bounded(
        "put(_) until put(_) + try_put(_)/true - take() < 2; take() until put(_) > take();",
    );
    let document = read.unwrap();
    let (spec, waits) = (document.spec("bounded").unwrap(), document.waits("bounded").unwrap());
    let call =
        |method, arguments: &[u64], result| spec.invocation_of_words(method, arguments, result);
    let (put, take) = (call("put", &[1], None), call("take", &[], Some(1)));
    let (tried, failed) = (call("try_put", &[3], Some(1)), call("try_put", &[3], Some(0)));
    assert!(
        holds(waits, std::slice::from_ref(&put), &put, 0)
            && !holds(waits, &[put.clone(), tried], &put, 0)
    );
    assert!(
        holds(waits, &[put.clone(), failed], &put, 0)
            && holds(waits, std::slice::from_ref(&put), &take, 0)
    );
    assert!(!holds(waits, &[put.clone(), take.clone()], &take, 0));
    assert!(waits.rules_of(&call("try_put", &[1], None)).next().is_none());
}

#[test]
fn the_number_left_open_is_the_least_that_fits() {
    let document = bounded("put(_) until put(_) - take() < cap;").unwrap();
    let rule = &document.waits("bounded").unwrap().rules()[0];
    assert_eq!(
        (rule.least(&[0, 0]), rule.least(&[5, 2]), rule.least(&[1, 3])),
        (Some(1), Some(4), Some(0))
    );
    let rule = bounded("put(_) until take() > 0;").unwrap().waits[0].rules()[0].clone();
    assert_eq!((rule.least(&[0]), rule.least(&[1])), (None, Some(0)));
}

#[test]
fn arguments_tell_calls_apart() {
    let text = "spec keyed { set(_, _) ~ get(_) when false; }
        waits keyed { get(k) until set(k, _) > 0; }";
    let document = Document::parse(text).unwrap();
    let (spec, waits) = (document.spec("keyed").unwrap(), document.waits("keyed").unwrap());
    let set = |k: u64| spec.invocation_of_words("set", &[k, 9], None);
    let get = |k: u64| spec.invocation_of_words("get", &[k], Some(9));
    assert!(holds(waits, &[set(1)], &get(1), 0) && !holds(waits, &[set(2)], &get(1), 0));
}

#[test]
fn mistakes_are_named_with_their_places() {
    let cases = [
        ("take() until putt(_) > 0;", "`putt` is no method in the specification of `bounded`"),
        ("take() until put() > 0;", "`put` has 0 arguments here, 1 before"),
        ("take() until put(v) > 0;", "`v` is not known"),
        ("put(_) until put(_) < cap && put(_) < room;", "`room` is not known"),
        ("put(_) until put(_) > cap;", "a larger `cap` must make waiting shorter"),
        ("take() until put(_) == 1;", "a call cannot wait for `==`"),
        ("take() until put(_);", "expected a comparison, found `;`"),
        ("take() until observed && put(_) > 0;", "`observed` stands alone"),
        ("take() when put(_) > 0;", "expected `until` or `~`, found `when`"),
        ("take() ~ put(v);", "`v` is not known"),
        ("take() until try_put(_)/7 > 0;", "this is a number, not a truth value"),
        ("take() until put(_) > 0", "expected an operator or `;`, found `}`"),
    ];
    for (rule, wanted) in cases {
        let error = bounded(rule).unwrap_err();
        assert!(error.contains(wanted), "{rule}: {error}");
        assert!(error.contains('^'), "{error}");
    }
    let alone = Document::parse("waits s { f() until g() > 0; }").unwrap_err().to_string();
    assert!(alone.contains("there is no specification of `s`"), "{alone}");
}
