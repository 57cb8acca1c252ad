//! Programs that are lowered print on the machine what they print in the evaluator and in the real
//! Groovy.

use crate::evaluate::{Programs, run as evaluate};
use crate::oracle::{Oracle, corpus};
use anyorder_groovy::ast::{Expr, ExprKind, Visitor, walk_expr};
use anyorder_groovy::lower::{Call, Code, Lowering, Platform, Unit, UnitId};
use anyorder_groovy::parse;
use anyorder_system::StateSystem;
use anyorder_testkit::effort;
use anyorder_vm::program::{
    FuncId, GlobalId, Literal, Op, Program, ProgramBuilder, Reg, Settings, Type,
};
use anyorder_vm::{Action, Machine, State};
use std::collections::{BTreeMap, BTreeSet};

/// A platform that prints, and keeps the variables of the script that are not declared.
struct Printer {
    out: GlobalId,
    variables: BTreeMap<String, GlobalId>,
    /// What a variable has that was not assigned yet.
    unset: Literal,
}

impl Printer {
    fn print(&mut self, code: &mut Code<'_>, text: Reg) {
        let (out, mark) = (self.out, code.mark());
        let old = code.value(|dst| Op::GetGlobal { dst, global: out });
        let new = code.value(|dst| Op::Add { dst, a: old, b: text });
        code.emit(Op::SetGlobal { global: out, src: new });
        code.release(mark);
    }
}

impl Platform for Printer {
    fn knows_all(&self) -> bool {
        true
    }

    fn property(&mut self, code: &mut Code<'_>, _: UnitId, name: &str) -> Option<Reg> {
        let global = *self.variables.get(name)?;
        let value = code.value(|dst| Op::GetGlobal { dst, global });
        let unset = code.constant(self.unset.clone());
        let is_unset = code.value(|dst| Op::Eq { dst, a: value, b: unset });
        let is_set = code.label();
        code.jump_if_not(is_unset, is_set);
        code.throw_missing_property(name);
        code.bind(is_set);
        Some(value)
    }

    fn set_property(&mut self, code: &mut Code<'_>, _: UnitId, name: &str, value: Reg) -> bool {
        let Some(global) = self.variables.get(name) else { return false };
        code.emit(Op::SetGlobal { global: *global, src: value });
        true
    }

    fn call(&mut self, code: &mut Code<'_>, call: &Call<'_>) -> Option<Reg> {
        let text = match (call.name, call.arguments) {
            ("println", []) => code.text("\n"),
            ("println", [one]) => {
                let text = code.show(one.value);
                let end = code.text("\n");
                code.value(|dst| Op::Add { dst, a: text, b: end })
            }
            ("print", [one]) => code.show(one.value),
            _ => return None,
        };
        self.print(code, text);
        Some(code.null())
    }
}

/// The names that a script assigns.
#[derive(Default)]
struct Assigned(BTreeSet<String>);

impl Visitor for Assigned {
    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Assign(_, target, _) = &expr.kind
            && let ExprKind::Name(name) = &target.bare().kind
        {
            self.0.insert(name.clone());
        }
        walk_expr(self, expr);
    }
}

/// How a lowered program ended.
#[derive(Debug)]
pub(crate) enum End {
    /// What it printed, with its exception.
    Printed(String),
    /// A place that is not understood was reached.
    Gap(String),
    /// The machine failed: a fault of ours, or a limit.
    Failed(String),
}

/// Takes a text out of the quotes in which the machine shows it.
fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(c)) => out.push(c),
            (c, _) => out.push(c),
        }
    }
    out
}

/// Lowers a script and runs it on the machine.
pub(crate) fn run(text: &str) -> End {
    run_program(lower(text))
}

/// Lowers a script to a program with one event.
fn lower(text: &str) -> Program {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    let mut names = Assigned::default();
    parsed.script.statements.iter().for_each(|stmt| names.stmt(stmt));
    let mut b = ProgramBuilder::new("script");
    b.settings(Settings { steps: 10_000_000, ..Settings::default() });
    let out = b.global("out", Literal::Str(String::new()));
    let gap = b.global("gap", Literal::Null);
    let unset = Literal::Enum(b.enumeration("Unset", &[("Unset", 0)]), 0, vec![]);
    let variables =
        names.0.into_iter().map(|name| (name.clone(), b.global(&name, unset.clone()))).collect();
    let mut platform = Printer { out, variables, unset };
    let mut lowering = Lowering::new(b);
    let unit = lowering.unit(Unit::new("script.groovy", text, parsed.script));
    let script = lowering.script(unit);
    let kinds = *lowering.kinds();
    let outcome = lowering.builder().ty(Type::Enum(kinds.outcome), false);
    let mut code = lowering.code("main", 0);
    let result = code.call_for_outcome(script, &[]);
    let end = code.label();
    let is = code.value(|dst| Op::IsType { dst, src: result, ty: outcome });
    code.jump_if_not(is, end);
    let payload = code.value(|dst| Op::Payload { dst, src: result, index: 0 });
    let ty = kinds.outcome;
    let is_gap = code.value(|dst| Op::IsVariant { dst, src: result, ty, variant: 1 });
    let thrown = code.label();
    code.jump_if_not(is_gap, thrown);
    code.emit(Op::SetGlobal { global: gap, src: payload });
    code.jump(end);
    code.bind(thrown);
    let ty = kinds.exception;
    let class = code.value(|dst| Op::RecordGet { dst, src: payload, ty, field: 0 });
    let (before, after) = (code.text("!! "), code.text("\n"));
    let text = code.value(|dst| Op::Add { dst, a: before, b: class });
    let text = code.value(|dst| Op::Add { dst, a: text, b: after });
    platform.print(&mut code, text);
    code.bind(end);
    let main = code.finish();
    lowering.builder().event("main", main);
    lowering.compile(&mut platform);
    lowering.finish().finish().expect("a valid program")
}

