//! Walks, drawings, comparing, symmetry, limits and tasks.

use crate::models;

use anyorder_search::example::Counter;
use anyorder_search::{
    GraphFormat, Limit, Order, Property, SearchError, SearchOptions, Storage, WalkOptions, diff,
    export, replay, search, walk,
};
use anyorder_system::{Control, End, Failure, Hash128, Limits, Properties, StateSystem, Successor};
use models::two_phase::TwoPhase;
use std::num::NonZeroUsize;

#[test]
fn symmetry_counts_are_the_same_on_any_thread() {
    for participants in 3..=7 {
        let mut counts = Vec::new();
        for threads in 1..=4 {
            for order in [Order::Breadth, Order::Depth] {
                let threads = NonZeroUsize::new(threads).unwrap();
                let options =
                    SearchOptions { threads, order, symmetry: true, ..SearchOptions::default() };
                let outcome =
                    search(&TwoPhase { participants }, &options, &Control::default()).unwrap();
                assert!(outcome.complete && outcome.violations.is_empty());
                counts.push((outcome.stats.states, outcome.stats.transitions));
            }
        }
        counts.dedup();
        assert_eq!(counts.len(), 1, "{counts:?}");
        assert_eq!(counts[0].0, orbits(participants), "{participants}");
    }
}

/// The number of different representatives among all states.
fn orbits(participants: u32) -> u64 {
    let system = TwoPhase { participants };
    let mut seen = std::collections::BTreeSet::new();
    let mut representatives = std::collections::BTreeSet::new();
    let mut queue = system.initial();
    while let Some(state) = queue.pop() {
        let bytes = |state| {
            let mut bytes = Vec::new();
            system.encode(&state, &mut bytes);
            bytes
        };
        if seen.insert(bytes(state)) {
            representatives.insert(bytes(system.representative(&state).unwrap()));
            let mut successors = Vec::new();
            system.successors(&state, &mut successors);
            queue.extend(successors.into_iter().map(|successor| successor.state));
        }
    }
    representatives.len() as u64
}

/// Two processes that take a lock each and then the other's; `name`s are hostile.
#[derive(Clone, Copy)]
struct Locks;

impl StateSystem for Locks {
    type State = [u8; 2];
    type Action = u8;

    fn initial(&self) -> Vec<[u8; 2]> {
        vec![[0, 0]]
    }

    fn successors(&self, state: &[u8; 2], out: &mut Vec<Successor<[u8; 2], u8>>) {
        for me in 0..2 {
            let other = state[1 - me];
            // 0: nothing, 1: the own lock, 2: both, 3: done.
            let free = match state[me] {
                0 => other != 2,
                1 => other == 0 || other == 3,
                2 => true,
                _ => false,
            };
            if free {
                let mut next = *state;
                next[me] += 1;
                let failure = (next == [3, 3]).then(|| "both \"done\"\u{1}".to_owned());
                let failure = failure.map(Failure::from);
                out.push(Successor { action: me as u8, state: next, failure });
            }
        }
    }

    fn fingerprint(&self, state: &[u8; 2]) -> Hash128 {
        anyorder_system::StateHash::of(state)
    }

    fn encode(&self, state: &[u8; 2], out: &mut Vec<u8>) {
        out.extend_from_slice(state);
    }

    fn decode(&self, bytes: &[u8]) -> Option<[u8; 2]> {
        bytes.try_into().ok()
    }

    fn properties(&self) -> Properties<'_, [u8; 2]> {
        Properties::new().end(|_| End::Deadlock)
    }

    fn representative(&self, state: &[u8; 2]) -> Option<[u8; 2]> {
        Some([state[0].min(state[1]), state[0].max(state[1])])
    }

    fn describe(&self, _state: &[u8; 2], action: &u8) -> String {
        format!("process \"{action}\"\n\\")
    }

    fn show(&self, state: &[u8; 2]) -> Vec<(String, String)> {
        vec![
            ("</script>".to_owned(), state[0].to_string()),
            ("b\"".to_owned(), state[1].to_string()),
        ]
    }
}

#[test]
fn a_deadlock_with_its_shortest_path() {
    for symmetry in [false, true] {
        let options = SearchOptions { symmetry, ..SearchOptions::default() };
        let outcome = search(&Locks, &options, &Control::default()).unwrap();
        assert_eq!(outcome.violations[0].property, Property::Deadlock(String::new()));
        let path = &outcome.violations[0].path;
        assert_eq!((path.choices().unwrap(), *path.last()), (vec![0, 0, 1], [1, 1]));
        let failure = &outcome.violations[1];
        assert_eq!(failure.property, Property::Failure("both \"done\"\u{1}".into()));
        assert_eq!(failure.path.steps.len(), 6);
        // With symmetry, too, it is a real path.
        let again = replay(&Locks, &failure.path.choices().unwrap()).unwrap();
        assert_eq!(again.last(), failure.path.last());
    }
}

