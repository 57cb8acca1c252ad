//! Method calls: X8, and the built-in methods that take functions.

use super::builtin::CHANGING;
use super::fired::rule;
use super::live;
use super::program::Mutant;
use super::rename::SELF;
use super::run::{Locals, Res, Run};
use super::state::Context;
use super::value::Value;
use anyorder_lang::ast::*;

impl Run {
    pub fn method(
        &mut self,
        e: &'static Expr,
        receiver: &'static Expr,
        name: &'static Ident,
        args: &'static [Expr],
    ) -> Res<Value> {
        if self.variant(receiver, name, vec![]).is_some() {
            let payload = self.all(e.id, args)?;
            self.at = e.span;
            self.check_payload(receiver, name, &payload)?;
            return Ok(self.variant(receiver, name, payload).expect("a variant"));
        }
        if CHANGING.contains(&name.name.as_str()) && Run::is_place(receiver) {
            return self.changing(e, receiver, name, args);
        }
        rule("X8");
        let rest: Vec<&'static Expr> = args.iter().collect();
        let context = Context::Operands { id: e.id, phase: 0, temps: vec![], rest };
        let value = self.within(context, |run| run.eval(receiver))?;
        self.at = e.span;
        if value == Value::Null {
            return self.fail("null");
        }
        let field = self.field_function(e.id, &value, name, args)?;
        let exprs: Vec<&'static Expr> = args.iter().collect();
        let kept = field.clone().unwrap_or(value.clone());
        let args = self.operands(e.id, &exprs, vec![kept])?.split_off(1);
        self.at = e.span;
        match field {
            Some(f) => self.call_value(e.id, &f, args),
            None => self.invoke(e.id, value, &name.name, args),
        }
    }

    fn check_payload(&self, base: &Expr, name: &Ident, payload: &[Value]) -> Res<()> {
        let ExprKind::Name(enum_name) = &base.kind else { return Ok(()) };
        let decl = self.p.enums.iter().find(|e| &e.name.name == enum_name).expect("an enum");
        let variant = decl.variants.iter().find(|v| v.name.name == name.name).expect("a variant");
        variant.payload.iter().zip(payload).try_for_each(|(ty, value)| self.check_type(ty, value))
    }

    /// A function held in a field, where the class has no such method.
    fn field_function(
        &mut self,
        id: NodeId,
        value: &Value,
        name: &Ident,
        args: &'static [Expr],
    ) -> Res<Option<Value>> {
        let found = match value {
            Value::Obj(object) => self.method_of(*object, &name.name).is_none(),
            Value::Record(..) => true,
            _ => false,
        };
        if !found {
            return Ok(None);
        }
        let rest: Vec<&'static Expr> = args.iter().collect();
        let context = Context::Operands { id, phase: 60, temps: vec![], rest };
        self.within(context, |run| run.member(id, value, &name.name)).map(Some)
    }

