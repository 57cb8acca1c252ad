//! Expressions.

use super::interp::{Evaluator, Host, Place, Res, throw, unsupported};
use super::number::Decimal;
use super::operator;
use super::scope::{ClosureValue, Code};
use super::value::{Value, show};
use crate::ast::{
    Access, Arg, BinaryOp, Expr, ExprKind, IncDec, Key, Member, MemberName, Method, Number, UnaryOp,
};
use std::rc::Rc;

impl<H: Host> Evaluator<'_, H> {
    pub(super) fn expr(&mut self, expr: &Expr, place: &Place) -> Res {
        self.step()?;
        match &expr.kind {
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Number(number) => literal(number),
            ExprKind::Text(text) => Ok(Value::text(text)),
            ExprKind::Parts(parts) => {
                let mut out = String::new();
                let mut unknown = None;
                for (index, text) in parts.texts.iter().enumerate() {
                    out += text;
                    if let Some(value) = parts.values.get(index) {
                        let mut value = self.expr(value, place)?;
                        if let Value::Closure(closure) = &value {
                            let given =
                                if closure.parameters() == 0 { vec![] } else { vec![Value::Null] };
                            value = self.call_value(&value, given)?;
                        }
                        unknown = unknown.or_else(|| self.unknown(&value));
                        self.host.shown(&value);
                        out += &show(&value);
                    }
                }
                match unknown {
                    Some(id) => self.of_unknown(id, "text", &[Value::text(out)]),
                    None => Ok(Value::text(out)),
                }
            }
            ExprKind::Name(name) => self.read(name, place),
            ExprKind::Paren(inner) => self.expr(inner, place),
            ExprKind::List(entries) if entries.iter().any(Arg::is_entry) => {
                self.map(entries, place)
            }
            ExprKind::List(entries) => Ok(Value::list(self.plain(entries, place)?)),
            ExprKind::EmptyMap => Ok(Value::map(vec![])),
            ExprKind::Closure(code) => {
                let key = std::ptr::from_ref(code) as usize;
                let code =
                    self.closures.entry(key).or_insert_with(|| Rc::new(code.clone())).clone();
                Ok(ClosureValue::value(Code::Text(
                    code,
                    place.scope.clone(),
                    place.closure.clone(),
                )))
            }
            ExprKind::Member(member) => self.member(member, place),
            ExprKind::Index(object, arguments) => {
                let object = self.expr(object, place)?;
                let key = self.index_key(arguments, place)?;
                self.index(&object, &key)
            }
            ExprKind::Call(callee, arguments) => self.call_expr(callee, arguments, place),
            ExprKind::New(created, arguments, None) => {
                let arguments = self.arguments(arguments, place)?;
                self.create(&created.name, &arguments)
            }
            ExprKind::New(..) | ExprKind::NewArray(..) => unsupported("this `new`"),
            ExprKind::Unary(op, e) => {
                let value = self.expr(e, place)?;
                match op {
                    UnaryOp::Not => Ok(Value::Bool(!self.truth(&value)?)),
                    op => operator::unary(*op, &value),
                }
            }
            ExprKind::Prefix(op, e) => self.change(*op, e, place).map(|(_, new)| new),
            ExprKind::Postfix(op, e) => self.change(*op, e, place).map(|(old, _)| old),
            ExprKind::Binary(BinaryOp::And, a, b) => {
                let value = self.condition(a, place)? && self.condition(b, place)?;
                Ok(Value::Bool(value))
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                let value = self.condition(a, place)? || self.condition(b, place)?;
                Ok(Value::Bool(value))
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.expr(a, place)?;
                let b = self.expr(b, place)?;
                self.binary(*op, &a, &b)
            }
            ExprKind::Assign(op, target, value) => self.assign_expr(*op, target, value, place),
            ExprKind::AssignMany(targets, value) => {
                let value = self.expr(value, place)?;
                for (index, target) in targets.iter().enumerate() {
                    let item = self.index(&value, &Value::Int(index as i32))?;
                    self.assign(target, item, place)?;
                }
                Ok(value)
            }
            ExprKind::Conditional(a, b, c) => {
                if self.condition(a, place)? {
                    self.expr(b, place)
                } else {
                    self.expr(c, place)
                }
            }
            ExprKind::Elvis(a, b) => {
                let value = self.expr(a, place)?;
                if self.truth(&value)? { Ok(value) } else { self.expr(b, place) }
            }
            ExprKind::Cast(typed, e) => {
                let value = self.expr(e, place)?;
                self.cast(value, typed, false)
            }
            ExprKind::As(e, typed) => {
                let value = self.expr(e, place)?;
                self.cast(value, typed, true)
            }
            ExprKind::InstanceOf(e, typed) => {
                let value = self.expr(e, place)?;
                Ok(Value::Bool(operator::is_instance(&value, &typed.name)))
            }
            ExprKind::Declare(declaration) => self.declare(declaration, place),
            ExprKind::Annotation(_) => unsupported("an annotation as a value"),
            ExprKind::Error => unsupported("an expression with a mistake"),
        }
    }

    /// Evaluates a condition.
    pub(super) fn condition(&mut self, expr: &Expr, place: &Place) -> Res<bool> {
        let value = self.expr(expr, place)?;
        self.truth(&value)
    }

    fn map(&mut self, entries: &[Arg], place: &Place) -> Res {
        let mut map = Vec::new();
        for entry in entries {
            match entry {
                Arg::Named(key, value) => {
                    let key = match key {
                        Key::Name(name, _) => Value::text(name),
                        Key::Expr(e) => self.expr(e, place)?,
                    };
                    let value = self.expr(value, place)?;
                    super::map::put(&mut map, key, value);
                }
                Arg::SpreadMap(e) => match self.expr(e, place)? {
                    Value::Map(more) => {
                        let more = more.borrow().clone();
                        more.into_iter().for_each(|(k, v)| super::map::put(&mut map, k, v));
                    }
                    Value::Null => return throw("NullPointerException", "null"),
                    _ => return unsupported("`*:` of something else than a map"),
                },
                Arg::Plain(_) | Arg::Spread(_) => return unsupported("a list with keys"),
            }
        }
        Ok(Value::map(map))
    }

    /// Returns the arguments without a key.
    fn plain(&mut self, arguments: &[Arg], place: &Place) -> Res<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                Arg::Plain(e) => values.push(self.expr(e, place)?),
                Arg::Spread(e) => {
                    let value = self.expr(e, place)?;
                    match value.items() {
                        Some(items) => values.extend(items),
                        None if matches!(value, Value::Null) => values.push(Value::Null),
                        None => return unsupported("`*` of something else than a list"),
                    }
                }
                Arg::Named(..) | Arg::SpreadMap(_) => {}
            }
        }
        Ok(values)
    }

    /// Returns the arguments of a call: the named ones as a map before the others.
    pub(super) fn arguments(&mut self, arguments: &[Arg], place: &Place) -> Res<Vec<Value>> {
        let named: Vec<Arg> = arguments.iter().filter(|one| one.is_entry()).cloned().collect();
        let mut values = vec![];
        if !named.is_empty() {
            values.push(self.map(&named, place)?);
        }
        values.extend(self.plain(arguments, place)?);
        Ok(values)
    }

    fn index_key(&mut self, arguments: &[Arg], place: &Place) -> Res {
        match arguments {
            [Arg::Plain(e)] => self.expr(e, place),
            _ => Ok(Value::list(self.plain(arguments, place)?)),
        }
    }

    /// Reads a variable, or a property of what is around.
    fn read(&mut self, name: &str, place: &Place) -> Res {
        if let Some(value) = place.scope.get(name) {
            return Ok(value);
        }
        if is_known_class(name) {
            return Ok(Value::Class(Rc::from(name)));
        }
        if let Some(value) = self.property_around(name, place)? {
            return Ok(value);
        }
        throw("MissingPropertyException", format!("No such property: {name}"))
    }

    /// Looks a name up in the closures around: their delegates, the script, the host.
    fn property_around(&mut self, name: &str, place: &Place) -> Res<Option<Value>> {
        let mut at = place.closure.clone();
        let mut late = Vec::new();
        while let Some(closure) = at {
            if let Some(delegate) = closure.delegate.borrow().clone() {
                if closure.delegate_first.get() {
                    if let Some(value) = self.own_property(&delegate, name)? {
                        return Ok(Some(value));
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
        if let Some(value) = self.binding.get(name) {
            return Ok(Some(value.clone()));
        }
        if let Some(value) = self.host.property(None, name) {
            return value.map(Some);
        }
        for delegate in late.iter().rev() {
            if let Some(value) = self.own_property(delegate, name)? {
                return Ok(Some(value));
            }
        }
        let getter = getter(name);
        let is_own =
            |methods: &Vec<Rc<Method>>| methods.iter().any(|one| one.parameters.is_empty());
        if self.methods.named(&getter).is_some_and(is_own) {
            return self.call_named(&getter, vec![], &Place::default()).map(Some);
        }
        Ok(None)
    }

    fn own_property(&mut self, object: &Value, name: &str) -> Res<Option<Value>> {
        match object {
            Value::Map(entries) => Ok(Some(super::map::get(&entries.borrow(), &Value::text(name)))),
            Value::Object(id) => self.host.property(Some(*id), name).transpose(),
            _ => Ok(None),
        }
    }

    pub(super) fn member_name(&mut self, name: &MemberName, place: &Place) -> Res<String> {
        match name {
            MemberName::Fixed(name) => Ok(name.clone()),
            MemberName::Computed(e) => match super::stmt::name_of(e) {
                Some(name) => Ok(name.to_owned()),
                None => Ok(show(&self.expr(e, place)?)),
            },
        }
    }

    fn member(&mut self, member: &Member, place: &Place) -> Res {
        let object = self.expr(&member.object, place)?;
        let name = self.member_name(&member.name, place)?;
        match member.access {
            Access::Safe if matches!(object, Value::Null) => Ok(Value::Null),
            Access::Spread => {
                if matches!(object, Value::Null) {
                    return Ok(Value::Null);
                }
                let mut values = vec![];
                for item in self.iterated(&object)? {
                    values.push(match item {
                        Value::Null => Value::Null,
                        item => self.property(&item, &name)?,
                    });
                }
                Ok(Value::list(values))
            }
            Access::Pointer => Ok(ClosureValue::value(Code::Pointer(object, name))),
            Access::Dot | Access::Safe => self.property(&object, &name),
        }
    }

    /// Reads a property of a value.
    pub(super) fn property(&mut self, object: &Value, name: &str) -> Res {
        self.step()?;
        if let Value::Text(text) = object
            && let Some(value) = self.host.text_property(text, name)
        {
            return Ok(value);
        }
        match (object, name) {
            (Value::Null, _) => throw(
                "NullPointerException",
                format!("Cannot get property '{name}' on null object"),
            ),
            (Value::Map(entries), _) => Ok(super::map::get(&entries.borrow(), &Value::text(name))),
            (Value::Entry(entry), "key") => Ok(entry.0.clone()),
            (Value::Entry(entry), "value") => Ok(entry.1.clone()),
            (Value::Exception(one), "message") if has_other_message(&one.0) => {
                unsupported(format!("the message of {}", one.0))
            }
            (Value::Exception(one), "message") => {
                Ok(one.1.as_ref().map_or(Value::Null, Value::text))
            }
            (Value::Class(class), "MAX_VALUE") if &**class == "Integer" => Ok(Value::Int(i32::MAX)),
            (Value::Class(class), "MIN_VALUE") if &**class == "Integer" => Ok(Value::Int(i32::MIN)),
            (Value::Class(class), "MAX_VALUE") if &**class == "Long" => Ok(Value::Long(i64::MAX)),
            (Value::Class(class), "PI") if &**class == "Math" => {
                Ok(Value::Double(std::f64::consts::PI))
            }
            (Value::Object(id), _) => match self.host.property(Some(*id), name) {
                Some(result) => result,
                None => throw("MissingPropertyException", format!("No such property: {name}")),
            },
            (Value::Matcher(one), "count") => {
                Ok(super::regex::matcher_method(one, "getCount", &[])?.unwrap_or(Value::Null))
            }
            (_, "class") => unsupported("`.class`"),
            (Value::List(_) | Value::Range(..), _) => {
                let mut values = vec![];
                for item in object.items().unwrap_or_default() {
                    values.push(self.property(&item, name)?);
                }
                Ok(Value::list(values))
            }
            (Value::Text(_), "bytes" | "empty" | "chars") | (Value::Closure(_), _) => {
                unsupported(format!("the property `{name}`"))
            }
            _ => throw("MissingPropertyException", format!("No such property: {name}")),
        }
    }

    /// Reads an element: `object[key]`.
    pub(super) fn index(&mut self, object: &Value, key: &Value) -> Res {
        self.step()?;
        match object {
            Value::Null => {
                throw("NullPointerException", "Cannot invoke method getAt() on null object")
            }
            Value::Map(entries) => {
                self.host.keyed(key);
                Ok(super::map::get(&entries.borrow(), key))
            }
            Value::List(_) | Value::Range(..) => self.list_index(object, key),
            Value::Text(text) => super::text::index(text, key),
            Value::Object(_) => self.property(object, &show(key)),
            Value::Matcher(one) => match key {
                Value::Int(at) => super::regex::matcher_index(one, *at),
                _ => unsupported("this index of a matcher"),
            },
            _ => throw("MissingMethodException", format!("{}.getAt()", object.class())),
        }
    }

    fn assign_expr(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        value: &Expr,
        place: &Place,
    ) -> Res {
        let Some(op) = op else {
            // The object and the key come before the value.
            let value = self.expr(value, place)?;
            self.assign(target, value.clone(), place)?;
            return Ok(value);
        };
        let old = self.expr(target, place)?;
        let value = self.expr(value, place)?;
        let new = self.binary(op, &old, &value)?;
        self.assign(target, new.clone(), place)?;
        Ok(new)
    }

    fn change(&mut self, op: IncDec, target: &Expr, place: &Place) -> Res<(Value, Value)> {
        let old = self.expr(target, place)?;
        let one = Value::Int(1);
        let new = match (op, &old) {
            (_, Value::Null) => return throw("NullPointerException", "next() on null"),
            (_, Value::Text(_)) => return unsupported("`++` of a string"),
            (_, old) if !old.is_number() => {
                return throw("MissingMethodException", format!("{}.next()", old.class()));
            }
            (IncDec::Increment, old) => self.binary(BinaryOp::Add, old, &one)?,
            (IncDec::Decrement, old) => self.binary(BinaryOp::Subtract, old, &one)?,
        };
        let assignable = matches!(
            target.bare().kind,
            ExprKind::Name(_) | ExprKind::Member(_) | ExprKind::Index(..)
        );
        if assignable {
            self.assign(target, new.clone(), place)?;
        }
        Ok((old, new))
    }

    pub(super) fn assign(&mut self, target: &Expr, value: Value, place: &Place) -> Res<()> {
        match &target.bare().kind {
            ExprKind::Name(name) => {
                if !place.scope.set(name, &value) {
                    self.set_around(name, value, place)?;
                }
                Ok(())
            }
            ExprKind::Member(member) => {
                let object = self.expr(&member.object, place)?;
                let name = self.member_name(&member.name, place)?;
                if member.access == Access::Safe && matches!(object, Value::Null) {
                    return Ok(());
                }
                self.host.at(member.name_span);
                self.set_property(&object, &name, value)
            }
            ExprKind::Index(object, arguments) => {
                let object = self.expr(object, place)?;
                let key = self.index_key(arguments, place)?;
                self.set_index(&object, key, value)
            }
            _ => unsupported("this assignment"),
        }
    }

    fn set_around(&mut self, name: &str, value: Value, place: &Place) -> Res<()> {
        let mut at = place.closure.clone();
        while let Some(closure) = at {
            let delegate = closure.delegate.borrow().clone();
            if let Some(delegate) = delegate.filter(|_| closure.delegate_first.get())
                && matches!(delegate, Value::Map(_) | Value::Object(_))
            {
                return self.set_property(&delegate, name, value);
            }
            at = match &closure.code {
                Code::Text(_, _, outer) => outer.clone(),
                _ => None,
            };
        }
        if self.host.set_property(None, name, &value) {
            return Ok(());
        }
        if !self.host.has_binding() {
            return throw("MissingPropertyException", format!("No such property: {name}"));
        }
        self.binding.insert(name.to_owned(), value);
        Ok(())
    }

    fn set_property(&mut self, object: &Value, name: &str, value: Value) -> Res<()> {
        match object {
            Value::Null => throw(
                "NullPointerException",
                format!("Cannot set property '{name}' on null object"),
            ),
            Value::Map(entries) => {
                super::map::put(&mut entries.borrow_mut(), Value::text(name), value);
                Ok(())
            }
            Value::Object(id) if self.host.set_property(Some(*id), name, &value) => Ok(()),
            Value::List(_) => unsupported("a property of all items"),
            _ => throw("MissingPropertyException", format!("No such property: {name}")),
        }
    }

    fn set_index(&mut self, object: &Value, key: Value, value: Value) -> Res<()> {
        match object {
            Value::Null => {
                throw("NullPointerException", "Cannot invoke method putAt() on null object")
            }
            Value::Map(entries) => {
                super::map::put(&mut entries.borrow_mut(), key, value);
                Ok(())
            }
            Value::List(items) => super::list::put(&mut items.borrow_mut(), &key, value),
            Value::Range(..) => throw("UnsupportedOperationException", "null"),
            Value::Object(_) => self.set_property(object, &show(&key), value),
            _ => throw("MissingMethodException", format!("{}.putAt()", object.class())),
        }
    }

    fn create(&mut self, name: &str, arguments: &[Value]) -> Res {
        let short = name.rsplit('.').next().unwrap_or(name);
        match (short, arguments) {
            ("ArrayList" | "LinkedList", []) => Ok(Value::list(vec![])),
            ("ArrayList", [one]) if one.items().is_some() => {
                Ok(Value::list(one.items().unwrap_or_default()))
            }
            ("LinkedHashMap" | "HashMap", []) => Ok(Value::map(vec![])),
            ("String", [one]) => Ok(Value::text(show(one))),
            (class, []) if class.ends_with("Exception") || class.ends_with("Error") => {
                Ok(Value::Exception(Rc::new((class.to_owned(), None))))
            }
            (class, [Value::Text(text)])
                if class.ends_with("Exception") || class.ends_with("Error") =>
            {
                Ok(Value::Exception(Rc::new((class.to_owned(), Some(text.to_string())))))
            }
            _ => match self.host.call(None, &format!("new {short}"), arguments) {
                Some(result) => result,
                None => unsupported(format!("new {name}")),
            },
        }
    }
}

/// Returns the value of a number.
fn literal(number: &Number) -> Res {
    Ok(match number {
        Number::Int(value) => Value::Int(*value),
        Number::Long(value) => Value::Long(*value),
        Number::BigInteger(digits) => match digits.parse() {
            Ok(value) => Value::BigInt(value),
            Err(_) => return unsupported("a number of more than 38 digits"),
        },
        Number::BigDecimal(one) => match one.digits.parse() {
            Ok(unscaled) => Value::Decimal(Decimal { unscaled, scale: one.scale }),
            Err(_) => return unsupported("a number of more than 38 digits"),
        },
        Number::Float(value) => Value::Float(*value),
        Number::Double(value) => Value::Double(*value),
    })
}

/// Returns whether Groovy makes the message of an exception, in words that are not ours.
fn has_other_message(class: &str) -> bool {
    matches!(
        class,
        "MissingMethodException"
            | "MissingPropertyException"
            | "ClassCastException"
            | "GroovyCastException"
            | "GroovyRuntimeException"
            | "NullPointerException"
            | "NumberFormatException"
            | "IndexOutOfBoundsException"
            | "ArrayIndexOutOfBoundsException"
            | "UnsupportedOperationException"
            | "NoSuchElementException"
            | "PowerAssertionError"
            | "AssertionError"
    )
}

pub(super) fn is_known_class(name: &str) -> bool {
    matches!(
        name,
        "Math"
            | "Integer"
            | "Long"
            | "Double"
            | "Float"
            | "String"
            | "Boolean"
            | "Map"
            | "List"
            | "Number"
            | "BigDecimal"
            | "BigInteger"
            | "Object"
            | "Exception"
            | "Collection"
    )
}

/// Returns the method that reads a property: `getSize` for `size`.
pub fn getter(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>());
    format!("get{}{}", first.unwrap_or_default(), letters.as_str())
}