/// Runs the event.
fn run_program(program: Program) -> End {
    let machine = Machine::new(program).expect("a valid program");
    let state = machine.initial().remove(0);
    let mut next = Vec::new();
    StateSystem::successors(&machine, &state, &mut next);
    let first: &anyorder_system::Successor<State, Action> = next.first().expect("a successor");
    if let Some(failure) = &first.failure {
        return End::Failed(failure.to_string());
    }
    let parts: BTreeMap<String, String> = machine.show(&first.state).into_iter().collect();
    match parts.get("gap").map(String::as_str) {
        Some("null") | None => End::Printed(unquoted(&parts["out"])),
        Some(gap) => End::Gap(unquoted(gap)),
    }
}

#[test]
fn lowered_programs_print_what_the_evaluator_prints() {
    let mut oracle = Oracle::start("runs.groovy");
    let (mut wrong, mut compared, mut all, mut thrown, mut gaps) = (vec![], 0u64, 0u64, 0u64, 0u64);
    let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in effort::sampled(300, 5_000) {
        let mut programs = Programs::new(seed);
        let text = programs.program();
        all += 1;
        let real = match &mut oracle {
            Some(oracle) => oracle.ask(&text),
            None => evaluate(&text),
        };
        let Ok(real) = real else { continue };
        if real.contains("GroovyBugError") {
            continue;
        }
        match run(&text) {
            End::Printed(ours) if ours == real => {
                compared += 1;
                thrown += u64::from(ours.contains("!! "));
                programs.counts.iter().for_each(|(k, v)| *counts.entry(k).or_default() += v);
            }
            End::Gap(what) => {
                gaps += 1;
                *unknown.entry(what).or_default() += 1;
            }
            End::Printed(ours) => {
                let text = text.lines().skip(8).collect::<Vec<_>>().join("\n");
                wrong.push(format!("seed {seed}: {text}\n real {real:?}\n ours {ours:?}"));
            }
            End::Failed(failure) => wrong.push(format!("seed {seed}: {text}\n{failure}")),
        }
    }
    wrong.sort_by_key(String::len);
    wrong.truncate(20);
    println!("{all} programs, {compared} equal, {thrown} throw, {gaps} gaps {unknown:?}");
    assert!(wrong.is_empty(), "{} of {compared} wrong\n{}", wrong.len(), wrong.join("\n----\n"));
    assert!(compared * 2 > all, "{compared} of {all} were compared");
}

type Change = fn(Op) -> Op;

/// Rules that a broken lowering would break, as changes of instructions.
const BROKEN: &[(&str, Change)] = &[
    ("conditions", |op| match op {
        Op::JumpIf { cond, target } => Op::JumpIfNot { cond, target },
        op => op,
    }),
    ("loops", |op| match op {
        Op::Lt { dst, a, b } => Op::Le { dst, a, b },
        op => op,
    }),
    ("counting", |op| match op {
        Op::AddInt { dst, a, value } => Op::AddInt { dst, a, value: value + 1 },
        op => op,
    }),
    ("equality", |op| match op {
        Op::Eq { dst, a, b } => Op::Ne { dst, a, b },
        op => op,
    }),
    ("strings", |op| match op {
        Op::Add { dst, a, b } => Op::Add { dst, a: b, b: a },
        op => op,
    }),
    ("results", |op| match op {
        Op::Return { .. } => Op::ReturnNull,
        op => op,
    }),
    ("constants", |op| match op {
        Op::Int { dst, value } => Op::Int { dst, value: value + 1 },
        op => op,
    }),
    ("variables that closures share", |op| match op {
        Op::SetField { class, field: 0, .. } if class.0 == 2 => Op::Nop,
        op => op,
    }),
];

