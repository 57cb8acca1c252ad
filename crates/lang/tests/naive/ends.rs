//! How random models end: the deadlocks, wrong ends and missing responses that full search and
//! reduced search find are those of docs/semantics.md and docs/search.md, by brute force over all
//! states of the naive interpreter.

use crate::naive::explore::parse;
use crate::naive::interp::canon;
use crate::naive::interp::ends;
use crate::naive::interp::program::{Mutant, Program};
use crate::naive::interp::step;
use anyorder_explore::stateful;
use anyorder_lang::lower::compile;
use anyorder_search::{Outcome, Property, SearchOptions, search};
use anyorder_system::Control;
use anyorder_vm::{Machine, Reason, WaitingPlace};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// Models with more states are left out.
const MOST: usize = 250;

/// A line, and why something waits there.
type Places = BTreeSet<(usize, String)>;

/// What a search has to find.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Ends {
    deadlocks: BTreeSet<Places>,
    wrong_end: bool,
    /// The responses that some fair run does not give.
    missing: BTreeSet<usize>,
}

/// A transition: where it leads to unless it fails, its class, and whether it is optional.
struct Edge {
    to: Option<usize>,
    class: Option<usize>,
    optional: bool,
}

/// All states of a model, by definition.
#[derive(Default)]
struct Graph {
    edges: Vec<Vec<Edge>>,
    /// Trigger and response of each property.
    flags: Vec<Vec<(bool, bool)>>,
    classes: usize,
    ends: Ends,
    /// Whether an end that something optional could leave is wrong, and no other.
    wrong_rest: bool,
}

pub fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Visits all states; `None` if there are too many.
fn graph(p: &'static Program, text: &str) -> Option<Graph> {
    let mut graph = Graph::default();
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    let first = step::initial(p);
    let mut numbers = BTreeMap::from([(canon::canonical(p, &first), 0)]);
    let mut queue = VecDeque::from([first]);
    let mut wrong_dead = false;
    while let Some(state) = queue.pop_front() {
        let transitions = step::successors(p, &state);
        let flags = p.responses.iter().map(|one| step::response(p, &state, one));
        graph.flags.push(flags.collect());
        if transitions.is_empty() && !step::is_final(p, &state) {
            if step::is_stuck(p, &state) {
                let places = ends::waiting_places(p, &state).into_iter();
                let places =
                    places.map(|(at, why)| (if at == 0 { 0 } else { line(text, at) }, why));
                graph.ends.deadlocks.insert(places.collect());
            } else {
                wrong_dead = true;
            }
        } else if !transitions.is_empty() && ends::is_end(&transitions) {
            graph.wrong_rest |= !ends::may_rest(p, &state);
        }
        let mut edges = vec![];
        for transition in transitions {
            let optional = ends::is_optional(&transition);
            let number = classes.len();
            let class = transition.class.map(|one| *classes.entry(one).or_insert(number));
            let to = transition.result.ok().map(|next| {
                let number = numbers.len();
                *numbers.entry(canon::canonical(p, &next)).or_insert_with(|| {
                    queue.push_back(next);
                    number
                })
            });
            edges.push(Edge { to, class, optional });
        }
        graph.edges.push(edges);
        if numbers.len() > MOST {
            return None;
        }
    }
    graph.classes = classes.len();
    graph.ends.wrong_end = wrong_dead || graph.wrong_rest;
    graph.wrong_rest &= !wrong_dead;
    graph.ends.missing = (0..p.responses.len()).filter(|one| graph.is_missing(*one)).collect();
    Some(graph)
}

impl Graph {
    /// Whether a run may stay in a state without a step.
    fn is_end(&self, state: usize) -> bool {
        self.edges[state].iter().all(|edge| edge.optional)
    }

