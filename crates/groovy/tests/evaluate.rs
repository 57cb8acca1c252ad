//! The evaluator prints what the real Groovy prints, on random programs.

use crate::oracle::Oracle;
use anyorder_common::random::{Random, Rng};
use anyorder_groovy::eval::{Evaluator, NoHost, Stop, Value};
use anyorder_groovy::parse;
use anyorder_testkit::effort;
use std::collections::BTreeMap;

/// Returns what a program prints; `None` with the name of what is not known.
pub(crate) fn run(text: &str) -> Result<String, String> {
    let parsed = parse(text);
    if let Some(first) = parsed.diagnostics.first() {
        return Err(format!("{first:?}"));
    }
    let mut host = NoHost::default();
    let result = Evaluator::new(&parsed.script, &mut host, 1_000_000).run(&parsed.script);
    match result {
        Ok(_) => {}
        Err(Stop::Throw(Value::Exception(one))) => host.printed += &format!("!! {}\n", one.0),
        Err(Stop::Unsupported(what)) => return Err(what),
        Err(stop) => return Err(format!("{stop:?}")),
    }
    Ok(host.printed)
}

/// Makes programs whose parts mostly have the right types.
pub(crate) struct Programs {
    rng: Rng,
    depth: u32,
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

/// The templates of one type: letters stand for parts of a type.
type Templates = &'static [&'static str];

