//! Expressions of a given type.

use super::{Gen, Place, Ty};

impl Gen {
    pub fn type_name(ty: Ty) -> &'static str {
        match ty {
            Ty::Int => "int",
            Ty::Bool => "bool",
            Ty::Str => "str",
            Ty::List => "list<int>",
            Ty::Set => "set<int>",
            Ty::Map => "map<int, int>",
            Ty::Phase => "Phase",
            Ty::Rec => "Rec",
            Ty::Obj => "Node?",
            Ty::Task => "task?",
            Ty::Func => "fn(int) -> int",
            Ty::Any => "any",
            Ty::Grid => "list<list<int>>",
            Ty::Bx => "Bx",
            Ty::Thread => "thread?",
            Ty::Tasks => "list<task?>",
            Ty::Hold => "Hold",
        }
    }

    pub fn variable(&mut self, ty: Ty) -> Option<String> {
        let all = self.variables(ty);
        if all.is_empty() { None } else { Some(self.pick(&all)) }
    }

    /// An expression of a type.
    pub fn expr(&mut self, ty: Ty) -> String {
        self.depth += 1;
        let text = if self.depth > 3 || (self.in_fine && self.depth > 2) || self.percent(35) {
            self.leaf(ty)
        } else {
            self.deep(ty)
        };
        self.depth -= 1;
        text
    }

    pub fn leaf(&mut self, ty: Ty) -> String {
        if self.percent(65)
            && let Some(name) = self.variable(ty)
        {
            self.hit("variable");
            return name;
        }
        self.literal(ty)
    }

    /// A value written out.
    pub fn literal(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Int => {
                if self.percent(4) {
                    self.hit("large int");
                    return self.pick(&["9223372036854775807", "-9223372036854775808"]).into();
                }
                if self.percent(10) {
                    self.hit("constant");
                    return "LIMIT".into();
                }
                format!("{}", self.below(4) as i64 - i64::from(self.percent(10)))
            }
            Ty::Bool => self.pick(&["true", "false"]).into(),
            Ty::Str => {
                self.pick(&["\"\"", "\"a\"", "\"ab\"", "\"7\"", "\"-3\"", "\"\\n\\u{e9}\""]).into()
            }
            Ty::List => {
                self.hit("list literal");
                self.pick(&["[]", "[1]", "[2, 1]", "[0, 1, 2]", "[1; 2]"]).into()
            }
            Ty::Set => {
                self.hit("set literal");
                self.pick(&["set[1]", "set[2, 1]", "set[0, 1, 1]"]).into()
            }
            Ty::Map => {
                self.hit("map literal");
                self.pick(&["map[1: 2]", "map[0: 1, 1: 0]", "map[2: 2, 2: 3]"]).into()
            }
            Ty::Phase => {
                self.hit("enum value");
                self.pick(&["Phase.Idle", "Phase.Busy(1)", "Phase.Busy(2)", "Phase.Pair(1, true)"])
                    .into()
            }
            Ty::Rec => {
                self.hit("record");
                self.pick(&["Rec { id: 1, name: \"a\" }", "Rec { name: \"\", id: 0 }"]).into()
            }
            Ty::Obj => {
                if self.place == Place::Pure || self.percent(40) {
                    return "null".into();
                }
                self.hit("new");
                self.pick(&["new Node()", "new Node { v: 2 }"]).into()
            }
            Ty::Task | Ty::Thread => "null".into(),
            Ty::Tasks => self.pick(&["[]", "[null]"]).into(),
            Ty::Hold => "(Hold { p: null, n: 0 })".into(),
            Ty::Grid => self.pick(&["[[1], [2, 0]]", "[[0, 1]]", "[[], [3]]"]).into(),
            Ty::Bx => {
                self.hit("record of records");
                let f = self.pick(&["inc", "fn(x) x - 1"]);
                format!("Bx {{ rec: Rec {{ id: 1, name: \"\" }}, xs: [1, 0], f: {f} }}")
            }
            Ty::Func => {
                self.hit("function value");
                self.pick(&["inc", "fn(x) x * 2", "fn(x: int) -> int { x - 1 }"]).into()
            }
            Ty::Any => {
                let ty = self.pick(&[
                    Ty::Int,
                    Ty::Int,
                    Ty::Bool,
                    Ty::Str,
                    Ty::List,
                    Ty::Phase,
                    Ty::Obj,
                    Ty::Map,
                    Ty::Rec,
                ]);
                self.literal(ty)
            }
        }
    }

    pub fn changes(&self) -> bool {
        self.place != Place::Pure
    }

    fn deep(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Int => self.int(),
            Ty::Bool => self.bool(),
            Ty::Str => self.string(),
            Ty::List => self.list(),
            Ty::Set => self.set(),
            Ty::Map | Ty::Task | Ty::Thread | Ty::Grid | Ty::Tasks | Ty::Hold => self.leaf(ty),
            Ty::Phase => {
                if self.percent(50) {
                    self.hit("enum value");
                    let n = self.expr(Ty::Int);
                    return format!("Phase.Busy({n})");
                }
                self.either(ty)
            }
            Ty::Rec => match self.below(3) {
                0 => {
                    self.hit("record");
                    let (id, name) = (self.expr(Ty::Int), self.expr(Ty::Str));
                    format!("Rec {{ id: {id}, name: {name} }}")
                }
                1 => {
                    self.hit("record with base");
                    let (id, base) = (self.expr(Ty::Int), self.leaf(Ty::Rec));
                    format!("Rec {{ id: {id}, ..{base} }}")
                }
                _ => self.either(ty),
            },
            Ty::Bx => match self.variable(Ty::Bx) {
                Some(b) if self.percent(50) => {
                    self.hit("record with base");
                    let xs = self.expr(Ty::List);
                    format!("Bx {{ xs: {xs}, ..{b} }}")
                }
                _ => self.leaf(ty),
            },
            Ty::Obj => {
                if self.percent(40)
                    && let Some(o) = self.variable(Ty::Obj)
                {
                    self.hit("field of object");
                    return format!("{o}.next");
                }
                if self.changes() && self.percent(50) {
                    self.hit("new with fields");
                    let (n, v) = (self.leaf(Ty::Obj), self.expr(Ty::Int));
                    return format!("new Node {{ next: {n}, v: {v} }}");
                }
                self.leaf(ty)
            }
            Ty::Func => {
                if self.percent(30) {
                    self.hit("closure with capture");
                    let n = self.expr(Ty::Int);
                    let x = self.name("x");
                    return format!("fn({x}: int) -> int {{ {x} + {n} }}");
                }
                if self.changes()
                    && self.percent(20)
                    && let Some(g) =
                        self.globals.iter().find(|g| g.1 == Ty::Int).map(|g| g.0.clone())
                {
                    self.hit("closure that writes");
                    let x = self.name("x");
                    return format!("fn({x}: int) -> int {{ {g} = {x}; {x} }}");
                }
                self.leaf(ty)
            }
            Ty::Any => {
                let ty = self.pick(&[Ty::Int, Ty::Bool, Ty::Str, Ty::List, Ty::Set, Ty::Rec]);
                self.expr(ty)
            }
        }
    }

    fn either(&mut self, ty: Ty) -> String {
        let c = self.expr(Ty::Bool);
        let (a, b) = (self.expr(ty), self.expr(ty));
        if self.percent(60) {
            self.hit("if expression");
            return format!("(if {c} {{ {a} }} else {{ {b} }})");
        }
        self.hit("match expression");
        format!("(match {c} {{ true => {a}, _ => {b} }})")
    }

    fn int(&mut self) -> String {
        let changing = self.changes();
        match self.below(37) {
            0..=4 => {
                let op = self.pick(&["+", "-", "*"]);
                self.hit(match op {
                    "+" => "+",
                    "-" => "-",
                    _ => "*",
                });
                let (a, b) = (self.expr(Ty::Int), self.expr(Ty::Int));
                format!("({a} {op} {b})")
            }
            5 => {
                self.hit("/");
                let (a, b) = (self.expr(Ty::Int), self.expr(Ty::Int));
                format!("(({a} - 2) / {b})")
            }
            6 => {
                self.hit("%");
                let (a, b) = (self.expr(Ty::Int), self.pick(&["2", "3", "-2"]));
                format!("({a} % {b})")
            }
            7 => {
                self.hit("unary -");
                format!("(-{})", self.leaf(Ty::Int).trim_start_matches('-'))
            }
            8 => {
                self.hit("list len");
                format!("{}.len()", self.part(Ty::List))
            }
            9 | 10 => {
                self.hit("index of list");
                let (l, i) = (self.part(Ty::List), self.expr(Ty::Int));
                format!("{l}[{i}]")
            }
            11 => {
                self.hit("index of map");
                let (m, i) = (self.part(Ty::Map), self.expr(Ty::Int));
                format!("{m}[{i}]")
            }
            12 => {
                self.hit("get_or");
                let (m, i, d) = (self.part(Ty::Map), self.expr(Ty::Int), self.expr(Ty::Int));
                format!("{m}.get_or({i}, {d})")
            }
            13 => {
                let s = self.part(Ty::Set);
                self.hit("set len, min, max");
                format!("{s}.{}()", self.pick(&["len", "min", "max"]))
            }
            14 => {
                self.hit("str len");
                format!("{}.len()", self.part(Ty::Str))
            }
            15 => {
                let l = self.part(Ty::List);
                self.hit("list sum, min, max, first, last");
                format!("{l}.{}()", self.pick(&["sum", "min", "max", "first", "last"]))
            }
            16 => {
                self.hit("index_of");
                let (l, v) = (self.part(Ty::List), self.expr(Ty::Int));
                format!("{l}.index_of({v})")
            }
            17 => {
                self.hit("count");
                let (l, f) = (self.part(Ty::List), self.predicate());
                format!("{l}.count({f})")
            }
            18 => {
                self.hit("to_int");
                format!("{}.to_int()", self.part(Ty::Str))
            }
            19 => {
                self.hit("field of record");
                format!("{}.id", self.part(Ty::Rec))
            }
            20 | 21 => match self.variable(Ty::Obj) {
                Some(o) => {
                    self.hit("field of object");
                    format!("{o}.v")
                }
                None => self.leaf(Ty::Int),
            },
            22 => {
                self.hit("call");
                let a = self.expr(Ty::Int);
                let f = if self.place == Place::Fn { "inc" } else { self.pick(&["inc", "calc"]) };
                let f = if changing { f } else { "inc" };
                format!("{f}({a})")
            }
            23 => match self.variable(Ty::Func) {
                Some(f) => {
                    self.hit("call of value");
                    let a = self.expr(Ty::Int);
                    format!("{f}({a})")
                }
                None => self.leaf(Ty::Int),
            },
            24 => {
                self.hit("match expression");
                let (p, a) = (self.part(Ty::Phase), self.expr(Ty::Int));
                let n = self.name("n");
                let rest = self.pick(&["_ => 0", "Phase.Pair(a9, b9) => if b9 { a9 } else { 0 }"]);
                let idle = if rest.starts_with('_') { "" } else { "Phase.Idle => 9, " };
                format!("(match ({p}) {{ Phase.Busy({n}) => {n} + {a}, {idle}{rest} }})")
            }
            25 if changing => match self.variable(Ty::Obj) {
                Some(o) => {
                    self.hit("method of class");
                    let a = self.expr(Ty::Int);
                    format!("{o}.bump({a})")
                }
                None => self.leaf(Ty::Int),
            },
            26 if changing => match self.variable(Ty::List) {
                Some(l) => {
                    self.hit("pop, take_first, remove");
                    let how = self.pick(&["pop()", "take_first()", "remove(0)"]);
                    format!("{l}.{how}")
                }
                None => self.leaf(Ty::Int),
            },
            27 => match self.variable(Ty::Any) {
                Some(v) => {
                    self.hit("any as int");
                    format!("({v} + 1)")
                }
                None => self.leaf(Ty::Int),
            },
            28 => {
                self.hit("values, keys");
                let m = self.part(Ty::Map);
                format!("{m}.{}().len()", self.pick(&["values", "keys"]))
            }
            29 if self.in_method => {
                self.hit("self");
                self.pick(&["self.v", "self.w[0]"]).into()
            }
            30..=35 => self.extra_int(),
            _ => self.either(Ty::Int),
        }
    }

    /// Something that stands before a dot or bracket.
    pub fn part(&mut self, ty: Ty) -> String {
        match self.variable(ty) {
            Some(name) if self.percent(85) => name,
            _ => format!("({})", self.leaf(ty)),
        }
    }

    fn predicate(&mut self) -> String {
        let x = self.name("x");
        if self.percent(50) {
            let n = self.leaf(Ty::Int);
            return format!("fn({x}) {x} > {n}");
        }
        format!("fn({x}) {{ {x} % 2 == 0 }}")
    }

    fn bool(&mut self) -> String {
        let changing = self.changes();
        match self.below(22) {
            0..=2 => {
                let op = self.pick(&["<", "<=", ">", ">="]);
                self.hit("comparison");
                let ty = if self.percent(80) { Ty::Int } else { Ty::Str };
                let (a, b) = (self.expr(ty), self.expr(ty));
                format!("({a} {op} {b})")
            }
            3..=5 => {
                let op = self.pick(&["==", "!="]);
                self.hit("equality");
                let types = [
                    Ty::Int,
                    Ty::Int,
                    Ty::Str,
                    Ty::List,
                    Ty::Set,
                    Ty::Phase,
                    Ty::Rec,
                    Ty::Obj,
                    Ty::Map,
                    Ty::Task,
                ];
                let ty = self.pick(&types);
                let (a, b) = (self.leaf(ty), self.leaf(ty));
                if a == b || a.starts_with("map") {
                    return "true".into();
                }
                format!("({a} {op} {b})")
            }
            6 => {
                self.hit("!");
                format!("!({})", self.expr(Ty::Bool))
            }
            7 => {
                let op = self.pick(&["&&", "||"]);
                self.hit("&& ||");
                let (a, b) = (self.expr(Ty::Bool), self.expr(Ty::Bool));
                format!("({a} {op} {b})")
            }
            8 => {
                self.hit("in");
                let ty = self.pick(&[Ty::List, Ty::Set, Ty::Map]);
                let (a, b) = (self.expr(Ty::Int), self.part(ty));
                format!("({a} in {b})")
            }
            9 => {
                self.hit("in str");
                let (a, b) = (self.leaf(Ty::Str), self.part(Ty::Str));
                format!("({a} in {b})")
            }
            10 => {
                self.hit("is_empty");
                let ty = self.pick(&[Ty::List, Ty::Set, Ty::Map, Ty::Str]);
                format!("{}.is_empty()", self.part(ty))
            }
            11 => {
                self.hit("contains, has");
                let (ty, m) =
                    self.pick(&[(Ty::List, "contains"), (Ty::Set, "contains"), (Ty::Map, "has")]);
                let (a, b) = (self.part(ty), self.expr(Ty::Int));
                format!("{a}.{m}({b})")
            }
            12 => {
                self.hit("all, any");
                let (l, f) = (self.pick(&[Ty::List, Ty::Set]), self.predicate());
                let l = self.part(l);
                format!("{l}.{}({f})", self.pick(&["all", "any"]))
            }
            13 => {
                self.hit("str contains, starts_with");
                let (a, b) = (self.part(Ty::Str), self.leaf(Ty::Str));
                format!("{a}.{}({b})", self.pick(&["contains", "starts_with"]))
            }
            14 if !self.events.is_empty() => {
                self.hit("enabled");
                let events = self.events.clone();
                let (event, family) = self.pick(&events);
                if family && self.percent(30) {
                    self.hit("enabled family");
                } else if family {
                    let i = self.pick(&["0", "1"]);
                    return format!("enabled({event}[{i}])");
                }
                format!("enabled({event})")
            }
            15 if changing => match self.variable(Ty::Set) {
                Some(s) => {
                    self.hit("set add, remove");
                    let v = self.expr(Ty::Int);
                    format!("{s}.{}({v})", self.pick(&["add", "remove"]))
                }
                None => self.leaf(Ty::Bool),
            },
            16 => match self.variable(Ty::Obj) {
                Some(o) => {
                    self.hit("null test");
                    format!("({o} != null)")
                }
                None => self.leaf(Ty::Bool),
            },
            17 => match self.variable(Ty::Any) {
                Some(v) => {
                    self.hit("any compared");
                    let other = self.literal(Ty::Any);
                    format!("({v} == {other})")
                }
                None => self.leaf(Ty::Bool),
            },
            18 | 19 => self.extra_bool(),
            _ => self.either(Ty::Bool),
        }
    }

    fn string(&mut self) -> String {
        match self.below(5) {
            0 => {
                self.hit("join strings");
                let (a, b) = (self.leaf(Ty::Str), self.leaf(Ty::Str));
                format!("({a} + {b})")
            }
            1 => {
                self.hit("to_str");
                format!("({}).to_str()", self.expr(Ty::Int))
            }
            2 => {
                self.hit("str slice");
                let (a, i) = (self.part(Ty::Str), self.expr(Ty::Int));
                format!("{a}.slice(0, {i})")
            }
            3 => {
                self.hit("field of record");
                format!("{}.name", self.part(Ty::Rec))
            }
            _ => self.either(Ty::Str),
        }
    }

    fn list(&mut self) -> String {
        match self.below(9) {
            0 => {
                self.hit("range");
                let a = self.leaf(Ty::Int);
                format!("(0..({a} % 3))")
            }
            1 => {
                self.hit("join lists");
                let (a, b) = (self.leaf(Ty::List), self.leaf(Ty::List));
                format!("({a} + {b})")
            }
            2 => {
                self.hit("list literal");
                let (a, b) = (self.expr(Ty::Int), self.expr(Ty::Int));
                format!("[{a}, {b}]")
            }
            3 => {
                self.hit("map method");
                let (l, n, x) = (self.part(Ty::List), self.leaf(Ty::Int), self.name("x"));
                format!("{l}.map(fn({x}) {x} + {n})")
            }
            4 => {
                self.hit("filter");
                let (l, f) = (self.part(Ty::List), self.predicate());
                format!("{l}.filter({f})")
            }
            5 => {
                self.hit("list slice");
                let (l, i) = (self.part(Ty::List), self.expr(Ty::Int));
                format!("{l}.slice(0, {i})")
            }
            6 => {
                self.hit("to_list, keys, values");
                if self.percent(50) {
                    return format!("{}.to_list()", self.part(Ty::Set));
                }
                let m = self.part(Ty::Map);
                format!("{m}.{}()", self.pick(&["keys", "values"]))
            }
            7 => {
                self.hit("repeat");
                let (a, n) = (self.expr(Ty::Int), self.pick(&["0", "2", "LIMIT"]));
                format!("[{a}; {n}]")
            }
            _ => self.either(Ty::List),
        }
    }

    fn set(&mut self) -> String {
        match self.below(4) {
            0 => {
                self.hit("set literal");
                let (a, b) = (self.expr(Ty::Int), self.expr(Ty::Int));
                format!("set[{a}, {b}]")
            }
            1 => {
                self.hit("union, intersect, minus");
                let (a, b) = (self.part(Ty::Set), self.leaf(Ty::Set));
                format!("{a}.{}({b})", self.pick(&["union", "intersect", "minus"]))
            }
            2 => {
                self.hit("set filter");
                let (a, f) = (self.part(Ty::Set), self.predicate());
                format!("{a}.filter({f})")
            }
            _ => self.either(Ty::Set),
        }
    }
}
