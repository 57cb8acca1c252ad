//! Loops that give up after some turns, against the naive search in which giving way never waits.

use crate::learn::{Sabotage, explore_with_fault};
use crate::tests::script::Script;
use anyorder_testkit::concurrent::{
    Concurrent, Do, Hold, Outcome, Spin, Stmt, Thing, Waits, everything, racy_cells,
    random_counting_program, random_section_program, random_spinning_program,
    random_waiting_program,
};
use anyorder_testkit::effort::sampled;
use anyorder_threads::{
    Ending, Fault, LearnOptions, Learnt, Sampling, every_execution, explore_by_learning, sample,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// How often the threads of mixed programs may spin in vain.
const SPINS_MAX: u32 = 10;

/// Seeds of programs that show a dropped rule each, as the generators are now.
const SHOWING: [u64; 3] = [12, 27, 41];

fn options(classes: bool, spins_max: u32) -> LearnOptions {
    LearnOptions { classes, spins_max, merges_turns: false, ..LearnOptions::default() }
}

/// As [`options`], with turns in vain left out.
fn merging(spins_max: u32) -> LearnOptions {
    LearnOptions { merges_turns: true, ..options(false, spins_max) }
}

/// What threads saw, with one turn alone for several that read the same in a loop that waits.
fn without_repeats(
    script: &Script,
    seen: &BTreeSet<(usize, Vec<u64>)>,
) -> BTreeSet<(usize, Vec<u64>)> {
    let one =
        |(thread, history): &(usize, Vec<u64>)| (*thread, script.without_repeats(*thread, history));
    seen.iter().map(one).collect()
}

/// What threads saw, with the last turn alone of each loop that gives up.
fn without_turns_in_vain(
    script: &Script,
    seen: &BTreeSet<(usize, Vec<u64>)>,
) -> BTreeSet<(usize, Vec<u64>)> {
    let one = |(thread, history): &(usize, Vec<u64>)| {
        (*thread, script.without_turns_in_vain(*thread, history))
    };
    seen.iter().map(one).collect()
}

/// The sets of threads that get stuck, with whether one spins.
fn stuck(learnt: &Learnt) -> BTreeSet<(BTreeSet<usize>, bool)> {
    let threads = |blocked: &[anyorder_threads::Blocked]| {
        blocked.iter().map(|blocked| blocked.thread.index()).collect()
    };
    let of = |found: &anyorder_threads::Found| match &found.fault {
        Fault::Deadlock(blocked) => Some((threads(blocked), false)),
        Fault::Livelock(blocked) => Some((threads(blocked), true)),
        _ => None,
    };
    learnt.faults.iter().filter_map(of).collect()
}

fn all_stuck(all: &Outcome) -> BTreeSet<(BTreeSet<usize>, bool)> {
    let ends = all.ends.iter().filter(|end| !end.1.is_empty());
    ends.map(|end| (end.1.clone(), end.2)).collect()
}

/// What differs from the naive search, if something does.
fn difference(
    program: &Concurrent,
    all: &Outcome,
    options: &LearnOptions,
    sabotage: Sabotage,
) -> Option<String> {
    let mut script = Script::stale(program.clone());
    let learnt = explore_with_fault(&mut script, options, sabotage);
    let (mut wanted, mut seen) =
        (without_repeats(&script, &all.seen), without_repeats(&script, &script.seen));
    let more: Vec<_> = seen.difference(&wanted).cloned().collect();
    if options.merges_turns {
        (wanted, seen) =
            (without_turns_in_vain(&script, &wanted), without_turns_in_vain(&script, &seen));
    }
    let missing: Vec<_> = wanted.difference(&seen).collect();
    let found = stuck(&learnt);
    let ends = all.ends.len() as u64;
    let checks = [
        (learnt.incomplete.is_some(), "incomplete"),
        (!missing.is_empty(), "missing"),
        (!more.is_empty(), "too many"),
        (!found.is_subset(&all_stuck(all)), "stuck that is not"),
        (found.is_empty() != all_stuck(all).is_empty(), "stuck"),
        (options.classes && found != all_stuck(all), "stuck, in classes"),
        (options.classes && learnt.classes != ends, "classes"),
        (learnt.executions > ends, "executions"),
    ];
    let what = checks.into_iter().find(|check| check.0)?.1;
    Some(format!("{what}: missing {missing:?}, more {more:?}, {ends} ends, {learnt:?}"))
}

#[test]
fn loops_that_give_up_are_explored_turn_by_turn() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(120, 4_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let program = random_spinning_program(seed, false);
        let Some(all) = everything(&program, 8_000, 200) else {
            count("too large", 1);
            continue;
        };
        for classes in [false, true] {
            let found = difference(&program, &all, &options(classes, 200), Sabotage::None);
            assert_eq!(found, None, "seed {seed}, classes {classes}: {program:#?}");
        }
        let waiting = LearnOptions { turns_max: 0, ..options(false, 200) };
        let loses = difference(&program, &all, &waiting, Sabotage::None).is_some();
        let learnt = explore_by_learning(&mut Script::new(program), &options(false, 200));
        count("programs", 1);
        count("something is lost if loops wait", u64::from(loses));
        count("trials", learnt.trials);
        count("executions", learnt.executions);
        count("ends", all.ends.len() as u64);
    }
    println!("{counts:#?}");
    assert!(counts["something is lost if loops wait"] > 20, "{counts:?}");
    assert!(counts["programs"] > 4 * counts.get("too large").unwrap_or(&0), "{counts:?}");
}

