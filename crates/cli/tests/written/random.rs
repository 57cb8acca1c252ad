//! Random models and traces, as texts. Their words are those whose schedules went wrong before, and
//! what lies near: steps with equal effects, threads that a `notify` may wake, messages that are
//! equal, alternatives, components, cancelled tasks, names that repeat.

use std::fmt::Write;

/// Two events with equal effects.
pub(crate) const EQUAL_EFFECTS: &str = "model m\nvar x = 0;\nevent a { x = 1; }\n\
    event b { x = 0; x = 1; }\ncomponent c0: a;\ncomponent c1: b;\n";

/// A small generator of numbers: xorshift.
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Statements of events and tasks.
const STATEMENTS: &[&str] = &[
    "x = 1;",
    "x = 0; x = 1;",
    "x = 1; x = 2;",
    "y = x;",
    "y = 1;",
    "x = y;",
    "assert x != 2;",
    "if y == 1 { fail \"no\"; }",
    "choose { \"p\" => { x = 1; } \"q\" => { x = 2; } }",
    "choose { \"p\" => { y = 0; } \"q\" => { y = 0; x = 1; } }",
    "let i = choose 0..3; x = i;",
    "list[x % 2] = y;",
    "assume x == 0;",
];

/// Statements that post; only in events that come once.
const POSTS: &[&str] = &[
    "post t();",
    "post t(); post t();",
    "post any u(1);",
    "post any u(1); post any u(1); post any u(2);",
    "post v() after 2; post v() after 1;",
    "let p = post t(); cancel p;",
    "post u(2) front;",
];

fn body(rng: &mut Rng, posts: bool) -> String {
    let mut text = String::new();
    for _ in 0..=rng.below(3) {
        let from = if posts && rng.below(2) == 0 { POSTS } else { STATEMENTS };
        text.push_str(rng.one(from));
        text.push(' ');
    }
    text
}

/// A model with events, tasks, components and properties, or one of threads.
pub(crate) fn model(seed: u64) -> String {
    let rng = &mut Rng::new(seed + 1);
    if seed % 3 == 2 { threads(rng) } else { events(rng) }
}

fn events(rng: &mut Rng) -> String {
    let mut text = String::from("model r\nvar x = 0;\nvar y = 0;\nvar list = [0; 2];\n");
    text.push_str("handler ui: fifo;\nhandler net: bag;\nhandler timer: delayed;\n");
    let _ = writeln!(text, "task t() on ui {{ {}}}", body(rng, false));
    let _ = writeln!(text, "task u(n: int) on net {{ x = n; {}}}", body(rng, false));
    let _ = writeln!(text, "task v() on timer {{ {}}}", body(rng, false));
    for event in ["a", "b", "c"] {
        let once = event == "c" || rng.below(2) == 0;
        let on = rng.one(&["", " on ui", " on net"]);
        let word = if once { "once event" } else { "event" };
        let _ = writeln!(text, "{word} {event}{on} {{ {}}}", body(rng, once));
    }
    if rng.below(2) == 0 {
        text.push_str("component first: a, t;\ncomponent second: b, c, u, v;\n");
    }
    for (property, of) in [
        ("invariant low: x < 2;\n", 3),
        ("final: y == 1;\n", 4),
        ("response answered: x == 1 leads_to y == 1;\n", 4),
    ] {
        if rng.below(of) == 0 {
            text.push_str(property);
        }
    }
    text
}

fn threads(rng: &mut Rng) -> String {
    let mut text = String::from("model r\nvar x = 0;\nvar ready = 0;\nlock l;\nlock k;\ncond c;\n");
    let wait = "acquire l; ready += 1; wait c with l; x = x * 3 + i; release l;";
    let nested = "acquire l; acquire k; x += i; release k; release l;";
    let crossed = "acquire k; acquire l; x += i; release l; release k;";
    let racy = "let old = x; x = old + i;";
    let _ = writeln!(text, "fn w(i: int) {{ {} }}", rng.one(&[wait, wait, nested, racy]));
    let order = ["fork w(3); fork w(2); fork w(1);", "fork w(1); fork w(1);", "fork w(2);"];
    let _ = writeln!(text, "thread start {{ {} }}", rng.one(&order));
    let wake = rng.one(&["notify c;", "notify_all c;", "notify c; notify c;"]);
    let _ = writeln!(text, "thread go {{ assume ready > 0; acquire l; {wake} release l; }}");
    let _ = writeln!(text, "thread other {{ let i = 1; {} }}", rng.one(&[crossed, nested, racy]));
    let _ = writeln!(text, "invariant low: x < {};", 1 + rng.below(6));
    text
}

/// A trace of tasks and threads. Each line says what can happen there, so it is well-formed.
pub(crate) fn trace(seed: u64) -> String {
    let rng = &mut Rng::new(seed + 77);
    let mut text = String::from("anyorder-trace 1\n");
    let mailbox = rng.one(&["fifo", "bag", "delayed"]);
    let _ = writeln!(text, "handler h0 \"ui\" {mailbox}\nhandler h1 \"main\" none");
    text.push_str("handler h2 \"worker\" none\ntask t0 \"ui\" initial h0\n");
    text.push_str("task t1 \"main\" initial h1\ntask t2 \"worker\" initial h2\n");
    let tasks = 2 + rng.below(3);
    for task in 0..tasks {
        // Names repeat.
        let name = rng.one(&["load", "click"]);
        let _ = writeln!(text, "task t{} \"{name}\" posted h0", task + 3);
    }
    text.push_str("location x0 \"x\"\nlocation x1 \"y\"\nlock l0 \"l\"\n\n");
    text.push_str("t0 loop h0\nt1 fork h2\n");
    let (mut posted, mut begun) = (0, 0);
    for _ in 0..12 + rng.below(12) {
        let task = rng.one(&["t1", "t2"]);
        match rng.below(6) {
            0 | 1 if posted < tasks => {
                let _ = writeln!(text, "{task} post t{}", posted + 3);
                posted += 1;
            }
            2 if begun < posted => {
                let own = format!("t{}", begun + 3);
                let _ = writeln!(text, "{own} get h0\n{}{own} end", accesses(rng, &own));
                begun += 1;
            }
            3 => {
                let _ = write!(text, "{task} acquire l0\n{}", accesses(rng, task));
                let _ = writeln!(text, "{task} release l0");
            }
            _ => text.push_str(&accesses(rng, task)),
        }
    }
    text
}

fn accesses(rng: &mut Rng, task: &str) -> String {
    let mut text = String::new();
    for _ in 0..=rng.below(2) {
        let (kind, at) = (rng.one(&["read", "write"]), rng.one(&["x0", "x1"]));
        let _ = writeln!(text, "{task} {kind} {at}");
    }
    text
}
