//! Update conflicts of random models with components: what full search and reduced search find is
//! what the definition in docs/semantics.md says, taken over all states of the naive interpreter
//! together with who updated each attribute last.

mod posting;

use crate::naive::explore::parse;
use crate::naive::interp::canon;
use crate::naive::interp::program::{Mutant, Program};
use crate::naive::interp::state::State;
use crate::naive::interp::step::{self, Transition};
use anyorder_explore::stateful;
use anyorder_lang::lower::compile;
use anyorder_search::{Outcome, SearchOptions, search};
use anyorder_system::{Control, Place};
use anyorder_testkit::effort;
use anyorder_vm::{Action, Machine};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// A small generator of numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// An attribute, and two components, the lower first.
type Conflicts = BTreeSet<(String, u32, u32)>;

/// States together with the writers of all attributes.
const MOST: usize = 3_000;

/// What counts as an update, by the definition or wrongly: the searches, which are right, must then
/// differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counted {
    /// U1: each change of an attribute.
    All,
    /// An element changes with its container.
    Containers,
    /// What a step changes and puts back is no update.
    NetChanges,
    /// Only the last update of a global in a step.
    LastOfEach,
}

/// The updates of a step that count.
fn updates(before: &State, step: &Transition, counted: Counted) -> Vec<(String, Option<usize>)> {
    let global = |attribute: &str| attribute.split('[').next().unwrap_or_default().to_owned();
    let mut updates = step.updates.clone();
    match counted {
        Counted::All => {}
        Counted::Containers => {
            updates.iter_mut().for_each(|(attribute, _)| *attribute = global(attribute));
        }
        Counted::NetChanges => {
            if let Ok(after) = &step.result {
                let stays = |name: &str| before.globals.get(name) == after.globals.get(name);
                updates.retain(|(attribute, _)| !stays(&global(attribute)));
            }
        }
        Counted::LastOfEach => {
            let last = |i: usize, name: &str| {
                step.updates[i + 1..].iter().all(|(other, _)| global(other) != name)
            };
            let mut i = 0..;
            updates.retain(|(attribute, _)| last(i.next().unwrap_or(0), &global(attribute)));
        }
    }
    updates
}

/// What the definition says; `None` if there are too many states.
fn by_definition(p: &'static Program, counted: Counted) -> Option<Conflicts> {
    type Writers = BTreeMap<String, Option<usize>>;
    let mut found = Conflicts::new();
    let mut seen: BTreeSet<(String, Writers)> = BTreeSet::new();
    let mut queue: VecDeque<(State, Writers)> = VecDeque::new();
    queue.push_back((step::initial(p), Writers::new()));
    while let Some((state, writers)) = queue.pop_front() {
        for transition in step::successors(p, &state) {
            let mut next = writers.clone();
            for (attribute, by) in &updates(&state, &transition, counted) {
                let before = next.insert(attribute.clone(), *by).flatten();
                if let (Some(a), Some(b)) = (before, by)
                    && a != *b
                {
                    let pair = (a.min(*b) as u32, a.max(*b) as u32);
                    found.insert((attribute.clone(), pair.0, pair.1));
                }
            }
            if let Ok(state) = transition.result
                && seen.insert((canon::canonical(p, &state), next.clone()))
            {
                queue.push_back((state, next));
            }
        }
        if seen.len() > MOST {
            return None;
        }
    }
    Some(found)
}

/// The name of an attribute, by the last step of a way to a conflict on it.
fn name(machine: &Machine, before: &anyorder_vm::State, action: &Action, place: Place) -> String {
    let mut writes = machine.writes(before, action).into_iter();
    let write = writes.find(|write| write.place == place);
    write.map_or_else(|| "not in the last step".to_owned(), |write| write.attribute)
}

fn by_full_search(machine: &Machine) -> Conflicts {
    let options = SearchOptions { updates: true, ..SearchOptions::default() };
    let outcome = search(machine, &options, &Control::default()).expect("it can be searched");
    assert!(outcome.complete);
    named(machine, &outcome)
}

fn named<D>(machine: &Machine, outcome: &Outcome<Machine, D>) -> Conflicts {
    let named = outcome.conflicts.iter().flatten().map(|one| {
        let steps = one.path.steps.len();
        let before = one.path.state(steps - 1).expect("a state before the last step");
        let name = name(machine, before, &one.path.steps[steps - 1].action, one.place);
        (name, one.components.0, one.components.1)
    });
    named.collect()
}

