//! Random toy systems of several kinds.

use super::livelocks::Who;
use super::{Never, Task, Toy, Tree, Value};
use std::collections::BTreeSet;

pub struct Random(pub u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// How tasks of a system become ready.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Each happens once.
    Acyclic,
    /// All are always ready.
    Cyclic,
    /// Each has a flag that others write.
    Enabling,
    /// Each awaits some data, often several places.
    Awaiting,
    /// The steps of some threads, with guards.
    Threads,
    /// Each happens once, sets an attribute, and may wait until others have happened.
    Updates,
}

pub const KINDS: [Kind; 6] =
    [Kind::Acyclic, Kind::Cyclic, Kind::Enabling, Kind::Awaiting, Kind::Threads, Kind::Updates];

/// The elements of bodies.
struct Shape {
    /// The places of data.
    data: usize,
    /// Further places that may be written: flags of tasks.
    flags: std::ops::Range<usize>,
    choices: bool,
    blocks: bool,
    fails: bool,
    /// Whether the following statements may be done for another component.
    switches: bool,
}

impl Shape {
    fn place(&self, random: &mut Random) -> usize {
        if !self.flags.is_empty() && random.one_in(3) {
            self.flags.start + random.below(self.flags.len() as u64) as usize
        } else {
            random.below(self.data as u64) as usize
        }
    }

    fn tree(&self, random: &mut Random, size: u32) -> Tree {
        if size == 0 {
            return match random.below(8) {
                0 if self.fails => Tree::Fail(random.below(3) as u8),
                1 if self.blocks => Tree::Block,
                _ => Tree::Done,
            };
        }
        match random.below(8) {
            1 if self.switches => {
                let component = (!random.one_in(4)).then(|| random.below(3) as u32);
                Tree::By(component, Box::new(self.tree(random, size - 1)))
            }
            0 if self.choices => {
                let count = 1 + random.below(2);
                Tree::Choice((0..=count).map(|_| self.tree(random, size - 1)).collect())
            }
            0..4 => {
                let place = self.place(random);
                let branches = (0..2).map(|_| self.tree(random, size - 1)).collect();
                Tree::Read(place, branches)
            }
            _ => {
                let place = self.place(random);
                let value = match random.below(4) {
                    0 => Value::LastPlus(1),
                    other => Value::Constant(other as u8 % 3),
                };
                Tree::Write(place, value, Box::new(self.tree(random, size - 1)))
            }
        }
    }
}

pub fn random_toy(kind: Kind, seed: u64) -> Toy {
    let random = &mut Random::new(seed ^ ((kind as u64) << 32));
    random.below(2);
    let mut toy = toy_of(kind, random);
    if random.one_in(3) {
        let chances = 1 + random.below(3);
        toy.optional = (0..toy.tasks.len()).filter(|_| random.one_in(chances)).collect();
    }
    if !random.one_in(4) {
        toy.must_end = random.one_in(2);
        let mut who = || match random.below(10) {
            0 => Who::Input,
            1 => Who::Daemon,
            _ => Who::Worker,
        };
        toy.who = (0..toy.tasks.len()).map(|_| who()).collect();
    }
    toy
}

