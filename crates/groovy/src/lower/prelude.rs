//! The run-time library: functions written in Groovy, over primitives of the machine.

use super::Code;
use super::lowering::Lowering;
use super::native::Task;
use super::platform::Platform;
use super::unit::{Unit, UnitId};
use super::{Wanted, methods};
use anyorder_program::{Builtin, FuncId, Literal, Op, Reg};
use std::sync::{Arc, LazyLock};

/// The unit of the library.
pub(super) const UNIT: UnitId = UnitId(u16::MAX);

static LIBRARY: LazyLock<Arc<Unit>> = LazyLock::new(|| {
    let text = [
        include_str!("library.groovy"),
        include_str!("library_operators.groovy"),
        include_str!("library_list.groovy"),
        include_str!("library_map.groovy"),
    ]
    .concat();
    let parsed = crate::parse(&text);
    assert!(parsed.diagnostics.is_empty(), "the library is well-formed: {:?}", parsed.diagnostics);
    Arc::new(Unit::new("library", &text, parsed.script))
});

pub(super) fn unit() -> Arc<Unit> {
    LIBRARY.clone()
}

/// Returns whether the library has a function.
pub(super) fn has(name: &str, parameters: u16) -> bool {
    LIBRARY.methods(name).iter().any(|one| one.parameters.len() == usize::from(parameters))
}

/// Compiles a function of the library.
pub(super) fn function(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    name: &str,
    parameters: u16,
) {
    let found = LIBRARY.methods(name);
    let index = found.iter().position(|one| one.parameters.len() == usize::from(parameters));
    assert!(index.is_some(), "the library has no `{name}` of {parameters} parameters");
    methods::one(lowering, platform, id, (UNIT, name, index.unwrap_or(0)), parameters);
}

/// Returns the native function of a name in the library.
pub(super) fn task(name: &str) -> Option<Task> {
    Some(match name {
        "truth" => Task::Truth,
        "show" => Task::Show,
        "equal" => Task::Equal,
        "sameKey" => Task::SameKey,
        "compare" => Task::Compare,
        "index" => Task::Index,
        "characters" => Task::Characters,
        "asInt" => Task::AsInt,
        "instance" => Task::Instance,
        "find" | "findAll" => Task::Method(name.to_owned(), 1),
        "+" => Task::Binary("+"),
        "-" => Task::Binary("-"),
        "*" => Task::Binary("*"),
        "/" => Task::Binary("/"),
        "%" => Task::Binary("%"),
        "**" => Task::Binary("**"),
        "&" => Task::Binary("&"),
        "|" => Task::Binary("|"),
        "^" => Task::Binary("^"),
        "=~" => Task::Binary("=~"),
        "==~" => Task::Binary("==~"),
        "<<" => Task::Binary("<<"),
        ">>" => Task::Binary(">>"),
        ">>>" => Task::Binary(">>>"),
        _ => return None,
    })
}

