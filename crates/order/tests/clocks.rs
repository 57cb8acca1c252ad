//! Clocks, epochs, chains and the store, against plain vectors and matrices.

use crate::tests::support;

use anyorder_order::{ChainId, Chains, Clock, ClockRef, ClockStore, SharedClock, StoreFull};
use anyorder_testkit::greatest_antichain;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use support::{Closure, Counters, runner};

fn entries() -> impl Strategy<Value = Vec<u32>> {
    (0usize..70, 1u32..4).prop_flat_map(|(len, max)| prop::collection::vec(0..max, len))
}

fn entry(clock: &[u32], i: usize) -> u32 {
    clock.get(i).copied().unwrap_or(0)
}

fn flat(clock: &Clock, len: usize) -> Vec<u32> {
    (0..len).map(|i| clock.get(ChainId(i as u32))).collect()
}

#[test]
fn joins_and_comparisons_are_pointwise() {
    let counters = Counters::default();
    let instance = (entries(), entries(), 0u32..70, 0u32..5);
    let result = runner(8000).run(&instance, |(a, b, chain, value)| {
        let len = 71;
        let maxima: Vec<u32> = (0..len).map(|i| entry(&a, i).max(entry(&b, i))).collect();
        let (first, second) = (Clock::from_slice(&a), Clock::from_slice(&b));
        let leq = (0..len).all(|i| entry(&a, i) <= entry(&b, i));
        let equal = (0..len).all(|i| entry(&a, i) == entry(&b, i));
        prop_assert_eq!(first.leq(&second), leq);
        prop_assert_eq!(first == second, equal);
        let mut joined = first.clone();
        let changed = joined.join(&second);
        prop_assert_eq!(flat(&joined, len), maxima);
        prop_assert_eq!(changed, !second.leq(&first));
        counters.add(if changed { "join changed" } else { "join kept" }, 1);
        counters.add("longer with zeros only", u64::from(!changed && b.len() > a.len()));
        counters.add("grew", u64::from(joined.len() > first.len()));
        counters.add("equal with other lengths", u64::from(equal && a.len() != b.len()));

        let mut raised = first.clone();
        raised.raise(ChainId(chain), value);
        let old = entry(&a, chain as usize);
        prop_assert_eq!(raised.get(ChainId(chain)), old.max(value));
        prop_assert!(first.leq(&raised));
        let mut set = first.clone();
        set.set(ChainId(chain), value);
        prop_assert_eq!(set.get(ChainId(chain)), value);
        counters.add("set lower", u64::from(value < old));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&[
        "join changed",
        "join kept",
        "longer with zeros only",
        "grew",
        "equal with other lengths",
        "set lower",
    ]);
}

#[test]
fn extreme_numbers_survive() {
    let mut clock = Clock::new();
    clock.set(ChainId(u32::MAX), 0);
    assert_eq!((clock.len(), clock.get(ChainId(u32::MAX))), (0, 0));
    let mut store = ClockStore::new();
    let mut edit = store.edit(ClockRef::EMPTY);
    assert_eq!(edit.raise(ChainId(u32::MAX), u32::MAX), Ok(()));
    let clock = edit.finish();
    assert_eq!(store.get(clock, ChainId(u32::MAX)), u32::MAX);
    assert_eq!(store.get(clock, ChainId(u32::MAX - 1)), 0);
    assert!(store.memory_bytes() < 10_000);
}

/// Elements, their groups, and forward edges between them.
fn orders() -> impl Strategy<Value = (Vec<u32>, Vec<(u32, u32)>)> {
    (1u32..24).prop_flat_map(|n| {
        let edges = prop::collection::vec((0..n, 0..n), 0..50)
            .prop_map(|edges| edges.into_iter().filter(|(a, b)| a < b).collect());
        (prop::collection::vec(0u32..3, n as usize), edges)
    })
}

#[test]
fn chains_are_chains() {
    let counters = Counters::default();
    let result = runner(4000)
        .run(&orders(), |(groups, edges)| chains_of_one_order(&counters, &groups, &edges));
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&[
        "new chain",
        "reused chain",
        "not the most recent",
        "as few chains as the width",
        "more chains than the width",
    ]);
}