fn by_reduced_search(machine: &Machine, values: bool) -> Conflicts {
    let options = stateful::StatefulOptions { values, ..stateful::StatefulOptions::default() };
    let outcome = stateful::explore(machine, &options, &Control::default()).expect("likewise");
    assert!(outcome.complete);
    named(machine, &outcome)
}

/// What is wrong with a model, in words.
fn difference(text: &str) -> Option<Result<Conflicts, String>> {
    difference_from(text, Mutant::None, Counted::All)
}

/// What is wrong with a model if a definition is right that may be wrong on purpose.
fn difference_from(
    text: &str,
    mutant: Mutant,
    counted: Counted,
) -> Option<Result<Conflicts, String>> {
    let expected = by_definition(parse(text, mutant), counted)?;
    let compiled = compile(text, "m.any").unwrap_or_else(|_| panic!("{text}"));
    let machine = Machine::new(compiled.program).expect("a program");
    let found = [
        ("full", by_full_search(&machine)),
        ("reduced", by_reduced_search(&machine, false)),
        ("reduced with values", by_reduced_search(&machine, true)),
    ];
    for (how, found) in found {
        if found != expected {
            return Some(Err(format!("{how}: {found:?}, by definition {expected:?}\n{text}")));
        }
    }
    Some(Ok(expected))
}

/// A model with three components, whose events happen once.
fn model(seed: u64) -> String {
    let random = &mut Random(seed);
    let mut text =
        String::from("model m\nvar x = 0, y = 0, xs = [0, 0], m: map<int, int> = map[1: 0];\n");
    if random.below(6) == 0 {
        text.push_str("setting granularity = access;\n");
    }
    // Without objects, steps are remembered.
    let objects = random.below(2) == 0;
    if objects {
        text.push_str("class C { var v = 0; }\nvar o: C? = null, p: C? = null;\n");
    }
    let mailbox = ["fifo", "bag"][random.below(2)];
    let _ = writeln!(text, "handler h: {mailbox};");
    let mut members: [Vec<String>; 4] = Default::default();
    let mut belongs = |random: &mut Random, name: &str| {
        members[random.below(4)].push(name.to_owned());
    };
    for name in ["fa", "fb"] {
        let body = body(random, objects, 2, &[]);
        let _ = writeln!(text, "fn {name}(n: int) {{ {body} }}");
        belongs(random, name);
    }
    let functions = ["call fa(1);", "call fb(2);"];
    let _ = writeln!(text, "task ta(n: int) on h {{ {} }}", body(random, objects, 2, &functions));
    belongs(random, "ta");
    if random.below(3) == 0 {
        let _ = writeln!(text, "thread t {{ {} }}", body(random, objects, 1, &functions));
        belongs(random, "t");
    }
    if random.below(4) == 0 {
        let _ = writeln!(text, "init {{ {} }}", body(random, objects, 1, &functions));
    }
    let posts = ["call fa(1);", "call fb(2);", "post ta(1);", "post ta(2);"];
    for event in 0..2 + random.below(2) {
        let name = format!("e{event}");
        let once = if random.below(5) > 0 || event > 0 { "once " } else { "" };
        let posts = if once.is_empty() { &functions[..] } else { &posts[..] };
        let after = if event > 0 && random.below(4) == 0 { " after e0" } else { "" };
        let _ =
            writeln!(text, "{once}event {name}{after} {{ {} }}", body(random, objects, 2, posts));
        belongs(random, &name);
    }
    for (component, members) in ["a", "b", "c"].iter().zip(&members) {
        if !members.is_empty() {
            let _ = writeln!(text, "component {component}: {};", members.join(", "));
        }
    }
    text
}

