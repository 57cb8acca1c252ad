//! `anyorder robust MODEL` agrees with brute force on random models: determinism by event,
//! serializability, start order, and whether concurrency adds an outcome. `docs/testing.md` says
//! how to run more of them.

mod answer;
mod ast;
mod bodies;
mod cases;
mod code;
mod compile;
mod conflicts;
mod coverage;
mod execution;
mod generate;
mod judge;
mod machine;
mod mutants;
mod print;
mod rename;
mod replay;
mod shapes;
mod states;
mod truth;
mod values;

use answer::{Judged, Options, ask};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort::{Seeds, cases, seeds};
use ast::Model;
use coverage::Coverage;
use mutants::{MUTANTS, said};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use truth::{Caps, Truth};

const CAPS: Caps = Caps { states: 2_000, conflicts: 3_000 };

/// A model that takes longer is named.
const SLOW: Duration = Duration::from_secs(10);

/// Enough to tell wrong rules.
const SMALL: Caps = Caps { states: 500, conflicts: 500 };

fn env_number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The random models of a test, with their numbers, and how often an event may happen.
fn models(usual: u64) -> impl Iterator<Item = (u64, Model, u8)> {
    let seeds = match (env_number("ANYORDER_ROBUST_SEED"), env_number("ANYORDER_ROBUST_PROGRAMS")) {
        (None, None) => seeds(usual),
        (first, count) => {
            let (first, count) = (first.unwrap_or(1), count.unwrap_or(cases(usual)));
            Seeds { known: first..first + count, fresh: 0..0 }
        }
    };
    seeds.into_iter().map(random_model)
}

fn random_model(case: u64) -> (u64, Model, u8) {
    let mut random = Rng::new(case);
    let model = generate::model(&mut random);
    (case, model, 1 + u8::from(random.percent(65)))
}

/// The binary that is judged instead of the job.
fn judged() -> Judged {
    match std::env::var("ANYORDER_ROBUST_BINARY") {
        Ok(path) => Judged::Binary(path.into()),
        Err(_) => Judged::Job,
    }
}

/// Counts, by what they count.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// Returns the count with one more.
    fn add(&mut self, what: impl Into<String>) -> u64 {
        let count = self.0.entry(what.into()).or_default();
        *count += 1;
        *count
    }

    fn text(&self, mark: &str) -> String {
        self.0.iter().map(|(what, count)| format!("{count:6} {mark}{what}\n")).collect()
    }
}

/// Whether a limit that is not about the model cut a result.
fn is_cut(result: &Value) -> bool {
    let cuts = result["limits"].to_string() + &result["bounds"].to_string();
    ["time-limit", "memory-limit", "interrupt"].iter().any(|limit| cuts.contains(limit))
}

#[test]
fn verdicts_agree_with_brute_force() {
    let judged = judged();
    let show = env_number("ANYORDER_ROBUST_SHOW").unwrap_or(2);
    let (mut counts, mut wrong) = (Counts::default(), Counts::default());
    let (mut shapes, mut models_count, mut cut) = (Counts::default(), 0, 0);
    for (case, model, repeat) in models(300) {
        models_count += 1;
        let start = Instant::now();
        let text = print::print(&model);
        if env_number("ANYORDER_ROBUST_PROGRAMS") == Some(1) {
            println!("---- case {case}, repeat {repeat}\n{text}");
        }
        let truth = Truth::of(&model, repeat, CAPS);
        shapes::of(&model, &truth).into_iter().for_each(|shape| _ = shapes.add(shape));
        // A binary that does not know when to end must not stop the test.
        let options = Options {
            repeat: Some(u32::from(repeat)),
            // Where brute force gives up, what is said must still be true.
            max_states: Some(if truth.is_decided() { 100_000 } else { 2_000 }),
            time_limit_ms: Some(5_000),
            polls: Some(300_000),
            ..Options::default()
        };
        let answers = [
            ("robust", truth.robust()),
            ("deterministic", truth.all_deterministic()),
            ("serializable", truth.orders.serializable),
            ("in start order", truth.orders.start_order),
        ];
        for (what, answer) in answers {
            counts.add(format!("{what}: {}", judge::word(answer)));
        }
        let faults = match ask(&judged, &text, &options) {
            Ok(result) => {
                cut += u64::from(is_cut(&result));
                let exact = truth.is_decided() && !is_cut(&result);
                let mut faults = judge::faults(&result, &truth, exact);
                faults.extend(judge::schedules(&result, &model, &truth));
                faults
            }
            Err(message) => judge::refused(&message, &truth),
        };
        if start.elapsed() > SLOW {
            println!("---- case {case}, repeat {repeat}: {:?}", start.elapsed());
        }
        for fault in faults {
            if wrong.add(fault.clone()) <= show {
                println!("---- case {case}, repeat {repeat}: {fault}\n{text}");
            }
        }
    }
    println!("{cut:6} cut by time");
    println!("{}{}{}", counts.text(""), shapes.text("shape "), wrong.text("WRONG "));
    assert!(wrong.0.is_empty(), "{:?}", wrong.0);
    assert!(models_count < 100 || cut * 20 < models_count, "{cut} of {models_count} are cut");
    let never: Vec<&str> =
        shapes::ALL.iter().filter(|shape| !shapes.0.contains_key(**shape)).copied().collect();
    // The usual models have all kinds; of others it takes more.
    let usual = env_number("ANYORDER_ROBUST_SEED").is_none() && models_count >= 300;
    let enough = usual || models_count >= 3_000;
    assert!(!enough || never.is_empty(), "shapes that no model has: {never:?}");
}

