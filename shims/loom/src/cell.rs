//! Data that only happens-before protects.

pub use anyorder::cell::{Cell, ConstPtr, MutPtr, UnsafeCell};
