//! All consistent graphs of a program: every way in which its reads may read, every order of its
//! writes, and of these what the axioms allow.

use super::axioms::{Events as Axioms, Label, Relation, Sort, Violated};
use super::{Code, Litmus, Modify, Strength, Written};
use std::collections::{BTreeMap, BTreeSet};

/// What the threads saw in an execution: by thread, the result of each instruction; 0 for those
/// that have none. The last one is that of the thread's end.
pub type LitmusRun = BTreeMap<usize, Vec<u64>>;

/// The consistent graphs of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graphs {
    /// How many there are.
    pub count: u64,
    /// What the threads see in them.
    pub outcomes: BTreeSet<LitmusRun>,
    /// The locations of plain data on which some graph has a race.
    pub racy: BTreeSet<usize>,
    /// How many graphs were tried.
    pub candidates: u64,
    /// How many graphs violate no thin air; how many of the rest atomicity; of the rest coherence;
    /// of the rest SC.
    pub violated: [u64; 4],
}

/// One way through a thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Way {
    steps: Vec<Step>,
    results: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    Read(usize, u64, Strength),
    Write(usize, u64, Strength),
    /// A read and a write.
    Change(usize, u64, u64, Strength),
    /// Of plain data, with what is written.
    Plain(usize, u64, Option<u64>),
    Fence(Strength),
    Spawn(usize),
    Join(usize),
}

/// Lists the consistent graphs; `None` if more than `most` would have to be tried.
#[must_use]
pub fn consistent_graphs(program: &Litmus, most: u64) -> Option<Graphs> {
    // No value comes out of thin air, so after as many rounds as there are writes all are known.
    let mut values = BTreeSet::from([0]);
    let rounds = program.threads.iter().map(|code| writes_in(code)).sum::<usize>();
    let mut ways = Vec::new();
    for _ in 0..=rounds {
        ways = program.threads.iter().map(|code| all_ways(code, &values)).collect::<Vec<_>>();
        if values.len() > 8 || ways.iter().any(|ways| ways.len() > 600) {
            return None;
        }
        let before = values.len();
        for step in ways.iter().flatten().flat_map(|way| &way.steps) {
            if let Step::Write(_, value, _)
            | Step::Change(_, _, value, _)
            | Step::Plain(_, _, Some(value)) = step
            {
                values.insert(*value);
            }
        }
        if values.len() == before {
            break;
        }
    }
    let mut graphs = Graphs::default();
    let mut chosen = BTreeMap::new();
    combine(&ways, &mut vec![0], &mut chosen, most, &mut graphs)?;
    Some(graphs)
}

fn writes_in(code: &[Code]) -> usize {
    let writes = |code: &Code| match code {
        Code::Store(..) | Code::Modify(..) | Code::Plain(_, Some(_)) => 1,
        Code::If(_, then, otherwise) => writes_in(then) + writes_in(otherwise),
        _ => 0,
    };
    code.iter().map(writes).sum()
}

/// The ways through code, if reads may give any of some values.
fn all_ways(code: &[Code], values: &BTreeSet<u64>) -> Vec<Way> {
    let mut done = Vec::new();
    go(code, &[], Way::default(), 0, values, &mut done);
    done
}

/// `rest` is what comes after `code`, the innermost last.
fn go(
    code: &[Code],
    rest: &[&[Code]],
    mut way: Way,
    last: u64,
    values: &BTreeSet<u64>,
    done: &mut Vec<Way>,
) {
    let Some((first, code)) = code.split_first() else {
        match rest.split_last() {
            Some((next, rest)) => go(next, rest, way, last, values, done),
            None => {
                way.results.push(0);
                done.push(way);
            }
        }
        return;
    };
    let mut on = |step: Option<Step>, result: u64, value: u64| {
        let mut way = way.clone();
        way.steps.extend(step);
        way.results.push(result);
        go(code, rest, way, value, values, done);
    };
    match first {
        Code::Load(at, strength) => {
            values
                .iter()
                .for_each(|value| on(Some(Step::Read(*at, *value, *strength)), *value, *value));
        }
        Code::Store(at, written, strength) => {
            let value = match written {
                Written::Is(value) => *value,
                Written::LastAnd(by) => last + by,
            };
            on(Some(Step::Write(*at, value, *strength)), 0, 0);
        }
        Code::Modify(at, modify, success, failure) => {
            for value in values {
                let new = match modify {
                    Modify::Add(by) => Some(value + by),
                    Modify::Swap(new) => Some(*new),
                    Modify::Exchange(current, new) => (value == current).then_some(*new),
                };
                let step = match new {
                    Some(new) => Step::Change(*at, *value, new, *success),
                    None => Step::Read(*at, *value, *failure),
                };
                on(Some(step), *value, *value);
            }
        }
        Code::Plain(at, written) => {
            for value in values {
                let mut way = way.clone();
                way.steps.push(Step::Plain(*at, *value, *written));
                way.results.push(*value);
                way.results.extend(written.map(|_| 0));
                let last = if written.is_some() { 0 } else { *value };
                go(code, rest, way, last, values, done);
            }
        }
        Code::Fence(strength) => on(Some(Step::Fence(*strength)), 0, 0),
        Code::Spawn(child) => on(Some(Step::Spawn(*child)), 0, 0),
        Code::Join(child) => on(Some(Step::Join(*child)), 0, 0),
        Code::If(value, then, otherwise) => {
            let branch = if last == *value { then } else { otherwise };
            let rest: Vec<&[Code]> = rest.iter().copied().chain([code]).collect();
            go(branch, &rest, way, last, values, done);
        }
    }
}

