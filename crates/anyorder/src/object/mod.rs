//! Objects with specifications: which calls commute, and what calls do.
//!
//! - [`Commutes`] says which calls of an object commute. The methods of a type that keeps an
//!   [`Object`] of such a specification run as [invocations](Object::invoke): without interruption,
//!   and in one order only where they commute. A check then runs one execution for each meaning of
//!   the calls, not of what they do inside. [`macro@crate::object`] writes both for an impl block.
//! - [`Sequential`] is a model: what calls do one after another. [`validate`] compares a
//!   specification with it, [`Linearizable`] a type.
//!   [`validate_type`] compares a specification with the type itself, without a model.
//! - [`ready`] has both for common types.
//!
//! A type that is [`Linearizable`] with the model with which its specification is
//! [valid](validate) loses nothing where its calls are invocations.

#[doc(hidden)]
pub use callable::{AnswerInWords, AnswerWithoutWords, Answered};
pub use callable::{Apart, Callable, validate_type};
pub use linear::{Linearizable, Ran};
pub use validate::{Disagreement, Validated, validate};

use crate::runtime::{self, Invocation, Slot};
use anyorder_threads::Object as State;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::marker::PhantomData;
use std::panic::Location;

mod callable;
mod linear;
pub mod ready;
mod validate;

/// Which calls of an object commute.
pub trait Commutes: 'static {
    /// A call: the method and those of its arguments that matter.
    type Call: Clone + Eq + Hash + Debug + 'static;

    /// Returns whether two calls commute: in every state where both can be made, both orders return
    /// the same and leave what later calls cannot tell apart. A call is also compared with itself,
    /// as two threads may make it. Must be symmetric; it is asked both ways, and both must agree.
    fn commute(call: &Self::Call, other: &Self::Call) -> bool;
}

/// What calls do, one after another: a model of an object.
pub trait Sequential: Clone + Eq + Hash + Debug + 'static {
    /// A call.
    type Call: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// What a call returns.
    type Answer: Clone + Eq + Hash + Debug + Send + 'static;

    /// The states in which it may begin. Most have one.
    fn initial() -> Vec<Self>;

    /// Calls to try: of each method, with arguments that make a difference.
    fn calls() -> Vec<Self::Call>;

    /// Returns all that a call may lead to, with its answer. Nothing: it waits.
    fn call(&self, call: &Self::Call) -> Vec<(Self, Self::Answer)>;
}

/// The part of an object of which checks know by a specification. A field of the type.
///
/// ```
/// use anyorder::object::{Commutes, Object};
/// use anyorder::sync::Mutex;
///
/// struct Counting;
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// enum Call {
///     Add,
///     Get,
/// }
///
/// impl Commutes for Counting {
///     type Call = Call;
///     fn commute(call: &Call, other: &Call) -> bool {
///         call == other
///     }
/// }
///
/// struct Counter {
///     object: Object<Counting>,
///     count: Mutex<u64>,
/// }
///
/// impl Counter {
///     fn add(&self) {
///         self.object.invoke(Call::Add, || *self.count.lock().unwrap() += 1);
///     }
///     fn get(&self) -> u64 {
///         self.object.invoke(Call::Get, || *self.count.lock().unwrap())
///     }
/// }
///
/// // Eight threads, and one execution.
/// let summary = anyorder::Builder::new().explore(|| {
///     let counter = Counter { object: Object::new(), count: Mutex::new(0) };
///     anyorder::thread::scope(|scope| {
///         for _ in 0..8 {
///             scope.spawn(|| counter.add());
///         }
///     });
///     assert_eq!(counter.get(), 8);
/// });
/// assert!(summary.is_ok());
/// assert_eq!(summary.executions, 1);
/// ```
pub struct Object<S: Commutes> {
    slot: Slot,
    spec: PhantomData<fn() -> S>,
}

impl<S: Commutes> Object<S> {
    /// Makes one.
    #[track_caller]
    #[must_use]
    pub const fn new() -> Object<S> {
        Object { slot: Slot::of(std::any::type_name::<Object<S>>), spec: PhantomData }
    }

    /// Runs a method: no other thread runs meanwhile, but where it waits.
    ///
    /// From then on the thread is taken to know of it what it returned, and nothing else: equal
    /// results must mean equal knowledge, so `body` must tell its caller nothing on another way.
    /// Outside of checks it only runs `body`.
    #[track_caller]
    pub fn invoke<R: Hash>(&self, call: S::Call, body: impl FnOnce() -> R) -> R {
        let at = Location::caller();
        let id = self.slot.id(|| State::Data(0));
        let Some(invocation) = Invocation::begin(id, &call, S::commute, at) else { return body() };
        let result = body();
        invocation.end(runtime::hash_of(&result));
        result
    }

    /// As [`invoke`](Self::invoke), for results that cannot be hashed: the thread is taken to know
    /// all that it saw inside.
    #[track_caller]
    pub fn invoke_opaque<R>(&self, call: S::Call, body: impl FnOnce() -> R) -> R {
        let at = Location::caller();
        let id = self.slot.id(|| State::Data(0));
        let invocation = Invocation::begin(id, &call, S::commute, at);
        let result = body();
        // It ends with what the thread saw.
        drop(invocation);
        result
    }
}

impl<S: Commutes> Default for Object<S> {
    #[track_caller]
    fn default() -> Object<S> {
        Object::new()
    }
}

impl<S: Commutes> Debug for Object<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").finish_non_exhaustive()
    }
}
