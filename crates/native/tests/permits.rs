//! Semaphores of long recordings: the permits that each part begins with.

use crate::simulated::Done;
use crate::synthetic::{Writer, pc};
use anyorder_common::random::{Random, Rng};
use anyorder_native::recording::{Event, Recording, kind};
use anyorder_native::{NoNames, Options, Traced, to_traces};
use anyorder_testkit::effort::sampled;
use anyorder_trace::EventKind;
use std::collections::{BTreeMap, BTreeSet};

const SEMAPHORES: u64 = 4;

fn address(number: u64) -> u64 {
    0x4000 + 64 * number
}

/// Returns a run of two threads that take and give permits, some more than they take.
fn run(seed: u64) -> Vec<Done> {
    let mut rng = Rng::new(seed);
    let event = |kind, address, third| Event { kind, address, third, ..Event::default() };
    let mut run: Vec<Done> = vec![
        (0, event(kind::THREAD_BEGIN, 0x7000_0000, 0x1000)),
        (0, event(kind::THREAD_CREATE, 1, 0)),
        (1, event(kind::THREAD_BEGIN, 0x7001_0000, 0x1000)),
    ];
    let most = [3, 40, 400][rng.index(3)];
    let mut left: Vec<u64> = (0..SEMAPHORES).map(|_| rng.below(most)).collect();
    for (number, permits) in (0..).zip(&left) {
        run.push((0, event(kind::SEM_INIT, address(number), *permits)));
    }
    let (takes, gives) = (30 + rng.below(30), 25 + rng.below(30));
    for _ in 0..400 {
        let (thread, number) = (rng.index(2) as u32, rng.below(SEMAPHORES));
        let permits = &mut left[number as usize];
        let what = rng.below(100);
        if what < takes && *permits > 0 {
            *permits -= 1;
            run.push((thread, event(kind::SEM_WAIT, address(number), 0)));
        } else if what < takes + gives {
            *permits += 1;
            run.push((thread, event(kind::SEM_POST, address(number), 0)));
        } else if what == 99 {
            *permits = rng.below(most);
            run.push((thread, event(kind::SEM_INIT, address(number), *permits)));
        }
    }
    for (time, (_, event)) in (1..).zip(&mut run) {
        event.time = time * 10;
        event.pc = pc(event.kind.into());
    }
    run
}

fn parts(run: &[Done], part_max: u64) -> Vec<Traced> {
    let mut writer = Writer::default();
    run.iter().for_each(|(thread, event)| writer.push(*thread, *event));
    let recording: Recording = writer.recording();
    let options = Options { part_max, ..Options::default() };
    let mut all = Vec::new();
    to_traces(&recording, &mut NoNames, &options, &mut || true, &mut |traced| {
        all.push(traced);
        true
    })
    .expect("small tables");
    all
}

/// A call of a semaphore in a part, and whether it was recorded.
struct Call {
    object: String,
    method: String,
    /// When it was recorded.
    time: Option<u64>,
}

/// Returns the calls of a part of a run.
fn calls(part: &Traced, run: &[Done]) -> Vec<Call> {
    let times = |thread: u32| -> Vec<u64> {
        run.iter().filter(|done| done.0 == thread).map(|(_, event)| event.time).collect()
    };
    let times = [times(0), times(1)];
    let tables = part.trace.tables();
    let events = part.trace.events().zip(&part.origins);
    let invoked = events.filter(|(event, _)| event.kind() == EventKind::Invoke);
    let call = |(event, origin): (anyorder_trace::Event, &u32)| {
        let call = &tables.invocations[event.operand as usize];
        let [object, method] = [call.object, call.method].map(|name| tables.name(name).to_owned());
        let time = times[event.task.0 as usize].get(*origin as usize).copied();
        Call { object, method, time }
    };
    invoked.map(call).collect()
}

