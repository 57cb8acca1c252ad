//! Each instruction that is not about concurrency: what it gives, and how it fails.

use crate::support::{function, int, machine, part, successors};
use anyorder_vm::program::{Builtin, FunctionBuilder, Literal, Op, ProgramBuilder, Reg, Type};
use std::sync::Arc;

/// Runs code whose result goes to a global; the result in words, or the failure up to its first
/// colon.
fn eval(code: impl FnOnce(&mut ProgramBuilder, &mut FunctionBuilder) -> Reg) -> String {
    let mut b = ProgramBuilder::new("eval");
    let result = b.global("result", Literal::Null);
    let mut f = b.function("main", 0);
    let reg = code(&mut b, &mut f);
    f.emit(Op::SetGlobal { global: result, src: reg });
    f.emit(Op::ReturnNull);
    let body = b.add(f);
    b.event("main", body);
    let machine = machine(b.finish().expect("valid"));
    let state = anyorder_system::StateSystem::initial(&machine).remove(0);
    let next = successors(&machine, &state);
    assert_eq!(next.len(), 1);
    match &next[0].failure {
        Some(failure) => failure.kind.word().to_owned(),
        None => part(&machine, &next[0].state, "result"),
    }
}

fn constant(b: &mut ProgramBuilder, f: &mut FunctionBuilder, literal: Literal) -> Reg {
    let (constant, dst) = (b.constant(literal), f.reg());
    f.emit(Op::Const { dst, constant });
    dst
}

fn text(text: &str) -> Literal {
    Literal::Str(text.to_owned())
}

fn ints(values: &[i64]) -> Vec<Literal> {
    values.iter().map(|value| Literal::Int(*value)).collect()
}

fn list(values: &[i64]) -> Literal {
    Literal::List(ints(values))
}

/// An operator on two constants.
fn binary(op: fn(Reg, Reg, Reg) -> Op, a: Literal, b: Literal) -> String {
    eval(|builder, f| {
        let (a, b) = (constant(builder, f, a), constant(builder, f, b));
        let dst = f.reg();
        f.emit(op(dst, a, b));
        dst
    })
}

#[test]
fn operators() {
    use Literal::Int;
    let add = |dst, a, b| Op::Add { dst, a, b };
    let sub = |dst, a, b| Op::Sub { dst, a, b };
    let mul = |dst, a, b| Op::Mul { dst, a, b };
    let div = |dst, a, b| Op::Div { dst, a, b };
    let rem = |dst, a, b| Op::Rem { dst, a, b };
    assert_eq!(binary(add, Int(2), Int(3)), "5");
    assert_eq!(binary(add, Int(i64::MAX), Int(1)), "overflow");
    assert_eq!(binary(add, text("a"), text("b")), "\"ab\"");
    assert_eq!(binary(add, list(&[1]), list(&[2])), "[1, 2]");
    assert_eq!(binary(add, Int(1), text("b")), "type");
    assert_eq!(binary(add, Literal::Null, Int(1)), "null");
    assert_eq!(binary(sub, Int(i64::MIN), Int(1)), "overflow");
    assert_eq!(binary(sub, Int(2), Int(3)), "-1");
    assert_eq!(binary(mul, Int(1 << 62), Int(2)), "overflow");
    assert_eq!(binary(mul, Int(-4), Int(2)), "-8");
    assert_eq!(binary(div, Int(-7), Int(2)), "-3");
    assert_eq!(binary(rem, Int(-7), Int(2)), "-1");
    assert_eq!(binary(div, Int(1), Int(0)), "division by zero");
    assert_eq!(binary(rem, Int(1), Int(0)), "division by zero");
    assert_eq!(binary(div, Int(i64::MIN), Int(-1)), "overflow");
    assert_eq!(binary(rem, Int(i64::MIN), Int(-1)), "0");
    let lt = |dst, a, b| Op::Lt { dst, a, b };
    let le = |dst, a, b| Op::Le { dst, a, b };
    let eq = |dst, a, b| Op::Eq { dst, a, b };
    let ne = |dst, a, b| Op::Ne { dst, a, b };
    let within = |dst, a, b| Op::In { dst, a, b };
    assert_eq!(binary(lt, Int(1), Int(2)), "true");
    assert_eq!(binary(lt, text("b"), text("a")), "false");
    assert_eq!(binary(lt, text("b"), Int(1)), "type");
    assert_eq!(binary(le, Int(2), Int(2)), "true");
    assert_eq!(binary(eq, list(&[1, 2]), list(&[1, 2])), "true");
    assert_eq!(binary(eq, list(&[1, 2]), list(&[2, 1])), "false");
    let set = |values: &[i64]| Literal::Set(ints(values));
    assert_eq!(binary(eq, set(&[1, 2]), set(&[2, 1, 1])), "true");
    assert_eq!(binary(ne, Int(1), Literal::Bool(true)), "true");
    assert_eq!(binary(within, Int(2), set(&[1, 2])), "true");
    assert_eq!(binary(within, Int(3), list(&[1, 2])), "false");
    assert_eq!(binary(within, text("b"), text("abc")), "true");
    assert_eq!(binary(|dst, a, b| Op::Range { dst, a, b }, Int(1), Int(4)), "[1, 2, 3]");
    assert_eq!(binary(|dst, a, b| Op::Range { dst, a, b }, Int(4), Int(1)), "[]");
    assert_eq!(binary(|dst, a, b| Op::Range { dst, a, b }, Int(0), Int(i64::MAX)), "size");
    assert_eq!(binary(|dst, a, _| Op::AddInt { dst, a, value: -5 }, Int(3), Int(0)), "-2");
    assert_eq!(binary(|dst, a, _| Op::Neg { dst, a }, Int(i64::MIN), Int(0)), "overflow");
    assert_eq!(binary(|dst, a, _| Op::Not { dst, a }, Literal::Bool(true), Int(0)), "false");
    assert_eq!(binary(|dst, a, _| Op::EqInt { dst, a, value: 3 }, Int(3), Int(0)), "true");
    assert_eq!(binary(|dst, a, b| Op::Index { dst, src: a, index: b }, list(&[4, 5]), Int(1)), "5");
    assert_eq!(
        binary(|dst, a, b| Op::Index { dst, src: a, index: b }, list(&[4]), Int(1)),
        "index"
    );
    assert_eq!(
        binary(|dst, a, b| Op::Index { dst, src: a, index: b }, list(&[4]), Int(-1)),
        "index"
    );
}

