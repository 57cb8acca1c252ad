//! Programs that block: correct ones raise no alarm, and the check finds calls that may wait for
//! ever. `anyorder_certify` checks each answer.

use crate::common::script::script;
use anyorder_certify::{
    Call, CallRules, Calls, ClaimedWitness, Lanes, ReorderingChecker, WitnessForm,
};
use anyorder_commute::Document;
use anyorder_predict::check::{
    Category, CheckOptions, Confirms, Found, PairResult, Pairs, Subject, check, object,
};
use anyorder_predict::{
    Answer, Communication, ConfirmOptions, Confirmer, Form, GaveUp, Internals, Report, Specified,
    SpecifiedCommunication, Types, Witness,
};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{Columns, EventId, EventKind, Mode, Op, Trace};

/// The trace of a script; `broadcast out:c` is the end of a wait on `c` by timeout, `destroy no:m`
/// a failed attempt at `m`, `signal barrier:b` a barrier.
fn trace(text: &str) -> Trace {
    let plain = script(text);
    let (mut tables, mut columns): (_, Columns) = (plain.tables().clone(), plain.columns().clone());
    let find = |tables: &anyorder_trace::Tables, names: &[anyorder_trace::NameId], name: &str| {
        names.iter().position(|known| tables.name(*known) == name).expect("named before") as u32
    };
    for row in 0..columns.len() {
        let operand = columns.operands[row] as usize;
        match columns.ops[row].kind() {
            EventKind::Broadcast => {
                let name = tables.name(tables.conditions[operand]).to_owned();
                if let Some(of) = name.strip_prefix("out:") {
                    columns.ops[row] = Op::new(EventKind::Wake, Mode::TIMEOUT);
                    columns.operands[row] = find(&tables, &tables.conditions, of);
                }
            }
            EventKind::Destroy => {
                let name = tables.name(tables.locks[operand]).to_owned();
                if let Some(of) = name.strip_prefix("no:") {
                    columns.ops[row] = EventKind::Refused.into();
                    columns.operands[row] = find(&tables, &tables.locks, of);
                }
            }
            _ => {}
        }
    }
    tables.meta = plain.tables().meta.clone();
    Trace::new(tables, columns)
}

struct Known(SpecifiedCommunication);

impl Known {
    fn new(trace: &Trace, types: &Types) -> Known {
        let mut calls = SpecifiedCommunication::new(types.clone(), trace);
        for event in trace.events() {
            calls.object(trace.tables(), event.op, event.operand);
        }
        Known(calls)
    }
}

impl Calls for Known {
    fn call(&self, trace: &Trace, event: EventId) -> Option<Call<'_>> {
        let event = trace.event(event);
        let call = self.0.invocation(trace.tables(), event.op, event.operand)?;
        let rules = call.comm.map_or(CallRules::Conflicts(call.spec), CallRules::Comm);
        let (object, waits) = (call.object, call.waits);
        Some(Call { object, rules, waits, invocation: call.invocation })
    }
}

fn built_in() -> Types {
    Types::built_in().expect("they are tested")
}

fn user(text: &str) -> Types {
    Types::with(&Document::parse(text).expect("it is right")).expect("the built-in ones are tested")
}

fn confirm(trace: &Trace, types: &Types, first: u32, second: u32) -> Answer {
    let mut communication = SpecifiedCommunication::new(types.clone(), trace);
    let mut confirmer = Confirmer::new(trace, &mut communication, ConfirmOptions::default());
    let (first, second) = (EventId(first), EventId(second));
    let answer = confirmer.confirm(first, second, &Cancel::new());
    if let Answer::Confirmed(Witness { form, order, prefix, .. }) = &answer {
        let calls = Known::new(trace, types);
        let form = WitnessForm::ALL[Form::ALL.iter().position(|of| of == form).expect("a form")];
        let claim = ClaimedWitness { form, first, second, prefix: *prefix, order };
        let checked = ReorderingChecker::new(trace, &calls, Lanes::Handlers).check(claim);
        assert_eq!(checked, Ok(()), "{answer:?}");
    }
    answer
}

