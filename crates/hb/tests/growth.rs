//! The work of a check grows with the trace and no faster: steps are counted, not seconds.

use anyorder_common::random::{Random, Rng};
use anyorder_hb::{CandidateLimits, Guards, Points, RaceOptions, RuleSet, check, order_candidates};
use anyorder_system::{Cancel, Control, Limits, StopReason};
use anyorder_testkit::synthetic::growth::{FAMILIES, Family, RACY};
use anyorder_trace::{EventKind, Mailbox, Mode, TaskKind, Trace, TraceBuilder};

fn rules_of(trace: &Trace) -> RuleSet {
    let posted = trace.tables().tasks.iter().any(|task| task.kind == TaskKind::Posted);
    if posted { RuleSet::Mailbox } else { RuleSet::Threads }
}

/// The steps of a check with `n` of what grows.
fn steps(family: &Family, n: u32) -> u64 {
    let trace = (family.make)(n).unwrap();
    // The pairs of like runs that are kept by default are many, though bounded.
    let options = RaceOptions { like_pairs_max: 16, ..RaceOptions::new(rules_of(&trace)) };
    let checked = check(&trace, &options, &Control::default());
    assert_eq!(checked.stopped, None);
    assert!(checked.statistics.steps >= trace.len() as u64);
    checked.statistics.steps
}

/// The families whose steps grow faster. In a tree of posts, tasks are posted from ever more
/// chains.
const FASTER: [&str; 1] = ["posts in a tree, fifo"];

#[test]
fn steps_double_with_what_grows() {
    for family in &FAMILIES {
        if FASTER.contains(&family.name) {
            continue;
        }
        // Clocks become one level deeper at 257 and at 4,097 chains, so all sizes are between.
        let counts = [600, 1_200, 2_400].map(|n| steps(family, n));
        for pair in counts.windows(2) {
            let ratio = pair[1] as f64 / pair[0] as f64;
            assert!(ratio <= 2.2, "{}: {counts:?}", family.name);
        }
    }
}

/// The steps of a search for candidates, few of which are listed, and the racy pairs.
fn candidate_steps(family: &Family, n: u32) -> (u64, u64) {
    let trace = (family.make)(n).unwrap();
    let limits = CandidateLimits { pairs_max: 100, ..CandidateLimits::default() };
    let (rules, points) = (rules_of(&trace), Points::default());
    let found = order_candidates(&trace, rules, &points, limits, &Control::default()).unwrap();
    assert!(found.steps >= trace.len() as u64);
    (found.steps, found.racy_total)
}

#[test]
fn steps_to_candidates_double_with_what_grows() {
    let mut racy = 0;
    for family in FAMILIES.iter().filter(|family| RACY.contains(&family.name)) {
        let counts = [600, 1_200, 2_400].map(|n| candidate_steps(family, n));
        racy += u64::from(counts[2].1 > 1_000_000);
        for pair in counts.windows(2) {
            // At first, not all threads have accessed all of the hot variables.
            let ratio = pair[1].0 as f64 / pair[0].0 as f64;
            assert!(ratio <= 2.5, "{}: {counts:?}", family.name);
        }
    }
    assert!(racy > 3, "{racy} families have many races");
}

#[test]
fn a_check_that_is_stopped_reports_what_it_found() {
    for family in &FAMILIES {
        let trace = (family.make)(100).unwrap();
        let options = RaceOptions { max_pairs: 100_000, ..RaceOptions::new(rules_of(&trace)) };
        let whole = check(&trace, &options, &Control::default());
        let mut stopped = 0;
        for polls in 0.. {
            let control = Control { cancel: Cancel::after_polls(polls), ..Control::default() };
            let checked = check(&trace, &options, &control);
            if checked.stopped.is_none() {
                assert_eq!(checked.groups, whole.groups);
                break;
            }
            stopped += 1;
            assert!(checked.statistics.race_pairs <= whole.statistics.race_pairs);
            for group in &checked.groups {
                let known = |pair| whole.groups.iter().any(|other| other.pairs.contains(pair));
                assert!(group.pairs.iter().all(known), "{}: {group:?}", family.name);
            }
        }
        assert!(stopped > 3, "{}", family.name);
    }
}

#[test]
fn races_are_charged_to_the_memory_limit() {
    let family = FAMILIES.iter().find(|family| family.name == "racers").unwrap();
    let trace = (family.make)(600).unwrap();
    let limits = Limits { memory_bytes: Some(1 << 20), ..Limits::NONE };
    let control = Control { limits, ..Control::default() };
    let options = RaceOptions { like_pairs_max: usize::MAX, ..RaceOptions::new(RuleSet::Threads) };
    let checked = check(&trace, &options, &control);
    assert_eq!(checked.stopped, Some(StopReason::MemoryLimit));
    assert!(checked.statistics.race_pairs > 1_000);
    assert!(!checked.groups.is_empty());
}

