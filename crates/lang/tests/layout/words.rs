//! Every word of the language as a name, in every position. A text with the word in it means the
//! same as with a plain name, loads without errors, and is laid out without a change of its tree.

use crate::layout::{check, tree};
use anyorder_lang::lex::{CONTEXTUAL, RESERVED, TokenKind, lex};
use anyorder_lang::load;

/// Words that have a meaning in one place and no token of their own.
const PLAIN: &[&str] = &[
    "on",
    "to",
    "when",
    "after",
    "front",
    "index",
    "fifo",
    "bag",
    "delayed",
    "granularity",
    "access",
    "steps",
    "push",
    "add",
    "contains",
    "len",
    "left",
    "right",
    "state",
    "all",
];

/// What a name stands for, where not every word can.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Any contextual word.
    Any,
    /// No `set`, `map`, `async`.
    Value,
    /// No `enabled`.
    Function,
    /// No built-in type.
    Type,
}

/// Declarations that the texts share. `N` is the name.
const AROUND: &str = "
handler zui: fifo;
handler zd: delayed;
handler zh[3]: fifo;
lock zl;
cond zc;
class ZC { var v = 0; fn m(a: int) -> int { a } }
record ZR { a: int, b: int }
var zb = true;
var zi = 0;
var zis: list<int> = [1];
var zr = ZR { a: 1, b: 2 };
task zt(a: int) on zui { zi = a; }
once event z1 { zb = false; }
fn zf(a: int) -> int { a }
procedure zp(a: int) { zi = a; }
fn zapply(f: fn(int) -> int) -> int { f(1) }
";