struct Search<'t>(&'t Trace, &'t Types);

impl Confirms for Search<'_> {
    fn confirm(&mut self, first: EventId, second: EventId, _: &Cancel) -> PairResult {
        match confirm(self.0, self.1, first.0, second.0) {
            Answer::Confirmed(witness) => PairResult::Confirmed(witness),
            Answer::Impossible => PairResult::Impossible,
            Answer::Unconfirmed(why) => PairResult::GaveUp(why),
        }
    }

    fn work(&self) -> u64 {
        0
    }
}

/// What the confirmed groups among all pairs are about.
fn alarms_of(text: &str, types: &Types) -> Vec<Alarm> {
    let trace = trace(text);
    let spec = Specified::for_trace(types.clone(), Internals::default(), &trace);
    let report = Report::default();
    let subject = Subject {
        trace: &trace,
        report: &report,
        spec,
        order: None,
        why: None,
        extra: &[],
        is_known: &|_| false,
        so_far: &|_| (),
    };
    let options = CheckOptions { pairs: Pairs::All, ..CheckOptions::default() };
    let mut search = Search(&trace, types);
    let checked = check(subject, &mut search, &options, &Control::default()).expect("a trace");
    let facts = &checked.facts;
    let alarm = |found: &Found| {
        let first = facts.get(found.shown.first).expect("a fact");
        Alarm { category: found.category, object: object(trace.tables(), first) }
    };
    checked.found.iter().filter(|found| found.is_confirmed()).map(alarm).collect()
}

/// What a confirmed group is about.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Alarm {
    category: Category,
    object: String,
}

fn alarms(text: &str) -> Vec<Alarm> {
    alarms_of(text, &built_in())
}

fn form(answer: &Answer) -> Option<Form> {
    match answer {
        Answer::Confirmed(witness) => Some(witness.form),
        _ => None,
    }
}

const NONE: &[Alarm] = &[];

#[test]
fn programs_that_wait_for_one_another_are_right() {
    let right = [
        // One sends, one receives.
        "S channel:c.send(7)=1; R channel:c.recv()=7",
        "S channel:c.send(7)=1; S channel:c.send(8)=1; R channel:c.recv()=7; R channel:c.recv()=8",
        "S channel:c.send(7)=1; R channel:c.recv()=7; S channel:c.send(8)=1; R channel:c.recv()=8",
        // The sender closes behind its last send, and the receiver sees it.
        "S channel:c.send(7)=1; R channel:c.recv()=7; S channel:c.close()=1; R channel:c.recv()",
        "S channel:c.send(7)=1; S channel:c.close()=1; R channel:c.recv()=7; R channel:c.recv()",
        "S future:f.set(3)=1; R future:f.get()=3",
        "S future:f.set(3)=1; R future:f.get()=3; R future:f.get()=3; Q future:f.get()=3",
        "S context:x.cancel(); R context:x.done()",
        "S context:x.cancel(); R context:x.done(); R context:x.err()=1",
        // A semaphore that hands over, and one that excludes.
        "S w x; S semaphore:s.release(); R semaphore:s.acquire(); R r x",
        "S semaphore:m.acquire(); S w x; S semaphore:m.release(); S fork R;
         R semaphore:m.acquire(); R w x; R semaphore:m.release()",
        // Data handed over by waiting calls.
        "S w x; S channel:c.send(7)=1; R channel:c.recv()=7; R w x",
        "S w x; S future:f.set(3)=1; R future:f.get()=3; R w x",
        "S w x; S context:x.cancel(); R context:x.done(); R w x",
    ];
    for text in right {
        assert_eq!(alarms(text), NONE, "{text}");
    }
}

#[test]
fn what_a_semaphore_keeps_apart_is_no_race() {
    let text = "S semaphore:m.acquire(); S w x; S semaphore:m.release();
        R semaphore:m.acquire(); R w x; R semaphore:m.release()";
    let found = alarms(text);
    assert_eq!(found, [Alarm { category: Category::Guarded, object: "x".to_owned() }]);
}

