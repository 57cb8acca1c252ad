//! Checks two-phase commit of three nodes, with and without reduction. Then plants a bug, and
//! prints the shortest run that shows it.
//!
//! `cargo run -p anyorder-examples --bin protocol`

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example prints")]

use anyorder_drive::states::{Algorithm, CheckOptions, Named, StateProgram, check_states};
use anyorder_drive::{Failure, JobControl};
use anyorder_system::{
    ContractOptions, Effects, End, Place, Properties, Reducible, StateSystem, Successor, TaskKey,
    TouchKind, Touched, check_contract,
};

const NODES: usize = 3;

/// A state is a list of cells, and the number of a cell is its place. `VOTED..` and `DONE..` are
/// what each node voted and did, `VOTE..` and `DECISION..` are messages from and to each node.
type State = [u8; 4 * NODES + 1];
const VOTED: usize = 0;
const VOTE: usize = NODES;
const DECISION: usize = 2 * NODES;
const DONE: usize = 3 * NODES;
/// The number of votes for the commit that the coordinator counted, or `DECIDED`.
const COORDINATOR: usize = 4 * NODES;

// What a cell holds.
const NOTHING: u8 = 0;
const YES: u8 = 1;
const NO: u8 = 2;
const DECIDED: u8 = 9;

/// Two-phase commit: the coordinator decides for the commit after this many votes for it.
///
/// Each node has three tasks: it votes, the coordinator counts its vote, it gets the decision. Each
/// task waits for one cell, of `VOTED..`, `VOTE..` or `DECISION..`, and has the number of that
/// cell.
struct Commit {
    votes_needed: usize,
}

impl StateSystem for Commit {
    type State = State;
    type Action = String;

    fn initial(&self) -> Vec<State> {
        vec![[NOTHING; 4 * NODES + 1]]
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, String>>) {
        self.successors_of_tasks(state, out);
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        out.extend(state);
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        bytes.try_into().ok()
    }

    fn properties(&self) -> Properties<'_, State> {
        // Asked where nothing can happen any more. An `invariant` is asked in every state, and
        // leaves less to reduce: each step that writes what it watches counts as in its way.
        Properties::new().end(|state: &State| {
            let (voted, done) = (&state[VOTED..VOTE], &state[DONE..COORDINATOR]);
            if done.contains(&NOTHING) {
                End::Deadlock
            } else if done.contains(&YES) && voted.contains(&NO) {
                End::Wrong
            } else {
                End::Fine
            }
        })
    }

    fn describe(&self, _: &State, action: &String) -> String {
        action.clone()
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        let vote = ["none", "yes", "no"];
        let done = ["nothing", "commit", "abort"];
        let shown = |node| {
            let (voted, did) = (state[VOTED + node], state[DONE + node]);
            let words = format!("vote {}, did {}", vote[voted as usize], done[did as usize]);
            (format!("node {node}"), words)
        };
        (0..NODES).map(shown).collect()
    }
}

impl Reducible for Commit {
    fn ready(&self, state: &State, out: &mut Vec<TaskKey>) {
        let is_ready = |cell: &usize| (*cell < VOTE) == (state[*cell] == NOTHING);
        out.extend((VOTED..DONE).filter(is_ready).map(|cell| TaskKey(cell as u64)));
    }

    fn run(&self, state: &State, task: TaskKey, out: &mut Effects<State, String>) {
        let task = task.0 as usize;
        let node = task % NODES;
        let mut step = |action: String, writes: &[(usize, u8)]| {
            let mut state = *state;
            for &(cell, value) in writes {
                state[cell] = value;
                out.touched.push(Touched { place: Place(cell as u64), kind: TouchKind::Write });
            }
            out.successors.push(Successor { action, state, failure: None });
        };
        match task {
            VOTED..VOTE => {
                // Two alternatives.
                step(format!("node {node} votes yes"), &[(task, YES), (VOTE + node, YES)]);
                step(format!("node {node} votes no"), &[(task, NO), (VOTE + node, NO)]);
            }
            VOTE..DECISION => {
                let (count, decision) = match (state[COORDINATOR], state[task]) {
                    (DECIDED, _) => (DECIDED, None),
                    (_, NO) => (DECIDED, Some(NO)),
                    (count, _) if usize::from(count) + 1 == self.votes_needed => {
                        (DECIDED, Some(YES))
                    }
                    (count, _) => (count + 1, None),
                };
                let mut writes = vec![(task, NOTHING), (COORDINATOR, count)];
                if let Some(value) = decision {
                    writes.extend((DECISION..DONE).map(|cell| (cell, value)));
                }
                step(format!("the coordinator counts the vote of node {node}"), &writes);
            }
            _ => {
                let writes = [(task, NOTHING), (DONE + node, state[task])];
                step(format!("node {node} gets the decision"), &writes);
            }
        }
    }

    fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
        out.push(Place(task.0));
    }
}

fn main() -> Result<(), Failure> {
    check("two-phase commit", NODES)?;
    check("a coordinator that commits too early", NODES - 1)
}

/// Prints what is true of the protocol.
fn check(name: &str, votes_needed: usize) -> Result<(), Failure> {
    println!("{name}");
    let program = Named::reducible(name, Commit { votes_needed });
    match check_contract(program.system(), &ContractOptions::default()) {
        Ok(checks) => println!("  contract: {} checks, none fails", checks.iter().sum::<u64>()),
        Err(broken) => println!("  contract: {broken}"),
    }
    let algorithms = [("with reduction", Algorithm::Stateful), ("all states", Algorithm::Full)];
    for (words, algorithm) in algorithms {
        let options = CheckOptions { algorithm: Some(algorithm), ..CheckOptions::default() };
        let found = check_states(&program, &options, &JobControl::default())?.result;
        assert!(found.limits.is_empty(), "nothing cuts the search");
        let states = found.stats.get("states").and_then(|count| count.integer());
        let states = states.expect("a search counts states");
        println!("  {words}: {states} states, {} findings", found.findings.len());
        // A search of all states finds a shortest run.
        let shortest = found.findings.iter().filter(|_| algorithm == Algorithm::Full);
        for reported in shortest {
            println!("  {}", reported.finding.title);
            for step in reported.run.iter().flat_map(|run| &run.steps) {
                println!("    {}", step.what);
            }
        }
    }
    Ok(())
}
