//! Witnesses of small traces: the examples of the thesis, and for each rule the smallest trace that
//! depends on it.

use crate::common;

use anyorder_commute::Mode;
use anyorder_predict::{
    Answer, Communication, ConfirmOptions, Confirmer, Form, GaveUp, NoCommunication, Observation,
    Scale, Together, Witness,
};
use anyorder_system::{Cancel, StopReason};
use anyorder_trace::{EventId, EventKind, InvocationId, Location, LocationId, Op, Tables, Trace};
use common::script::script;
use std::collections::HashMap;

/// The trace of a script. A variable `8+4` is a range of 4 bytes, `rmw alloc:8+4` allocates it,
/// `signal barrier:b` passes a barrier.
fn trace(text: &str) -> Trace {
    let plain = script(text);
    let (mut tables, mut columns) = (plain.tables().clone(), plain.columns().clone());
    let range = |text: &str| {
        let (address, size) = text.split_once('+')?;
        let (address, size) = (address.parse().ok()?, size.parse().ok()?);
        Some(Location::Range { address, size, generation: 0 })
    };
    let names: Vec<String> =
        (0..tables.locations.len() as u32).map(|at| tables.location_text(LocationId(at))).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(range) = range(name.trim_start_matches("alloc:")) {
            tables.locations[at] = range;
        }
    }
    for row in 0..columns.len() {
        let operand = columns.operands[row] as usize;
        match columns.ops[row].kind() {
            EventKind::Rmw if names[operand].starts_with("alloc:") => {
                columns.ops[row] = EventKind::Alloc.into();
            }
            EventKind::Signal
                if tables.name(tables.conditions[operand]).starts_with("barrier:") =>
            {
                columns.ops[row] = EventKind::Barrier.into();
            }
            _ => {}
        }
    }
    Trace::new(tables, columns)
}

/// Windows of all sizes give the same answer.
fn answer<C: Communication + Default>(trace: &Trace, first: u32, second: u32) -> Answer {
    let small = Scale {
        first_window: 1,
        grain: 1,
        stronger_max: u32::MAX,
        prefix_max: u32::MAX,
        ..Scale::default()
    };
    let [(whole, _), (grown, looks)] = [Scale::default(), small].map(|scale| {
        let (mut communication, options) = (C::default(), ConfirmOptions::default());
        let mut confirmer = Confirmer::with_scale(trace, &mut communication, options, scale);
        let answer = confirmer.confirm(EventId(first), EventId(second), &Cancel::new());
        (answer, confirmer.stats().windows)
    });
    let form = |answer: &Answer| match answer {
        Answer::Confirmed(witness) => Ok(witness.form),
        other => Err(other.clone()),
    };
    assert_eq!(form(&whole), form(&grown), "{looks} windows");
    without_together(whole)
}

/// The answer without whether both actions can be next; other tests are about that.
fn without_together(answer: Answer) -> Answer {
    match answer {
        Answer::Confirmed(witness) => {
            Answer::Confirmed(Witness { together: Together::Undecided, ..witness })
        }
        other => other,
    }
}

fn confirm_pair(text: &str, first: u32, second: u32) -> Answer {
    answer::<NoCommunication>(&trace(text), first, second)
}

fn found(form: Form, order: &[u32]) -> Answer {
    let order = order.iter().copied().map(EventId).collect();
    Answer::Confirmed(Witness {
        form,
        order,
        prefix: 0,
        shortest: true,
        waits: false,
        together: Together::Undecided,
    })
}

#[test]
fn the_three_forms() {
    assert_eq!(confirm_pair("T1 w x; T2 w x", 0, 1), found(Form::Reversed, &[1, 0]));
    // The read may observe another value when it comes last.
    assert_eq!(confirm_pair("T1 r x; T2 w x", 0, 1), found(Form::Last, &[1, 0]));
    // It can come before the write that it reads from only as the last event but one.
    assert_eq!(confirm_pair("T1 w x; T2 r x", 0, 1), found(Form::CoEnabled, &[1, 0]));
    // Under one lock both cannot be the next.
    let locked = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 r x; T2 rel m";
    assert_eq!(confirm_pair(locked, 1, 4), Answer::Impossible);
}

