//! Random models of exchangeable handlers, threads, locks, arrays and messages.

use std::fmt::Write;

/// A small generator of numbers (xorshift), so that seeds mean the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

/// A model: the same for the same seed.
pub(crate) fn model(seed: u64) -> String {
    let mut r = Random::new(seed);
    let n = if r.chance(75) { 2 } else { 3 };
    let mailbox = r.pick(&["fifo", "bag", "delayed"]);
    let delayed = mailbox == "delayed";
    let access = if r.chance(20) { "setting granularity = access;\n" } else { "" };
    let mut text = format!(
        "model random
{access}const N = {n};
index I = N;
enum P {{ Idle, Busy(I), Done }}
record R {{ who: I?, n: int }}
class Box {{ var who: I? = null; }}
var a: [int; I];
var p: [P; I];
var owner: I?;
var seen: set<I>;
var m: map<I, int>;
var q: list<I>;
var rec: R;
var x = 0;
var box = new Box();
var friend: [I?; I];
var hs: [task?; I];
lock ls[I];
lock l;
cond c[I];
handler h[I]: {mailbox};
handler hub: bag;
"
    );
    // A second index set of its own.
    let two = n == 2 && r.chance(25);
    if two {
        text.push_str("index J = 2;\nvar b: [int; J];\nthread u[k in J] { ");
        let body = r.pick(&[
            "b[k] = 1;",
            "if x < 2 { x += 1; }",
            "atomic { if owner != null { b[k] = 1; owner = null; } }",
            "with l { b[k] = 1; }",
        ]);
        let _ = writeln!(text, "{body} }}");
    }
    // What happens again and again posts nothing: mailboxes would grow without end.
    let (once, posts) = if r.chance(80) { ("once ", true) } else { ("", false) };
    let steps = !access.is_empty();
    let guard = r.pick(&["a[i] == 0", "p[i] == P.Idle", "!(i in seen)", "owner != i"]);
    let own = if posts { body(&mut r, "i", steps, delayed) } else { quiet(&mut r, "i", steps, 2) };
    let _ = writeln!(text, "{once}event e[i in I] when {guard} {{ {own} }}");
    // Seldom all of it, so that models stay small.
    let (more, threads) = (r.chance(35), r.chance(45));
    if more && !steps && (!threads || n == 2 && r.chance(30)) {
        let _ = writeln!(
            text,
            "once event f[i in I] on h[i] {{ {} }}",
            body(&mut r, "i", steps, delayed)
        );
    }
    let _ = writeln!(text, "task w(i: I) on h[i] {{ {} }}", quiet(&mut r, "i", steps, 2));
    let _ = writeln!(
        text,
        "task g(i: I, j: I?) on hub {{ if j == i {{ a[i] = 1; }} {} }}",
        quiet(&mut r, "i", steps, 1)
    );
    if threads {
        let _ = writeln!(text, "thread t[i in I] {{ {} }}", thread(&mut r));
    }
    if r.chance(30) && !steps {
        let _ = writeln!(
            text,
            "init {{ {} }}",
            r.pick(&[
                "for k in I { post w(k); }",
                "for k in I { a[k] = 1; }",
                "for k in I { seen.add(k); x += 1; }",
                "let k = choose I; owner = k;",
            ])
        );
    }
    let _ = writeln!(
        text,
        "invariant one: {};",
        r.pick(&[
            "a.sum() < N",
            "I.all(fn(k) a[k] < 2)",
            "a.count(fn(v) v == 1) <= 1",
            "owner == null || owner in seen",
            "!p.any(fn(v) v == P.Done)",
            "p.contains(P.Done) == false || seen.len() < N",
            "I.all(fn(k) friend[k] != k)",
            "I.all(fn(k) I.all(fn(j) j == k || a[j] + a[k] < 2))",
        ])
    );
    if r.chance(40) {
        let _ = writeln!(
            text,
            "final: {};",
            r.pick(&["true", "a.sum() == 0", "x == 0 || owner != null"])
        );
    }
    text
}

