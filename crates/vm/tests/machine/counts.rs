//! Numbers of states that are known from elsewhere.

use crate::support::{explore, machine};
use crate::two_phase::two_phase;

#[test]
fn two_phase_commit_has_the_states_that_are_known() {
    for (count, states) in [(3, 288), (4, 1_568), (5, 8_832)] {
        let explored = explore(&machine(two_phase(count)), 1_000_000);
        assert_eq!(explored.states.len(), states, "{count} resource managers");
        assert_eq!(explored.failures, [] as [String; 0]);
    }
}
