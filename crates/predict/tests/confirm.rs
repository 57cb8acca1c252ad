//! Witnesses of small traces: the examples of the thesis, and for each rule the smallest trace in which it decides.

mod common;

use anyorder_predict::{
    Answer, Communication, ConfirmOptions, Confirmer, Form, NoCommunication, Witness,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace};
use common::script::script;

fn answer(trace: &Trace, first: u32, second: u32, communication: &mut dyn Communication) -> Answer {
    let mut confirmer = Confirmer::new(trace, communication, ConfirmOptions::default());
    confirmer.confirm(EventId(first), EventId(second), &Cancel::new())
}

fn ask(text: &str, first: u32, second: u32) -> Answer {
    answer(&script(text), first, second, &mut NoCommunication)
}

fn found(form: Form, order: &[u32]) -> Answer {
    let order = order.iter().copied().map(EventId).collect();
    Answer::Confirmed(Witness { form, order, prefix: 0, shortest: true })
}

#[test]
fn two_writes_without_locks() {
    assert_eq!(ask("T1 w x; T2 w x", 0, 1), found(Form::Reversed, &[1, 0]));
    assert_eq!(ask("T1 w x; T2 r x", 0, 1), found(Form::CoEnabled, &[1, 0]));
    assert_eq!(ask("T1 r x; T2 w x", 0, 1), found(Form::Last, &[1, 0]));
}

#[test]
fn example_1() {
    let text = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 free x; T2 rel m";
    assert_eq!(ask(text, 1, 4), found(Form::Reversed, &[3, 4, 5, 0, 1]));
}

#[test]
fn figure_3_3_is_impossible() {
    let text = "T1 acq m; T1 r y; T1 w x; T1 rel m; T2 acq m; T2 free x; T2 w y; T2 rel m";
    assert_eq!(ask(text, 2, 5), Answer::Impossible);
}
