//! The page for authors of front ends, so that its examples are compiled and run as tests. The
//! programs are in `bin`.
#![doc = include_str!("../../../docs/writing-a-front-end.md")]
#![forbid(unsafe_code)]
