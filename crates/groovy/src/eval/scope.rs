//! Variables, and what a closure remembers.

use super::value::Value;
use crate::ast;
use std::cell::RefCell;
use std::rc::Rc;

/// The variables of a block, and those around it.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    inner: Rc<Frame>,
}

#[derive(Debug, Default)]
struct Frame {
    variables: RefCell<Vec<(String, Value)>>,
    outer: Option<Scope>,
}

impl Scope {
    /// Returns a scope inside this one.
    pub(super) fn child(&self) -> Scope {
        let outer = Some(self.clone());
        Scope { inner: Rc::new(Frame { variables: RefCell::default(), outer }) }
    }

    pub(super) fn declare(&self, name: &str, value: Value) {
        self.inner.variables.borrow_mut().push((name.to_owned(), value));
    }

    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let mut at = Some(self);
        while let Some(scope) = at {
            let variables = scope.inner.variables.borrow();
            if let Some((_, value)) = variables.iter().rev().find(|(own, _)| own == name) {
                return Some(value.clone());
            }
            at = scope.inner.outer.as_ref();
        }
        None
    }

    /// Changes a variable; returns whether there is one.
    pub(super) fn set(&self, name: &str, value: &Value) -> bool {
        let mut at = Some(self);
        while let Some(scope) = at {
            let mut variables = scope.inner.variables.borrow_mut();
            if let Some((_, own)) = variables.iter_mut().rev().find(|(own, _)| own == name) {
                *own = value.clone();
                return true;
            }
            at = scope.inner.outer.as_ref();
        }
        false
    }
}

/// A closure: its code, and what it was made in.
#[derive(Debug)]
pub struct ClosureValue {
    pub(super) code: Code,
    /// What `with` and a host set: names that nothing else explains are looked up there.
    pub(super) delegate: RefCell<Option<Value>>,
    /// The delegate comes before the closure around.
    pub(super) delegate_first: std::cell::Cell<bool>,
}

#[derive(Debug)]
pub(super) enum Code {
    /// A closure of the text, the variables around it, and the closure around it.
    Text(Rc<ast::Closure>, Scope, Option<Rc<ClosureValue>>),
    /// `object.&name`
    Pointer(Value, String),
    /// `a >> b`, or `b << a`
    Composed(Value, Value),
    /// `f.curry(a)`
    Curried(Value, Vec<Value>),
}

impl ClosureValue {
    pub(super) fn value(code: Code) -> Value {
        Value::Closure(Rc::new(ClosureValue {
            code,
            delegate: RefCell::default(),
            delegate_first: std::cell::Cell::new(false),
        }))
    }

    /// Sets where names are looked up that nothing else explains. `first`: before the closure
    /// around this one.
    pub fn set_delegate(&self, delegate: Value, first: bool) {
        *self.delegate.borrow_mut() = Some(delegate);
        self.delegate_first.set(first);
    }

    /// Returns the number of parameters; `it` is one.
    pub(super) fn parameters(&self) -> usize {
        match &self.code {
            Code::Text(code, ..) => code.parameters.as_ref().map_or(1, Vec::len),
            Code::Pointer(..) | Code::Composed(..) => 1,
            Code::Curried(inner, given) => match inner {
                Value::Closure(inner) => inner.parameters().saturating_sub(given.len()),
                _ => 0,
            },
        }
    }
}