/// Requests that each write a variable and post a reply, which reads it and drops itself if a later
/// request has written it.
#[derive(Clone, Copy, Debug)]
struct Replies {
    name: &'static str,
    /// Whether each reply, and each request, is code of its own.
    own_places: (bool, bool),
    /// How many requests write one variable; all do if that is 0.
    of_variable: u32,
    locks: bool,
    /// Whether a reply acts though it is late, so that no read only guards.
    one_acts: bool,
}

const SAME: Replies = Replies {
    name: "replies of one code",
    own_places: (false, false),
    of_variable: 0,
    locks: false,
    one_acts: false,
};

const REPLIES: [Replies; 6] = [
    SAME,
    Replies {
        name: "readers of one location, places of their own",
        own_places: (true, false),
        ..SAME
    },
    Replies {
        name: "writers of one location, places of their own",
        own_places: (false, true),
        ..SAME
    },
    Replies { name: "with locks held by chance", own_places: (true, true), locks: true, ..SAME },
    Replies { name: "of many variables", own_places: (true, true), of_variable: 4, ..SAME },
    Replies { name: "one reply acts late", one_acts: true, ..SAME },
];

fn replies(of: Replies, n: u32) -> Trace {
    let mut b = TraceBuilder::new();
    let rng = &mut Rng::new(u64::from(n));
    let (ui, user) = (b.handler("ui", Mailbox::Bag), b.handler("user", Mailbox::None));
    let (ui, user) = (ui.unwrap(), b.initial(user.unwrap()));
    let of_variable = if of.of_variable == 0 { n } else { of.of_variable };
    let variable = |i: u32| format!("x{}", i / of_variable);
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    for i in 0..n {
        requests.push(b.task(&format!("request {i}"), ui).unwrap());
        b.post(user, requests[i as usize]).unwrap();
    }
    for (i, request) in (0..n).zip(requests) {
        b.get(request).unwrap();
        b.write(request, &variable(i)).unwrap();
        b.at("request", if of.own_places.1 { 1 + i } else { 1 }).unwrap();
        replies.push(b.task(&format!("reply {i}"), ui).unwrap());
        b.post(request, replies[i as usize]).unwrap();
        b.end(request).unwrap();
    }
    for (i, reply) in (0..n).zip(replies) {
        let lock = format!("lock {}", rng.index(8));
        let is_last = (i + 1) % of_variable == 0;
        b.get(reply).unwrap();
        if of.locks {
            b.acquire(reply, &lock, Mode::EXCLUSIVE).unwrap();
        }
        b.read(reply, &variable(i)).unwrap();
        b.at("reply", if of.own_places.0 { 1 + i } else { 1 }).unwrap();
        if of.locks {
            b.release(reply, &lock, Mode::EXCLUSIVE).unwrap();
        }
        if is_last || (of.one_acts && i == n / 2) {
            b.write(reply, &format!("shown {i}")).unwrap();
        }
        b.end(reply).unwrap();
    }
    b.finish()
}

/// Asks about each read with the write before it and with the last write. Returns the steps, and
/// how many of the answers were yes.
fn guard_steps(of: Replies, n: u32) -> (u64, usize) {
    let trace = replies(of, n);
    let guards = Guards::new(&trace);
    let of_kind = |kind| trace.events().filter(move |event| event.kind() == kind);
    let reads = of_kind(EventKind::Read);
    let writes: Vec<_> = of_kind(EventKind::Write).take(n as usize).collect();
    let asked = reads
        .zip(&writes)
        .flat_map(|(read, write)| [(read.id, write.id), (read.id, writes[n as usize - 1].id)]);
    let yes = asked.filter(|(read, write)| guards.guards(*read, *write)).count();
    (guards.steps(), yes)
}

#[test]
fn questions_about_guards_double_with_what_grows() {
    let mut yes = 0;
    for of in REPLIES {
        let counts = [250, 500, 1_000].map(|n| guard_steps(of, n));
        yes += counts[2].1;
        for pair in counts.windows(2) {
            let ratio = pair[1].0 as f64 / pair[0].0 as f64;
            assert!((1.8..=2.2).contains(&ratio), "{}: {counts:?}", of.name);
        }
    }
    assert!(yes > 1_000, "{yes} reads only guard");
}
