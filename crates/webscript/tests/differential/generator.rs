//! Random programs over the syntax of JavaScript. Each construct is counted.
//!
//! A program is a function of `out`, as an expression. All values come from a few variables: `o`,
//! `p` (objects), `a` (an array), `f` (a function), `n` (a number), `z` (null) and captured ones.
//! `out(k, v)` shows when something is evaluated. Loops and calls burn fuel, so all of them end.

use anyorder_common::random::{Random, Rng};
use std::collections::BTreeMap;

pub(super) struct Generator {
    rng: Rng,
    pub(super) counts: BTreeMap<&'static str, u64>,
    marks: u32,
    /// What the place allows.
    in_async: bool,
    in_generator: bool,
    strict: bool,
}

/// Templates of expressions: `E` is an expression (of assignment level), `K` a key, `V` a variable,
/// `M` a mark with a value, `N` a name of a property. A letter stands alone.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("static", "§E.§N"),
    ("computed", "§E[§E]"),
    ("computed list", "§V[§M, §K]"),
    ("computed plain", "§V[n]"),
    ("write", "§V.§N = §E"),
    ("write computed", "§V[§M] = §E"),
    ("write nested", "(§E.§N ??= {}).§N = §E"),
    ("compound", "§V.§N += §E"),
    ("compound computed", "§V[§E] ||= §E"),
    ("update", "§V.§N++"),
    ("update computed", "--§V[§M]"),
    ("delete", "delete §V.§N"),
    ("delete computed", "delete §V[§E]"),
    ("delete chain", "delete §V?.§N.§N"),
    ("optional", "§E?.§N"),
    ("optional rest", "(§V?.§N.§N, z?.§N.§N)"),
    ("optional computed", "§E?.[§M].§N[§K]"),
    ("optional call", "§E?.§N?.(§E).§N"),
    ("optional twice", "§V?.§N?.[§E].§N()"),
    ("optional in parentheses", "(§V?.§N.m)(§E)"),
    ("call", "§V(§E, §M)"),
    ("method", "§V.m(§E)"),
    ("method computed", "§V[\"m\"](§M)"),
    ("method of list", "a.map((x) => (x, §E))"),
    ("push", "a.push(§E)"),
    ("splice", "a.splice(§M, 1)"),
    ("spread call", "f(...[§E, ...a.slice(0, 3)])"),
    ("new", "new f(§E)"),
    ("new member", "new o.m(§E)"),
    ("new computed", "new o[\"m\"]"),
    ("variable", "§V"),
    ("assign", "§V = §E"),
    ("assign function", "§V = function () { return §E; }"),
    ("assign arrow", "§V ??= () => §E"),
    ("assign compound", "c += §E"),
    ("assign logical", "d ||= §E"),
    ("variable update", "c++"),
    ("variable prefix", "--d"),
    ("arrow", "(() => §E)()"),
    (
        "arrow parameter",
        "((q, { n: r = §E } = {}, ...s) => (q++, () => r++, [q, r, s]))(§E, §V, 1)",
    ),
    ("arrow capturing parameter", "((q) => () => q++)(§M)()"),
    (
        "function",
        "(function (q = §E) { const g = () => q += 1; g(); return [q, arguments.length, §E]; })(§V)",
    ),
    (
        "function pattern",
        "(function ({ n: q, ...r }, [s] = a) { return [q, r, s, §E]; }).call(§V, §V ?? {})",
    ),
    ("generator", "[...(function* (q) { const g = () => q++; yield §E; yield* [g(), §E]; })(§M)]"),
    (
        "class",
        "new (class N1 { #p = §E; x = §E; static y = §E; static { let w = 0; const g = () => w++; g(); } get g() { return this.#p; } m() { this.#p = §M; return [this.#p, #p in this]; } })().m()",
    ),
    (
        "class heritage",
        "new (class extends f { constructor() { super(§E); super.k; this.w = 1; } })().w",
    ),
    ("typeof", "typeof §V"),
    ("typeof global", "typeof missing"),
    ("global", "(missing, 1)"),
    ("global write", "(gl = §E, gl++, gl)"),
    ("in", "(§M in o)"),
    ("in name", "(\"n\" in §V)"),
    ("instanceof", "(§V instanceof f)"),
    ("conditional", "(§E ? §E : §E)"),
    ("logical", "(§E && §E || §E)"),
    ("nullish", "(§E ?? §E)"),
    ("binary", "(§E + §E)"),
    ("compare", "(§E === §E)"),
    ("unary", "!§E"),
    ("minus", "-§E"),
    ("void", "void §E"),
    ("list", "(§E, §E)"),
    ("object", "({ §N: §E, [§M]: §E, c, d, get g() { return §E; }, ...§V })"),
    ("array", "[§E, , §E, ...a]"),
    ("template", "`x${§M}y${typeof §E}`"),
    ("tag", "o.t`x${§E}`"),
    ("tag variable", "f`${§E}`"),
    ("destructuring", "({ n: §V, c, [§M]: d = §E, ...o.w } = (§E) ?? {})"),
    ("destructuring array", "[c, o.n = §E, [d] = [§E]] = [§E, §E]"),
    ("swap", "[c, d] = [d, c]"),
    ("eval", "eval(\"n + c\")"),
    ("eval made", "eval(\"(\" + \"o.n\" + \")\")"),
    ("Function", "new Function(\"x\", \"return x?.n\")(§V)"),
    ("map", "new Map([[§M, §E]]).get(1)"),
    ("keys", "Object.keys(§V ?? {}).length"),
    ("assign objects", "Object.assign(§V ?? {}, §V)"),
    ("regular expression", "/x/.test(§M)"),
    ("mark", "§M"),
    ("number", "7"),
    ("string", "'n'"),
];

