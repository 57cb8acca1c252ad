//! Properties and methods of values whose kind is known only when the code runs.

use super::Code;
use super::body::native;
use super::call::method_task;
use super::lowering::{Lowering, Wanted};
use super::native::Task;
use super::platform::Platform;
use super::prelude;
use crate::eval::pure;
use anyorder_program::{Builtin, FuncId, Literal, Op, Reg, TypeId};

/// Compiles the choice by the kind of a value.
pub(super) fn function(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    wanted: &Wanted,
) {
    match wanted {
        Wanted::Get(name) => get(lowering, platform, id, name),
        Wanted::Set(name) => set(lowering, platform, id, name),
        Wanted::GetAny => get_any(lowering, platform, id),
        Wanted::SetAny => set_any(lowering, platform, id),
        Wanted::Invoke(name, count) => invoke(lowering, platform, id, name, *count),
        Wanted::InvokeAny(count) => invoke_any(lowering, platform, id, *count),
        Wanted::CallValue(count) => call_value(lowering, id, *count),
        _ => {}
    }
}

impl Code<'_> {
    /// Emits code for values of one type, which must leave the function.
    fn for_type(&mut self, value: Reg, ty: TypeId, emit: impl FnOnce(&mut Self)) {
        let mark = self.mark();
        let other = self.label();
        let is = self.is(value, ty);
        self.jump_if_not(is, other);
        emit(self);
        self.bind(other);
        self.release(mark);
    }

    fn return_call(&mut self, func: FuncId, arguments: &[Reg]) {
        let result = self.call_for_outcome(func, arguments);
        self.ret(result);
    }

    fn return_library(&mut self, name: &str, arguments: &[Reg]) {
        let count = u16::try_from(arguments.len()).unwrap_or(u16::MAX);
        let func = self.lowering().want(Wanted::Library(name.to_owned(), count));
        self.return_call(func, arguments);
    }

    fn return_native(&mut self, task: Task, arguments: &[Reg]) {
        let result = native(self, task, arguments);
        self.ret(result);
    }

    /// Emits a loop over a list of the machine; `each` gets the item, and its result is collected.
    fn collected(&mut self, items: Reg, each: impl FnOnce(&mut Self, Reg) -> Reg) -> Reg {
        let (top, end) = (self.label(), self.label());
        let out = self.value(|dst| Op::List { dst, args: Reg(0), count: 0 });
        let at = prelude::int(self, 0);
        let method = Builtin::Len;
        let length = self.value(|dst| Op::Method { dst, method, recv: items, args: Reg(0) });
        self.bind(top);
        let more = self.value(|dst| Op::Lt { dst, a: at, b: length });
        self.jump_if_not(more, end);
        let item = self.value(|dst| Op::Index { dst, src: items, index: at });
        let value = each(self, item);
        let own = self.temp();
        self.set(own, value);
        let method = Builtin::Push;
        self.value(|dst| Op::Method { dst, method, recv: out, args: own });
        self.emit(Op::AddInt { dst: at, a: at, value: 1 });
        self.jump(top);
        self.bind(end);
        let class = self.kinds().list;
        self.value(|dst| Op::New { dst, class, args: out })
    }
}

fn get(lowering: &mut Lowering, platform: &mut dyn Platform, id: FuncId, name: &str) {
    let knows_all = platform.knows_all();
    let of_platform = platform.member(lowering, name);
    let own = lowering.want(Wanted::Get(name.to_owned()));
    let mut code = Code::new(lowering, &format!("get {name}"), 1, 0);
    let (value, types, kinds) = (code.param(0), code.kinds().types, code.kinds());
    code.for_type(value, types.map, |code| {
        let key = code.text(name);
        code.return_library("mapGet", &[value, key]);
    });
    code.for_type(value, types.null, |code| {
        let message = format!("Cannot get property '{name}' on null object");
        code.throw("NullPointerException", &message);
    });
    code.for_type(value, types.list, |code| {
        let class = kinds.list;
        let items = code.value(|dst| Op::GetField { dst, object: value, class, field: 0 });
        let list = code.collected(items, |code, item| code.call(own, &[item]));
        code.ret(list);
    });
    code.for_type(value, types.range, |code| {
        let items = code.library("rangeItems", &[value]);
        let list = code.collected(items, |code, item| code.call(own, &[item]));
        code.ret(list);
    });
    code.for_type(value, types.entry, |code| {
        let field = match name {
            "key" => 0,
            "value" => 1,
            _ => return code.throw_missing_property(name),
        };
        let ty = kinds.entry;
        let part = code.value(|dst| Op::RecordGet { dst, src: value, ty, field });
        code.ret(part);
    });
    for ty in [
        types.text,
        types.int,
        types.number,
        types.boolean,
        types.exception,
        types.class,
        types.matcher,
    ] {
        code.for_type(value, ty, |code| {
            code.return_native(Task::Property(name.to_owned()), &[value]);
        });
    }
    code.for_type(value, types.closure, |code| {
        code.run_time_gap(&format!("the property `{name}` of a closure"));
    });
    match of_platform {
        Some(func) => code.return_call(func, &[value]),
        None if knows_all => code.throw_missing_property(name),
        None => code.run_time_gap(&format!("the property `{name}`")),
    }
    code.define(id);
}

