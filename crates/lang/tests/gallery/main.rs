//! The gallery under `examples/models`: every model is searched in full, every fix is needed.
//!
//! What a search must find stands in each model, in its `// expect:` line. Run with
//! `ANYORDER_BLESS=1` to write these lines anew, and then look at the difference.

mod counts;
mod files;
mod fix;
mod readme;
mod run;
mod tutorial;
mod twins;