/// Races that the waiting rules must not hide.
#[test]
fn programs_that_are_wrong_are_still_found() {
    let category = |text: &str| {
        let found = alarms(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found[0].category.word()
    };
    assert_eq!(category("S channel:c.send(7)=1; T channel:c.close()=1"), "closed_channel");
    // Two senders: a note, since either order may be meant.
    assert_eq!(category("S channel:c.send(7)=1; T channel:c.send(8)=1"), "arrival");
    assert_eq!(category("S future:f.set(3)=1; T future:f.set(4)=0"), "calls");
    assert_eq!(category("S future:f.set(3)=1; R future:f.poll()=3"), "calls");
    assert_eq!(category("S context:x.err(); R context:x.cancel()"), "early_err");
    assert_eq!(category("S wait c; T signal c"), "lost_signal");
    // Two permits let both in.
    let both =
        "S semaphore:m.acquire(); S w x; R semaphore:m.acquire(); R w x; S semaphore:m.release()";
    assert_eq!(category(both), "multi_threaded");
}

#[test]
fn what_may_wait_for_ever_is_a_lost_wake_up() {
    let found =
        alarms("S semaphore:s.release(); A semaphore:s.acquire(); B semaphore:s.try_acquire()=0");
    let lost: Vec<_> = found.iter().filter(|one| one.category == Category::LostWakeup).collect();
    assert_eq!(lost.len(), 1, "{found:?}");
    assert_eq!(lost[0].object, "semaphore:s");
    // The main thread closes only when the first receiver has ended.
    let found = alarms(
        "M channel:c.send(7)=1; A channel:c.recv()=7; M join A; M channel:c.close()=1; B channel:c.recv()",
    );
    let object = "channel:c".to_owned();
    assert_eq!(found, [Alarm { category: Category::LostWakeup, object }]);
    // It closes in any case: whichever receives first, both return.
    let served = alarms(
        "M channel:c.send(7)=1; A channel:c.recv()=7; M channel:c.close()=1; B channel:c.recv()",
    );
    assert_eq!(served.len(), 1, "{served:?}");
    assert_eq!(served[0].category, Category::Calls);
}

#[test]
fn either_of_two_calls_can_be_next_though_one_takes_what_both_wait_for() {
    let t = trace(
        "S channel:c.send(7)=1; S channel:c.send(8)=1; A channel:c.recv()=7; B channel:c.recv()=8",
    );
    let answer = confirm(&t, &built_in(), 2, 3);
    let Answer::Confirmed(witness) = &answer else { panic!("{answer:?}") };
    // With one element both can be enabled.
    assert_eq!((witness.form, witness.order.len(), witness.waits), (Form::CoEnabled, 3, false));
    // Behind the other, which sends the received value.
    let t = trace("S channel:c.send(7)=1; R channel:c.recv()=7; T channel:c.send(8)=1");
    assert_eq!(
        form(&confirm(&t, &built_in(), 0, 2)),
        Some(Form::CoEnabled),
        "there is room for one"
    );
    let t = trace("S channel:c.send(7)=1; T channel:c.send(8)=1; R channel:c.recv()=7");
    assert_eq!(form(&confirm(&t, &built_in(), 0, 1)), Some(Form::Reversed));
}

const BOUNDED: &str = "spec bounded {
    put(_) ~ put(_) when false;
    put(_) ~ take() when false;
    take() ~ take() when false;
}
comm bounded {
    take_first put(_) -> take();
}
";

#[test]
fn users_say_what_their_calls_wait_for() {
    let text =
        "S bounded:q.put(1); R bounded:q.take()=1; S bounded:q.put(2); T w x; R bounded:q.take()=2";
    let found = |rules: &str| alarms_of(text, &user(&format!("{BOUNDED}{rules}"))).len();
    assert!(found("") > 0, "without rules, nothing waits");
    assert_eq!(
        found("waits bounded { put(_) until put(_) - take() < 1; take() until put(_) > take(); }"),
        0
    );
    assert_eq!(
        found(
            "waits bounded { put(_) until put(_) - take() < cap; take() until put(_) > take(); }"
        ),
        0
    );
    assert!(
        found("waits bounded { put(_) until put(_) - take() < 2; take() until put(_) > take(); }")
            > 0
    );
    let settled = "waits bounded { put(_) until put(_) - take() < 2; take() until put(_) > take(); put(_) ~ take(); }";
    assert_eq!(found(settled), 0);
}

