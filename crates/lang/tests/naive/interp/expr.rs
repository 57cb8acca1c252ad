//! Expressions: semantics.md, section 5.

use super::fired::rule;
use super::program::Mutant;
use super::rename::SELF;
use super::run::{Flow, Locals, Mode, Res, Run};
use super::state::{Context, Message, Pid};
use super::value::{Code, Lambda, Value};
use anyorder_lang::ast::*;

impl Run {
    pub fn eval(&mut self, e: &'static Expr) -> Res<Value> {
        self.tick()?;
        self.eval_inner(e)
    }

    fn eval_inner(&mut self, e: &'static Expr) -> Res<Value> {
        self.at = e.span;
        match &e.kind {
            ExprKind::Int(n) => Ok(Value::Int(*n)),
            ExprKind::Bool(b) => Ok(Value::Bool(*b)),
            ExprKind::Str(s) => Ok(Value::Str(s.clone())),
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Name(name) => self.name(e, name),
            ExprKind::SelfRef => Ok(self.locals().get(SELF).cloned().expect("self")),
            ExprKind::Paren(inner) => self.eval(inner),
            ExprKind::List(items) => Ok(Value::List(self.all(e.id, items)?)),
            ExprKind::Set(items) => {
                let items = self.all(e.id, items)?;
                self.at = e.span;
                self.set_of(items)
            }
            ExprKind::Map(entries) => {
                let flat: Vec<&Expr> = entries.iter().flat_map(|(k, v)| [k, v]).collect();
                let values = self.operands(e.id, &flat, vec![])?;
                self.at = e.span;
                let mut map = vec![];
                for pair in values.chunks(2) {
                    self.insert_entry(&mut map, pair[0].clone(), pair[1].clone())?;
                }
                Ok(Value::Map(map))
            }
            ExprKind::Repeat(item, count) => {
                let values = self.operands(e.id, &[item, count], vec![])?;
                self.at = e.span;
                match &values[1] {
                    Value::Int(n) if *n >= 0 => {
                        rule("X14");
                        let more = usize::from(self.wrongly(Mutant::RepeatOneMore));
                        Ok(Value::List(vec![values[0].clone(); *n as usize + more]))
                    }
                    Value::Set(all) => Ok(Value::List(vec![values[0].clone(); all.len()])),
                    Value::Int(_) => self.fail("index"),
                    other => self.wrong(other),
                }
            }
            ExprKind::Record { name, fields, base } => {
                self.record(e, name, fields, base.as_deref())
            }
            ExprKind::New { class, fields } => self.new_object(e, class, fields),
            ExprKind::Closure(closure) => Ok(self.closure(e, closure)),
            ExprKind::If(branch) => match self.branch(branch)? {
                Flow::Next(value) => Ok(value),
                _ => panic!("a branch used as an expression leaves it"),
            },
            ExprKind::Match(m) => match self.matching(m)? {
                Flow::Next(value) => Ok(value),
                _ => panic!("an arm used as an expression leaves it"),
            },
            ExprKind::Unary(op, inner) => {
                let value = self.operands(e.id, &[inner], vec![])?.remove(0);
                self.at = e.span;
                match (op, value) {
                    (UnaryOp::Not, Value::Bool(b)) => Ok(Value::Bool(!b)),
                    (UnaryOp::Neg, Value::Int(n)) => match n.checked_neg() {
                        Some(n) => Ok(Value::Int(n)),
                        None => self.fail("overflow"),
                    },
                    (_, other) => self.wrong(&other),
                }
            }
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right, .. } => {
                let context =
                    Context::Operands { id: e.id, phase: 0, temps: vec![], rest: vec![right] };
                let l = self.within(context, |run| run.eval(left))?;
                let l = self.bool(e, &l)?;
                rule("X11");
                if l == (*op == BinaryOp::Or) && !self.wrongly(Mutant::NoShortCircuit) {
                    return Ok(Value::Bool(l));
                }
                let context = Context::Operands { id: e.id, phase: 1, temps: vec![], rest: vec![] };
                let r = self.within(context, |run| run.eval(right))?;
                Ok(Value::Bool(self.bool(e, &r)?))
            }
            ExprKind::Binary { op, left, right, .. } => {
                let values = self.operands(e.id, &[left, right], vec![])?;
                self.at = e.span;
                self.binary(*op, &values[0], &values[1])
            }
            ExprKind::Field { base, name } => {
                if let Some(value) = self.variant(base, name, vec![]) {
                    return Ok(value);
                }
                let context = Context::Operands { id: e.id, phase: 0, temps: vec![], rest: vec![] };
                let value = self.within(context, |run| run.eval(base))?;
                self.at = e.span;
                self.member(e.id, &value, &name.name)
            }
            ExprKind::Index { base, index } => self.read_element(e, base, index),
            ExprKind::Call { callee, args } => self.call_expr(e, callee, args),
            ExprKind::Method { receiver, name, args } => self.method(e, receiver, name, args),
            ExprKind::Enabled(event) => {
                let index = self.index_of(e.id, event.index.as_deref())?;
                self.look(e.id, 0, index.iter().cloned().collect(), |run| {
                    let keys = run.event_keys(event, index)?;
                    Ok(Value::Bool(keys.iter().all(|key| run.is_enabled(*key))))
                })
            }
            ExprKind::Post(post) => self.post(e, post),
            ExprKind::Fork(fork) => {
                let args = self.all(e.id, &fork.args)?;
                self.at = e.span;
                self.act(e.id, 90, args.clone(), |run| run.do_fork(&fork.function.name, args))
            }
            ExprKind::Choose(from) => {
                rule("A7");
                if let Some((a, b)) = range(from) {
                    let ends = self.operands(e.id, &[a, b], vec![])?;
                    self.at = e.span;
                    return self.act(e.id, 90, ends.clone(), |run| {
                        let all = run.binary(BinaryOp::Range, &ends[0], &ends[1])?;
                        let Value::List(items) = all else { return run.fail("type") };
                        let n = run.choose(items.len())?;
                        Ok(items[n].clone())
                    });
                }
                let from = self.operands(e.id, &[from], vec![])?.remove(0);
                self.at = e.span;
                let items = match from {
                    Value::List(items) | Value::Set(items) => items,
                    other => return self.wrong(&other),
                };
                self.act(e.id, 90, items.clone(), |run| {
                    let n = run.choose(items.len())?;
                    Ok(items[n].clone())
                })
            }
            ExprKind::Error => panic!("a gap in the tree"),
        }
    }

    fn name(&mut self, e: &'static Expr, name: &str) -> Res<Value> {
        rule("X2");
        if let Some(value) = self.locals().get(name) {
            return Ok(value.clone());
        }
        if self.p.globals.iter().any(|g| g.name.name == name) {
            return self.look(e.id, 0, vec![], |run| Ok(run.state.globals[name].clone()));
        }
        if let Some(c) = self.p.consts.iter().find(|c| c.name.name == name) {
            let mut run = Run::new(self.p, self.state.clone(), Pid::Init, Mode::Observer);
            run.frames.push(Locals::new());
            return run.eval(&c.value);
        }
        if let Some(index) = self.p.indices.iter().find(|index| index.name.name == name) {
            rule("V8");
            let mut run = Run::new(self.p, self.state.clone(), Pid::Init, Mode::Observer);
            run.frames.push(Locals::new());
            let Value::Int(size) = run.eval(&index.size)? else { panic!("no size") };
            return Ok(Value::Set((0..size).map(Value::Int).collect()));
        }
        Ok(Value::Func(Code::Named(name.to_string()), vec![]))
    }

    /// Operands from left to right.
    pub fn operands(
        &mut self,
        id: NodeId,
        exprs: &[&'static Expr],
        mut values: Vec<Value>,
    ) -> Res<Vec<Value>> {
        let before = values.len();
        for (i, e) in exprs.iter().enumerate() {
            let context = Context::Operands {
                id,
                phase: before + i,
                temps: values.clone(),
                rest: exprs[i + 1..].to_vec(),
            };
            values.push(self.within(context, |run| run.eval(e))?);
        }
        Ok(values)
    }

    pub fn all(&mut self, id: NodeId, exprs: &'static [Expr]) -> Res<Vec<Value>> {
        let exprs: Vec<&'static Expr> = exprs.iter().collect();
        self.operands(id, &exprs, vec![])
    }

    pub fn bool(&mut self, e: &Expr, value: &Value) -> Res<bool> {
        self.at = e.span;
        match value {
            Value::Bool(b) => Ok(*b),
            other => self.wrong(other),
        }
    }

    /// `Enum.Variant(..)`.
    pub fn variant(&mut self, base: &Expr, name: &Ident, payload: Vec<Value>) -> Option<Value> {
        let ExprKind::Name(enum_name) = &base.kind else { return None };
        let ty = self.p.enums.iter().position(|e| &e.name.name == enum_name)?;
        let variant = self.p.enums[ty].variants.iter().position(|v| v.name.name == name.name)?;
        Some(Value::Enum(ty, variant, payload))
    }

    fn record(
        &mut self,
        e: &'static Expr,
        name: &Ident,
        fields: &'static [FieldInit],
        base: Option<&'static Expr>,
    ) -> Res<Value> {
        let exprs: Vec<&'static Expr> = fields.iter().map(|f| &f.value).chain(base).collect();
        let mut values = self.operands(e.id, &exprs, vec![])?;
        self.at = e.span;
        let ty = self.p.records.iter().position(|r| r.name.name == name.name).expect("a record");
        let decl = self.p.records[ty];
        let mut all = match base.and_then(|_| values.pop()) {
            Some(Value::Record(other, all)) if other == ty => all,
            Some(other) => return self.wrong(&other),
            None => vec![Value::Null; decl.fields.len()],
        };
        for (field, value) in fields.iter().zip(values) {
            let at =
                decl.fields.iter().position(|f| f.name.name == field.name.name).expect("a field");
            self.check_type(&decl.fields[at].ty, &value)?;
            all[at] = value;
        }
        Ok(Value::Record(ty, all))
    }

    /// X14.
    fn new_object(
        &mut self,
        e: &'static Expr,
        class: &Ident,
        fields: &'static [FieldInit],
    ) -> Res<Value> {
        rule("X14");
        let number =
            self.p.classes.iter().position(|c| c.name.name == class.name).expect("a class");
        let decls: Vec<&'static VarDecl> = self.fields_of(number);
        let given: Vec<&'static Expr> = fields.iter().map(|f| &f.value).collect();
        let mut order: Vec<usize> = vec![];
        for field in fields {
            order.push(decls.iter().position(|d| d.name.name == field.name.name).expect("a field"));
        }
        let mut values = self.operands(e.id, &given, vec![])?;
        // The initialisers have no locals in scope; an empty frame keeps them out.
        for (i, decl) in
            decls.iter().enumerate().filter(|(i, _)| !order.contains(i)).collect::<Vec<_>>()
        {
            let value = match &decl.init {
                Some(init) => self.operands(e.id, &[init], values.clone())?.pop().expect("a value"),
                None => self.default_value(decl.ty.as_ref().expect("a type"))?,
            };
            values.push(value);
            order.push(i);
        }
        self.at = e.span;
        let mut all = vec![Value::Null; decls.len()];
        for (at, value) in order.into_iter().zip(values) {
            if let Some(ty) = &decls[at].ty {
                self.check_type(ty, &value)?;
            }
            all[at] = value;
        }
        if self.mode == Mode::Observer {
            return self.fail("effect");
        }
        self.ask(|run| {
            let object = run.fresh();
            run.state.objects.insert(object, (number, all));
            Ok(Value::Obj(object))
        })
    }

    pub fn fields_of(&self, class: usize) -> Vec<&'static VarDecl> {
        let members = self.p.classes[class].members.iter();
        members
            .filter_map(|m| match m {
                ClassMember::Field(f) => Some(&f.var),
                ClassMember::Method(_) => None,
            })
            .collect()
    }

    /// X15.
    fn closure(&mut self, e: &'static Expr, closure: &'static Closure) -> Value {
        rule("X15");
        let names = super::live::free_locals(closure);
        let locals = self.locals();
        let captured =
            names.into_iter().filter_map(|n| locals.get(&n).map(|v| (n.clone(), v.clone())));
        Value::Func(Code::Closure(Lambda(e.id, closure)), captured.collect())
    }

    /// X10.
    fn call_expr(
        &mut self,
        e: &'static Expr,
        callee: &'static Expr,
        args: &'static [Expr],
    ) -> Res<Value> {
        if let ExprKind::Name(name) = &callee.kind
            && !name.contains('·')
            && !self.p.globals.iter().any(|g| &g.name.name == name)
        {
            let args = self.all(e.id, args)?;
            self.at = e.span;
            return self.call_named(e, name, args);
        }
        let exprs: Vec<&'static Expr> = std::iter::once(callee).chain(args).collect();
        let mut values = self.operands(e.id, &exprs, vec![])?;
        let f = values.remove(0);
        self.at = e.span;
        self.call_value(e.id, &f, values)
    }

    fn call_named(&mut self, e: &'static Expr, name: &str, args: Vec<Value>) -> Res<Value> {
        if let Some(f) = self.p.fns.iter().find(|f| f.name.name == name) {
            return self.call(e.id, &f.params, f.result.as_ref(), &f.body, args, Locals::new());
        }
        let task = self.p.tasks.iter().find(|t| t.name.name == name).expect("a function");
        self.call(e.id, &task.params, None, &task.body, args, Locals::new())
    }

    pub fn call_value(&mut self, id: NodeId, f: &Value, args: Vec<Value>) -> Res<Value> {
        match f {
            Value::Func(Code::Named(name), _) => {
                if let Some(f) = self.p.fns.iter().find(|f| &f.name.name == name) {
                    return self.call(
                        id,
                        &f.params,
                        f.result.as_ref(),
                        &f.body,
                        args,
                        Locals::new(),
                    );
                }
                let task = self.p.tasks.iter().find(|t| &t.name.name == name).expect("a function");
                self.call(id, &task.params, None, &task.body, args, Locals::new())
            }
            Value::Func(Code::Closure(Lambda(_, closure)), captured) => {
                let locals: Locals = captured.iter().cloned().collect();
                match &closure.body {
                    ClosureBody::Block(body) => {
                        self.call(id, &closure.params, closure.result.as_ref(), body, args, locals)
                    }
                    ClosureBody::Expr(body) => self.call_expr_body(id, closure, body, args, locals),
                }
            }
            other => self.wrong(other),
        }
    }

    fn enter(&mut self, params: &[Param], args: Vec<Value>, locals: &mut Locals) -> Res<()> {
        if params.len() != args.len() {
            return self.fail("type");
        }
        for (param, arg) in params.iter().zip(args) {
            if let Some(ty) = &param.ty {
                self.check_type(ty, &arg)?;
            }
            locals.insert(param.name.name.clone(), arg);
        }
        rule("X10");
        if self.frames.len() > if self.wrongly(Mutant::HundredCalls) { 100 } else { 256 } {
            return self.fail("recursion");
        }
        Ok(())
    }

    pub fn call(
        &mut self,
        id: NodeId,
        params: &[Param],
        result: Option<&'static TypeExpr>,
        body: &'static Block,
        args: Vec<Value>,
        mut locals: Locals,
    ) -> Res<Value> {
        self.enter(params, args, &mut locals)?;
        let context = Context::Operands { id, phase: 99, temps: vec![], rest: vec![] };
        let value = self.within(context, |run| run.frame(locals, body))?;
        if let Some(ty) = result {
            self.check_type(ty, &value)?;
        }
        Ok(value)
    }

    fn call_expr_body(
        &mut self,
        id: NodeId,
        closure: &'static Closure,
        body: &'static Expr,
        args: Vec<Value>,
        mut locals: Locals,
    ) -> Res<Value> {
        self.enter(&closure.params, args, &mut locals)?;
        self.frames.push(locals);
        let number = self.frames.len() - 1;
        let context = Context::Operands { id, phase: 99, temps: vec![], rest: vec![] };
        let value =
            self.within(context, |run| run.within(Context::Frame(number), |run| run.eval(body)))?;
        self.frames.pop();
        if let Some(ty) = &closure.result {
            self.check_type(ty, &value)?;
        }
        Ok(value)
    }

    /// M1.
    fn post(&mut self, e: &'static Expr, post: &'static Post) -> Res<Value> {
        let task = self.p.tasks.iter().position(|t| t.name.name == post.task.name).expect("a task");
        let decl = self.p.tasks[task];
        let count = post.args.len();
        let mut exprs: Vec<&'static Expr> = post.args.iter().collect();
        if let PostTarget::Handler(Ref { index: Some(index), .. }) = &post.target {
            exprs.push(index);
        }
        exprs.extend(&post.after);
        let mut values = self.operands(e.id, &exprs, vec![])?;
        self.at = e.span;
        let delay = post.after.as_ref().and_then(|_| values.pop());
        let index = if values.len() > count { values.pop() } else { None };
        let args = values;
        if decl.params.len() != args.len() {
            return self.fail("type");
        }
        for (param, arg) in decl.params.iter().zip(&args) {
            if let Some(ty) = &param.ty {
                self.check_type(ty, arg)?;
            }
        }
        let target = match &post.target {
            PostTarget::Any => None,
            PostTarget::Handler(r) => Some((r.name.name.as_str(), index)),
            PostTarget::Default => {
                let on = decl.on.as_ref().expect("a handler");
                let index = match &on.index {
                    None => None,
                    Some(index) => {
                        let names = decl.params.iter().map(|p| p.name.name.clone());
                        let mut run =
                            Run::new(self.p, self.state.clone(), Pid::Init, Mode::Observer);
                        run.frames.push(names.zip(args.clone()).collect());
                        Some(run.eval(index)?)
                    }
                };
                Some((on.name.name.as_str(), index))
            }
        };
        let mut temps = args.clone();
        temps.extend(delay.clone());
        temps.extend(target.iter().flat_map(|t| t.1.clone()));
        self.act(e.id, 90, temps, |run| {
            let handler = match target {
                Some((name, index)) => Some(run.handler_key(name, index)?),
                None => None,
            };
            let delay = match delay {
                None => 0,
                Some(Value::Int(d)) if d >= 0 => d,
                Some(Value::Int(_)) => return run.fail("index"),
                Some(other) => return run.wrong(&other),
            };
            let delayed = handler.is_some_and(|h| run.p.handlers[h.0].2 == Mailbox::Delayed);
            let Some(due) = run.state.time.checked_add(if delayed { delay } else { 0 }) else {
                return run.fail("overflow");
            };
            let due = if post.front { run.state.time } else { due };
            rule("M1");
            let number = run.fresh();
            run.state.alive.insert(number);
            let created_for = run.creates_for(&decl.body);
            let message = Message { task, args, due, handle: number, created_for };
            match handler {
                None => run.state.pool.push(message),
                Some(h) => {
                    let mailbox = run.state.mailboxes.entry(h).or_default();
                    rule(if post.front { "M5" } else { "M2" });
                    if post.front && run.p.mutant != Mutant::FrontIgnored {
                        mailbox.front.insert(0, message);
                    } else {
                        mailbox.rest.push(message);
                    }
                }
            }
            Ok(Value::Handle(number))
        })
    }

    fn handler_key(&self, name: &str, index: Option<Value>) -> Res<super::state::Key> {
        let number = self.p.handler(name);
        let index = match index {
            Some(Value::Int(1)) if self.wrongly(Mutant::HandlerIndexIgnored) => Some(Value::Int(0)),
            index => index,
        };
        self.array_key(number, self.p.handlers[number].1, index)
    }
}

/// The ends of a range that is written as one.
fn range(e: &Expr) -> Option<(&Expr, &Expr)> {
    match &e.kind {
        ExprKind::Paren(inner) => range(inner),
        ExprKind::Binary { op: BinaryOp::Range, left, right, .. } => Some((left, right)),
        _ => None,
    }
}