fn set(lowering: &mut Lowering, platform: &mut dyn Platform, id: FuncId, name: &str) {
    let knows_all = platform.knows_all();
    let of_platform = platform.set_member(lowering, name);
    let mut code = Code::new(lowering, &format!("set {name}"), 2, 0);
    let (value, new, types) = (code.param(0), code.param(1), code.kinds().types);
    code.for_type(value, types.map, |code| {
        let key = code.text(name);
        code.return_library("mapPut", &[value, key, new]);
    });
    code.for_type(value, types.null, |code| {
        let message = format!("Cannot set property '{name}' on null object");
        code.throw("NullPointerException", &message);
    });
    code.for_type(value, types.list, |code| {
        code.run_time_gap("the assignment of a property of all items");
    });
    let groovy = [
        types.text,
        types.int,
        types.number,
        types.boolean,
        types.range,
        types.entry,
        types.exception,
        types.class,
        types.matcher,
        types.closure,
    ];
    for ty in groovy {
        code.for_type(value, ty, |code| code.throw_missing_property(name));
    }
    match of_platform {
        Some(func) => code.return_call(func, &[value, new]),
        None if knows_all => code.throw_missing_property(name),
        None => code.run_time_gap(&format!("the assignment of the property `{name}`")),
    }
    code.define(id);
}

fn get_any(lowering: &mut Lowering, platform: &mut dyn Platform, id: FuncId) {
    let of_platform = platform.any_member(lowering);
    let own = lowering.want(Wanted::GetAny);
    let mut code = Code::new(lowering, "get", 2, 0);
    let (value, name, kinds) = (code.param(0), code.param(1), code.kinds());
    let types = kinds.types;
    code.for_type(value, types.map, |code| code.return_library("mapGet", &[value, name]));
    code.for_type(value, types.null, |code| {
        code.throw("NullPointerException", "Cannot get property on null object");
    });
    code.for_type(value, types.list, |code| {
        let class = kinds.list;
        let items = code.value(|dst| Op::GetField { dst, object: value, class, field: 0 });
        let list = code.collected(items, |code, item| code.call(own, &[item, name]));
        code.ret(list);
    });
    for (text, field) in [("key", 0), ("value", 1)] {
        code.for_type(value, types.entry, |code| {
            let other = code.label();
            let text = code.text(text);
            let is = code.value(|dst| Op::Eq { dst, a: name, b: text });
            code.jump_if_not(is, other);
            let ty = kinds.entry;
            let part = code.value(|dst| Op::RecordGet { dst, src: value, ty, field });
            code.ret(part);
            code.bind(other);
        });
    }
    for ty in [types.text, types.int, types.number, types.boolean, types.entry] {
        code.for_type(value, ty, |code| code.throw_missing_property("a computed name"));
    }
    for ty in [types.exception, types.class, types.matcher, types.range, types.closure] {
        code.for_type(value, ty, |code| code.run_time_gap("a property with a computed name"));
    }
    match of_platform {
        Some(func) => code.return_call(func, &[value, name]),
        None => {
            code.gap(platform, "a property with a computed name");
        }
    }
    code.define(id);
}

fn set_any(lowering: &mut Lowering, platform: &mut dyn Platform, id: FuncId) {
    let of_platform = platform.set_any_member(lowering);
    let mut code = Code::new(lowering, "set", 3, 0);
    let (value, new, name) = (code.param(0), code.param(1), code.param(2));
    let types = code.kinds().types;
    code.for_type(value, types.map, |code| code.return_library("mapPut", &[value, name, new]));
    code.for_type(value, types.null, |code| {
        code.throw("NullPointerException", "Cannot set property on null object");
    });
    match of_platform {
        Some(func) => code.return_call(func, &[value, new, name]),
        None => {
            code.gap(platform, "the assignment of a property with a computed name");
        }
    }
    code.define(id);
}

