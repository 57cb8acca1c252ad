//! Statements.

use super::interp::{Evaluator, Host, Place, Res, Stop, throw, unsupported};
use super::value::{Value, equal, show};
use crate::ast::{Case, Catch, Declaration, Expr, ExprKind, ForHead, Stmt, StmtKind};

impl<H: Host> Evaluator<'_, H> {
    /// Runs statements; returns the value of the last one.
    pub(super) fn statements(&mut self, statements: &[Stmt], place: &Place) -> Res {
        let mut last = Value::Null;
        for stmt in statements {
            last = self.stmt(stmt, place)?;
        }
        Ok(last)
    }

    fn stmt(&mut self, stmt: &Stmt, place: &Place) -> Res {
        self.step()?;
        self.host.at(stmt.span);
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Package(_) | StmtKind::Import(_) | StmtKind::Method(_) => {
                Ok(Value::Null)
            }
            StmtKind::Class(_) => unsupported("class"),
            StmtKind::Declare(declaration) => self.declare(declaration, place),
            StmtKind::Expr(e) => self.expr(e, place),
            StmtKind::Block(block) => self.statements(&block.statements, &place.inner()),
            StmtKind::If(condition, yes, no) => {
                if self.condition(condition, place)? {
                    self.stmt(yes, &place.inner())
                } else if let Some(no) = no {
                    self.stmt(no, &place.inner())
                } else {
                    Ok(Value::Null)
                }
            }
            StmtKind::While(condition, body) => {
                while self.condition(condition, place)? {
                    if self.turn(body, &place.inner(), &stmt.labels)? {
                        break;
                    }
                }
                Ok(Value::Null)
            }
            StmtKind::For(head, body) => self.for_loop(head, body, &stmt.labels, place),
            StmtKind::Switch(value, cases) => self.switch(value, cases, place),
            StmtKind::Try(block, catches, last) => {
                let result = self.statements(&block.statements, &place.inner());
                let result = self.caught(result, catches, place);
                if let Some(last) = last {
                    self.statements(&last.statements, &place.inner())?;
                }
                result
            }
            StmtKind::Synchronized(lock, block) => {
                self.expr(lock, place)?;
                self.statements(&block.statements, &place.inner())
            }
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) => self.expr(value, place)?,
                    None => Value::Null,
                };
                Err(Stop::Return(value))
            }
            StmtKind::Break(label) => Err(Stop::Break(label.clone())),
            StmtKind::Continue(label) => Err(Stop::Continue(label.clone())),
            StmtKind::Throw(value) => match self.expr(value, place)? {
                value @ Value::Exception(_) => Err(Stop::Throw(value)),
                Value::Null => throw("NullPointerException", "null"),
                _ => throw("GroovyCastException", "not an exception"),
            },
            StmtKind::Assert(condition, message) => {
                if self.condition(condition, place)? {
                    return Ok(Value::Null);
                }
                match message {
                    Some(message) => {
                        let text = show(&self.expr(message, place)?);
                        throw("AssertionError", text)
                    }
                    None => throw("PowerAssertionError", "assertion failed"),
                }
            }
            StmtKind::Error => unsupported("a statement with a mistake"),
        }
    }

    /// Declares variables; returns the value of the last one.
    pub(super) fn declare(&mut self, declaration: &Declaration, place: &Place) -> Res {
        if let Some(together) = &declaration.together {
            let value = self.expr(together, place)?;
            for (index, one) in declaration.variables.iter().enumerate() {
                let item = self.index(&value, &Value::Int(index as i32))?;
                place.scope.declare(&one.name, item);
            }
            return Ok(value);
        }
        let mut last = Value::Null;
        for one in &declaration.variables {
            let typed = declaration.type_name.as_ref();
            let value = match &one.value {
                Some(value) => self.expr(value, place)?,
                None => {
                    typed.filter(|one| one.dimensions == 0).map_or(Value::Null, |one| {
                        match one.name.as_str() {
                            "int" | "short" | "byte" => Value::Int(0),
                            "long" => Value::Long(0),
                            "boolean" => Value::Bool(false),
                            "double" => Value::Double(0.0),
                            "float" => Value::Float(0.0),
                            _ => Value::Null,
                        }
                    })
                }
            };
            let value = match typed.filter(|_| one.value.is_some()) {
                Some(typed) => self.cast(value, typed, false)?,
                None => value,
            };
            place.scope.declare(&one.name, value.clone());
            last = value;
        }
        Ok(last)
    }

    /// Runs the body of a loop once; returns whether the loop ends.
    fn turn(&mut self, body: &Stmt, place: &Place, labels: &[String]) -> Res<bool> {
        self.step()?;
        let ours = |label: &Option<String>| label.as_ref().is_none_or(|one| labels.contains(one));
        match self.stmt(body, place) {
            Ok(_) => Ok(false),
            Err(Stop::Break(label)) if ours(&label) => Ok(true),
            Err(Stop::Continue(label)) if ours(&label) => Ok(false),
            Err(stop) => Err(stop),
        }
    }

    fn for_loop(&mut self, head: &ForHead, body: &Stmt, labels: &[String], place: &Place) -> Res {
        match head {
            ForHead::Each(variable, items) => {
                let items = self.expr(items, place)?;
                for item in self.iterated(&items)? {
                    let inner = place.inner();
                    let item = match &variable.type_name {
                        Some(typed) => self.cast(item, typed, false)?,
                        None => item,
                    };
                    inner.scope.declare(&variable.name, item);
                    if self.turn(body, &inner, labels)? {
                        break;
                    }
                }
            }
            ForHead::Classic(first, condition, next) => {
                let inner = place.inner();
                if let Some(first) = first {
                    self.expr(first, &inner)?;
                }
                loop {
                    if let Some(condition) = condition
                        && !self.condition(condition, &inner)?
                    {
                        break;
                    }
                    if self.turn(body, &inner.inner(), labels)? {
                        break;
                    }
                    if let Some(next) = next {
                        self.expr(next, &inner)?;
                    }
                }
            }
        }
        Ok(Value::Null)
    }

    /// Returns what a loop over a value gives.
    pub(super) fn iterated(&mut self, value: &Value) -> Res<Vec<Value>> {
        if let Value::Range(from, to) = value {
            let count = u64::from(from.abs_diff(*to));
            if count > self.steps_left {
                return Err(Stop::Limit("steps"));
            }
        }
        Ok(match value {
            Value::Null => vec![],
            Value::Map(entries) => super::map::entries(&entries.borrow()),
            Value::Text(text) => text.chars().map(|c| Value::text(c.to_string())).collect(),
            other => other.items().unwrap_or_else(|| vec![other.clone()]),
        })
    }

    fn switch(&mut self, value: &Expr, cases: &[Case], place: &Place) -> Res {
        let value = self.expr(value, place)?;
        let mut start = None;
        for (index, case) in cases.iter().enumerate() {
            if let Some(test) = &case.value {
                let test = self.expr(test, place)?;
                if self.is_case(&test, &value)? {
                    start = Some(index);
                    break;
                }
            }
        }
        let start = start.or_else(|| cases.iter().position(|case| case.value.is_none()));
        let mut last = Value::Null;
        let inner = place.inner();
        for case in cases.iter().skip(start.unwrap_or(cases.len())) {
            for stmt in &case.body {
                match self.stmt(stmt, &inner) {
                    Ok(value) => last = value,
                    Err(Stop::Break(None)) => return Ok(last),
                    Err(stop) => return Err(stop),
                }
            }
        }
        Ok(last)
    }

    /// Returns whether a case takes a value, as `isCase` decides.
    pub(super) fn is_case(&mut self, test: &Value, value: &Value) -> Res<bool> {
        Ok(match test {
            Value::Null => matches!(value, Value::Null),
            Value::Range(..) if value.is_number() => {
                test.items().unwrap_or_default().iter().any(|one| equal(one, value))
            }
            Value::List(_) | Value::Range(..) => {
                self.is_among(&test.items().unwrap_or_default(), value)?
            }
            Value::Map(entries) => super::map::get(&entries.borrow(), value).is_true(),
            Value::Closure(_) => {
                let result = self.call_value(test, vec![value.clone()])?;
                self.truth(&result)?
            }
            Value::Class(name) => super::operator::is_instance(value, name),
            test => self.equals(test, value)?,
        })
    }

    pub(super) fn is_among(&mut self, items: &[Value], value: &Value) -> Res<bool> {
        for item in items {
            if self.equals(item, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn caught(&mut self, result: Res, catches: &[Catch], place: &Place) -> Res {
        let Err(Stop::Throw(value)) = result else { return result };
        for one in catches {
            let takes = one.types.is_empty()
                && !matches!(&value, Value::Exception(own) if own.0.ends_with("Error"));
            let takes = takes
                || one.types.iter().any(|typed| super::operator::is_instance(&value, &typed.name));
            if takes {
                let inner = place.inner();
                inner.scope.declare(&one.name, value);
                return self.statements(&one.body.statements, &inner);
            }
        }
        Err(Stop::Throw(value))
    }
}

/// Returns whether an expression is a name.
pub(super) fn name_of(expr: &Expr) -> Option<&str> {
    match &expr.bare().kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
