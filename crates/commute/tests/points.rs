//! Access points against their conditions.

use anyorder_common::random::{Random, Rng};
use anyorder_commute::{
    AccessPoints, Exactness, Invocation, Spec, StateFunctions, Value, built_in_types,
};

/// A condition on `f(a, b)/r ~ g(c)/s`; `r` and `s` are truth values.
fn condition(random: &mut Rng, depth: u64) -> String {
    if depth > 0 && random.below(3) > 0 {
        let op = random.pick(&["&&", "||"]);
        let not = random.pick(&["", "", "!"]);
        return format!(
            "{not}({} {op} {})",
            condition(random, depth - 1),
            condition(random, depth - 1)
        );
    }
    let left = random.pick(&["a", "b", "a + 1", "a - b", "1 / a"]);
    let right = random.pick(&["c", "c * 2", "2 / c"]);
    match random.below(9) {
        0 => random.pick(&["r", "s", "!r", "!s", "r == s", "r != s"]).to_owned(),
        1 => format!("{left} == 1"),
        2 => format!("{right} < 2"),
        3 => format!("{left} {} {right}", random.pick(&["==", "<", "<="])),
        4 => format!(
            "left.size() {} {}",
            random.pick(&["==", "!="]),
            random.pick(&["a", "c", "1", "right.size()"])
        ),
        5 => random.pick(&["true", "false", "1 < 2", "a != null"]).to_owned(),
        _ => format!("{left} != {right}"),
    }
}

struct Size(i64);

impl StateFunctions for Size {
    fn value(&self, function: &str, _: &[Value]) -> Option<Value> {
        (function == "size").then_some(Value::Int(self.0))
    }
}

fn calls(spec: &Spec) -> (Vec<Invocation>, Vec<Invocation>) {
    let (mut fs, mut gs) = (Vec::new(), Vec::new());
    for result in [false, true] {
        for a in 0..3_i64 {
            gs.push(spec.invocation("g", vec![a.into()], result.into()));
            for b in 0..3_i64 {
                fs.push(spec.invocation("f", vec![a.into(), b.into()], result.into()));
            }
        }
    }
    (fs, gs)
}

#[test]
fn points_conflict_iff_the_condition_does_not_hold() {
    let (mut exact, mut comparison, mut size) = (0, 0, 0);
    let (mut commute, mut conflict, mut more) = (0_u64, 0_u64, 0_u64);
    for seed in 0..600 {
        let mut random = Rng::new(seed);
        let condition = condition(&mut random, 4);
        let text = format!(
            "spec s {{ f(a, b)/r ~ g(c)/s when (r || true) && (s || true) && ({condition}); }}"
        );
        let spec = Spec::parse(&text).unwrap_or_else(|e| panic!("seed {seed}\n{e}"));
        let points = AccessPoints::of(&spec);
        let exactness = points.pairs()[0].exactness;
        match exactness {
            Exactness::Exact => exact += 1,
            Exactness::Comparison => comparison += 1,
            Exactness::Size => size += 1,
        }
        let (fs, gs) = calls(&spec);
        for state in [0, 1] {
            let state: Option<&dyn StateFunctions> = if state == 0 { None } else { Some(&Size(1)) };
            for f in &fs {
                for g in &gs {
                    let says = spec.commute_in((f, state), (g, state));
                    let (mut of_f, mut of_g) = (Vec::new(), Vec::new());
                    points.touch(f, state, &mut of_f);
                    points.touch(g, state, &mut of_g);
                    let meets = of_f.iter().any(|a| of_g.iter().any(|b| points.conflict(a, b)));
                    let other = of_f.iter().any(|a| of_g.iter().any(|b| points.conflict(b, a)));
                    assert_eq!(meets, other, "seed {seed}: not symmetric");
                    assert!(says || meets, "seed {seed}: {text}\n{f:?} {g:?} have no conflict");
                    if exactness == Exactness::Exact {
                        assert_eq!(says, !meets, "seed {seed}: {text}\n{f:?} {g:?}");
                    }
                    commute += u64::from(says);
                    conflict += u64::from(!says);
                    more += u64::from(says && meets);
                }
            }
        }
    }
    println!("{exact} exact, {comparison} with comparisons, {size} too large");
    println!("{commute} pairs commute, {conflict} do not, {more} conflict all the same");
    assert!(exact > 100 && comparison > 100 && size == 0);
    assert!(commute > 1000 && conflict > 1000 && more > 100);
}

