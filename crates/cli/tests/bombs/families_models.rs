//! Bombs for the machine and the searches: models that are small and cost much.

use crate::families_threads::Family;

/// All families with their size.
pub(crate) const FAMILIES: &[(&str, Family, usize)] = &[
    (
        "a list that grows in a loop",
        |_| event("while true { xs.push(1); }", "var xs: list<int>;"),
        1,
    ),
    (
        "a list of lists that grows",
        |_| {
            event(
                "while true { xs.push(ys); ys.push(1); }",
                "var ys: list<int>; var xs: list<list<int>>;",
            )
        },
        1,
    ),
    ("a text that doubles", |_| event("while true { s = s + s; }", "var s = \"ab\";"), 1),
    (
        "a map that grows in a loop",
        |_| event("let i = 0; while true { m[i] = i; i += 1; }", "var m: map<int, int>;"),
        1,
    ),
    ("a loop without end", |_| event("while true { n = 1 - n; }", "var n = 0;"), 1),
    (
        "a loop without end and steps without bound",
        |_| event("while true { n = 1 - n; }", "setting steps = 9000000000000; var n = 0;"),
        1,
    ),
    (
        "a list that grows without bound of steps",
        |_| {
            event("while true { xs.push(1); }", "setting steps = 9000000000000; var xs: list<int>;")
        },
        1,
    ),
    (
        "calls that fork in two",
        |_| {
            event(
                "n = f(60);",
                "setting steps = 9000000000000; var n = 0; fn f(k: int) -> int { if k < 2 { return 1; } return f(k - 1) + f(k - 2); }",
            )
        },
        1,
    ),
    (
        "objects without end",
        |_| {
            event(
                "while true { last = new Node(); }",
                "class Node { var next: Node? = null; } var last: Node? = null;",
            )
        },
        1,
    ),
    ("a state that counts for ever", |_| event("n += 1;", "var n = 0;"), 1),
    (
        "a state that grows for ever",
        |_| event("xs.push(n); n += 1;", "var n = 0; var xs: list<int>;"),
        1,
    ),
    (
        "tasks that post two others",
        |_| {
            "model m\nhandler ui: bag;\ntask t(i: int) on ui { post t(i + 1); post t(i + 2); }\nevent e { post t(0); }\n".to_owned()
        },
        1,
    ),
    ("choices", choices, 30),
    ("counters", counters, 12),
    (
        "alternatives of one step",
        |_| {
            event(
                "let i = 0; while i < 60 { choose { { n += 1; } { n += 2; } } i += 1; }",
                "var n = 0;",
            )
        },
        1,
    ),
    ("symmetric nodes", symmetric, 9),
    (
        "an invariant that costs much",
        |_| {
            "model m\nvar n = 0;\nsetting steps = 9000000000000;\nfn f(k: int) -> bool { let i = 0; while i < k { i += 1; } return true; }\nevent e when n < 9 { n += 1; }\ninvariant slow: f(100000000000);\n".to_owned()
        },
        1,
    ),
    (
        "parentheses",
        |size| event(&format!("n = {}1{};", "(".repeat(size), ")".repeat(size)), "var n = 0;"),
        100_000,
    ),
    ("a long sum", |size| event(&format!("n = 1{};", " + 1".repeat(size)), "var n = 0;"), 100_000),
    (
        "blocks",
        |size| {
            event(
                &format!("{}n = 1;{}", "if true { ".repeat(size), " }".repeat(size)),
                "var n = 0;",
            )
        },
        20_000,
    ),
    (
        "events",
        |size| {
            let events: String =
                (0..size).map(|i| format!("once event e{i} {{ n += 1; }}\n")).collect();
            format!("model m\nvar n = 0;\n{events}")
        },
        5_000,
    ),
    (
        "a family of events",
        |_| "model m\nvar n = 0;\nonce event e[i in 0..1000000] { n += 1; }\n".to_owned(),
        1,
    ),
    (
        "an array of handlers",
        |_| "model m\nhandler h[10000000]: fifo;\nvar n = 0;\nevent e { n += 1; }\n".to_owned(),
        1,
    ),
    (
        "an array of a variable",
        |_| event("n = 1;", "var n = 0; var xs: [[int; 100000]; 100000];"),
        1,
    ),
    (
        "functions that call one another",
        |size| {
            let functions: String = (0..size)
                .map(|i| format!("fn f{i}() -> int {{ return f{}() + f{}(); }}\n", i + 1, i + 1))
                .collect();
            event(
                "n = f0();",
                &format!(
                    "setting steps = 9000000000000; var n = 0;\n{functions}fn f{size}() -> int {{ return 1; }}"
                ),
            )
        },
        200,
    ),
    (
        "a constant that costs much",
        |_| {
            event(
                "n = N;",
                "const A = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"; var n = 0; const N = 9223372036854775807 - 1;",
            )
        },
        1,
    ),
    (
        "first values that cost much",
        |_| {
            event(
                "n = 1;",
                "setting steps = 9000000000000; fn f() -> int { let i = 0; while true { i = 1 - i; } return i; } var n = f();",
            )
        },
        1,
    ),
    ("threads that wait for locks", philosophers, 10),
    ("mistakes", |size| format!("model m\n{}", "var x = y;\n".repeat(size)), 50_000),
];

/// A model with one event that runs a body.
fn event(body: &str, declarations: &str) -> String {
    let declarations = declarations.replace("; ", ";\n");
    format!("model m\n{declarations}\nevent e {{ {body} }}\n")
}

/// Independent events in every order.
fn choices(size: usize) -> String {
    let events: String = (0..size)
        .map(|i| {
            format!("var a{i} = 0;\nonce event e{i} {{ a{i} = total; total += {}; }}\n", i + 1)
        })
        .collect();
    format!("model m\nvar total = 0;\n{events}")
}

/// Counters that count on their own: many states.
fn counters(size: usize) -> String {
    let counters: String = (0..size)
        .map(|i| format!("var a{i} = 0;\nevent e{i} when a{i} < 9 {{ a{i} += 1; sum = a{i}; }}\n"))
        .collect();
    format!("model m\nvar sum = 0;\n{counters}")
}

/// Nodes that may change places: a state has many names.
fn symmetric(size: usize) -> String {
    format!(
        "model m\nindex Node = {size};\nvar held: [int; Node];\nvar sum = 0;\nhandler h[Node]: fifo;\n\
         event e[i in Node] when held[i] < 3 {{ held[i] += 1; post t(i) to h[i]; }}\n\
         task t(i: Node) {{ sum = held[i]; }}\n"
    )
}

/// Dining philosophers.
fn philosophers(size: usize) -> String {
    let threads: String = (0..size)
        .map(|i| {
            let next = (i + 1) % size;
            format!("thread p{i} {{ lock m[{i}] {{ lock m[{next}] {{ eaten += 1; }} }} }}\n")
        })
        .collect();
    format!("model m\nlock m[{size}];\nvar eaten = 0;\n{threads}")
}
