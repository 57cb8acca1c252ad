//! Communication: which earlier invocations an invocation may observe.

pub use observe::{Observations, Observed};
pub use rule::{Comm, Mode};

mod observe;
mod rule;
