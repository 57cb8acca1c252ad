//! What needs more than one value to show: parts of parts, functions in fields, jumps out of
//! blocks, posts to everywhere.

use super::{Gen, Place, Ty};

impl Gen {
    /// An index that may change what it is an index into.
    fn index(&mut self) -> String {
        match self.below(6) {
            0..=2 => self.pick(&["0", "1", "0", "gi"]).into(),
            3 if self.changes() => match self.variable(Ty::List) {
                Some(l) => {
                    self.hit("index with effect");
                    format!("{l}.{}", self.pick(&["pop()", "remove(0)"]))
                }
                None => "0".into(),
            },
            4 if self.changes() => match self.variable(Ty::Grid) {
                Some(g) => {
                    self.hit("index with effect");
                    format!("{g}[0].pop()")
                }
                None => "1".into(),
            },
            _ => self.expr(Ty::Int),
        }
    }

    /// A place that holds an int, some steps away.
    fn far_place(&mut self) -> Option<String> {
        let ty = self.pick(&[Ty::Grid, Ty::Grid, Ty::Bx, Ty::Obj, Ty::Any]);
        let name = self.variable(ty)?;
        // Parameters are no places; what objects hold is one.
        if name.starts_with(['v', 'n', 'x', 'p']) && ty != Ty::Obj {
            return None;
        }
        Some(match (ty, self.below(4)) {
            (Ty::Grid, _) => {
                self.hit("element of element");
                format!("{name}[{}][{}]", self.index(), self.index())
            }
            (Ty::Bx, 0) => {
                self.hit("field of field");
                format!("{name}.rec.id")
            }
            (Ty::Bx, _) => {
                self.hit("element of field of record");
                format!("{name}.xs[{}]", self.index())
            }
            (Ty::Obj, 0) => {
                self.hit("element of element of field");
                format!("{name}.grid[{}][{}]", self.index(), self.index())
            }
            (Ty::Obj, 1) => {
                self.hit("field of element of field");
                format!("{name}.recs[{}].id", self.index())
            }
            (Ty::Obj, 2) => {
                self.hit("field of field of object");
                format!("{name}.next.v")
            }
            (Ty::Obj, _) => format!("{name}.w[{}]", self.index()),
            _ => {
                self.hit("field of any");
                format!("{name}.{}", self.pick(&["v", "id"]))
            }
        })
    }

    pub fn extra_int(&mut self) -> String {
        match self.below(11) {
            0..=2 => match self.far_place() {
                Some(place) => place,
                None => self.leaf(Ty::Int),
            },
            3 => {
                self.hit("element of constant");
                format!("KS[{}]", self.index())
            }
            4 => {
                self.hit("field of constant");
                self.pick(&["KR.id", "KS.len()", "KS.sum()", "KR.name.len()"]).into()
            }
            5 => {
                let ty = self.pick(&[Ty::Bx, Ty::Obj]);
                match self.variable(ty) {
                    Some(name) if self.changes() => {
                        self.hit("function in field");
                        let a = self.expr(Ty::Int);
                        format!("{name}.f({a})")
                    }
                    _ => self.leaf(Ty::Int),
                }
            }
            6 if self.changes() => match self.variable(Ty::Obj) {
                Some(o) => {
                    self.hit("class method with a built-in name");
                    let a = self.expr(Ty::Int);
                    format!("{o}.{}({a})", self.pick(&["add", "len2"]))
                }
                None => self.leaf(Ty::Int),
            },
            7 if self.changes() && self.place != Place::Pure => {
                self.hit("if expression with statements");
                let (c, a, b) = (self.expr(Ty::Bool), self.expr(Ty::Int), self.expr(Ty::Int));
                let all = self.variables(Ty::Int);
                let target =
                    all.into_iter().find(|n| n.starts_with(['a', 'g'])).unwrap_or("gi".into());
                format!("(if {c} {{ {target} = {a}; {target} + 1 }} else {{ {b} }})")
            }
            8 => {
                self.hit("number forms");
                self.pick(&["0x1f", "1_000", "(-0x2)"]).into()
            }
            9 => {
                self.hit("closure of two");
                let (a, b) = (self.expr(Ty::Int), self.expr(Ty::Int));
                format!("apply(fn(xa: int, xb: int) -> int {{ xa - xb }}, {a}, {b})")
            }
            _ => match self.variable(Ty::Any) {
                Some(v) => {
                    self.hit("method of any");
                    let how = self.pick(&["len()", "sum()", "v", "id", "min()", "get(1)"]);
                    format!("({v}.{how} + 0)")
                }
                None => self.leaf(Ty::Int),
            },
        }
    }

