//! Every built-in specification against its executable model, and every mutant of it.

use anyorder_commute::{
    AccessPoints, BuiltIn, CheckLimits, Logic, Spec, Verdict, built_in_type, built_in_types, check,
    mutants,
};

fn limits() -> CheckLimits {
    CheckLimits { depth_max: 4, states_max: 2_000 }
}

fn specs(of: &BuiltIn) -> [(&'static str, Spec); 2] {
    let spec = |document: anyorder_commute::Document| document.spec(of.name).unwrap().clone();
    [("coarse", spec(of.coarse().unwrap())), ("fine", spec(of.fine().unwrap()))]
}

fn verdict(of: &'static BuiltIn, spec: &Spec) -> Verdict {
    check(spec, &of, limits())
}

#[test]
fn all_are_sound_and_the_fine_ones_miss_nothing() {
    for of in built_in_types() {
        for (name, spec) in specs(of) {
            let verdict = verdict(of, &spec);
            let missed = verdict.imprecise.len();
            println!(
                "{} {name}: {} states, {} pairs, {} commute, {missed} missed",
                of.name, verdict.states, verdict.pairs, verdict.commuting
            );
            assert_eq!(verdict.counterexample, None, "{} {name}", of.name);
            assert!(verdict.pairs > 0, "{} {name}", of.name);
            if name == "fine" {
                assert!(verdict.imprecise.is_empty(), "{}: {:?}", of.name, verdict.imprecise);
                // Conditions on states miss no pair in any state.
                let missed = verdict.imprecise_in_states.iter().filter(|(a, b)| {
                    let condition = spec.condition(a.method, b.method);
                    condition.is_some_and(|condition| condition.logic() == Logic::L1)
                });
                assert_eq!(missed.count(), 0, "{}", of.name);
            }
        }
    }
}

/// A coarse specification is never more precise than the fine one; for most types it is less
/// precise.
#[test]
fn the_coarse_ones_say_less() {
    let mut less = 0;
    for of in built_in_types() {
        let [(_, coarse), (_, fine)] = specs(of);
        let missed = verdict(of, &coarse).imprecise.len();
        let unspecified = fine.methods().len() > coarse.methods().len();
        less += usize::from(missed > 0 || unspecified || fine.logic() == Logic::L1);
    }
    assert!(less >= 10, "only {less}");
}

/// Every mutant is asymmetric, unsound, or misses other pairs than the original.
#[test]
fn every_mutant_is_caught() {
    let (mut made, mut asymmetric, mut unsound, mut imprecise) = (0, 0, 0, 0);
    let mut survived = Vec::new();
    for of in built_in_types() {
        for (name, spec) in specs(of) {
            let original = verdict(of, &spec);
            for mutant in mutants(&spec) {
                made += 1;
                if !mutant.is_symmetric {
                    asymmetric += 1;
                    continue;
                }
                let verdict = verdict(of, &mutant.spec);
                if verdict.counterexample.is_some() {
                    unsound += 1;
                } else if verdict.imprecise != original.imprecise
                    || verdict.imprecise_in_states != original.imprecise_in_states
                {
                    imprecise += 1;
                } else {
                    survived.push(format!("{} {name}: {}", of.name, mutant.change));
                }
            }
        }
    }
    println!("{made} mutants: {asymmetric} asymmetric, {unsound} unsound, {imprecise} imprecise");
    assert!(survived.is_empty(), "{} of {made} survived:\n{}", survived.len(), survived.join("\n"));
    assert!(made > 200 && asymmetric > 0 && unsound > 50 && imprecise > 50);
}

/// An unlisted pair cannot have the condition `true`.
#[test]
fn what_is_not_listed_does_not_commute() {
    let mut tried = 0;
    for of in built_in_types() {
        let [_, (_, fine)] = specs(of);
        for (at, a) in fine.methods().iter().enumerate() {
            for b in &fine.methods()[at..] {
                let id = |name| fine.method(name).unwrap();
                if fine.condition(id(a.name()), id(b.name())).is_some() {
                    continue;
                }
                tried += 1;
                let names = |count| vec!["_"; count].join(", ");
                let clause = format!(
                    "{}({}) ~ {}({});\n}}",
                    a.name(),
                    names(a.arity()),
                    b.name(),
                    names(b.arity())
                );
                let text = format!("spec {} {{{}{clause}", of.name, of.fine);
                let verdict = verdict(of, &Spec::parse(&text).unwrap());
                assert!(verdict.counterexample.is_some(), "{}: {clause}", of.name);
            }
        }
    }
    assert!(tried >= 10, "{tried}");
}

/// Mistakes printed in the thesis: `add` with `contains` of its section 3.2, with `add` returning
/// whether the element is new, and a closed file that is read.
#[test]
fn printed_mistakes_are_found() {
    let set = built_in_type("set").unwrap();
    let printed = "spec set { add(v)/r ~ contains(w)/s when v != w || (r == true && s == true); }";
    let found = verdict(set, &Spec::parse(printed).unwrap()).counterexample.unwrap();
    println!("{found:?}");
    assert_eq!(found.first.arguments, found.second.arguments);
    let file = built_in_type("file").unwrap();
    for printed in ["spec file { close() ~ read(); }", "spec file { close() ~ write(); }"] {
        assert!(verdict(file, &Spec::parse(printed).unwrap()).counterexample.is_some());
    }
    // Table 4.2, `put` with `size`, with no `null` stored: the required new value is always so.
    let map = built_in_type("map").unwrap();
    let printed = "spec map { put(_, v)/p ~ size() when v != null && p != null; }";
    let verdict = verdict(map, &Spec::parse(printed).unwrap());
    assert_eq!(verdict.counterexample, None);
}

/// Which built-in specifications compile to exact points.
#[test]
fn access_points_are_exact_where_they_say_so() {
    let mut conservative = Vec::new();
    for of in built_in_types() {
        for (name, spec) in specs(of) {
            let points = AccessPoints::of(&spec);
            for pair in points.pairs() {
                if pair.exactness != anyorder_commute::Exactness::Exact {
                    let names = [pair.left, pair.right].map(|id| spec.method_name(id));
                    conservative.push(format!("{} {name}: {}", of.name, names.join(" ~ ")));
                }
            }
        }
    }
    assert_eq!(
        conservative,
        [
            "register fine: write ~ write",
            "queue fine: enqueue ~ enqueue",
            "queue fine: dequeue ~ dequeue",
            "stack fine: push ~ push",
            "stack fine: pop ~ pop",
            "union_find fine: union ~ find",
            "union_find fine: union ~ connected",
            "channel fine: send ~ send",
            "channel fine: recv ~ recv",
        ]
    );
}
