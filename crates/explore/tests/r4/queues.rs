//! Tasks that wait in queues: what the order of the posts decides can be reversed if the posts
//! can.

use crate::tests::r4::random::Numbers;
use crate::tests::r4::toy::{ALL, Effects, Model, factory};
use anyorder_explore::r4::{Order, ReversalOptions, Sabotage, explore};
use anyorder_system::{AccessKind, Control, Level, Observation, PartPath, TaskName};
use anyorder_testkit::effort::seeds;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A task: what it reads and writes, and what it posts.
#[derive(Clone, Debug)]
struct Spec {
    name: TaskName,
    reads: Vec<usize>,
    writes: Vec<usize>,
    posts: Vec<usize>,
    queue: Option<u64>,
    delay: u64,
}

/// Programs whose tasks wait in queues: a task waits for those of its queue that were posted before
/// it with no longer delay.
#[derive(Clone, Debug)]
struct Queues {
    specs: Arc<Vec<Spec>>,
    /// Each variable is a hash of who wrote it, and of what that had read.
    vars: Vec<u64>,
    /// In the order of the posts.
    pending: Vec<usize>,
}

const VARS: usize = 3;

impl Queues {
    fn new(numbers: &mut Numbers) -> Queues {
        let roots = 2 + numbers.below(2);
        let tasks = roots + 2 + numbers.below(3);
        let mut specs: Vec<Spec> = Vec::new();
        for i in 0..tasks {
            let poster = (i >= roots).then(|| numbers.below(i));
            let name = match poster {
                Some(poster) => specs[poster].name.child(&format!("c{i}")),
                None => TaskName::root(&format!("t{i}")),
            };
            if let Some(poster) = poster {
                specs[poster].posts.push(i);
            }
            let mut some = |most: usize| -> Vec<usize> {
                (0..numbers.below(most + 1)).map(|_| numbers.below(VARS)).collect()
            };
            let (reads, writes) = (some(1), some(1));
            let queue = (poster.is_some() && numbers.below(4) > 0).then(|| numbers.below(2) as u64);
            let delay = numbers.below(3) as u64;
            specs.push(Spec { name, reads, writes, posts: Vec::new(), queue, delay });
        }
        Queues { specs: specs.into(), vars: vec![0; VARS], pending: (0..roots).collect() }
    }

    /// Whether a pending task waits for another one.
    fn is_held(&self, place: usize) -> bool {
        let spec = &self.specs[self.pending[place]];
        self.pending[..place].iter().any(|other| {
            let other = &self.specs[*other];
            spec.queue.is_some() && other.queue == spec.queue && other.delay <= spec.delay
        })
    }

    /// All ends that some order reaches: each order is tried.
    fn ends(&self, found: &mut BTreeSet<Vec<u64>>, held: &mut u64) {
        if self.pending.is_empty() {
            found.insert(self.vars.clone());
        }
        for place in 0..self.pending.len() {
            if self.is_held(place) {
                *held += 1;
                continue;
            }
            let mut next = self.clone();
            next.run(&self.specs[self.pending[place]].name, 0);
            next.ends(found, held);
        }
    }
}

impl Model for Queues {
    fn enabled(&self) -> Vec<TaskName> {
        let may = (0..self.pending.len()).filter(|place| !self.is_held(*place));
        may.map(|place| self.specs[self.pending[place]].name.clone()).collect()
    }

    fn run(&mut self, task: &TaskName, _: u32) -> Effects {
        let mut effects = Effects::default();
        let specs = self.specs.clone();
        let at = specs.iter().position(|spec| spec.name == *task).expect("it is enabled");
        let spec = &specs[at];
        self.pending.retain(|other| *other != at);
        let mut value = at as u64 + 1;
        let location = |x: usize| format!("x{x}");
        for x in &spec.reads {
            value = value.wrapping_mul(31).wrapping_add(self.vars[*x]);
            let read = Some(self.vars[*x]);
            effects.accesses.push((location(*x), AccessKind::Read, read, None));
        }
        for x in &spec.writes {
            self.vars[*x] = value;
            effects.accesses.push((location(*x), AccessKind::Write, None, Some(value)));
        }
        for child in &spec.posts {
            self.pending.push(*child);
            effects.posted.push((specs[*child].name.clone(), specs[*child].delay));
        }
        effects
    }

    fn observe(&self) -> Observation {
        let mut observation = Observation::new();
        for (x, value) in self.vars.iter().enumerate() {
            let path = PartPath::new([format!("x{x}")]);
            observation.set(path.clone(), Level::Output, &value.to_le_bytes());
            observation.keep_text(&path, &value.to_string());
        }
        observation
    }

    fn queue(&self, task: &TaskName) -> Option<u64> {
        self.specs.iter().find(|spec| spec.name == *task).and_then(|spec| spec.queue)
    }
}

/// The ends that an exploration reaches.
fn reached(model: &Queues, options: &ReversalOptions) -> BTreeSet<Vec<u64>> {
    let outcome = explore(&factory(model.clone(), ALL), options, &Control::default());
    let outcome = outcome.expect("it runs");
    let named = format!("{:?} {:?} {model:?}", outcome.limits, outcome.counts);
    assert!(outcome.complete, "{named}");
    let value = |run: &Observation, x: usize| {
        let part = run.parts().find(|(path, _)| path.to_string() == format!("x{x}"));
        part.and_then(|(_, part)| part.text.as_deref()?.parse().ok()).expect("a number")
    };
    let ends = outcome.runs.iter().map(|run| (0..VARS).map(|x| value(&run.observation, x)));
    ends.map(Iterator::collect).collect()
}

/// Without a bound, and with one that is higher than needed.
fn options(sabotage: Sabotage) -> [(&'static str, ReversalOptions); 2] {
    let own = ReversalOptions { confirm: false, sabotage, ..ReversalOptions::default() };
    let bound = Some(12);
    let levels = ReversalOptions { bound, order: Order::Levels, ..own.clone() };
    [("all", ReversalOptions { bound: None, ..own }), ("levels", levels)]
}

fn model(seed: u64) -> Queues {
    Queues::new(&mut Numbers(seed.wrapping_mul(0x1234_5678_9abc_def1)))
}

#[test]
fn all_ends_are_found_and_no_others() {
    let (mut held, mut many, mut tried, mut fewer) = (0, 0, 0u64, 0);
    for seed in seeds(300) {
        let model = model(seed);
        let mut expected = BTreeSet::new();
        model.ends(&mut expected, &mut held);
        many += u64::from(expected.len() > 1);
        tried += 1;
        let [(_, all), (_, levels)] = options(Sabotage::None);
        assert_eq!(reached(&model, &levels), expected, "seed {seed}: {model:#?}");
        let without_bound = reached(&model, &all);
        assert!(without_bound.is_subset(&expected), "seed {seed}: {model:#?}");
        fewer += u64::from(without_bound != expected);
    }
    println!("{tried} systems, {many} with more than one end, {held} times a task was held back");
    println!("without a bound, {fewer} had fewer ends");
    assert!(many * 3 > tried && held > tried);
}

#[test]
fn a_fixed_order_of_queues_loses_ends() {
    for (name, _) in options(Sabotage::None) {
        let loses = |seed: &u64| {
            let model = model(*seed);
            let mut expected = BTreeSet::new();
            model.ends(&mut expected, &mut 0);
            let all = options(Sabotage::FixedQueues);
            let (_, options) = all.iter().find(|(other, _)| *other == name).expect("it is there");
            reached(&model, options) != expected
        };
        assert!((1..300).any(|seed| loses(&seed)), "{name}");
    }
}
