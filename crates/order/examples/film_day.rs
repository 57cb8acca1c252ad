//! A day of shooting: in which order can six scenes be filmed, and which wishes cannot be met?
//!
//! `cargo run --release -p anyorder-order --example film_day`

use anyorder_order::sat::Lit;
use anyorder_order::solver::{
    Answer, Formula, Limits, Problem, ProblemError, Refutation, RefutationStep, Solver, Tag, Why,
};
use std::collections::BTreeSet;

const SCENES: [&str; 6] = ["breakfast", "quarrel", "fire", "wedding", "storm", "farewell"];
const BREAKFAST: usize = 0;
const QUARREL: usize = 1;
const FIRE: usize = 2;
const WEDDING: usize = 3;
const STORM: usize = 4;
const FAREWELL: usize = 5;

// What happens to a scene: its set is built, the camera starts and stops, the set is cleared.
const BUILD: u32 = 0;
const START: u32 = 1;
const STOP: u32 = 2;
const CLEAR: u32 = 3;

const RULES: [&str; 4] = [
    "the house burns down, so breakfast comes before the fire",
    "the house burns down, so the quarrel comes before the fire",
    "behind the fire one sees the wedding, so its set stands until then",
    "Ada's hair is cut in the storm, and long at breakfast",
];

/// Returns the questions of the day with their answers.
pub(crate) fn day() -> Result<String, ProblemError> {
    let mut problem = Problem::new();
    let (house, harbour, camera) = (problem.resource(), problem.resource(), problem.resource());
    let (mut scenes, mut shots) = (Vec::new(), Vec::new());
    for scene in 0..SCENES.len() {
        let first = problem.chain(4)?;
        // A place has room for one set, and there is one camera.
        let place = if scene <= FIRE { house } else { harbour };
        problem.block(place, first + BUILD, first + CLEAR, None)?;
        shots.push(problem.block(camera, first + START, first + STOP, None)?);
        scenes.push(first);
    }
    let rules = [
        (scenes[BREAKFAST] + STOP, scenes[FIRE] + START),
        (scenes[QUARREL] + STOP, scenes[FIRE] + START),
        (scenes[FIRE] + STOP, scenes[WEDDING] + CLEAR),
        (scenes[BREAKFAST] + STOP, scenes[STORM] + START),
    ];
    for (rule, (before, after)) in rules.into_iter().enumerate() {
        problem.before(before, after, Tag(rule as u32))?;
    }
    let mut solver = Solver::new(problem);
    solver.keep_proof();

    // Ada changes her dress between quarrel and farewell: another scene is shot meanwhile.
    let mut meanwhile = Vec::new();
    for other in [BREAKFAST, FIRE, WEDDING, STORM] {
        let after = Formula::from(solver.order(shots[QUARREL], shots[other]));
        let before = Formula::from(solver.order(shots[other], shots[FAREWELL]));
        meanwhile.push(Formula::and([after.clone(), before.clone()]));
        meanwhile.push(Formula::and([!after, !before]));
    }
    solver.require(&Formula::or(meanwhile));
    // The farewell is filmed in the evening: at most one of these three comes after it.
    let late = [QUARREL, FIRE, STORM].map(|scene| solver.order(shots[scene], shots[FAREWELL]));
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        solver.clause(&[late[a], late[b]]);
    }

    let wedding = solver.order(shots[WEDDING], shots[STORM]);
    let storm = solver.order(shots[STORM], shots[QUARREL]);
    let mut text = ask(&mut solver, "any day", &[]);
    text += &ask(&mut solver, "the wedding before the storm", &[wedding]);
    text += &ask(&mut solver, "the storm before the quarrel", &[storm]);
    text += &ask(&mut solver, "both", &[wedding, storm]);
    Ok(text)
}

fn ask(solver: &mut Solver, question: &str, wishes: &[Lit]) -> String {
    match solver.solve(wishes, &mut Limits::default()) {
        Answer::Ordered(order) => {
            let starts = order.iter().filter(|&node| node % 4 == START);
            let names: Vec<&str> = starts.map(|node| SCENES[*node as usize / 4]).collect();
            format!("{question}: {}\n", names.join(", "))
        }
        Answer::Impossible { core } => {
            let rules = solver.refutation().map(rules).unwrap_or_default();
            format!("{question}: impossible, {} wishes against these rules:\n{rules}", core.len())
        }
        Answer::Unknown(cause) => format!("{question}: unknown, {cause:?}\n"),
    }
}

/// Returns the rules that the cycles of a refutation use.
fn rules(refutation: Refutation) -> String {
    let cycles = refutation.steps.iter().filter_map(|step| match step {
        RefutationStep::Cycle(links) => Some(links),
        _ => None,
    });
    let used: BTreeSet<u32> = cycles
        .flatten()
        .filter_map(|link| if let Why::Given(Tag(rule)) = link.why { Some(rule) } else { None })
        .collect();
    used.iter().map(|&rule| format!("  {}\n", RULES[rule as usize])).collect()
}

#[allow(
    dead_code,
    clippy::print_stdout,
    reason = "an example prints; the test of the docs calls `day`"
)]
fn main() -> Result<(), ProblemError> {
    print!("{}", day()?);
    Ok(())
}