#[test]
fn a_thread_without_events_is_joined_behind_its_fork() {
    assert_eq!(confirm_pair("S w x; S fork E; T join E; T w x", 0, 3), Answer::Impossible);
    assert_eq!(
        confirm_pair("S fork E; S w x; T join E; T w x", 1, 3),
        found(Form::Reversed, &[0, 2, 3, 1])
    );
}

#[test]
fn the_examples_of_the_thesis() {
    // Figure 3.1: the set orders nothing, as the values differ.
    let text = "T1 r x; T1 acq m; T1 s.add(1)=1; T1 rel m
        T2 acq m; T2 s.contains(42)=1; T2 free x; T2 rel m";
    assert_eq!(confirm_pair(text, 0, 6), found(Form::Last, &[4, 5, 6, 0]));
    // Example 1.
    let text = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 free x; T2 rel m";
    assert_eq!(confirm_pair(text, 1, 4), found(Form::Reversed, &[3, 4, 5, 0, 1]));
    // Figure 3.3: the flag says that the free comes last.
    let text = "T1 acq m; T1 r y; T1 w x; T1 rel m; T2 acq m; T2 free x; T2 w y; T2 rel m";
    assert_eq!(confirm_pair(text, 2, 5), Answer::Impossible);
    // Figure 3.4: a broadcast that wakes no wait.
    let text = "T1 acq mu; T1 r cycler; T1 wait c; T1 rel mu
        T2 acq mu; T2 r cycler; T2 broadcast c; T2 rel mu
        T1 acq mu; T1 wake c; T1 rel mu";
    assert_eq!(confirm_pair(text, 2, 6), found(Form::Reversed, &[4, 5, 6, 7, 0, 1, 2]));
}

#[test]
fn a_section_is_left_before_the_other_is_entered() {
    // The second section ends with a read of what is written in the first one.
    let text = "T1 acq m; T1 w x; T1 w y; T1 rel m; T2 acq m; T2 w x; T2 r y; T2 rel m";
    assert_eq!(confirm_pair(text, 1, 5), Answer::Impossible);
    // A read behind the section can be omitted.
    let outside = text.replace("T2 r y; T2 rel m", "T2 rel m; T2 r y");
    assert_eq!(confirm_pair(&outside, 1, 5), found(Form::Reversed, &[4, 5, 6, 0, 1]));
    // A section that never ends keeps its lock.
    let open = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 w x";
    assert_eq!(confirm_pair(open, 1, 4), Answer::Impossible);
}

#[test]
fn readers_let_readers_in() {
    let readers = "T1 racq m; T1 w x; T1 rrel m; T2 racq m; T2 w x; T2 rrel m";
    assert_eq!(confirm_pair(readers, 1, 4), found(Form::Reversed, &[0, 3, 4, 1]));
    let writer = readers.replace("T2 racq", "T2 acq");
    assert_eq!(confirm_pair(&writer, 1, 4), found(Form::Reversed, &[3, 4, 5, 0, 1]));
    // An exclusive acquire within a shared section makes all of it exclusive.
    let within = "T1 racq m; T1 w x; T1 rrel m; T2 racq m; T2 acq m; T2 rel m; T2 w x; T2 rrel m";
    assert_eq!(confirm_pair(within, 1, 6), found(Form::Reversed, &[3, 4, 5, 6, 7, 0, 1]));
}

#[test]
fn only_the_release_that_gives_the_lock_back_ends_a_section() {
    let text = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 w x; T2 acq m; T2 rel m; T2 w y; T2 rel m";
    assert_eq!(confirm_pair(text, 1, 4), found(Form::Reversed, &[3, 4, 5, 6, 7, 8, 0, 1]));
}

/// An unrelated event may be needed to free a lock: here a third thread's section.
#[test]
fn optional_ends_of_sections() {
    // `r y` needs a part of T3's section, and T2 needs the lock that T3 holds there, so T3's
    // section must end.
    let text = "T3 acq m; T3 w y; T3 rel m; T1 w x; T2 r y; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(confirm_pair(text, 3, 6), found(Form::Reversed, &[0, 1, 2, 4, 5, 6, 3]));
}