/// A built-in method: its result and the receiver afterwards.
fn method(method: Builtin, recv: Literal, args: &[Literal]) -> (String, String) {
    let run = |receiver: bool| {
        let (recv, args) = (recv.clone(), args.to_vec());
        eval(|b, f| {
            let recv = constant(b, f, recv);
            let first = f.regs(2);
            for (at, arg) in (0..).zip(args) {
                let constant = b.constant(arg);
                f.emit(Op::Const { dst: first.plus(at), constant });
            }
            let dst = f.reg();
            f.emit(Op::Method { dst, method, recv, args: first });
            if receiver { recv } else { dst }
        })
    };
    (run(false), run(true))
}

#[test]
fn methods_of_lists() {
    use Builtin as B;
    let l = || list(&[3, 1, 2]);
    let check = |m: Builtin, args: &[Literal], result: &str, after: &str| {
        assert_eq!(method(m, l(), args), (result.to_owned(), after.to_owned()), "{m:?}");
    };
    let same = "[3, 1, 2]";
    check(B::Len, &[], "3", same);
    check(B::IsEmpty, &[], "false", same);
    check(B::Push, &ints(&[9]), "null", "[3, 1, 2, 9]");
    check(B::Pop, &[], "2", "[3, 1]");
    check(B::TakeFirst, &[], "3", "[1, 2]");
    check(B::First, &[], "3", same);
    check(B::Last, &[], "2", same);
    check(B::Insert, &ints(&[3, 7]), "null", "[3, 1, 2, 7]");
    check(B::Insert, &ints(&[4, 7]), "index", "index");
    check(B::Remove, &ints(&[1]), "1", "[3, 2]");
    check(B::Remove, &ints(&[3]), "index", "index");
    check(B::Contains, &ints(&[1]), "true", same);
    check(B::IndexOf, &ints(&[2]), "2", same);
    check(B::IndexOf, &ints(&[5]), "-1", same);
    check(B::Slice, &ints(&[1, 3]), "[1, 2]", same);
    check(B::Slice, &ints(&[2, 1]), "index", "index");
    check(B::Reverse, &[], "null", "[2, 1, 3]");
    check(B::Sort, &[], "null", "[1, 2, 3]");
    check(B::Sum, &[], "6", same);
    check(B::Min, &[], "1", same);
    check(B::Max, &[], "3", same);
    check(B::Clear, &[], "null", "[]");
    check(B::ToSet, &[], "set[1, 2, 3]", same);
    check(B::ToStr, &[], "\"[3, 1, 2]\"", same);
    check(B::Get, &ints(&[1]), "type", "type");
    assert_eq!(method(B::Pop, list(&[]), &[]).0, "index");
    assert_eq!(method(B::Sum, list(&[i64::MAX, 1]), &[]).0, "overflow");
}

