//! Statements.

use super::{Gen, Place, STORED, Ty};

impl Gen {
    /// A block in braces with up to `n` statements, in a scope of its own.
    pub fn block(&mut self, head: &str, n: usize) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        let locals = self.locals.len();
        for _ in 0..=self.below(n) {
            self.stmt();
        }
        self.locals.truncate(locals);
        self.indent -= 1;
        self.line("}");
    }

    /// The checker refuses `join` and `yield` where nothing else can run.
    pub fn may_block(&self) -> bool {
        !self.in_atomic && (self.place == Place::Thread || (self.place == Place::Task && self.fine))
    }

    pub fn concurrent(&self) -> bool {
        matches!(self.place, Place::Thread | Place::Task | Place::Init | Place::Fn)
    }

    pub fn stmt(&mut self) {
        let nested = self.indent > 3;
        if self.handles && self.percent(40) {
            return self.handle_stmt();
        }
        match self.below(59) {
            0..=9 => self.assign(),
            10..=13 => self.declare(),
            14..=16 => self.change(),
            17 | 18 if !nested => {
                let c = self.expr(Ty::Bool);
                if self.percent(40) {
                    self.hit("if else");
                    self.block(&format!("if {c}"), 2);
                    self.out.truncate(self.out.trim_end().len());
                    if self.percent(30) {
                        self.hit("else if");
                        let d = self.expr(Ty::Bool);
                        self.out.push_str(&format!(" else if {d} {{}}"));
                    }
                    let indent = std::mem::take(&mut self.indent);
                    self.out.push_str(" else ");
                    self.indent = 0;
                    self.line("{");
                    self.indent = indent + 1;
                    let locals = self.locals.len();
                    self.stmt();
                    self.locals.truncate(locals);
                    self.indent = indent;
                    self.line("}");
                } else {
                    self.hit("if");
                    self.block(&format!("if {c}"), 2);
                }
            }
            19 if !nested => self.counted_loop(),
            20 if !nested => {
                self.hit("for");
                let ty = self.pick(&[Ty::List, Ty::Set, Ty::Map, Ty::List]);
                let iter = if self.percent(40) {
                    "0..2".to_string()
                } else {
                    self.variables(ty).first().cloned().unwrap_or("[1, 2]".into())
                };
                let v = self.name("v");
                self.loops += 1;
                self.locals.push((v.clone(), Ty::Int));
                self.block(&format!("for {v} in {iter}"), 2);
                self.locals.pop();
                self.loops -= 1;
            }
            21 if self.loops > 0 => {
                let what = self.pick(&["break", "continue"]);
                self.hit(what);
                let c = self.expr(Ty::Bool);
                self.line(&format!("if {c} {{ {what}; }}"));
            }
            22 => {
                self.hit("return");
                let c = self.expr(Ty::Bool);
                match self.result {
                    Some(ty) => {
                        let e = self.expr(ty);
                        self.line(&format!("if {c} {{ return {e}; }}"));
                    }
                    None => self.line(&format!("if {c} {{ return; }}")),
                }
            }
            23 => self.matching(),
            24 => {
                self.hit("assert");
                let c = self.expr(Ty::Bool);
                let message = self.pick(&["", ", \"a message\""]);
                let rest = self.pick(&["", " || gi < 2"]);
                self.line(&format!("assert {c}{rest}{message};"));
            }
            25 => {
                self.hit("assume");
                let c = self.expr(Ty::Bool);
                self.line(&format!("assume {c};"));
            }
            26 => {
                self.hit("fail");
                let c = self.expr(Ty::Bool);
                self.line(&format!("if {c} && gi >= 0 {{ fail \"no\"; }}"));
            }
            27..=31 if self.concurrent() => self.post(),
            32 => {
                self.hit("cancel");
                let p = self.variables(Ty::Task);
                if !p.is_empty() {
                    let p = self.pick(&p);
                    self.line(&format!("cancel {p};"));
                }
            }
            33 | 34 => {
                let events = self.events.clone();
                let (event, family) = self.pick(&events);
                let what = self.pick(&["enable", "disable"]);
                self.hit(what);
                if family && self.percent(30) {
                    self.hit("enable family");
                    self.line(&format!("{what} {event};"));
                } else if family {
                    self.hit("enable member");
                    let i = self.pick(&["0", "1", "gi"]);
                    self.line(&format!("{what} {event}[{i}];"));
                } else {
                    self.line(&format!("{what} {event};"));
                }
            }
            35..=38 => self.lock(),
            39 if !nested && self.concurrent() => {
                self.hit("choose block");
                let labels = self.percent(50);
                self.line("choose {");
                self.indent += 1;
                for i in 0..2 {
                    let label = if labels { format!("\"way {i}\" =>") } else { String::new() };
                    self.block(&label, 1);
                }
                self.indent -= 1;
                self.line("}");
            }
            40 if self.concurrent() => {
                self.hit("choose value");
                let from = match self.below(4) {
                    0 => "0..2".to_string(),
                    1 => "[1, 3]".to_string(),
                    2 => self.expr(Ty::Set),
                    _ => self.expr(Ty::List),
                };
                let name = self.name("c");
                self.line(&format!("let {name} = choose {from};"));
                self.locals.push((name, Ty::Int));
            }
            41 if !nested => {
                self.hit("atomic");
                let before = std::mem::replace(&mut self.in_atomic, true);
                self.block("atomic", 2);
                self.in_atomic = before;
            }
            42 if self.may_block() => {
                self.hit("yield");
                self.line("yield;");
            }
            43 if self.concurrent() => self.fork(),
            44 => {
                self.hit("call statement");
                let a = self.expr(Ty::Int);
                if self.place == Place::Fn {
                    self.line(&format!("call inc({a});"));
                } else {
                    let f = self.pick(&["calc", "proc"]);
                    let call = self.pick(&["call ", ""]);
                    self.line(&format!("{call}{f}({a});"));
                }
            }
            45 if self.percent(20) => {
                self.hit("recursion");
                self.line("if gi >= 1 { call deep(1); }");
            }
            46 if self.percent(50) => {
                self.hit("loop without end");
                self.line("if gi >= 1 { loop {} }");
            }
            47 if !nested => {
                self.hit("block");
                self.block("", 2);
            }
            48 => {
                self.hit("any to int");
                let v = self.variables(Ty::Any);
                if !v.is_empty() {
                    let (v, name) = (self.pick(&v), self.name("k"));
                    self.line(&format!("let {name}: int = {v};"));
                    self.locals.push((name, Ty::Int));
                }
            }
            50..=57 => self.extra(),
            _ => self.assign(),
        }
    }

    fn declare(&mut self) {
        self.hit("let");
        let ty = self.pick(&STORED);
        let name = self.name("a");
        let e = self.expr(ty);
        let written = if self.percent(50) || !matches!(ty, Ty::Int | Ty::Bool | Ty::Str) {
            format!(": {}", Gen::type_name(ty))
        } else {
            String::new()
        };
        self.line(&format!("let {name}{written} = {e};"));
        self.locals.push((name, ty));
    }

    pub fn assign(&mut self) {
        let all: Vec<(String, Ty)> = self.globals.iter().chain(&self.locals).cloned().collect();
        let (name, ty) = self.pick(&all);
        let fixed = name.starts_with(['v', 'n']);
        if fixed && ty != Ty::Obj {
            return self.declare();
        }
        match (ty, self.below(if fixed { 3 } else { 4 })) {
            (Ty::Int, 0) => {
                self.hit("compound assignment");
                let (op, e) = (self.pick(&["+=", "-=", "*=", "/=", "%="]), self.expr(Ty::Int));
                self.line(&format!("{name} {op} {e};"));
            }
            (Ty::Int, 1) => {
                self.hit("++ --");
                let op = self.pick(&["++", "--"]);
                self.line(&format!("{name}{op};"));
            }
            (Ty::Str, 0) => {
                self.hit("compound assignment");
                self.line(&format!("if {name}.len() < 3 {{ {name} += \"a\"; }}"));
            }
            (Ty::List | Ty::Map, 0 | 1) => {
                self.hit("element assignment");
                let (i, e) = (self.expr(Ty::Int), self.expr(Ty::Int));
                let op = self.pick(&["=", "=", "+="]);
                self.line(&format!("{name}[{i}] {op} {e};"));
            }
            (Ty::Rec, 0 | 1) => {
                self.hit("field of record assignment");
                let e = self.expr(Ty::Int);
                let op = self.pick(&["=", "=", "+="]);
                self.line(&format!("{name}.id {op} {e};"));
            }
            (Ty::Obj, 0) => {
                self.hit("field of object assignment");
                let e = self.expr(Ty::Int);
                let op = self.pick(&["=", "=", "-="]);
                self.line(&format!("{name}.v {op} {e};"));
            }
            (Ty::Obj, 1) => {
                self.hit("element of field assignment");
                let (i, e) = (self.pick(&["0", "1", "gi"]), self.expr(Ty::Int));
                let op = self.pick(&["=", "=", "-="]);
                self.line(&format!("{name}.w[{i}] {op} {e};"));
            }
            (Ty::Obj, 2) => {
                self.hit("field of object assignment");
                let e = self.expr(Ty::Obj);
                self.line(&format!("{name}.next = {e};"));
            }
            _ => {
                self.hit("assignment");
                let e = self.expr(ty);
                self.line(&format!("{name} = {e};"));
            }
        }
    }

    /// A method that changes its receiver, as a statement.
    fn change(&mut self) {
        let ty = self.pick(&[Ty::List, Ty::List, Ty::Set, Ty::Map]);
        let all = self.variables(ty);
        if all.is_empty() {
            return self.assign();
        }
        let (r, e) = (self.pick(&all), self.expr(Ty::Int));
        let how = match ty {
            Ty::List => match self.below(8) {
                0..=2 => ("push", format!("push({e})")),
                3 => ("pop", "pop()".to_string()),
                4 => ("insert", format!("insert(0, {e})")),
                5 => ("reverse", "reverse()".to_string()),
                6 => ("sort", "sort()".to_string()),
                _ => ("list clear", "clear()".to_string()),
            },
            Ty::Set => match self.below(3) {
                0 => ("set add", format!("add({e})")),
                1 => ("set remove", format!("remove({e})")),
                _ => ("set clear", "clear()".to_string()),
            },
            _ => match self.below(4) {
                0 | 1 => ("map set", format!("set({e}, 1)")),
                2 => ("map remove", format!("remove({e})")),
                _ => ("map clear", "clear()".to_string()),
            },
        };
        self.hit(how.0);
        self.line(&format!("{r}.{};", how.1));
    }

    fn counted_loop(&mut self) {
        let i = self.name("a");
        self.line(&format!("let {i} = 0;"));
        self.loops += 1;
        if self.percent(70) {
            self.hit("while");
            self.line(&format!("while {i} < 2 {{"));
            self.indent += 1;
            self.line(&format!("{i}++;"));
        } else {
            self.hit("loop");
            self.line("loop {");
            self.indent += 1;
            self.line(&format!("{i}++;"));
            self.line(&format!("if {i} > 2 {{ break; }}"));
        }
        let locals = self.locals.len();
        self.stmt();
        self.locals.truncate(locals);
        self.indent -= 1;
        self.line("}");
        self.loops -= 1;
        self.locals.push((format!("v{i}"), Ty::Any));
        self.locals.pop();
    }

    fn matching(&mut self) {
        self.hit("match");
        let locals = self.locals.len();
        match self.below(if self.variables(Ty::Any).is_empty() { 2 } else { 3 }) {
            0 => {
                let e = self.expr(Ty::Phase);
                let n = self.name("n");
                self.line(&format!("match {e} {{"));
                self.indent += 1;
                self.line("Phase.Idle => {},");
                self.locals.push((n.clone(), Ty::Int));
                self.line(&format!("Phase.Busy({n}) => {{"));
                self.indent += 1;
                self.stmt();
                self.indent -= 1;
                self.line("}");
                if self.percent(50) {
                    self.line("_ => {}");
                } else {
                    self.hit("open match");
                }
            }
            1 => {
                let e = self.expr(Ty::Int);
                self.line(&format!("match {e} {{"));
                self.indent += 1;
                self.line("0 => { gi = 1; }");
                self.line("-1 => {}");
                if self.percent(60) {
                    let n = self.name("n");
                    self.line(&format!("{n} => {{ gi = {n} % 3; }}"));
                } else {
                    self.hit("open match");
                    self.line("1 => {}");
                }
            }
            _ => {
                let any = self.variables(Ty::Any);
                let e = self.pick(&any);
                self.hit("match on any");
                self.line(&format!("match {e} {{"));
                self.indent += 1;
                self.line("\"a\" => { gi = 1; }");
                self.line("null => { gi = 2; }");
                self.line("true => { gi = 0; }");
                self.line("_ => {}");
            }
        }
        self.locals.truncate(locals);
        self.indent -= 1;
        self.line("}");
    }

    fn post(&mut self) {
        self.hit("post");
        let (task, args) = match self.below(4) {
            0 => ("t0", String::new()),
            1 | 2 => ("t1", self.expr(Ty::Int)),
            _ => ("t2", { format!("{}, {}", self.leaf_of(Ty::Obj), self.leaf_of(Ty::Any)) }),
        };
        let mut text = format!("{task}({args})");
        match self.below(9) {
            0 => {
                self.hit("post any");
                text = format!("post any {text}");
            }
            1 => {
                self.hit("async[any]");
                text = format!("async[any] {text}");
            }
            2 => {
                self.hit("async[main]");
                text = format!("async[main] {text}");
            }
            3 => {
                self.hit("post to delayed");
                let d = self.pick(&["0", "1", "2", "3", "gi"]);
                text = format!("post {text} to late after {d}");
            }
            4 => {
                self.hit("post to bag");
                text = format!("post {text} to bag");
            }
            5 => {
                self.hit("post to element");
                let i = self.pick(&["0", "1", "gi"]);
                text = format!("post {text} to ws[{i}]");
            }
            _ => text = format!("post {text}"),
        }
        if self.percent(15) && !text.contains("any ") && !text.contains("any]") {
            self.hit("front");
            text.push_str(" front");
        }
        let handles = self
            .globals
            .iter()
            .filter(|g| g.1 == Ty::Task)
            .map(|g| g.0.clone())
            .collect::<Vec<_>>();
        if self.percent(25) && !handles.is_empty() {
            self.hit("assign handle");
            let p = self.pick(&handles);
            text = format!("{p} = {text}");
        } else if self.percent(25) {
            self.hit("let handle");
            let p = self.name("p");
            text = format!("let {p} = {text}");
            self.line(&format!("{text};"));
            if self.percent(50) {
                self.hit("cancel");
                return self.line(&format!("cancel {p};"));
            }
            return;
        }
        // Few posts, or the mailboxes grow without end.
        self.line(&format!("{text};"));
    }

    fn leaf_of(&mut self, ty: Ty) -> String {
        let all = self.variables(ty);
        if all.is_empty() || self.percent(40) { self.literal(ty) } else { self.pick(&all) }
    }

    fn lock(&mut self) {
        let lock = self.pick(&["m", "m", "ms[0]", "ms[gi]"]);
        if lock.contains('[') {
            self.hit("lock of array");
        }
        match self.below(7) {
            0..=2 => {
                self.hit("acquire, release");
                self.line(&format!("acquire {lock};"));
                self.stmt();
                self.line(&format!("release {lock};"));
            }
            3 if self.indent < 4 => {
                self.hit("with");
                self.block(&format!("with {lock}"), 2);
            }
            4 if self.may_block() && !self.in_atomic => {
                self.hit("wait");
                self.line("with m {");
                self.indent += 1;
                let c = self.expr(Ty::Bool);
                let cond = self.pick(&["c", "cs[1]"]);
                self.line(&format!("if {c} {{ wait {cond} with m; }}"));
                self.indent -= 1;
                self.line("}");
            }
            5 => {
                let what = self.pick(&["notify", "notify_all"]);
                self.hit(what);
                let cond = self.pick(&["c", "c", "cs[1]"]);
                self.line(&format!("{what} {cond};"));
            }
            _ => {
                self.hit("release alone");
                self.line(&format!("if gi == 1 {{ release {lock}; }}"));
            }
        }
    }

    fn fork(&mut self) {
        self.hit("fork");
        let a = self.expr(Ty::Int);
        if self.place == Place::Fn {
            return;
        }
        if self.may_block() && self.percent(70) {
            let h = self.name("h");
            self.line(&format!("let {h} = fork work({a});"));
            self.hit("join");
            self.stmt();
            self.line(&format!("join {h};"));
        } else {
            self.line(&format!("fork work({a});"));
        }
    }
}
