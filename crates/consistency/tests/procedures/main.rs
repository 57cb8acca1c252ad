//! The procedures that enumerate, and the full problem: by hand, against the oracles of the testkit, and sabotaged.

mod support;

mod by_hand;

mod agreement;

mod mutants;

mod sketch_of_flat;

mod flat_is_hard;