#[test]
fn methods_of_sets_maps_and_strings() {
    use Builtin as B;
    let set = || Literal::Set(ints(&[2, 1]));
    let of = |m, args: &[Literal]| method(m, set(), args);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(of(B::Add, &ints(&[3])), pair("true", "set[1, 2, 3]"));
    assert_eq!(of(B::Add, &ints(&[1])), pair("false", "set[1, 2]"));
    assert_eq!(of(B::Remove, &ints(&[1])), pair("true", "set[2]"));
    assert_eq!(of(B::Remove, &ints(&[7])), pair("false", "set[1, 2]"));
    let other = [Literal::Set(ints(&[2, 3]))];
    assert_eq!(of(B::Union, &other).0, "set[1, 2, 3]");
    assert_eq!(of(B::Intersect, &other).0, "set[2]");
    assert_eq!(of(B::Minus, &other).0, "set[1]");
    assert_eq!(of(B::ToList, &[]).0, "[1, 2]");
    assert_eq!(of(B::Elements, &[]).0, "[1, 2]");
    assert_eq!(of(B::Max, &[]).0, "2");
    assert_eq!(of(B::Clear, &[]).1, "set[]");

    let map = Literal::Map(vec![(text("b"), Literal::Int(2)), (text("a"), Literal::Int(1))]);
    let of = |m, args: &[Literal]| method(m, map.clone(), args);
    let shown = "map[\"a\": 1, \"b\": 2]";
    assert_eq!(of(B::Get, &[text("a")]), pair("1", shown));
    assert_eq!(of(B::Get, &[text("c")]).0, "null");
    assert_eq!(of(B::GetOr, &[text("c"), Literal::Int(9)]).0, "9");
    assert_eq!(of(B::Set, &[text("a"), Literal::Int(5)]).1, "map[\"a\": 5, \"b\": 2]");
    assert_eq!(of(B::Remove, &[text("a")]), pair("1", "map[\"b\": 2]"));
    assert_eq!(of(B::Has, &[text("b")]).0, "true");
    assert_eq!(of(B::Keys, &[]).0, "[\"a\", \"b\"]");
    assert_eq!(of(B::Values, &[]).0, "[1, 2]");
    assert_eq!(of(B::Elements, &[]).0, "[\"a\", \"b\"]");
    assert_eq!(of(B::Len, &[]).0, "2");

    let of = |m, args: &[Literal]| method(m, text("häuser"), args).0;
    assert_eq!(of(B::Len, &[]), "6");
    assert_eq!(of(B::Contains, &[text("äu")]), "true");
    assert_eq!(of(B::StartsWith, &[text("hau")]), "false");
    assert_eq!(of(B::Slice, &ints(&[1, 3])), "\"äu\"");
    assert_eq!(of(B::ToInt, &[]), "type");
    assert_eq!(method(B::ToInt, text("-12"), &[]).0, "-12");
    assert_eq!(method(B::ToStr, Literal::Int(7), &[]).0, "\"7\"");
    assert_eq!(method(B::ToStr, text("x"), &[]).0, "\"x\"");
}

