//! Conversion of traces: messages and given orders, checked by hand.

mod common;
mod edtrace;
mod ended;
mod observed;
mod random;
mod real;
