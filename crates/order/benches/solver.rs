//! The order solver against the plain encoding in SAT (one Boolean for each pair of nodes,
//! transitivity for each three). batsat (a port of MiniSat) and this crate's own SAT core solve the
//! encoding in the same run. Then the order solver alone on large problems.
//!
//! `cargo bench -p anyorder-order --bench solver`; a number after `--` runs only the growth series
//! up to that many nodes. Times are seconds per problem, means over the problems of a row; the
//! ratios are peer over ours (above 1: ours is faster).

#![expect(clippy::print_stdout, reason = "a bench reports on stdout")]

#[expect(dead_code, reason = "the test has more uses for it")]
#[path = "../tests/solver/encoding.rs"]
mod encoding;
#[expect(dead_code, reason = "the test has more uses for it")]
#[path = "../tests/solver/oracle.rs"]
mod oracle;
#[expect(dead_code, reason = "the test has more uses for it")]
#[path = "../tests/solver/random.rs"]
mod random;

use anyorder_order::sat::{self, Core, Lit, NoTheory};
use anyorder_order::solver::{Answer, Limits, Rank, Solver};
use batsat::{BasicSolver, SolverInterface, lbool};
use encoding::Encoding;
use random::{Part, Random, Spec};
use std::collections::VecDeque;
use std::time::Instant;

/// A problem and clauses over "this node before that one".
struct Instance {
    spec: Spec,
    clauses: Vec<Vec<(u32, u32)>>,
}

/// Random clauses of three orders between single nodes, about as many as are still satisfiable.
fn clauses(nodes: u32, random: &mut Random) -> Instance {
    let spec = Spec { lens: vec![1; nodes as usize], ..Spec::default() };
    let count = f64::from(nodes) * f64::from(nodes).log2() * 2.3;
    let clause = |random: &mut Random| {
        let mut clause = Vec::new();
        while clause.len() < 3 {
            let (a, b) = (random.below(nodes), random.below(nodes));
            if a != b {
                clause.push((a, b));
            }
        }
        clause
    };
    Instance { spec, clauses: (0..count as usize).map(|_| clause(random)).collect() }
}

/// Jobs that visit all machines, each in its own order, and orders between starts and ends in
/// different jobs: most from a hidden plan, some at random.
fn jobs(nodes: u32, random: &mut Random) -> Instance {
    let machines = (f64::from(nodes) / 2.0).sqrt().min(20.0) as u32;
    let count = nodes / (2 * machines);
    let mut spec = Spec { resources: machines, ..Spec::default() };
    for job in 0..count {
        spec.lens.push(2 * machines);
        for (step, resource) in random.shuffled(machines).into_iter().enumerate() {
            let first = 2 * (job * machines + step as u32);
            spec.blocks.push(Part { resource, first, last: first + 1, entry: None });
        }
    }
    let total = spec.nodes();
    let hidden = plan(&spec, random);
    for _ in 0..total / 3 {
        let (a, b) = (random.below(total), random.below(total));
        if a / (2 * machines) != b / (2 * machines) {
            let forward = hidden[a as usize] < hidden[b as usize];
            spec.edges.push(if forward { (a, b) } else { (b, a) });
        }
    }
    for _ in 0..random.below(5) {
        let (a, b) = (random.below(total), random.below(total));
        if a / (2 * machines) != b / (2 * machines) {
            spec.edges.push((a, b));
        }
    }
    Instance { spec, clauses: Vec::new() }
}

/// Returns the places of some order in which the blocks exclude one another: each runs without
/// interruption.
fn plan(spec: &Spec, random: &mut Random) -> Vec<u32> {
    let mut next: Vec<u32> =
        spec.lens.iter().scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
    let mut left: Vec<usize> = (0..next.len()).collect();
    let mut places = vec![0; spec.nodes() as usize];
    let mut at = 0;
    while !left.is_empty() {
        let pick = random.below(left.len() as u32) as usize;
        let job = left[pick];
        for _ in 0..2 {
            places[next[job] as usize] = at;
            next[job] += 1;
            at += 1;
        }
        if next[job] == spec.lens[..=job].iter().sum::<u32>() {
            left.swap_remove(pick);
        }
    }
    places
}

