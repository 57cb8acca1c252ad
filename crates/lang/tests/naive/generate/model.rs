//! Declarations.

use super::{Coverage, Gen, Place, STORED, Ty, names};

/// A model, and what is in it.
pub fn model(seed: u64) -> (String, Coverage) {
    let mut g = Gen::new(seed);
    g.model();
    if g.apart(|random| random.percent(40)) {
        let (text, count) = g.apart(|random| {
            let text = random.out.clone();
            names::with_words(&text, |n| random.below(n))
        });
        g.out = text;
        *g.cover.entry("word as a name").or_default() += count;
    }
    (g.out, g.cover)
}

impl Gen {
    fn model(&mut self) {
        self.line("model random");
        self.fine = self.percent(35);
        if self.fine {
            self.hit("granularity access");
            self.line("setting granularity = access;");
        }
        self.handles = self.percent(25);
        self.line("setting steps = 3000;");
        self.line("const LIMIT: int = 1 + 1;");
        self.line("const KS: list<int> = [3, 0, LIMIT];");
        self.line("const KR: Rec = Rec { id: LIMIT, name: \"k\" };");
        self.line("enum Phase { Idle, Busy(int), Pair(int, bool) }");
        self.line("record Rec { id: int, name: str }");
        self.line("record Hold { p: task?, n: int }");
        self.line("record Bx { rec: Rec, xs: list<int>, f: fn(int) -> int }");
        self.line("lock m, ms[LIMIT];");
        self.line("cond c, cs[2];");
        self.line("handler ui: fifo;");
        self.line("handler bag: bag;");
        self.line("handler late: delayed;");
        let symmetric = self.pick(&["", "", "unfair "]);
        self.hit(if symmetric == "unfair " { "unfair handler" } else { "handler array" });
        let daemon = self.daemon("daemon handler", 30);
        self.line(&format!("{symmetric}{daemon}handler ws[2]: fifo;"));
        if self.percent(20) {
            self.hit("main declared");
            let kind = self.pick(&["fifo", "delayed", "bag"]);
            self.line(&format!("handler main: {kind};"));
        }
        self.globals.push(("gi".into(), Ty::Int));
        self.line("var gi = 0;");
        for (i, ty) in STORED.into_iter().enumerate() {
            let handle = matches!(ty, Ty::Task | Ty::Tasks | Ty::Hold);
            if self.percent(38) || (handle && self.handles) {
                let name = format!("g{i}");
                if self.percent(15) && !matches!(ty, Ty::Func | Ty::Bx | Ty::Hold) {
                    self.hit("default value");
                    self.line(&format!("var {name}: {};", Gen::type_name(ty)));
                } else {
                    let e = self.initial(ty);
                    self.line(&format!("var {name}: {} = {e};", Gen::type_name(ty)));
                }
                self.globals.push((name, ty));
            }
        }
        if self.handles {
            self.hit("model about handles");
            self.line("var gq: task? = null;");
            self.globals.push(("gq".into(), Ty::Task));
        }
        if self.percent(20) {
            self.hit("array type");
            self.line("var arr: [int; 2];");
            self.globals.push(("arr".into(), Ty::List));
        }
        self.event_names();
        self.class();
        self.functions();
        self.tasks();
        self.bodies();
        self.properties();
        self.components();
    }

    fn initial(&mut self, ty: Ty) -> String {
        self.place = Place::Pure;
        match ty {
            Ty::Obj if self.percent(60) => "new Node()".into(),
            _ => self.literal(ty),
        }
    }

    fn class(&mut self) {
        self.line("class Node {");
        self.indent = 1;
        self.line("var next: Node? = null;");
        self.line("var v = 0;");
        self.line("var w: [int; 2];");
        self.line("var grid: list<list<int>> = [[0, 1], [2]];");
        self.line("var recs: map<int, Rec> = map[0: KR, 1: Rec { id: 0, name: \"\" }];");
        self.line("var f: fn(int) -> int = fn(x) x + 1;");
        self.line("fn add(nb: int) -> int { self.v -= nb; self.v }");
        self.line("fn len2(nb: int) -> int { self.grid.len() * nb }");
        self.line("fn bump(nb: int) -> int {");
        self.indent = 2;
        self.start(Place::Fn, vec![("nb".into(), Ty::Int)]);
        self.in_method = true;
        self.result = Some(Ty::Int);
        if self.percent(50) {
            self.stmt();
        }
        self.line("self.v += nb;");
        self.line("return self.v;");
        self.in_method = false;
        self.indent = 1;
        self.line("}");
        self.indent = 0;
        self.line("}");
    }

