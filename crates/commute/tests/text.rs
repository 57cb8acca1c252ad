//! Texts of specifications: results of parsing, and messages for mistakes.

use anyorder_commute::{Document, Kind, Logic, MethodId, Mode, Slot, Spec, Value, built_in_types};

fn error(text: &str) -> String {
    Spec::parse(text).unwrap_err().to_string()
}

const SET: &str = "spec set {
    add(v1)/r1 ~ contains(v2)/r2 when v1 != v2 || !r1; // Table 4.1
    add(v1)/r1 ~ add(v2)/r2 when v1 != v2 || (r1 == false && r2 == false);
    contains(_) ~ contains(_);
}";

#[test]
fn a_specification_is_read() {
    let spec = Spec::parse(SET).unwrap();
    assert_eq!((spec.name(), spec.logic()), ("set", Logic::L2));
    let names: Vec<&str> = spec.methods().iter().map(|method| method.name()).collect();
    assert_eq!(names, ["add", "contains"]);
    assert_eq!(spec.methods()[0].kind(Slot::Result), Kind::Bool);
    let call = |method, v: i64, r: bool| spec.invocation(method, vec![v.into()], r.into());
    assert!(spec.commute(&call("add", 1, true), &call("add", 2, true)));
    assert!(!spec.commute(&call("add", 1, true), &call("add", 1, false)));
    assert!(spec.commute(&call("add", 1, false), &call("contains", 1, true)));
    assert!(spec.commute(&call("contains", 1, true), &call("add", 1, false)));
    assert!(!spec.commute(&call("contains", 1, true), &call("add", 1, true)));
    // From the words of a trace: the result is a truth value because the conditions use it so.
    let word = spec.invocation_of_words("add", &[1], Some(1));
    assert_eq!(word, call("add", 1, true));
    assert_eq!(spec.invocation_of_words("add", &[1], None).result, Value::Null);
    // Unspecified methods commute with nothing.
    let unspecified = spec.invocation("clear", vec![], Value::Null);
    assert_eq!(unspecified.method, MethodId::UNSPECIFIED);
    assert!(!spec.commute(&unspecified, &call("contains", 1, true)));
    assert!(!spec.commute(&unspecified, &unspecified));
    let arity = spec.invocation("add", vec![], Value::Null);
    assert_eq!(arity.method, MethodId::UNSPECIFIED);
}

#[test]
fn what_is_not_listed_does_not_commute() {
    let spec = Spec::parse("spec s { a() ~ a(); b() ~ b() when false; }").unwrap();
    let call = |method| spec.invocation(method, vec![], Value::Null);
    assert!(spec.commute(&call("a"), &call("a")));
    assert!(!spec.commute(&call("a"), &call("b")) && !spec.commute(&call("b"), &call("b")));
}

#[test]
fn what_has_no_value_does_not_commute() {
    let spec = Spec::parse("spec s { f(x) ~ g(y) when !(1 / x < y) || x == 0; }").unwrap();
    let holds = |x: Value, y: Value| {
        spec.commute(
            &spec.invocation("f", vec![x], Value::Null),
            &spec.invocation("g", vec![y], Value::Null),
        )
    };
    assert!(holds(0.into(), 0.into()) && holds(1.into(), 1.into()));
    assert!(!holds(1.into(), 2.into()) && !holds(1.into(), true.into()));
    let overflow = Spec::parse("spec s { f(x) ~ g(y) when x + y > x; }").unwrap();
    let f = overflow.invocation("f", vec![i64::MAX.into()], Value::Null);
    let g = overflow.invocation("g", vec![1.into()], Value::Null);
    assert!(!overflow.commute(&f, &g));
}

#[test]
fn functions_of_states_are_l1() {
    let text =
        "spec u { union(a, b) ~ find(c) when left.find(a) == left.find(b) || right.rank(c) > 1; }";
    let spec = Spec::parse(text).unwrap();
    assert_eq!(spec.logic(), Logic::L1);
    // `left` may also name a value.
    let spec = Spec::parse("spec u { f(left) ~ g(b) when left != b; }").unwrap();
    assert_eq!(spec.logic(), Logic::L2);
}