#[test]
fn loops_that_give_up_beside_loops_that_do_not() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(100, 4_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let program = random_waiting_program(seed);
        let Some(all) = everything(&program, 8_000, SPINS_MAX) else { continue };
        for classes in [false, true] {
            let found = difference(&program, &all, &options(classes, SPINS_MAX), Sabotage::None);
            assert_eq!(found, None, "seed {seed}, classes {classes}: {program:#?}");
        }
        let waiting = LearnOptions { turns_max: 0, ..options(false, SPINS_MAX) };
        let loses = difference(&program, &all, &waiting, Sabotage::None).is_some();
        count("programs", 1);
        count("something is lost if loops wait", u64::from(loses));
        count("livelocks", u64::from(all.ends.iter().any(|end| end.2)));
        count("all end", u64::from(all.ends.iter().all(|end| end.1.is_empty())));
    }
    println!("{counts:#?}");
    for name in ["something is lost if loops wait", "livelocks", "all end"] {
        assert!(counts[name] > 5, "{counts:?}");
    }
}

/// Turns in vain that do not matter are left out, and nothing else.
#[test]
fn turns_in_vain_are_left_out() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in sampled(240, 4_000) {
        let mut count = |name, by| *counts.entry(name).or_default() += by;
        let (program, spins_max) = match seed % 4 {
            0 if seed % 8 == 0 => (random_waiting_program(seed), SPINS_MAX),
            0 => (random_spinning_program(seed, false), 200),
            _ => (random_counting_program(seed), 200),
        };
        let Some(all) = everything(&program, 20_000, spins_max) else {
            count("too large", 1);
            continue;
        };
        let found = difference(&program, &all, &merging(spins_max), Sabotage::None);
        assert_eq!(found, None, "seed {seed}: {program:#?}");
        let executions =
            |options| explore_by_learning(&mut Script::new(program.clone()), &options).executions;
        let (before, after) =
            (executions(options(false, spins_max)), executions(merging(spins_max)));
        count("programs", 1);
        count("executions", before);
        count("executions, merged", after);
        count("less", u64::from(after < before));
        count("more", u64::from(after > before));
    }
    println!("{counts:?}");
    assert!(counts["less"] > 10 && counts["executions, merged"] < counts["executions"]);
}