/// Handlers on event loops, first come, first served, as in a random run; orders between events
/// that are close in the run, and some at random.
fn handlers(nodes: u32, random: &mut Random) -> Instance {
    const LEN: u32 = 8;
    const LOOPS: u32 = 4;
    let count = (nodes / LEN).max(LOOPS);
    let mut spec = Spec { resources: LOOPS, ..Spec::default() };
    let mut queues: Vec<VecDeque<u32>> = vec![VecDeque::new(); LOOPS as usize];
    let post = |spec: &mut Spec, resource: u32, entry: Option<u32>| {
        let first = spec.nodes();
        spec.lens.push(LEN);
        let entry = entry.map(|node| (node, Rank::Level(0)));
        spec.blocks.push(Part { resource, first, last: first + LEN - 1, entry });
        first
    };
    for resource in 0..LOOPS {
        let first = post(&mut spec, resource, None);
        queues[resource as usize].push_back(first);
    }
    let mut made = LOOPS;
    let mut run: Vec<u32> = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        let at = random.below(LOOPS) as usize;
        let Some(front) = queues[at].front_mut() else { continue };
        let node = *front;
        *front += 1;
        if *front % LEN == 0 {
            queues[at].pop_front();
        }
        run.push(node);
        let waiting: usize = queues.iter().map(VecDeque::len).sum();
        if made < count && (waiting < 3 || random.often(20)) {
            let resource = random.below(LOOPS);
            queues[resource as usize].push_back(made * LEN);
            post(&mut spec, resource, Some(node));
            made += 1;
        }
    }
    let total = run.len() as u32;
    for _ in 0..total / 8 {
        let a = random.below(total - 1);
        let b = (a + 1 + random.below(3 * LEN)).min(total - 1);
        let (a, b) = (run[a as usize], run[b as usize]);
        if a / LEN != b / LEN {
            spec.edges.push((a, b));
        }
    }
    for _ in 0..random.below(2) {
        let a = random.below(total - 1);
        let b = (a + 1 + random.below(LEN)).min(total - 1);
        let (a, b) = (run[a as usize], run[b as usize]);
        if a / LEN != b / LEN {
            spec.edges.push((b, a));
        }
    }
    Instance { spec, clauses: Vec::new() }
}

struct Outcome {
    ordered: bool,
    seconds: f64,
    conflicts: u64,
}

fn ours(instance: &Instance) -> (Outcome, anyorder_order::solver::SolverStats) {
    let (problem, _) = instance.spec.problem();
    let begin = Instant::now();
    let mut solver = Solver::new(problem);
    for clause in &instance.clauses {
        let lits: Vec<Lit> = clause
            .iter()
            .map(|&(a, b)| solver.before(a, b).expect("two nodes of the problem"))
            .collect();
        solver.clause(&lits);
    }
    let answer = solver.solve(&[], &mut Limits::default());
    let seconds = begin.elapsed().as_secs_f64();
    let stats = solver.stats();
    if let Answer::Ordered(order) = &answer
        && instance.spec.nodes() <= 200
    {
        assert_eq!(oracle::violation(&instance.spec, &oracle::places(order)), None);
    }
    let ordered = matches!(answer, Answer::Ordered(_));
    (Outcome { ordered, seconds, conflicts: stats.conflicts }, stats)
}

fn encode(instance: &Instance) -> Encoding {
    let mut encoding = Encoding::of(&instance.spec);
    for clause in &instance.clauses {
        let clause = clause.iter().map(|&(a, b)| encoding.before(a, b)).collect();
        encoding.clauses.push(clause);
    }
    encoding
}

/// The time includes adding the clauses, not making them.
fn with_batsat(encoding: &Encoding) -> Outcome {
    let begin = Instant::now();
    let mut solver = BasicSolver::default();
    let table: Vec<_> = (0..=encoding.variables).map(|_| solver.new_var_default()).collect();
    let mut lits = Vec::new();
    for clause in &encoding.clauses {
        lits.clear();
        lits.extend(
            clause.iter().map(|&lit| batsat::Lit::new(table[lit.unsigned_abs() as usize], lit > 0)),
        );
        solver.add_clause_reuse(&mut lits);
    }
    let ordered = solver.solve_limited(&[]) == lbool::TRUE;
    Outcome { ordered, seconds: begin.elapsed().as_secs_f64(), conflicts: solver.num_conflicts() }
}