/// Statements of an event, with posts.
fn body(r: &mut Random, i: &str, steps: bool, delayed: bool) -> String {
    let mut text = quiet(r, i, steps, 2);
    let post = match r.below(if steps { 3 } else { 8 }) {
        0 => format!(" post w({i});"),
        1 => format!(" post g({i}, owner);"),
        2 => String::new(),
        3 => format!(" for k in I {{ if k != {i} {{ post w(k); }} }}"),
        4 => " for k in I { post g(k, owner); }".to_owned(),
        5 => format!(" post w({i}) front;"),
        6 if delayed => format!(" post w({i}) after 1; post w({i});"),
        _ => format!(" hs[{i}] = post w({i});"),
    };
    text.push_str(&post);
    text
}

/// Statements without posts.
fn quiet(r: &mut Random, i: &str, steps: bool, most: usize) -> String {
    let mut text = String::new();
    for _ in 0..=r.below(most) {
        let one = match r.below(if steps { 15 } else { 26 }) {
            0 => "a[$] = 1;",
            1 => "if a[$] < 2 { a[$] += 1; }",
            2 => "owner = $;",
            3 => "if owner == null { owner = $; } else { owner = null; }",
            4 => "seen.add($);",
            5 => "if $ in seen { a[$] = 0; }",
            6 => "p[$] = P.Busy($);",
            7 => "p[$] = P.Done;",
            8 => "if q.len() < 2 { q.push($); }",
            9 => "if x < 2 { x += 1; }",
            10 => "m.set($, 1);",
            11 => "friend[$] = owner;",
            12 => "rec = R { who: $, n: 1 };",
            13 => "assert owner != $ || a[$] == 0, \"owned\";",
            14 => "box.who = owner; friend[$] = box.who;",
            15 => "match p[$] { P.Busy(k) => { a[k] = 1; } P.Done => { p[$] = P.Idle; } _ => {} }",
            16 => "for k in I { a[k] = 0; }",
            17 => "for k in I { if k != $ { p[k] = P.Busy($); } }",
            18 => "{ let k = choose I; owner = k; }",
            19 => "for j in q { a[j] = 1; }",
            20 => "for k in seen { friend[k] = $; }",
            21 => "disable e[$];",
            22 => "enable e[$];",
            23 | 24 => "{ let h = hs[$]; if h != null { cancel h; } }",
            _ => "if I.any(fn(k) a[k] == 1) { x = 0; seen.remove($); }",
        };
        text.push(' ');
        text.push_str(&one.replace('$', i));
    }
    text
}

/// Statements of a thread: each access is a step.
fn thread(r: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=r.below(2) {
        let one = match r.below(15) {
            0 => "a[i] = 1;",
            1 => "let prev = owner; owner = i; if prev == i { a[i] = 1; }",
            2 => "with ls[i] { seen.add(i); }",
            3 => "with l { owner = i; }",
            4 => "atomic { for k in I { a[k] = 0; } owner = i; }",
            5 => "if q.len() < 1 { q.push(i); }",
            6 => "let f = friend[i]; friend[i] = i; if f != null { owner = f; }",
            7 => {
                "acquire ls[i]; let o = owner; if o != null && o != i { acquire ls[o]; release ls[o]; } release ls[i];"
            }
            8 => "if !(i in seen) { acquire l; wait c[i] with l; release l; }",
            9 => "let o = owner; if o != null { notify c[o]; }",
            10 => {
                "p[i] = P.Busy(i); let v = p[i]; match v { P.Busy(k) => { a[k] = 1; x = 1; a[k] = 0; } _ => {} }"
            }
            11 => "if !(i in seen) { acquire ls[i]; wait c[i] with ls[i]; release ls[i]; }",
            12 => "let o = owner; if o != null { notify_all c[o]; }",
            13 => "disable e[i];",
            _ => "let h = fork late(i); join h;",
        };
        text.push_str(&format!("{{ {one} }} "));
    }
    if text.contains("late(") {
        text.push_str("}\nfn late(j: I) { if owner == null { owner = j; } ");
    }
    text
}
