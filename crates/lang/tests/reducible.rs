//! What reduction relies on, by brute force: in every state reached, two tasks neither of which writes what the other touches
//! can be swapped, and no task becomes ready, or ceases to be, without a write to what it awaits.

use anyorder_lang::lower::compile;
use anyorder_system::{
    Effects, Hash128, Place, Reducible, StateSystem, Successor, TaskKey, TouchKind,
};
use anyorder_vm::Machine;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

#[path = "naive/generate/mod.rs"]
#[expect(unreachable_pub, reason = "shared with the tests of the naive interpreter")]
mod generate;

type State = <Machine as StateSystem>::State;
type Action = <Machine as StateSystem>::Action;

/// States looked at in one model.
const STATES: usize = 1_500;

/// What an attempt was.
#[derive(Clone)]
struct Attempt {
    successors: Vec<Successor<State, Action>>,
    reads: BTreeSet<Place>,
    writes: BTreeSet<Place>,
}

#[derive(Default, Debug)]
struct Counts {
    states: usize,
    attempts: usize,
    blocked: usize,
    independent: usize,
    dependent: usize,
    commute_all_the_same: usize,
    shared_keys: usize,
    silent: usize,
}

fn attempt(machine: &Machine, state: &State, task: TaskKey, counts: &mut Counts) -> Attempt {
    let mut effects = Effects::default();
    machine.run(state, task, &mut effects);
    let mut awaited = Vec::new();
    machine.awaits(task, &mut awaited);
    let mut attempt = Attempt {
        successors: effects.successors,
        reads: awaited.into_iter().collect(),
        writes: BTreeSet::new(),
    };
    for touched in effects.touched {
        match touched.kind {
            TouchKind::Write => attempt.writes.insert(touched.place),
            TouchKind::Read => attempt.reads.insert(touched.place),
            TouchKind::SilentWrite => {
                counts.silent += 1;
                // As a read: the stronger claim.
                attempt.reads.insert(touched.place)
            }
        };
    }
    attempt
}

fn ready(machine: &Machine, state: &State) -> Vec<TaskKey> {
    let mut keys = Vec::new();
    machine.ready(state, &mut keys);
    let set: HashSet<TaskKey> = keys.iter().copied().collect();
    assert_eq!(set.len(), keys.len(), "each key once");
    keys
}

fn conflict(a: &Attempt, b: &Attempt) -> bool {
    let hits = |writes: &BTreeSet<Place>, other: &Attempt| {
        writes.iter().any(|place| other.writes.contains(place) || other.reads.contains(place))
    };
    hits(&a.writes, b) || hits(&b.writes, a)
}

/// Fingerprints of ends by the alternatives of both tasks, and what the second one did.
type Both = (BTreeMap<(usize, usize), Hash128>, Vec<Attempt>);

/// Fingerprints of where two tasks in a row lead, failures marked; `None` if the second is not there.
fn both(
    machine: &Machine,
    first: &Attempt,
    then: TaskKey,
    swapped: bool,
    counts: &mut Counts,
) -> Option<Both> {
    let mut ends = BTreeMap::new();
    let mut attempts = Vec::new();
    for (i, successor) in first.successors.iter().enumerate() {
        if successor.failure.is_some() {
            continue;
        }
        if !ready(machine, &successor.state).contains(&then) {
            return None;
        }
        let second = attempt(machine, &successor.state, then, counts);
        for (j, end) in second.successors.iter().enumerate() {
            let key = if swapped { (j, i) } else { (i, j) };
            if end.failure.is_none() {
                ends.insert(key, machine.fingerprint(&end.state));
            }
        }
        attempts.push(second);
    }
    Some((ends, attempts))
}

fn check(name: &str, text: &str, limit: usize, counts: &mut Counts) {
    let compiled = compile(text, name).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let machine = Machine::new(compiled.program).expect("valid");
    let mut seen: HashSet<Hash128> = HashSet::new();
    let mut open: Vec<State> = machine.initial();
    seen.extend(open.iter().map(|state| machine.fingerprint(state)));
    let mut next = 0;
    while next < open.len() && next < limit {
        let state = open[next].clone();
        next += 1;
        counts.states += 1;
        let tasks = ready(&machine, &state);
        let attempts: HashMap<TaskKey, Attempt> =
            tasks.iter().map(|t| (*t, attempt(&machine, &state, *t, counts))).collect();
        counts.attempts += attempts.len();
        counts.blocked += attempts.values().filter(|a| a.successors.is_empty()).count();
        same_transitions(name, &machine, &state, &attempts, counts);
        for task in &tasks {
            for successor in attempts[task].successors.iter().filter(|s| s.failure.is_none()) {
                readiness(name, &machine, &tasks, (*task, &attempts[task]), &successor.state);
            }
        }
        for (i, a) in tasks.iter().enumerate() {
            for b in &tasks[i + 1..] {
                pair(name, &machine, (*a, &attempts[a]), (*b, &attempts[b]), &state, counts);
            }
        }
        for successor in tasks.iter().flat_map(|task| &attempts[task].successors) {
            if successor.failure.is_none() && seen.insert(machine.fingerprint(&successor.state)) {
                open.push(successor.state.clone());
            }
        }
    }
}