/// Emits a primitive; `None` if there is none of this name and number of arguments. Primitives that
/// change a value change the register of their first argument, which is a variable.
pub(super) fn primitive(code: &mut Code<'_>, name: &str, arguments: &[Reg]) -> Option<Reg> {
    let kinds = code.kinds();
    let types = kinds.types;
    let is = |code: &mut Code<'_>, ty| match arguments {
        [src] => Some(code.is(*src, ty)),
        _ => None,
    };
    match name {
        "isNull" => return is(code, types.null),
        "isBool" => return is(code, types.boolean),
        "isInt" => return is(code, types.int),
        "isStr" => return is(code, types.text),
        "isNum" => return is(code, types.number),
        "isList" => return is(code, types.list),
        "isMap" => return is(code, types.map),
        "isRange" => return is(code, types.range),
        "isEntry" => return is(code, types.entry),
        "isClosure" => return is(code, types.closure),
        "isException" => return is(code, types.exception),
        "isClass" => return is(code, types.class),
        "isMatcher" => return is(code, types.matcher),
        "isPlainList" => return is(code, types.plain_list),
        "isFrozen" => return is(code, types.frozen_map),
        _ => {}
    }
    let field = |code: &mut Code<'_>, class, field| {
        let object = *arguments.first()?;
        Some(code.value(|dst| Op::GetField { dst, object, class, field }))
    };
    let part = |code: &mut Code<'_>, ty, field| {
        let src = *arguments.first()?;
        Some(code.value(|dst| Op::RecordGet { dst, src, ty, field }))
    };
    match name {
        "items" => return field(code, kinds.list, 0),
        "keys" => return field(code, kinds.map, 0),
        "table" => return field(code, kinds.map, 1),
        "from" => return part(code, kinds.range, 0),
        "to" => return part(code, kinds.range, 1),
        "key" => return part(code, kinds.entry, 0),
        "val" => return part(code, kinds.entry, 1),
        "most" => return part(code, kinds.closure, 1),
        "name" => return part(code, kinds.class, 0),
        "fkeys" => return part(code, kinds.frozen_map, 0),
        "ftable" => return part(code, kinds.frozen_map, 1),
        _ => {}
    }
    let record = |code: &mut Code<'_>, ty| {
        let args = code.row(arguments);
        Some(code.value(|dst| Op::Record { dst, ty, args }))
    };
    let made = |code: &mut Code<'_>, class| {
        let args = code.row(arguments);
        Some(code.value(|dst| Op::New { dst, class, args }))
    };
    match name {
        "list" => return made(code, kinds.list),
        "map" => return made(code, kinds.map),
        "range" => return record(code, kinds.range),
        "entry" => return record(code, kinds.entry),
        "frozen" => return record(code, kinds.frozen_map),
        "empty" => return Some(code.value(|dst| Op::List { dst, args: Reg(0), count: 0 })),
        "emptyTable" => return Some(code.value(|dst| Op::Map { dst, args: Reg(0), count: 0 })),
        _ => {}
    }
    let builtin = match name {
        "len" => Some(Builtin::Len),
        "push" => Some(Builtin::Push),
        "insert" => Some(Builtin::Insert),
        "removeAt" | "del" => Some(Builtin::Remove),
        "indexOf" => Some(Builtin::IndexOf),
        "slice" => Some(Builtin::Slice),
        "reverse" => Some(Builtin::Reverse),
        "has" => Some(Builtin::Has),
        "get" => Some(Builtin::Get),
        "put" => Some(Builtin::Set),
        _ => None,
    };
    if let Some(method) = builtin {
        let (recv, rest) = arguments.split_first()?;
        let args = code.row(rest);
        return Some(code.value(|dst| Op::Method { dst, method, recv: *recv, args }));
    }
    match (name, arguments) {
        ("one", [one]) => {
            let args = code.row(&[*one]);
            Some(code.value(|dst| Op::List { dst, args, count: 1 }))
        }
        ("setItems", [object, src]) => {
            code.emit(Op::SetField { object: *object, class: kinds.list, field: 0, src: *src });
            Some(*src)
        }
        ("setMap", [object, keys, table]) => {
            code.emit(Op::SetField { object: *object, class: kinds.map, field: 0, src: *keys });
            code.emit(Op::SetField { object: *object, class: kinds.map, field: 1, src: *table });
            Some(*keys)
        }
        ("at", [src, index]) => Some(code.value(|dst| Op::Index { dst, src: *src, index: *index })),
        ("setAt", [container, index, src]) => {
            code.emit(Op::SetIndex { container: *container, index: *index, src: *src });
            Some(*src)
        }
        ("pushAll", [list, more]) => {
            code.emit(Op::Add { dst: *list, a: *list, b: *more });
            Some(*list)
        }
        ("add", [a, b]) => Some(code.value(|dst| Op::Add { dst, a: *a, b: *b })),
        ("sub", [a, b]) => Some(code.value(|dst| Op::Sub { dst, a: *a, b: *b })),
        ("div", [a, b]) => Some(code.value(|dst| Op::Div { dst, a: *a, b: *b })),
        ("lt", [a, b]) => Some(code.value(|dst| Op::Lt { dst, a: *a, b: *b })),
        ("le", [a, b]) => Some(code.value(|dst| Op::Le { dst, a: *a, b: *b })),
        ("same", [a, b]) => Some(code.value(|dst| Op::Eq { dst, a: *a, b: *b })),
        ("not", [a]) => Some(code.value(|dst| Op::Not { dst, a: *a })),
        ("upto", [a, b]) => Some(code.value(|dst| Op::Range { dst, a: *a, b: *b })),
        ("gap", [text]) => {
            code.gap_of(*text);
            Some(code.null())
        }
        ("member", [object, name]) => {
            let func = code.lowering().want(Wanted::GetAny);
            Some(code.call(func, &[*object, *name]))
        }
        ("setMember", [object, value, name]) => {
            let func = code.lowering().want(Wanted::SetAny);
            Some(code.call(func, &[*object, *value, *name]))
        }
        _ => None,
    }
}

/// A literal for the library.
pub(super) fn int(code: &mut Code<'_>, value: i64) -> Reg {
    code.constant(Literal::Int(value))
}