/// T4's section must end, so the search considers optional events. T3's section is then optional
/// too; it cannot end, and need not begin.
#[test]
fn what_is_not_needed_may_stay_out() {
    let text =
        "T1 acq m; T1 w v; T1 w x; T1 rel m; T3 acq n; T3 w u; T3 acq m; T3 r v; T3 rel m; T3 rel n
        T4 acq k; T4 w y; T4 rel k; T2 r u; T2 r y; T2 acq k; T2 w x; T2 rel k";
    let Answer::Confirmed(witness) = confirm_pair(text, 2, 16) else { panic!("there is one") };
    let mut events: Vec<u32> = witness.order.iter().map(|event| event.0).collect();
    events.sort_unstable();
    assert_eq!(events, [0, 1, 2, 4, 5, 10, 11, 12, 13, 14, 15, 16]);
    assert!(witness.shortest);
    // Here T3's section may end before T2's begins, or come behind it; only the second can be, and
    // then it stays open.
    let text = "T2 fork T3; T3 acq n; T3 w u; T1 acq m; T1 w v; T1 w x; T1 rel m; T3 acq m; T3 r v; T3 rel m; T3 rel n
        T4 acq k; T4 w y; T4 rel k; T2 acq n; T2 rel n; T2 r u; T2 r y; T2 acq k; T2 w x; T2 rel k";
    for text in [
        text.to_owned(),
        text.replace("T2 fork T3", "T3 r q"),
        text.replace("T2 fork T3", "T4 r q"),
    ] {
        let Answer::Confirmed(witness) = confirm_pair(&text, 5, 19) else { panic!("there is one") };
        assert!(!witness.order.contains(&EventId(10)), "{witness:?}");
    }
}

/// The trace itself breaks the lock rule; T3's release, far behind, is needed.
#[test]
fn what_lies_behind_a_window_refutes_nothing() {
    let (before, behind) = ("T4 r z; ".repeat(20), "T4 r z; ".repeat(30));
    let text = format!(
        "{before} T3 acq m; T3 w y; T1 w x; T2 r y; T2 acq m; T2 w x; T2 rel m; {behind} T3 rel m"
    );
    assert_eq!(confirm_pair(&text, 22, 25), found(Form::Reversed, &[20, 21, 23, 57, 24, 25, 22]));
}

/// No window begins behind a place where the trace breaks the lock rule.
#[test]
fn sections_that_overlap_before_a_window() {
    let pads = "T4 r z; ".repeat(8);
    let text = format!("T1 acq m; T2 acq m; T1 rel m; T2 rel m; {pads} T1 w x; T2 w x");
    let Answer::Confirmed(witness) = confirm_pair(&text, 12, 13) else { panic!("there is one") };
    let place = |event: u32| witness.order.iter().position(|e| *e == EventId(event));
    assert!(place(2) < place(1) || place(3) < place(0), "{witness:?}");
}

#[test]
fn forks_joins_and_barriers() {
    assert_eq!(confirm_pair("T1 w x; T1 fork T2; T2 w x", 0, 2), Answer::Impossible);
    assert_eq!(confirm_pair("T1 fork T2; T1 w x; T2 w x", 1, 2), found(Form::Reversed, &[0, 2, 1]));
    assert_eq!(confirm_pair("T1 w x; T2 join T1; T2 w x", 0, 2), Answer::Impossible);
    let barrier = "T1 w x; T1 signal barrier:b; T2 signal barrier:b; T2 w x";
    assert_eq!(confirm_pair(barrier, 0, 3), Answer::Impossible);
    // The order in which threads reached the barrier was only observed.
    let reads = "T1 signal barrier:b; T1 w x; T2 signal barrier:b; T2 w x";
    assert_eq!(confirm_pair(reads, 1, 3), found(Form::Reversed, &[0, 2, 3, 1]));
}

