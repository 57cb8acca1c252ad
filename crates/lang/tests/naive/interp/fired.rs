//! How often each rule of docs/semantics.md was followed, and the rules that a mutant gets wrong.

use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    static FIRED: RefCell<BTreeMap<&'static str, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Notes that a rule was followed.
pub fn rule(name: &'static str) {
    FIRED.with_borrow_mut(|fired| *fired.entry(name).or_default() += 1);
}

/// What this thread has noted.
pub fn counts() -> BTreeMap<&'static str, u64> {
    FIRED.with_borrow(Clone::clone)
}

/// The rules that have a place in the interpreter. V1, V2, X1, X5 and X7 are in how values and
/// places are made; V5 and X17's refusals stand among the failures.
pub const RULES: [&str; 67] = [
    "V3", "V4", "V6", "V7", "S2", "S4", "S5", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9",
    "T11", "T12", "M1", "M2", "M3", "M4", "M5", "M6", "E1", "E2", "E3", "E4", "E5", "X2", "X3",
    "X4", "X6", "X8", "X9", "X10", "X11", "X12", "X13", "X14", "X15", "X16", "X17", "B1", "B2",
    "B3", "B4", "B5", "B6", "A1", "A2", "A3", "A4", "A5", "A6", "A7", "L1", "L2", "W1", "W2", "W3",
    "F1", "F2", "C2", "C4", "C5", "U4",
];