fn with_core(encoding: &Encoding) -> Outcome {
    let begin = Instant::now();
    let mut core = Core::new();
    let table: Vec<_> = (0..=encoding.variables).map(|_| core.new_var(false)).collect();
    let mut lits = Vec::new();
    for clause in &encoding.clauses {
        lits.clear();
        lits.extend(
            clause.iter().map(|&lit| Lit::new(table[lit.unsigned_abs() as usize], lit > 0)),
        );
        core.add_clause(&lits);
    }
    let ordered = core.solve(&[], &mut NoTheory, &mut Limits::default()) == sat::Answer::Sat;
    Outcome { ordered, seconds: begin.elapsed().as_secs_f64(), conflicts: core.stats().conflicts }
}

type Family = (&'static str, fn(u32, &mut Random) -> Instance, &'static [u32]);

const FAMILIES: [Family; 3] = [
    ("clauses", clauses, &[10, 20, 25]),
    ("jobs", jobs, &[32, 72, 128, 200]),
    ("handlers", handlers, &[32, 64, 128, 192]),
];

fn compare() {
    println!(
        "family   nodes answer count  ours_s conflicts  batsat_s conflicts ratio  core_s conflicts ratio"
    );
    for (name, make, sizes) in FAMILIES {
        for &nodes in sizes {
            // For each answer: problems, and seconds and conflicts of the three.
            let mut sums = [[0_f64; 7]; 2];
            for seed in 0..8 {
                let instance = make(nodes, &mut Random::new(seed));
                let (ours, _) = ours(&instance);
                let encoding = encode(&instance);
                let peers = [with_batsat(&encoding), with_core(&encoding)];
                let sum = &mut sums[usize::from(ours.ordered)];
                sum[0] += 1.0;
                for (i, outcome) in [&ours, &peers[0], &peers[1]].into_iter().enumerate() {
                    assert_eq!(outcome.ordered, ours.ordered, "{name}, {nodes} nodes, seed {seed}");
                    sum[1 + 2 * i] += outcome.seconds;
                    sum[2 + 2 * i] += outcome.conflicts as f64;
                }
            }
            for (sum, answer) in sums.iter().zip(["none", "order"]) {
                let mean = |i: usize| sum[i] / sum[0].max(1.0);
                if sum[0] > 0.0 {
                    println!(
                        "{name:8} {nodes:5} {answer:6} {:5} {:7.4} {:9.0} {:9.4} {:9.0} {:5.1} {:7.4} {:9.0} {:5.1}",
                        sum[0],
                        mean(1),
                        mean(2),
                        mean(3),
                        mean(4),
                        sum[3] / sum[1],
                        mean(5),
                        mean(6),
                        sum[5] / sum[1]
                    );
                }
            }
        }
    }
}

fn grow(most: u32) {
    println!(
        "\nfamily     nodes answer   ours_s    pairs undecided variables conflicts candidates megabytes"
    );
    for (name, make, _) in &FAMILIES[1..] {
        for nodes in [1_000, 10_000, 30_000, 100_000].into_iter().filter(|&nodes| nodes <= most) {
            let instance = make(nodes, &mut Random::new(1));
            let (outcome, stats) = ours(&instance);
            let answer = if outcome.ordered { "order" } else { "none" };
            println!(
                "{name:8} {nodes:7} {answer:6} {:8.3} {:8} {:9} {:9} {:9} {:7} {:9}",
                outcome.seconds,
                stats.pairs,
                stats.undecided,
                stats.variables,
                stats.conflicts,
                stats.candidates,
                stats.memory_bytes >> 20
            );
        }
    }
}

fn main() {
    // Cargo passes `--bench`.
    let most = std::env::args().find_map(|word| word.parse().ok());
    if most.is_none() {
        compare();
    }
    grow(most.unwrap_or(100_000));
}
