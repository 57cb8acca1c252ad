//! The cost of the search for witnesses on a long trace, for candidates of EDC one after another.
//!
//! `EVENTS` is the length of the trace (1,000,000), `PAIRS` the number of candidates to try
//! (1,000), `VARIABLES` the number of variables (a hundredth of the events).

#![allow(clippy::print_stdout, reason = "a bench prints")]

#[path = "../tests/common/mod.rs"]
mod common;
mod measure;

use anyorder_common::random::Rng;
use anyorder_predict::{
    Analysis, Answer, CandidateOptions, ConfirmOptions, Confirmer, EdcAnalysis, MemoryOnly,
    NoCommunication, run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, TraceBlocks};
use common::generate::{Shape, trace};
use measure::{number, print_load};
use std::collections::BTreeMap;
use std::time::Instant;

fn main() {
    print_load();
    let large = Shape::large(number("EVENTS", 1_000_000) as usize);
    let variables = number("VARIABLES", large.variables as u64) as usize;
    let trace = trace(&mut Rng::new(1), Shape { variables, ..large });
    let mut edc = EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
    run(&mut TraceBlocks::new(&trace), &mut [&mut edc], |_| {}).expect("the trace is right");
    let all = edc.finish().violations;
    let most = number("PAIRS", 1_000) as usize;
    let pairs = all.iter().step_by((all.len() / most).max(1)).take(most);

    let start = Instant::now();
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
    println!("{} events prepared in {:.2?}", trace.len(), start.elapsed());
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    let (start, mut longest) = (Instant::now(), 0);
    for pair in pairs {
        let [first, second] = [pair.first, pair.second].map(|side| EventId(side.event as u32));
        let now = Instant::now();
        let answer = confirmer.confirm(first, second, &Cancel::new());
        longest = longest.max(now.elapsed().as_millis());
        let text = match answer {
            Answer::Confirmed(witness) => {
                let kept = ["whole", "behind a prefix"][usize::from(witness.prefix > 0)];
                let shortest = ["", ", shortest"][usize::from(witness.shortest)];
                format!("{} {kept}{shortest}", witness.form.word())
            }
            other => format!("{other:?}"),
        };
        *answers.entry(text).or_default() += 1;
    }
    println!("{answers:#?}\n{:?}", confirmer.stats());
    println!("all in {:.2?}, the longest in {longest} ms", start.elapsed());
}
