//! What becomes of traces: messages and given orders, checked by hand.

mod common;

mod edtrace;

mod observed;

mod real;

mod random;