/// A part begins with no more permits than there are, and with all that it can take; so none of
/// its calls has to wait where it did not. It begins with no more events than a part may have.
#[test]
fn a_part_begins_with_the_permits_that_it_takes() {
    let (mut divided, mut fewer, mut all_of_them, mut set_again) = (0, 0, 0, 0);
    for seed in sampled(600, 6_000) {
        let run = run(seed);
        let part_max = 60 + seed % 200;
        let parts = parts(&run, part_max);
        divided += u64::from(parts.len() > 3);
        let mut takes = 0;
        // The count of each semaphore, by the definition: event by event.
        let mut rest = run.iter().filter(|(_, event)| {
            matches!(event.kind, kind::SEM_INIT | kind::SEM_WAIT | kind::SEM_POST)
        });
        let mut left: BTreeMap<String, u64> = BTreeMap::new();
        let mut rest = rest.by_ref().peekable();
        let mut step = |left: &mut BTreeMap<String, u64>, end: u64| -> Option<(String, u16)> {
            let (_, event) = rest.next_if(|(_, event)| event.time < end)?;
            let name = format!("semaphore:{:#x}", event.address);
            let count = left.entry(name.clone()).or_default();
            match event.kind {
                kind::SEM_WAIT => *count -= 1,
                kind::SEM_POST => *count += 1,
                _ => *count = event.third,
            }
            Some((name, event.kind.into()))
        };
        for _ in 0..SEMAPHORES {
            step(&mut left, u64::MAX);
        }
        let of_parts: Vec<Vec<Call>> = parts.iter().map(|part| calls(part, &run)).collect();
        for (number, calls) in of_parts.iter().enumerate() {
            let context = format!("seed {seed}, part {number} of {}", parts.len());
            let begun = calls.iter().position(|call| call.time.is_some()).unwrap_or(calls.len());
            let (first, own) = calls.split_at(begun);
            let mut told: BTreeMap<&str, u64> = BTreeMap::new();
            for call in first {
                *told.entry(&call.object).or_default() += u64::from(call.method == "release");
            }
            let most = part_max / 4 + SEMAPHORES;
            assert!(first.len() as u64 <= most, "{context}: {} of {most}", first.len());
            // What of the part comes before the semaphore is set again.
            let before = left.clone();
            let mut taken: BTreeMap<String, u64> = BTreeMap::new();
            let mut is_set: BTreeSet<String> = BTreeSet::new();
            // Who sets a lower count takes the difference.
            let is_take = |time: u64| run[time as usize / 10 - 1].1.kind == kind::SEM_WAIT;
            let acquires = |call: &&Call| call.time.is_some_and(is_take);
            takes += own.iter().filter(acquires).count();
            let later = of_parts[number + 1..].iter().flatten();
            let end = later.filter_map(|call| call.time).min().unwrap_or(u64::MAX);
            while let Some((name, what)) = step(&mut left, end) {
                let is_begin = what == u16::from(kind::SEM_INIT);
                set_again += u64::from(is_begin);
                if is_begin {
                    is_set.insert(name);
                } else if what == u16::from(kind::SEM_WAIT) && !is_set.contains(&name) {
                    *taken.entry(name).or_default() += 1;
                }
            }
            for (name, count) in &before {
                let told = told.get(name.as_str()).copied().unwrap_or(0);
                let needed = taken.get(name).copied().unwrap_or(0);
                assert!(told <= *count, "{context}: {told} of {count} of {name}");
                assert!(told >= needed.min(*count), "{context}: {told}, {needed} of {name}");
                fewer += u64::from(told < *count && told > 0);
                all_of_them += u64::from(told == *count && *count > 0);
            }
            let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
            for call in calls {
                let count = counts.entry(&call.object).or_default();
                *count += match call.method.as_str() {
                    "release" => 1,
                    "acquire" => -1,
                    _ => 0,
                };
                assert!(*count >= 0, "{context}: {} has none left", call.object);
            }
        }
        let all = run.iter().filter(|(_, event)| event.kind == kind::SEM_WAIT).count();
        let is_cut = parts.last().is_some_and(|part| part.stats.is_cut);
        assert!(takes == all || is_cut, "seed {seed}: {takes} of {all}");
        assert!(!is_cut, "seed {seed}: nobody holds a lock");
    }
    println!(
        "{divided} divided, {fewer} told in part, {all_of_them} told all, {set_again} set again"
    );
    assert!(divided > 100 && fewer > 100 && all_of_them > 100 && set_again > 100);
}
