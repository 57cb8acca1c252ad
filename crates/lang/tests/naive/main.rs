//! The naive interpreter of the model language, and what is checked against it.

#![expect(unreachable_pub, reason = "all of it is one test program")]

mod colours;
mod components;
mod constants;
mod differential;
mod ends;
mod explore;
mod gallery;
pub(crate) mod generate;
mod indices;
mod interp;
#[path = "../../../search/tests/random/livelocks.rs"]
mod livelock_definition;
mod livelocks;
mod random;
mod rules;
mod stored;
mod switches;
mod totals;
mod words;
mod worked;

/// Calls of models nest 256 deep, and each takes many of ours.
pub(crate) fn with_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(512 << 20);
        builder.spawn_scoped(scope, f).expect("a thread").join().expect("no panic")
    })
}