    fn start(&mut self, place: Place, locals: Vec<(String, Ty)>) {
        self.place = place;
        self.locals = locals;
        self.result = None;
        self.loops = 0;
        self.in_fine = place == Place::Thread || (self.fine && place != Place::Init);
    }

    fn body(&mut self, head: &str, place: Place, locals: Vec<(String, Ty)>, n: usize) {
        self.start(place, locals);
        let n = if self.in_fine { n.min(3) } else { n };
        self.block(head, n);
    }

    fn functions(&mut self) {
        self.line("fn inc(a: int) -> int { a + 1 }");
        self.line("fn apply(f: fn(int, int) -> int, a: int, b: int) -> int { f(a, b) }");
        self.line("fn deep(a: int) -> int { return deep(a + 1); }");
        self.start(Place::Fn, vec![("na".into(), Ty::Int)]);
        self.result = Some(Ty::Int);
        self.line("fn calc(na: int) -> int {");
        self.indent = 1;
        self.stmt();
        let e = self.expr(Ty::Int);
        self.line(&format!("return {e};"));
        self.indent = 0;
        self.line("}");
        let daemon = self.daemon("daemon function", 40);
        self.body(&format!("{daemon}fn work(na: int)"), Place::Fn, vec![("na".into(), Ty::Int)], 2);
        self.body("procedure proc(na: int)", Place::Fn, vec![("na".into(), Ty::Int)], 2);
    }

    fn tasks(&mut self) {
        let on = self.pick(&["ui", "bag", "late"]);
        self.body(&format!("task t0() on {on}"), Place::Task, vec![], 3);
        self.hit("task on element");
        let int = vec![("na".into(), Ty::Int)];
        let on = self.pick(&["ui", "bag", "ws[1]"]);
        let daemon = self.daemon("daemon task", 30);
        self.body(&format!("{daemon}task t1(na: int) on {on}"), Place::Task, int, 3);
        let two = vec![("no".into(), Ty::Obj), ("ny".into(), Ty::Any)];
        self.body("task t2(no: Node?, ny: any) on ui", Place::Task, two, 2);
        let handles = vec![("np".into(), Ty::Task), ("nps".into(), Ty::Tasks)];
        self.body("task t3(np: task?, nps: list<task?>) on ui", Place::Task, handles, 2);
    }

    fn event_names(&mut self) {
        for i in 0..=self.below(3) {
            let family = self.percent(20);
            self.events.push((format!("e{i}"), family));
        }
    }