#[test]
fn a_specification_is_written_as_it_is_read() {
    let mut texts = vec![SET.to_owned()];
    texts.push("spec s { f(a, b)/r ~ g(c) when -(a - (b - c)) < 0x10 % 3 && (r == null || \"x\\n\" == c); }".to_owned());
    texts.push("spec s { f(a)/r ~ g()/s when !(left.p(a, r) && s) == (a < 3); }".to_owned());
    for of in built_in_types() {
        texts.extend([of.coarse, of.fine].map(|clauses| of.item("spec", clauses)));
    }
    for text in texts {
        let spec = Spec::parse(&text).unwrap();
        let again = Spec::parse(&spec.to_string()).unwrap_or_else(|e| panic!("{spec}\n{e}"));
        assert_eq!(again.conditions(), spec.conditions(), "{text}\n{spec}");
    }
}

/// The specifications of the models in the repository have the same form.
#[test]
fn specifications_of_models_are_read() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut read = 0;
    for folder in ["examples/models", "crates/lang/tests/programs"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|ext| ext != "any") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (start, _) in text.match_indices("\nspec ") {
                let end = start + text[start..].find("\n}").unwrap() + 2;
                let spec = Spec::parse(&text[start..end]);
                let spec = spec.unwrap_or_else(|e| panic!("{}\n{e}", path.display()));
                assert!(!spec.conditions().is_empty());
                read += 1;
            }
        }
    }
    assert!(read >= 2, "{read}");
}

#[test]
fn mistakes_point_at_their_place() {
    assert_eq!(
        error("spec s {\n  f(a) ~ g(b) when a = b;\n}"),
        "2:22: `=` has no meaning here\n  |   f(a) ~ g(b) when a = b;\n  |                      ^"
    );
    assert_eq!(
        error("spec s { f(a) ~ g(b) when a != c; }"),
        "1:32: `c` is not known\n  | spec s { f(a) ~ g(b) when a != c; }\n  |                                ^\n  hint: the clause names a, b"
    );
    let starts = [
        ("", "1:1: expected one specification, found 0"),
        ("spec a { } spec b { }", "1:1: expected one specification, found 2"),
        ("spec a { } spec a { }", "1:17: `a` is specified twice"),
        ("class a { }", "1:1: expected `spec`, `comm` or `waits`, found `class`"),
        ("spec s { f() }", "1:14: expected `~`, found `}`"),
        ("spec s { f() ~ f() }", "1:20: expected `when` or `;`, found `}`"),
        ("spec s { f() ~ f() when true }", "1:30: expected an operator or `;`, found `}`"),
        ("spec s { f() ~ f();", "1:20: expected a clause or `}`, found the end of the text"),
        ("spec s { f() ~ f(a); }", "1:16: `f` has 1 arguments here, 0 before"),
        ("spec s { f(a) ~ f(a); }", "1:19: `a` names two values"),
        ("spec s { f(set) ~ f(_); }", "1:12: `set` is a reserved word"),
        ("spec s { f() ~ g(); g() ~ f(); }", "1:21: `g` and `f` are specified twice"),
        ("spec s { f(a) ~ g(b) when a < b < 1; }", "1:33: comparisons do not chain"),
        (
            "spec s { f(a) ~ g(b) when a; h() ~ h() when 3; }",
            "1:45: this is a number, not a truth value",
        ),
        (
            "spec s { f(a) ~ g(b) when !a && a + 1 == 2; }",
            "1:33: this is a truth value, not a number",
        ),
        ("spec s { f(a) ~ g(b) when \"x\" && a; }", "1:27: this is a text, not a truth value"),
        (
            "spec s { f(a) ~ g(b) when a != 99999999999999999999; }",
            "1:32: `99999999999999999999` is no number of 64 bits",
        ),
        ("spec s { f(a) ~ g(b) when a == \"x; }", "1:32: the string does not end"),
        ("spec s { f(a) ~ g(b) when a == \"\\q\"; }", "1:33: an unknown escape"),
        ("/* /* */ spec s { }", "1:1: the comment does not end"),
        ("spec s { f(a) ~ g(b) when a.size() == 0; }", "1:27: `a` is no state"),
        ("spec s { f(a) ~ g(b) when left; }", "1:27: `left` is not known"),
        ("comm s { last f() -> g(); }", "1:6: there is no specification of `s`"),
        ("spec s { é }", "1:10: `é` has no meaning here"),
    ];
    for (text, start) in starts {
        let error = error(text);
        assert!(error.starts_with(start), "{text}\n{error}");
    }
}

