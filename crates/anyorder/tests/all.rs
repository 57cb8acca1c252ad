//! All suites.

mod arcs;
mod atomics;
mod attribute;
mod basics;
mod channels;
mod cores;
mod engines;
mod environment;
mod failing;
mod futures;
mod leaks;
mod lifetimes;
mod lifetimes_random;
mod litmus;
mod locks;
mod memory;
mod object_attribute;
mod objects;
mod parking_lot;
mod readme;
mod replay;
mod reports;
mod select;
mod spinning;
mod stacks;
mod statics;
mod support;
mod tasks;
mod teardown;
#[cfg(feature = "std-size")]
mod thin;
mod threads;
mod unseen;
mod unsync;
mod verdicts;
mod weak;
