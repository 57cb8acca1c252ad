//! The machine from outside: programs made by hand for each instruction and each rule.

mod counts;

mod instructions;

mod mailboxes;

mod runs;

mod support;

mod threads;

mod two_phase;