fn chains_of_one_order(
    counters: &Counters,
    groups: &[u32],
    edges: &[(u32, u32)],
) -> TestCaseResult {
    let closure = Closure::new(groups.len(), edges);
    let mut chains = Chains::default();
    // By chain: its elements; by group: its chains, the most recent last. Plain lists, to
    // compare with.
    let mut members: Vec<Vec<u32>> = Vec::new();
    let mut recent: Vec<Vec<usize>> = vec![Vec::new(); 3];
    for (element, &group) in groups.iter().enumerate() {
        let element = element as u32;
        let mut asked = Vec::new();
        let chain = chains.place(group, |chain, tail| {
            asked.push((chain.index(), tail));
            closure.get(tail, element)
        });
        let list = &mut recent[group as usize];
        let fits =
            |chain: &&usize| closure.get(members[**chain][members[**chain].len() - 1], element);
        let expected = list.iter().rev().find(fits).copied();
        let last = |chain: usize| (chain, members[chain][members[chain].len() - 1]);
        let passed = list.iter().rev().take_while(|&&chain| Some(chain) != expected);
        let all: Vec<_> = passed.chain(&expected).map(|&chain| last(chain)).collect();
        prop_assert_eq!(asked, all, "the most recently extended chain is asked first");
        counters.add(
            "not the most recent",
            u64::from(expected.is_some() && expected != list.last().copied()),
        );
        counters.add(if expected.is_some() { "reused chain" } else { "new chain" }, 1);
        let expected = expected.unwrap_or(members.len());
        prop_assert_eq!(chain.index(), expected);
        members.resize(members.len().max(expected + 1), Vec::new());
        members[expected].push(element);
        list.retain(|&other| other != expected);
        list.push(expected);
    }
    let width = |group| {
        let of: Vec<u32> =
            (0..).zip(groups).filter(|(_, of)| **of == group).map(|(e, _)| e).collect();
        let before = |a: u32, b: u32| closure.get(of[a as usize], of[b as usize]);
        greatest_antichain(of.len() as u32, before).len()
    };
    let least: usize = (0..3).map(width).sum();
    prop_assert!(members.len() >= least);
    counters.add("as few chains as the width", u64::from(members.len() == least));
    counters.add("more chains than the width", u64::from(members.len() > least));
    Ok(())
}

/// One step on a store: the clock it starts from, and the edits.
#[derive(Clone, Debug)]
enum Action {
    Push(Vec<u32>),
    Raise(Vec<(u32, u32)>),
    Join(Vec<prop::sample::Index>),
    Compact,
}

fn actions() -> impl Strategy<Value = Vec<(prop::sample::Index, Action)>> {
    let chain = prop_oneof![4 => 0u32..40, 1 => 0u32..600, 1 => 0u32..5000];
    let action = prop_oneof![
        2 => entries().prop_map(Action::Push),
        4 => prop::collection::vec((chain, 0u32..6), 0..5).prop_map(Action::Raise),
        4 => prop::collection::vec(any::<prop::sample::Index>(), 0..4).prop_map(Action::Join),
        1 => Just(Action::Compact),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), action), 1..40)
}

#[test]
fn stores_keep_clocks() {
    let counters = Counters::default();
    let result = runner(3000).run(&actions(), |actions| store_of_one_run(&counters, &actions));
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&[
        "clock shared",
        "join skipped",
        "leaf kept",
        "leaf taken",
        "leaf edited",
        "leaf fresh",
        "compaction",
        "unchanged",
        "all-equal join",
    ]);
}

