//! Generated pairs of smart-home apps: full search, the published algorithm and learned stubborn
//! sets, each on one thread.
//!
//! `cargo bench -p anyorder-explore --bench smart_home -- [SEEDS] [EVENTS...]`; without arguments 8
//! seeds of 2 to 16 events, and 4 of 78. Prints a row a number of events (sums over the seeds),
//! then geometric means and sums over all pairs, and next to them the means of the paper's own
//! Table A.2 where its text is at hand.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use anyorder_explore::{paper, stateful};
use anyorder_lang::lower::compile;
use anyorder_system::Control;
use anyorder_vm::Machine;
use std::time::Instant;

/// Full search gives up here.
const STATES_MAX: u64 = 2_000_000;

/// The cost of one search.
#[derive(Clone, Copy, Default, Debug)]
struct Cost {
    states: u64,
    transitions: u64,
    executions: u64,
    /// In milliseconds: the best of some runs.
    time: f64,
    complete: bool,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.executions += other.executions;
        self.time += other.time;
    }
}

/// One pair.
#[derive(Clone, Copy, Debug)]
struct Row {
    events: u64,
    seed: u64,
    full: Option<Cost>,
    paper: Cost,
    ours: Cost,
    /// Without update conflicts, which full search does not report either.
    plain: Cost,
}

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|one| one.parse().ok()).collect();
    let seeds = numbers.first().copied().unwrap_or(8);
    let small: Vec<u64> = numbers
        .get(1..)
        .filter(|rest| !rest.is_empty())
        .map_or_else(|| (2..=16).collect(), <[u64]>::to_vec);
    println!(
        "sums over {seeds} seeds; states, transitions, executions, time in ms; (n) pairs that full search gave up"
    );
    println!(
        "{:>6} | {:>34} | {:>34} | {:>34}",
        "events", "full search", "published", "learned stubborn sets"
    );
    let mut rows = Vec::new();
    for events in small {
        rows.extend(measure_all(events, 1..=seeds, events <= 20));
    }
    summary(&rows);
    if numbers.len() < 2 {
        println!("\n78 events, without full search");
        rows = measure_all(78, 1..=seeds.min(4), false);
        for row in &rows {
            println!(
                "  seed {}: published {:?}\n          learned   {:?}",
                row.seed, row.paper, row.ours
            );
        }
    }
    table_a2();
}

fn measure_all(events: u64, seeds: std::ops::RangeInclusive<u64>, full: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for seed in seeds {
        let Some(machine) = machine(events, seed) else {
            println!("{events} events, seed {seed}: no machine");
            continue;
        };
        let full = full.then(|| best(|| search_all(&machine))).filter(|cost| cost.complete);
        let paper = best(|| published(&machine));
        let ours = best(|| learned(&machine, true));
        let plain = best(|| learned(&machine, false));
        rows.push(Row { events, seed, full, paper, ours, plain });
    }
    let (mut full, mut paper, mut ours) = (Cost::default(), Cost::default(), Cost::default());
    let mut given_up = 0;
    for row in &rows {
        given_up += u64::from(row.full.is_none());
        full.add(row.full.unwrap_or_default());
        paper.add(row.paper);
        ours.add(row.ours);
    }
    let show = |cost: Cost| {
        format!("{:>8}{:>9}{:>9}{:>8.2}", cost.states, cost.transitions, cost.executions, cost.time)
    };
    println!("{events:>6} | {} | {} | {} ({given_up})", show(full), show(paper), show(ours));
    rows
}

fn machine(events: u64, seed: u64) -> Option<Machine> {
    let text = anyorder_generate::smart_home(events, seed)?;
    Machine::new(compile(&text, "home.any").ok()?.program).ok()
}

/// Repeats a search: at least twice, and for 30 ms; returns the quickest.
fn best(mut search: impl FnMut() -> Cost) -> Cost {
    let mut best = search();
    let mut spent = best.time;
    let mut runs = 1;
    while (spent < 30.0 || runs < 2) && spent < 2_000.0 {
        let cost = search();
        spent += cost.time;
        runs += 1;
        if cost.time < best.time {
            best = cost;
        }
    }
    best
}

fn timed(search: impl FnOnce() -> Cost) -> Cost {
    let start = Instant::now();
    let cost = search();
    Cost { time: start.elapsed().as_secs_f64() * 1e3, ..cost }
}

fn search_all(machine: &Machine) -> Cost {
    let options =
        anyorder_search::SearchOptions { states_max: Some(STATES_MAX), ..Default::default() };
    timed(|| {
        let Ok(outcome) = anyorder_search::search(machine, &options, &Control::default()) else {
            return Cost::default();
        };
        let (states, transitions) = (outcome.stats.states, outcome.stats.transitions);
        let complete = states < STATES_MAX;
        Cost { states, transitions, executions: transitions, time: 0.0, complete }
    })
}