/// The transitions of a state are those of its ready tasks.
fn same_transitions(
    name: &str,
    machine: &Machine,
    state: &State,
    attempts: &HashMap<TaskKey, Attempt>,
    counts: &mut Counts,
) {
    let mut all = Vec::new();
    machine.successors(state, &mut all);
    let sort = |list: &[&Successor<State, Action>]| {
        let mut prints: Vec<(Hash128, bool)> =
            list.iter().map(|s| (machine.fingerprint(&s.state), s.failure.is_some())).collect();
        prints.sort_by_key(|(print, failed)| (print.0, *failed));
        prints
    };
    let own: Vec<_> = attempts.values().flat_map(|a| &a.successors).collect();
    let theirs: Vec<_> = all.iter().collect();
    assert_eq!(sort(&own), sort(&theirs), "{name}: {:?}", machine.show(state));
    let steps = |a: &Attempt| a.successors.iter().any(|s| s.action != a.successors[0].action);
    counts.shared_keys += attempts.values().filter(|a| a.successors.len() > 1 && steps(a)).count();
}

fn readiness(
    name: &str,
    machine: &Machine,
    before: &[TaskKey],
    (task, did): (TaskKey, &Attempt),
    after: &State,
) {
    let now = ready(machine, after);
    let changed = before
        .iter()
        .filter(|t| !now.contains(t))
        .chain(now.iter().filter(|t| !before.contains(t)))
        .filter(|t| **t != task);
    for other in changed {
        let mut awaited = Vec::new();
        machine.awaits(*other, &mut awaited);
        assert!(
            awaited.iter().any(|place| did.writes.contains(place)),
            "{name}: {} changes whether {} is ready and writes nothing that it awaits",
            machine.task_name(after, task),
            machine.task_name(after, *other)
        );
    }
}

fn pair(
    name: &str,
    machine: &Machine,
    (a, did_a): (TaskKey, &Attempt),
    (b, did_b): (TaskKey, &Attempt),
    state: &State,
    counts: &mut Counts,
) {
    let failed = |one: &Attempt| one.successors.iter().any(|s| s.failure.is_some());
    if failed(did_a) || failed(did_b) {
        return;
    }
    let ab = both(machine, did_a, b, false, counts);
    let ba = both(machine, did_b, a, true, counts);
    if conflict(did_a, did_b) {
        counts.dependent += 1;
        if let (Some((ab, _)), Some((ba, _))) = (&ab, &ba) {
            counts.commute_all_the_same += usize::from(ab == ba);
        }
        return;
    }
    counts.independent += 1;
    let names = format!(
        "{name}: {} and {} in {:?}",
        machine.task_name(state, a),
        machine.task_name(state, b),
        machine.show(state)
    );
    let (Some((ab, then_b)), Some((ba, then_a))) = (ab, ba) else {
        panic!("{names}: one ends that the other is ready");
    };
    for (there, here) in then_b.iter().map(|t| (t, did_b)).chain(then_a.iter().map(|t| (t, did_a)))
    {
        assert_eq!(there.successors.len(), here.successors.len(), "{names}: alternatives");
        assert_eq!(words(machine, &there.reads), words(machine, &here.reads), "{names}: reads");
        // A task ends unseen once the other has overwritten the last handle of it.
        let seen = |one: &Attempt| {
            let all = words(machine, &one.writes).into_iter();
            all.filter(|word| !word.ends_with("what has ended")).collect::<Vec<String>>()
        };
        assert_eq!(seen(there), seen(here), "{names}: writes");
    }
    if !did_a.successors.is_empty() && !did_b.successors.is_empty() {
        if shared(did_a) || shared(did_b) {
            // Messages of one key differ in handles and objects only, and have the order of the numbers of these.
            assert_eq!(sorted(&ab), sorted(&ba), "{names}: where they lead");
        } else {
            assert_eq!(ab, ba, "{names}: where they lead");
        }
    }
}

/// Whether a task stands for several messages.
fn shared(one: &Attempt) -> bool {
    let numbers: HashSet<u32> = one.successors.iter().map(|s| s.action.alternative()).collect();
    numbers.len() < one.successors.len()
}