fn store_of_one_run(
    counters: &Counters,
    actions: &[(prop::sample::Index, Action)],
) -> TestCaseResult {
    let mut store = ClockStore::new();
    let mut refs = vec![ClockRef::EMPTY];
    let mut twins = vec![Clock::new()];
    for (from, action) in actions {
        let from = from.index(refs.len());
        let mut twin = twins[from].clone();
        let result = match action {
            Action::Push(entries) => {
                twin = Clock::from_slice(entries);
                store.push(&twin, refs[from])
            }
            Action::Raise(raises) => {
                let mut edit = store.edit(refs[from]);
                let raised = raises.iter().try_for_each(|&(chain, value)| {
                    twin.raise(ChainId(chain), value);
                    edit.raise(ChainId(chain), value)
                });
                let clock = edit.finish();
                raised.map(|()| clock)
            }
            Action::Join(others) => {
                let mut edit = store.edit(refs[from]);
                let mut changed = false;
                let joined = others.iter().try_for_each(|other| {
                    changed |= twin.join(&twins[other.index(twins.len())]);
                    edit.join(refs[other.index(refs.len())])
                });
                counters.add("all-equal join", u64::from(!changed && !others.is_empty()));
                let clock = edit.finish();
                joined.map(|()| clock)
            }
            Action::Compact => {
                let before = store.nodes_count();
                store.compact(&mut refs);
                prop_assert!(store.nodes_count() <= before);
                Ok(refs[from])
            }
        };
        let clock = result.map_err(|error| TestCaseError::fail(error.to_string()))?;
        // The ref must show whether the clock differs from the one it started from.
        prop_assert_eq!(clock == refs[from], twin == twins[from]);
        counters.add("unchanged", u64::from(clock == refs[from]));
        refs.push(clock);
        twins.push(twin);
        let mut loaded = Clock::from_slice(&[7; 3]);
        for (clock, twin) in refs.iter().zip(&twins) {
            store.load(*clock, &mut loaded);
            prop_assert_eq!(&loaded, twin);
        }
        for chain in (0..45).chain([255, 256, 257, 599, 4095, 4096, 4999, u32::MAX]) {
            prop_assert_eq!(
                store.get(clock, ChainId(chain)),
                twins[twins.len() - 1].get(ChainId(chain))
            );
        }
    }
    let stats = store.stats();
    counters.add("clock shared", stats.clocks_shared);
    counters.add("join skipped", stats.joins_skipped);
    counters.add("leaf kept", stats.leaves_kept);
    counters.add("leaf taken", stats.leaves_taken);
    counters.add("leaf edited", stats.leaves_edited);
    counters.add("leaf fresh", stats.leaves_fresh);
    counters.add("compaction", stats.compactions);
    Ok(())
}