#[test]
fn each_clause_with_a_mistake_is_told() {
    let errors = Spec::parse("spec s {\n f( ~ f();\n g() ~ g() when x;\n h() ~ h();\n k() ~ ;\n}");
    // Names are checked only if the form is right.
    let lines: Vec<usize> = errors.unwrap_err().0.iter().map(|error| error.line).collect();
    assert_eq!(lines, [2, 5]);
    let errors = Spec::parse("spec s {\n f() ~ f() when y;\n g() ~ g() when x;\n}").unwrap_err();
    assert_eq!(errors.0.len(), 2);
}

#[test]
fn a_condition_that_is_not_symmetric_is_refused() {
    let message = error("spec s { add(a)/r ~ add(b)/s when a != b || !r; }");
    assert!(message.starts_with("1:35: the condition is not symmetric"), "{message}");
    assert!(
        message.ends_with("for add(0)/true ~ add(0)/false it does not hold, for add(0)/false ~ add(0)/true it holds"),
        "{message}"
    );
    for symmetric in [
        "a != b || (!r && !s)",
        "!(a == b && (r || s))",
        "a < b || b < a",
        "a - b == 0 || b - a == 0",
        "(a - b) * (a - b) > 1",
        "r == s",
    ] {
        let text = format!("spec s {{ add(a)/r ~ add(b)/s when {symmetric}; }}");
        assert!(Spec::parse(&text).is_ok(), "{symmetric}");
    }
    // Beyond the pairs tried: joined with its exchanged form, it is symmetric nevertheless.
    let spec = Spec::parse("spec s { f(a) ~ f(b) when a * 7 != 1000006 + b * 0; }").unwrap();
    let call = |a: i64| spec.invocation("f", vec![a.into()], Value::Null);
    assert!(!spec.commute(&call(142_858), &call(1)) && !spec.commute(&call(1), &call(142_858)));
}

#[test]
fn communication_is_read() {
    let spec = "spec s { w(v) ~ r()/x when v != x; }";
    let read = |rule: &str| Document::parse(&format!("{spec} comm s {{ {rule} }}"));
    let document = read("last w(v) -> r()/x when v == x && v > 0 && (x < 9 || x > 20);").unwrap();
    let (spec, comm) = (document.spec("s").unwrap(), document.comm("s").unwrap());
    let w = |v: i64| spec.invocation("w", vec![v.into()], Value::Null);
    let r = |x: i64| spec.invocation("r", vec![], x.into());
    assert!(comm.matches(Mode::Last, &w(3), &r(3)) && !comm.matches(Mode::Last, &w(3), &r(4)));
    assert!(!comm.matches(Mode::Last, &w(10), &r(10)) && !comm.matches(Mode::All, &w(3), &r(3)));
    let start = |rule: &str| read(rule).unwrap_err().to_string().lines().next().unwrap().to_owned();
    assert_eq!(start("w(v) -> r();"), "1:48: expected the name of a method, found `(`");
    assert_eq!(start("ever w(v) -> r();"), "1:47: `ever` is no way to observe");
    assert_eq!(start("last w(v) -> q();"), "1:60: `q` is no method in the specification of `s`");
    assert_eq!(
        start("last w(v) -> r()/x when v < x;"),
        "1:71: a rule cannot say this of two calls"
    );
}

#[test]
fn hostile_texts_end_in_errors() {
    let deep = format!("spec s {{ f() ~ f() when {}true; }}", "!".repeat(100_000));
    assert!(error(&deep).contains("more than 256 operators"));
    let deep = format!("spec s {{ f() ~ f() when {}; }}", "(".repeat(100_000));
    assert!(error(&deep).contains("more than 256 operators"));
    assert!(error(&" ".repeat((1 << 20) + 1)).contains("the most are"));
    assert!(error(&format!("spec s {{ {} }}", "f();".repeat(1000))).contains("expected `~`"));
    let nested = format!(
        "spec s {{ f(a) ~ g(b) when {}(a == b){}; }}",
        "(".repeat(60),
        " == true)".repeat(60)
    );
    assert!(Spec::parse(&nested).is_ok());
    // Prefixes and suffixes of a valid text, cut anywhere.
    for at in (0..SET.len()).filter(|&at| SET.is_char_boundary(at)) {
        assert!(Spec::parse(&SET[..at]).is_err());
        let _ = Spec::parse(&SET[at..]);
    }
}
