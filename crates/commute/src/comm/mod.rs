//! Communication: what an invocation may observe of earlier ones.

pub use observe::{Observations, Observed};
pub use rule::{Comm, Mode};

mod observe;
mod rule;