#[test]
fn records_enums_and_objects() {
    let shown = eval(|b, f| {
        let item = b.record("Item", &["id", "name"]);
        let first = int(f, 1);
        let name = constant(b, f, text("n"));
        assert_eq!(name, first.plus(1));
        let (record, dst, seven) = (f.reg(), f.reg(), int(f, 7));
        f.emit(Op::Record { dst: record, ty: item, args: first });
        f.emit(Op::Move { dst, src: record });
        f.emit(Op::RecordSet { record: dst, ty: item, field: 0, src: seven });
        // The copy changed, the original did not.
        let list = f.reg();
        let pair = f.regs(2);
        f.emit(Op::Move { dst: pair, src: record });
        f.emit(Op::Move { dst: pair.plus(1), src: dst });
        f.emit(Op::List { dst: list, args: pair, count: 2 });
        list
    });
    assert_eq!(shown, "[Item { id: 1, name: \"n\" }, Item { id: 7, name: \"n\" }]");

    let payload = |variant: u16, wanted: u16| {
        eval(|b, f| {
            let e = b.enumeration("E", &[("A", 0), ("B", 1), ("C", 2)]);
            let first = int(f, 4);
            let second = constant(b, f, text("z"));
            assert_eq!(second, first.plus(1));
            let (value, is, dst) = (f.reg(), f.reg(), f.reg());
            f.emit(Op::Enum { dst: value, ty: e, variant, args: first });
            f.emit(Op::IsVariant { dst: is, src: value, ty: e, variant });
            let message = b.constant(text("is not"));
            f.emit(Op::Assert { cond: is, message });
            f.emit(Op::Payload { dst, src: value, index: wanted });
            dst
        })
    };
    assert_eq!(payload(1, 0), "4");
    assert_eq!(payload(2, 1), "\"z\"");
    assert_eq!(payload(0, 0), "type");
    assert_eq!(payload(1, 1), "type");

    let object = |null: bool| {
        eval(|b, f| {
            let class = b.class("Node", &["next", "v"]);
            let name = b.name("v");
            let (fields, object, dst) = (f.regs(2), f.reg(), f.reg());
            f.emit(Op::Int { dst: fields.plus(1), value: 5 });
            if null {
                f.emit(Op::Null { dst: object });
            } else {
                f.emit(Op::New { dst: object, class, args: fields });
            }
            let nine = int(f, 9);
            f.emit(Op::SetField { object, class, field: 1, src: nine });
            f.emit(Op::GetMember { dst, src: object, name });
            dst
        })
    };
    assert_eq!(object(false), "9");
    assert_eq!(object(true), "null");
}

#[test]
fn calls_and_closures() {
    // Recursion: the factorial of 10.
    let shown = eval(|b, f| {
        let func = b.declare_function();
        let mut g = b.function("factorial", 1);
        let (zero, end, arg, result) = (g.reg(), g.label(), g.reg(), g.reg());
        let n = g.param(0);
        g.emit(Op::EqInt { dst: zero, a: n, value: 0 });
        g.jump_if(zero, end);
        g.emit(Op::AddInt { dst: arg, a: n, value: -1 });
        g.emit(Op::Call { dst: result, func, args: arg });
        g.emit(Op::Mul { dst: result, a: result, b: n });
        g.emit(Op::Return { src: result });
        g.bind(end);
        g.emit(Op::Int { dst: result, value: 1 });
        g.emit(Op::Return { src: result });
        b.define(func, g);
        let (n, dst) = (int(f, 10), f.reg());
        f.emit(Op::Call { dst, func, args: n });
        dst
    });
    assert_eq!(shown, "3628800");

    // A closure that captured 40 by value.
    let shown = eval(|b, f| {
        let mut g = b.closure("add", 1, 1);
        let sum = g.reg();
        g.emit(Op::Add { dst: sum, a: g.param(0), b: g.param(1) });
        g.emit(Op::Return { src: sum });
        let func = b.add(g);
        let (captured, closure) = (int(f, 40), f.reg());
        f.emit(Op::Closure { dst: closure, func, captures: captured });
        f.emit(Op::Int { dst: captured, value: 0 });
        let (two, dst) = (int(f, 2), f.reg());
        f.emit(Op::CallValue { dst, callee: closure, args: two, count: 1 });
        dst
    });
    assert_eq!(shown, "42");

    // Calls without an end.
    let shown = eval(|b, f| {
        let func = b.declare_function();
        let mut g = b.function("f", 0);
        let dst = g.reg();
        g.emit(Op::Call { dst, func, args: Reg(0) });
        b.define(func, g);
        let dst = f.reg();
        f.emit(Op::Call { dst, func, args: Reg(0) });
        dst
    });
    assert_eq!(shown, "recursion");

    // A method of a class, and a built-in one, by name.
    let shown = eval(|b, f| {
        let class = b.class("Cell", &["v"]);
        let mut g = b.function("len", 1);
        let dst = g.reg();
        g.emit(Op::GetField { dst, object: g.param(0), class, field: 0 });
        g.emit(Op::Return { src: dst });
        let func = b.add(g);
        b.method(class, "len", func);
        let name = b.name("len");
        let (v, args, dst) = (int(f, 8), f.reg(), f.regs(2));
        f.emit(Op::New { dst: args, class, args: v });
        f.emit(Op::CallMember { dst, name, args, count: 1 });
        let constant = b.constant(text("abc"));
        f.emit(Op::Const { dst: args, constant });
        f.emit(Op::CallMember { dst: dst.plus(1), name, args, count: 1 });
        let all = f.reg();
        f.emit(Op::List { dst: all, args: dst, count: 2 });
        all
    });
    assert_eq!(shown, "[8, 3]");
}