const INTS: Templates = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "-5",
    "10",
    "100",
    "2147483647",
    "n",
    "m",
    "I + I",
    "I - I",
    "I * I",
    "I % I",
    "-(I)",
    "L.size()",
    "S.length()",
    "S.size()",
    "M.size()",
    "L.indexOf(I)",
    "S.indexOf(S)",
    "(B ? I : I)",
    "(I ?: I)",
    "I.intdiv(I)",
    "('ab12cd3' =~ /\\d/).count",
    "Math.round(I)",
    "Math.max(I, I)",
    "(I & I)",
    "(I | I)",
    "(I ^ I)",
    "(I << 2)",
    "(I >> 1)",
    "I ** 2",
    "L.sum()",
    "L.max()",
    "L.min()",
    "L.first()",
    "L.last()",
    "L[I]",
    "I <=> I",
    "S <=> S",
    "I.abs()",
    "L.count(I)",
    "L.inject(0) { a, b -> a + b }",
    "L.find { it > I }",
    "f(I)",
    "g(I, I)",
    "c(I)",
    "M.a",
    "M['b']",
    "M.get('a')",
    "'12'.toInteger()",
    "S.toInteger()",
    "(I as int)",
    "D.toInteger()",
    "(int) D",
    "n++",
    "--m",
    "(n += I)",
    "L.findIndexOf { it == I }",
    "M.a ?: I",
    "M?.a",
    "L.count { it > 1 }",
    "I.toLong()",
    "~I",
    "10L",
    "5g",
    "I >>> 1",
    "Math.abs(I)",
    "Math.max(I, I)",
    "L.size() ? L[0] : I",
    "(L ?: [9])[0]",
    "S.count('a')",
    "k(I)",
    "h()",
    "h(I)",
];
const DECIMALS: Templates = &[
    "1.5",
    "0.1",
    "2.50",
    "I / I",
    "Math.round(D)",
    "D.toDouble().round(1)",
    "D.toFloat().round(2)",
    "Math.max(I, D)",
    "Math.min(D.toDouble(), I)",
    "D + D",
    "D - D",
    "D * D",
    "D / D",
    "I * D",
    "2.0d",
    "1e3",
    "D.toDouble()",
    "'2.5'.toBigDecimal()",
    "D.abs()",
    "-D",
    "I / 3",
    "10 / I",
    "0.5d * I",
    "I ** -1",
    "(double) I",
    "D as double",
    "1.0f",
    "D + 0.1f",
    "I.toDouble()",
    "100.0 / 3",
    "1 / 7.0",
    "Math.floor(D)",
    "Math.pow(2, I)",
    "D % 2",
];
const TEXTS: Templates = &[
    "'a'",
    "''",
    "'abc'",
    "'Hello World'",
    "S.replaceAll(/[a-c]/, '<$0>')",
    "S.replaceAll('(\\\\w)(\\\\w)', '$2$1')",
    "S.replaceFirst(/o+/, 'u')",
    "('k=v1;x=2' =~ /(\\w)=(\\w+)/)[0][1]",
    "String.format('%05d|%-3s|%x', I, S, I)",
    "String.format('%.2f', D)",
    "S.capitalize()",
    "\"x${I}y\"",
    "\"${S}-${I}\"",
    "S + S",
    "S + I",
    "S * 2",
    "S - S",
    "s",
    "S.toUpperCase()",
    "S.toLowerCase()",
    "S.trim()",
    "S.reverse()",
    "S.capitalize()",
    "I.toString()",
    "L.join(',')",
    "L.toString()",
    "M.toString()",
    "S[0]",
    "S[-1]",
    "S[0..1]",
    "S.substring(1)",
    "S.substring(0, 2)",
    "S.replace('a', 'b')",
    "S.replaceAll('l', 'L')",
    "S.padLeft(5)",
    "S.padRight(4, '*')",
    "(B ? S : S)",
    "(S ?: S)",
    "\"${L}\"",
    "\"${M}\"",
    "D.toString()",
    "\"${D}\"",
    "S.split(',')[0]",
    "S.tokenize(' ').join('-')",
    "M.s",
    "M.keySet().join('')",
    "S?.trim()",
    "\"a${-> I}b\"",
    "S.take(2)",
    "S.drop(1)",
    "S.concat(S)",
    "(I as String)",
    "S.find { it == 'a' }",
    "S.plus(S)",
    "switch1(I)",
    "'é'.toUpperCase()",
    "S.substring(I)",
    "S[I]",
    "S << S",
    "null + S",
    "\"$s $n\"",
    "t",
    "\"${null}\"",
];
const LISTS: Templates = &[
    "[]",
    "[1, 2, 3]",
    "[3, 1, 2]",
    "[I, I]",
    "S.split(/[bl]+/).toList()",
    "S.split('').toList()",
    "S.findAll(/[a-z]o?/)",
    "S.split(/\\s/).toList()",
    "[I]",
    "l",
    "L + L",
    "L - L",
    "L + I",
    "L * 2",
    "(1..3)",
    "(I..I)",
    "(0..<3)",
    "L.collect { it + 1 }",
    "L.collect { it * I }",
    "L.findAll { it > 1 }",
    "L.sort(false)",
    "L.reverse()",
    "L.unique()",
    "L.take(2)",
    "L.drop(1)",
    "L.tail()",
    "[L, L].flatten()",
    "L[0..1]",
    "L[-2..-1]",
    "[*L, I]",
    "M.values() as List",
    "L.collect { x -> x - 1 }",
    "(B ? L : L)",
    "L.plus(L)",
    "L.intersect(L)",
    "L << I",
    "[I, *L]",
    "L*.plus(1)",
    "[[a: I], [a: I]]*.a",
    "[[a: I], [a: I]].a",
    "L.collectMany { [it, it] }",
    "L.sort { -it }",
    "L.sort { a, b -> b <=> a }",
    "'1,2'.split(',').collect { it.toInteger() }",
    "M.collect { it.value }.findAll { it instanceof Integer }",
    "[5, 6].eachWithIndex { v, i -> n += v * i }",
    "L.findAll { it in L }",
    "L.each { n += it }",
    "L.minus(I)",
    "(3..1)",
    "L.groupBy { it % 2 }.values() as List",
    "L.inject([]) { a, b -> a + b }",
    "l.sort()",
    "([1, 2] + L)",
    "L as List",
];
const MAPS: Templates = &[
    "[:]",
    "[a: 1, b: 2]",
    "[a: I, b: I, s: S]",
    "m1",
    "M + M",
    "M + [c: I]",
    "M.findAll { k, v -> v == 1 }",
    "M.findAll { it.value }",
    "[*: M, z: I]",
    "L.collectEntries { [it, it * 2] }",
    "L.collectEntries { [(it): 'v'] }",
    "M.subMap(['a'])",
    "(B ? M : M)",
    "M.collectEntries { k, v -> [k, v] }",
    "L.groupBy { it % 2 }",
    "M << [q: I]",
    "M.each { n++ }",
    "M - [a: 1]",
    "[(S): I]",
    "[1: 'x', 2: S]",
    "['a b': I]",
];
const BOOLS: Templates = &[
    "true",
    "false",
    "I == I",
    "I < I",
    "S ==~ /[a-z]+/",
    "S =~ /[lb]/",
    "I ==~ /\\d+/",
    "S.matches('.*b.*')",
    "I >= I",
    "I != I",
    "S == S",
    "S < S",
    "L == L",
    "M == M",
    "B && B",
    "B || B",
    "!B",
    "S.contains('l')",
    "S.startsWith('a')",
    "S.endsWith(S)",
    "L.contains(I)",
    "I in L",
    "S in ['a', S]",
    "L.any { it > I }",
    "L.every { it > 0 }",
    "M.containsKey('a')",
    "M.any { k, v -> v == I }",
    "S.isNumber()",
    "S.isEmpty()",
    "L.isEmpty()",
    "!S",
    "!L",
    "!M",
    "D == D",
    "D > I",
    "I == D",
    "I == 1L",
    "I == 1.0",
    "S == I",
    "null == I",
    "null < I",
    "'a' instanceof String",
    "I instanceof Integer",
    "L instanceof List",
    "M instanceof Map",
    "D instanceof BigDecimal",
    "S.equals(S)",
    "S.equalsIgnoreCase(S)",
    "'a'.equals(\"a\")",
    "I.equals(I)",
    "1 == 1.0",
    "1.equals(1L)",
    "\"$s\" == s",
    "(B ? B : B)",
    "L == [1, 2, 3]",
    "(1..3) == [1, 2, 3]",
    "M.containsValue(1)",
    "M.every { it.value != null }",
    "S == null",
    "L.contains(1L)",
    "S as boolean",
    "(boolean) L",
    "I in 1..5",
    "'b' in String",
    "M.find { it.key == 'a' } != null",
    "S.isInteger()",
];
const STATEMENTS: Templates = &[
    "println(X)",
    "println(X)",
    "println(X)",
    "println X",
    "print X",
    "n = I",
    "s = S",
    "l = L",
    "m1 = M",
    "m1.a = I",
    "m1['q'] = I",
    "l[0] = I",
    "l[I] = I",
    "l << I",
    "l.add(I)",
    "n += I",
    "s += S",
    "m--",
    "l.remove(0)",
    "m1.remove('a')",
    "if (B) { Z } else { Z }",
    "if (B) Z",
    "for (x in L) { n += x; Z }",
    "for (int i = 0; i < 3; i++) { n += i }",
    "L.each { Z }",
    "L.each { println it }",
    "M.each { k, v -> println \"$k=$v\" }",
    "M.each { println it.key }",
    "3.times { n += it }",
    "while (n > 0 && n < 50) { n = n + n + 1 }",
    "switch (X) { case 1: Z; break; case 2..4: Z; case L: Z; break; default: Z }",
    "switch (S) { case 'a': Z; break; case ['b', 'c']: Z }",
    "try { Z } catch (e) { println 'caught' }",
    "try { Z } catch (NullPointerException e) { println 'npe' } finally { println 'finally' }",
    "try { throw new RuntimeException(S) } catch (e) { println e.message }",
    "throw new IllegalStateException('x')",
    "def (p, q) = L; println p; println q",
    "c = { it + I }",
    "L.eachWithIndex { v, i -> println v + i }",
    "for (x in L) { if (x == 2) break; if (x == 1) continue; println x }",
    "assert B",
    "assert B : 'm'",
    "println f(I)",
    "println undefined1",
    "undefined2(I)",
    "println null.foo",
    "println M.a.b",
    "println M?.zz?.b",
    "println(m1.with { a })",
    "m1.with { a = I }",
    "println(X as String)",
    "int z1 = D; println z1",
    "String z2 = X; println z2",
    "boolean z3 = X; println z3",
    "def z4 = { a, b = 2 -> a + b }; println z4(I)",
    "println([1, 2].with { size() })",
    "println 'abc'.collect { it + '-' }",
    "outer: for (x in L) { for (y in L) { if (y == 2) continue outer; println y } }",
    "1.upto(3) { println it }",
    "println L*.toString()",
    "def z5 = m1.&get; println z5('a')",
    "def z6 = { it * 2 } >> { it + 1 }; println z6(I)",
    "println((1..3).collect { a -> { b -> a * b } }.collect { it(2) })",
    "println c.curry(I)()",
    "println I.foo()",
    "println S.bar",
    "println x9.y",
];