    fn bodies(&mut self) {
        let drivers = self.events.len() > 1 && self.percent(25);
        for (i, (name, family)) in self.events.clone().into_iter().enumerate() {
            let mut head = String::new();
            let once = self.percent(65) || (drivers && i < 2);
            if once {
                self.hit("once event");
                head.push_str("once ");
            }
            if self.percent(20) {
                self.hit("disabled event");
                head.push_str("disabled ");
            }
            if self.percent(10) {
                self.hit("unfair event");
                head.push_str("unfair ");
            }
            head.push_str(self.daemon("daemon event", 30));
            head.push_str(&format!("event {name}"));
            let mut locals = vec![];
            if family {
                self.hit("event family");
                head.push_str("[ni in 0..2]");
                locals.push(("ni".to_string(), Ty::Int));
            }
            let mut clauses = vec![];
            if self.percent(50) {
                self.hit("event on");
                let on = self.pick(&["ui", "bag", "late", "ws[0]"]);
                let own = family && self.percent(40);
                if own {
                    self.hit("event on element by index");
                }
                clauses.push(format!("on {}", if own { "ws[ni]" } else { on }));
            }
            if self.percent(45) {
                self.hit("event when");
                self.start(Place::Pure, locals.clone());
                let mut guard = self.expr(Ty::Bool);
                if self.percent(25) && self.globals.iter().any(|g| g.1 == Ty::Func) {
                    self.hit("guard that calls a value");
                    guard = format!("(g10(1) > 0) && {guard}");
                }
                clauses.push(format!("when {guard}"));
            }
            if i > 0 && self.percent(30) {
                self.hit("event after");
                match (self.events[0].1, family, self.below(3)) {
                    (true, _, 0) => {
                        self.hit("after member");
                        clauses.push(format!("after e0[{}]", self.pick(&["0", "1"])));
                    }
                    (true, true, 1) => {
                        self.hit("after member by index");
                        clauses.push("after e0[ni]".into());
                    }
                    (true, ..) => {
                        self.hit("after family");
                        clauses.push("after e0".into());
                    }
                    _ => clauses.push("after e0".into()),
                }
            }
            let head = format!("{head} {}", clauses.join(" "));
            self.body(head.trim_end(), Place::Task, locals, 3);
        }
        if drivers {
            let mut place = |i: usize| {
                let (name, family) = self.events[i].clone();
                let one = family;
                self.hit(if one { "driver with member" } else { "driver" });
                if one { format!("{name}[{}]", self.below(2)) } else { name }
            };
            let (first, second) = (place(0), place(1));
            self.line(&format!("driver {first}, {second};"));
        }
        for i in 0..self.below(3) {
            let family = self.percent(15);
            let locals = if family { vec![("ni".to_string(), Ty::Int)] } else { vec![] };
            let head = if family {
                self.hit("thread family");
                format!("thread th{i}[ni in 0..2]")
            } else if self.percent(10) {
                self.hit("unfair thread");
                format!("unfair thread th{i}")
            } else {
                self.hit("thread");
                format!("{}thread th{i}", self.daemon("daemon thread", 40))
            };
            self.body(&head, Place::Thread, locals, 3);
        }
        if self.percent(12) {
            self.waiting();
        }
        if self.percent(40) {
            self.hit("init");
            self.body("init", Place::Init, vec![], 2);
        }
    }

    /// The word for what may wait for ever, sometimes.
    fn daemon(&mut self, what: &'static str, percent: usize) -> &'static str {
        // What else a seed gives does not depend on it.
        let daemon = self.apart(|random| random.percent(percent));
        if daemon {
            self.hit(what);
        }
        if daemon { "daemon " } else { "" }
    }

    /// Threads that wait for each other.
    fn waiting(&mut self) {
        self.hit("wait and notify");
        let (cond, other) = (self.pick(&["c", "cs[1]"]), self.pick(&["c", "c", "cs[1]"]));
        let cond = if self.percent(70) { other } else { cond };
        let daemon = self.daemon("daemon thread", 50);
        self.line(&format!("{daemon}thread wa[ni in 0..2] {{"));
        self.indent = 1;
        self.start(Place::Thread, vec![("ni".into(), Ty::Int)]);
        self.line(&format!("with m {{ if gi < 2 {{ wait {cond} with m; }} }}"));
        self.stmt();
        self.indent = 0;
        self.line("}");
        self.line("thread no {");
        self.indent = 1;
        self.start(Place::Thread, vec![]);
        let how = self.pick(&["notify", "notify_all", "with m { gi += 1; }\nnotify"]);
        for how in how.lines() {
            let end = if how.starts_with("notify") { format!(" {other};") } else { String::new() };
            self.line(&format!("{how}{end}"));
        }
        self.indent = 0;
        self.line("}");
    }

    fn properties(&mut self) {
        self.start(Place::Pure, vec![]);
        if self.percent(10) {
            self.hit("spec");
            self.line("spec Node { bump(a)/r ~ bump(b)/s when a == b || r != s; }");
        }
        if self.percent(50) {
            self.hit("invariant");
            let e = self.expr(Ty::Bool);
            self.line(&format!("invariant inv: {e};"));
        }
        if self.percent(30) {
            self.hit("response");
            let (a, b) = (self.expr(Ty::Bool), self.expr(Ty::Bool));
            self.line(&format!("response res: {a} leads_to {b};"));
        }
        if self.percent(30) {
            self.hit("final");
            let e = self.expr(Ty::Bool);
            self.line(&format!("final: {e};"));
        }
    }
}