/// As in the paper: values do not count.
fn published(machine: &Machine) -> Cost {
    let options = paper::PaperOptions {
        values: false,
        states_max: Some(STATES_MAX),
        backward_max: Some(300_000_000),
        ..Default::default()
    };
    timed(|| {
        let Ok(outcome) = paper::explore(machine, &options, &Control::default()) else {
            return Cost::default();
        };
        let stats = outcome.stats;
        let (states, transitions, executions) = (stats.states, stats.transitions, stats.executions);
        Cost { states, transitions, executions, time: 0.0, complete: outcome.complete }
    })
}

fn learned(machine: &Machine, updates: bool) -> Cost {
    let options =
        stateful::StatefulOptions { updates, states_max: Some(STATES_MAX), ..Default::default() };
    timed(|| {
        let Ok(outcome) = stateful::explore(machine, &options, &Control::default()) else {
            return Cost::default();
        };
        let stats = outcome.stats;
        let (states, transitions, executions) = (stats.states, stats.transitions, stats.executions);
        Cost { states, transitions, executions, time: 0.0, complete: outcome.complete }
    })
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

fn summary(rows: &[Row]) {
    let pairs: Vec<(Cost, Row)> = rows
        .iter()
        .filter_map(|row| Some((row.full?, *row)))
        .filter(|(_, r)| r.paper.complete && r.ours.complete)
        .collect();
    println!(
        "\n{} of {} pairs done by all three; how many times more full search needs (geometric means)",
        pairs.len(),
        rows.len()
    );
    let mean = |by: fn(&Cost) -> f64, of: fn(&Row) -> Cost| {
        let ratios: Vec<f64> = pairs.iter().map(|(full, row)| by(full) / by(&of(row))).collect();
        geometric_mean(&ratios)
    };
    for (name, of) in [
        ("published", (|row| row.paper) as fn(&Row) -> Cost),
        ("learned", |row| row.ours),
        ("no updates", |row| row.plain),
    ] {
        println!(
            "  {name:>10}: states {:.3}, transitions {:.3}, executions {:.3}, time {:.3}",
            mean(|cost| cost.states as f64, of),
            mean(|cost| cost.transitions as f64, of),
            mean(|cost| cost.executions as f64, of),
            mean(|cost| cost.time, of),
        );
        let sum: f64 = pairs.iter().map(|(_, row)| of(row).time).sum();
        let full: f64 = pairs.iter().map(|(full, _)| full.time).sum();
        let worst = pairs
            .iter()
            .max_by(|a, b| (of(&a.1).time / a.0.time).total_cmp(&(of(&b.1).time / b.0.time)));
        let slower = pairs.iter().filter(|(full, row)| of(row).time > full.time).count();
        let above = |least: u64| {
            let over =
                |(full, row): &&(Cost, Row)| full.states >= least && of(row).time > 1.5 * full.time;
            pairs.iter().filter(over).count()
        };
        println!(
            "             time in all {sum:.1} ms, full search {full:.1} ms; slower on {slower} pairs, above 1.5 times on {}, of which {} have 50 states or more",
            above(0),
            above(50)
        );
        if let Some((full, row)) = worst {
            println!(
                "             worst {:.2} times full search's: {} events, seed {}, {} states, {:.2} ms",
                of(row).time / full.time,
                row.events,
                row.seed,
                full.states,
                full.time
            );
        }
    }
}

/// Prints the geometric means of the paper's table of pairs that finished both ways.
fn table_a2() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/papers/stateful-dpor.txt");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("\nTable A.2: the paper's text is not at hand, skipped");
        return;
    };
    let (mut states, mut transitions, mut time) = (Vec::new(), Vec::new(), Vec::new());
    let table = text.split("**Table A.2.**").nth(1).unwrap_or_default();
    for line in table.lines() {
        let cells: Vec<f64> = line
            .split('\t')
            .skip(3)
            .filter_map(|cell| cell.replace(',', "").parse().ok())
            .collect();
        if let [s, t, seconds, reduced_s, reduced_t, reduced_seconds] = cells[..] {
            states.push(s / reduced_s);
            transitions.push(t / reduced_t);
            time.push(seconds / reduced_seconds);
        }
    }
    let slower = time.iter().filter(|ratio| **ratio < 1.0).count();
    println!(
        "\nThe paper's Table A.2, {} pairs: states {:.3}, transitions {:.3}, time {:.3}; slower on {slower} (its text says 2, 3 and 7)",
        time.len(),
        geometric_mean(&states),
        geometric_mean(&transitions),
        geometric_mean(&time)
    );
}