fn toy_of(kind: Kind, random: &mut Random) -> Toy {
    if kind == Kind::Updates {
        return updates(random);
    }
    let data = 2 + random.below(3) as usize;
    let count = 2 + random.below(4) as usize;
    let domain = 2 + random.below(2) as u8;
    let with_components = random.one_in(3);
    // Deadlocks of tasks that are always ready are so rare that these systems keep their numbers.
    let mixed = !with_components || kind != Kind::Cyclic;
    let mut shape = Shape {
        data,
        flags: data..data,
        choices: mixed && random.one_in(2),
        blocks: random.one_in(2),
        fails: random.one_in(2),
        switches: with_components && mixed && random.one_in(2),
    };
    if kind == Kind::Enabling {
        shape.flags = data..data + count;
    }
    let (hashed, dynamic) = (random.one_in(4), random.one_in(2));
    let mut toy = Toy { domain, hashed, dynamic, ..Toy::default() };
    let depth = 1 + random.below(3) as u32;
    let mut places = data;
    match kind {
        Kind::Threads => {
            let threads = 2 + random.below(2) as usize;
            for thread in 0..threads {
                let pc = data + thread;
                let length = 1 + random.below(2) as u8;
                let again = random.one_in(2);
                for at in 0..length {
                    let body = shape.tree(random, depth);
                    let next = if again { (at + 1) % length } else { at + 1 };
                    let body = with_pc(body, pc, next);
                    toy.tasks.push(Task {
                        awaits: vec![(pc, vec![at])],
                        body,
                        component: Some(thread as u32),
                    });
                }
            }
            toy.domain = 3;
            places += threads;
        }
        _ => {
            for index in 0..count {
                let mut body = shape.tree(random, depth);
                let mut awaits = Vec::new();
                match kind {
                    Kind::Acyclic => {
                        awaits.push((data + index, vec![0]));
                        body = with_pc(body, data + index, 1);
                    }
                    Kind::Enabling => {
                        awaits.push((data + index, vec![0]));
                        if !random.one_in(3) {
                            body = with_pc(body, data + index, 1);
                        }
                    }
                    Kind::Awaiting => {
                        for _ in 0..random.below(3) {
                            let place = random.below(data as u64) as usize;
                            let values = (0..domain).filter(|_| random.one_in(2)).collect();
                            if awaits.iter().all(|(other, _)| *other != place) {
                                awaits.push((place, values));
                            }
                        }
                    }
                    _ => {}
                }
                let component = (!random.one_in(4)).then(|| random.below(2) as u32);
                toy.tasks.push(Task { awaits, body, component });
            }
            if matches!(kind, Kind::Acyclic | Kind::Enabling) {
                places += count;
            }
        }
    }
    let starts = 1 + usize::from(random.one_in(5));
    toy.initial = (0..starts)
        .map(|start| {
            let value = |place: usize, random: &mut Random| {
                let flag = place >= data && kind == Kind::Enabling;
                if (place < data && start > 0) || flag { random.below(2) as u8 } else { 0 }
            };
            (0..places).map(|place| value(place, random)).collect()
        })
        .collect();
    for _ in 0..random.below(3) {
        let mut one = || (random.below(places as u64) as usize, random.below(2) as u8);
        toy.invariants.push(Never(one(), one()));
    }
    if with_components {
        toy.components = 3;
        toy.attributes = (0..data).filter(|_| random.one_in(2)).collect::<BTreeSet<usize>>();
    }
    if random.one_in(2) {
        toy.finals = Some((random.below(data as u64) as usize, random.below(2) as u8));
    }
    toy
}

/// Tasks of components that set one or two attributes without reading them; later ones wait for
/// earlier ones.
fn updates(random: &mut Random) -> Toy {
    let attributes = 1 + usize::from(random.one_in(4));
    let count = 3 + random.below(3) as usize;
    let mut toy = Toy { domain: 2, components: 3, hashed: random.one_in(4), ..Toy::default() };
    let start = (0..attributes + count)
        .map(|place| if place < attributes { u8::from(!random.one_in(4)) } else { 0 });
    toy.initial = vec![start.collect()];
    toy.attributes = (0..attributes).collect();
    for index in 0..count {
        let mut body = Tree::Write(attributes + index, Value::Constant(1), Box::new(Tree::Done));
        if !random.one_in(6) {
            let place = random.below(attributes as u64) as usize;
            let value = Value::Constant(u8::from(!random.one_in(3)));
            body = Tree::Write(place, value, Box::new(body));
            // Two writes, for two components, one of which may undo the other.
            if random.one_in(3) {
                let component = (!random.one_in(4)).then(|| random.below(3) as u32);
                let value = Value::Constant(random.below(2) as u8);
                body = Tree::Write(place, value, Box::new(Tree::By(component, Box::new(body))));
            }
        }
        let guards = if index < 2 { 0 } else { random.below(3) };
        let other = random.below(count as u64) as usize;
        for guard in 0..guards as usize {
            let other = (other + guard) % index.max(1);
            body = Tree::Read(attributes + other, vec![Tree::Block, body]);
        }
        let component = (!random.one_in(6)).then(|| random.below(3) as u32);
        let awaits = vec![(attributes + index, vec![0])];
        toy.tasks.push(Task { awaits, body, component });
    }
    toy
}

/// Sets the place that a task writes when it continues.
fn with_pc(tree: Tree, pc: usize, value: u8) -> Tree {
    match tree {
        Tree::Read(place, branches) => {
            let branches = branches.into_iter().map(|tree| with_pc(tree, pc, value));
            Tree::Read(place, branches.collect())
        }
        Tree::Write(place, written, next) => {
            Tree::Write(place, written, Box::new(with_pc(*next, pc, value)))
        }
        Tree::By(component, next) => Tree::By(component, Box::new(with_pc(*next, pc, value))),
        Tree::Choice(trees) => {
            Tree::Choice(trees.into_iter().map(|tree| with_pc(tree, pc, value)).collect())
        }
        Tree::Done => Tree::Write(pc, Value::Constant(value), Box::new(Tree::Done)),
        other => other,
    }
}