#[test]
fn failures_and_limits() {
    let endless = eval(|_, f| {
        let head = f.label();
        f.bind(head);
        f.jump(head);
        f.reg()
    });
    assert_eq!(endless, "step_limit");
    let growing = eval(|b, f| {
        let text = constant(b, f, text("0123456789abcdef0123456789abcdef"));
        let head = f.label();
        f.bind(head);
        f.emit(Op::Add { dst: text, a: text, b: text });
        f.jump(head);
        text
    });
    assert_eq!(growing, "size");
    let nesting = eval(|_, f| {
        let (list, head) = (f.reg(), f.label());
        f.bind(head);
        f.emit(Op::List { dst: list, args: list, count: 1 });
        f.jump(head);
        list
    });
    assert_eq!(nesting, "size");
    let checked = |ty: Type, or_null: bool| {
        eval(|b, f| {
            let (src, ty) = (int(f, 1), b.ty(ty, or_null));
            f.emit(Op::Check { src, ty });
            src
        })
    };
    assert_eq!(checked(Type::Int, false), "1");
    assert_eq!(checked(Type::Int, true), "1");
    assert_eq!(checked(Type::Str, false), "type");
    let failing = eval(|b, f| {
        let message = constant(b, f, text("no"));
        f.emit(Op::Fail { message });
        message
    });
    assert_eq!(failing, "failure");
    let unmatched = eval(|_, f| {
        let src = int(f, 3);
        f.emit(Op::NoMatch { src });
        src
    });
    assert_eq!(unmatched, "no match");
}

#[test]
fn types_are_asked_for() {
    let is = |ty: Type, or_null: bool, value: Literal| {
        eval(|b, f| {
            let (src, ty) = (constant(b, f, value), b.ty(ty, or_null));
            f.value(|dst| Op::IsType { dst, src, ty })
        })
    };
    assert_eq!(is(Type::Int, false, Literal::Int(1)), "true");
    assert_eq!(is(Type::Str, false, Literal::Int(1)), "false");
    assert_eq!(is(Type::Int, false, Literal::Null), "false");
    assert_eq!(is(Type::Int, true, Literal::Null), "true");
    assert_eq!(is(Type::List, false, Literal::List(vec![])), "true");
}

#[test]
fn native_functions_are_called() {
    let nested = || Literal::List(vec![text("a"), Literal::Map(vec![(text("k"), Literal::Null)])]);
    let call = |value: Literal| {
        eval(|b, f| {
            let native = b.native(
                "pair",
                1,
                Arc::new(|args| match args {
                    [Literal::Bool(_)] => Err("no booleans".to_owned()),
                    args => Ok(Literal::List([args, args].concat())),
                }),
            );
            let args = constant(b, f, value);
            f.value(|dst| Op::Native { dst, native, args })
        })
    };
    assert_eq!(call(Literal::Int(3)), "[3, 3]");
    assert_eq!(call(nested()), r#"[["a", map["k": null]], ["a", map["k": null]]]"#);
    assert_eq!(call(Literal::Bool(true)), "type");
    let of_object = eval(|b, f| {
        let class = b.class("K", &[]);
        let native = b.native("same", 1, Arc::new(|args| Ok(args[0].clone())));
        let args = f.value(|dst| Op::New { dst, class, args: Reg(0) });
        f.value(|dst| Op::Native { dst, native, args })
    });
    assert_eq!(of_object, "type");
    let growing = eval(|b, f| {
        let code = Arc::new(|_: &[Literal]| Ok(Literal::List(vec![Literal::Int(0); 1 << 21])));
        let native = b.native("large", 0, code);
        f.value(|dst| Op::Native { dst, native, args: Reg(0) })
    });
    assert_eq!(growing, "size");
}

#[test]
fn failures_tell_where() {
    let mut b = ProgramBuilder::new("p");
    let file = b.file("p.any");
    let site = b.site(file, 7, 3);
    let message = b.constant(text("must hold"));
    let body = function(&mut b, "f", 0, |f| {
        let no = f.reg();
        f.emit(Op::Bool { dst: no, value: false });
        f.at(site);
        f.emit(Op::Assert { cond: no, message });
    });
    b.event("e", body);
    let machine = machine(b.finish().expect("valid"));
    let state = anyorder_system::StateSystem::initial(&machine).remove(0);
    let failure = successors(&machine, &state).remove(0).failure;
    let failure = failure.map(|failure| failure.to_string());
    assert_eq!(failure.as_deref(), Some("assertion: must hold at p.any:7:3"));
}
