//! Asks the order solver whether one task can run before another. Locks and a queue restrict the
//! orders.
//!
//! Two threads each hold a lock while they post a task to one event loop. The loop runs its tasks
//! in the order of their posts. Can `draw` run before `load`?
//!
//! `cargo run -p anyorder-examples --bin order`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example prints")]

use anyorder_order::solver::{
    Answer, Entry, Fact, Limits, Problem, ProblemError, Rank, Refutation, RefutationStep, Solver,
    Tag, Why,
};

/// The events, by the numbers of their nodes.
const EVENTS: [&str; 12] = [
    "loader takes the lock",
    "loader posts `load`",
    "loader gives the lock back",
    "loader signals",
    "drawer is ready",
    "drawer takes the lock",
    "drawer posts `draw`",
    "drawer gives the lock back",
    "`load` begins",
    "`load` ends",
    "`draw` begins",
    "`draw` ends",
];
/// The blocks, in the order in which they are added.
const BLOCKS: [&str; 4] = ["loader's section", "drawer's section", "`load`", "`draw`"];
/// The given orders, by their tags.
const RULES: [&str; 2] = ["a task begins after its post", "the drawer waits for the signal"];

fn main() -> Result<(), ProblemError> {
    ask("the drawer does not wait", false)?;
    ask("the drawer waits for the signal", true)
}

/// Prints whether `draw` can run before `load`, and why.
fn ask(case: &str, waits: bool) -> Result<(), ProblemError> {
    let mut problem = Problem::new();
    let (lock, event_loop) = (problem.resource(), problem.resource());
    let (loader, drawer) = (problem.chain(4)?, problem.chain(4)?);
    let (load, draw) = (problem.chain(2)?, problem.chain(2)?);
    problem.block(lock, loader, loader + 2, None)?;
    problem.block(lock, drawer + 1, drawer + 3, None)?;
    // Equal levels: first come, first served.
    let posted = |node| Some(Entry { node, rank: Rank::Level(0), tag: Tag(0) });
    let load = problem.block(event_loop, load, load + 1, posted(loader + 1))?;
    let draw = problem.block(event_loop, draw, draw + 1, posted(drawer + 2))?;
    if waits {
        problem.before(loader + 3, drawer, Tag(1))?;
    }

    let mut solver = Solver::new(problem);
    solver.keep_proof();
    let wish = solver.order(draw, load);
    match solver.solve(&[wish], &mut Limits::default()) {
        Answer::Ordered(order) => {
            println!("{case}: `draw` can run before `load`");
            for node in order {
                println!("  {}", EVENTS[node as usize]);
            }
        }
        Answer::Impossible { .. } => {
            println!("{case}: `draw` cannot run before `load`");
            print_proof(&solver.refutation().expect("the solver keeps its proof"));
        }
        Answer::Unknown(cause) => println!("{case}: no answer, {cause:?}"),
    }
    Ok(())
}

/// Prints the cycles of a proof. Each cycle says that its decided orders cannot all hold.
fn print_proof(proof: &Refutation) {
    for step in &proof.steps {
        let RefutationStep::Cycle(links) = step else { continue };
        println!("  this would be a cycle:");
        for link in links {
            let why = match link.why {
                Why::Chain => "program order".to_owned(),
                Why::Given(Tag(rule)) => RULES[rule as usize].to_owned(),
                Why::Decided(fact) => words(fact),
            };
            let (from, to) = (EVENTS[link.from as usize], EVENTS[link.to as usize]);
            println!("    {from}, then {to} ({why})");
        }
    }
}

/// Returns an order that the solver decided, in words.
fn words(fact: Fact) -> String {
    let (first, second) = match fact {
        Fact::Blocks { first, second } => (BLOCKS[first.index()], BLOCKS[second.index()]),
        Fact::Nodes { first, second } => (EVENTS[first as usize], EVENTS[second as usize]),
    };
    format!("if {first} comes before {second}")
}