/// Models that tell a wrong rule each, as the generator is now: they are tried first.
const SHOWING: [u64; 15] = [1, 3, 11, 18, 25, 27, 33, 34, 63, 80, 140, 156, 190, 239, 333];

#[test]
fn wrong_rules_are_told_from_right_ones() {
    // The right rules are judged on so many models in any case.
    let judged_right = cases(60);
    let mut caught = Counts::default();
    let mut models_count = 0;
    for (case, model, repeat) in SHOWING.into_iter().map(random_model).chain(models(3_000)) {
        models_count += 1;
        let truth = Truth::of(&model, repeat, SMALL);
        let right = judge::faults(&said(&truth), &truth, true);
        assert!(right.is_empty(), "case {case}: {right:?}");
        for mutant in MUTANTS {
            if caught.0.contains_key(&format!("{mutant:?}")) {
                continue;
            }
            let wrong = mutant.truth(&model, repeat, SMALL);
            if !judge::faults(&said(&wrong), &truth, true).is_empty() {
                caught.add(format!("{mutant:?}"));
                println!("model {case} tells {mutant:?}");
            }
        }
        if caught.0.len() == MUTANTS.len() && models_count >= judged_right {
            break;
        }
    }
    let missed: Vec<_> =
        MUTANTS.iter().filter(|one| !caught.0.contains_key(&format!("{one:?}"))).collect();
    assert!(models_count < 3_000 || missed.is_empty(), "{missed:?}");
}

#[test]
fn nothing_false_is_said_at_a_limit() {
    let judged = judged();
    let (mut counts, mut wrong) = (Counts::default(), Counts::default());
    for (case, model, repeat) in models(100) {
        let text = print::print(&model);
        let truth = Truth::of(&model, repeat, SMALL);
        let mut random = Rng::new(case ^ 0x11_17);
        for _ in 0..2 {
            let options = limited(&mut random, repeat);
            let faults = match ask(&judged, &text, &options) {
                Ok(result) => {
                    counts.add(result["verdict"].as_str().unwrap_or("none"));
                    let complete = result["complete"] == true;
                    counts.add(if complete { "complete" } else { "not complete" });
                    let mut faults = judge::faults(&result, &truth, false);
                    faults.extend(judge::schedules(&result, &model, &truth));
                    faults
                }
                Err(message) => judge::refused(&message, &truth),
            };
            for fault in faults {
                if wrong.add(fault.clone()) <= 1 {
                    println!("---- case {case}, {options:?}: {fault}\n{text}");
                }
            }
        }
    }
    println!("{}{}", counts.text(""), wrong.text("WRONG "));
    assert!(wrong.0.is_empty(), "{:?}", wrong.0);
    for what in ["robust", "not_robust", "unknown", "complete", "not complete"] {
        assert!(counts.0.contains_key(what), "no result is {what}");
    }
}

/// Options that cut most searches.
fn limited(random: &mut Rng, repeat: u8) -> Options {
    let mut options = Options { repeat: Some(u32::from(repeat)), ..Options::default() };
    let which = 1 + random.index(7);
    options.max_states = Some(5_000);
    if which & 1 != 0 {
        options.max_states = Some(1 + random.index(200));
    }
    if which & 2 != 0 {
        options.stops = Some(random.index(3) as u32);
    }
    if which & 4 != 0 {
        options.polls = Some(random.below(400));
        options.time_limit_ms = Some(1 + random.below(20));
    }
    options
}

#[test]
fn models_have_every_word_and_every_two_words() {
    let mut coverage = Coverage::default();
    for case in 0..20_000 {
        coverage.add(&print::print(&generate::model(&mut Rng::new(case))));
    }
    println!("{}", coverage.text());
    let missing = coverage.missing();
    assert!(missing.is_empty(), "{missing:?}");
}