#[test]
fn a_thread_that_went_on_because_an_attempt_failed_is_not_moved() {
    // T writes only because S held the lock, which it took behind its own write.
    let t = trace("S w x; S acq m; T destroy no:m; T w x; S rel m");
    assert_eq!(confirm(&t, &built_in(), 0, 3), Answer::Impossible);
    let free = trace("S w x; S acq m; T w y; T w x; S rel m");
    assert_eq!(form(&confirm(&free, &built_in(), 0, 3)), Some(Form::Reversed));
    // While it is held, the attempt may come at any time.
    let held = trace("S acq m; S w x; T destroy no:m; T w x; S rel m");
    assert_eq!(form(&confirm(&held, &built_in(), 1, 3)), Some(Form::Reversed));
    // A shared attempt meets readers without failing: the trace does not say who held the lock.
    let readers = trace("S w x; S racq m; T destroy no:m; T w x; S rrel m");
    assert_eq!(confirm(&readers, &built_in(), 0, 3), Answer::Impossible);
}

#[test]
fn a_thread_that_went_on_because_its_time_ran_out_is_not_moved() {
    // The signal comes behind the wait: it would have woken T before the timeout.
    let t = trace("T wait c; T w y; S r y; T broadcast out:c; S signal c");
    assert_eq!(form(&confirm(&t, &built_in(), 3, 4)), Some(Form::Last));
    // A signal before the wait wakes nobody.
    let t = trace("T wait c; T w y; T broadcast out:c; S signal c");
    assert_eq!(form(&confirm(&t, &built_in(), 2, 3)), Some(Form::Reversed));
    // A signal that came in time in the trace as well woke another wait.
    let t = trace("T wait c; T w y; S r y; S signal c; T broadcast out:c; T w x; S r x");
    assert_eq!(form(&confirm(&t, &built_in(), 5, 6)), Some(Form::CoEnabled));
}

#[test]
fn nobody_passes_a_barrier_before_all_have_arrived() {
    // T reads before the barrier what S writes behind it.
    let t = trace("S barrier b; T r x; S w x");
    assert!(form(&confirm(&t, &built_in(), 1, 2)).is_some(), "T takes no part");
    let t = trace("T r x; S barrier b; T barrier b; S w x");
    assert_eq!(confirm(&t, &built_in(), 0, 3), Answer::Impossible);
    // Passed without an arrival of T: it is unknown which thread waits for which.
    let t = trace("S barrier b; S w x; T r x; T barrier b");
    assert_eq!(confirm(&t, &built_in(), 1, 2), Answer::Unconfirmed(GaveUp::Barrier));
    // Pairs that do not depend on it are still confirmed.
    let t = trace("U w y; S barrier b; S w x; T r x; T barrier b; V w y");
    assert_eq!(form(&confirm(&t, &built_in(), 0, 5)), Some(Form::Reversed));
}

/// The last events need not keep their observations, so these cannot make them depend on a barrier.
#[test]
fn what_a_last_event_observed_does_not_count_against_it() {
    let t = trace(
        "C wait c; A barrier b; A condition:o.wait(); B condition:o.wait(); C condition:o.broadcast(); B barrier b; A barrier b",
    );
    assert_eq!(form(&confirm(&t, &built_in(), 3, 4)), Some(Form::CoEnabled));
}

#[test]
fn what_does_not_hold_in_the_trace_is_not_asked() {
    // The receive was recorded where it began.
    let t = trace("R channel:c.recv()=7; S channel:c.send(7)=1; S w x; R w x");
    assert!(form(&confirm(&t, &built_in(), 2, 3)).is_some());
}