#[test]
fn reads_keep_their_writes() {
    // T2 continues only because it read the first write.
    assert_eq!(confirm_pair("T1 w x; T1 w f; T2 r f; T2 w x", 0, 3), Answer::Impossible);
    assert_eq!(
        confirm_pair("T1 w f; T1 w x; T2 r f; T2 w x", 1, 3),
        found(Form::Reversed, &[0, 2, 3, 1])
    );
    // No other write may come between them: T3's must come before, T4's behind.
    let text = "T3 w f; T1 w f; T2 r f; T2 w x; T4 w f; T4 w x";
    assert_eq!(confirm_pair(text, 3, 5), found(Form::Reversed, &[1, 2, 4, 5, 3]));
    // A read without a write keeps none: the write stays behind it.
    let text = "T1 acq m; T1 r f; T1 w x; T1 rel m; T2 acq m; T2 w f; T2 w x; T2 rel m";
    assert_eq!(confirm_pair(text, 2, 6), Answer::Impossible);
}

#[test]
fn ranges_are_read_byte_by_byte() {
    // The read sees four bytes of each write.
    let text = "T1 w 0+4; T1 w x; T3 w 4+4; T2 r 0+8; T2 w x";
    assert_eq!(confirm_pair(text, 1, 4), found(Form::Reversed, &[0, 2, 3, 4, 1]));
    assert_eq!(
        confirm_pair(&text.replace("T1 w 0+4; T1 w x", "T1 w x; T1 w 0+4"), 0, 4),
        Answer::Impossible
    );
    // A completely hidden write is not read.
    let hidden = "T1 w x; T1 w 0+4; T3 w 0+8; T2 r 2+4; T2 w x";
    assert_eq!(confirm_pair(hidden, 0, 4), found(Form::Reversed, &[2, 3, 4, 0]));
    // A partly hidden write is read in part.
    assert_eq!(confirm_pair(&hidden.replace("T3 w 0+8", "T3 w 3+5"), 0, 4), Answer::Impossible);
}

#[test]
fn memory_is_allocated_before_it_is_used() {
    let text = "T1 w x; T1 rmw alloc:0+64; T2 w 8+8; T2 w x";
    assert_eq!(confirm_pair(text, 0, 3), Answer::Impossible);
    assert_eq!(
        confirm_pair(&text.replace("w 8+8", "w 64+8"), 0, 3),
        found(Form::Reversed, &[2, 3, 0])
    );
    // Even the last event of a witness needs it.
    assert_eq!(confirm_pair("T1 rmw alloc:0+8; T2 w 0+8", 0, 1), Answer::Impossible);
}

#[test]
fn wakes_need_their_signals_behind_their_waits() {
    let text = "T2 wait c; T1 w x; T1 signal c; T2 wake c; T2 w x";
    assert_eq!(confirm_pair(text, 1, 4), Answer::Impossible);
    let text = "T2 wait c; T1 signal c; T1 w x; T2 wake c; T2 w x";
    assert_eq!(confirm_pair(text, 2, 4), found(Form::Reversed, &[0, 1, 3, 4, 2]));
    // The wait comes behind `x`, and the signal behind the wait: all predecessors of the waiter are
    // needed.
    let text = "T2 w x; T2 wait c; T1 signal c; T1 w x; T2 wake c";
    assert_eq!(confirm_pair(text, 0, 3), found(Form::Reversed, &[2, 3, 0]));
    assert_eq!(
        confirm_pair(&format!("{text}; T3 join T2; T3 r y; T1 w y"), 6, 7),
        found(Form::Last, &[0, 1, 2, 3, 4, 5, 7, 6])
    );
    // T1's section comes before T2's, and the signal before the section: too early to wake T2.
    let text =
        "T2 acq m; T2 wait c; T1 signal c; T2 wake c; T2 w x; T2 rel m; T1 acq m; T1 w x; T1 rel m";
    assert_eq!(confirm_pair(text, 4, 7), Answer::Impossible);
    let behind = text.replace("T2 acq m; T2 wait c;", "T2 wait c; T2 acq m;");
    assert_eq!(confirm_pair(&behind, 4, 7), found(Form::Reversed, &[0, 2, 6, 7, 8, 1, 3, 4]));
    // A wake without a signal says nothing.
    assert_eq!(confirm_pair("T1 w x; T2 wake c; T2 w x", 0, 2), found(Form::Reversed, &[1, 2, 0]));
}

/// Invocations `o.put(n)=0` and `o.MODE(n)=0`, which observes the puts of the same `n` in the mode
/// of its name.
#[derive(Default)]
struct Calls {
    puts: HashMap<(u32, u64), Vec<u64>>,
}

