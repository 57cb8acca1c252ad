//! Of the shortest runs, one with the fewest switches: by brute force over all runs of small
//! models.

use crate::naive::explore::parse;
use crate::naive::interp::program::{Mutant, Program};
use crate::naive::interp::state::{Pid, State};
use crate::naive::interp::step;
use anyorder_explore::stateful;
use anyorder_lang::lower::compile;
use anyorder_search::{Outcome, Path, Property, SearchOptions, fewest_switches, search, switches};
use anyorder_system::Control;
use anyorder_vm::Machine;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Steps and switches of the best run to each finding.
type Best = BTreeMap<String, (usize, usize)>;

/// The most runs tried for one model.
const MOST: usize = 3_000;

/// All runs up to some length, each on its own.
struct Runs {
    p: &'static Program,
    most: usize,
    tried: usize,
    best: Best,
}

/// A run: its steps, its switches, who took the last step, who updated each attribute last.
#[derive(Clone)]
struct Run {
    steps: usize,
    switches: usize,
    last: Option<Pid>,
    writers: BTreeMap<String, Option<usize>>,
}

impl Runs {
    /// Explores all runs from a state. Returns `false` if there are too many.
    fn go(&mut self, state: &State, run: &Run) -> bool {
        self.tried += 1;
        if self.tried > MOST {
            return false;
        }
        let cost = (run.steps, run.switches);
        for (name, condition) in &self.p.invariants {
            if !step::holds(self.p, state, condition) {
                note(&mut self.best, format!("invariant {name}"), cost);
            }
        }
        let next = step::successors(self.p, state);
        if next.is_empty() && !step::is_final(self.p, state) {
            let stuck = step::is_stuck(self.p, state);
            note(&mut self.best, if stuck { "deadlock" } else { "final" }.to_owned(), cost);
        }
        for transition in next {
            let mut run = run.clone();
            run.steps += 1;
            run.switches += usize::from(run.last.is_some_and(|last| last != transition.pid));
            run.last = Some(transition.pid);
            let cost = (run.steps, run.switches);
            if run.steps > self.most {
                continue;
            }
            for (attribute, by) in &transition.updates {
                let before = run.writers.insert(attribute.clone(), *by).flatten();
                if let (Some(a), Some(b)) = (before, *by)
                    && a != b
                {
                    let what = format!("{attribute} of {} and {}", a.min(b), a.max(b));
                    note(&mut self.best, what, cost);
                }
            }
            match transition.result {
                Err(_) => note(&mut self.best, "failure".to_owned(), cost),
                Ok(state) if !self.go(&state, &run) => return false,
                Ok(_) => {}
            }
        }
        true
    }
}

fn note(best: &mut Best, what: String, cost: (usize, usize)) {
    let known = best.entry(what).or_insert(cost);
    *known = cost.min(*known);
}

/// What an engine shows, with the switches of its runs.
fn shown<D>(machine: &Machine, outcome: &Outcome<Machine, D>) -> Best {
    let mut best = Best::new();
    let cost = |path: &Path<Machine>| (path.steps.len(), switches(machine, path));
    for one in &outcome.violations {
        let what = match &one.property {
            Property::Failure(_) => "failure".to_owned(),
            Property::Invariant(_) => format!("invariant {}", one.name),
            Property::Deadlock(_) => "deadlock".to_owned(),
            Property::Final => "final".to_owned(),
            Property::Response(_) | Property::Livelock(_) => continue,
        };
        note(&mut best, what, cost(&one.path));
    }
    for one in outcome.conflicts.iter().flatten() {
        let at = one.path.steps.len() - 1;
        let before = one.path.state(at).expect("a state");
        let writes = machine.writes(before, &one.path.steps[at].action);
        let write = writes.into_iter().find(|write| write.place == one.place);
        let attribute = write.map_or("none".to_owned(), |write| write.attribute);
        let (a, b) = one.components;
        note(&mut best, format!("{attribute} of {a} and {b}"), cost(&one.path));
    }
    best
}

fn improve<D>(machine: &Machine, outcome: &mut Outcome<Machine, D>) -> (Best, bool) {
    let before = shown(machine, outcome);
    let conflicts = outcome.conflicts.as_mut().expect("they were asked for");
    let control = Control::default();
    let passes = fewest_switches(machine, &mut outcome.violations, conflicts, 1_000_000, &control);
    assert!(!passes.cut);
    let after = shown(machine, outcome);
    let better = before != after;
    (after, better)
}

struct Compared {
    best: Best,
    /// Whether the first of the shortest runs had more switches.
    better: bool,
}

fn compare(text: &str) -> Option<Result<Compared, String>> {
    let p = parse(text, Mutant::None);
    let compiled = compile(text, "m.any").unwrap_or_else(|_| panic!("{text}"));
    let machine = Machine::new(compiled.program).expect("a program");
    let options = SearchOptions { updates: true, ..SearchOptions::default() };
    let mut full = search(&machine, &options, &Control::default()).expect("it can be searched");
    full.conflicts.get_or_insert_default();
    let (best, better) = improve(&machine, &mut full);
    let options = stateful::StatefulOptions::default();
    let mut reduced = stateful::explore(&machine, &options, &Control::default()).expect("likewise");
    reduced.conflicts.get_or_insert_default();
    let (other, _) = improve(&machine, &mut reduced);
    let most = best.values().map(|cost| cost.0).max().unwrap_or(0);
    let mut runs = Runs { p, most, tried: 0, best: Best::new() };
    let run = Run { steps: 0, switches: 0, last: None, writers: BTreeMap::new() };
    if !runs.go(&step::initial(p), &run) {
        return None;
    }
    if (&best, &other) != (&runs.best, &runs.best) {
        let expected = &runs.best;
        return Some(Err(format!("full {best:?}, reduced {other:?}, all {expected:?}\n{text}")));
    }
    Some(Ok(Compared { best, better }))
}