const STATEMENTS: &[(&str, &str)] = &[
    ("expression", "§E;"),
    ("without semicolon", "o.n = §V\n++c\n;"),
    ("let", "{ let u = §E; const g = () => u++; g(); out('u', u); }"),
    ("const", "{ const u = §E, g = () => u; out('v', g()); }"),
    ("var", "var v1 = §E, v2 = () => v1; out('w', v2());"),
    (
        "let pattern",
        "{ let { n: u, ...w } = §V ?? {}, [x] = a; const g = () => (u = 1, w = x); g(); }",
    ),
    ("if", "if (§E) { §S } else §S"),
    ("for", "for (let i = 0; i < 2; i++) { out.burn(); const g = () => i; §S out('i', g()); }"),
    ("for changed", "for (let i = 0, g = () => i++; i < 3; i++) { out.burn(); g(); §S }"),
    ("for of", "for (const x of [§E, §E]) { out.burn(); §S }"),
    ("for of target", "for (o.n of a.slice(0, 2)) { out.burn(); §S }"),
    ("for of captured", "for (c of [1, 2]) { out.burn(); §S }"),
    ("for in", "for (const k in §V) { out.burn(); out('k', k); }"),
    ("for in list", "for (d in §M, o) { out.burn(); }"),
    ("while", "while (c-- > 0) { out.burn(); §S if (c > 3) break; }"),
    ("do", "do { out.burn(); §S } while (§M > 8)"),
    (
        "switch",
        "switch (§E) { case §M: §S case 2: { let s = §E; (() => s++)(); break; } default: §S }",
    ),
    ("try", "try { §S throw §E; } catch (e) { out('e', e); §S } finally { §S }"),
    (
        "catch pattern",
        "try { throw { n: §E }; } catch ({ n: e }) { const g = () => e = 2; g(); out(e); }",
    ),
    (
        "label",
        "label1: for (;;) { out.burn(); label2: { if (§E) break label2; break label1; } §S break; }",
    ),
    ("function declaration", "{ function h(q) { out.burn(); return q?.n; } out(h(§V)); }"),
    ("block", "{ §S §S }"),
    ("out", "out('s', §E);"),
    ("with", "with (§V ?? {}) { out('n', n); n = 3; (() => c++)(); }"),
    ("await", "out('a', await §E, o[await 'n'], a[await 0]);"),
    ("for await", "for await (const x of [§E]) { out.burn(); const g = () => x; out('x', g()); }"),
    (
        "async closure",
        "await (async () => { let u = 0; const g = async () => { u++; await null; u++; }; await Promise.all([g(), g()]); out('u', u); })();",
    ),
    ("yield", "out('y', yield §E, o[yield 'n']);"),
];

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Rng::for_purpose(seed, *b"jsjs"),
            counts: BTreeMap::new(),
            marks: 0,
            in_async: false,
            in_generator: false,
            strict: false,
        }
    }

    /// All constructs that a program can have.
    pub(super) fn constructs() -> impl Iterator<Item = &'static str> {
        EXPRESSIONS.iter().chain(STATEMENTS).map(|(name, _)| *name)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).expect("a count");
        usize::try_from(self.rng.below(bound)).expect("an index")
    }

    fn choose<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }

    /// Returns one program.
    pub(super) fn program(&mut self) -> String {
        self.in_async = self.below(4) == 0;
        self.in_generator = !self.in_async && self.below(4) == 0;
        self.strict = self.below(2) == 0;
        let statements: String = (0..4).map(|_| self.statement(3) + "\n").collect();
        let strict = if self.strict { "'use strict';" } else { "" };
        let (before, after) = match (self.in_async, self.in_generator) {
            (true, _) => ("return (async function () {", "})();"),
            (_, true) => ("return [...(function* () {", "})()];"),
            _ => ("{", "}"),
        };
        format!(
            "(function (out) {{{strict} Function.prototype.toString = () => 'F'; let c = 1, d = 2, z = null, n = 0; const a = [1, {{ n: 2 }}, 'x']; const f = function (x) {{ out.burn(); if (new.target) this.n = x; return d++ % 3 ? o : x; }};\
             const o = {{ n: 1, o: {{ n: 2, o: null }}, m(x) {{ out('m', this === o); return x; }}, t: (s, ...v) => s.raw.length + v.length, get g() {{ out('g'); return c; }}, set g(v) {{ out('h'); c = v; }} }};\
             let p = {{ n: [1], m: f, __proto__: {{ k: 1 }} }}; const show = () => [c, d, p]; o.m.prototype = undefined; o.m = f; {before}\n{statements}\n{after} out(show(), a, o); }})"
        )
    }

    fn statement(&mut self, depth: u32) -> String {
        loop {
            let pick = self.below(STATEMENTS.len());
            let (name, template) = STATEMENTS[pick];
            let fits = match name {
                "await" | "for await" | "async closure" => self.in_async,
                "yield" => self.in_generator,
                "with" => !self.strict,
                _ => true,
            };
            if fits {
                *self.counts.entry(name).or_default() += 1;
                self.marks += 1;
                let template = template.replace("label", &format!("l{}_", self.marks));
                return self.fill(&template, depth.saturating_sub(1));
            }
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.below(3) {
                0 => self.mark(),
                1 => self.variable().to_owned(),
                _ => "(1)".to_owned(),
            };
        }
        let (name, template) = EXPRESSIONS[self.below(EXPRESSIONS.len())];
        *self.counts.entry(name).or_default() += 1;
        format!("({})", self.fill(template, depth - 1))
    }

    fn variable(&mut self) -> &'static str {
        self.choose(&["o", "p", "a", "f", "z", "c", "d", "n", "o.o", "a[1]"])
    }

    fn mark(&mut self) -> String {
        self.marks += 1;
        let value = self.choose(&["'n'", "'o'", "0", "1", "'zz'", "2"]);
        format!("out({}, {value})", self.marks)
    }

    fn fill(&mut self, template: &str, depth: u32) -> String {
        let mut out = String::new();
        let mut pieces = template.split('\u{a7}');
        out.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let text = match piece.as_bytes().first() {
                Some(b'E') => self.expression(depth),
                Some(b'S') if depth > 0 => self.statement(depth),
                Some(b'S') => "c++;".to_owned(),
                // A constant cannot be assigned to: an error, which both forms must have.
                Some(b'V') => self.variable().to_owned(),
                Some(b'M') => self.mark(),
                Some(b'K') => self.choose(&["n", "'n'", "0", "c", "`o`"]).to_owned(),
                Some(b'N') => self.choose(&["n", "o", "m", "g", "k", "zz"]).to_owned(),
                _ => String::new(),
            };
            out.push_str(&text);
            out.push_str(piece.get(1..).unwrap_or_default());
        }
        out
    }
}