impl Programs {
    pub(crate) fn new(seed: u64) -> Self {
        Programs { rng: Rng::for_purpose(seed, *b"eval"), depth: 0, counts: BTreeMap::new() }
    }

    fn fill(&mut self, templates: Templates) -> String {
        self.depth += 1;
        let template = if self.depth > 5 {
            // The first ones have no parts.
            templates[self.rng.index(4.min(templates.len()))]
        } else {
            self.rng.pick(templates)
        };
        // A name is declared once.
        let again = template.contains(" z") && self.counts.contains_key(template);
        let template = if again { "println(X)" } else { template };
        *self.counts.entry(template).or_default() += 1;
        let mut out = String::new();
        let chars: Vec<char> = template.chars().collect();
        for (at, c) in chars.iter().enumerate() {
            let near = |at: Option<usize>| {
                at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_')
            };
            let alone = !near(at.checked_sub(1)) && !near(Some(at + 1));
            let part = match c {
                _ if !alone => None,
                'I' => Some(INTS),
                'D' => Some(DECIMALS),
                'S' => Some(TEXTS),
                'L' => Some(LISTS),
                'M' => Some(MAPS),
                'B' => Some(BOOLS),
                'Z' => Some(STATEMENTS),
                'X' => Some(self.rng.pick(&[INTS, DECIMALS, TEXTS, LISTS, MAPS, BOOLS])),
                _ => None,
            };
            match part {
                Some(part) if self.rng.percent(3) && part.len() != STATEMENTS.len() => {
                    out += "null"
                }
                Some(part) => {
                    let other = self.rng.pick(&[INTS, TEXTS, LISTS, MAPS, BOOLS]);
                    let wrong = self.rng.percent(2) && part.len() != STATEMENTS.len();
                    let text = self.fill(if wrong { other } else { part });
                    let simple = text.chars().all(|c| c.is_alphanumeric());
                    out += &if simple || part.len() == STATEMENTS.len() {
                        text
                    } else {
                        format!("({text})")
                    };
                }
                None => out.push(*c),
            }
        }
        self.depth -= 1;
        out
    }

