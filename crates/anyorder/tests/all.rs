//! All suites.

mod arcs;
mod atomics;
mod basics;
mod channels;
mod futures;
mod litmus;
mod locks;
mod memory;
mod readme;
mod statics;
mod support;
mod threads;
mod verdicts;
mod weak;
