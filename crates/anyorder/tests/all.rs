//! All suites.

mod basics;
