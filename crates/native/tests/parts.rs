//! Long recordings, split into parts: the events of each part, and the races found in it.

use crate::simulated::{Done, run_giving};
use crate::synthetic::Writer;
use anyorder_native::recording::Recording;
use anyorder_native::{NoNames, Options, Traced, to_trace, to_traces};
use anyorder_predict::{Answer, ConfirmOptions, Confirmer, SpecifiedCommunication, Types};
use anyorder_system::Cancel;
use anyorder_testkit::effort::sampled;
use anyorder_trace::{Columns, Event, EventId, EventKind, Location, Trace, wellformed};
use std::collections::{BTreeMap, BTreeSet};

/// An event of a trace that was recorded: its thread, its number there, and what it became.
type Row = (u32, u32, EventKind);

fn recorded(run: &[Done]) -> Recording {
    let mut writer = Writer::default();
    run.iter().for_each(|(thread, event)| writer.push(*thread, *event));
    writer.recording()
}

fn parts(recording: &Recording, part_max: u64, events_max: u64) -> Vec<Traced> {
    let options = Options { part_max, events_max, ..Options::default() };
    let mut all = Vec::new();
    to_traces(recording, &mut NoNames, &options, &mut || true, &mut |traced| {
        all.push(traced);
        true
    })
    .expect("small tables");
    all
}

/// Returns the recorded events of a trace.
fn rows(traced: &Traced) -> Vec<(Row, Event)> {
    let events = traced.trace.events().zip(&traced.origins);
    let recorded = events.filter(|(_, origin)| **origin != u32::MAX);
    recorded.map(|(event, origin)| ((event.task.0, *origin, event.kind()), event)).collect()
}

/// Returns the memory of an access.
fn memory(trace: &Trace, event: &Event) -> Option<(u64, u32, u32)> {
    match trace.tables().locations.get(event.location()?.index())? {
        Location::Range { address, size, generation } => Some((*address, *size, *generation)),
        _ => None,
    }
}

/// Returns the locks that are held at the end of a trace, or given back without being held.
fn loose_locks(trace: &Trace) -> BTreeSet<(u32, u32)> {
    let mut held = BTreeMap::<(u32, u32), i64>::new();
    for event in trace.events() {
        let of = held.entry((event.task.0, event.operand));
        match event.kind() {
            EventKind::Acquire => *of.or_default() += 1,
            EventKind::Release => *of.or_default() -= 1,
            _ => {}
        }
    }
    held.into_iter().filter(|(_, count)| *count != 0).map(|(of, _)| of).collect()
}

#[test]
fn parts_have_the_events_of_the_whole() {
    let (mut divided, mut dropped, mut cut, mut full) = (0, 0, 0, 0);
    let (mut waits, mut signals, mut in_vain) = (0, 0, 0);
    for seed in sampled(2_400, 16_000) {
        let recording = recorded(&run_giving(seed, 1_000, 60, 20));
        let whole = to_trace(&recording, &mut NoNames, &Options::default(), &mut || true);
        let whole = whole.expect("small tables");
        let events_max = if seed % 4 == 0 { 60 + seed % 90 } else { u64::MAX };
        let part_max = 24 + seed % 50;
        let parts = parts(&recording, part_max, events_max);
        let last = parts.len() - 1;
        let total: usize = parts.iter().map(|part| part.trace.len()).sum();
        assert!(total as u64 <= events_max, "seed {seed}: {total}");
        let mut all = rows(&whole).into_iter();
        let mut part_of_wait: BTreeMap<u32, usize> = BTreeMap::new();
        for (number, part) in parts.iter().enumerate() {
            let context = format!("seed {seed}, part {number} of {}", parts.len());
            assert!(part.trace.len() as u64 <= part_max, "{context}: {}", part.trace.len());
            assert_eq!(part.origins.len(), part.trace.len(), "{context}");
            let problems = wellformed::check(&part.trace);
            assert_eq!(problems.errors_total, 0, "{context}: {problems:?}");
            let doubts = problems.list.iter().filter(|problem| problem.unknown.is_some());
            assert_eq!(doubts.count(), 0, "{context}: {problems:?}");
            assert_eq!(part.stats.is_part, number < last, "{context}");
            if number < last {
                assert_eq!(loose_locks(&part.trace), BTreeSet::new(), "{context}");
                assert!(!part.stats.is_cut && !part.stats.is_full);
            }
            let made_up = part.trace.events().zip(&part.origins);
            for (event, _) in made_up.filter(|(_, origin)| **origin == u32::MAX) {
                waits += u64::from(event.kind() == EventKind::Wait);
                signals += u64::from(event.kind() == EventKind::Signal);
            }
            for (row, event) in rows(part) {
                loop {
                    let (expected, of_whole) = all.next().expect("the whole has it, too");
                    if expected == row {
                        let known = memory(&whole.trace, &of_whole);
                        assert_eq!(memory(&part.trace, &event), known, "{context}");
                        break;
                    }
                    // Only the end of a wait that a broadcast of an earlier part ended is left out.
                    assert_eq!(expected.2, EventKind::Wake, "{context}: {expected:?}, {row:?}");
                    assert!(part_of_wait[&expected.0] < number, "{context}");
                    dropped += 1;
                }
                if row.2 == EventKind::Wait {
                    part_of_wait.insert(row.0, number);
                }
            }
        }
        let end = &parts[last].stats;
        let left = all.filter(|(row, _)| row.2 != EventKind::Wake).count();
        assert!(left == 0 || end.is_cut || end.is_full, "seed {seed}: {left} left");
        // What is left may be no event of a trace, such as an access to memory of one thread.
        in_vain += u64::from(left == 0 && (end.is_cut || end.is_full));
        divided += u64::from(parts.len() > 2);
        cut += u64::from(end.is_cut);
        full += u64::from(end.is_full);
    }
    println!("{divided} in three parts or more, {cut} cut, {full} full, {in_vain} without a loss");
    assert!(in_vain * 100 <= cut + full);
    println!(
        "{waits} waits go on, {signals} signals are repeated, {dropped} ends of waits are left out"
    );
    assert!(divided > 30 && cut > 10 && full > 10);
    assert!(waits > 100 && signals > 10 && dropped > 10);
}