fn sorted(ends: &BTreeMap<(usize, usize), Hash128>) -> Vec<u128> {
    let mut all: Vec<u128> = ends.values().map(|hash| hash.0).collect();
    all.sort_unstable();
    all
}

fn words(machine: &Machine, places: &BTreeSet<Place>) -> Vec<String> {
    places.iter().map(|place| format!("{} {}", place.0, machine.place_name(*place))).collect()
}

fn models() -> Vec<(String, String)> {
    let mut models = Vec::new();
    for folder in ["../../examples/models"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "any") {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                models.push((name, std::fs::read_to_string(&path).expect("a model")));
            }
        }
    }
    models.sort();
    models
}

#[test]
fn independent_tasks_commute_in_every_model() {
    let mut counts = Counts::default();
    let models = models();
    assert!(models.len() > 50);
    for (name, text) in &models {
        check(name, text, STATES, &mut counts);
    }
    for (name, text) in SHARP {
        check(name, text, STATES, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.independent > 10_000 && counts.dependent > 10_000, "{counts:?}");
    assert!(counts.blocked > 100 && counts.shared_keys > 0 && counts.silent > 100, "{counts:?}");
}

/// States looked at in one random model.
const STATES_RANDOM: usize = 12;

/// `ANYORDER_RANDOM` sets another number of models, `ANYORDER_SEED` another first seed.
#[test]
fn independent_tasks_commute_in_random_models() {
    let ask = |name: &str, usual: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (count, first) = (ask("ANYORDER_RANDOM", 2_000), ask("ANYORDER_SEED", 1));
    println!("{count} models from seed {first}");
    let mut counts = Counts::default();
    for seed in first..first + count {
        let (text, _) = generate::model(seed);
        check(&format!("seed {seed}"), &text, STATES_RANDOM, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.independent > 1_000 && counts.dependent > 1_000, "{counts:?}");
    assert!(counts.blocked > 100 && counts.silent > 100, "{counts:?}");
}

/// Mailboxes, threads, objects, time: what the gallery has little of.
const SHARP: &[(&str, &str)] = &[
    (
        "fifo",
        "model m\nvar x = 0; handler f: fifo; task t(n: int) on f { x = x * 3 % 7 + n; if n > 0 { post t(n - 1); } }\n\
         once event a { post t(1); } once event b { post t(2); } once event c { post t(0); } final: true;\n",
    ),
    (
        "delayed",
        "model m\nvar x = 0; handler f: delayed; handler g: delayed; task t(n: int) on f { x = x * 3 % 7 + n; }\n\
         task u(n: int) on g { x = x + n; } once event a { post t(1) after 5; } once event b { post t(2) after 3; }\n\
         once event c { post u(3) after 4; } once event d { post t(4); } final: true;\n",
    ),
    (
        "front",
        "model m\nvar x = 0; handler f: bag; task t(n: int) on f { x = x * 3 % 7 + n; }\n\
         once event a { post t(1); } once event b { post t(2); } once event c { post t(3) front; } final: true;\n",
    ),
    (
        "cancel",
        "model m\nvar p: task? = null; var x = 0; handler f: fifo; handler g: bag; task t(n: int) on f { x += n; } task u() on g { x = 0; }\n\
         once event a { p = post t(1); } once event b after a { if p != null { cancel p; } } once event c { post t(2); } once event d { post u(); }\n\
         final: true;\n",
    ),
    (
        "twins",
        "model m\nclass Box { var n = 0; } var x = 0; handler f: bag; task t(b: Box) on f { b.n += 1; x += b.n; }\n\
         once event a { let b = new Box(); post t(b); post t(b); } once event c { let b = new Box(); post t(b); } final: true;\n",
    ),
    (
        "threads",
        "model m\nsetting granularity = access;\nlock l; cond c; var n = 0; handler f: fifo; task t() on f { n = n + 1; n = n + 1; }\n\
         thread w[i in 0..2] { with l { while n == 0 { wait c with l; } n -= 1; } } thread s { with l { n += 1; notify c; } post t(); post t(); }\n\
         event e on f when n > 2 { n = 0; } final: true;\n",
    ),
    (
        "joins",
        "model m\nvar x = 0; fn f() { x = x + 1; } thread a { let t = fork f(); let u = fork f(); join t; join u; x = 0; } thread b { x = 5; } final: true;\n",
    ),
    (
        "arrays",
        "model m\nvar a: [int; 3]; var m: map<int, int>; once event e[i in 0..3] { a[i] = i; } once event f { a[0] = a[1]; } once event g { m[1] = 2; }\n\
         once event h { m[2] = 2; } once event k { if m.has(1) { a[2] = m[1]; } } once event l { a = [0, 0, 0]; } final: true;\n",
    ),
];