/// A small generator of numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A model of a few threads, handlers and events.
fn model(seed: u64) -> String {
    const WRITES: [&str; 7] = [
        "x = 1;",
        "y = 1;",
        "x = x + 1;",
        "y = x;",
        "if x == 1 { y = 2; }",
        "if y > 0 { x = 0; }",
        "with m { x = 2; }",
    ];
    const ACTS: [&str; 6] = [
        "post t(1);",
        "post t(2);",
        "post u();",
        "post any u();",
        "{ let _h = fork w(); }",
        "assert x + y < 3;",
    ];
    let random = &mut Random(seed ^ 0x5717);
    let mut text =
        String::from("model m\nvar x = 0, y = 0;\nlock m;\nhandler h: fifo;\nhandler g: bag;\n");
    if random.below(5) == 0 {
        text.push_str("setting granularity = access;\n");
    }
    let body = |random: &mut Random| {
        let mut body = random.pick(&WRITES).to_owned();
        for _ in 0..random.below(2) {
            body.push_str(random.pick(&WRITES));
        }
        body
    };
    let plain = |random: &mut Random| body(random).replace("with m { x = 2; }", "x = 2;");
    let _ = writeln!(text, "task t(n: int) on h {{ x = n; {} }}", plain(random));
    let _ = writeln!(text, "task u() on g {{ {} }}", plain(random));
    let _ = writeln!(text, "fn w() {{ {} }}", body(random));
    let mut names = Vec::new();
    for event in 0..random.below(4) {
        let on = random.pick(&["", "", " on h", " on g"]);
        let acts = random.pick(&ACTS);
        let _ = writeln!(text, "once event e{event}{on} {{ {} {acts} }}", plain(random));
        names.push(format!("e{event}"));
    }
    for thread in 0..random.below(3) {
        let act = random.pick(&["", "", "post u();", "assert x < 2;", "assume y == 1;"]);
        let _ = writeln!(text, "thread th{thread} {{ {} {act} }}", body(random));
        names.push(format!("th{thread}"));
    }
    if names.len() > 1 && random.below(3) == 0 {
        let (one, other) = names.split_at(names.len() / 2);
        let _ = writeln!(text, "component a: {};", one.join(", "));
        let _ = writeln!(text, "component b: {};", other.join(", "));
    }
    let invariant =
        random.pick(&["x < 2", "x + y < 2", "x + y < 3", "x + y < 4", "x != 1 || y != 1"]);
    let _ = writeln!(text, "invariant i: {invariant};\nfinal: x < 2 || y < 1;");
    text
}

#[test]
fn of_the_shortest_runs_one_with_the_fewest_switches_is_shown() {
    let seeds = anyorder_testkit::effort::seeds(60);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in seeds.clone() {
        let text = model(seed);
        let mut add = |name, yes: bool| *counts.entry(name).or_default() += u64::from(yes);
        let Some(found) = compare(&text) else {
            add("too large", true);
            continue;
        };
        let Compared { best, better } = found.unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        let some = |what: &str| best.keys().any(|one| one.starts_with(what));
        add("compared", true);
        add("the first run had more switches", better);
        add("a failure", some("failure"));
        add("an invariant", some("invariant"));
        add("a deadlock", some("deadlock"));
        add("a wrong end", some("final"));
        add("an update conflict", best.keys().any(|one| one.contains(" of ")));
        add("with switches", best.values().any(|cost| cost.1 > 1));
        for shape in ["granularity", "post any", "fork", "thread", "event", " on h {", "assume"] {
            add(shape, better && text.contains(shape));
        }
    }
    println!("models of seeds {seeds:?}: {counts:?}");
    for (name, times) in counts {
        assert!(times > 0 || name == "too large", "no model: {name}");
    }
}

/// A pass that is cut keeps runs that hold.
#[test]
fn a_cut_pass_keeps_the_runs() {
    let text = "model m\nvar x = 0;\nthread a { x = 1; x = 2; }\nthread b { x = 3; x = 4; }\ninvariant i: x != 4;\nthread c { x = 5; }\n";
    let compiled = compile(text, "m.any").unwrap_or_else(|_| panic!("{text}"));
    let machine = Machine::new(compiled.program).expect("a program");
    for states in 0..20 {
        let mut found = search(&machine, &SearchOptions::default(), &Control::default())
            .expect("it can be searched");
        let control = Control::default();
        let passes = fewest_switches(&machine, &mut found.violations, &mut [], states, &control);
        assert_eq!(found.violations[0].path.steps.len(), 2);
        assert!(passes.states <= states + 4, "{passes:?}");
    }
}
