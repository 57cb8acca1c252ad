//! Calls of methods and closures.

use super::interp::{DEPTH_MAX, Evaluator, Host, Place, Res, Stop, throw, unsupported};
use super::scope::{ClosureValue, Code, Scope};
use super::value::{Value, show};
use crate::ast::{Access, Arg, Expr, ExprKind, Member, Method, Parameter};
use std::rc::Rc;

/// Methods that Groovy adds to values and that this evaluator does not know for all of them.
pub(super) const OTHER_METHODS: &[&str] = &[
    "addAll",
    "asType",
    "collate",
    "collectEntries",
    "collectMany",
    "collectNested",
    "combinations",
    "compareTo",
    "count",
    "countBy",
    "disjoint",
    "dropWhile",
    "eachWithIndex",
    "find",
    "findAll",
    "findIndexOf",
    "findIndexValues",
    "findLastIndexOf",
    "findResult",
    "findResults",
    "flatten",
    "format",
    "getAt",
    "getProperties",
    "getProperty",
    "grep",
    "groupBy",
    "hasProperty",
    "inject",
    "intersect",
    "invokeMethod",
    "isCase",
    "iterator",
    "join",
    "max",
    "metaClass",
    "min",
    "next",
    "padLeft",
    "parallelStream",
    "permutations",
    "plus",
    "previous",
    "print",
    "println",
    "putAll",
    "putAt",
    "removeAll",
    "respondsTo",
    "retainAll",
    "reverseEach",
    "sleep",
    "sort",
    "split",
    "stream",
    "subList",
    "sum",
    "takeWhile",
    "tap",
    "toArray",
    "toSet",
    "toSorted",
    "toSpreadMap",
    "toUnique",
    "transpose",
    "unique",
    "use",
    "withDefault",
    "withIndex",
    "withTraits",
    "collect",
    "any",
    "every",
    "each",
    "toList",
    "reverse",
];

fn missing_method<T>(object: &str, name: &str) -> Res<T> {
    if object != "Script" && OTHER_METHODS.contains(&name) {
        return unsupported(format!("the method `{name}` of {object}"));
    }
    throw("MissingMethodException", format!("No signature of method: {object}.{name}()"))
}