/// The plain search and random executions try loops, too.
#[test]
fn other_engines_see_loops_give_up() {
    let mut counts = [0_u64; 3];
    for seed in sampled(40, 1_000) {
        let program = random_spinning_program(seed, false);
        let Some(all) = everything(&program, 2_000, 200) else { continue };
        let mut script = Script::new(program.clone());
        let mut left = 5_000;
        let mut histories = BTreeSet::new();
        let plain = every_execution(&mut script, (1_000, 200), |_, events, ending| {
            assert_ne!(ending, Ending::Livelock);
            let steps: Vec<_> = events.iter().map(|event| event.step).collect();
            assert!(histories.insert(steps), "an execution twice, seed {seed}: {program:#?}");
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if plain.complete {
            assert_eq!(script.seen, all.seen, "seed {seed}: {program:#?}");
            counts[0] += 1;
        }
        for sampling in [Sampling::Walk, Sampling::PartialOrder, Sampling::ReadsFrom] {
            let mut script = Script::new(program.clone());
            let options = LearnOptions { executions_max: 100, ..LearnOptions::default() };
            sample(&mut script, sampling, seed, &options);
            assert!(script.seen.is_subset(&all.seen), "seed {seed}: {program:#?}");
            counts[1] += script.seen.len() as u64;
            counts[2] += all.seen.len() as u64;
        }
    }
    println!("complete, seen by samples, of all: {counts:?}");
    assert!(counts[0] > 8 && 10 * counts[1] > 7 * counts[2], "{counts:?}");
}

/// One thread spins, so often at most, beside one that ends the loop.
fn beside_a_store(turns: u64) -> Concurrent {
    let spin = Spin { body: vec![Do::Load(0)], until: 7, turns, is_more: false, counts: false };
    let main = vec![Stmt::Do(Do::Spawn(1)), Stmt::SpinUpTo(Box::new(spin))];
    let threads = vec![main, vec![Stmt::Do(Do::Store(0, 7))]];
    Concurrent { things: vec![Thing::Number(0)], threads }
}

/// The plain search and random executions name loops that give up too late, too.
#[test]
fn other_engines_name_long_loops() {
    for (turns, is_long) in [(20, false), (50, true)] {
        let mut script = Script::new(beside_a_store(turns));
        let go_on = |_: &mut Script, _: &[_], _| ControlFlow::Continue(());
        let plain = every_execution(&mut script, (1_000, 200), go_on);
        assert_eq!(plain.long_loops.len(), usize::from(is_long), "{plain:?}");
        assert_eq!(plain.complete, !is_long, "{plain:?}");
        let options = LearnOptions { executions_max: 20, ..options(false, 200) };
        let sampled = sample(&mut script, Sampling::Walk, 1, &options);
        assert_eq!(sampled.long_loops.len(), usize::from(is_long), "{sampled:?}");
    }
}

#[test]
fn races_after_loops_that_give_up_are_found() {
    let (mut counts, cells) = ([0_u64; 3], |learnt: &Learnt| -> BTreeSet<usize> {
        let cell = |found: &anyorder_threads::Found| match &found.fault {
            Fault::Race(race) => Some(race.object.index()),
            _ => None,
        };
        learnt.faults.iter().filter_map(cell).collect()
    });
    for seed in sampled(100, 2_000) {
        let program = random_spinning_program(seed, true);
        let Some(racy) = racy_cells(&program, 3_000) else { continue };
        let explore = |turns_max| {
            let options = LearnOptions { turns_max, ..options(false, 200) };
            cells(&explore_by_learning(&mut Script::new(program.clone()), &options))
        };
        assert_eq!(explore(32), racy, "seed {seed}: {program:#?}");
        counts[0] += 1;
        counts[1] += u64::from(!racy.is_empty());
        counts[2] += u64::from(explore(0) != racy);
    }
    println!("programs, racy, lost if loops wait: {counts:?}");
    assert!(counts[0] > 30 && counts[1] > 10 && counts[2] > 0, "{counts:?}");
}

/// Whether some random program shows that a rule is dropped.
fn is_noticed(sabotage: Sabotage) -> bool {
    let by_seed = SHOWING.into_iter().chain(1..6_000).find(|seed| {
        let is_mixed = seed % 2 == 1;
        let (program, spins_max) = match is_mixed {
            true => (random_waiting_program(*seed), SPINS_MAX),
            false => (random_spinning_program(*seed, false), 200),
        };
        let Some(all) = everything(&program, 6_000, spins_max) else { return false };
        let executions_max = 1 + all.ends.len() as u64;
        let limits = LearnOptions { executions_max, steps_max: 1_000, ..options(false, spins_max) };
        difference(&program, &all, &limits, sabotage).is_some()
            && difference(&program, &all, &limits, Sabotage::None).is_none()
    });
    println!("{sabotage:?}: noticed by seed {by_seed:?}");
    by_seed.is_some()
}

/// What a thread does after its loop may depend on how many turns it took.
#[test]
fn turns_that_matter_are_noticed() {
    let by_seed = (800..2_000).find(|seed| {
        let program = random_counting_program(*seed);
        let Some(all) = everything(&program, 3_000, 200) else { return false };
        difference(&program, &all, &merging(200), Sabotage::TurnsNeverMatter).is_some()
    });
    println!("noticed by seed {by_seed:?}");
    assert!(by_seed.is_some());
}

/// A thread that looks at content under a lock and gives up, beside one with sections of the lock.
fn beside_sections(count: u64, turns: u64) -> Concurrent {
    let (lock, unlock) = (Do::Lock(2, Hold::Write, Waits::Ever), Do::Unlock(2, Hold::Write));
    let body = vec![lock, Do::Use(3), unlock, Do::Load(1)];
    let spin = Spin { body, until: 7, turns, is_more: false, counts: false };
    let mut main = vec![Do::Spawn(1)];
    for number in 0..count {
        main.extend([lock, Do::Use(3), Do::Store(1, 8 + number), Do::Load(0), unlock, Do::Load(0)]);
    }
    Concurrent {
        things: vec![Thing::Number(0), Thing::Number(0), Thing::Lock, Thing::Content(0)],
        threads: vec![
            main.into_iter().map(Stmt::Do).collect(),
            vec![Stmt::SpinUpTo(Box::new(spin)), Stmt::Do(Do::Store(0, 1))],
        ],
    }
}

#[test]
fn loops_whose_turns_need_a_lock_give_up() {
    let mut noticed = 0;
    for (count, turns) in (1..4).flat_map(|count| [(count, 2), (count, 3)]) {
        let program = beside_sections(count, turns);
        let Some(all) = everything(&program, 100_000, 200) else { panic!("{program:#?}") };
        let found = |sabotage| difference(&program, &all, &options(false, 200), sabotage);
        assert_eq!(found(Sabotage::None), None, "{program:#?}");
        noticed += u64::from(found(Sabotage::NeedsAreEndless).is_some());
    }
    assert!(noticed > 0);
}

/// A loop that gives up, beside a thread that does something under the lock.
fn beside_a_section(
    (turns, body, after): (u64, Vec<Do>, Vec<Do>),
    section: &[Do],
    number: u64,
) -> Concurrent {
    let (lock, unlock) = (Do::Lock(2, Hold::Write, Waits::Ever), Do::Unlock(2, Hold::Write));
    let before = [lock, unlock, Do::Load(1)];
    let is_more = number > 0;
    let spin = Spin { body, until: 7, turns, is_more, counts: false };
    let mut spinner: Vec<Stmt> = before.map(Stmt::Do).into();
    spinner.push(Stmt::SpinUpTo(Box::new(spin)));
    spinner.extend(after.into_iter().map(Stmt::Do));
    let main = [Do::Spawn(1), lock].into_iter().chain(section.iter().copied()).chain([unlock]);
    let things = vec![Thing::Number(0), Thing::Number(number), Thing::Lock, Thing::Content(0)];
    Concurrent { things, threads: vec![main.map(Stmt::Do).collect(), spinner] }
}

/// What a thread does up to a lock, it may do while another thread holds it: in its loop or after.
#[test]
fn turns_go_on_beside_a_lock_that_is_held() {
    let (lock, unlock) = (Do::Lock(2, Hold::Write, Waits::Ever), Do::Unlock(2, Hold::Write));
    let in_turn = vec![Do::Load(1), lock, Do::Use(3), unlock, Do::Load(0)];
    let later = [Do::Store(0, 5), Do::Store(1, 6), Do::Store(0, 0)];
    let after = vec![Do::Load(1), lock, unlock];
    let meanwhile = [Do::Store(0, 1), Do::Store(1, 1), Do::Store(1, 0), Do::Store(0, 0)];
    for program in [
        beside_a_section((2, in_turn, vec![]), &later, 0),
        beside_a_section((1, vec![Do::Load(0)], after), &meanwhile, 0),
    ] {
        let Some(all) = everything(&program, 100_000, 200) else { panic!("{program:#?}") };
        for classes in [false, true] {
            let found = |sabotage| difference(&program, &all, &options(classes, 200), sabotage);
            assert_eq!(found(Sabotage::None), None, "{program:#?}");
            assert!(found(Sabotage::NeedsWait).is_some(), "{program:#?}");
        }
        assert_eq!(seen_by_all_orders(&program, 200), Some(all.seen), "{program:#?}");
    }
}

/// What threads saw in the plain search, if it is complete.
fn seen_by_all_orders(program: &Concurrent, spins_max: u32) -> Option<BTreeSet<(usize, Vec<u64>)>> {
    let (mut script, mut left) = (Script::new(program.clone()), 20_000);
    let plain = every_execution(&mut script, (1_000, spins_max), |_, _, _| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    plain.complete.then_some(script.seen)
}

/// A thread tries twice to take a lock that it had before, and waits for it if it did not get it.
#[test]
fn attempts_between_sections_of_a_lock() {
    let lock = |waits| Do::Lock(0, Hold::Write, waits);
    let unlock = Do::Unlock(0, Hold::Write);
    let section = [lock(Waits::Ever), unlock].map(Stmt::Do);
    let (body, turns) = (vec![lock(Waits::Never)], 2);
    let spin = Spin { body, until: 1, turns, is_more: false, counts: false };
    let mut main = vec![Stmt::Do(Do::Spawn(1))];
    main.extend(section.clone());
    main.push(Stmt::SpinUpTo(Box::new(spin)));
    main.push(Stmt::If(1, vec![Stmt::Do(unlock)], Vec::new()));
    main.extend(section.clone());
    let program = Concurrent { things: vec![Thing::Lock], threads: vec![main, section.into()] };
    let Some(all) = everything(&program, 10_000, 200) else { panic!("{program:#?}") };
    for classes in [false, true] {
        assert_eq!(difference(&program, &all, &options(classes, 200), Sabotage::None), None);
    }
    assert_eq!(seen_by_all_orders(&program, 200), Some(all.seen));
}

/// What the thread with the loop of [`beside_a_section`] saw where its loop makes two turns, and
/// the search did not show. With a number, it first goes on for ever as far as is tried.
fn missing_where_it_gives_up(program: &Concurrent, sabotage: Sabotage) -> Vec<(usize, Vec<u64>)> {
    let Some(all) = everything(program, 100_000, SPINS_MAX) else { panic!("{program:#?}") };
    let mut script = Script::new(program.clone());
    explore_with_fault(&mut script, &options(false, SPINS_MAX), sabotage);
    let spins = |stmts: &Vec<Stmt>| stmts.iter().any(|stmt| matches!(stmt, Stmt::SpinUpTo(_)));
    let Some(spinner) = program.threads.iter().position(spins) else { panic!("{program:#?}") };
    let loads = |stmt: &Stmt| *stmt == Stmt::Do(Do::Load(1));
    let Some(at) = program.threads[spinner].iter().position(loads) else { panic!("{program:#?}") };
    let is_short = |seen: &&(usize, Vec<u64>)| seen.0 == spinner && seen.1.get(at) == Some(&0);
    let short = all.seen.iter().filter(is_short);
    short.filter(|seen| !script.seen.contains(*seen)).cloned().collect()
}

/// The lock that a thread had before its loop, and takes again after it, is not one of its turns.
#[test]
fn a_lock_around_a_loop_is_not_one_of_its_turns() {
    let (lock, unlock) = (Do::Lock(2, Hold::Write, Waits::Ever), Do::Unlock(2, Hold::Write));
    let section = [Do::Store(1, 0), Do::Store(0, 1), Do::Store(0, 0)];
    let program = beside_a_section(
        (2, vec![Do::Load(0)], vec![lock, unlock]),
        &section,
        2 * u64::from(SPINS_MAX),
    );
    assert_eq!(missing_where_it_gives_up(&program, Sabotage::None), []);
    assert_ne!(missing_where_it_gives_up(&program, Sabotage::LocksBeforeCount), []);
}

/// A loop that goes on for ever elsewhere, and needs a lock that is held, is tried when it is free.
#[test]
fn a_loop_that_needs_a_lock_is_tried_again() {
    let (lock, unlock) = (Do::Lock(2, Hold::Write, Waits::Ever), Do::Unlock(2, Hold::Write));
    let body = vec![lock, Do::Use(3), unlock, Do::Load(0)];
    let mut program =
        beside_a_section((2, body, vec![]), &[Do::Store(0, 1)], 2 * u64::from(SPINS_MAX));
    program.threads[0].insert(1, Stmt::Do(Do::Store(1, 0)));
    program.threads[0].push(Stmt::Do(Do::Store(0, 2)));
    // The thread that spins is searched first.
    let spawn = program.threads[0].remove(0);
    program.threads[1].insert(0, spawn);
    program.threads.swap(0, 1);
    assert_eq!(missing_where_it_gives_up(&program, Sabotage::None), []);
    assert_ne!(missing_where_it_gives_up(&program, Sabotage::NeedsAreEndless), []);
    // The plain search does not come back to where the thread waited, and says so.
    let go_on = |_: &mut Script, _: &[_], _| ControlFlow::Continue(());
    let plain = every_execution(&mut Script::new(program), (1_000, SPINS_MAX), go_on);
    assert!(!plain.complete, "{plain:?}");
}

/// A loop that counts its turns from 100 on goes on for ever as far as is tried; it waits, though
/// its number is another one in each turn. Where another thread sets the number back, it gives up
/// soon, and all see it count.
#[test]
fn a_loop_that_counts_waits_until_others_change_its_number() {
    let body = vec![Do::Load(0), Do::StoreNext(0), Do::Load(1)];
    let spin = Spin { body, until: 5, turns: 40, is_more: false, counts: false };
    let spinner = vec![Stmt::Do(Do::Spawn(1)), Stmt::SpinUpTo(Box::new(spin))];
    let other = [Do::Store(0, 3), Do::Load(0)].map(Stmt::Do).to_vec();
    let things = vec![Thing::Number(100), Thing::Number(0)];
    let program = Concurrent { things, threads: vec![spinner, other] };
    let mut script = Script::new(program);
    let learnt = explore_by_learning(&mut script, &options(false, SPINS_MAX));
    let of_other = script.seen.iter().filter(|seen| seen.0 == 1);
    let all: BTreeSet<u64> = of_other.filter_map(|seen| seen.1.get(1).copied()).collect();
    assert!([3, 4, 5, 6, 101, 102].iter().all(|number| all.contains(number)), "{all:?}");
    assert_eq!((learnt.incomplete, learnt.executions, learnt.trials), (None, 8, 4));
}

#[test]
fn loops_beside_sections_are_explored_turn_by_turn() {
    let (mut programs, mut lost) = (0, 0);
    for seed in sampled(300, 6_000) {
        let program = random_section_program(seed);
        let Some(all) = everything(&program, 3_000, 200) else { continue };
        for classes in [false, true] {
            let found = difference(&program, &all, &options(classes, 200), Sabotage::None);
            assert_eq!(found, None, "seed {seed}, classes {classes}: {program:#?}");
        }
        let loses = difference(&program, &all, &options(false, 200), Sabotage::NeedsWait);
        programs += 1;
        lost += u64::from(loses.is_some());
    }
    println!("programs, lost if turns wait for locks: {programs}, {lost}");
    assert!(programs > 100 && lost > 0, "{programs}, {lost}");
}

#[test]
fn dropped_rules_of_loops_are_noticed() {
    use Sabotage::*;
    let all =
        [SearchesTryNoLoops, LoopsGiveUpEarly, LoopsNeverGiveUp, LoopsAreOne, ChangesForgotten];
    let missed: Vec<Sabotage> = all.into_iter().filter(|fault| !is_noticed(*fault)).collect();
    assert_eq!(missed, []);
}
