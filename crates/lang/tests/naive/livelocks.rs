//! Livelocks of random models: full search in both orders and reduced search
//! find those of docs/semantics.md (T14), by brute force over all states of the naive interpreter.

use crate::naive::ends::{Random, line};
use crate::naive::explore::parse;
use crate::naive::interp::program::{Mutant, Program};
use crate::naive::interp::{canon, ends, step};
use crate::naive::livelock_definition::{Definition, Livelocks, MUTANTS, Move, Who, Without};
use anyorder_explore::stateful;
use anyorder_lang::lower::compile;
use anyorder_search::{Order, Outcome, Property, SearchOptions, search};
use anyorder_system::{Control, StateSystem};
use anyorder_vm::Machine;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// Models with more states are left out.
const MOST: usize = 150;

/// Visits all states; `None` if there are too many.
fn definition(p: &'static Program, text: &str) -> Option<Definition> {
    let must_end = !p.finals.is_empty();
    let mut graph = Definition { initial: vec![0], must_end, ..Definition::default() };
    let first = step::initial(p);
    let mut numbers = BTreeMap::from([(canon::canonical(p, &first), 0)]);
    let mut queue = VecDeque::from([first]);
    while let Some(state) = queue.pop_front() {
        let transitions = step::successors(p, &state);
        graph.ends.push(ends::is_end(&transitions));
        let dead = transitions.is_empty() && !step::is_final(p, &state);
        graph.deadlocks.push(dead && step::is_stuck(p, &state));
        let mut moves = Vec::new();
        for transition in transitions {
            let (who, part, at) = ends::actor(p, &state, &transition);
            let who = match who {
                'i' => Who::Input,
                'd' => Who::Daemon,
                _ => Who::Worker,
            };
            let to = transition.result.ok().map(|next| {
                let number = numbers.len();
                *numbers.entry(canon::canonical(p, &next)).or_insert_with(|| {
                    queue.push_back(next);
                    number
                })
            });
            let place = format!("{part} at {}", line(text, at));
            moves.push(Move { to, part, place, who });
        }
        graph.moves.push(moves);
        if numbers.len() > MOST {
            return None;
        }
    }
    Some(graph)
}

/// The livelocks of an outcome, each with the length of the way to it, after a check of its loop.
fn found<D>(machine: &Machine, outcome: &Outcome<Machine, D>) -> Livelocks {
    let mut all = Livelocks::new();
    for violation in &outcome.violations {
        let Property::Livelock(places) = &violation.property else { continue };
        let path = &violation.path;
        let from = path.repeats_from.expect("it repeats");
        assert!(from < path.steps.len());
        let start = path.state(from).expect("a state");
        assert_eq!(machine.fingerprint(start), machine.fingerprint(path.last()));
        let words = |place: &anyorder_system::PlaceOfStep| {
            let line = place.site.as_ref().map_or(0, |site| site.line);
            format!("{} at {line}", place.words())
        };
        let places: BTreeSet<String> = places.iter().map(words).collect();
        assert_eq!(all.insert(places, from), None, "each once: {:?}", violation.property);
    }
    all
}

/// What is wrong with a search of a model; `None` if the model is too large.
fn difference(text: &str) -> Option<Result<(Definition, Livelocks), String>> {
    let definition = definition(parse(text, Mutant::None), text)?;
    let expected = definition.livelocks(Without::Nothing);
    let compiled = compile(text, "m.any").unwrap_or_else(|all| panic!("{text}\n{all:?}"));
    let machine = Machine::new(compiled.program).expect("a program");
    let control = Control::default();
    let mut all = Vec::new();
    for order in [Order::Breadth, Order::Depth] {
        let options = SearchOptions { livelocks: true, order, ..SearchOptions::default() };
        let full = search(&machine, &options, &control).expect("it can be searched");
        assert!(full.complete && full.livelocks_checked, "{:?}", full.limits);
        all.push(("full", found(&machine, &full)));
    }
    for values in [false, true] {
        let options = stateful::StatefulOptions { values, ..stateful::StatefulOptions::default() };
        let reduced = stateful::explore(&machine, &options, &control).expect("likewise");
        assert!(reduced.complete && reduced.livelocks_checked);
        let found = found(&machine, &reduced);
        // Its ways are shortest ones only among those that it explored.
        for (places, steps) in &found {
            assert!(all[0].1.get(places).is_none_or(|shortest| steps >= shortest), "{text}");
        }
        all.push(("reduced", found));
    }
    // The interpreter tells a thread that has not begun from one before its first operation, so its
    // ways may be longer by a step.
    for (how, found) in all {
        if !found.keys().eq(expected.keys()) {
            let what = format!("{how}: {found:?}\nby definition: {expected:?}\n{text}");
            return Some(Err(what));
        }
    }
    Some(Ok((definition, expected)))
}

/// Statements of every body, one a line.
const COMMON: &[&str] =
    &["x = 1;", "x = 0;", "y = 1;", "y = 0;", "z = 1 - z;", "y = x;", "x = z;", "assume y == 1;"];

/// Statements of bodies that stop between two operations.
const LOOPS: &[&str] = &[
    "while x == 0 {\nyield;\n}",
    "while y == 0 {\nyield;\n}",
    "while x == 1 {\nz = 1 - z;\n}",
    "while y != x {\nyield;\n}",
    "while true {\nz = 1 - z;\nif y == 1 {\nbreak;\n}\n}",
    "while x == 0 {\nwith l {\ny = 1;\n}\n}",
    "while x == 0 {\nchoose {\n{\nyield;\n}\n{\nassert y == 0;\n}\n}\n}",
    "while x == 1 {\nyield;\n}\nassume x == z;",
];

