//! The class `only_guards`, and uses and overwrites of locks in memory, against naive definitions.

use anyorder_hb::{Guards, LockMemory, RaceOptions, RuleSet, check};
use anyorder_system::Control;
use anyorder_testkit::{
    Naive, Rules, Shape, lock_memory, only_guards, random_replies, random_trace, show,
};
use anyorder_trace::{EventId, EventKind, LockId, Trace};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn reads_only_guard_by_the_definition() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..4_000 {
        let trace = random_replies(seed);
        let guards = Guards::new(&trace);
        let mut some = false;
        for b in trace.events().filter(|event| event.kind().is_access()) {
            for a in trace.events().take(b.id.index()).filter(|event| event.kind().is_access()) {
                if a.operand != b.operand || !(a.kind().writes() || b.kind().writes()) {
                    continue;
                }
                let expected = only_guards(&trace, a.id, b.id);
                let found = guards.guards(a.id, b.id);
                assert_eq!(found, expected, "{seed}: {a:?} {b:?} {}", show(&trace));
                some |= found;
                *counts.entry(format!("pairs, {found}")).or_default() += 1;
            }
        }
        *counts.entry(format!("traces, {some}")).or_default() += 1;
    }
    println!("{counts:#?}");
    for what in ["pairs, true", "pairs, false", "traces, true", "traces, false"] {
        assert!(counts.get(what).is_some_and(|count| *count > 300), "{what}: {counts:#?}");
    }
}

#[test]
fn locks_in_memory_by_the_definition() {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (name, shape) in Shape::all() {
        for seed in 0..900 {
            let trace = in_memory(&random_trace(seed, &shape));
            for rules in [RuleSet::Mailbox, RuleSet::Threads] {
                let set = match rules {
                    RuleSet::Threads => anyorder_testkit::RuleSet::Threads,
                    _ => anyorder_testkit::RuleSet::Mailbox,
                };
                let naive = Naive::new(&trace, Rules { set, disabled: &[] });
                compare_locks(&trace, rules, &naive, &format!("{name} {seed}"), &mut counts);
            }
        }
    }
    println!("{counts:#?}");
    for category in ["use_after_free", "overwritten_lock"] {
        let count = counts.get(category).copied().unwrap_or_default();
        assert!(count > 50, "{category}: {counts:#?}");
    }
    assert!(counts["right"] > 50, "{counts:#?}");
    assert!(counts["ordered, as it would be cancelled"] > 0, "{counts:#?}");
}

fn compare_locks(
    trace: &Trace,
    rules: RuleSet,
    naive: &Naive<'_, '_>,
    place: &str,
    counts: &mut BTreeMap<String, u64>,
) {
    let expected = lock_memory(trace, naive);
    let options = RaceOptions { max_pairs: 10_000, ..RaceOptions::new(rules) };
    let checked = check(trace, &options, &Control::default());
    let mut found: BTreeMap<(bool, LockId), BTreeSet<(EventId, EventId)>> = BTreeMap::new();
    for group in &checked.locks {
        let key = (group.memory == LockMemory::Freed, group.lock);
        found.entry(key).or_default().extend(group.pairs.iter().copied());
    }
    let keys: BTreeSet<(bool, LockId)> = expected.keys().copied().collect();
    let same = keys == found.keys().copied().collect();
    assert!(same, "{place} {rules:?}: {keys:?}, found {found:?}\n{}", show(trace));
    for ((frees, lock), pairs) in &expected {
        let all: BTreeSet<(EventId, EventId)> = pairs.iter().copied().collect();
        let of = &found[&(*frees, *lock)];
        assert!(of.is_subset(&all), "{place} {rules:?}: {of:?} of {all:?}\n{}", show(trace));
        let word = if *frees { "use_after_free" } else { "overwritten_lock" };
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    let uses = trace.events().filter(|event| event.kind() == EventKind::Acquire).count();
    *counts.entry("right".to_owned()).or_default() += u64::from(expected.is_empty() && uses > 0);
    let ended = [anyorder_testkit::RuleName::Cancelled, anyorder_testkit::RuleName::Exited];
    let set = Rules { set: anyorder_testkit::RuleSet::Mailbox, disabled: &ended };
    if rules == RuleSet::Mailbox && uses > 0 && trace.len() <= 60 {
        let without = lock_memory(trace, &Naive::new(trace, set));
        let more = without.values().map(Vec::len).sum::<usize>();
        let fewer = expected.values().map(Vec::len).sum::<usize>();
        let word = "ordered, as it would be cancelled".to_owned();
        *counts.entry(word).or_default() += u64::from(fewer < more);
    }
}

/// The same trace with locks in the memory that it allocates.
fn in_memory(trace: &Trace) -> Trace {
    let mut tables = trace.tables().clone();
    for (lock, name) in ["0x100+4", "0x108"].into_iter().enumerate() {
        let name = tables.names.push(name).expect("small");
        if let Some(of) = tables.locks.get_mut(lock) {
            *of = name;
        }
    }
    Trace::new(tables, trace.columns().clone())
}
