//! Specifications and models of common types.
//!
//! The specifications are those of [`anyorder_commute`], as far as they speak of methods and
//! arguments alone: whether two calls commute must be known before they return. The models are
//! small: keys, elements and values are the numbers 0 to 2.

use super::{Commutes, Sequential};
use anyorder_commute::{BuiltIn, Model, Spec, Value, built_in_type};
use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

/// What a call returns.
pub type Answer = Value;

/// A call: the method, and its arguments.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// The method.
    pub method: &'static str,
    /// The arguments.
    pub arguments: Vec<i64>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.arguments.iter().map(i64::to_string).collect();
        write!(f, "{}({})", self.method, arguments.join(", "))
    }
}

impl Call {
    /// Makes a call.
    #[must_use]
    pub fn new(method: &'static str, arguments: &[i64]) -> Call {
        Call { method, arguments: arguments.to_vec() }
    }

    fn values(&self) -> Vec<Value> {
        self.arguments.iter().copied().map(Value::Int).collect()
    }
}

/// A specification of this module. Its calls are [`Call`]s.
pub trait Ready: Commutes<Call = Call> {
    /// The methods, with the number of their arguments.
    const CALLS: &'static [(&'static str, usize)];
}

/// What can be an argument of a [`Call`]: different values are different numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument of a ready specification",
    note = "arguments are integers of up to 64 bits, `bool` and `char`"
)]
pub trait Argument {
    /// Returns the number.
    fn as_argument(&self) -> i64;
}

macro_rules! arguments {
    ($($type:ty)*) => {$(
        impl Argument for $type {
            fn as_argument(&self) -> i64 {
                *self as i64
            }
        }
    )*};
}

arguments! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool }

impl Argument for char {
    fn as_argument(&self) -> i64 {
        i64::from(u32::from(*self))
    }
}

/// For [`macro@crate::object`]: does not compile unless the specification has the call.
#[doc(hidden)]
pub const fn assert_has_call(calls: &[(&str, usize)], name: &str, arguments: usize) {
    let mut at = 0;
    while at < calls.len() {
        let (known, count) = calls[at];
        if is_same(known, name) {
            assert!(count == arguments, "the call has another number of arguments");
            return;
        }
        at += 1;
    }
    panic!("the specification has no call of this name: name it by `#[call(...)]`");
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The specifications that were parsed, by type.
static SPECS: LazyLock<Mutex<HashMap<&'static str, Spec>>> = LazyLock::new(Mutex::default);

fn built_in(name: &str) -> &'static BuiltIn {
    built_in_type(name).expect("a built-in type")
}

/// Whether two calls commute, whatever they return.
fn commute(name: &'static str, call: &Call, other: &Call) -> bool {
    let mut specs = SPECS.lock().unwrap_or_else(PoisonError::into_inner);
    let spec = specs.entry(name).or_insert_with(|| {
        let document = built_in(name).coarse().expect("the specification of a built-in type");
        document.spec(name).expect("a specification of this name").clone()
    });
    let invocation = |call: &Call| spec.invocation(call.method, call.values(), Value::Null);
    spec.commute(&invocation(call), &invocation(other))
}

macro_rules! ready {
    ($($(#[$doc:meta])* $type:ident $name:literal $calls:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $type(Vec<i64>);

        impl Commutes for $type {
            type Call = Call;

            fn commute(call: &Call, other: &Call) -> bool {
                commute($name, call, other)
            }
        }

        impl Ready for $type {
            const CALLS: &'static [(&'static str, usize)] = &$calls;
        }

        impl Sequential for $type {
            type Call = Call;
            type Answer = Answer;

            fn initial() -> Vec<$type> {
                built_in($name).initial().into_iter().map($type).collect()
            }

            fn calls() -> Vec<Call> {
                calls($name)
            }

            fn call(&self, call: &Call) -> Vec<($type, Answer)> {
                let named = anyorder_commute::Call::new(call.method, call.values());
                let outcomes = built_in($name).apply(&self.0, &named);
                outcomes.into_iter().map(|(state, answer)| ($type(state), answer)).collect()
            }
        }
    )*};
}

ready! {
    /// A value: `read()`, `write(v)`.
    Register "register" [("read", 0), ("write", 1)];
    /// A number: `add(n)`, `get()`, `fetch_add(n)`. The model counts modulo 5.
    Counter "counter" [("add", 1), ("get", 0), ("fetch_add", 1)];
    /// Distinct elements: `add(v)`, `remove(v)`, `contains(v)`, `size()`.
    Set "set" [("add", 1), ("remove", 1), ("contains", 1), ("size", 0)];
    /// Values by key: `put(k, v)`, `get(k)`, `remove(k)`, `size()`.
    Map "map" [("put", 2), ("get", 1), ("remove", 1), ("size", 0)];
    /// Elements with counts.
    Multiset "multiset" [("add", 1), ("remove", 1), ("count", 1), ("size", 0)];
    /// First in, first out.
    Queue "queue" [("enqueue", 1), ("dequeue", 0), ("peek", 0), ("size", 0)];
    /// Last in, first out.
    Stack "stack" [("push", 1), ("pop", 0), ("top", 0), ("size", 0)];
    /// Classes that are joined.
    UnionFind "union_find" [("union", 2), ("find", 1), ("connected", 2)];
}

/// The calls of the models, by type.
static CALLS: LazyLock<Mutex<HashMap<&'static str, Vec<Call>>>> = LazyLock::new(Mutex::default);

fn calls(name: &'static str) -> Vec<Call> {
    let mut all = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(name).or_insert_with(|| calls_of(name)).clone()
}

fn calls_of(name: &str) -> Vec<Call> {
    let document = built_in(name).coarse().expect("the specification of a built-in type");
    let spec = document.spec(name).expect("a specification of this name");
    // Once for each type.
    let methods: Vec<&'static str> = spec
        .methods()
        .iter()
        .map(|method| &*Box::leak(method.name().to_owned().into_boxed_str()))
        .collect();
    let known = |call: anyorder_commute::Call| {
        let int = |value: &Value| match value {
            Value::Int(value) => *value,
            _ => 0,
        };
        let method = methods.iter().find(|method| **method == call.method)?;
        Some(Call { method, arguments: call.arguments.iter().map(int).collect() })
    };
    built_in(name).calls().into_iter().filter_map(known).collect()
}
