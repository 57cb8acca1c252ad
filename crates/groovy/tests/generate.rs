//! Random programs as text, and random changes of texts.

use anyorder_common::random::{Random, Rng};
use anyorder_groovy::lex::{Kind, lex};

/// Makes programs of the whole grammar.
pub(crate) struct Generator {
    pub(crate) rng: Rng,
    budget: i32,
}

const NAMES: &[&str] = &["a", "b", "c", "foo", "evt", "state", "it", "x1", "settings", "_y", "$z"];
const TYPES: &[&str] = &[
    "String",
    "Map",
    "List<String>",
    "int",
    "def",
    "Foo.Bar",
    "int[]",
    "boolean",
    "Map<String, List<Integer>>",
];
const BINARY: &[&str] = &[
    "+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=", "<=>", "&&", "||", "&", "|",
    "^", "<<", ">>", ">>>", "..", "..<", "in", "=~", "==~",
];
const ASSIGN: &[&str] =
    &["=", "=", "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "**="];

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), budget: 16 }
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        self.rng.pick(list)
    }

    fn many(
        &mut self,
        max: u64,
        separator: &str,
        mut one: impl FnMut(&mut Self) -> String,
    ) -> String {
        let count = self.rng.below(max + 1);
        let parts: Vec<String> = (0..count).map(|_| one(self)).collect();
        parts.join(separator)
    }

    pub(crate) fn program(&mut self) -> String {
        let count = 1 + self.rng.below(4);
        (0..count).map(|_| self.item() + self.separator()).collect()
    }

    fn separator(&mut self) -> &'static str {
        self.pick(&["\n", "\n", "\n\n", ";", ";\n", " // note\n", "\n/* two\n lines */\n"])
    }

    fn item(&mut self) -> String {
        match self.rng.below(14) {
            0 => format!(
                "import {}a.b.C{}",
                self.pick(&["", "static "]),
                self.pick(&["", ".*", " as D"])
            ),
            1..=3 => self.method(),
            4 => self.class(),
            _ => self.stmt(),
        }
    }

    fn name(&mut self) -> &'static str {
        self.pick(NAMES)
    }

    fn method(&mut self) -> String {
        let head = self.pick(&[
            "def",
            "void",
            "private",
            "String",
            "static def",
            "private int",
            "@Foo def",
            "def <T> T",
            "final Map",
        ]);
        let name = self.pick(&["foo", "installed", "'a b'", "bar"]);
        let body = self.block();
        let throws = self.pick(&["", "", "", " throws Foo"]);
        format!("{head} {name}({}){throws} {body}", self.parameters(2))
    }

    fn parameters(&mut self, max: u64) -> String {
        self.many(max, ", ", |own| {
            let head = own.pick(&[
                "",
                "",
                "def ",
                "int ",
                "Map<String, Foo> ",
                "final ",
                "String... ",
                "@Foo ",
            ]);
            let name = own.name();
            if own.rng.percent(20) {
                format!("{head}{name} = {}", own.expr())
            } else {
                format!("{head}{name}")
            }
        })
    }

    fn class(&mut self) -> String {
        let members = self.many(3, "\n", |own| match own.rng.below(7) {
            0 => format!("int {} = {}", own.name(), own.expr()),
            1 => format!("def {}, {}", own.name(), own.name()),
            2 => own.method(),
            3 => format!(
                "A({}) {}",
                own.parameters(1),
                own.pick(&["{ }", "{ super(1) }", "{ this(1)\n foo() }", "{ a = 1 }"])
            ),
            4 => format!("{}{}", own.pick(&["static ", ""]), own.block()),
            5 => format!("static final String X = {}", own.expr()),
            _ => "class B { }".to_owned(),
        });
        match self.rng.below(5) {
            0 => format!("enum A {{ X, Y({}), Z {{ def q() {{ }} }}\n{members} }}", self.expr()),
            1 => "interface A extends B, C { void foo(int a) }".to_owned(),
            2 => format!("trait A {{ {members} }}"),
            3 => format!("class A<T extends B> extends B<T> implements C, D {{\n{members}\n}}"),
            _ => format!("class A {{ {members} }}"),
        }
    }

    pub(crate) fn block(&mut self) -> String {
        let statements = self.many(3, "", |own| own.stmt() + own.separator());
        format!("{}{statements}}}", self.pick(&["{ ", "{\n"]))
    }

    fn body(&mut self) -> String {
        match self.rng.below(4) {
            0 => format!("\n  {}", self.stmt()),
            1 => self.stmt(),
            _ => self.block(),
        }
    }

    pub(crate) fn stmt(&mut self) -> String {
        self.budget -= 1;
        if self.budget < 0 {
            return self.pick(&["a", "b()", "return", "a = 1"]).to_owned();
        }
        match self.rng.below(30) {
            0 => format!("if ({}) {}", self.expr(), self.body()),
            1 => {
                let middle = self.pick(&[" else ", "\nelse ", "; else ", "\n\nelse\n"]);
                format!("if ({}) {}{middle}{}", self.expr(), self.body(), self.body())
            }
            2 => format!("while ({}) {}", self.expr(), self.body()),
            3 => format!("for ({} in {}) {}", self.name(), self.operand(), self.body()),
            4 => format!("for (String s : {}) {}", self.expr(), self.body()),
            5 => format!("for (int i = 0; i < {}; i++) {}", self.operand(), self.body()),
            6 => {
                let cases = self.many(3, "", |own| {
                    let label = if own.rng.percent(20) {
                        "default".to_owned()
                    } else {
                        format!("case {}", own.expr())
                    };
                    let end = own.pick(&["\nbreak\n", "\n", "; return\n", "; break;"]);
                    format!("{label}: {}{end}", own.stmt())
                });
                format!("switch ({}) {{\n{cases}}}", self.expr())
            }
            7 => {
                let kind = self.pick(&["e", "Foo e", "Foo | Bar e", "final Foo e"]);
                format!(
                    "try {} catch ({kind}) {}{}",
                    self.block(),
                    self.block(),
                    self.pick(&["", " finally { a }"])
                )
            }
            8 => format!("return {}", self.expr()),
            9 => {
                self.pick(&["return", "break", "continue", "break foo", "continue foo"]).to_owned()
            }
            10 => format!("throw {}", self.expr()),
            11 => format!("assert {}{}", self.expr(), self.pick(&["", ", 'm'", " : 'm'"])),
            12 => format!("foo: {}", self.stmt()),
            13 => format!("synchronized ({}) {}", self.expr(), self.block()),
            14 => format!("def (a, {}b) = {}", self.pick(&["", "int "]), self.expr()),
            15..=17 => format!("{} {} = {}", self.pick(TYPES), self.name(), self.initial()),
            18 => format!("{} a = {}, b, c = {}", self.pick(TYPES), self.initial(), self.initial()),
            19 => format!("foo: {}", self.block()),
            20..=23 => self.command(),
            24 => format!("@Foo(a = {}) def b", self.operand()),
            25 => format!("(a, b) = {}", self.expr()),
            _ => self.expr(),
        }
    }

    fn initial(&mut self) -> String {
        if self.rng.percent(20) { self.command() } else { self.expr() }
    }

    fn command(&mut self) -> String {
        let head = self.pick(&["foo", "log.debug", "input", "a.b", "a?.b", "x.y()"]);
        let arguments = self.many(3, ", ", |own| match own.rng.below(5) {
            0 | 1 => format!(
                "{}: {}",
                own.pick(&["a", "title", "'b'", "in", "default", "1", "(a)"]),
                own.expr()
            ),
            _ => own.expr(),
        });
        let more = if self.rng.percent(15) {
            format!(" {} {}", self.name(), self.operand())
        } else {
            String::new()
        };
        format!("{head} {arguments}{more}")
    }

    fn arguments(&mut self) -> String {
        self.many(3, ", ", |own| match own.rng.below(8) {
            0 | 1 => format!(
                "{}: {}",
                own.pick(&["a", "title", "\"b\"", "class", "2", "(a)", "\"x${a}\""]),
                own.expr()
            ),
            2 => format!("*{}", own.operand()),
            3 if own.rng.percent(30) => format!("*: {}", own.operand()),
            _ => own.expr(),
        })
    }

    fn closure(&mut self) -> String {
        let parameters = match self.rng.below(5) {
            0 => " ->".to_owned(),
            1 => format!(" {} ->", self.parameters(2)),
            2 => " x, y ->".to_owned(),
            _ => String::new(),
        };
        let statements = self.many(2, "", |own| own.stmt() + own.pick(&["\n", "; "]));
        format!("{{{parameters} {statements}}}")
    }

    pub(crate) fn expr(&mut self) -> String {
        self.budget -= 1;
        if self.budget < 0 {
            return self.name().to_owned();
        }
        let space = self.pick(&[" ", " ", "", "\n  "]);
        match self.rng.below(24) {
            0..=4 => {
                let op = self.pick(BINARY);
                let blank = if op == "in" { " " } else { space };
                format!("{} {op}{blank}{}", self.operand(), self.operand())
            }
            5 => format!("{} {}{space}{}", self.target(), self.pick(ASSIGN), self.initial()),
            6 => {
                let (a, b) =
                    (self.pick(&[" ? ", "\n ? ", " ?\n"]), self.pick(&[" : ", "\n : ", " :\n"]));
                format!("{}{a}{}{b}{}", self.operand(), self.expr(), self.operand())
            }
            7 => format!("{} ?: {}", self.operand(), self.operand()),
            8 => format!("{} instanceof {}", self.operand(), self.pick(&["String", "Map", "a.B"])),
            9 => format!(
                "{} as {}",
                self.operand(),
                self.pick(&["int", "String", "List<Foo>", "int[]"])
            ),
            10 => format!(
                "{}{}",
                self.pick(&["!", "-", "+", "~", "++", "--", "- ", "!!", "-\n"]),
                self.operand()
            ),
            11 => format!(
                "({}) {}",
                self.pick(&["int", "String", "a.B", "List<Foo>", "x"]),
                self.operand()
            ),
            12 => format!("({})", self.expr()),
            13 => format!(
                "{} {} {} {} {}",
                self.operand(),
                self.pick(BINARY),
                self.operand(),
                self.pick(BINARY),
                self.operand()
            ),
            _ => self.operand(),
        }
    }

    fn target(&mut self) -> String {
        match self.rng.below(4) {
            0 => format!("{}.{}", self.path(), self.name()),
            1 => format!("{}[{}]", self.path(), self.expr()),
            _ => self.name().to_owned(),
        }
    }

    fn operand(&mut self) -> String {
        let end = self.pick(&["", "", "", "", "", "++", "--"]);
        self.path() + end
    }

    fn path(&mut self) -> String {
        let mut text = self.primary();
        while self.rng.percent(40) && self.budget > 0 {
            self.budget -= 1;
            text += &match self.rng.below(14) {
                0..=3 => format!(
                    "{}{}",
                    self.pick(&[".", "?.", "*.", "\n  .", ".\n"]),
                    self.member_name()
                ),
                4..=6 => format!("({})", self.arguments()),
                7 => format!("[{}]", self.arguments()),
                8 | 9 => format!(" {}", self.closure()),
                10 => format!(".each {}", self.closure()),
                11 => format!(".@{}", self.name()),
                12 => format!(".&{}", self.name()),
                _ => format!(".{}({})", self.member_name(), self.arguments()),
            };
        }
        text
    }

    fn member_name(&mut self) -> String {
        match self.rng.below(10) {
            0 => self.pick(&["class", "in", "default", "if", "as"]).to_owned(),
            1 => "'a b'".to_owned(),
            2 => "\"a$b\"".to_owned(),
            3 => "(a)".to_owned(),
            _ => self.name().to_owned(),
        }
    }

    fn primary(&mut self) -> String {
        match self.rng.below(26) {
            0..=6 => self.name().to_owned(),
            7 | 8 => self
                .pick(&[
                    "0",
                    "1",
                    "42",
                    "1.5",
                    "2L",
                    "3g",
                    "1e3",
                    "0x1F",
                    "1.5f",
                    "2.5d",
                    "017",
                    "2147483648",
                    "1_000",
                    "0.001",
                ])
                .to_owned(),
            9..=11 => self
                .pick(&[
                    "'a'",
                    "\"b\"",
                    "'''c\nd'''",
                    "\"\"\"e\n\"f\" \"\"\"",
                    "''",
                    "\"\\n\\$\\u0041\"",
                    "'\\''",
                    "'é'",
                ])
                .to_owned(),
            12 => self.pick(&["true", "false", "null", "this", "super"]).to_owned(),
            13 => format!(
                "\"{}${{{}}}{}\"",
                self.pick(&["", "a "]),
                self.inserted(),
                self.pick(&["", " $b.c", "$d"])
            ),
            14 => format!("\"\"\"${{{}}}\n\"\"\"", self.stmt()),
            15 | 16 => format!("[{}]", self.many(3, ", ", |own| own.expr())),
            17 => "[:]".to_owned(),
            18 => format!(
                "[{}]",
                self.many(3, ", ", |own| format!(
                    "{}: {}",
                    own.pick(&["a", "'b'", "(c)", "1", "if", "[1]", "\"d$e\""]),
                    own.expr()
                ))
            ),
            19 => self.closure(),
            20 => format!(
                "new {}({})",
                self.pick(&["Foo", "a.B", "Foo<String>", "Date"]),
                self.arguments()
            ),
            21 => format!("new int[{}]{}", self.expr(), self.pick(&["", "[]", "[2]"])),
            22 => format!("({})", self.expr()),
            23 => format!("(/{}/)", self.pick(&["a", "a\\/b", "\\d+$", "a${b}c", "x*"])),
            24 => format!("$/{}/$", self.pick(&["a", "$$b", "a/b", "c ${d}"])),
            _ => format!("new Foo({}) {{ def bar() {} }}", self.arguments(), self.block()),
        }
    }

    fn inserted(&mut self) -> String {
        // No newline may stand in a string in double quotes.
        for _ in 0..5 {
            let text = if self.rng.percent(10) { self.stmt() } else { self.expr() };
            if !text.contains('\n') {
                return text;
            }
        }
        "a".to_owned()
    }
}