#[test]
fn full_stores_say_so() {
    let mut store = ClockStore::with_memory_max(64 * 10);
    let mut last = ClockRef::EMPTY;
    let mut failed = None;
    for i in 1..100 {
        let mut edit = store.edit(last);
        match edit.raise(ChainId(0), i) {
            Ok(()) => last = edit.finish(),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    assert_eq!(failed, Some(StoreFull { memory_bytes_max: 640 }));
    assert!(store.memory_bytes() <= 640);
    assert_eq!(store.get(last, ChainId(0)), 9);
    store.compact([&mut last]);
    assert_eq!((store.nodes_count(), store.get(last, ChainId(0))), (2, 9));
}

/// A way to change one of a few clocks.
#[derive(Clone, Copy, Debug)]
enum Change {
    Raise(usize, u32, u32),
    Join(usize, usize),
    Copy(usize, usize),
    /// Joins a clock that the first one was joined into, so that it has all of it, after the own
    /// entry of the first one was raised.
    Greater(usize, usize, u32, u32),
}

fn change() -> impl Strategy<Value = Change> {
    // Chains at the borders of leaves, nodes and heights, and where clocks become wide.
    let chain = prop_oneof![
        0u32..40,
        250u32..260,
        500u32..530,
        8_180u32..8_200,
        131_060u32..131_080,
        Just(u32::MAX),
        0u32..200_000,
    ];
    let one = 0usize..4;
    prop_oneof![
        6 => (one.clone(), chain.clone(), 0u32..9).prop_map(|(a, c, v)| Change::Raise(a, c, v)),
        3 => (one.clone(), one.clone()).prop_map(|(a, b)| Change::Join(a, b)),
        2 => (one.clone(), one.clone()).prop_map(|(a, b)| Change::Copy(a, b)),
        2 => (one.clone(), one, chain, 1u32..9).prop_map(|(a, b, c, v)| Change::Greater(a, b, c, v)),
    ]
}

#[test]
fn shared_clocks_are_pointwise() {
    type Plain = std::collections::BTreeMap<u32, u32>;
    let counters = Counters::default();
    let instance = prop::collection::vec(change(), 0..40);
    let raise = |plain: &mut Plain, chain: u32, value: u32| {
        if value > 0 {
            let entry = plain.entry(chain).or_default();
            *entry = value.max(*entry);
        }
    };
    let join = |plain: &mut [Plain; 4], a: usize, b: usize| {
        let before = plain[a].clone();
        for (chain, value) in plain[b].clone() {
            raise(&mut plain[a], chain, value);
        }
        plain[a] != before
    };
    let result = runner(4000).run(&instance, |changes| {
        let mut clocks: [SharedClock; 4] = Default::default();
        let mut plain: [Plain; 4] = Default::default();
        for change in changes {
            match change {
                Change::Raise(a, chain, value) => {
                    clocks[a].raise(ChainId(chain), value);
                    raise(&mut plain[a], chain, value);
                }
                Change::Join(a, b) => {
                    let other = clocks[b].clone();
                    let grew = clocks[a].join(&other);
                    prop_assert_eq!(grew, join(&mut plain, a, b));
                    counters.add(if grew { "grew" } else { "kept" }, 1);
                }
                Change::Copy(a, b) => {
                    let other = clocks[b].clone();
                    clocks[a].copy_from(&other);
                    plain[a] = plain[b].clone();
                }
                Change::Greater(a, b, chain, value) if a != b => {
                    let first = clocks[a].clone();
                    clocks[b].join(&first);
                    join(&mut plain, b, a);
                    clocks[a].raise(ChainId(chain), value);
                    raise(&mut plain[a], chain, value);
                    let other = clocks[b].clone();
                    let said = clocks[a].join_greater(&other, ChainId(chain));
                    let grew = join(&mut plain, a, b);
                    prop_assert!(said || !grew);
                    counters.add(if grew { "all greater" } else { "nothing greater" }, 1);
                }
                Change::Greater(..) => {}
            }
            for (clock, plain) in clocks.iter().zip(&plain) {
                prop_assert!(!clock.is_empty() || plain.is_empty());
                let near =
                    plain.keys().flat_map(|chain| [*chain, chain ^ 1, chain ^ 32, chain / 16]);
                for chain in near.chain([0, 31, 32, 255, 256, 511, 512, 8_191, 8_192]) {
                    let entry = plain.get(&chain).copied().unwrap_or(0);
                    prop_assert_eq!(clock.get(ChainId(chain)), entry);
                }
                let is_wide = plain.keys().any(|chain| *chain >= 256);
                counters.add(if is_wide { "wide" } else { "flat" }, 1);
                counters.add("highest", u64::from(plain.contains_key(&u32::MAX)));
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counters.check(&["grew", "kept", "all greater", "nothing greater", "wide", "flat", "highest"]);
}

#[test]
fn copies_of_shared_clocks_take_no_memory_of_their_own() {
    let mut clock = SharedClock::new();
    (0..10_000).for_each(|chain| clock.raise(ChainId(chain), 1));
    let whole = clock.memory_bytes();
    assert!(whole > 40_000);
    let copies: Vec<SharedClock> = (0..100)
        .map(|chain| {
            let mut copy = clock.clone();
            copy.raise(ChainId(chain * 100), 2);
            copy
        })
        .collect();
    // A leaf, and the nodes above it.
    assert!(copies.iter().all(|copy| copy.memory_bytes() < 700));
    let mut all = SharedClock::new();
    for copy in &copies {
        assert!(all.join(copy));
    }
    assert!(all.memory_bytes() <= whole);
    drop(copies);
    assert_eq!((0..100).filter(|chain| all.get(ChainId(chain * 100)) == 2).count(), 100);
}
