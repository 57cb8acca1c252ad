//! Whether two whole graphs are the same, without saying which state of one is which of the other.
//!
//! States get colours: first what can be seen in them, then, again and again, where their steps
//! lead. Both sides must have the same colours, and as many states of each. This decides where the
//! pairing of single steps (`differential`) had to guess, since several results of one label looked
//! alike.

use crate::naive::differential::{kind_of, label_of};
use crate::naive::interp::program::Program;
use crate::naive::interp::state::State;
use crate::naive::interp::{canon, step};
use crate::naive::words;
use anyorder_system::StateSystem;
use anyorder_vm::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// A step: its label, and the state it leads to or the kind of its failure.
type Edge = (String, Result<usize, String>);

/// A step with the colour of the state it leads to.
type Seen<'a> = (&'a str, Result<usize, &'a str>);

/// What can be seen in a state.
type Sign = (Vec<String>, bool, Vec<bool>);

#[derive(Default)]
struct Graph {
    signs: Vec<Sign>,
    edges: Vec<Vec<Edge>>,
    /// States that a machine may take for one (C4) have one name.
    merged: Vec<String>,
}

/// How a comparison ended.
pub enum Verdict {
    Same,
    /// One side has more than the bound allows.
    Cut,
    Different(String),
}

/// Compares all states, up to `bound` on each side.
pub fn compare(p: &'static Program, machine: &Machine, bound: usize) -> Verdict {
    let (Some(left), Some(right)) =
        (of_naive(p, bound), of_machine(machine, p.invariants.len(), bound))
    else {
        return Verdict::Cut;
    };
    let (one, other) = refine(&left, &right);
    if one[0] != other[0] {
        return Verdict::Different("the first states differ".into());
    }
    let mut plain: BTreeMap<usize, usize> = BTreeMap::new();
    let mut merged: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, colour) in one.iter().enumerate() {
        *plain.entry(*colour).or_default() += 1;
        merged.entry(*colour).or_default().insert(&left.merged[i]);
    }
    other.iter().for_each(|colour| *found.entry(*colour).or_default() += 1);
    for (colour, most) in &plain {
        let (least, number) = (merged[colour].len(), found.remove(colour).unwrap_or(0));
        if number < least || number > *most {
            let at = one.iter().position(|c| c == colour).unwrap_or(0);
            return Verdict::Different(format!(
                "{number} states of the machine, {least} to {most} naive ones, like {:?}",
                left.signs[at]
            ));
        }
    }
    match found.first_key_value() {
        None => Verdict::Same,
        Some((_, n)) => Verdict::Different(format!("{n} states that the machine alone has")),
    }
}

/// Colours of both sides, the same for what is alike, as fine as they get.
fn refine(left: &Graph, right: &Graph) -> (Vec<usize>, Vec<usize>) {
    let mut names: BTreeMap<&Sign, usize> = BTreeMap::new();
    let mut colours = [left, right].map(|graph| {
        let name = |sign| {
            let next = names.len();
            *names.entry(sign).or_insert(next)
        };
        graph.signs.iter().map(name).collect::<Vec<usize>>()
    });
    let mut classes = names.len();
    loop {
        let mut names: BTreeMap<(usize, Vec<Seen<'_>>), usize> = BTreeMap::new();
        let mut finer = [vec![], vec![]];
        for (side, graph) in [left, right].into_iter().enumerate() {
            for (state, edges) in graph.edges.iter().enumerate() {
                let colour = |state: &usize| colours[side][*state];
                let ends = edges.iter().map(|(label, end)| {
                    (label.as_str(), end.as_ref().map(colour).map_err(String::as_str))
                });
                let mut all: Vec<Seen<'_>> = ends.collect();
                all.sort_unstable();
                let next = names.len();
                finer[side].push(*names.entry((colours[side][state], all)).or_insert(next));
            }
        }
        let number = names.len();
        colours = finer;
        if number == classes {
            let [one, other] = colours;
            return (one, other);
        }
        classes = number;
    }
}

fn of_naive(p: &'static Program, bound: usize) -> Option<Graph> {
    let mut graph = Graph::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut states = vec![];
    let number = |state: State, states: &mut Vec<State>, known: &mut BTreeMap<String, usize>| {
        let next = states.len();
        *known.entry(canon::canonical(p, &state)).or_insert_with(|| {
            states.push(state);
            next
        })
    };
    number(step::initial(p), &mut states, &mut known);
    while let Some(state) = states.get(graph.edges.len()).cloned() {
        if states.len() > bound {
            return None;
        }
        let holds = p.invariants.iter().map(|(_, e)| step::holds(p, &state, e)).collect();
        graph.signs.push((words::sign(p, &state), step::is_final(p, &state), holds));
        graph.merged.push(canon::canonical(p, &step::begun(p, &state)));
        let edge = |t: step::Transition| match t.result {
            Ok(next) => (t.label, Ok(number(next, &mut states, &mut known))),
            Err(failure) => (t.label, Err(failure.kind.to_string())),
        };
        graph.edges.push(step::successors(p, &state).into_iter().map(edge).collect());
    }
    Some(graph)
}

fn of_machine(machine: &Machine, invariants: usize, bound: usize) -> Option<Graph> {
    let mut graph = Graph::default();
    let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut states = vec![];
    let mut number = |state: anyorder_vm::State, states: &mut Vec<anyorder_vm::State>| {
        let mut bytes = vec![];
        machine.encode(&state, &mut bytes);
        let next = states.len();
        *known.entry(bytes).or_insert_with(|| {
            states.push(state);
            next
        })
    };
    number(machine.initial().remove(0), &mut states);
    while let Some(state) = states.get(graph.edges.len()).cloned() {
        if states.len() > bound {
            return None;
        }
        let holds = (0..invariants).map(|i| machine.holds(i, &state)).collect();
        let sign = words::sign_of_machine(&machine.show(&state));
        graph.signs.push((sign, machine.is_final(&state), holds));
        let mut all = vec![];
        machine.successors(&state, &mut all);
        let mut edges = vec![];
        for successor in all {
            let label = label_of(&machine.describe(&state, &successor.action));
            edges.push(match successor.failure {
                None => (label, Ok(number(successor.state, &mut states))),
                Some(line) => (label, Err(kind_of(&line.to_string()))),
            });
        }
        graph.edges.push(edges);
    }
    Some(graph)
}