/// Some statements.
fn body(random: &mut Random, objects: bool, most: usize, more: &[&str]) -> String {
    const STATEMENTS: &[&str] = &[
        "x = 1;",
        "x = 0;",
        "x = 0; x = 1;",
        "x = 1 - x;",
        "y = x;",
        "if x == 1 { y = 2; }",
        "xs[0] = 1;",
        "xs[1] = 1;",
        "xs[x] = 2;",
        "xs = [1, 0];",
        "xs = [0, 0];",
        "xs[0] = 3; xs[0] = 0;",
        "if xs.len() < 4 { xs.push(1); }",
        "if xs.len() > 2 { xs.pop(); }",
        "m[1] = 1;",
        "m[2] = 1;",
        "m.remove(2);",
        "m = map[1: 1];",
        "{ let _q = [2].map(fn(k) { y = k; k }); }",
        "choose { { x = 1; } { y = 1; } }",
        "fail \"stop\";",
    ];
    const OBJECTS: &[&str] = &[
        "o = new C();",
        "o = null;",
        "p = new C();",
        "p = o;",
        "o = p;",
        "if o != null { o.v = 1 - o.v; }",
        "if o == p { y = 1; }",
    ];
    let mut text = String::new();
    for _ in 0..1 + random.below(most) {
        let rare = random.below(20) == 0;
        let all = STATEMENTS.len() - 1;
        let one = match random.below(3) {
            0 if !more.is_empty() => more[random.below(more.len())],
            _ if rare => STATEMENTS[all],
            1 if objects => OBJECTS[random.below(OBJECTS.len())],
            _ => STATEMENTS[random.below(all)],
        };
        text.push_str(one);
        text.push(' ');
    }
    text
}

#[test]
fn both_searches_find_the_update_conflicts_of_the_definition() {
    let seeds = effort::sampled(300, 150);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in seeds.clone() {
        let text = model(seed);
        let mut add = |name, yes: bool| *counts.entry(name).or_default() += u64::from(yes);
        let Some(found) = difference(&text) else {
            add("too large", true);
            continue;
        };
        let found = found.unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        add("compared", true);
        add("with conflicts", !found.is_empty());
        add("without conflicts", found.is_empty());
        add("on elements", found.iter().any(|one| one.0.contains('[')));
        add("on the length or keys", found.iter().any(|one| one.0 == "xs" || one.0 == "m"));
        add("on references", found.iter().any(|one| one.0 == "o" || one.0 == "p"));
        add("between three components", {
            let of: BTreeSet<u32> = found.iter().flat_map(|one| [one.1, one.2]).collect();
            of.len() == 3
        });
        add("one access a step", text.contains("granularity"));
        add("with a closure that writes", text.contains("fn(k)"));
        add("without objects", !text.contains("class C"));
        add("with a failure", text.contains("fail "));
        add("with a thread", text.contains("thread "));
        add("with a function of a component", {
            text.lines().any(|line| line.starts_with("component ") && line.contains(" f"))
        });
    }
    println!("models of seeds {seeds:?}: {counts:?}");
    for (name, times) in counts {
        assert!(times > 0 || name == "too large", "no model: {name}");
    }
}

/// Apps that let others do their work: whose it is follows posts and forks.
#[test]
fn the_updates_of_posted_tasks_are_those_of_their_posters() {
    let seeds = effort::seeds(150);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds.clone() {
        let text = posting::model(seed);
        let mut add = |name: &str, yes: bool| {
            *counts.entry(name.to_owned()).or_default() += u64::from(yes);
        };
        let Some(found) = difference(&text) else {
            add("too large", true);
            continue;
        };
        let found = found.unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        add("compared", true);
        add("with conflicts", !found.is_empty());
        add("without conflicts", found.is_empty());
        let otherwise = |mutant| {
            by_definition(parse(&text, mutant), Counted::All).is_some_and(|other| other != found)
        };
        let posts = otherwise(Mutant::CreatedForNobody);
        add("posts decide", posts);
        add("two posts in a row decide", otherwise(Mutant::OnePostOnly));
        add("the component of a task itself decides", otherwise(Mutant::OwnIsIgnored));
        let events = text.lines().filter(|line| line.starts_with("once event"));
        let posters = |what: &str| events.clone().filter(|line| line.contains(what)).count();
        add("two posters of one task", posts && posters("post set(") > 1);
        for shape in [
            "fifo",
            "bag",
            "after",
            "front",
            "async[hub]",
            "async[any]",
            "post any",
            "fork",
            "post set2",
            "call set2",
            "cancel q",
            "cancel p",
            "granularity",
            "init",
            "thread",
            "call helper",
            "fn(k)",
            "post relay",
        ] {
            add(shape, posts && text.contains(shape));
        }
    }
    println!("models of seeds {seeds:?}: {counts:?}");
    for (name, times) in counts {
        assert!(times > 0 || name == "too large", "no model: {name}");
    }
}

