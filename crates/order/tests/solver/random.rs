//! Random problems of several shapes, from seeds.

use anyorder_common::random::{Random as _, Rng};
use anyorder_order::solver::{Block, Entry, Node, Problem, Rank, Tag};

/// Numbers below 2^32.
pub(crate) struct Random(Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Rng::new(seed))
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound.into()) as u32
    }

    pub(crate) fn often(&mut self, percent: u32) -> bool {
        self.0.percent(percent)
    }

    pub(crate) fn shuffled(&mut self, len: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..len).collect();
        self.0.shuffle(&mut all);
        all
    }
}

/// A block in the tests' representation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) resource: u32,
    pub(crate) first: Node,
    pub(crate) last: Node,
    pub(crate) entry: Option<(Node, Rank)>,
}

/// A problem in the tests' representation, independent of the solver's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) lens: Vec<u32>,
    pub(crate) edges: Vec<(Node, Node)>,
    pub(crate) resources: u32,
    pub(crate) blocks: Vec<Part>,
    pub(crate) preferred: Option<Vec<u32>>,
}

impl Spec {
    pub(crate) fn nodes(&self) -> u32 {
        self.lens.iter().sum()
    }

    pub(crate) fn chain_of(&self, node: Node) -> usize {
        let mut end = 0;
        self.lens
            .iter()
            .position(|len| {
                end += len;
                node < end
            })
            .expect("a node of the problem")
    }

    fn start(&self, chain: usize) -> Node {
        self.lens[..chain].iter().sum()
    }

    /// Makes the problem, and its blocks. The tags of edges are their numbers, those of entries
    /// 1000 and more.
    pub(crate) fn problem(&self) -> (Problem, Vec<Block>) {
        let mut problem = Problem::new();
        for &len in &self.lens {
            problem.chain(len).unwrap();
        }
        let resources: Vec<_> = (0..self.resources).map(|_| problem.resource()).collect();
        for (index, &(from, to)) in self.edges.iter().enumerate() {
            problem.before(from, to, Tag(index as u32)).unwrap();
        }
        let mut blocks = Vec::new();
        for (index, part) in self.blocks.iter().enumerate() {
            let tag = Tag(1000 + index as u32);
            let entry = part.entry.map(|(node, rank)| Entry { node, rank, tag });
            let resource = resources[part.resource as usize];
            blocks.push(problem.block(resource, part.first, part.last, entry).unwrap());
            assert_eq!(blocks[index].index(), index);
        }
        if let Some(preferred) = &self.preferred {
            problem.prefer(preferred.clone());
        }
        (problem, blocks)
    }

    fn overlaps(&self, part: &Part) -> bool {
        self.blocks.iter().any(|other| {
            other.resource == part.resource && part.first <= other.last && other.first <= part.last
        })
    }
}

/// How the blocks of a resource enter its queue.
#[derive(Clone, Copy)]
enum Queue {
    None,
    Fifo,
    Levels,
    Fronts,
    Mixed,
}

fn queue(random: &mut Random) -> Queue {
    [Queue::None, Queue::Fifo, Queue::Levels, Queue::Fronts, Queue::Mixed][random.below(5) as usize]
}

fn rank(queue: Queue, random: &mut Random) -> Option<Rank> {
    match queue {
        Queue::None => None,
        Queue::Fifo => Some(Rank::Level(7)),
        Queue::Levels => Some(Rank::Level(u64::from(random.below(3)))),
        Queue::Fronts if random.often(40) => Some(Rank::Front),
        Queue::Fronts => Some(Rank::Level(u64::from(random.below(2)))),
        Queue::Mixed if random.often(30) => None,
        Queue::Mixed if random.often(25) => Some(Rank::Front),
        Queue::Mixed => Some(Rank::Level(u64::from(random.below(2)))),
    }
}

/// Chains, edges and blocks anywhere.
fn anything(random: &mut Random, nodes: u32) -> Spec {
    let mut spec = Spec { resources: random.below(4), ..Spec::default() };
    let mut left = 3 + random.below(nodes - 2);
    while left > 0 {
        let len = (1 + random.below(4)).min(left);
        spec.lens.push(len);
        left -= len;
    }
    let count = spec.nodes();
    for _ in 0..random.below(4) {
        let (a, b) = (random.below(count), random.below(count));
        let same = spec.chain_of(a) == spec.chain_of(b);
        // Mostly forward along the numbers, so that not everything is refuted at once.
        spec.edges.push(if a > b && (same || random.often(80)) && !random.often(5) {
            (b, a)
        } else {
            (a, b)
        });
        if a == b && !random.often(3) {
            spec.edges.pop();
        }
    }
    let queues: Vec<Queue> = (0..spec.resources).map(|_| queue(random)).collect();
    if spec.resources > 0 {
        for _ in 0..random.below(7) {
            let chain = random.below(spec.lens.len() as u32) as usize;
            let (start, len) = (spec.start(chain), spec.lens[chain]);
            let (a, b) = (start + random.below(len), start + random.below(len));
            let resource = random.below(spec.resources);
            let (first, last) = (a.min(b), a.max(b));
            let entry = rank(queues[resource as usize], random).map(|rank| {
                let mut node = random.below(count);
                if spec.chain_of(node) == chain && node >= first && !random.often(5) {
                    node = if first > start { first - 1 } else { (first + len) % count };
                }
                (node, rank)
            });
            let part = Part { resource, first, last, entry };
            if !spec.overlaps(&part) || random.often(5) {
                spec.blocks.push(part);
            }
        }
    }
    spec
}

