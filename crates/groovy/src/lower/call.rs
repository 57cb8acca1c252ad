//! Calls.

use super::body::Body;
use super::expr::name_of;
use super::lowering::Wanted;
use super::native::Task;
use super::platform::{Argument, Call};
use super::prelude;
use crate::ast::{Access, Arg, Expr, ExprKind, Key, Member, TypeName};
use anyorder_program::Reg;

/// The arguments of a call.
pub(super) struct Given<'e> {
    pub(super) values: Vec<Reg>,
    exprs: Vec<Option<&'e Expr>>,
    named: Vec<(&'e str, &'e Expr)>,
}

impl Given<'_> {
    fn count(&self) -> u16 {
        u16::try_from(self.values.len()).unwrap_or(u16::MAX)
    }
}

impl Body<'_> {
    /// Compiles arguments: the named ones as a map before the others. `None` if their number is
    /// known only when the code runs.
    pub(super) fn arguments<'e>(&mut self, arguments: &'e [Arg]) -> Option<Given<'e>> {
        let mut given = Given { values: vec![], exprs: vec![], named: vec![] };
        if arguments.iter().any(|one| matches!(one, Arg::Spread(_))) {
            return None;
        }
        let entries: Vec<Arg> = arguments.iter().filter(|one| one.is_entry()).cloned().collect();
        let plain: Vec<&Expr> =
            arguments.iter().filter(|one| !one.is_entry()).map(Arg::value).collect();
        if !entries.is_empty() {
            given.values.push(self.map(&entries));
            given.exprs.push(None);
            for one in arguments {
                if let Arg::Named(Key::Name(name, _), value) = one {
                    given.named.push((name, value));
                }
            }
        }
        given.values.extend(self.operands(&plain));
        given.exprs.extend(plain.into_iter().map(Some));
        Some(given)
    }

    pub(super) fn call_expr(&mut self, callee: &Expr, arguments: &[Arg]) -> Reg {
        match &callee.kind {
            ExprKind::Name(name) if name != "this" && name != "super" => {
                if self.is_library()
                    && let Some(value) = self.primitive(name, arguments)
                {
                    return value;
                }
                let Some(given) = self.arguments(arguments) else {
                    return self.gap("a spread argument");
                };
                if let Some(value) = self.read_variable(name) {
                    return self.code.call_closure(value, &given.values);
                }
                self.call_named(name, &given)
            }
            ExprKind::Text(name) => match self.arguments(arguments) {
                Some(given) => self.call_named(name, &given),
                None => self.gap("a spread argument"),
            },
            ExprKind::Parts(_) => {
                let name = self.expr(callee);
                let Some(given) = self.arguments(arguments) else {
                    return self.gap("a spread argument");
                };
                let unit = self.unit;
                let func = self.code.lowering().named_method(unit, given.count());
                let all: Vec<Reg> = std::iter::once(name).chain(given.values).collect();
                self.code.call(func, &all)
            }
            ExprKind::Member(member) if member.access != Access::Pointer && !member.is_field => {
                self.call_member(member, arguments)
            }
            // `(f)()` calls the method `f`.
            _ if name_of(callee).is_some() => {
                let name = name_of(callee).unwrap_or("");
                let object = self.code.text(name);
                self.call_on(object, Ok("call"), arguments)
            }
            _ => {
                let value = self.expr(callee);
                let Some(given) = self.arguments(arguments) else {
                    return self.gap("a spread argument");
                };
                self.code.call_closure(value, &given.values)
            }
        }
    }

    fn call_member(&mut self, member: &Member, arguments: &[Arg]) -> Reg {
        if name_of(&member.object) == Some("this") {
            return match self.member_name(&member.name) {
                Ok(name) => match self.arguments(arguments) {
                    Some(given) => self.call_named(name, &given),
                    None => self.gap("a spread argument"),
                },
                Err(name) => {
                    let Some(given) = self.arguments(arguments) else {
                        return self.gap("a spread argument");
                    };
                    let unit = self.unit;
                    let func = self.code.lowering().named_method(unit, given.count());
                    let all: Vec<Reg> = std::iter::once(name).chain(given.values).collect();
                    self.code.call(func, &all)
                }
            };
        }
        let later: Vec<&Expr> = arguments.iter().map(Arg::value).collect();
        let object = self.operand(&member.object, &later);
        match member.access {
            Access::Safe => {
                let dst = self.code.temp();
                let end = self.code.label();
                self.code.emit(anyorder_program::Op::Null { dst });
                let is_null = self.code.is(object, self.code.kinds().types.null);
                self.code.jump_if(is_null, end);
                let name = self.member_name(&member.name);
                let value = self.call_on(object, name, arguments);
                self.code.set(dst, value);
                self.code.bind(end);
                dst
            }
            Access::Spread => {
                let name = self.member_name(&member.name);
                let Some(given) = self.arguments(arguments) else {
                    return self.gap("a spread argument");
                };
                self.spread(object, |own, item| own.invoke(item, name, &given.values))
            }
            _ => {
                let name = self.member_name(&member.name);
                self.call_on(object, name, arguments)
            }
        }
    }

    fn call_on(&mut self, object: Reg, name: Result<&str, Reg>, arguments: &[Arg]) -> Reg {
        let closure =
            matches!(arguments, [Arg::Plain(e)] if matches!(e.kind, ExprKind::Closure(_)));
        if name == Ok("with") && closure {
            return self.gap("`with`");
        }
        match self.arguments(arguments) {
            Some(given) => self.invoke(object, name, &given.values),
            None => self.gap("a spread argument"),
        }
    }

    /// Calls a method of a value.
    fn invoke(&mut self, object: Reg, name: Result<&str, Reg>, arguments: &[Reg]) -> Reg {
        let count = u16::try_from(arguments.len()).unwrap_or(u16::MAX);
        let arguments = arguments.iter().copied();
        match name {
            Ok(name) => {
                let func = self.code.lowering().want(Wanted::Invoke(name.to_owned(), count));
                let all: Vec<Reg> = std::iter::once(object).chain(arguments).collect();
                self.code.call(func, &all)
            }
            Err(name) => {
                let func = self.code.lowering().want(Wanted::InvokeAny(count));
                let all: Vec<Reg> = [object, name].into_iter().chain(arguments).collect();
                self.code.call(func, &all)
            }
        }
    }

    /// Calls a name: a method of the script, or of the platform.
    pub(super) fn call_named(&mut self, name: &str, given: &Given<'_>) -> Reg {
        let unit = self.unit;
        if self.is_library() {
            let func = self.code.lowering().want(Wanted::Library(name.to_owned(), given.count()));
            return self.code.call(func, &given.values);
        }
        if let Some(func) = self.code.lowering().method(unit, name, given.count()) {
            return self.code.call(func, &given.values);
        }
        let no_named: &[(&str, &Expr)] = &[];
        let arguments: Vec<Argument<'_>> = given
            .values
            .iter()
            .zip(&given.exprs)
            .map(|(value, expr)| Argument {
                value: *value,
                expr: *expr,
                named: if expr.is_none() { &given.named } else { no_named },
            })
            .collect();
        let call = Call { unit, name, arguments: &arguments };
        if let Some(value) = self.platform.call(&mut self.code, &call) {
            return value;
        }
        if let Some(value) = self.platform.property(&mut self.code, unit, name) {
            return self.code.call_closure(value, &given.values);
        }
        if !self.platform.knows_all() {
            return self.gap(&format!("the call of `{name}`"));
        }
        self.code.throw_missing_method(name);
        self.code.null()
    }

    /// `new T(arguments)`
    pub(super) fn create(&mut self, name: &str, arguments: &[Arg]) -> Reg {
        let short = name.rsplit('.').next().unwrap_or(name);
        let Some(given) = self.arguments(arguments) else { return self.gap("a spread argument") };
        let is_exception = short.ends_with("Exception") || short.ends_with("Error");
        match (short, &given.values[..]) {
            ("ArrayList" | "LinkedList", []) => self.code.list(&[]),
            ("LinkedHashMap" | "HashMap", []) => self.code.library("newMap", &[]),
            ("ArrayList", [one]) => {
                let name = self.code.text("ArrayList");
                self.code.library("asList", &[*one, name])
            }
            ("String", [one]) => self.code.show(*one),
            ("Float" | "Double" | "Integer" | "Long" | "BigDecimal" | "BigInteger", [one]) => {
                let span = self.code.span();
                let (arguments, bound) = (None, None);
                let name = short.to_owned();
                let typed = TypeName { span, name, arguments, bound, dimensions: 0 };
                self.cast(*one, &typed, true)
            }
            (class, [] | [_]) if is_exception => {
                let class = self.code.text(class);
                let message = match given.values.first() {
                    Some(one) => self.code.library("messageOf", &[*one]),
                    None => self.code.null(),
                };
                let args = self.code.row(&[class, message]);
                let ty = self.code.kinds().exception;
                self.code.value(|dst| anyorder_program::Op::Record { dst, ty, args })
            }
            _ => {
                let named = format!("new {short}");
                let arguments: Vec<Argument<'_>> = given
                    .values
                    .iter()
                    .zip(&given.exprs)
                    .map(|(value, expr)| Argument { value: *value, expr: *expr, named: &[] })
                    .collect();
                let call = Call { unit: self.unit, name: &named, arguments: &arguments };
                match self.platform.call(&mut self.code, &call) {
                    Some(value) => value,
                    None => self.gap(&format!("`new {short}`")),
                }
            }
        }
    }

    /// A primitive of the run-time library.
    fn primitive(&mut self, name: &str, arguments: &[Arg]) -> Option<Reg> {
        let name = name.strip_prefix('_')?;
        if name == "native" {
            let Some(Arg::Plain(Expr { kind: ExprKind::Text(task), .. })) = arguments.first()
            else {
                return None;
            };
            let task = prelude::task(task)?;
            let given = self.arguments(&arguments[1..])?;
            return Some(self.native(task, &given.values));
        }
        // The first argument of primitives that change it is a variable.
        let given = self.arguments(arguments)?;
        Some(prelude::primitive(&mut self.code, name, &given.values)).flatten()
    }
}

/// Native functions for methods of values that are no lists, maps or closures.
pub(super) fn method_task(name: &str, arguments: u16) -> Task {
    Task::Method(name.to_owned(), arguments)
}
