//! Random models of threads alone, as text.

use anyorder_common::random::{Random as _, Rng};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Makes models, and counts the kinds of what it writes.
pub(super) struct Generator<'r> {
    rng: &'r mut Rng,
    text: String,
    depth: usize,
    in_section: bool,
    holds: Vec<&'static str>,
    locals: Vec<u32>,
    /// How many locals the thread has.
    fresh: u32,
    handles: u32,
    /// Operations that a thread may still have.
    left: u32,
    forks: bool,
    specified: bool,
    pub(super) used: BTreeMap<&'static str, u64>,
}

/// All kinds of what it writes.
#[allow(dead_code, reason = "one of the tests that share this file asks")]
pub(super) const KINDS: [&str; 35] = [
    "acquire",
    "assert",
    "assume",
    "assume two",
    "atomic",
    "choose",
    "choose a value",
    "daemon",
    "element read",
    "element write",
    "family",
    "field read",
    "field write",
    "final",
    "fork",
    "if",
    "increment",
    "join",
    "let",
    "list read",
    "list write",
    "loop",
    "method",
    "misuse",
    "notify",
    "result",
    "set read",
    "set write",
    "spec",
    "store",
    "two conditions",
    "wait",
    "whole read",
    "with",
    "yield",
];

const VARS: [&str; 3] = ["x", "y", "z"];

impl<'r> Generator<'r> {
    pub(super) fn new(rng: &'r mut Rng) -> Generator<'r> {
        Generator {
            rng,
            text: String::new(),
            depth: 0,
            in_section: false,
            holds: Vec::new(),
            locals: Vec::new(),
            fresh: 0,
            handles: 0,
            left: 0,
            forks: false,
            specified: false,
            used: BTreeMap::new(),
        }
    }

    fn hit(&mut self, what: &'static str) {
        *self.used.entry(what).or_default() += 1;
    }

    fn below(&mut self, count: usize) -> usize {
        self.rng.index(count)
    }

    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{text}");
    }

    /// Makes a model.
    pub(super) fn model(&mut self) -> String {
        self.text.clear();
        self.line("model random");
        self.line("var x = 0, y = 1, z = 0;");
        self.line("var xs: [int; 3];");
        self.line("var all = [0, 1];");
        self.line("var seen: set<int> = set[0];");
        self.line("lock m, n, ms[2];");
        self.line("cond c, d;");
        self.line("class Box {");
        self.line("    var v = 0;");
        self.line("    var cells: [int; 2];");
        self.line("    fn add(by: int) -> int { atomic { self.v += by; return self.v; } }");
        self.line("    fn get() -> int { atomic { return self.v; } }");
        self.line("    fn put(at: int, v: int) { atomic { self.cells[at] = v; } }");
        self.line("    fn slow() { self.v = self.v + 1; }");
        self.line("}");
        self.line("var box = new Box(), other = new Box();");
        self.forks = self.below(4) == 0;
        self.specified = self.below(3) == 0;
        if self.specified {
            self.hit("spec");
            let clauses = [
                "add(a) ~ get() when a == 0;",
                "get() ~ get();",
                "put(a, b) ~ put(c, d) when a != c;",
            ];
            self.line("spec Box {");
            for clause in clauses {
                self.line(&format!("    {clause}"));
            }
            self.line("    add(a)/r ~ add(b)/s when a == 0 && b == 0;");
            self.line("    put(a, b) ~ add(c);");
            self.line("    put(a, b) ~ get();");
            self.line("}");
        }
        if self.forks {
            self.line("fn child(by: int) {");
            self.body(2);
            self.line("}");
        }
        let has_daemon = !self.forks && self.below(6) == 0;
        let threads = 2 + self.below(2);
        for thread in 0..threads {
            let daemon = if has_daemon && thread == 0 { "daemon " } else { "" };
            if has_daemon && thread == 0 {
                self.hit("daemon");
            }
            if thread + 1 == threads && self.below(3) == 0 {
                self.hit("family");
                self.line(&format!("{daemon}thread t{thread}[ni in 0..2] {{"));
                self.body(3);
            } else {
                self.line(&format!("{daemon}thread t{thread} {{"));
                self.body(if threads == 2 { 6 } else { 4 });
            }
            self.line("}");
        }
        if !self.forks && !has_daemon && self.below(2) == 0 {
            self.hit("final");
            let condition = match self.below(4) {
                0 => "x <= y".to_owned(),
                1 => "xs.sum() < 3".to_owned(),
                2 => format!("box.v != {}", self.below(3)),
                _ => format!("x + z != {}", self.below(4)),
            };
            self.line(&format!("final: {condition};"));
        }
        std::mem::take(&mut self.text)
    }