const TEXTS: &[(Kind, &str)] = &[
    // Values: an int.
    (
        Kind::Value,
        "var N = 0;
fn a1() -> int { N }
fn a2() -> int { N + 1 }
fn a3() -> int { N - 1 }
fn a4() -> int { if N == 1 { N } else { N * 2 } }
fn a5() -> bool { N in zis }
fn a6() -> int { match N { 0 => N, _ => N - N } }
fn a7() -> list<int> { let x = [N, N]; N++; N--; x }
event b1 when N > 0 on zui { N = 1; N += 1; N -= N; N *= 2; N /= 2; N %= 2; }
event b2 when N == 0 after z1 { post zt(N) to zd after N; post zt(N) after N to zd; }
event b3 on zh[1] when zi == N after z1 { let p = post zt(N + 1) to zh[N] front; cancel p; }
thread b4 {
    if N > 0 { N = 2; } else if N < 0 { N = 3; } else { N = 4; }
    while N > 5 { N -= 1; }
    for v in N..N + 2 { N = v; }
    for v in 0..N { zis[N] = N; zis[v] = N; }
    let s = set[N, 1];
    let t = map[N: N];
    let u = [N; 3];
    let w = choose [N, 1];
    let x = ZR { a: N, ..zr };
    let y = ZR { a: N, b: N };
    let z = new ZC { v: N };
    let q = fn(c: int) c + N;
    let r = (N) + (-N) - N;
    N = s.len() + t[N] + u[N] + w + x.a + y.b + z.m(N) + q(N) + r + zf(N);
    assert N == N, \"no\";
    assume N >= 0;
    let o = 0..N;
    zi = N;
    call zp(N);
}
invariant c1: N < 9;
final: N >= 0;
response c2: N == 1 leads_to N == 2;",
    ),
    // A bool.
    (
        Kind::Value,
        "var N = false;
event b1 when N after z1 { N = !N; }
event b2 when N on zui { N = N && N || !N; }
event b3 on zui when N { if N { N = false; } if !N { } while N { N = false; } }
event b4 when N { assert N; assume N; match N { true => { N = true; } _ => { } } }
response c1: N leads_to N;
response c2: !N leads_to zb;
invariant c3: N;
invariant c4: zb || N;
final: N;",
    ),
    // A list, an object, a function, a handle.
    (
        Kind::Value,
        "var N: list<int> = [1];
event b1 { N[0] = 1; N[0] += 1; N[0]++; N.push(2); zi = N[0] + N.len(); N = N + [1]; }
event b2 { for v in N { zi = v; } let c = choose N; zi = c; N = []; if 1 in N { zi = 1; } }
fn a1() -> int { N[0] }
fn a2() -> int { N.len() }",
    ),
    (
        Kind::Value,
        "var N: ZC = new ZC();
event b1 { N.v = 1; N.v += 1; N.v++; N.m(1); zi = N.v + N.m(2); N = new ZC { v: 3 }; }
fn a1() -> int { N.v }
fn a2() -> ZC { N }",
    ),
    (
        Kind::Value,
        "event b1 { let N = post zt(1); cancel N; zi = 1; }
event b2 { let N = zf(1); let x = N; zi = x + N; if N == 1 { } }
event b3 { let x = choose 0..2; for N in x..3 { zi = N; zi += N; } }
event b4[N in 0..2] { zi = N; post zt(N) to zh[N]; }
once event b5[N in 0..2] after b6[N] { zi = N; }
once event b6[N in 0..2] on zh[N] when N > 0 { zi = N; }
thread b7[N in 0..2] { zi = N; }
thread b8 { let N = fork zf(1); join N; }
thread b9 { match zi { 0 => { } N => { zi = N; } } zi = match zi { 1 => 2, N => N }; }
thread b10 { let N: int = 1; atomic { zi = N; } with zl { zi = N; } yield; loop { break; } }
thread b11 { choose { \"a\" => { let N = 1; zi = N; } { zi = 0; } } }
fn a1(N: int) -> int { N }
fn a2(N: int, b: int) -> int { return N + b; }
fn a3() -> int { zapply(fn(N) N + 1) }
fn a4() -> int { zapply(fn(N: int) -> int { N }) }
fn a5() -> int { let N = fn(x: int) x; zapply(N) + (N)(1) }
task a6(N: int) on zui { zi = N; }
procedure a7(N: int) { zi = N; }
const M1 = 3;
spec ZC { m(N)/r ~ m(b)/s when N != b || r == s; }",
    ),
    (
        Kind::Value,
        "const N: int = 3;
handler hs[N]: fifo;
var w: [int; N];
const M1 = N + 1;
event b1[i in 0..N] { zi = N + i; w[0] = M1; post zt(N) to hs[i]; }
invariant c1: zi <= N;",
    ),
    // Functions and procedures, called at the start of a statement and in expressions.
    (
        Kind::Function,
        "fn N(a: int) -> int { a }
event b1 { N(1); (N)(1); zi = N(2) + N(3); call N(4); let x = N(5); zi = x; assert N(1) == 1; }
event b2 when N(1) > 0 after z1 { if N(1) > 0 { zi = N(1); } while N(0) > 1 { } }
thread b3 { let h = fork N(1); join h; N(2); fork N(3); }
fn a1() -> int { N(1) }
fn a2() -> int { N(1) + 1 }
fn a3() -> int { zapply(N) }
component c1: N, b1;",
    ),
    (
        Kind::Function,
        "procedure N(a: int) { zi = a; }
event b1 { N(1); call N(2); post N(3) to zui; post any N(4); async[any] N(5); async[zui] N(6); }
component c1: N;",
    ),
    // What runs, and what it runs on.
    (
        Kind::Any,
        "task N(a: int) on zui { zi = a; }
event b1 { post N(1); post N(2) to zh[1]; post N(3) front; let p = post N(4) to zd after 5; cancel p; }
event b2 { async[zui] N(1); post any N(2); zi = 2; }
component c1: N;",
    ),
    (
        Kind::Any,
        "once event N { zi = 1; }
once event b1 after N { zi = 2; }
event b2 { enable N; disable N; if enabled(N) { zi = 3; } let x = enabled(N); zb = x; }
event b3 when enabled(N) && zb after N, b1 { zi = 4; }
driver N, b1;
component c1: N, b1;",
    ),
    (
        Kind::Any,
        "disabled event N[i in 0..3] { zi = i; }
event b1 { enable N[0]; disable N[zi]; enable N; zb = enabled(N[1]) || enabled(N); }
unfair event b2 when zb { zi = 2; }",
    ),
    (
        Kind::Any,
        "thread N { zi = 1; }
daemon thread b1 { zi = 2; }
unfair thread b2 { zi = 2; }
component c1: N;",
    ),
    (
        Kind::Any,
        "handler N: bag;
task b1() on N { zi = 1; }
event b2 on N when zb { post b1() to N; post b1() to N front; async[N] b1(); }",
    ),
    (
        Kind::Any,
        "handler N[2]: delayed;
task b1() on N[1] { zi = 1; }
event b2[i in 0..2] on N[i] { post b1() to N[i] after 2; async[N[i]] b1(); }",
    ),
    (
        Kind::Any,
        "lock N;
thread b1 { acquire N; release N; with N { wait zc with N; } }",
    ),
    (
        Kind::Any,
        "lock N[2], b[3];
thread b1 { acquire N[0]; release N[0]; with N[zi] { wait zc with N[zi]; } }",
    ),
    (
        Kind::Any,
        "cond N;
thread b1 { with zl { wait N with zl; } notify N; notify_all N; }",
    ),
    (
        Kind::Any,
        "cond N[2];
thread b1 { with zl { wait N[1] with zl; } notify N[zi]; notify_all N[0]; }",
    ),
    // Types and their parts.
    (
        Kind::Type,
        "record N { a: int, b: int }
var x = N { a: 1, b: 2 };
var y: N? = null;
var ys: list<N> = [N { a: 1, b: 3 }];
fn a1(p: N) -> N { N { a: 2, b: p.b } }
fn a2(p: map<int, N>, q: fn(N) -> N) -> N { let z = N { a: 3, ..x }; q(z) }
event b1 { x = N { a: 1, ..x }; let z: N = x; y = z; }",
    ),
    (
        Kind::Type,
        "class N { var v = 0; fn m() -> N { self } }
var x: N = new N();
event b1 { x = new N(); x = new N { v: 3 }; let z = new N(); z.m(); zi = (new N()).v; }",
    ),
    (
        Kind::Type,
        "enum N { A, B(int) }
var x = N.A;
event b1 { x = N.B(1); match x { N.A => { zi = 1; } N.B(v) => { zi = v; } } }
event b2 when x == N.A after z1 { zi = match x { N.A => 0, N.B(_) => 1 }; }",
    ),
    (
        Kind::Type,
        "index N = 2;
handler w[N]: fifo;
event b1[i in N] on w[i] { let k = choose N; zb = k == i; }
invariant c1: N.all(fn(i) zb || !zb);",
    ),
    (
        Kind::Any,
        "record P { N: int, b: int }
class Q { var N = 0; fn b() -> int { self.N } }
enum E { N, B(int) }
var p = P { N: 1, b: 2 };
var e = E.N;
event b1 { p.N = 2; p.N += 1; p = P { N: 3, ..p }; let q = new Q { N: 4 }; q.N = p.N; zi = q.N; }
event b2 when e == E.N { match e { E.N => { e = E.B(1); } E.B(_) => { e = E.N; } } }",
    ),
    (
        Kind::Any,
        "class Q { var v = 0; fn N(a: int) -> int { self.v + a } }
var q: Q = new Q();
event b1 { q.N(1); zi = q.N(2); }
spec Q { N(a)/r ~ N(b)/s when a == b; }",
    ),
    (
        Kind::Any,
        "invariant N: zi < 9;
response R: zb leads_to !zb;
component S: zt;",
    ),
    (Kind::Any, "component N: zt;\nresponse P: zb leads_to zi > 0;"),
    (Kind::Any, "response N: zb leads_to !zb;"),
];

fn words() -> impl Iterator<Item = &'static str> {
    CONTEXTUAL.iter().chain(PLAIN).copied()
}

fn fits(word: &str, kind: Kind) -> bool {
    let none: &[&str] = match kind {
        Kind::Any => &[],
        Kind::Value => &["set", "map", "async"],
        Kind::Function => &["enabled"],
        Kind::Type => &["set", "map", "task", "thread"],
    };
    !none.contains(&word)
}

/// `text` with `name` for each token `from`.
fn renamed(text: &str, from: &str, name: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for token in lex(text).tokens {
        if token.span.of(text) == from {
            out.push_str(&text[at..token.span.start as usize]);
            out.push_str(name);
            at = token.span.end as usize;
        }
    }
    out + &text[at..]
}

fn check_name(text: &str, word: &str) {
    let plain = renamed(text, "N", "zq");
    let named = renamed(text, "N", word);
    let wanted = tree(&plain).replace("\"zq\"", &format!("\"{word}\""));
    assert_eq!(tree(&named), wanted, "{named}");
    let laid_out = check(word, &named);
    for text in [&plain, &named, &laid_out] {
        let errors: Vec<_> = load(text).diagnostics.into_iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{text}\n{errors:?}");
    }
}

#[test]
fn each_word_is_a_name_in_every_position() {
    let mut checked = 0;
    for word in words() {
        for (_, text) in TEXTS.iter().filter(|(kind, _)| fits(word, *kind)) {
            check_name(&format!("model N\n{AROUND}{text}\n"), word);
            checked += 1;
        }
    }
    println!("{checked} texts");
    assert!(checked > 1_500, "{checked} texts");
}

#[test]
fn any_two_words_stand_next_to_each_other_as_names() {
    let text = "model N
var zi = 0;
handler M: delayed;
lock zl[2];
event N on M when zi > 0 after zo { post zt() to M after 2; enable N; }
once event zo { }
task zt() on M { disable N; async[M] zt(); }
component zk: N, zt;
";
    let conds = "model M
lock N;
cond M;
thread zw { acquire N; with N { wait M with N; } release N; notify M; }
";
    let mut checked = 0;
    for (one, other) in words().flat_map(|one| words().map(move |other| (one, other))) {
        if one == other {
            continue;
        }
        for text in [text, conds] {
            let named = renamed(&renamed(text, "N", "zn"), "M", "zm");
            let wanted = tree(&named)
                .replace("\"zn\"", &format!("\"{one}\""))
                .replace("\"zm\"", &format!("\"{other}\""));
            let named = renamed(&renamed(&named, "zn", one), "zm", other);
            // Of a name that was put in, nothing is replaced again.
            assert_eq!(tree(&named), wanted, "{named}");
            checked += 1;
        }
    }
    assert!(checked > 7_000, "{checked} texts");
}

#[test]
fn each_reserved_word_gets_a_message_that_says_so() {
    for word in RESERVED {
        for text in ["var N = 0;", "task N() { }", "event N { }", "lock N;", "record R { N: int }"]
        {
            let text = format!("model m\n{}\n", renamed(text, "N", word));
            let first = load(&text).diagnostics.into_iter().next();
            let first = first.unwrap_or_else(|| panic!("{text}"));
            assert_eq!(first.code.as_str(), "E010", "{text}");
            assert!(first.message.contains(&format!("`{word}` is a reserved word")), "{text}");
        }
    }
}

#[test]
fn words_that_would_be_ambiguous_are_refused_with_the_reason() {
    for (text, wanted) in [
        ("var set = 0;", "a value cannot be called `set`"),
        ("fn f(map: int) { }", "a value cannot be called `map`"),
        ("init { let async = 1; }", "a value cannot be called `async`"),
        ("fn enabled(a: int) { }", "a function cannot be called `enabled`"),
        ("procedure enabled(a: int) { }", "a function cannot be called `enabled`"),
    ] {
        let diagnostics = load(&format!("model m\n{text}\n")).diagnostics;
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert!(messages.contains(&wanted), "{text}: {messages:?}");
    }
}

#[test]
fn the_page_of_the_language_lists_the_words() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/language.md")).expect("the page");
    let list = |start: &str| -> Vec<String> {
        let rest = page.split_once(start).unwrap_or_else(|| panic!("no {start:?}")).1;
        let list = rest.split("\n\n").next().unwrap_or_default();
        let mut words: Vec<String> =
            list.split('`').skip(1).step_by(2).map(str::to_string).collect();
        words.sort();
        words
    };
    let sorted = |words: &[&str]| -> Vec<String> {
        let mut words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        words.sort();
        words
    };
    assert_eq!(list("Reserved everywhere:"), sorted(RESERVED));
    assert_eq!(list("Words only in their place:"), sorted(CONTEXTUAL));
    let grammar = root.join("../../docs/editor/any.tmLanguage.json");
    let grammar = std::fs::read_to_string(grammar).expect("the grammar");
    for word in RESERVED.iter().chain(CONTEXTUAL) {
        assert!(grammar.contains(word), "the grammar for editors does not know `{word}`");
    }
    assert!(CONTEXTUAL.iter().all(|word| TokenKind::word(word).is_some_and(TokenKind::is_name)));
}