    /// The definition: some fair run has the trigger somewhere, and from there on never the
    /// response.
    fn is_missing(&self, property: usize) -> bool {
        let owes = |state: usize, owed: bool| {
            let (trigger, response) = self.flags[state][property];
            !response && (owed || trigger)
        };
        let start = (0, owes(0, false));
        let mut seen = BTreeSet::from([start]);
        let mut queue = VecDeque::from([start]);
        while let Some((state, owed)) = queue.pop_front() {
            if owed && (self.is_end(state) || self.is_fair_cycle(property, state)) {
                return true;
            }
            for to in self.edges[state].iter().filter_map(|edge| edge.to) {
                let next = (to, owes(to, owed));
                if seen.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        false
    }

    /// The classes that are not enabled in a state.
    fn idle(&self, state: usize) -> u64 {
        let enabled = self.edges[state].iter().filter_map(|edge| edge.class);
        enabled.fold((1 << self.classes) - 1, |idle, class| idle & !(1 << class))
    }

    /// Whether a walk without the response comes back to a state and serves every class.
    fn is_fair_cycle(&self, property: usize, start: usize) -> bool {
        let first = (start, self.idle(start));
        let mut seen = BTreeSet::from([first]);
        let mut queue = VecDeque::from([first]);
        while let Some((state, served)) = queue.pop_front() {
            for edge in &self.edges[state] {
                let Some(to) = edge.to.filter(|to| !self.flags[*to][property].1) else { continue };
                let taken = edge.class.map_or(0, |class| 1 << class);
                let served = served | taken | self.idle(to);
                if to == start && served == (1 << self.classes) - 1 {
                    return true;
                }
                if seen.insert((to, served)) {
                    queue.push_back((to, served));
                }
            }
        }
        false
    }
}

/// A place of the machine in the words of the definition.
fn words(place: &WaitingPlace) -> (usize, String) {
    let line = place.site.map_or(0, |site| site.line as usize);
    let why = match &place.reason {
        Reason::Lock { lock, .. } if place.first.is_none() => lock.to_string(),
        Reason::Lock { lock, holder, .. } => {
            let holder = holder.as_ref().map_or("nobody", |holder| holder.declared.as_str());
            format!("waits for {lock}, held by {holder}")
        }
        Reason::Turn => format!("{} never comes", place.what),
        _ => "waits for it".to_owned(),
    };
    (line, why)
}

fn found<D>(machine: &Machine, outcome: &Outcome<Machine, D>, responses: bool) -> Ends {
    let mut ends = Ends::default();
    let mut keys = BTreeSet::new();
    for violation in &outcome.violations {
        let last = violation.path.last();
        match &violation.property {
            Property::Deadlock(key) => {
                let places = machine.waiting_places(last);
                assert!(keys.insert(key.clone()), "each deadlock once");
                assert!(ends.deadlocks.insert(places.iter().map(words).collect()), "{places:?}");
            }
            Property::Final => ends.wrong_end = true,
            Property::Response(index) if responses => {
                ends.missing.insert(*index);
            }
            _ => {}
        }
    }
    ends
}

/// What is wrong with a search of a model; `None` if the model is too large.
fn difference(text: &str) -> Option<Result<Graph, String>> {
    let expected = graph(parse(text, Mutant::None), text)?;
    let compiled = compile(text, "m.any").unwrap_or_else(|all| panic!("{text}\n{all:?}"));
    let machine = Machine::new(compiled.program).expect("a program");
    let control = Control::default();
    let full = search(&machine, &SearchOptions::default(), &control).expect("it can be searched");
    assert!(full.complete, "{:?}", full.limits);
    let mut all = vec![("full", found(&machine, &full, true))];
    for values in [false, true] {
        let options = stateful::StatefulOptions { values, ..stateful::StatefulOptions::default() };
        let reduced = stateful::explore(&machine, &options, &control).expect("likewise");
        assert!(reduced.complete);
        let mut found = found(&machine, &reduced, false);
        // Only full search checks responses.
        found.missing = expected.ends.missing.clone();
        all.push(("reduced", found));
    }
    for (how, found) in all {
        if found != expected.ends {
            let expected = &expected.ends;
            return Some(Err(format!("{how}: {found:?}\nby definition: {expected:?}\n{text}")));
        }
    }
    Some(Ok(expected))
}

/// A small generator of numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// Statements of every body, one a line.
const COMMON: &[&str] =
    &["x = 1;", "x = 0;", "y = 1;", "y = x;", "z = 1 - z;", "assume x == 1;", "assume y == 1;"];

/// Statements of threads.
const BLOCKING: &[&str] = &[
    "acquire l;\nx = 1;\nrelease l;",
    "with m {\nwith l {\nz = 1;\n}\n}",
    "with l {\nwith m {\ny = 0;\n}\n}",
    "acquire m;",
    "yield;",
];

fn body(random: &mut Random, blocking: bool, posts: bool) -> String {
    let mut text = String::from("{\n");
    for _ in 0..1 + random.below(3) {
        let one = match random.below(6) {
            0 if posts => random.of(&["post t();", "post u();", "post t();\npost t();"]),
            1 | 2 if blocking => random.of(BLOCKING),
            3 if blocking => "choose {\n{\nassume y == 1;\n}\n{\nassume z == 1;\n}\n}",
            _ => random.of(COMMON),
        };
        text.push_str(one);
        text.push('\n');
    }
    text.push_str("}\n");
    text
}

/// A model about ends: what is unfair or a daemon, what blocks, `final` and responses.
fn model(seed: u64) -> String {
    let random = &mut Random(seed);
    let mut text = String::from("model m\nvar x = 0, y = 0, z = 0;\nlock l;\nlock m;\n");
    let access = random.one_in(3);
    if access {
        text.push_str("setting granularity = access;\n");
    }
    let word = |random: &mut Random, chances: usize| {
        let unfair = if random.one_in(chances) { "unfair " } else { "" };
        let daemon = if random.one_in(6) { "daemon " } else { "" };
        format!("{daemon}{unfair}")
    };
    let mailbox = random.of(&["fifo", "bag"]);
    let _ = writeln!(text, "{}handler h: {mailbox};", word(random, 3));
    let _ = writeln!(text, "task t() on h {}", body(random, access, false));
    let daemon = if random.one_in(4) { "daemon " } else { "" };
    let _ = writeln!(text, "{daemon}task u() on h {}", body(random, access, false));
    if random.one_in(3) {
        text.push_str("init {\npost t();\n}\n");
    }
    for event in 0..random.below(3) {
        let once = if random.one_in(4) { "" } else { "once " };
        let on = random.of(&["", " on h"]);
        let when = random.of(&["", " when x == 1", " when z == 0", " when y == 0"]);
        let body = body(random, access, !once.is_empty());
        let _ = writeln!(text, "{}{once}event e{event}{on}{when} {body}", word(random, 2));
    }
    for thread in 0..random.below(3) {
        let family = if random.one_in(4) { "[i in 0..2]" } else { "" };
        let word = word(random, 3);
        let _ = writeln!(text, "{word}thread p{thread}{family} {}", body(random, true, true));
    }
    if random.one_in(2) {
        let _ = writeln!(text, "final: {};", random.of(&["x == 1", "z == 0", "y == x"]));
    }
    for response in 0..random.below(3) {
        let (from, to) = random
            .of(&["x == 0 y == 1", "x == 1 x == 0", "z == 0 z == 1", "y == 0 x == 1"])
            .split_at(6);
        let _ = writeln!(text, "response r{response}: {from} leads_to {to};");
    }
    text
}

#[test]
fn both_searches_find_the_ends_of_the_definition() {
    let seeds = anyorder_testkit::effort::seeds(400);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in seeds.clone() {
        let text = model(seed);
        let mut add = |name, yes: bool| *counts.entry(name).or_default() += u64::from(yes);
        let Some(found) = difference(&text) else {
            add("too large", true);
            continue;
        };
        let found = found.unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        let Ends { deadlocks, wrong_end, missing } = &found.ends;
        let rests = (0..found.edges.len())
            .any(|state| found.is_end(state) && !found.edges[state].is_empty());
        add("compared", true);
        add("with a deadlock", deadlocks.len() == 1);
        add("with two deadlocks", deadlocks.len() == 2);
        add("with more deadlocks", deadlocks.len() > 2);
        add("with a deadlock of two places", deadlocks.iter().any(|one| one.len() > 1));
        add("with a lock held in the end", {
            deadlocks.iter().flatten().any(|(line, why)| *line == 0 && why.len() == 1)
        });
        add("with a message that never comes", {
            deadlocks.iter().flatten().any(|(_, why)| why.ends_with("never comes"))
        });
        add("with an end that something optional could leave", rests);
        add("with a wrong end", *wrong_end);
        add("with a wrong end that something optional could leave, and no other", found.wrong_rest);
        add("with a missing response", !missing.is_empty());
        add("with a missing response and optional ends", !missing.is_empty() && rests);
        for word in ["unfair thread", "unfair handler", "unfair once event", "unfair event"] {
            let at = text.contains(word);
            add(word, at && rests);
        }
        add("without a transition that is not optional", found.edges[0].iter().all(|e| e.optional));
        add("with a family of threads in a deadlock", {
            text.contains("[i in") && !deadlocks.is_empty()
        });
        add("one access a step", text.contains("granularity"));
        add("post of init", text.contains("init {"));
        add("daemon", text.contains("daemon"));
    }
    println!("models of seeds {seeds:?}: {counts:?}");
    for (name, times) in counts {
        assert!(times > 0, "no model: {name}");
    }
}
