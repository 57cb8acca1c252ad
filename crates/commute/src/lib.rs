//! Which operations on shared data may change places without a difference.
//!
//! This crate knows kinds of operations and when two of them commute; it knows no traces and no
//! engines.
//!
//! - [`Spec`]: a commutativity specification, read from a text: for pairs of methods of a type,
//!   when two calls of them commute. A pair of which nothing is said does not. What a specification
//!   says is believed by engines; [`check`] looks for what is wrong with it, given an executable
//!   [`Model`] of the type.
//! - [`AccessPoints`]: a specification compiled, so that conflicts are looked up instead of
//!   evaluated. Never fewer conflicts than the specification has; where there may be more, it says
//!   so.
//! - [`Comm`]: what an invocation may observe of earlier ones.
//! - [`Waits`]: what a call waits for.
//! - [`built_in_types`]: register, counter, set, map, queue, ..., each with a coarse and a fine
//!   specification, its communication and its model.
//! - [`Update`]s of a single location, such as adding to a counter, and [`Declarations`] by which a
//!   user says that accesses to some locations are such updates.
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
//! assert!(points.is_exact() && points.in_conflict(&add, &look) && !points.in_conflict(&add, &other));
//! # Ok::<(), anyorder_commute::SpecErrors>(())
//! ```

pub use comm::{Comm, Mode, Observations, Observed};
pub use declarations::{Declaration, DeclarationError, Declarations};
pub use expr::{Expr, Operator, Side, Sides, Slot, StateFunctions, View};
pub use formula::Formula;
pub use model::{Call, Counterexample, Difference, Limits, Model, Mutant, Verdict, check, mutants};
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