/// A machine that forgets who posted would differ from the definition as the machine does from a
/// definition that forgets it.
#[test]
fn forgetting_who_posted_is_noticed() {
    for mutant in [Mutant::CreatedForNobody, Mutant::OnePostOnly, Mutant::OwnIsIgnored] {
        let differs = |seed: &u64| {
            let text = posting::model(*seed);
            matches!(difference_from(&text, mutant, Counted::All), Some(Err(_)))
        };
        let seed = effort::seeds(300).into_iter().find(differs);
        println!("{mutant:?}: seed {seed:?}");
        assert!(seed.is_some(), "{mutant:?}");
    }
}

/// Likewise for what counts as an update, and whose it is.
#[test]
fn other_definitions_of_an_update_are_noticed() {
    let wrong = [
        (Mutant::OutermostDecides, Counted::All),
        (Mutant::None, Counted::Containers),
        (Mutant::None, Counted::NetChanges),
        (Mutant::None, Counted::LastOfEach),
    ];
    // Each order of the three is one run, and only in some of them two components follow each
    // other.
    let sharp = "model m\nvar z = 1;\nonce event f { z = 0; z = 1; }\nonce event n { z = 0; z = 1; }\nonce event g { z = 0; z = 1; }\ncomponent p: f;\ncomponent q: g;\n";
    for (mutant, counted) in wrong {
        let differs = |text: &str| matches!(difference_from(text, mutant, counted), Some(Err(_)));
        if differs(sharp) {
            println!(
                "{mutant:?}, {counted:?}: noticed by three events that take back what they do"
            );
            continue;
        }
        let seed = effort::seeds(1_500).into_iter().find(|seed| differs(&model(*seed)));
        println!("{mutant:?}, {counted:?}: seed {seed:?}");
        assert!(seed.is_some(), "{mutant:?}, {counted:?}");
    }
}

/// Elements that different components write do not conflict; those that several write do, and so
/// does the whole.
#[test]
fn elements_are_attributes_of_their_own() {
    let of = |body: &str| {
        let text = format!(
            "model m\nvar g = [0, 0, 0], x = 1;\nclass C {{ var v = 0; }}\nvar a: C? = new C(), b: C? = new C();\n{body}\n"
        );
        let found = difference(&text).expect("small");
        found.unwrap_or_else(|what| panic!("{what}"))
    };
    let one = |name: &str, a, b| (name.to_owned(), a, b);
    let apart = "once event e { g[0] = 1; } once event f { g[1] = 1; } once event h { g[2] = 1; }
        component p: e; component q: f; component r: h;";
    assert_eq!(of(apart), Conflicts::new());
    let same = "once event e { g[0] = 1; } once event f { g[0] = 2; } once event h { g[0] = 3; }
        component p: e; component q: f; component r: h;";
    assert_eq!(
        of(same),
        Conflicts::from([one("g[0]", 0, 1), one("g[0]", 0, 2), one("g[0]", 1, 2)])
    );
    let whole = "once event e { g = [0, 5, 0]; } once event f { g[1] = 6; } component p: e; component q: f;";
    assert_eq!(of(whole), Conflicts::from([one("g[1]", 0, 1)]));
    // Objects have other numbers once nothing refers to the first.
    let renumbered =
        "once event e { b = null; } once event f { a = null; } component p: e; component q: f;";
    assert_eq!(of(renumbered), Conflicts::new());
    // The net effect of the second is nothing, its writes are not.
    let back = "var z = 0; once event e { z = 1; } once event f { z = 0; z = 1; } component p: e; component q: f;";
    assert_eq!(of(back), Conflicts::from([one("z", 0, 1)]));
    // Two apps react to one event of a device in one step.
    let device =
        "fn lights() { x = 2; } fn alarm() { x = 3; } once event smoke { lights(); alarm(); }
        component l: lights; component a: alarm;";
    assert_eq!(of(device), Conflicts::from([one("x", 0, 1)]));
}
