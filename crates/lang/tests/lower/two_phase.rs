//! Two-phase commit: the counts of unique states are those of other checkers.

use crate::lower::explore::explore;

/// The model for a number of participants.
pub(crate) fn model(participants: usize) -> String {
    let text = include_str!("two_phase.any");
    text.replace("const N = 3;", &format!("const N = {participants};"))
}

#[test]
fn unique_states() {
    for (participants, states) in [(3, 288), (4, 1_568), (5, 8_832), (6, 50_816)] {
        let found = explore(&model(participants));
        assert_eq!(found.states, states, "{participants} participants");
        assert!(found.violated.is_empty() && found.failures.is_empty());
    }
}

#[test]
fn a_participant_that_commits_alone_is_found() {
    let broken = model(3).replace("when msgs.contains(Msg.Commit)", "");
    assert_eq!(explore(&broken).violated.len(), 1);
}
