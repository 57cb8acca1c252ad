//! Random models, as text: those that the tests of the language make.

#[path = "../../../lang/tests/naive/generate/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the language")]
pub(crate) mod random;

#[path = "../../../lang/tests/symmetry/generate.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the language")]
pub(crate) mod symmetric;
