//! Searches that a limit cuts, and their remaining guarantees.

use crate::tests::common::Toy;
use crate::tests::paper::systems::figure_3;
use crate::tests::paper::worked::traced;
use anyorder_explore::paper::{PaperOptions, explore};
use anyorder_explore::stateful::Error;
use anyorder_search::Limit;
use anyorder_system::{Control, Limits, StopReason};

fn cut(options: &PaperOptions, control: &Control<'_>) -> (Option<Limit>, u64) {
    let outcome = explore(&figure_3(), options, control).unwrap();
    assert_eq!(outcome.complete, outcome.limits.is_empty());
    (outcome.limits.first().copied(), outcome.stats.transitions)
}

#[test]
fn limits_cut_a_search() {
    let free = Control::default();
    assert_eq!(cut(&traced(), &free), (None, 16));
    for most in 1..4 {
        let options = PaperOptions { states_max: Some(most), ..traced() };
        assert_eq!(cut(&options, &free).0, Some(Limit::States));
    }
    assert_eq!(cut(&PaperOptions { states_max: Some(4), ..traced() }, &free).0, None);
    let with = |limits| Control { limits, ..Control::default() };
    for most in 0..16 {
        let limits = Limits { executions: Some(most), ..Limits::NONE };
        let (limit, transitions) = cut(&traced(), &with(limits));
        assert_eq!(limit, Some(Limit::Executions));
        assert!(transitions <= most);
    }
    let limits = Limits { memory_bytes: Some(10), ..Limits::NONE };
    assert_eq!(cut(&traced(), &with(limits)).0, Some(Limit::Memory));
    let stopped = Control::default();
    stopped.cancel.stop(StopReason::TimeLimit);
    assert_eq!(cut(&traced(), &stopped), (Some(Limit::Time), 0));
}

#[test]
fn a_program_must_begin_somewhere() {
    let toy = Toy { initial: Vec::new(), ..figure_3() };
    let error = explore(&toy, &traced(), &Control::default()).map(|_| ()).unwrap_err();
    assert_eq!(error, Error::NoInitialState);
}
