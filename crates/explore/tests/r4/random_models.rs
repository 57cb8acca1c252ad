//! Random models that wait and choose: exploration without a bound, against all their states.

use crate::tests::r4::full::{Ends, Repeating, Seen, ended, ends, ends_of, explored, machine};
use crate::tests::r4::random::Numbers;
use anyorder_explore::r4::Sabotage;
use std::fmt::Write;

#[path = "../../../lang/tests/naive/generate/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the language")]
mod generate;

/// The kinds of models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Events with guards over several variables, threads that set and reset them.
    Guards,
    /// Threads with locks, conditions, forks and joins.
    Threads,
    /// Choices in threads, events and tasks.
    Choices,
    /// Mailboxes of all kinds, with cancelled and posted tasks, and steps at accesses.
    Mailboxes,
    /// All of these.
    All,
}

pub(crate) const KINDS: [Kind; 5] =
    [Kind::Guards, Kind::Threads, Kind::Choices, Kind::Mailboxes, Kind::All];

struct Text {
    numbers: Numbers,
    kind: Kind,
    text: String,
    locals: u32,
}

impl Text {
    fn below(&mut self, n: usize) -> usize {
        self.numbers.below(n)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn has(&self, kind: Kind) -> bool {
        self.kind == kind || self.kind == Kind::All
    }

    fn variable(&mut self) -> String {
        match self.below(5) {
            0 => format!("a[{}]", self.below(2)),
            _ => format!("x{}", self.below(3)),
        }
    }

    fn condition(&mut self, size: usize) -> String {
        if size > 0 && !self.one_in(4) {
            let (left, right) = (self.condition(size - 1), self.condition(size - 1));
            let operator = if self.one_in(3) { "||" } else { "&&" };
            return format!("({left} {operator} {right})");
        }
        let (variable, value) = (self.variable(), self.below(2));
        let operator = if self.one_in(4) { "!=" } else { "==" };
        format!("{variable} {operator} {value}")
    }

    fn value(&mut self) -> String {
        match self.below(6) {
            0 => {
                let other = self.variable();
                format!("1 - {other}")
            }
            1 => self.variable(),
            _ => format!("{}", self.below(2)),
        }
    }

    fn set(&mut self) -> String {
        let (variable, value) = (self.variable(), self.value());
        format!("{variable} = {value};")
    }

    /// A statement of an event or a task.
    fn step(&mut self, size: usize) -> String {
        let choices = self.has(Kind::Choices);
        match self.below(if size == 0 { 4 } else { 12 }) {
            4 if choices => self.choice(|text| text.step(0)),
            5 if choices => {
                let variable = self.variable();
                format!("{variable} = choose 0..{};", 2 + self.below(2))
            }
            6 if choices => {
                let condition = self.condition(0);
                format!("assume {condition};")
            }
            7 => {
                let (condition, then) = (self.condition(1), self.step(0));
                format!("if {condition} {{ {then} }}")
            }
            8 => self.fails(),
            9 if self.has(Kind::Mailboxes) => {
                format!("p = post k{}({});", self.below(2), self.below(2))
            }
            10 if self.has(Kind::Mailboxes) => match self.below(3) {
                0 => "cancel p;".to_owned(),
                1 => format!("disable e{};", self.below(2)),
                _ => format!("enable e{};", self.below(2)),
            },
            11 if self.has(Kind::Mailboxes) => format!("post k2() after {};", self.below(3)),
            _ => self.set(),
        }
    }

    fn fails(&mut self) -> String {
        let condition = self.condition(1);
        format!("assert {condition};")
    }

    fn choice(&mut self, mut branch: impl FnMut(&mut Text) -> String) -> String {
        let mut branches = String::new();
        for _ in 0..2 + self.below(2) {
            let inner = branch(self);
            let _ = write!(branches, "{{ {inner} }} ");
        }
        format!("choose {{ {branches}}}")
    }

    /// A statement of a thread.
    fn thread(&mut self, size: usize, forks: bool) -> String {
        let threads = self.has(Kind::Threads);
        match self.below(if size == 0 { 3 } else { 11 }) {
            3 if threads => {
                let (lock, inner) = (self.below(2), self.thread(0, false));
                format!("with m{lock} {{ {inner} }}")
            }
            4 if threads => {
                let (a, b) = if self.one_in(2) { (0, 1) } else { (1, 0) };
                let inner = self.thread(0, false);
                format!("with m{a} {{ with m{b} {{ {inner} }} }}")
            }
            5 if threads => {
                let condition = self.condition(0);
                format!("with m0 {{ if {condition} {{ wait c with m0; }} }}")
            }
            6 if threads => match self.below(2) {
                0 => "notify c;".to_owned(),
                _ => "with m0 { notify_all c; }".to_owned(),
            },
            7 if threads && forks => {
                self.locals += 1;
                let (name, rest) = (self.locals, self.thread(0, false));
                format!("let h{name} = fork f({}); {rest} join h{name};", self.below(2))
            }
            8 if self.has(Kind::Choices) => self.choice(|text| text.thread(0, false)),
            9 => {
                let (condition, set) = (self.condition(1), self.set());
                format!("atomic {{ assume {condition}; {set} }}")
            }
            10 => self.fails(),
            _ => self.set(),
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns a model as text.
pub(crate) fn model(kind: Kind, seed: u64) -> String {
    let numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((kind as u64) << 40) | 1);
    let mut text = Text { numbers, kind, text: String::new(), locals: 0 };
    for _ in 0..5 {
        text.below(2);
    }
    text.line("model random");
    if kind == Kind::Mailboxes && text.one_in(3) {
        text.line("setting granularity = access;");
    }
    text.line("var x0 = 0; var x1 = 0; var x2 = 0; var a = [0, 0];");
    if text.has(Kind::Mailboxes) {
        let mailbox = ["fifo", "bag", "delayed"];
        let (one, two) = (mailbox[text.below(2)], mailbox[text.below(3)]);
        text.line(&format!("var p: task? = null; handler h: {one}; handler g: {two};"));
        text.line("handler d: delayed;");
        for (task, handler) in [("k0(i: int)", "h"), ("k1(i: int)", "g")] {
            let body = text.set();
            let more = text.fails();
            let more = if text.one_in(3) { more } else { String::new() };
            text.line(&format!("task {task} on {handler} {{ x0 = i; {body} {more} }}"));
        }
        let body = text.set();
        text.line(&format!("task k2() on d {{ {body} }}"));
    }
    if text.has(Kind::Threads) {
        let body = text.thread(0, false);
        text.line(&format!("lock m0; lock m1; cond c; fn f(i: int) {{ {body} x1 = i; }}"));
    }
    let threads = match kind {
        Kind::Threads => 2 + text.below(2),
        Kind::Mailboxes => text.below(2),
        _ => 1 + text.below(2),
    };
    for thread in 0..threads {
        let mut body = String::new();
        for _ in 0..1 + text.below(3) {
            body += &text.thread(1, thread == 0);
            body.push(' ');
        }
        text.line(&format!("thread t{thread} {{ {body}}}"));
    }
    let events = match kind {
        Kind::Threads => text.below(2),
        _ => 2 + text.below(3),
    };
    for event in 0..events.max(if text.has(Kind::Mailboxes) { 2 } else { 0 }) {
        let mut body = String::new();
        for _ in 0..1 + text.below(2) {
            body += &text.step(1);
            body.push(' ');
        }
        let guarded = !text.one_in(3);
        let guard = text.condition(2);
        let guard = if guarded { format!("when {guard} ") } else { String::new() };
        let after = if event > 0 && text.one_in(8) { "after e0 " } else { "" };
        let on = if text.has(Kind::Mailboxes) && text.one_in(3) { "on h " } else { "" };
        text.line(&format!("once event e{event} {on}{after}{guard}{{ {body}}}"));
    }
    text.text
}

/// The comparison of an exploration with all states.
pub(crate) struct Compared {
    pub(crate) expected: Ends,
    pub(crate) found: Ends,
    pub(crate) seen: Seen,
    pub(crate) runs: usize,
    pub(crate) executions: u64,
    pub(crate) restarts: u64,
    pub(crate) complete: bool,
    pub(crate) duplicates: u64,
}

impl Compared {
    fn check(&self, context: &str) {
        assert_eq!(self.found.failures, self.expected.failures, "{context}");
        let missing = self.expected.finals.difference(&self.found.finals).count();
        let invented = self.found.finals.difference(&self.expected.finals).count();
        assert_eq!((missing, invented), (0, 0), "{context}");
        assert!(self.complete, "{context}");
    }
}

/// `None` if the model is too large, or runs for ever.
pub(crate) fn compared(text: &str, executions: u64, sabotage: Sabotage) -> Option<Compared> {
    let machine = machine(text);
    let mut system = Repeating::new(machine.clone(), 1);
    let (expected, seen) = ends(&mut system, 4_000, 60)?;
    let outcome = explored(&machine, 1, executions, sabotage);
    ended(&outcome).then(|| Compared {
        expected,
        found: ends_of(&outcome),
        seen,
        runs: outcome.runs.len(),
        executions: outcome.counts.executions,
        restarts: outcome.counts.restarts,
        complete: outcome.complete && outcome.exhausted,
        duplicates: outcome.counts.duplicates,
    })
}

#[derive(Default, Debug)]
struct Totals {
    models: u64,
    large: u64,
    fail: u64,
    choose: u64,
    wait: u64,
    began_again: u64,
    runs: usize,
    executions: u64,
    finals: usize,
    duplicates: u64,
}

impl Totals {
    fn add(&mut self, compared: &Option<Compared>) {
        let Some(compared) = compared else {
            self.large += 1;
            return;
        };
        self.models += 1;
        self.fail += u64::from(!compared.expected.failures.is_empty());
        self.choose += u64::from(compared.seen.choices > 0);
        self.wait += u64::from(compared.seen.waiting > 0);
        self.began_again += u64::from(compared.restarts > 0);
        self.runs += compared.runs;
        self.executions += compared.executions;
        self.finals += compared.expected.finals.len();
        self.duplicates += compared.duplicates;
    }
}

#[test]
fn random_models_end_in_all_their_ways() {
    let seeds = anyorder_testkit::effort::seeds(15);
    for kind in KINDS {
        let mut totals = Totals::default();
        for seed in seeds.clone() {
            let text = model(kind, seed);
            let compared = compared(&text, 2_000, Sabotage::None);
            totals.add(&compared);
            let Some(compared) = compared else { continue };
            compared.check(&format!("{kind:?} {seed}\n{text}"));
        }
        println!("{kind:?}, seeds {seeds:?}: {totals:?}");
        assert!(totals.large * 4 < seeds.count(), "{kind:?}: most models are small enough");
        assert!(totals.fail > 0 && totals.wait > 0, "{kind:?}");
        let chooses = matches!(kind, Kind::Choices | Kind::All);
        assert!(totals.choose > 0 || !chooses, "{kind:?}");
    }
}

#[test]
fn models_of_the_whole_language_end_in_all_their_ways() {
    let seeds = anyorder_testkit::effort::seeds(5);
    let mut totals = Totals::default();
    for seed in seeds.clone() {
        let (text, _) = generate::model(seed);
        let compared = compared(&text, 200, Sabotage::None);
        totals.add(&compared);
        let Some(compared) = compared else { continue };
        compared.check(&format!("seed {seed}\n{text}"));
    }
    println!("seeds {seeds:?}: {totals:?}");
    assert!(totals.models > 0 && totals.wait > 0);
}