/// Changes a text a little: takes out, doubles, swaps or replaces tokens, or adds some.
pub(crate) fn mutate(rng: &mut Rng, text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut end = 0;
    for token in &lex(text).tokens {
        if token.kind == Kind::End {
            break;
        }
        let (from, to) = (token.span.start as usize, token.span.end as usize);
        if from < end || !text.is_char_boundary(from) || !text.is_char_boundary(to) {
            continue;
        }
        parts.push(text[end..from].to_owned());
        parts.push(text[from..to].to_owned());
        end = to;
    }
    parts.push(text[end..].to_owned());
    const ADDED: &[&str] = &[
        "\n", ";", "(", ")", "[", "]", "{", "}", ",", ":", "?", ".", "=", "->", "-", "+", "!", "*",
        "a", "1", "'s'", "\"$a\"", "if", "else", "def", "return", "case", "in", "as", "new", "/",
        "@A", "..", "?:", "<", ">", "++", "==", "&&", "int", "String", "this", "class", "static",
        "null", "for", "while", "try", "?.", "*.", ".&",
    ];
    for _ in 0..1 + rng.below(2) {
        let at = rng.index(parts.len());
        match rng.below(6) {
            0 => parts[at].clear(),
            1 => {
                let other = parts[rng.index(parts.len())].clone();
                parts[at] = other;
            }
            2 => {
                let other = rng.index(parts.len());
                parts.swap(at, other);
            }
            3 => {
                let same = parts[at].clone();
                parts.insert(at, same);
            }
            _ => parts.insert(at, format!(" {} ", rng.pick(ADDED))),
        }
    }
    parts.concat()
}