#[test]
fn points_of_the_built_in_types_say_what_the_specifications_say() {
    for of in built_in_types() {
        for document in [of.coarse().unwrap(), of.fine().unwrap()] {
            let spec = document.spec(of.name).unwrap();
            let points = AccessPoints::of(spec);
            let open = AccessPoints::with_unspecified(spec);
            let values =
                [Value::Null, Value::Bool(false), Value::Bool(true), Value::Int(1), Value::Int(2)];
            let mut calls = Vec::new();
            let mut touched_most = 0;
            for method in spec.methods() {
                for a in &values {
                    for b in &values {
                        for result in &values {
                            let arguments =
                                [a, b].into_iter().take(method.arity()).cloned().collect();
                            calls.push(spec.invocation(method.name(), arguments, result.clone()));
                        }
                    }
                }
            }
            calls.sort();
            calls.dedup();
            for a in &calls {
                let mut touched = Vec::new();
                points.touch(a, None, &mut touched);
                touched_most = touched_most.max(touched.len());
                for b in &calls {
                    let says = spec.commute(a, b);
                    let meets = points.in_conflict(a, b);
                    assert!(says || meets, "{}: {a:?} {b:?}", of.name);
                    assert!(says != meets || !points.is_exact(), "{}: {a:?} {b:?}", of.name);
                    assert_eq!(meets, open.in_conflict(a, b), "{}", of.name);
                }
                let unspecified = spec.invocation("stranger", vec![], Value::Null);
                assert!(
                    open.in_conflict(a, &unspecified)
                        && open.in_conflict(&unspecified, &unspecified)
                );
            }
            println!(
                "{}: {} classes, at most {touched_most} points",
                of.name,
                points.classes_count()
            );
            assert!(touched_most <= 4, "{}: {touched_most}", of.name);
        }
    }
}

#[test]
fn a_condition_with_too_many_clauses_never_holds() {
    let parts: Vec<String> = (1..=9).map(|n| format!("(a + {n} != c && a + 1{n} != c)")).collect();
    let spec =
        Spec::parse(&format!("spec s {{ f(a) ~ g(c) when {}; }}", parts.join(" || "))).unwrap();
    let points = AccessPoints::of(&spec);
    assert_eq!(points.pairs()[0].exactness, Exactness::Size);
    let call = |method, v: i64| spec.invocation(method, vec![v.into()], Value::Null);
    assert!(spec.commute(&call("f", 1), &call("g", 1)));
    assert!(points.in_conflict(&call("f", 1), &call("g", 1)));
}

/// Conditions of a method with itself: both orders of two calls have the same points.
#[test]
fn a_method_with_itself_is_symmetric() {
    let (mut exact, mut commute, mut conflict) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Rng::new(seed);
        let one = condition(&mut random, 2);
        // The names of the left call are a, b, r; of the right one c, d, s.
        let swap = |name| match name {
            'a' => 'c',
            'c' => 'a',
            'r' => 's',
            's' => 'r',
            other => other,
        };
        // Words that are not names stay.
        let word = |word: &str| match word.trim_matches(['(', ')', '!']) {
            "a" | "b" | "c" | "r" | "s" => {
                word.chars().map(swap).collect::<String>().replace('b', "d")
            }
            _ => word.to_owned(),
        };
        let one = one.replace("left.size()", "3").replace("right.size()", "2");
        let other: Vec<String> = one.split(' ').map(word).collect();
        let text = format!(
            "spec s {{ f(a, b)/r ~ f(c, d)/s when (r || true) && (s || true) && ({one}) && ({}); }}",
            other.join(" ")
        );
        let spec = Spec::parse(&text).unwrap_or_else(|e| panic!("seed {seed}\n{e}"));
        let points = AccessPoints::of(&spec);
        exact += usize::from(points.is_exact());
        let fs = calls(&spec).0;
        for a in &fs {
            for b in &fs {
                let says = spec.commute(a, b);
                assert_eq!(says, spec.commute(b, a), "seed {seed}: {text}");
                let meets = points.in_conflict(a, b);
                assert_eq!(meets, points.in_conflict(b, a), "seed {seed}: {text}");
                assert!(says || meets, "seed {seed}: {text}");
                assert!(!points.is_exact() || says != meets, "seed {seed}: {text}");
                commute += usize::from(says);
                conflict += usize::from(!says);
            }
        }
    }
    println!("{exact} exact, {commute} pairs commute, {conflict} do not");
    assert!(exact > 50 && commute > 1000 && conflict > 1000);
}

#[test]
fn all_conditions_together_are_bounded() {
    let parts: Vec<String> = (1..=8).map(|n| format!("(a + {n} != c && a + 1{n} != c)")).collect();
    let clauses = (0..70).map(|n| format!("f{n}(a) ~ g(c) when {};", parts.join(" || ")));
    let spec = Spec::parse(&format!("spec s {{ {} }}", clauses.collect::<String>())).unwrap();
    let points = AccessPoints::of(&spec);
    let of = |exactness| points.pairs().iter().filter(|pair| pair.exactness == exactness).count();
    // 256 clauses of 8 literals each: 64 conditions fit.
    assert_eq!((of(Exactness::Size), of(Exactness::Comparison)), (6, 64));
    let call = |method, v: i64| spec.invocation(method, vec![v.into()], Value::Null);
    assert!(points.in_conflict(&call("f69", 1), &call("g", 1)));
}