    fn body(&mut self, operations: u32) {
        (self.left, self.fresh) = (operations, 0);
        self.locals.clear();
        self.depth += 1;
        while self.left > 0 {
            self.statement();
        }
        self.depth -= 1;
    }

    fn block(&mut self, count: usize) {
        self.depth += 1;
        let locals = self.locals.len();
        for _ in 0..count {
            self.statement();
        }
        self.locals.truncate(locals);
        self.depth -= 1;
    }

    fn local(&mut self, value: &str) {
        self.line(&format!("let l{} = {value};", self.fresh));
        self.locals.push(self.fresh);
        self.fresh += 1;
    }

    fn var(&mut self) -> &'static str {
        let at = self.below(VARS.len());
        VARS[at]
    }

    fn value(&mut self) -> String {
        match self.below(8) {
            0 => {
                self.hit("element read");
                format!("xs[{}]", self.below(3))
            }
            1 => {
                self.hit("whole read");
                "xs.sum()".to_owned()
            }
            2 => {
                self.hit("field read");
                "box.v".to_owned()
            }
            3 if !self.locals.is_empty() => {
                let at = self.below(self.locals.len());
                format!("l{}", self.locals[at])
            }
            4 => self.var().to_owned(),
            5 => {
                self.hit("list read");
                "all.len()".to_owned()
            }
            _ => self.below(3).to_string(),
        }
    }

    fn condition(&mut self) -> String {
        let left = self.value();
        match self.below(5) {
            0 => format!("{left} < {}", 1 + self.below(2)),
            1 => format!("{left} != {}", self.below(3)),
            2 => {
                self.hit("two conditions");
                let right = self.value();
                format!("{left} == {} && {right} < 2", self.below(2))
            }
            3 => {
                self.hit("set read");
                format!("{} in seen", self.below(3))
            }
            _ => format!("{left} == {}", self.below(2)),
        }
    }

    fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        if self.specified && self.below(4) == 0 {
            return self.call();
        }
        match self.below(26) {
            0 | 1 => {
                self.hit("store");
                let (var, value) = (self.var(), self.value());
                self.line(&format!("{var} = {value};"));
            }
            2 | 3 => {
                self.hit("increment");
                let var = self.var();
                self.line(&format!("{var} += 1;"));
            }
            4 => {
                self.hit("element write");
                let (at, value) = (self.below(3), self.value());
                self.line(&format!("xs[{at}] = {value};"));
            }
            5 => {
                self.hit("let");
                let value = self.value();
                self.local(&value);
            }
            6 => {
                self.hit("assert");
                let condition = self.condition();
                self.line(&format!("assert {condition} || x < 2;"));
            }
            7 if self.depth < 4 => {
                self.hit("if");
                let condition = self.condition();
                self.line(&format!("if {condition} {{"));
                self.block(1);
                self.line("} else {");
                self.block(1);
                self.line("}");
            }
            8 if self.in_section => {
                self.hit("assume two");
                let vars = (self.var(), self.var());
                self.line(&format!("assume {} + {} > {};", vars.0, vars.1, self.depth % 3));
            }
            8 => {
                self.hit("assume");
                let condition = self.condition();
                self.line(&format!("assume {condition};"));
            }
            9..=11 if !self.in_section && self.depth < 4 => {
                self.hit("atomic");
                self.line("atomic {");
                self.in_section = true;
                self.block(2);
                self.in_section = false;
                self.line("}");
            }
            12 | 13 if !self.in_section && self.depth < 4 => self.with(),
            14 if !self.in_section => {
                self.hit("notify");
                let what = ["notify c;", "notify d;", "notify_all c;"];
                let at = self.below(what.len());
                self.line(what[at]);
            }
            15 if !self.in_section && self.depth < 4 => {
                self.hit("choose");
                self.line("choose {");
                self.line("    \"a\" => {");
                self.block(1);
                self.line("    }");
                self.line("    \"b\" => {");
                self.block(1);
                self.line("    }");
                self.line("}");
            }
            16 => {
                self.hit("choose a value");
                let what = ["choose 0..2", "choose seen", "choose all"];
                let at = self.below(what.len());
                self.local(what[at]);
            }
            17 => {
                self.hit("field write");
                let object = ["box", "other"][self.below(2)];
                let value = self.value();
                if self.below(2) == 0 {
                    self.line(&format!("{object}.v = {value};"));
                } else {
                    let at = self.below(2);
                    self.line(&format!("{object}.cells[{at}] = {value};"));
                }
            }
            18 | 19 => self.call(),
            20 => {
                self.hit("set write");
                let value = self.below(3);
                let what = ["add", "remove"][self.below(2)];
                self.line(&format!("seen.{what}({value});"));
            }
            21 => {
                self.hit("list write");
                match self.below(2) {
                    0 => self.line("all.push(2);"),
                    _ => self.line("all[0] = 2;"),
                }
            }
            22 if !self.in_section && self.forks && self.depth < 3 => {
                self.hit("fork");
                let by = self.below(2);
                let handle = self.handles;
                self.handles += 1;
                self.line(&format!("let h{handle} = fork child({by});"));
                self.left = self.left.saturating_sub(1);
                if self.below(3) > 0 {
                    self.hit("join");
                    self.statement();
                    self.line(&format!("join h{handle};"));
                }
            }
            23 if self.depth < 3 => {
                self.hit("loop");
                self.line("for i in 0..2 {");
                self.block(1);
                self.line("}");
            }
            24 if !self.in_section => {
                self.hit("yield");
                self.line("yield;");
            }
            25 if self.below(3) == 0 => {
                self.hit("misuse");
                match self.below(3) {
                    0 => self.line("fail \"here\";"),
                    1 => self.line("z = xs[x + y];"),
                    _ if !self.in_section => self.line("release n;"),
                    _ => self.line("z = 1 / x;"),
                }
            }
            _ => {
                self.hit("store");
                let var = self.var();
                self.line(&format!("{var} = 1;"));
            }
        }
    }

    fn call(&mut self) {
        self.hit("method");
        let object = ["box", "other"][self.below(2)];
        match self.below(4) {
            0 => {
                let by = self.below(2);
                self.local(&format!("{object}.add({by})"));
                self.look();
            }
            1 => {
                self.local(&format!("{object}.get()"));
                self.look();
            }
            2 => {
                let (at, value) = (self.below(2), self.below(2));
                self.line(&format!("{object}.put({at}, {value});"));
            }
            _ => self.line(&format!("{object}.slow();")),
        }
    }

    /// Looks at what a call gave.
    fn look(&mut self) {
        if let (Some(local), 0) = (self.locals.last().copied(), self.below(2)) {
            self.hit("result");
            let value = self.below(3);
            self.line(&format!("assert l{local} != {value};"));
        }
    }

    fn with(&mut self) {
        let lock = ["m", "n", "ms[0]", "ms[1]"][self.below(4)];
        if self.below(8) == 0 {
            self.hit("acquire");
            self.line(&format!("acquire {lock};"));
            return;
        }
        if self.holds.contains(&lock) && self.below(8) > 0 {
            return self.statement();
        }
        self.hit("with");
        self.line(&format!("with {lock} {{"));
        self.holds.push(lock);
        self.block(1);
        if self.below(3) == 0 {
            self.hit("wait");
            self.depth += 1;
            let cond = ["c", "d"][self.below(2)];
            let guard = self.condition();
            self.line(&format!("if {guard} {{ wait {cond} with {lock}; }}"));
            self.depth -= 1;
        }
        self.block(1);
        self.holds.pop();
        self.line("}");
    }
}