impl<H: Host> Evaluator<'_, H> {
    pub(super) fn call_expr(&mut self, callee: &Expr, arguments: &[Arg], place: &Place) -> Res {
        match &callee.kind {
            ExprKind::Name(name) if name != "this" && name != "super" => {
                let arguments = self.arguments(arguments, place)?;
                if let Some(value) = place.scope.get(name) {
                    return self.call_value(&value, arguments);
                }
                self.host.at(callee.span);
                self.call_named(name, arguments, place)
            }
            ExprKind::Text(name) => {
                let arguments = self.arguments(arguments, place)?;
                self.call_named(name, arguments, place)
            }
            ExprKind::Parts(_) => {
                let name = show(&self.expr(callee, place)?);
                let arguments = self.arguments(arguments, place)?;
                self.host.at(callee.span);
                self.call_named(&name, arguments, place)
            }
            ExprKind::Member(member) if member.access != Access::Pointer && !member.is_field => {
                self.call_member(member, arguments, place)
            }
            _ => {
                let value = match super::stmt::name_of(callee) {
                    Some(name) => Value::text(name),
                    None => self.expr(callee, place)?,
                };
                let arguments = self.arguments(arguments, place)?;
                match value {
                    Value::Closure(_) => self.call_value(&value, arguments),
                    value => self.call_method(&value, "call", arguments),
                }
            }
        }
    }

    fn call_member(&mut self, member: &Member, arguments: &[Arg], place: &Place) -> Res {
        if super::stmt::name_of(&member.object) == Some("this") {
            let name = self.member_name(&member.name, place)?;
            let arguments = self.arguments(arguments, place)?;
            return self.call_named(&name, arguments, &Place::default());
        }
        let object = self.expr(&member.object, place)?;
        if member.access == Access::Safe && matches!(object, Value::Null) {
            return Ok(Value::Null);
        }
        let name = self.member_name(&member.name, place)?;
        let arguments = self.arguments(arguments, place)?;
        self.host.at(member.name_span);
        if member.access != Access::Spread {
            return self.call_method(&object, &name, arguments);
        }
        if matches!(object, Value::Null) {
            return Ok(Value::Null);
        }
        let mut values = vec![];
        for item in self.iterated(&object)? {
            values.push(match item {
                Value::Null => Value::Null,
                item => self.call_method(&item, &name, arguments.clone())?,
            });
        }
        Ok(Value::list(values))
    }

    /// Calls a method of what is around: delegates, the script, the host.
    pub(super) fn call_named(&mut self, name: &str, arguments: Vec<Value>, place: &Place) -> Res {
        let mut at = place.closure.clone();
        let mut late = Vec::new();
        while let Some(closure) = at {
            if let Some(delegate) = closure.delegate.borrow().clone() {
                if closure.delegate_first.get() {
                    if let Some(value) = self.method_of(&delegate, name, &arguments)? {
                        return Ok(value);
                    }
                } else {
                    late.push(delegate);
                }
            }
            at = match &closure.code {
                Code::Text(_, _, outer) => outer.clone(),
                _ => None,
            };
        }
        if let Some(result) = self.own_method(name, &arguments) {
            return result;
        }
        if let Some(result) = self.host.call(None, name, &arguments) {
            return result;
        }
        match (name, &arguments[..]) {
            ("println", []) => return self.print("\n"),
            ("println", [one]) => return self.print(&format!("{}\n", show(one))),
            ("print", [one]) => return self.print(&show(one)),
            _ => {}
        }
        if let Some(value @ Value::Closure(_)) = self.binding.get(name).cloned() {
            return self.call_value(&value, arguments);
        }
        for delegate in late.iter().rev() {
            if let Some(value) = self.method_of(delegate, name, &arguments)? {
                return Ok(value);
            }
        }
        missing_method("Script", name)
    }

    fn print(&mut self, text: &str) -> Res {
        self.host.print(text);
        Ok(Value::Null)
    }

    /// Calls the method of the script that takes these arguments, if there is one.
    fn own_method(&mut self, name: &str, arguments: &[Value]) -> Option<Res> {
        let methods = self.methods.named(name)?.clone();
        let fits = |method: &Rc<Method>| accepts(&method.parameters, arguments);
        let method = methods.iter().find(|method| fits(method))?.clone();
        Some(self.inside(|own| {
            let place = Place::default();
            own.bind(&method.parameters, arguments.to_vec(), &place)?;
            let Some(body) = &method.body else { return unsupported("a method without a body") };
            let result = match own.statements(&body.statements, &place) {
                Err(Stop::Return(value)) => Ok(value),
                result => result,
            }?;
            match &method.result {
                Some(typed) if typed.name == "void" => Ok(Value::Null),
                Some(typed) => own.cast(result, typed, false),
                None => Ok(result),
            }
        }))
    }

    /// Binds parameters in a scope. Missing arguments have the defaults of the last such
    /// parameters.
    fn bind(&mut self, parameters: &[Parameter], arguments: Vec<Value>, place: &Place) -> Res<()> {
        let defaults = parameters.iter().filter(|one| one.default.is_some()).count();
        let required = parameters.len() - defaults;
        let mut given_defaults = arguments.len().saturating_sub(required);
        let mut arguments = arguments.into_iter();
        for one in parameters {
            if one.is_variable {
                place.scope.declare(&one.name, Value::list(arguments.by_ref().collect()));
                continue;
            }
            let value = match &one.default {
                Some(default) if given_defaults == 0 => self.expr(default, place)?,
                Some(_) => {
                    given_defaults -= 1;
                    arguments.next().unwrap_or(Value::Null)
                }
                None => arguments.next().unwrap_or(Value::Null),
            };
            let value = match &one.type_name {
                Some(typed) if !matches!(value, Value::Null) => self.cast(value, typed, false)?,
                _ => value,
            };
            place.scope.declare(&one.name, value);
        }
        Ok(())
    }

    /// Runs one call deeper.
    fn inside(&mut self, run: impl FnOnce(&mut Self) -> Res) -> Res {
        self.step()?;
        if self.depth >= DEPTH_MAX || !self.host.enter() {
            return Err(Stop::Limit("calls"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        self.host.leave();
        result
    }

    /// Calls a closure.
    pub(super) fn call_value(&mut self, callee: &Value, arguments: Vec<Value>) -> Res {
        let Value::Closure(closure) = callee else {
            return self.call_method(callee, "call", arguments);
        };
        match &closure.code {
            Code::Pointer(object, name) => self.call_method(object, name, arguments),
            Code::Composed(first, second) => {
                let value = self.call_value(first, arguments)?;
                self.call_value(second, vec![value])
            }
            Code::Curried(inner, given) => {
                let all = given.iter().cloned().chain(arguments).collect();
                self.call_value(inner, all)
            }
            Code::Text(code, scope, _) => {
                let scope: Scope = scope.child();
                let place = Place { scope, closure: Some(closure.clone()) };
                let code = code.clone();
                self.inside(|own| {
                    own.bind_closure(code.parameters.as_deref(), arguments, &place)?;
                    match own.statements(&code.body.statements, &place) {
                        Err(Stop::Return(value)) => Ok(value),
                        result => result,
                    }
                })
            }
        }
    }

    fn bind_closure(
        &mut self,
        parameters: Option<&[Parameter]>,
        mut arguments: Vec<Value>,
        place: &Place,
    ) -> Res<()> {
        let Some(parameters) = parameters else {
            if arguments.len() > 1 {
                return missing_method("Closure", "call");
            }
            place.scope.declare("it", arguments.pop().unwrap_or(Value::Null));
            return Ok(());
        };
        // One list for several parameters is taken apart.
        if parameters.len() > 1
            && !accepts(parameters, &arguments)
            && arguments.len() == 1
            && let Value::List(items) = &arguments[0]
        {
            let items = items.borrow().clone();
            arguments = items;
        }
        if !accepts(parameters, &arguments) {
            return missing_method("Closure", "call");
        }
        self.bind(parameters, arguments, place)
    }

    /// Calls a method of a value.
    pub(super) fn call_method(&mut self, object: &Value, name: &str, arguments: Vec<Value>) -> Res {
        self.step()?;
        match self.method_of(object, name, &arguments)? {
            Some(value) => Ok(value),
            // A list may stand for the arguments.
            None if matches!(&arguments[..], [Value::List(_)])
                && !matches!(object, Value::Null) =>
            {
                unsupported("a list as arguments")
            }
            None => match object {
                Value::Null => throw(
                    "NullPointerException",
                    format!("Cannot invoke method {name}() on null object"),
                ),
                // A closure in a map is called like a method.
                Value::Map(entries) => {
                    let member = super::map::get(&entries.borrow(), &Value::text(name));
                    match member {
                        Value::Closure(_) => self.call_value(&member, arguments),
                        _ => missing_method(object.class(), name),
                    }
                }
                // The devices of one input take a command together.
                Value::List(items)
                    if self.host.takes_together() && only_objects(&items.borrow()) =>
                {
                    let items = items.borrow().clone();
                    let one = |item| self.call_method(item, name, arguments.clone());
                    Ok(Value::list(items.iter().map(one).collect::<Res<Vec<Value>>>()?))
                }
                _ => missing_method(object.class(), name),
            },
        }
    }

    /// Calls a method of a value if it has one.
    fn method_of(&mut self, object: &Value, name: &str, arguments: &[Value]) -> Res<Option<Value>> {
        if let Some(value) = self.common_method(object, name, arguments)? {
            return Ok(Some(value));
        }
        let has = |is: &dyn Fn(&Value) -> bool| arguments.iter().any(is);
        if self.unknown(object).is_some() && has(&|one| matches!(one, Value::Closure(_))) {
            return unsupported(format!("`{name}` of something unknown"));
        }
        if let (Value::List(_) | Value::Range(..), "contains", [one]) = (object, name, arguments) {
            let items = object.items().unwrap_or_default();
            return Ok(Some(Value::Bool(self.is_among(&items, one)?)));
        }
        let keeps = matches!(name, "add" | "push" | "put" | "leftShift" | "putAt");
        if !matches!(object, Value::Object(_)) && !keeps && has(&|one| self.unknown(one).is_some())
        {
            return unsupported(format!("`{name}` with something unknown"));
        }
        match object {
            Value::Object(id) => {
                if let [Value::Closure(_)] = arguments
                    && let Some(items) = self.host.items(*id, name)
                {
                    return self.list_method(&Value::list(items), name, arguments);
                }
                match self.single_method(object, name, arguments)? {
                    Some(value) => Ok(Some(value)),
                    None => self.host.call(Some(*id), name, arguments).transpose(),
                }
            }
            Value::Closure(closure) => self.closure_method(object, closure, name, arguments),
            Value::List(_) | Value::Range(..) => self.list_method(object, name, arguments),
            Value::Map(map) => self.map_method(object, map, name, arguments),
            Value::Text(text) => self.text_method(text, name, arguments),
            Value::Class(class) => super::number_methods::static_method(class, name, arguments),
            Value::Entry(entry) => Ok(match (name, arguments) {
                ("getKey", []) => Some(entry.0.clone()),
                ("getValue", []) => Some(entry.1.clone()),
                _ => None,
            }),
            Value::Matcher(one) => super::regex::matcher_method(one, name, arguments),
            Value::Exception(one) => Ok(match (name, arguments) {
                ("getMessage", []) => Some(one.1.as_ref().map_or(Value::Null, Value::text)),
                _ => None,
            }),
            value if value.is_number() => {
                let own = self.number_method(value, name, arguments)?;
                if own.is_some() { Ok(own) } else { self.single_method(object, name, arguments) }
            }
            _ => self.single_method(object, name, arguments),
        }
    }

    /// Methods of lists on what is no list: a value is its own only item, null has none.
    fn single_method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        let iterates = matches!(
            name,
            "each"
                | "eachWithIndex"
                | "collect"
                | "find"
                | "findAll"
                | "any"
                | "every"
                | "findIndexOf"
        );
        match (object, name, arguments) {
            (Value::Null, "plus", [Value::Text(text)]) => {
                Ok(Some(Value::text(format!("null{text}"))))
            }
            (_, "inject", [_, Value::Closure(_)]) => {
                let none = matches!(object, Value::Null);
                let items = if none { vec![] } else { vec![object.clone()] };
                self.list_method(&Value::list(items), name, arguments)
            }
            (_, _, [Value::Closure(_)]) if iterates => {
                let none = matches!(object, Value::Null);
                let items = if none { vec![] } else { vec![object.clone()] };
                let result = self.list_method(&Value::list(items), name, arguments)?;
                Ok(if name.starts_with("each") { Some(object.clone()) } else { result })
            }
            _ => Ok(None),
        }
    }

    /// Methods of all values.
    fn common_method(
        &mut self,
        object: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("toString", []) => match object {
                Value::Closure(_) | Value::Object(_) => return Ok(None),
                object => Value::text(show(object)),
            },
            ("equals", [other]) if !object.is_number() => {
                Value::Bool(self.equals(object, other)? && !matches!(object, Value::Null))
            }
            ("is", [other]) if matches!(object, Value::Null) => {
                Value::Bool(matches!(other, Value::Null))
            }
            ("with", [closure @ Value::Closure(one)]) => {
                one.set_delegate(object.clone(), true);
                self.call_value(closure, vec![object.clone()])?
            }
            ("asBoolean", []) => Value::Bool(self.truth(object)?),
            ("hashCode" | "getClass" | "dump" | "inspect" | "is", _) => {
                return unsupported(format!("the method `{name}`"));
            }
            _ => return Ok(None),
        }))
    }

    fn closure_method(
        &mut self,
        object: &Value,
        closure: &Rc<ClosureValue>,
        name: &str,
        arguments: &[Value],
    ) -> Res<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("call" | "doCall", _) => self.call_value(object, arguments.to_vec())?,
            ("curry", _) => ClosureValue::value(Code::Curried(object.clone(), arguments.to_vec())),
            ("setDelegate", [one]) => {
                closure.set_delegate(one.clone(), closure.delegate_first.get());
                Value::Null
            }
            ("getMaximumNumberOfParameters", []) => Value::Int(closure.parameters() as i32),
            _ => return Ok(None),
        }))
    }
}

