//! Which operations on shared data commute.
//!
//! This crate defines kinds of operations and when two of them commute. It depends on no traces and
//! no engines.
//!
//! - [`Spec`]: a commutativity specification, parsed from text. For pairs of methods of a type, it
//!   states when two calls commute. A pair without a condition does not commute. Engines trust a
//!   specification; [`check`] searches for mistakes in it, given an executable [`Model`] of the
//!   type.
//! - [`AccessPoints`]: a compiled specification. Conflicts are looked up instead of evaluated. It
//!   never has fewer conflicts than the specification, and reports where it may have more.
//! - [`Comm`]: which earlier invocations an invocation observes.
//! - [`Waits`]: the conditions a call waits for.
//! - [`built_in_types`]: register, counter, set, map, queue, ..., each with a coarse and a fine
//!   specification, its communication and its model.
//! - [`Update`]s of a single location, such as adding to a counter, and [`Declarations`] by which a
//!   user declares that accesses to some locations are such updates.
//!
//! ```
//! use anyorder_commute::{AccessPoints, Spec, Value};
//! let spec = Spec::parse(
//!     "spec set {
//!         add(v)/r ~ add(w)/s when v != w || (!r && !s);
//!         add(v)/r ~ contains(w) when v != w || !r;
//!         contains(_) ~ contains(_);
//!     }",
//! )?;
//! let add = spec.invocation("add", vec![Value::Int(1)], Value::Bool(true));
//! let look = spec.invocation("contains", vec![Value::Int(1)], Value::Bool(true));
//! let other = spec.invocation("contains", vec![Value::Int(2)], Value::Bool(false));
//! assert!(!spec.commute(&add, &look) && spec.commute(&add, &other));
//! let points = AccessPoints::of(&spec);
//! assert!(points.is_exact());
//! assert!(points.in_conflict(&add, &look) && !points.in_conflict(&add, &other));
//! # Ok::<(), anyorder_commute::SpecErrors>(())
//! ```

#![forbid(unsafe_code)]

pub use comm::{Comm, Mode, Observations, Observed};
pub use declarations::{Declaration, DeclarationError, Declarations};
pub use expr::{Expr, Operator, Side, Sides, Slot, StateFunctions, View};
pub use formula::Formula;
pub use model::{
    Call, CheckLimits, Counterexample, Difference, Model, Mutant, Verdict, check, mutants,
};
pub use points::{AccessPoints, ClassId, Exactness, PairExactness, Point};
pub use spec::{Condition, Invocation, Logic, Method, MethodId, Spec};
pub use text::{Document, Kind, SpecError, SpecErrors};
pub use types::{BuiltIn, built_in_type, built_in_types};
pub use update::Update;
pub use value::Value;
pub use waits::{Counted, WaitRule, Waits};

mod comm;
mod declarations;
mod display;
mod expr;
mod formula;
mod model;
mod points;
mod spec;
mod symmetry;
mod text;
mod types;
mod update;
mod value;
mod waits;
