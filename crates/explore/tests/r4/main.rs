//! R4 against what the paper says, against a naive twin, and against systems that misbehave.

mod naive;
mod piped;
mod random;
mod slides;
mod toy;
mod unstable;
mod worked;
