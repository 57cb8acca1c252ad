//! Expressions.

use super::body::Body;
use super::lowering::Wanted;
use super::names::Names;
use super::native::{Task, to_literal};
use crate::ast::{Access, Arg, BinaryOp, Expr, ExprKind, Key, Member, MemberName, Number, UnaryOp};
use crate::eval::{Decimal, Value, pure};
use anyorder_program::{Label, Literal, Op, Reg};

impl Body<'_> {
    /// Compiles an expression. The register of its value may be that of a variable.
    pub(super) fn expr(&mut self, expr: &Expr) -> Reg {
        let at = self.code.span();
        self.code.at(expr.span);
        let value = self.expr_at(expr);
        self.code.at(at);
        value
    }

    fn expr_at(&mut self, expr: &Expr) -> Reg {
        match &expr.kind {
            ExprKind::Null => self.code.null(),
            ExprKind::Bool(value) => self.literal(Literal::Bool(*value)),
            ExprKind::Number(number) => self.number(number),
            ExprKind::Text(text) => self.code.text(text),
            ExprKind::Parts(parts) => {
                let out = self.code.text(parts.texts.first().map_or("", String::as_str));
                for (at, value) in parts.values.iter().enumerate() {
                    let mark = self.code.mark();
                    let value = self.part(value);
                    let text = self.code.show(value);
                    self.code.emit(Op::Add { dst: out, a: out, b: text });
                    if let Some(text) = parts.texts.get(at + 1).filter(|text| !text.is_empty()) {
                        let text = self.code.text(text);
                        self.code.emit(Op::Add { dst: out, a: out, b: text });
                    }
                    self.code.release(mark);
                }
                out
            }
            ExprKind::Name(name) => self.name(name),
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::List(entries) if entries.iter().any(Arg::is_entry) => self.map(entries),
            ExprKind::List(entries) => {
                let items = self.items(entries);
                let class = self.code.kinds().list;
                self.code.value(|dst| Op::New { dst, class, args: items })
            }
            ExprKind::EmptyMap => self.code.library("newMap", &[]),
            ExprKind::Closure(closure) => self.closure(closure),
            ExprKind::Member(member) => self.member(member),
            ExprKind::Index(object, keys) => {
                let later: Vec<&Expr> = keys.iter().map(Arg::value).collect();
                let object = self.operand(object, &later);
                let key = self.index_key(keys);
                self.code.library("getAt", &[object, key])
            }
            ExprKind::Call(callee, arguments) => self.call_expr(callee, arguments),
            ExprKind::New(created, arguments, None) => self.create(&created.name, arguments),
            ExprKind::New(..) => self.gap("an anonymous class"),
            ExprKind::NewArray(..) => self.gap("an array"),
            ExprKind::Unary(UnaryOp::Not, _)
            | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => self.boolean(expr),
            ExprKind::Unary(op, e) => {
                let value = self.expr(e);
                match op {
                    UnaryOp::Minus => self.native(Task::Unary("-"), &[value]),
                    UnaryOp::Plus => self.native(Task::Unary("+"), &[value]),
                    _ => self.native(Task::Unary("~"), &[value]),
                }
            }
            ExprKind::Prefix(op, e) => self.change(*op, e, true),
            ExprKind::Postfix(op, e) => self.change(*op, e, false),
            ExprKind::Binary(op, a, b) => {
                let a = self.operand(a, &[b]);
                let b = self.expr(b);
                self.binary(*op, a, b)
            }
            ExprKind::Assign(op, target, value) => self.assign_expr(*op, target, value),
            ExprKind::AssignMany(targets, value) => {
                let value = self.expr(value);
                let own = self.code.temp();
                self.code.set(own, value);
                for (at, target) in (0..).zip(targets) {
                    let index = self.literal(Literal::Int(at));
                    let item = self.code.library("part", &[own, index]);
                    self.assign(target, item);
                }
                own
            }
            ExprKind::Conditional(a, b, c) => {
                let dst = self.code.temp();
                let (otherwise, end) = (self.code.label(), self.code.label());
                let mark = self.code.mark();
                self.condition(a, false, otherwise);
                let value = self.expr(b);
                self.code.set(dst, value);
                self.code.jump(end);
                self.code.bind(otherwise);
                self.code.release(mark);
                let value = self.expr(c);
                self.code.set(dst, value);
                self.code.bind(end);
                self.code.release(mark);
                dst
            }
            ExprKind::Elvis(a, b) => {
                let dst = self.code.temp();
                let end = self.code.label();
                let mark = self.code.mark();
                let value = self.expr(a);
                self.code.set(dst, value);
                let truth = self.code.truth(dst);
                self.code.jump_if(truth, end);
                let value = self.expr(b);
                self.code.set(dst, value);
                self.code.bind(end);
                self.code.release(mark);
                dst
            }
            ExprKind::Cast(typed, e) => {
                let value = self.expr(e);
                self.cast(value, typed, false)
            }
            ExprKind::As(e, typed) => {
                let value = self.expr(e);
                self.cast(value, typed, true)
            }
            ExprKind::InstanceOf(e, typed) => {
                let value = self.expr(e);
                self.instance_of(value, typed)
            }
            ExprKind::Declare(declaration) => self.declaration(declaration),
            ExprKind::Annotation(_) => self.gap("an annotation as a value"),
            ExprKind::Error => self.gap("an expression with a mistake"),
        }
    }

    /// Compiles an operand before others that may assign the variable that it is.
    pub(super) fn operand(&mut self, expr: &Expr, later: &[&Expr]) -> Reg {
        let value = self.expr(expr);
        let is_variable = self.scope.iter().any(|one| one.reg == value);
        if is_variable && later.iter().any(|one| Names::assigns(one)) {
            let own = self.code.temp();
            self.code.set(own, value);
            return own;
        }
        value
    }

    /// A value in a string; a closure there is called.
    fn part(&mut self, value: &Expr) -> Reg {
        let ExprKind::Closure(closure) = &value.bare().kind else { return self.expr(value) };
        let function = self.expr(value);
        let parameters = closure.parameters.as_ref().map_or(1, Vec::len);
        let null = self.code.null();
        let arguments = if parameters == 0 { &[][..] } else { &[null][..] };
        self.code.call_closure(function, arguments)
    }

    fn number(&mut self, number: &Number) -> Reg {
        let value = match number {
            Number::Int(value) => Value::Int(*value),
            // The library counts in numbers of the machine.
            Number::Long(value) if self.is_library() => return self.literal(Literal::Int(*value)),
            Number::Long(value) => Value::Long(*value),
            Number::BigInteger(digits) => match digits.parse() {
                Ok(value) => Value::BigInt(value),
                Err(_) => return self.gap("a number of more than 38 digits"),
            },
            Number::BigDecimal(one) => match one.digits.parse() {
                Ok(unscaled) => Value::Decimal(Decimal { unscaled, scale: one.scale }),
                Err(_) => return self.gap("a number of more than 38 digits"),
            },
            Number::Float(value) => Value::Float(*value),
            Number::Double(value) => Value::Double(*value),
        };
        let literal = to_literal(&self.code.kinds(), &value);
        self.literal(literal.unwrap_or_default())
    }

    fn name(&mut self, name: &str) -> Reg {
        if let Some(value) = self.read_variable(name) {
            return value;
        }
        if pure::is_class(name) {
            let ty = self.code.kinds().class;
            return self.literal(Literal::Record(ty, vec![Literal::Str(name.to_owned())]));
        }
        let unit = self.unit;
        if let Some(value) = self.platform.property(&mut self.code, unit, name) {
            return value;
        }
        let is_package = matches!(
            name,
            "java" | "javax" | "groovy" | "groovyx" | "org" | "com" | "physicalgraph" | "hubitat"
        );
        if is_package || name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.gap(&format!("the class `{name}`"));
        }
        if matches!(name, "delegate" | "owner" | "super" | "this" | "metaClass") {
            return self.gap(&format!("`{name}`"));
        }
        self.missing_property(name)
    }

    /// A property of the app that the platform does not know.
    fn missing_property(&mut self, name: &str) -> Reg {
        if !self.platform.knows_all() {
            return self.gap(&format!("the name `{name}`"));
        }
        self.code.throw_missing_property(name);
        self.code.null()
    }

    /// Compiles the items of a list to a list of the machine.
    pub(super) fn items(&mut self, entries: &[Arg]) -> Reg {
        if entries.iter().all(|one| matches!(one, Arg::Plain(_))) {
            let exprs: Vec<&Expr> = entries.iter().map(Arg::value).collect();
            let values = self.operands(&exprs);
            let count = u16::try_from(values.len()).unwrap_or(u16::MAX);
            let args = self.code.row(&values);
            return self.code.value(|dst| Op::List { dst, args, count });
        }
        let out = self.code.value(|dst| Op::List { dst, args: Reg(0), count: 0 });
        for entry in entries {
            let mark = self.code.mark();
            match entry {
                Arg::Plain(e) => {
                    let value = self.expr(e);
                    let own = self.code.temp();
                    self.code.set(own, value);
                    let method = anyorder_program::Builtin::Push;
                    self.code.value(|dst| Op::Method { dst, method, recv: out, args: own });
                }
                Arg::Spread(e) => {
                    let value = self.expr(e);
                    let more = self.code.library("spreadItems", &[value]);
                    self.code.emit(Op::Add { dst: out, a: out, b: more });
                }
                Arg::Named(..) | Arg::SpreadMap(_) => {}
            }
            self.code.release(mark);
        }
        out
    }

    /// Compiles several operands.
    pub(super) fn operands(&mut self, exprs: &[&Expr]) -> Vec<Reg> {
        let mut values = Vec::new();
        for (at, expr) in exprs.iter().enumerate() {
            values.push(self.operand(expr, &exprs[at + 1..]));
        }
        values
    }

    /// Compiles a map.
    pub(super) fn map(&mut self, entries: &[Arg]) -> Reg {
        let map = self.code.library("newMap", &[]);
        for entry in entries {
            let mark = self.code.mark();
            match entry {
                Arg::Named(key, value) => {
                    let key = match key {
                        Key::Name(name, _) => self.code.text(name),
                        Key::Expr(e) => self.operand(e, &[value]),
                    };
                    let value = self.expr(value);
                    self.code.library("mapPut", &[map, key, value]);
                }
                Arg::SpreadMap(e) => {
                    let more = self.expr(e);
                    self.code.library("spreadInto", &[map, more]);
                }
                Arg::Plain(_) | Arg::Spread(_) => {
                    self.gap("a list with keys");
                }
            }
            self.code.release(mark);
        }
        map
    }

    pub(super) fn index_key(&mut self, keys: &[Arg]) -> Reg {
        match keys {
            [Arg::Plain(e)] => self.expr(e),
            _ => {
                let items = self.items(keys);
                let class = self.code.kinds().list;
                self.code.value(|dst| Op::New { dst, class, args: items })
            }
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Reg {
        use BinaryOp as B;
        let order = |own: &mut Self| own.code.library("compare", &[a, b]);
        let zero = |own: &mut Self| own.literal(Literal::Int(0));
        match op {
            B::Equal => self.code.library("equal", &[a, b]),
            B::NotEqual => {
                let equal = self.code.library("equal", &[a, b]);
                self.code.value(|dst| Op::Not { dst, a: equal })
            }
            B::Compare => order(self),
            B::Less => {
                let (order, zero) = (order(self), zero(self));
                self.code.value(|dst| Op::Lt { dst, a: order, b: zero })
            }
            B::LessEqual => {
                let (order, zero) = (order(self), zero(self));
                self.code.value(|dst| Op::Le { dst, a: order, b: zero })
            }
            B::Greater => {
                let (order, zero) = (order(self), zero(self));
                self.code.value(|dst| Op::Lt { dst, a: zero, b: order })
            }
            B::GreaterEqual => {
                let (order, zero) = (order(self), zero(self));
                self.code.value(|dst| Op::Le { dst, a: zero, b: order })
            }
            B::In => self.code.library("isIn", &[a, b]),
            B::Range => self.code.library("range", &[a, b]),
            B::RangeExclusive => self.code.library("rangeExclusive", &[a, b]),
            B::Add => self.code.library("plus", &[a, b]),
            B::Subtract => self.code.library("minus", &[a, b]),
            B::Multiply => self.code.library("multiply", &[a, b]),
            B::Divide => self.code.library("div", &[a, b]),
            B::Remainder => self.code.library("mod", &[a, b]),
            B::Power => self.code.library("power", &[a, b]),
            B::ShiftLeft => self.code.library("leftShift", &[a, b]),
            B::ShiftRight => self.code.library("rightShift", &[a, b]),
            B::ShiftRightUnsigned => self.code.library("rightShiftUnsigned", &[a, b]),
            B::BitAnd => self.code.library("and", &[a, b]),
            B::BitOr => self.code.library("or", &[a, b]),
            B::BitXor => self.code.library("xor", &[a, b]),
            B::Find => self.code.library("find", &[a, b]),
            B::Match => self.code.library("match", &[a, b]),
            B::Identical | B::NotIdentical => self.gap("`===`"),
            B::And | B::Or => self.gap("a condition"),
        }
    }

    /// Compiles a condition to a boolean value.
    fn boolean(&mut self, expr: &Expr) -> Reg {
        let dst = self.code.temp();
        let end = self.code.label();
        let mark = self.code.mark();
        self.code.emit(Op::Bool { dst, value: false });
        self.condition(expr, false, end);
        self.code.emit(Op::Bool { dst, value: true });
        self.code.bind(end);
        self.code.release(mark);
        dst
    }

    /// Jumps to the label if the condition is `on`.
    pub(super) fn condition(&mut self, expr: &Expr, on: bool, label: Label) {
        match &expr.bare().kind {
            ExprKind::Unary(UnaryOp::Not, e) => self.condition(e, !on, label),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                // `a && b` is false as soon as `a` is; `a || b` likewise.
                if (*op == BinaryOp::Or) == on {
                    self.condition(a, on, label);
                    self.condition(b, on, label);
                } else {
                    let other = self.code.label();
                    self.condition(a, !on, other);
                    self.condition(b, on, label);
                    self.code.bind(other);
                }
            }
            _ => {
                let value = self.expr(expr);
                let known = self.is_library() || is_boolean(expr);
                let truth = if known { value } else { self.code.truth(value) };
                match on {
                    true => self.code.jump_if(truth, label),
                    false => self.code.jump_if_not(truth, label),
                }
            }
        }
    }

    /// Returns the name of a member; a computed one is a register.
    pub(super) fn member_name<'e>(&mut self, name: &'e MemberName) -> Result<&'e str, Reg> {
        match name {
            MemberName::Fixed(name) => Ok(name),
            MemberName::Computed(e) => match (name_of(e), &e.bare().kind) {
                (Some(name), _) => Ok(name),
                (None, ExprKind::Text(text)) => Ok(text),
                _ => {
                    let value = self.expr(e);
                    Err(self.code.show(value))
                }
            },
        }
    }

    fn member(&mut self, member: &Member) -> Reg {
        if name_of(&member.object) == Some("this") && self.variable("this").is_none() {
            return self.own_member(member);
        }
        let object = self.expr(&member.object);
        match member.access {
            Access::Pointer => self.gap("a method of a value as a closure"),
            Access::Dot => {
                let name = self.member_name(&member.name);
                self.get(object, name)
            }
            Access::Safe => {
                let dst = self.code.temp();
                let end = self.code.label();
                self.code.emit(Op::Null { dst });
                let is_null = self.code.is(object, self.code.kinds().types.null);
                self.code.jump_if(is_null, end);
                let name = self.member_name(&member.name);
                let value = self.get(object, name);
                self.code.set(dst, value);
                self.code.bind(end);
                dst
            }
            Access::Spread => {
                let name = self.member_name(&member.name);
                self.spread(object, |own, item| own.get(item, name))
            }
        }
    }

    /// A property or method of the app itself, through `this`.
    fn own_member(&mut self, member: &Member) -> Reg {
        let name = match self.member_name(&member.name) {
            Ok(name) => name,
            Err(name) => {
                let unit = self.unit;
                return match self.platform.named_property(&mut self.code, unit, name) {
                    Some(value) => value,
                    None => self.gap("a property of the app with a computed name"),
                };
            }
        };
        match member.access {
            Access::Pointer => self.method_pointer(name),
            Access::Spread => self.gap("`this*.`"),
            Access::Dot | Access::Safe => {
                let unit = self.unit;
                if let Some(value) = self.platform.property(&mut self.code, unit, name) {
                    return value;
                }
                self.missing_property(name)
            }
        }
    }

    /// Reads a property of a value.
    pub(super) fn get(&mut self, object: Reg, name: Result<&str, Reg>) -> Reg {
        match name {
            Ok(name) => {
                let func = self.code.lowering().want(Wanted::Get(name.to_owned()));
                self.code.call(func, &[object])
            }
            Err(name) => {
                let func = self.code.lowering().want(Wanted::GetAny);
                self.code.call(func, &[object, name])
            }
        }
    }

    /// Gives a list of what each item gives; null for null items.
    pub(super) fn spread(&mut self, object: Reg, each: impl FnOnce(&mut Self, Reg) -> Reg) -> Reg {
        let dst = self.code.temp();
        let (top, other, next, end) =
            (self.code.label(), self.code.label(), self.code.label(), self.code.label());
        let mark = self.code.mark();
        self.code.emit(Op::Null { dst });
        let types = self.code.kinds().types;
        let is_null = self.code.is(object, types.null);
        self.code.jump_if(is_null, end);
        let items = self.code.library("iterated", &[object]);
        let out = self.code.value(|dst| Op::List { dst, args: Reg(0), count: 0 });
        let at = self.literal(Literal::Int(0));
        let length = self.length(items);
        self.code.bind(top);
        let more = self.code.value(|dst| Op::Lt { dst, a: at, b: length });
        self.code.jump_if_not(more, other);
        let item = self.code.value(|dst| Op::Index { dst, src: items, index: at });
        let given = self.code.null();
        let is_null = self.code.is(item, types.null);
        self.code.jump_if(is_null, next);
        let value = each(self, item);
        self.code.set(given, value);
        self.code.bind(next);
        let method = anyorder_program::Builtin::Push;
        self.code.value(|dst| Op::Method { dst, method, recv: out, args: given });
        self.code.emit(Op::AddInt { dst: at, a: at, value: 1 });
        self.code.jump(top);
        self.code.bind(other);
        let class = self.code.kinds().list;
        self.code.emit(Op::New { dst, class, args: out });
        self.code.bind(end);
        self.code.release(mark);
        dst
    }
}

/// Returns whether an expression always gives a boolean.
fn is_boolean(expr: &Expr) -> bool {
    use BinaryOp as B;
    match &expr.bare().kind {
        ExprKind::Bool(_) | ExprKind::InstanceOf(..) => true,
        ExprKind::Binary(op, ..) => matches!(
            op,
            B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual | B::In
        ),
        _ => false,
    }
}

/// Returns whether an expression is a name.
pub(super) fn name_of(expr: &Expr) -> Option<&str> {
    match &expr.bare().kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
