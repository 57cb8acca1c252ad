//! The state graph as DOT and as JSON.

use crate::error::SearchError;
use crate::options::{SearchOptions, Stop};
use crate::outcome::Limit;
use crate::search::Search;
use anyorder_common::text::{escape, is_hostile};
use anyorder_system::{Control, JobWatch, StateSystem, StopReason};
use std::fmt::Write;

/// The format of a state graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GraphFormat {
    /// For Graphviz.
    Dot,
    /// An object with `states` (each with `initial` and `values`), `transitions` (each with `from`,
    /// `to` and `action`; one that fails has `failure` in place of `to`) and `complete`.
    Json,
}

/// A state graph as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exported {
    /// The text.
    pub text: String,
    /// Whether it contains all states with all their transitions.
    pub complete: bool,
    /// The limits that cut the search.
    pub limits: Vec<Limit>,
}

struct Line {
    from: u32,
    to: Option<u32>,
    action: String,
    failure: String,
}

/// Searches breadth-first, once, and returns the graph of the states found as text. States are
/// numbered in the order in which one thread finds them. For small systems: limit the states.
///
/// # Errors
///
/// The same errors as [`Search::new`]. Symmetry is ignored.
pub fn export<S: StateSystem>(
    system: &S,
    format: GraphFormat,
    options: &SearchOptions,
    control: &Control<'_>,
) -> Result<Exported, SearchError> {
    let options = SearchOptions {
        keep_graph: true,
        responses: false,
        symmetry: false,
        stop: Stop::Exhausted,
        order: crate::options::Order::Breadth,
        ..options.clone()
    };
    // The initial states are needed whole, and may take long to make.
    let watched = JobWatch::of(control).enter();
    drop(system.initial());
    drop(watched);
    if let Err(stopped) = control.check() {
        return Ok(nothing(format, stopped.0));
    }
    let mut search = Search::new(system, &options)?;
    let outcome = search.run(control)?;
    let (mut complete, mut limits) = (outcome.complete, outcome.limits);
    // After a stop, the states found so far are still written. Their number is small, or limited.
    let _watched = match control.check() {
        Ok(()) => JobWatch::of(control).enter(),
        Err(_) => JobWatch::default().enter(),
    };
    let Some(graph) = search.graph() else {
        return Ok(Exported { text: String::new(), complete: false, limits });
    };
    let (mut states, mut lines) = (Vec::new(), Vec::new());
    let mut at = match search.states_in_order() {
        Err(SearchError::Stopped(reason)) => return Ok(nothing(format, reason)),
        states => states?,
    };
    for number in 0..graph.len() as u32 {
        if let Err(stopped) = JobWatch::current().check() {
            (complete, limits) = (false, vec![Limit::from(stopped.0)]);
            break;
        }
        let state = at.get_mut(number as usize).and_then(Option::take);
        let Some(state) = state else { continue };
        states.push(system.show(&state));
        let mut successors = Vec::new();
        if graph.is_known(number) {
            system.successors(&state, &mut successors);
        }
        if let Err(stopped) = JobWatch::current().check() {
            (complete, limits) = (false, vec![Limit::from(stopped.0)]);
            break;
        }
        for (successor, to) in successors.into_iter().zip(graph.successors(number)) {
            let action = system.describe(&state, &successor.action);
            let failure = successor.failure.map(|failure| failure.to_string()).unwrap_or_default();
            lines.push(Line { from: number, to, action, failure });
        }
    }
    lines.retain(|line| line.to.is_none_or(|to| (to as usize) < states.len()));
    let text = written(format, (&states, &lines), graph.initial(), complete);
    Ok(Exported { text, complete, limits })
}

/// The result of a job that was stopped before it knew a state.
fn nothing(format: GraphFormat, reason: StopReason) -> Exported {
    let text = written(format, (&[], &[]), 0, false);
    Exported { text, complete: false, limits: vec![Limit::from(reason)] }
}

/// The names and values of a state.
type Shown = Vec<(String, String)>;

