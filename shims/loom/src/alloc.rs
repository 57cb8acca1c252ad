//! Memory that must be given back.

pub use anyorder::alloc::{Layout, Track, alloc, alloc_zeroed, dealloc};