/// Emits what happens if a value of Groovy has no such method.
fn missing(code: &mut Code<'_>, kind: &str, name: &str, arguments: &[Reg]) {
    let types = code.kinds().types;
    if let [one] = arguments {
        for ty in [types.list, types.range] {
            code.for_type(*one, ty, |code| code.run_time_gap("a list as arguments"));
        }
    }
    match pure::is_known_method(name) {
        true => code.run_time_gap(&format!("the method `{name}` of {kind}")),
        false => code.throw_missing_method(name),
    }
}

/// Methods that change a list. A range has none of them.
const CHANGES: &[&str] = &[
    "add",
    "addAll",
    "clear",
    "leftShift",
    "pop",
    "push",
    "putAt",
    "remove",
    "removeAll",
    "set",
    "sort",
    "unique",
];

fn invoke(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    name: &str,
    count: u16,
) {
    let knows_all = platform.knows_all();
    let of_platform = platform.method(lowering, name, count);
    let mut code = Code::new(lowering, name, count + 1, 0);
    let all: Vec<Reg> = (0..=count).map(|at| code.param(at)).collect();
    let (value, arguments, types) = (all[0], &all[1..], code.kinds().types);
    let find = |kinds: &[&str]| {
        let mut names = kinds.iter().map(|kind| format!("{kind}_{name}"));
        names.find(|one| prelude::has(one, count + 1))
    };
    code.for_type(value, types.list, |code| match (find(&["List", "Any"]), of_platform) {
        (Some(own), _) => code.return_library(&own, &all),
        (None, Some(func)) => code.return_call(func, &all),
        (None, None) if knows_all => missing(code, "lists", name, arguments),
        (None, None) => code.run_time_gap(&format!("the method `{name}` of lists")),
    });
    code.for_type(value, types.map, |code| {
        if let Some(own) = find(&["Map", "Any"]) {
            return code.return_library(&own, &all);
        }
        let key = code.text(name);
        let member = code.library("mapGet", &[value, key]);
        code.for_type(member, types.closure, |code| {
            let func = code.lowering().call_value(count);
            let all: Vec<Reg> = std::iter::once(member).chain(arguments.iter().copied()).collect();
            code.return_call(func, &all);
        });
        missing(code, "maps", name, arguments);
    });
    code.for_type(value, types.range, |code| {
        if CHANGES.contains(&name) {
            if let ("sort" | "unique", [one]) = (name, arguments) {
                // `sort(false)` makes a new list.
                let no = code.constant(Literal::Bool(false));
                let makes = code.value(|dst| Op::Eq { dst, a: *one, b: no });
                let changes = code.label();
                code.jump_if_not(makes, changes);
                let list = code.library("castArray", &[value]);
                code.return_library(&format!("List_{name}"), &[list, *one]);
                code.bind(changes);
            }
            return code.throw("UnsupportedOperationException", "a range does not change");
        }
        match (prelude::has(&format!("Any_{name}"), count + 1), find(&["List"])) {
            (true, _) => code.return_library(&format!("Any_{name}"), &all),
            (false, Some(own)) => {
                let items = code.library("rangeItems", &[value]);
                let class = code.kinds().list;
                let list = code.value(|dst| Op::New { dst, class, args: items });
                let all: Vec<Reg> =
                    std::iter::once(list).chain(arguments.iter().copied()).collect();
                code.return_library(&own, &all);
            }
            (false, None) => missing(code, "ranges", name, arguments),
        }
    });
    code.for_type(value, types.closure, |code| match name {
        "call" | "doCall" => {
            let func = code.lowering().call_value(count);
            code.return_call(func, &all);
        }
        _ => code.run_time_gap(&format!("the method `{name}` of closures")),
    });
    code.for_type(value, types.entry, |code| match find(&["Entry", "Any"]) {
        Some(own) => code.return_library(&own, &all),
        None => missing(code, "entries", name, arguments),
    });
    let simple: &[(TypeId, &[&str])] = &[
        (types.text, &["Text", "Any"]),
        (types.int, &["Number", "Any"]),
        (types.number, &["Number", "Any"]),
        (types.null, &["Any"]),
        (types.boolean, &["Any"]),
        (types.exception, &["Any"]),
        (types.class, &[]),
        (types.matcher, &[]),
    ];
    for (ty, kinds) in simple {
        code.for_type(value, *ty, |code| match find(kinds) {
            Some(own) => code.return_library(&own, &all),
            None => plain_method(code, name, &all),
        });
    }
    match (of_platform, find(&["Any"])) {
        (Some(func), _) => code.return_call(func, &all),
        (None, Some(own)) if name != "toString" => code.return_library(&own, &all),
        (None, _) if knows_all => missing(&mut code, "values of the platform", name, arguments),
        (None, _) => code.run_time_gap(&format!("the method `{name}`")),
    }
    code.define(id);
}