fn call(tables: &Tables, (op, operand): (Op, u32)) -> Option<(u32, &str, u64)> {
    let call = &tables.invocations[InvocationId(operand).index()];
    (op.kind() == EventKind::Invoke)
        .then(|| (call.object.0, tables.name(call.method), call.arguments[0]))
}

impl Communication for Calls {
    fn object(&mut self, tables: &Tables, op: Op, operand: u32) -> Option<u32> {
        if op.kind() != EventKind::Invoke {
            return None;
        }
        call(tables, (op, operand)).map(|call| call.0)
    }

    fn observe(&mut self, tables: &Tables, event: u64, op: Op, operand: u32) -> Vec<Observation> {
        let Some((object, name, key)) = call(tables, (op, operand)) else { return Vec::new() };
        let puts = self.puts.entry((object, key)).or_default();
        let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.word() == name) else {
            puts.push(event);
            return Vec::new();
        };
        let sources = match mode {
            Mode::All => puts.clone(),
            Mode::First | Mode::TakeFirst => puts.first().copied().into_iter().collect(),
            Mode::Last | Mode::Top | Mode::TakeTop => puts.last().copied().into_iter().collect(),
        };
        if matches!(mode, Mode::TakeFirst | Mode::TakeTop) {
            puts.retain(|put| !sources.contains(put));
        }
        vec![Observation { mode, sources }]
    }

    fn matches(&self, tables: &Tables, mode: Mode, earlier: (Op, u32), later: (Op, u32)) -> bool {
        match (call(tables, earlier), call(tables, later)) {
            (Some(a), Some(b)) => (a.0, a.1, a.2) == (b.0, "put", b.2) && b.1 == mode.word(),
            _ => false,
        }
    }
}

fn confirm_calls(text: &str, first: u32, second: u32) -> Answer {
    answer::<Calls>(&trace(text), first, second)
}

#[test]
fn invocations_observe_what_they_observed() {
    for mode in ["last", "all", "first", "top", "take_first", "take_top"] {
        // Nothing was there.
        let text = format!(
            "T1 acq m; T1 o.{mode}(1)=0; T1 w x; T1 rel m; T2 acq m; T2 o.put(1)=0; T2 w x; T2 rel m"
        );
        assert_eq!(confirm_calls(&text, 2, 6), Answer::Impossible, "{mode}");
        let other = text.replace("put(1)", "put(2)");
        let order = [4, 5, 6, 7, 0, 1, 2];
        assert_eq!(confirm_calls(&other, 2, 6), found(Form::Reversed, &order), "{mode}");
        // The put was there.
        let text = format!("T1 w x; T1 o.put(1)=0; T2 o.{mode}(1)=0; T2 w x");
        assert_eq!(confirm_calls(&text, 0, 3), Answer::Impossible, "{mode}");
        // The last action of a witness may observe anything.
        let text = format!("T1 o.{mode}(1)=0; T2 o.put(1)=0");
        assert_eq!(confirm_calls(&text, 0, 1), found(Form::Last, &[1, 0]), "{mode}");
    }
    // T3's put would come before T2 looks. The mode decides whether it may come before or behind
    // T1's; but `all` observes both.
    for (mode, puts) in [
        ("last", Some([5, 0])),
        ("all", None),
        ("first", Some([0, 5])),
        ("top", Some([5, 0])),
        ("take_first", Some([0, 5])),
        ("take_top", Some([5, 0])),
    ] {
        let text = format!(
            "T1 o.put(1)=0; T2 acq m; T2 o.{mode}(1)=0; T2 w x; T2 rel m
                T3 acq m; T3 o.put(1)=0; T3 w x; T3 rel m"
        );
        let Some([first, second]) = puts else {
            assert_eq!(confirm_calls(&text, 3, 7), Answer::Impossible, "{mode}");
            continue;
        };
        let Answer::Confirmed(witness) = confirm_calls(&text, 3, 7) else { panic!("{mode}") };
        let place = |event: u32| witness.order.iter().position(|e| *e == EventId(event));
        let put = |event| if event == 5 { 6 } else { event };
        assert!(place(put(first)) < place(put(second)), "{mode}: {witness:?}");
    }
}