    fn method_of(&self, object: u64, name: &str) -> Option<&'static FnDecl> {
        let class = self.p.classes[self.state.objects[&object].0];
        class.members.iter().find_map(|m| match m {
            ClassMember::Method(f) if f.name.name == name => Some(f),
            _ => None,
        })
    }

    fn invoke(&mut self, id: NodeId, value: Value, name: &str, args: Vec<Value>) -> Res<Value> {
        if let Value::Obj(object) = &value {
            let Some(f) = self.method_of(*object, name) else { return self.fail("type") };
            let locals = Locals::from([(SELF.to_string(), value)]);
            return self.call(id, &f.params, f.result.as_ref(), &f.body, args, locals);
        }
        match name {
            "map" | "filter" | "all" | "any" | "count" => self.each(id, value, name, args),
            _ => Ok(self.builtin(value, name, &args)?.0),
        }
    }

    /// A method that changes its receiver.
    fn changing(
        &mut self,
        e: &'static Expr,
        receiver: &'static Expr,
        name: &Ident,
        args: &'static [Expr],
    ) -> Res<Value> {
        rule("X9");
        let dropped = self.is_dropped();
        let early = if self.wrongly(Mutant::ReceiverFirst) {
            let mut place = self.place(receiver, &[])?;
            let value = self.fetch(e.id, &mut place, &[])?;
            Some((place, value))
        } else {
            None
        };
        let mut exprs: Vec<&'static Expr> = args.iter().collect();
        // The receiver is used after the arguments.
        exprs.push(receiver);
        let mut values = vec![];
        for i in 0..args.len() {
            let context = Context::Operands {
                id: e.id,
                phase: i,
                temps: values.clone(),
                rest: exprs[i + 1..].to_vec(),
            };
            values.push(self.within(context, |run| run.eval(exprs[i]))?);
        }
        let context =
            Context::Operands { id: e.id, phase: 61, temps: values.clone(), rest: vec![] };
        let (place, value) = match early {
            Some(early) => early,
            None => self.within(context, |run| {
                let mut place = run.place(receiver, &[])?;
                let value = run.fetch(e.id, &mut place, &[])?;
                Ok((place, value))
            })?,
        };
        self.at = e.span;
        if let Value::Obj(_) = value {
            return self.invoke(e.id, value, &name.name, values);
        }
        if let Value::Record(..) = value {
            let f = self.member(e.id, &value, &name.name)?;
            return self.call_value(e.id, &f, values);
        }
        let before = value.clone();
        let (result, changed) = self.builtin(value, &name.name, &values)?;
        if changed == before && self.wrongly(Mutant::NoWriteIfUnchanged) {
            return Ok(result);
        }
        let kept = if dropped { vec![] } else { vec![result.clone()] };
        self.store(e.id, place, changed, kept)?;
        Ok(result)
    }

    /// C4: whether the value of the expression at work is not used: dropped, or assigned to a local
    /// that is not live.
    fn is_dropped(&self) -> bool {
        let mut stack = self.stack.as_slice();
        while let [rest @ .., Context::Block(_, usize::MAX)] = stack {
            stack = rest;
        }
        match stack {
            [.., Context::Drop] => true,
            [rest @ .., Context::Kill(name), Context::Operands { temps, rest: later, .. }]
                if temps.is_empty() && later.is_empty() =>
            {
                !live::of_stack(rest).last().is_some_and(|names| names.contains(name))
            }
            _ => false,
        }
    }

    /// B5.
    fn each(&mut self, id: NodeId, value: Value, name: &str, args: Vec<Value>) -> Res<Value> {
        if !self.p.one_step.contains(&id) {
            return self.each_of(id, value, name, args);
        }
        rule("T13");
        let temps = [std::slice::from_ref(&value), &args].concat();
        let context = Context::Operands { id, phase: 63, temps, rest: vec![] };
        self.within(context, |run| run.look(id, 93, vec![], |_| Ok(Value::Null)))?;
        self.atomic_depth += 1;
        let result = self.each_of(id, value, name, args)?;
        self.atomic_depth -= 1;
        Ok(result)
    }

    fn each_of(
        &mut self,
        id: NodeId,
        value: Value,
        name: &str,
        mut args: Vec<Value>,
    ) -> Res<Value> {
        let is_set = matches!(value, Value::Set(_));
        let items = match (value, args.len()) {
            (Value::List(items) | Value::Set(items), 1) => items,
            (other, _) => return self.wrong(&other),
        };
        let f = args.remove(0);
        let mut found = vec![];
        rule("B5");
        let mut decided = None;
        for (i, item) in items.iter().enumerate() {
            self.tick()?;
            let temps = vec![
                Value::List(items.clone()),
                Value::Int(i as i64),
                Value::List(found.clone()),
                f.clone(),
            ];
            let context = Context::Operands { id, phase: 62, temps, rest: vec![] };
            let at = self.at;
            let answer = self.within(context, |run| run.call_value(id, &f, vec![item.clone()]))?;
            self.at = at;
            match (name, &answer) {
                ("map", _) => found.push(answer),
                ("filter", Value::Bool(true)) => found.push(item.clone()),
                ("count", Value::Bool(true)) => found.push(Value::Null),
                ("all" | "any", Value::Bool(b)) if self.wrongly(Mutant::AllAreAsked) => {
                    if *b == (name == "any") {
                        decided = Some(*b);
                    }
                }
                ("all", Value::Bool(false)) => return Ok(Value::Bool(false)),
                ("any", Value::Bool(true)) => return Ok(Value::Bool(true)),
                (_, Value::Bool(_)) => {}
                (_, other) => return self.wrong(other),
            }
        }
        Ok(match name {
            "all" | "any" if decided.is_some() => Value::Bool(name == "any"),
            "all" => Value::Bool(true),
            "any" => Value::Bool(false),
            "count" => Value::Int(found.len() as i64),
            "filter" if is_set => Value::Set(found),
            _ => Value::List(found),
        })
    }
}