/// A method of a number, string, boolean, null, exception or class, as the evaluator computes it.
fn plain_method(code: &mut Code<'_>, name: &str, all: &[Reg]) {
    for one in &all[1..] {
        let plain = code.library("plain", &[*one]);
        let ok = code.label();
        code.jump_if(plain, ok);
        code.run_time_gap(&format!("the method `{name}` with such arguments"));
        code.bind(ok);
    }
    let count = u16::try_from(all.len() - 1).unwrap_or(u16::MAX);
    let result = native(code, method_task(name, count), all);
    let types = code.kinds().types;
    for ty in [types.plain_list, types.frozen_map] {
        code.for_type(result, ty, |code| code.return_library("thaw", &[result]));
    }
    code.ret(result);
}

fn invoke_any(lowering: &mut Lowering, platform: &mut dyn Platform, id: FuncId, count: u16) {
    let of_platform = platform.any_method(lowering, count);
    let mut code = Code::new(lowering, "invoke", count + 2, 0);
    let all: Vec<Reg> = (0..count + 2).map(|at| code.param(at)).collect();
    let (value, types) = (all[0], code.kinds().types);
    let groovy = [
        types.list,
        types.map,
        types.null,
        types.text,
        types.int,
        types.number,
        types.boolean,
        types.range,
        types.entry,
        types.closure,
        types.exception,
        types.class,
        types.matcher,
    ];
    for ty in groovy {
        if ty == types.list && of_platform.is_some() {
            continue;
        }
        code.for_type(value, ty, |code| code.run_time_gap("a method with a computed name"));
    }
    match of_platform {
        Some(func) => code.return_call(func, &all),
        None => {
            code.gap(platform, "a method with a computed name");
        }
    }
    code.define(id);
}

/// Most parameters of a closure that takes a list apart.
const PARTS_MAX: u16 = 5;

fn call_value(lowering: &mut Lowering, id: FuncId, count: u16) {
    let invoke = lowering.want(Wanted::Invoke("call".to_owned(), count));
    let mut code = Code::new(lowering, "call", count + 1, 0);
    let all: Vec<Reg> = (0..=count).map(|at| code.param(at)).collect();
    let (value, kinds) = (all[0], code.kinds());
    let other = code.label();
    let is = code.is(value, kinds.types.closure);
    code.jump_if_not(is, other);
    let ty = kinds.closure;
    let callee = code.value(|dst| Op::RecordGet { dst, src: value, ty, field: 0 });
    let most = code.value(|dst| Op::RecordGet { dst, src: value, ty, field: 1 });
    let dst = code.temp();
    let with = |code: &mut Code<'_>, parameters: u16, emit: &dyn Fn(&mut Code<'_>)| {
        let (mark, other) = (code.mark(), code.label());
        let value = i32::from(parameters);
        let is = code.value(|dst| Op::EqInt { dst, a: most, value });
        code.jump_if_not(is, other);
        emit(code);
        code.bind(other);
        code.release(mark);
    };
    with(&mut code, count, &|code| {
        let args = code.row(&all[1..]);
        code.emit(Op::CallValue { dst, callee, args, count });
        code.ret(dst);
    });
    if count == 0 {
        with(&mut code, 1, &|code| {
            let args = code.null();
            code.emit(Op::CallValue { dst, callee, args, count: 1 });
            code.ret(dst);
        });
    }
    if count == 1 {
        // One list for several parameters is taken apart.
        code.for_type(all[1], kinds.types.list, |code| {
            let class = kinds.list;
            let items = code.value(|dst| Op::GetField { dst, object: all[1], class, field: 0 });
            let method = Builtin::Len;
            let length = code.value(|dst| Op::Method { dst, method, recv: items, args: Reg(0) });
            let same = code.value(|dst| Op::Eq { dst, a: length, b: most });
            let different = code.label();
            code.jump_if_not(same, different);
            for parameters in 2..=PARTS_MAX {
                with(code, parameters, &|code| {
                    let args = code.temps(parameters);
                    for at in 0..parameters {
                        let index = code.constant(Literal::Int(i64::from(at)));
                        code.emit(Op::Index { dst: args.plus(at), src: items, index });
                    }
                    code.emit(Op::CallValue { dst, callee, args, count: parameters });
                    code.ret(dst);
                });
            }
            code.bind(different);
        });
    }
    code.throw_missing_method("call");
    code.bind(other);
    code.return_call(invoke, &all);
    code.define(id);
}