/// Chooses a way for each thread that is spawned. `open` are the threads without one.
fn combine(
    ways: &[Vec<Way>],
    open: &mut Vec<usize>,
    chosen: &mut BTreeMap<usize, Way>,
    most: u64,
    graphs: &mut Graphs,
) -> Option<()> {
    let Some(thread) = open.pop() else {
        return try_all(chosen, most, graphs);
    };
    for way in &ways[thread] {
        let length = open.len();
        open.extend(way.steps.iter().filter_map(|step| match step {
            Step::Spawn(child) => Some(*child),
            _ => None,
        }));
        chosen.insert(thread, way.clone());
        combine(ways, open, chosen, most, graphs)?;
        chosen.remove(&thread);
        open.truncate(length);
    }
    open.push(thread);
    Some(())
}

/// The events of chosen ways.
#[derive(Default)]
struct Events {
    labels: Vec<Label>,
    threads: Vec<Option<usize>>,
    rmws: Vec<(usize, usize)>,
    started: Vec<(usize, usize)>,
    /// Accesses of plain data: the event, the location, and whether it writes.
    plain: Vec<(usize, usize, bool)>,
}

impl Events {
    fn of(chosen: &BTreeMap<usize, Way>) -> Events {
        let mut events = Events::default();
        let steps = || chosen.values().flat_map(|way| &way.steps);
        let location = |step: &Step| match step {
            Step::Read(at, ..)
            | Step::Write(at, ..)
            | Step::Change(at, ..)
            | Step::Plain(at, ..) => Some(*at),
            _ => None,
        };
        let locations: BTreeSet<usize> = steps().filter_map(location).collect();
        for location in locations {
            events.add(None, Sort::Write, Some(location), None, 0);
        }
        let (mut begins, mut ends) = (BTreeMap::new(), BTreeMap::new());
        let (mut spawns, mut joins) = (Vec::new(), Vec::new());
        for (thread, way) in chosen {
            let own = Some(*thread);
            begins.insert(*thread, events.add(own, Sort::Mark, None, None, 0));
            for step in &way.steps {
                match *step {
                    Step::Read(at, value, strength) => {
                        events.add(own, Sort::Read, Some(at), Some(strength), value);
                    }
                    Step::Write(at, value, strength) => {
                        events.add(own, Sort::Write, Some(at), Some(strength), value);
                    }
                    Step::Change(at, old, new, strength) => {
                        let (reads, writes) = halves(strength);
                        let read = events.add(own, Sort::Read, Some(at), Some(reads), old);
                        let write = events.add(own, Sort::Write, Some(at), Some(writes), new);
                        events.rmws.push((read, write));
                    }
                    Step::Plain(at, value, written) => {
                        let access = events.add(own, Sort::Read, Some(at), None, value);
                        events.plain.push((access, at, written.is_some()));
                        if let Some(new) = written {
                            events.add(own, Sort::Write, Some(at), None, new);
                        }
                    }
                    Step::Fence(strength) => {
                        events.add(own, Sort::Fence, None, Some(strength), 0);
                    }
                    Step::Spawn(child) => {
                        spawns.push((events.add(own, Sort::Mark, None, None, 0), child));
                    }
                    Step::Join(child) => {
                        joins.push((events.add(own, Sort::Mark, None, None, 0), child));
                    }
                }
            }
            ends.insert(*thread, events.add(own, Sort::Mark, None, None, 0));
        }
        events.started.extend(spawns.iter().map(|(event, child)| (*event, begins[child])));
        events.started.extend(joins.iter().map(|(event, child)| (ends[child], *event)));
        events
    }

    fn add(
        &mut self,
        thread: Option<usize>,
        sort: Sort,
        location: Option<usize>,
        strength: Option<Strength>,
        value: u64,
    ) -> usize {
        self.labels.push(Label { sort, location, strength, value });
        self.threads.push(thread);
        self.labels.len() - 1
    }