/// A taken value no longer blocks.
#[test]
fn takers_make_room() {
    // T2 takes the second put: the first one has to be taken before, by T1.
    let text =
        "T1 o.put(1)=0; T1 o.take_first(1)=0; T3 o.put(1)=0; T2 o.take_first(1)=0; T2 w x; T1 w x";
    assert_eq!(confirm_calls(text, 4, 5), found(Form::Reversed, &[0, 1, 2, 3, 5, 4]));
    // The first put need not be there at all.
    let text = text.replace("T2 w x; T1 w x", "T2 w x; T4 w x");
    assert_eq!(confirm_calls(&text, 4, 5), found(Form::Reversed, &[2, 3, 5, 4]));
    // T3 knows of the first put, so that has to be taken, by T5.
    let text = "T1 o.put(1)=0; T1 w f; T5 o.take_first(1)=0; T3 r f; T3 o.put(1)=0
        T2 o.take_first(1)=0; T2 w x; T4 w x";
    let Answer::Confirmed(witness) = confirm_calls(text, 6, 7) else { panic!("there is one") };
    assert!(witness.shortest && witness.order.contains(&EventId(2)), "{witness:?}");
}

/// A value put before the window still blocks if its taker comes too late.
#[test]
fn what_was_put_before_the_window() {
    let text = "T1 o.put(1)=0; T4 r z; T4 r z; T4 r z; T2 w x; T2 o.take_first(1)=0
        T1 o.put(1)=0; T3 o.take_first(1)=0; T3 w x";
    assert_eq!(confirm_calls(text, 4, 8), Answer::Impossible);
    let before = text.replace("T2 w x; T2 o.take_first(1)=0", "T2 o.take_first(1)=0; T2 w x");
    assert_eq!(confirm_calls(&before, 5, 8), found(Form::Reversed, &[0, 4, 6, 7, 8, 5]));
}

#[test]
fn hostile_traces_are_answered() {
    let texts = [
        "T1 rel m; T2 rel m; T1 w x; T2 w x; T1 acq m; T2 acq m; T1 w x; T2 w x; T2 rel m",
        "T1 acq m; T2 acq m; T1 w x; T2 w x; T1 rel m; T2 rel m; T1 free x; T2 free x; T1 free x",
        "T1 wake c; T2 wake c; T1 w x; T2 w x; T1 wait c; T1 wake c; T2 signal c; T1 wake c",
        "T1 join T2; T1 fork T1; T2 fork T1; T1 join T1; T2 join T1; T1 w x; T2 w x; T1 fork T2",
        "T1 rmw alloc:0+0; T2 w 0+0; T1 rmw alloc:18446744073709551615+9; T2 w 18446744073709551615+1; T1 r 0+1",
    ];
    for text in texts {
        let trace = trace(text);
        let mut nothing = NoCommunication;
        let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
        for b in 0..trace.len() as u32 {
            for a in 0..b {
                let once = confirmer.confirm(EventId(a), EventId(b), &Cancel::new());
                let again = answer::<NoCommunication>(&trace, a, b);
                assert_eq!(without_together(once), again, "{a} {b} {text}");
            }
        }
    }
    // Sections that overlap in the trace cannot both be in a run.
    assert_eq!(
        confirm_pair("T1 acq m; T2 acq m; T1 w x; T2 w x; T1 rel m; T2 rel m", 2, 3),
        found(Form::Reversed, &[1, 3, 5, 0, 2])
    );
    assert_eq!(confirm_pair("T1 acq m; T2 acq m; T1 w x; T2 w x", 2, 3), Answer::Impossible);
}

#[test]
fn limits_are_said() {
    let text = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 free x; T2 rel m";
    let trace = trace(text);
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
    let cancel = Cancel::new();
    cancel.stop(StopReason::TimeLimit);
    let answer = confirmer.confirm(EventId(1), EventId(4), &cancel);
    assert_eq!(answer, Answer::Unconfirmed(GaveUp::Stopped));
    let before = confirmer.stats();
    confirmer.confirm(EventId(1), EventId(4), &Cancel::new());
    let after = confirmer.stats();
    assert!(after.events > before.events && after.rounds > before.rounds);
}
