//! The state of a run, and what the host adds.

use super::scope::{ClosureValue, Scope};
use super::value::Value;
use crate::ast::{Closure, Method, Script, StmtKind};
use anyorder_common::source::Span;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

/// Why an evaluation ended before its end.
#[derive(Debug)]
pub enum Stop {
    /// `return`
    Return(Value),
    /// `break`
    Break(Option<String>),
    /// `continue`
    Continue(Option<String>),
    /// An exception.
    Throw(Value),
    /// A bound was reached: steps, or calls inside calls.
    Limit(&'static str),
    /// Something that this evaluator does not know: its name.
    Unsupported(String),
}

/// The limit of time: [`Host::is_stopped`].
pub const TIME: &str = "time";

/// Steps between two questions whether the time is over.
const STEPS_OF_QUESTION: u64 = 256;

pub(super) type Res<T = Value> = Result<T, Stop>;

/// What the platform of the apps adds. `None`: it knows no such name.
pub trait Host {
    /// Reads a property of the app (`None`) or of an object of the host.
    fn property(&mut self, object: Option<u32>, name: &str) -> Option<Result<Value, Stop>>;
    /// Sets a property; returns whether there is one.
    fn set_property(&mut self, object: Option<u32>, name: &str, value: &Value) -> bool;
    /// Calls a method that the app does not have, or one of an object of the host.
    fn call(
        &mut self,
        object: Option<u32>,
        name: &str,
        arguments: &[Value],
    ) -> Option<Result<Value, Stop>>;
    /// Decides `object == other`; `None`: an object equals only itself.
    fn equals(&mut self, _object: u32, _other: &Value) -> Option<Result<bool, Stop>> {
        None
    }
    /// Compares an object with another value; `None`: the two have no order.
    fn order(&mut self, _object: u32, _other: &Value) -> Option<Result<Ordering, Stop>> {
        None
    }
    /// Returns whether an object counts as true; `None`: it does.
    fn is_true(&mut self, _object: u32) -> Option<Result<bool, Stop>> {
        None
    }
    /// Returns whether an object stands for a value that is not known: of an operator on it the
    /// host makes another such object, as [`Host::call`] of the operator's name.
    fn is_unknown(&self, _object: u32) -> bool {
        false
    }
    /// Returns the items that an object gives to the closure of a method: `each`, `find`. `None`:
    /// the object itself is the only one.
    fn items(&mut self, _object: u32, _method: &str) -> Option<Vec<Value>> {
        None
    }
    /// Returns whether a name without a declaration becomes a variable when it is set, as in a
    /// script. In a class it does not.
    fn has_binding(&self) -> bool {
        true
    }
    /// Returns whether a command to a list goes to each of its objects, as to the devices of one
    /// input. Groovy itself has no such rule.
    fn takes_together(&self) -> bool {
        true
    }
    /// Learns that a call begins; returns whether it may, so deep inside of others.
    fn enter(&mut self) -> bool {
        true
    }
    /// Learns that the call has ended.
    fn leave(&mut self) {}
    /// Reads a property of a text: a field of the class of texts.
    fn text_property(&mut self, _text: &str, _name: &str) -> Option<Value> {
        None
    }
    /// Learns that a value becomes a part of a text.
    fn shown(&mut self, _value: &Value) {}
    /// Learns that an entry of a map is looked up.
    fn keyed(&mut self, _key: &Value) {}
    /// Takes what the program prints.
    fn print(&mut self, text: &str);
    /// Learns where the statement is that runs next, or the call that [`Host::call`] may get.
    fn at(&mut self, _place: Span) {}
    /// Returns whether the run is to end now, by [`Stop::Limit`] of [`TIME`]. It is asked from time
    /// to time.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A host without a platform: it keeps what is printed.
#[derive(Clone, Debug, Default)]
pub struct NoHost {
    /// What was printed.
    pub printed: String,
}

impl Host for NoHost {
    fn property(&mut self, _: Option<u32>, _: &str) -> Option<Result<Value, Stop>> {
        None
    }

    fn set_property(&mut self, _: Option<u32>, _: &str, _: &Value) -> bool {
        false
    }

    fn call(&mut self, _: Option<u32>, _: &str, _: &[Value]) -> Option<Result<Value, Stop>> {
        None
    }