    pub(crate) fn program(&mut self) -> String {
        let mut text = String::from(
            "int f(int x) { x * 2 }\ndef g(a, b) { if (a > b) { a } else { b } }\ndef k(x) { switch (x) { case 1: return 10; case 2: 20; break; default: 30 } }\n\
             def h(x = 4) { x }\ndef switch1(x) { try { 'v' + x } finally { } }\n\
             def t = 'text'\nn = 3; m = 4; s = 'abc'; l = [1, 2, 3]; m1 = [a: 1, b: 2, s: 'x']\nc = { it + 1 }\n",
        );
        for _ in 0..1 + self.rng.below(5) {
            text += &self.fill(STATEMENTS);
            text.push('\n');
        }
        text
    }
}

#[test]
fn random_programs_print_what_they_print_in_groovy() {
    let Some(mut oracle) = Oracle::start("runs.groovy") else { return };
    let (mut wrong, mut compared, mut all, mut thrown) = (Vec::new(), 0u64, 0u64, 0u64);
    let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in effort::sampled(300, 3_000) {
        let mut programs = Programs::new(seed);
        let text = programs.program();
        all += 1;
        match run(&text) {
            Err(what) => *unknown.entry(what).or_default() += 1,
            Ok(ours) => {
                let real = oracle.ask(&text);
                // Two variables of one name are an error of the compiler, not of a run.
                let twice = matches!(&real, Err(message) if message.contains("already contains"));
                if twice || matches!(&real, Ok(text) if text.contains("GroovyBugError")) {
                    continue;
                }
                compared += 1;
                thrown += u64::from(ours.contains("!! "));
                programs.counts.iter().for_each(|(k, v)| *counts.entry(k).or_default() += v);
                if real.as_ref().ok() != Some(&ours) {
                    wrong.push(format!(
                        "seed {seed}: {}\n real {real:?}\n ours {ours:?}",
                        text.lines().skip(8).collect::<Vec<_>>().join("\n")
                    ));
                }
            }
        }
    }
    wrong.sort_by_key(String::len);
    println!("{all} programs, {compared} compared, {thrown} throw, unknown {unknown:?}");
    let never: Vec<&str> = [INTS, DECIMALS, TEXTS, LISTS, MAPS, BOOLS, STATEMENTS]
        .concat()
        .into_iter()
        .filter(|one| !counts.contains_key(one))
        .collect();
    println!("never compared: {never:?}");
    assert!(wrong.is_empty(), "{} of {compared} wrong\n{}", wrong.len(), wrong.join("\n----\n"));
    assert!(never.is_empty() || effort::effort() == 1, "never compared: {never:?}");
    assert!(compared * 2 > all, "{compared} of {all} were compared");
    assert!(thrown * 20 > compared && thrown * 4 < compared * 3, "{thrown} of {compared} throw");
}