/// Threads that take locks in sections, nested and one after the other.
fn locks(random: &mut Random, nodes: u32) -> Spec {
    let mut spec = Spec { resources: 2 + random.below(2), ..Spec::default() };
    let chains = 2 + random.below(2);
    spec.lens = (0..chains).map(|_| (nodes / chains).max(2)).collect();
    for chain in 0..chains as usize {
        let (start, len) = (spec.start(chain), spec.lens[chain]);
        for _ in 0..1 + random.below(4) {
            let (a, b) = (random.below(len), random.below(len));
            let part = Part {
                resource: random.below(spec.resources),
                first: start + a.min(b),
                last: start + a.max(b),
                entry: None,
            };
            if !spec.overlaps(&part) {
                spec.blocks.push(part);
            }
        }
    }
    let count = spec.nodes();
    for _ in 0..random.below(5) {
        let (a, b) = (random.below(count), random.below(count));
        if spec.chain_of(a) != spec.chain_of(b) {
            spec.edges.push((a, b));
        }
    }
    spec
}

/// Handlers on event loops, entered by events of other handlers: each chain is one block.
fn handlers(random: &mut Random, nodes: u32) -> Spec {
    let loops = 1 + random.below(3);
    let mut spec = Spec { resources: loops, ..Spec::default() };
    let mut left = nodes;
    while left > 1 {
        let len = (1 + random.below(3)).min(left);
        spec.lens.push(len);
        left -= len;
    }
    let queue = if random.often(70) { Queue::Fifo } else { queue(random) };
    for chain in 1..spec.lens.len() {
        let (first, len) = (spec.start(chain), spec.lens[chain]);
        let resource = random.below(loops);
        let entry = rank(queue, random).map(|rank| (random.below(first), rank));
        if entry.is_some() || random.often(50) {
            spec.blocks.push(Part { resource, first, last: first + len - 1, entry });
        }
    }
    let count = spec.nodes();
    for _ in 0..1 + random.below(1 + nodes / 4) {
        let (a, b) = (random.below(count), random.below(count));
        if spec.chain_of(a) != spec.chain_of(b) {
            spec.edges.push(if random.often(50) { (a.min(b), a.max(b)) } else { (a, b) });
        }
    }
    spec
}

/// Two loops: handlers of the first enter handlers on the second, so that inner pairs have the
/// order of the outer ones.
fn nested(random: &mut Random, nodes: u32) -> Spec {
    let mut spec = Spec { resources: 3, ..Spec::default() };
    let outer = 2 + random.below(2);
    let level = Rank::Level(0);
    spec.lens.push(outer);
    for index in 0..outer {
        spec.lens.push(2);
        let first = spec.start(index as usize + 1);
        let entry = random.often(60).then_some((index, level));
        spec.blocks.push(Part { resource: 0, first, last: first + 1, entry });
    }
    let mut parents: Vec<usize> = (0..spec.blocks.len()).collect();
    while spec.nodes() + 1 < nodes {
        let parent = spec.blocks[parents[random.below(parents.len() as u32) as usize]];
        let node = parent.first + random.below(parent.last - parent.first + 1);
        let len = 1 + random.below(2);
        spec.lens.push(len);
        let first = spec.start(spec.lens.len() - 1);
        let before = spec.blocks.len();
        spec.blocks.push(Part {
            resource: (parent.resource + 1).min(2),
            first,
            last: first + len - 1,
            entry: Some((node, level)),
        });
        parents.push(before);
    }
    let count = spec.nodes();
    for _ in 0..1 + random.below(3) {
        let (a, b) = (random.below(count), random.below(count));
        if spec.chain_of(a) != spec.chain_of(b) {
            spec.edges.push((a, b));
        }
    }
    spec
}

/// Nodes that only clauses order.
fn loose(random: &mut Random, nodes: u32) -> Spec {
    let len = if nodes > 12 { 8 + random.below(nodes - 16) } else { 4 + random.below(4) };
    Spec { lens: vec![1; len as usize], ..Spec::default() }
}

/// The number of shapes.
pub(crate) const SHAPES: u32 = 5;

/// Makes the problem of a seed, with at most `nodes` nodes.
pub(crate) fn spec(random: &mut Random, nodes: u32) -> Spec {
    match random.below(SHAPES) {
        0 => anything(random, nodes),
        1 => locks(random, nodes),
        2 => handlers(random, nodes),
        3 => nested(random, nodes),
        _ => loose(random, nodes),
    }
}
