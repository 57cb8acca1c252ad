//! Tests of R4 against the paper's results, a naive twin, and systems that misbehave.

mod cut;
mod free_inputs;
mod full;
mod models;
mod mutants;
mod naive;
mod piped;
mod queues;
mod random;
mod random_models;
mod roles;
mod slides;
mod toy;
mod traps;
mod unreported;
mod unstable;
mod verdicts;
mod waits;
mod worked;