    fn print(&mut self, text: &str) {
        self.printed += text;
    }
}

/// The methods of scripts, ready for many runs.
#[derive(Clone, Debug, Default)]
pub struct Methods {
    by_name: Rc<HashMap<String, Vec<Rc<Method>>>>,
}

impl Methods {
    /// Collects the methods of `scripts`. Of methods that take the same arguments, the first
    /// counts.
    pub fn of<'s>(scripts: impl IntoIterator<Item = &'s Script>) -> Methods {
        let mut by_name: HashMap<String, Vec<Rc<Method>>> = HashMap::new();
        for stmt in scripts.into_iter().flat_map(|script| &script.statements) {
            if let StmtKind::Method(method) = &stmt.kind {
                by_name.entry(method.name.clone()).or_default().push(Rc::new((**method).clone()));
            }
        }
        Methods { by_name: Rc::new(by_name) }
    }

    /// Returns whether there is a method of this name.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Vec<Rc<Method>>> {
        self.by_name.get(name)
    }
}

/// Most calls inside calls. Each takes some kilobytes of stack.
pub(super) const DEPTH_MAX: u32 = 100;

/// A run of a script.
pub struct Evaluator<'a, H: Host> {
    pub(super) host: &'a mut H,
    pub(super) methods: Methods,
    pub(super) binding: HashMap<String, Value>,
    pub(super) closures: HashMap<usize, Rc<Closure>>,
    pub(super) steps_left: u64,
    pub(super) depth: u32,
}

/// Where an expression is evaluated.
#[derive(Clone, Default)]
pub(super) struct Place {
    pub(super) scope: Scope,
    pub(super) closure: Option<Rc<ClosureValue>>,
}

impl Place {
    pub(super) fn inner(&self) -> Place {
        Place { scope: self.scope.child(), closure: self.closure.clone() }
    }
}

impl<'a, H: Host> Evaluator<'a, H> {
    /// Prepares a run of `script` with a bound on its steps.
    pub fn new(script: &Script, host: &'a mut H, steps_max: u64) -> Self {
        Self::with(Methods::of([script]), host, steps_max)
    }

    /// Prepares a run with methods that were collected before. Takes constant time.
    pub fn with(methods: Methods, host: &'a mut H, steps_max: u64) -> Self {
        Self {
            host,
            methods,
            binding: HashMap::new(),
            closures: HashMap::new(),
            steps_left: steps_max,
            depth: 0,
        }
    }

    /// Runs the statements of the script; returns the value of the last one.
    ///
    /// # Errors
    ///
    /// Returns why the run ended early: an exception, a bound, or something unknown.
    pub fn run(&mut self, script: &Script) -> Result<Value, Stop> {
        let place = Place::default();
        match self.statements(&script.statements, &place) {
            Err(Stop::Return(value)) => Ok(value),
            result => result,
        }
    }

    /// Calls a method of the script.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::run`]; an exception if there is no such method.
    pub fn call(&mut self, name: &str, arguments: Vec<Value>) -> Result<Value, Stop> {
        self.call_named(name, arguments, &Place::default())
    }

    pub(super) fn step(&mut self) -> Res<()> {
        match self.steps_left.checked_sub(1) {
            Some(left) => {
                self.steps_left = left;
                if left.is_multiple_of(STEPS_OF_QUESTION) && self.host.is_stopped() {
                    return Err(Stop::Limit(TIME));
                }
                Ok(())
            }
            None => Err(Stop::Limit("steps")),
        }
    }
}

/// Returns an exception.
pub(super) fn throw<T>(class: &str, message: impl Into<String>) -> Res<T> {
    Err(Stop::Throw(Value::Exception(Rc::new((class.to_owned(), Some(message.into()))))))
}

pub(super) fn unsupported<T>(what: impl Into<String>) -> Res<T> {
    Err(Stop::Unsupported(what.into()))
}

/// Returns the class of an exception with its package.
pub(super) fn full_name(class: &str) -> String {
    match class {
        "MissingPropertyException" | "MissingMethodException" => format!("groovy.lang.{class}"),
        "GroovyCastException" => {
            format!("org.codehaus.groovy.runtime.typehandling.{class}")
        }
        "PatternSyntaxException" => format!("java.util.regex.{class}"),
        "PowerAssertionError" => format!("org.codehaus.groovy.runtime.powerassert.{class}"),
        _ => format!("java.lang.{class}"),
    }
}