#[test]
fn broken_lowerings_are_noticed() {
    let mut noticed: BTreeMap<&str, u64> = BTreeMap::new();
    let mut tried = 0u64;
    for seed in 1..=effort::cases(16) {
        let more = "def q = 1; def w = { q = q + it }; w(2); println q\n\
                    for (v in [5, 6, 7, 8]) { println v }\n";
        let text = Programs::new(seed).program() + more;
        let End::Printed(right) = run(&text) else { continue };
        tried += 1;
        for (rule, change) in BROKEN {
            let mut program = lower(&text);
            for function in &mut program.functions {
                function.code.iter_mut().for_each(|op| *op = change(*op));
            }
            if program.validate().is_err() {
                continue;
            }
            let same = matches!(run_program(program), End::Printed(ours) if ours == right);
            *noticed.entry(rule).or_default() += u64::from(!same);
        }
    }
    println!("{tried} programs, noticed {noticed:?}");
    for (rule, _) in BROKEN {
        assert!(noticed.get(rule).copied().unwrap_or(0) > 0, "{rule}: not noticed");
    }
}

/// A platform that knows every name, and gives null for all of them: what remains is not
/// understood by the lowering itself.
struct Everything;

fn nothing(lowering: &mut Lowering, params: u16) -> Option<FuncId> {
    Some(lowering.code("nothing", params).finish())
}

impl Platform for Everything {
    fn property(&mut self, code: &mut Code<'_>, _: UnitId, _: &str) -> Option<Reg> {
        Some(code.null())
    }

    fn named_property(&mut self, code: &mut Code<'_>, _: UnitId, _: Reg) -> Option<Reg> {
        Some(code.null())
    }

    fn set_property(&mut self, _: &mut Code<'_>, _: UnitId, _: &str, _: Reg) -> bool {
        true
    }

    fn call(&mut self, code: &mut Code<'_>, call: &Call<'_>) -> Option<Reg> {
        // What the real platforms of the apps do not have either.
        if call.name.starts_with("new ") {
            return None;
        }
        Some(code.null())
    }

    fn member(&mut self, lowering: &mut Lowering, _: &str) -> Option<FuncId> {
        nothing(lowering, 1)
    }

    fn set_member(&mut self, lowering: &mut Lowering, _: &str) -> Option<FuncId> {
        nothing(lowering, 2)
    }

    fn any_member(&mut self, lowering: &mut Lowering) -> Option<FuncId> {
        nothing(lowering, 2)
    }

    fn set_any_member(&mut self, lowering: &mut Lowering) -> Option<FuncId> {
        nothing(lowering, 3)
    }

    fn method(&mut self, lowering: &mut Lowering, _: &str, count: u16) -> Option<FuncId> {
        nothing(lowering, count + 1)
    }

    fn any_method(&mut self, lowering: &mut Lowering, count: u16) -> Option<FuncId> {
        nothing(lowering, count + 2)
    }
}

#[test]
fn methods_of_apps_are_understood() {
    let (mut apps, mut whole, mut methods, mut understood) = (0u64, 0u64, 0u64, 0u64);
    let mut what: BTreeMap<String, u64> = BTreeMap::new();
    for (path, text) in corpus() {
        if path.to_string_lossy().contains("infrastructure") {
            continue;
        }
        let parsed = parse(&text);
        if !parsed.diagnostics.is_empty() {
            continue;
        }
        let mut lowering = Lowering::new(ProgramBuilder::new("app"));
        let name = path.to_string_lossy().into_owned();
        let unit = lowering.unit(Unit::new(&name, &text, parsed.script));
        let app = lowering.app(unit);
        for name in app.method_names() {
            for method in app.methods(name) {
                let count = u16::try_from(method.parameters.len()).unwrap_or(0);
                lowering.method(unit, name, count);
            }
        }
        lowering.compile(&mut Everything);
        let gaps: Vec<_> = lowering.gaps().filter(|gap| gap.unit == Some(unit)).cloned().collect();
        gaps.iter().for_each(|gap| *what.entry(gap.what.clone()).or_default() += 1);
        apps += 1;
        whole += u64::from(gaps.is_empty());
        for method in app.method_names().flat_map(|name| app.methods(name)) {
            methods += 1;
            let inside = |gap: &&anyorder_groovy::lower::Gap| {
                gap.span.start >= method.span.start && gap.span.end <= method.span.end
            };
            understood += u64::from(!gaps.iter().any(|gap| inside(&gap)));
        }
        lowering.finish().finish().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let mut what: Vec<(u64, String)> = what.into_iter().map(|(what, n)| (n, what)).collect();
    what.sort_by(|a, b| b.cmp(a));
    println!("{apps} apps, {whole} whole; {understood} of {methods} methods; {what:?}");
    assert!(understood * 100 >= methods * 80, "{understood} of {methods} methods are understood");
}