    pub fn extra_bool(&mut self) -> String {
        match self.below(if self.handles { 8 } else { 5 }) {
            4.. => self.handle_bool(),
            0 => {
                self.hit("to_set");
                let (l, i) = (self.part(Ty::List), self.expr(Ty::Int));
                format!("({i} in {l}.to_set())")
            }
            1 => {
                self.hit("functions compared");
                let (a, b) = (self.leaf(Ty::Func), self.leaf(Ty::Func));
                if a == b { "false".into() } else { format!("(({a}) == ({b}))") }
            }
            2 => {
                self.hit("handles compared");
                let (a, b) = (self.leaf(Ty::Thread), self.leaf(Ty::Thread));
                if a == b { "false".into() } else { format!("({a} == {b})") }
            }
            _ => {
                self.hit("any is null");
                match self.variable(Ty::Any) {
                    Some(v) => format!("({v} == null)"),
                    None => "true".into(),
                }
            }
        }
    }

    /// Statements of more than one line, or about places far away.
    pub fn extra(&mut self) {
        let nested = self.indent > 2;
        match self.below(19) {
            17.. => self.handle_stmt(),
            0..=3 => self.far_change(),
            4 if !nested => self.leave("with m"),
            5 if !nested => self.leave("atomic"),
            6 if self.place != Place::Pure && self.place != Place::Fn => {
                self.hit("equal posts");
                let n = self.pick(&["0", "1", "gi"]);
                let to = self.pick(&["post t1(1) to bag", "async[main] t1(2)", "post any t1(1)"]);
                let to = to.replace("(1)", &format!("({n})"));
                self.line(&format!("{to};"));
                self.line(&format!("{to};"));
            }
            7 if self.concurrent() => {
                let e = self.expr(Ty::Int);
                self.hit("async[h]");
                let to = self.pick(&["ui", "ws[0]", "ws[gi]", "late"]);
                self.line(&format!("async[{to}] t1({e});"));
            }
            8 if self.concurrent() => {
                self.hit("post of procedure");
                let e = self.expr(Ty::Int);
                let how =
                    self.pick(&["post proc(E) to ui", "post any proc(E)", "post proc(E) to bag"]);
                self.line(&format!("{};", how.replace('E', &e)));
            }
            9 if self.concurrent() && self.place != Place::Fn => {
                let all = self.globals.iter().filter(|g| g.1 == Ty::Thread).map(|g| g.0.clone());
                if let Some(g) = all.collect::<Vec<_>>().first() {
                    self.hit("assign fork");
                    let e = self.expr(Ty::Int);
                    self.line(&format!("{g} = fork work({e});"));
                }
            }
            10 if self.may_block() => {
                if let Some(h) = self.variable(Ty::Thread) {
                    self.hit("join of variable");
                    self.line(&format!("join {h};"));
                }
            }
            11 if self.concurrent() => {
                self.hit("assign choice");
                let from = self.pick(&["0..2", "[3, 1]", "set[2, 1]", "KS"]);
                self.line(&format!("gi = choose {from};"));
            }
            13 => {
                self.hit("for over any");
                match self.variable(Ty::Any) {
                    Some(v) => {
                        let i = self.name("v");
                        self.line(&format!("for {i} in {v} {{ gi = (gi + 1) % 3; }}"));
                    }
                    None => self.assign(),
                }
            }
            14 => {
                self.hit("match on str");
                let s = self.expr(Ty::Str);
                self.line(&format!(
                    "match {s} {{ \"a\" => {{ gi = 1; }} \"\" => {{ gi = 2; }} _ => {{}} }}"
                ));
            }
            15 if self.may_block() => {
                self.hit("wait of arrays");
                self.line("with ms[1] { if gi == 0 { wait cs[gi] with ms[1]; } }");
            }
            _ => {
                self.hit("let that hides");
                let e = self.expr(Ty::Int);
                self.line(&format!("{{ let gi = {e}; assert gi == gi; }}"));
            }
        }
    }

    fn far_change(&mut self) {
        let Some(place) = self.far_place() else { return self.assign() };
        let e = self.expr(Ty::Int);
        match self.below(4) {
            0 if place.ends_with("[0]") && place.matches('[').count() > 1 => {
                self.hit("method on part");
                self.line(&format!("{}.push({e});", &place[..place.len() - 3]));
            }
            0 | 1 => {
                let op = self.pick(&["+=", "-=", "*="]);
                self.line(&format!("{place} {op} {e};"));
            }
            2 => {
                let op = self.pick(&["++", "--"]);
                self.line(&format!("{place}{op};"));
            }
            _ => self.line(&format!("{place} = {e};")),
        }
    }

    /// A block that is left before its end.
    fn leave(&mut self, head: &str) {
        self.hit(if head == "atomic" { "jump out of atomic" } else { "jump out of with" });
        let v = self.name("v");
        let out = match self.below(3) {
            0 => "break;".to_string(),
            1 => "continue;".to_string(),
            _ => match self.result {
                None => "return;".to_string(),
                Some(ty) => format!("return {};", self.expr(ty)),
            },
        };
        let c = self.expr(Ty::Bool);
        self.line(&format!("for {v} in 0..2 {{"));
        self.indent += 1;
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.line(&format!("if {c} {{ {out} }}"));
        let before = self.in_atomic;
        self.in_atomic |= head == "atomic";
        let locals = self.locals.len();
        self.stmt();
        self.locals.truncate(locals);
        self.in_atomic = before;
        self.indent -= 1;
        self.line("}");
        self.indent -= 1;
        self.line("}");
    }
}