/// Statements that post.
const POSTS: &[&str] = &[
    "if x == 0 {\npost t();\n}",
    "if y == 1 {\npost u();\n}",
    "if z == 0 {\npost t();\n}",
    "post t();",
    "post u();",
];

fn body(random: &mut Random, loops: bool, posts: usize) -> String {
    let mut text = String::from("{\n");
    for _ in 0..1 + usize::from(random.one_in(3)) {
        let one = match random.below(8) {
            0..5 if random.below(4) < posts => random.of(POSTS),
            0..4 if loops => random.of(LOOPS),
            5 if random.one_in(4) => "assert z == 0;",
            6 if random.one_in(8) => "acquire l;",
            _ => random.of(COMMON),
        };
        text.push_str(one);
        text.push('\n');
    }
    text.push_str("}\n");
    text
}

/// A model about loops that end, or do not.
fn model(seed: u64) -> String {
    let random = &mut Random(seed ^ 0x11fe_10c5);
    let mut text = String::from("model m\nvar x = 0, y = 0, z = 0;\nlock l;\n");
    let access = random.one_in(3);
    if access {
        text.push_str("setting granularity = access;\n");
    }
    let word = |random: &mut Random| {
        let unfair = if random.one_in(6) { "unfair " } else { "" };
        let daemon = if random.one_in(6) { "daemon " } else { "" };
        format!("{daemon}{unfair}")
    };
    let mailbox = random.of(&["fifo", "bag"]);
    let _ = writeln!(text, "{}handler h: {mailbox};", word(random));
    let daemon = |random: &mut Random| if random.one_in(6) { "daemon " } else { "" };
    let _ = writeln!(text, "{}task t() on h {}", daemon(random), body(random, access, 3));
    let _ = writeln!(text, "{}task u() on h {}", daemon(random), body(random, access, 2));
    if random.one_in(6) {
        text.push_str("init {\npost t();\n}\n");
    }
    for event in 0..2 + random.below(2) {
        let again = random.one_in(5);
        let once = if again { "" } else { "once " };
        let on = random.of(&["", " on h"]);
        // What comes again has a guard, mostly: else no run ends.
        let guards = &[" when x == 1", " when z == 0", " when y == 0", ""];
        let when = if again { random.of(guards) } else { random.of(&["", "", " when x == 1"]) };
        let body = if !again && random.one_in(8) {
            // Then every end is a deadlock, unless `final` is stated.
            "{\nacquire l;\n}\n".to_owned()
        } else if random.one_in(2) {
            random
                .of(&["{\nx = 1;\n}\n", "{\nx = 0;\n}\n", "{\ny = 1;\n}\n", "{\ny = 0;\n}\n"])
                .to_owned()
        } else {
            body(random, access, 2)
        };
        let _ = writeln!(text, "{}{once}event e{event}{on}{when} {body}", word(random));
    }
    for thread in 0..random.below(4).div_ceil(2) {
        let family = if random.one_in(5) { "[i in 0..2]" } else { "" };
        let body = match random.one_in(2) {
            true => format!("{{\n{}\n}}\n", random.of(LOOPS)),
            false => body(random, true, 1),
        };
        let _ = writeln!(text, "{}thread p{thread}{family} {body}", word(random));
    }
    if random.one_in(2) {
        let _ = writeln!(text, "final: {};", random.of(&["x == 1", "z == 0", "true"]));
    }
    text
}

#[test]
fn all_searches_find_the_livelocks_of_the_definition() {
    let seeds = anyorder_testkit::effort::seeds(2_000);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds.clone() {
        let text = model(seed);
        let mut add = |name: &str, yes: bool| {
            *counts.entry(name.to_owned()).or_default() += u64::from(yes);
        };
        let Some(found) = difference(&text) else {
            add("too large", true);
            continue;
        };
        let (definition, livelocks) = found.unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        let stays = definition.stays(Without::Nothing);
        let some = !livelocks.is_empty();
        let has_input = |stay: &BTreeSet<usize>| {
            let mut moves = stay.iter().flat_map(|state| &definition.moves[*state]);
            moves.any(|one| one.who == Who::Input)
        };
        add("compared", true);
        add("with a livelock", livelocks.len() == 1);
        add("with several livelocks", livelocks.len() > 1);
        add("with several stays", stays.len() > 1);
        add("with stays that are no livelocks", !stays.is_empty() && !some);
        add("with a stay with inputs", stays.iter().any(has_input));
        add("with a livelock and something unfair", some && text.contains("unfair"));
        add("with a livelock and a daemon", some && text.contains("daemon"));
        add("with a livelock and `final`", some && definition.must_end);
        add("with a livelock, without `final`", some && !definition.must_end);
        add("with a livelock, one access a step", some && text.contains("granularity"));
        add("with a livelock of a family", some && text.contains("[i in"));
        add(
            "with a livelock of tasks",
            livelocks.keys().flatten().any(|one| one.starts_with("task")),
        );
        // The others are rare here; random systems of the searches' own tests have them.
        let rare = |one: &Without| matches!(one, Without::NoFailure | Without::NoDeadlock);
        let mutants = MUTANTS.into_iter().filter(|one| !rare(one));
        for mutant in mutants.filter(|_| definition.moves.len() <= 50) {
            let differs = definition.livelocks(mutant) != livelocks;
            add(&format!("definition without {mutant:?}"), differs);
        }
    }
    println!("models of seeds {seeds:?}: {counts:#?}");
    for (name, times) in counts {
        assert!(times > 0, "no model: {name}");
    }
}