fn written(
    format: GraphFormat,
    (states, lines): (&[Shown], &[Line]),
    initial: u32,
    complete: bool,
) -> String {
    match format {
        GraphFormat::Dot => dot(states, lines, initial),
        GraphFormat::Json => json(states, lines, initial, complete),
    }
}

impl<S: StateSystem> Search<'_, S> {
    /// Recomputes all states, in the order of their numbers.
    fn states_in_order(&self) -> Result<Vec<Option<S::State>>, SearchError> {
        let initials = self.system.initial();
        let mut states: Vec<Option<S::State>> = Vec::new();
        let mut successors = Vec::new();
        let mut expanded = None;
        for number in 0..self.links.len() as u32 {
            let (parent, place) = self.links.get(number);
            let Some(parent) = parent else {
                states.push(initials.get(place as usize).cloned());
                continue;
            };
            // Children of one parent follow each other.
            if expanded != Some(parent) {
                successors.clear();
                let state = states[parent as usize].as_ref().ok_or(SearchError::Symmetry)?;
                self.system.successors(state, &mut successors);
                JobWatch::current().check().map_err(|stopped| SearchError::Stopped(stopped.0))?;
                expanded = Some(parent);
            }
            states.push(successors.get(place as usize).map(|successor| successor.state.clone()));
        }
        Ok(states)
    }
}

fn dot(states: &[Vec<(String, String)>], lines: &[Line], initial: u32) -> String {
    let mut out = String::from("digraph states {\n  node [shape=box];\n");
    for (number, values) in states.iter().enumerate() {
        let label: Vec<String> =
            values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let style = if number < initial as usize { ", penwidth=2" } else { "" };
        let _ = writeln!(out, "  s{number} [label=\"{}\"{style}];", dot_escape(&label.join("\n")));
    }
    for (index, line) in lines.iter().enumerate() {
        let action = dot_escape(&line.action);
        match line.to {
            Some(to) => {
                let _ = writeln!(out, "  s{} -> s{to} [label=\"{action}\"];", line.from);
            }
            None => {
                let failure = dot_escape(&line.failure);
                let _ = writeln!(out, "  f{index} [label=\"{failure}\", shape=octagon];");
                let _ = writeln!(out, "  s{} -> f{index} [label=\"{action}\"];", line.from);
            }
        }
    }
    out.push_str("}\n");
    out
}

fn dot_escape(text: &str) -> String {
    let mut out = String::new();
    for symbol in text.chars() {
        match symbol {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\l"),
            // The backslash of an escape is itself escaped.
            symbol if is_hostile(symbol) => {
                out.push_str(&escape(symbol.encode_utf8(&mut [0; 4])).replace('\\', "\\\\"))
            }
            symbol => out.push(symbol),
        }
    }
    out
}

fn json(states: &[Vec<(String, String)>], lines: &[Line], initial: u32, complete: bool) -> String {
    let state = |(number, values): (usize, &Vec<(String, String)>)| {
        let values = values.iter().map(|(name, value)| format!("{}:{}", quote(name), quote(value)));
        let values: Vec<String> = values.collect();
        let initial = number < initial as usize;
        format!("{{\"initial\":{initial},\"values\":{{{}}}}}", values.join(","))
    };
    let transition = |line: &Line| {
        let to = match line.to {
            Some(to) => format!("\"to\":{to}"),
            None => format!("\"failure\":{}", quote(&line.failure)),
        };
        format!("{{\"from\":{},{to},\"action\":{}}}", line.from, quote(&line.action))
    };
    let states: Vec<String> = states.iter().enumerate().map(state).collect();
    let transitions: Vec<String> = lines.iter().map(transition).collect();
    format!(
        "{{\"states\":[{}],\"transitions\":[{}],\"complete\":{complete}}}",
        states.join(","),
        transitions.join(",")
    )
}

/// Returns a text as a JSON string.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for symbol in text.chars() {
        match symbol {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // `<` could end a script if the JSON is embedded elsewhere.
            symbol if is_hostile(symbol) || symbol == '<' => {
                for unit in symbol.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            symbol => out.push(symbol),
        }
    }
    out.push('"');
    out
}