/// Returns, for each pair of accesses of two threads to one memory, of which one writes, whether
/// another order of the trace shows it; `None` if that was not decided.
fn confirmed(trace: &Trace, of: &mut dyn FnMut(&Event) -> Option<Row>) -> Vec<(Row, Row, bool)> {
    let types = Types::built_in().expect("they are right");
    let mut calls = SpecifiedCommunication::new(types, trace);
    let cancel = Cancel::new();
    let mut confirmer = Confirmer::new_until(trace, &mut calls, ConfirmOptions::default(), &cancel);
    let accesses: Vec<Event> = trace
        .events()
        .filter(|event| matches!(event.kind(), EventKind::Read | EventKind::Write))
        .filter(|event| !event.mode().is_atomic())
        .collect();
    let mut all = Vec::new();
    for (at, second) in accesses.iter().enumerate() {
        for first in &accesses[..at] {
            let writes = [first, second].iter().any(|event| event.kind() == EventKind::Write);
            let (one, other) = (memory(trace, first), memory(trace, second));
            let (Some(a), Some(b)) = (of(first), of(second)) else { continue };
            if first.task == second.task || !writes || one.is_none() || one != other {
                continue;
            }
            match confirmer.confirm(first.id, second.id, &cancel) {
                Answer::Confirmed(_) => all.push((a, b, true)),
                Answer::Impossible => all.push((a, b, false)),
                Answer::Unconfirmed(_) => {}
            }
        }
    }
    all
}

/// Returns the rest of a trace from a row on, whoever holds a lock there, with the row of each
/// event. What rests on events before is left out.
fn divided_anywhere(whole: &Trace, from: u32) -> (Trace, Vec<EventId>) {
    let (mut columns, mut rows) = (Columns::default(), Vec::new());
    let mut held = BTreeSet::new();
    for event in whole.events().filter(|event| event.id.0 >= from) {
        let lock = (event.task, event.operand);
        let rests = match event.kind() {
            EventKind::Acquire => !held.insert(lock),
            EventKind::Release => !held.remove(&lock),
            EventKind::Wait | EventKind::Wake | EventKind::Join => true,
            _ => false,
        };
        if !rests {
            columns.push(event.op, event.task, event.operand, event.site);
            rows.push(event.id);
        }
    }
    (Trace::new(whole.tables().clone(), columns), rows)
}

#[test]
fn what_a_part_shows_the_whole_shows() {
    let (mut both, mut neither, mut only_whole, mut wrong) = (0, 0, 0, 0);
    for seed in sampled(3_600, 10_000) {
        let recording = recorded(&run_giving(seed, 250, 60, 20));
        let whole = to_trace(&recording, &mut NoNames, &Options::default(), &mut || true);
        let whole = whole.expect("small tables");
        let origins = |traced: &Traced, event: &Event| -> Option<Row> {
            let origin = *traced.origins.get(event.id.index())?;
            Some((event.task.0, origin, event.kind()))
        };
        let of_whole = confirmed(&whole.trace, &mut |event| origins(&whole, event));
        let of_whole: BTreeMap<(Row, Row), bool> =
            of_whole.into_iter().map(|(a, b, shown)| ((a, b), shown)).collect();
        for part in parts(&recording, 24 + seed % 30, u64::MAX) {
            for (a, b, shown) in confirmed(&part.trace, &mut |event| origins(&part, event)) {
                let Some(in_whole) = of_whole.get(&(a, b)) else { continue };
                assert!(*in_whole || !shown, "seed {seed}: {a:?}, {b:?} only in a part");
                match (shown, *in_whole) {
                    (true, _) => both += 1,
                    (false, true) => only_whole += 1,
                    (false, false) => neither += 1,
                }
            }
        }
        let (rest, rows) = divided_anywhere(&whole.trace, whole.trace.len() as u32 / 2);
        let row = |event: &Event| origins(&whole, &whole.trace.event(rows[event.id.index()]));
        for (a, b, shown) in confirmed(&rest, &mut |event| row(event)) {
            wrong += u64::from(shown && of_whole.get(&(a, b)) == Some(&false));
        }
    }
    println!("{both} in both, {only_whole} in the whole only, {neither} in neither, {wrong} wrong");
    assert!(both > 300 && neither > 300);
    // The comparison notices parts that begin where locks are held.
    assert!(wrong > 20);
}