#[test]
fn paths_are_replayed_and_compared() {
    let a = replay(&Locks, &[0, 0, 0]).unwrap();
    let b = replay(&Locks, &[0, 0, 1]).unwrap();
    assert!(diff(&Locks, &a, &a).is_none());
    let difference = diff(&Locks, &a, &b).unwrap();
    assert_eq!(difference.common, 1);
    assert_eq!(difference.next[1].as_deref(), Some("process \"1\"\n\\"));
    let value = |text: &str| Some(text.to_owned());
    assert_eq!(difference.values[0], ("</script>".to_owned(), value("2"), value("1")));
    let prefix = replay(&Locks, &[0, 0]).unwrap();
    assert_eq!(diff(&Locks, &a, &prefix).unwrap().next, [value("process \"0\"\n\\"), None]);
    let error = replay(&Locks, &[0, 0, 7]).err().unwrap();
    assert_eq!(error.to_string(), "step 2: no such choice among 2");
    assert!(replay(&Locks, &[]).is_err() && replay(&Locks, &[1]).is_err());
}

#[test]
fn graphs_are_escaped() {
    let text = |format| {
        export(&Locks, format, &SearchOptions::default(), &Control::default()).unwrap().text
    };
    let dot = text(GraphFormat::Dot);
    assert!(dot.starts_with("digraph states {\n"), "{dot}");
    assert!(dot.contains(r#"s0 -> s1 [label="process \"0\"\l\\"];"#), "{dot}");
    assert!(dot.contains(r#"label="both \"done\"\\u{1}", shape=octagon"#), "{dot}");
    let json = text(GraphFormat::Json);
    assert!(
        json.contains(r#"{"initial":true,"values":{"\u003c/script>":"0","b\"":"0"}}"#),
        "{json}"
    );
    assert!(
        json.contains(r#""failure":"both \"done\"\u0001","action":"process \"0\"\u000a\\""#),
        "{json}"
    );
    assert!(json.ends_with(r#"],"complete":true}"#), "{json}");
    let few = SearchOptions { states_max: Some(3), ..SearchOptions::default() };
    let cut = export(&Locks, GraphFormat::Json, &few, &Control::default()).unwrap();
    assert!(!cut.complete && cut.limits == [Limit::States]);
    let json = cut.text;
    assert_eq!(json.matches("\"initial\"").count(), 3, "{json}");
    assert!(json.ends_with(r#"],"complete":false}"#));
}

#[test]
fn walks_are_the_same_for_a_seed() {
    let options = WalkOptions { seed: 3, walks: 200, steps_max: 20, deadlocks: true };
    let one = walk(&Locks, &options, &Control::default()).unwrap();
    let two = walk(&Locks, &options, &Control::default()).unwrap();
    assert_eq!(one.stats, two.stats);
    assert_eq!(one.stats.executions, 200);
    assert_eq!(one.violations.len(), 2);
    assert_eq!(one.violations[0].path.steps.len(), 2);
    assert_eq!(one.violations[1].path.steps.len(), 6);
    let short = WalkOptions { steps_max: 1, ..options };
    assert!(walk(&Locks, &short, &Control::default()).unwrap().violations.is_empty());
}

#[test]
fn memory_is_limited() {
    let limits = Limits { memory_bytes: Some(3_000_000), ..Limits::NONE };
    let control = Control { limits, ..Control::default() };
    let outcome =
        search(&TwoPhase { participants: 8 }, &SearchOptions::default(), &control).unwrap();
    assert_eq!((outcome.complete, outcome.limits.as_slice()), (false, &[Limit::Memory][..]));
    assert!(outcome.stats.states > 10_000 && outcome.never_run.is_none());
    let bits =
        SearchOptions { storage: Storage::Bitstate { bytes: 1 << 16 }, ..SearchOptions::default() };
    let outcome = search(&TwoPhase { participants: 6 }, &bits, &Control::default()).unwrap();
    assert!(!outcome.complete && outcome.limits == [Limit::Bitstate]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let bits = SearchOptions {
        storage: Storage::Bitstate { bytes: 64 },
        keep_graph: true,
        ..SearchOptions::default()
    };
    let refused = search(&Counter { limit: 3 }, &bits, &Control::default()).err();
    assert!(matches!(refused, Some(SearchError::NeedsStates(_))));
}