    /// The locations with two accesses that nothing orders, one of them a write.
    fn races(&self, hb: &Relation) -> Vec<usize> {
        let mut racy = Vec::new();
        for (a, location, a_writes) in &self.plain {
            for (b, other, b_writes) in &self.plain {
                let is_ordered = a == b || hb.has(*a, *b) || hb.has(*b, *a);
                if location == other && (*a_writes || *b_writes) && !is_ordered {
                    racy.push(*location);
                }
            }
        }
        racy
    }

    fn writes(&self, location: Option<usize>) -> Vec<usize> {
        let is_one = |event: &usize| {
            self.labels[*event].sort == Sort::Write && self.labels[*event].location == location
        };
        (0..self.labels.len()).filter(is_one).collect()
    }
}

/// The orderings of the halves of a read-modify-write.
fn halves(strength: Strength) -> (Strength, Strength) {
    match strength {
        Strength::Relaxed => (Strength::Relaxed, Strength::Relaxed),
        Strength::Acquire => (Strength::Acquire, Strength::Relaxed),
        Strength::Release => (Strength::Relaxed, Strength::Release),
        Strength::AcqRel => (Strength::Acquire, Strength::Release),
        Strength::SeqCst => (Strength::SeqCst, Strength::SeqCst),
    }
}

/// Tries every reads-from and every modification order.
fn try_all(chosen: &BTreeMap<usize, Way>, most: u64, graphs: &mut Graphs) -> Option<()> {
    let events = Events::of(chosen);
    let count = events.labels.len();
    assert!(count <= 64, "the events fit in a number");
    let mut sources = Vec::new();
    for read in (0..count).filter(|event| events.labels[*event].sort == Sort::Read) {
        let label = events.labels[read];
        let mut writes = events.writes(label.location);
        writes.retain(|write| events.labels[*write].value == label.value);
        sources.push((read, writes));
    }
    if sources.iter().any(|source| source.1.is_empty()) {
        return Some(());
    }
    let orders = orders(&events);
    let sb = Relation::on(count, |a, b| match (events.threads[a], events.threads[b]) {
        (None, Some(_)) => true,
        (a_thread, b_thread) => a_thread.is_some() && a_thread == b_thread && a < b,
    });
    let (mut rmw, mut started) = (Relation::empty(count), Relation::empty(count));
    events.rmws.iter().for_each(|(a, b)| rmw.add(*a, *b));
    events.started.iter().for_each(|(a, b)| started.add(*a, *b));
    let axioms = Axioms::new(&events.labels, &sb, &started, &rmw);
    for rf in product(&sources, count) {
        for mo in &orders {
            graphs.candidates += 1;
            if graphs.candidates > most {
                return None;
            }
            let violated = axioms.violated(&rf, mo);
            if let Some(axiom) = violated {
                graphs.violated[axiom as usize] += 1;
            } else {
                graphs.count += 1;
                let results = |(thread, way): (&usize, &Way)| (*thread, way.results.clone());
                graphs.outcomes.insert(chosen.iter().map(results).collect());
                graphs.racy.extend(events.races(&axioms.happens_before(&rf)));
            }
            if violated == Some(Violated::ThinAir) {
                // So do all other orders.
                break;
            }
        }
    }
    Some(())
}

fn product(sources: &[(usize, Vec<usize>)], count: usize) -> Vec<Relation> {
    let mut all = vec![Relation::empty(count)];
    for (read, writes) in sources {
        let with = |rf: &Relation, write: usize| {
            let mut rf = rf.clone();
            rf.add(write, *read);
            rf
        };
        all = all.iter().flat_map(|rf| writes.iter().map(|write| with(rf, *write))).collect();
    }
    all
}

/// Every order of the writes of each location, the initial one first.
fn orders(events: &Events) -> Vec<Relation> {
    let count = events.labels.len();
    let mut all = vec![Relation::empty(count)];
    for first in (0..count).filter(|event| events.threads[*event].is_none()) {
        let writes = events.writes(events.labels[first].location);
        let mut lists = vec![vec![first]];
        for _ in 1..writes.len() {
            let longer = |list: &Vec<usize>| -> Vec<Vec<usize>> {
                let left = writes.iter().filter(|write| !list.contains(write));
                left.map(|write| list.iter().copied().chain([*write]).collect()).collect()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        let with = |mo: &Relation, list: &[usize]| {
            let mut mo = mo.clone();
            for (at, a) in list.iter().enumerate() {
                list[at + 1..].iter().for_each(|b| mo.add(*a, *b));
            }
            mo
        };
        all = all.iter().flat_map(|mo| lists.iter().map(|list| with(mo, list))).collect();
    }
    all
}