/// Returns whether there is at least one object of the host, and nothing else.
fn only_objects(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|item| matches!(item, Value::Object(_)))
}

/// Returns whether parameters take so many arguments of these types.
fn accepts(parameters: &[Parameter], arguments: &[Value]) -> bool {
    let variable = parameters.last().is_some_and(|last| last.is_variable);
    let optional = parameters.iter().filter(|one| one.default.is_some()).count();
    let required = parameters.len() - optional - usize::from(variable);
    // A method with one parameter may be called without an argument: it is null.
    let alone = parameters.len() == 1 && arguments.is_empty();
    if (arguments.len() < required && !alone) || (arguments.len() > parameters.len() && !variable) {
        return false;
    }
    let typed = parameters.iter().zip(arguments).all(|(one, value)| match &one.type_name {
        Some(typed) if optional == 0 && typed.dimensions == 0 => takes(&typed.name, value),
        _ => true,
    });
    typed || variable
}

pub(super) fn takes(name: &str, value: &Value) -> bool {
    match name.rsplit('.').next().unwrap_or(name) {
        "int" => matches!(value, Value::Int(_) | Value::BigInt(_)),
        "Integer" => matches!(value, Value::Int(_) | Value::Null),
        "long" => matches!(value, Value::Int(_) | Value::Long(_) | Value::BigInt(_)),
        "Long" => matches!(value, Value::Int(_) | Value::Long(_) | Value::Null),
        "double" | "float" | "Double" | "Float" => value.is_number(),
        "boolean" => matches!(value, Value::Bool(_)),
        name => {
            matches!(value, Value::Null)
                || super::operator::is_instance(value, name)
                || name == "def"
        }
    }
}
